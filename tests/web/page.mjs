// SPDX-License-Identifier: MIT
// page.mjs QFZ CHROMIUM [START] - pages of qfz explore in headless Chromium, from file://: for random
// windows and settings, the number of regions and the checksum of the labels are those of the command
// for the same pixels; sliders, keys and clicks; texts of the source are no markup; no error in the
// console.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";
import { pick, random, randomImage, seed, store, TYPES, values } from "./rasters.mjs";

const [command, program, start = "1"] = process.argv.slice(2);
const PAGES = 5, SETTINGS = 4;
const scratch = mkdtempSync(join(tmpdir(), "qfz_page_"));
process.on("exit", () => rmSync(scratch, { recursive: true }));
const at = (name) => join(scratch, name);

function run(...words) {
    const done = spawnSync(command, words.map(String), { encoding: "utf8" });
    assert.equal(done.status, 0, `${words.join(" ")}: ${done.stderr}`);
    return done.stdout;
}

/** The part of an image in a window. */
function cut(image, { x, y, w, h }) {
    const take = (from, bands) => {
        const part = new from.constructor(w * h * bands);
        for (let b = 0; b < bands; b++)
            for (let row = 0; row < h; row++) {
                const first = (b * image.height + y + row) * image.width + x;
                part.set(from.subarray(first, first + w), (b * h + row) * w);
            }
        return part;
    };
    return { ...image, width: w, height: h, pixels: take(image.pixels, image.bands),
             valid: image.valid && take(image.valid, 1) };
}

/** The same sum as of the page (web/page/regions.js). */
function checksum(labels) {
    let sum = 0x811c9dc5;
    for (const label of labels) sum = Math.imul(sum ^ label, 0x01000193);
    return (sum >>> 0).toString(16).padStart(8, "0");
}

function randomSettings({ bands, name }) {
    const distance = bands > 1 && name.endsWith("32") ? "linf" : pick(["l1", "l2", "linf"]);
    return { alpha: pick([0, 1, 2.5, 6, 30]), omega: pick([null, 0, 3, 20, 60]),
             "min-area": pick([null, 2, 25, 300]), connectivity: pick([4, 8]), distance };
}

const wordsOf = (settings) => Object.entries(settings).filter(([, value]) => value !== null);
const hashOf = (settings) => new URLSearchParams(wordsOf(settings)).toString();

