// SPDX-License-Identifier: MIT
// pictures.mjs QFZ CHROMIUM [write] - the canvas of a page of qfz explore, in all views, against the
// pictures in tests/web/pictures, with a tolerance.  The scene is computed.  The canvas has no text;
// the test sets its place and size, so that no font matters.  "write" replaces the pictures; look at
// them afterwards.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { Browser } from "./browser.mjs";
import { address, at, READY, run, scratch } from "./pages.mjs";
import { store } from "./rasters.mjs";

const [command, program, mode] = process.argv.slice(2);
const folder = new URL("pictures/", import.meta.url);
const PLACE = { x: 0, y: 0, width: 450, height: 275 }; // of the canvas, on the screen
// Of the pixels, the share that may differ by more than 32 of 255 in a channel; the mean difference.
const SHARE_MOST = 0.01, MEAN_MOST = 1.5;

const STATES = [
    { name: "outlines-means", hash: "alpha=9&left=outlines&right=means" },
    { name: "colours-saliency", hash: "alpha=9&min-area=5&left=colours&right=saliency" },
    { name: "input", hash: "alpha=9&left=input&right=input&rgb=3,1,2" },
    { name: "zoomed-selected", hash: "alpha=9&omega=40&left=outlines&right=means", scheme: "dark",
      keys: ["+", "+", "+", "ArrowRight", "Enter"] },
];

/** Fields of plain values, a disc, a ramp and some noise, in whole numbers; a corner is invalid. */
function scene(width, height) {
    const pixels = new Uint8Array(3 * width * height), valid = new Uint8Array(width * height).fill(1);
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
            const p = y * width + x;
            const field = (x >> 4) * 37 + (y >> 4) * 91;
            const isDisc = (x - 60) ** 2 + (y - 30) ** 2 < 200;
            const noise = Math.imul(p + 1, 0x9e3779b1) >>> 30;
            for (let b = 0; b < 3; b++)
                pixels[b * width * height + p] = 20 + noise + (isDisc ? 60 * (b + 1)
                    : y > 56 ? x + 10 * b : (field * (b + 2)) % 160);
            if (x + y < 12) valid[p] = 0;
        }
    return { width, height, bands: 3, number: 1, pixels, valid };
}

/** Two frames: the one that draws, and the next. */
const FRAMES = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

async function picture(browser, { hash, scheme = "light", keys = [] }) {
    await browser.send("Emulation.setEmulatedMedia",
                       { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await browser.go(`${address("page.html")}#${hash}`);
    await browser.until(READY);
    await browser.until('document.querySelector("#curve path")');
    const before = await browser.evaluate('document.getElementById("region").textContent');
    await browser.evaluate(`{
        for (const id of ["swipe", "busy"]) document.getElementById(id).style.visibility = "hidden";
        Object.assign(document.getElementById("stage").style, { position: "fixed", left: "0", top: "0",
            minHeight: "0", borderRadius: "0", width: "${PLACE.width}px", height: "${PLACE.height}px" });
        document.getElementById("canvas").focus();
    } ${FRAMES}`);
    for (const key of ["0", ...keys]) await browser.key(key);
    if (keys.includes("Enter"))
        await browser.until(`document.getElementById("region").textContent !== ${JSON.stringify(before)}`);
    await browser.evaluate(`document.activeElement.blur(); ${FRAMES}`);
    return browser.screenshot(PLACE);
}

/** { size, share, mean }: how two pictures of one size differ. */
const differ = (browser, a, b) => browser.evaluate(`(async () => {
    const [a, b] = await Promise.all(${JSON.stringify([a, b].map((png) => png.toString("base64")))}.map(async (text) => {
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, bitmap.width, bitmap.height);
    }));
    if (a.width !== b.width || a.height !== b.height)
        return { size: a.width + " x " + a.height + ", not " + b.width + " x " + b.height, share: 1, mean: 255 };
    let sum = 0, far = 0;
    for (let p = 0; p < a.data.length; p += 4) {
        let most = 0;
        for (let k = 0; k < 3; k++) {
            const d = Math.abs(a.data[p + k] - b.data[p + k]);
            sum += d;
            most = Math.max(most, d);
        }
        far += most > 32;
    }
    const n = a.data.length / 4;
    return { share: far / n, mean: sum / n / 3 };
})()`);

const isNear = ({ share, mean }) => share <= SHARE_MOST && mean <= MEAN_MOST;

store(scene(96, 64), scratch, "in");
run(command, "explore", "-q", "--distance", "linf", "--mask", at("in_mask"), at("in"), at("page.html"));
const browser = await Browser.open(program, { width: 480, height: 500 });
try {
    const references = [];
    for (const state of STATES) {
        const found = await picture(browser, state), path = new URL(`${state.name}.png`, folder);
        if (mode === "write") writeFileSync(path, found);
        const reference = readFileSync(path), difference = await differ(browser, found, reference);
        if (!isNear(difference)) writeFileSync(`${state.name}-found.png`, found);
        assert.ok(isNear(difference),
                  `${state.name} differs: ${JSON.stringify(difference)}; see ${state.name}-found.png`);
        for (const other of references)
            assert.ok(!isNear(await differ(browser, found, other)), "the tolerance tells views apart");
        references.push(reference);
    }
    assert.deepEqual(browser.problems, []);
    console.log(`${STATES.length} pictures`);
} finally {
    await browser.close();
}
