// SPDX-License-Identifier: MIT
// page.mjs QFZ CHROMIUM [START] - pages of qfz explore in headless Chromium, from file://: for random
// windows and settings, the number of regions and the checksum of the labels are those of the command
// for the same pixels; texts of the source are no markup; no error in the console.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Browser } from "./browser.mjs";
import { address, at, cut, expected, hashOf, run, scratch, setHash, shown, textOf } from "./pages.mjs";
import { pick, random, randomImage, seed, store, TYPES } from "./rasters.mjs";

const [command, program, start = "1"] = process.argv.slice(2);
const PAGES = 5, WINDOWS = 4;

/** Connectivity changes from window to window. */
function randomSettings({ bands, name }, n) {
    const distance = bands > 1 && name.endsWith("32") ? "linf" : pick(["l1", "l2", "linf"]);
    return { alpha: pick([0, 1, 2.5, 6, 30]), omega: pick([null, 0, 3, 20, 60]),
             "min-area": pick([null, 2, 25, 300]), connectivity: n % 2 ? 8 : 4, distance };
}

/** A window with a valid pixel. */
function randomWindow(image) {
    for (;;) {
        const w = 1 + random(image.width), h = 1 + random(image.height);
        const window = { x: random(image.width - w + 1), y: random(image.height - h + 1), w, h };
        const part = cut(image, window);
        if (!part.valid || part.valid.some(Boolean)) return { window, part };
    }
}

async function comparePage(browser, n) {
    const image = randomImage(TYPES, 20 + random(120), 20 + random(90));
    const windows = Array.from({ length: WINDOWS }, () => randomWindow(image));
    store(image, scratch, "in");
    run(command, "explore", "-q", "--overwrite", "--distance", "linf", ...(random(2) ? ["--no-curve"] : []),
        ...windows.flatMap(({ window }) => ["--window", Object.values(window).join(",")]),
        ...(image.valid ? ["--mask", at("in_mask")] : []), at("in"), at("page.html"));
    for (let k = 0; k < WINDOWS; k++) {
        const { part } = windows[k];
        const settings = randomSettings(image, k);
        const hash = `${hashOf(settings)}&window=${k + 1}`;
        store(part, scratch, "part");
        if (k) await setHash(browser, hash);
        else await browser.go(`${address("page.html")}#${hash}`);
        assert.deepEqual(await shown(browser), expected(command, settings, part.valid),
                         `page.mjs ... ${start}: page ${n}, ${hash}`);
    }
}

async function markup(browser) {
    const image = randomImage([TYPES[0]], 9, 7);
    for (const name of ["a<img src=x onerror=window.injected=1>'", "a<script>window.injected=1<!--"]) {
        store({ ...image, valid: null }, scratch, name);
        run(command, "explore", "-q", "--overwrite", at(name), at("page.html"));
        await browser.go(`${address("page.html")}#alpha=1&left=<script>&distance="><b>&rgb=<b>&window=<i>`);
        await shown(browser);
        const [injected, images, scripts] = await browser.evaluate(
            "[window.injected ?? null, document.images.length, document.body.querySelectorAll('script').length]");
        // The data, the pixels, the module, the worker and the page.
        assert.deepEqual([injected, images, scripts], [null, 0, 5]);
        assert.equal(await textOf(browser, "source"), `explore ${name}`);
        const line = await textOf(browser, "command");
        const words = spawnSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" }).stdout;
        assert.ok(words.split("\n").includes(at(name)), `the shell reads ${words}`);
    }
}

seed(Number(start));
const browser = await Browser.open(program);
try {
    for (let n = 0; n < PAGES; n++) await comparePage(browser, n);
    await markup(browser);
    assert.deepEqual(browser.problems, []);
    console.log(`${PAGES} pages of ${WINDOWS} windows each, markup`);
} finally {
    await browser.close();
}