/** Labels of the raster "part" by the command. */
function expected(settings, isMasked) {
    const options = wordsOf(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const mask = isMasked ? ["--mask", at("part_mask")] : [];
    const common = ["-q", "--overwrite", "-of", "ENVI", ...options, ...mask];
    if (settings.omega === null) run("label", ...common, at("part"), at("labels.img"));
    else run("simplify", ...common, "--labels", at("labels.img"), at("part"), at("painted.img"));
    const labels = values(at("labels"));
    return [labels.reduce((a, b) => Math.max(a, b), 0), checksum(labels)];
}

const READY = 'document.body?.dataset.state === "ready"';
async function shown(browser) {
    await browser.until(READY);
    const [regions, sum, problem] = await browser.evaluate(
        `["regions", "problem"].flatMap((id) => {
            const element = document.getElementById(id);
            return id === "regions" ? [element.textContent, element.dataset.checksum]
                                    : [element.textContent];
        })`);
    assert.equal(problem, "");
    return [Number(regions), sum];
}

async function compare(browser) {
    for (let n = 0; n < PAGES; n++) {
        const image = randomImage(TYPES, 20 + random(120), 20 + random(90));
        const w = 1 + random(image.width), h = 1 + random(image.height);
        const window = { x: random(image.width - w + 1), y: random(image.height - h + 1), w, h };
        const part = cut(image, window);
        if (part.valid && !part.valid.some(Boolean)) continue;
        store(image, scratch, "in");
        store(part, scratch, "part");
        const first = randomSettings(image);
        run("explore", "-q", "--overwrite", "--window", Object.values(window).join(","),
            "--distance", first.distance, ...(random(2) ? ["--no-curve"] : []),
            ...(image.valid ? ["--mask", at("in_mask")] : []), at("in"), at("page.html"));
        const page = pathToFileURL(at("page.html")).href;
        await browser.go(`${page}#${hashOf(first)}`);
        for (let k = 0; k < SETTINGS; k++) {
            const settings = k ? randomSettings(image) : first;
            // What the hash does not name stays as it was.
            const named = { omega: "inf", "min-area": 1, ...Object.fromEntries(wordsOf(settings)) };
            if (k) {
                await browser.evaluate(`document.body.dataset.state = "changing";
                                        location.hash = ${JSON.stringify(`#${hashOf(named)}`)}`);
            }
            assert.deepEqual(await shown(browser), expected(settings, part.valid),
                             `page.mjs ... ${start}: page ${n}, ${hashOf(settings)}`);
        }
    }
}

/** Controls of one page: the raster of `part`, 4-connected. */
async function control(browser) {
    const image = randomImage([TYPES[0]], 90, 70);
    image.valid = null;
    store(image, scratch, "part");
    run("explore", "-q", "--overwrite", "--distance", "linf", at("part"), at("page.html"));
    await browser.go(pathToFileURL(at("page.html")).href + "#alpha=0&min-area=1");
    await shown(browser);
    await browser.until('document.querySelector("#curve path")');
    const settings = { alpha: 0, omega: null, "min-area": null, connectivity: 4, distance: "linf" };
    await browser.evaluate('document.getElementById("alpha").focus()');
    for (let k = 0; k < 3; k++) {
        await browser.key("ArrowRight");
        await browser.until(READY);
    }
    settings.alpha = Number(await browser.evaluate('new URLSearchParams(location.hash.slice(1)).get("alpha")'));
    assert.ok(settings.alpha > 0, "the slider moves alpha");
    assert.deepEqual(await shown(browser), expected(settings, false));
    const whole = await browser.evaluate('document.getElementById("whole").textContent');
    assert.equal(parseInt(whole, 10), expected(settings, false)[0], "the number in the whole raster");

    // The command to copy gives the same.
    const words = (await browser.evaluate('document.getElementById("command").textContent')).split(" ");
    assert.equal(words.shift(), "qfz");
    words.pop();
    assert.equal(JSON.parse(run(...words, "--count-only", "-q")).regions, expected(settings, false)[0]);

    // A number that is none changes nothing; the library's message is shown.
    await browser.evaluate(`{ const field = document.getElementById("alpha-number");
                              field.value = "-1"; field.dispatchEvent(new Event("change")); }`);
    assert.equal(await browser.evaluate('document.getElementById("alpha-number").ariaInvalid'), "true");

    // The region under the pointer.
    const [x, y] = await browser.evaluate(`{ const box = document.getElementById("canvas").getBoundingClientRect();
                                             [box.x + box.width / 2, box.y + box.height / 2] }`);
    await browser.click(x, y);
    await browser.until('document.querySelector("#region table")');
    const cells = await browser.evaluate(
        '[...document.querySelectorAll("#region tr")].map((row) => [...row.children].map((c) => c.textContent))');
    const row = Object.fromEntries(cells);
    const labels = values(at("labels"));
    const pixels = labels.filter((label) => label === Number(row["Label in the window"])).length;
    assert.ok(pixels > 0 && Number(row.Pixels) === pixels, `the region has ${pixels} pixels, not ${row.Pixels}`);
    assert.ok(Number(row["Appears at alpha"]) <= settings.alpha);
    assert.ok(row["Joins others at alpha"] === "never" || Number(row["Joins others at alpha"]) > settings.alpha);
    if (row["Joins others at alpha"] !== "never") {
        await browser.evaluate('document.getElementById("larger").click()');
        await browser.until('document.querySelector("#region td").textContent === "a larger region"');
        const larger = Number(await browser.evaluate('document.querySelectorAll("#region td")[1].textContent'));
        assert.ok(larger > pixels, "a larger region has more pixels");
    }

    // Every view is painted.
    for (const view of ["input", "outlines", "means", "colours", "saliency"]) {
        await browser.evaluate(`{ const left = document.getElementById("left");
            left.value = "${view}"; left.dispatchEvent(new Event("change")); }`);
        await shown(browser);
    }
}

async function markup(browser) {
    const image = randomImage([TYPES[0]], 9, 7);
    const name = "a<img src=x onerror=window.injected=1>'";
    store({ ...image, valid: null }, scratch, name);
    run("explore", "-q", "--overwrite", at(name), at("page.html"));
    await browser.go(`${pathToFileURL(at("page.html")).href}#alpha=1&left=<script>&distance="><b>`);
    await shown(browser);
    const [injected, title, line, images] = await browser.evaluate(
        `[window.injected ?? null, document.getElementById("source").textContent,
          document.getElementById("command").textContent, document.images.length]`);
    assert.equal(injected, null);
    assert.equal(images, 0);
    assert.equal(title, `explore ${name}`);
    const words = spawnSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" }).stdout;
    assert.ok(words.split("\n").includes(at(name)), `the shell reads ${words}`);
}

seed(Number(start));
const browser = await Browser.open(program);
try {
    await compare(browser);
    await control(browser);
    await markup(browser);
    assert.deepEqual(browser.problems, []);
    console.log(`${PAGES} pages with ${SETTINGS} settings each, controls, markup`);
} finally {
    await browser.close();
}
