// SPDX-License-Identifier: MIT
// pages.mjs - what the tests of pages share: the command, windows of images, settings, and what a page
// shows for these.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { values } from "./rasters.mjs";

/** A folder that the end of the program removes. */
export const scratch = mkdtempSync(join(tmpdir(), "qfz_page_"));
process.on("exit", () => rmSync(scratch, { recursive: true }));
export const at = (name) => join(scratch, name);
export const address = (name) => pathToFileURL(at(name)).href;

/** Runs a command that must succeed; returns its standard output. */
export function run(command, ...words) {
    const done = spawnSync(command, words.map(String), { encoding: "utf8" });
    assert.equal(done.status, 0, `${words.join(" ")}: ${done.stderr}`);
    return done.stdout;
}

/** The part of an image in a window. */
export function cut(image, { x, y, w, h }) {
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

const wordsOf = (settings) => Object.entries(settings).filter(([, value]) => value !== null);

/** Settings as a hash.  What a hash does not name stays as it was, so defaults are named. */
export const hashOf = (settings) => new URLSearchParams(
    { omega: "inf", "min-area": 1, ...Object.fromEntries(wordsOf(settings)) }).toString();

/** The number of regions of the raster "part" and the sum of its labels, by the command; the labels
 *  are at("labels"). */
export function expected(command, settings, isMasked) {
    const options = wordsOf(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const mask = isMasked ? ["--mask", at("part_mask")] : [];
    const common = ["-q", "--overwrite", "-of", "ENVI", ...options, ...mask];
    const counted = ["-q", "--count-only", ...options, ...mask, at("part")];
    const task = settings.omega === null ? "label" : "simplify";
    if (task === "label") run(command, task, ...common, at("part"), at("labels.img"));
    else run(command, task, ...common, "--labels", at("labels.img"), at("part"), at("painted.img"));
    const labels = values(at("labels"));
    const regions = labels.reduce((a, b) => Math.max(a, b), 0);
    assert.equal(JSON.parse(run(command, task, ...counted)).regions, regions);
    return [regions, checksum(labels)];
}

export const READY = 'document.body?.dataset.state === "ready"';

/** The number of regions and the sum of labels that a page shows; it has no problem. */
export async function shown(browser) {
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

/** Changes the hash of a page that is shown. */
export const setHash = (browser, hash) => browser.evaluate(
    `document.body.dataset.state = "changing"; location.hash = ${JSON.stringify(`#${hash}`)}`);

export const textOf = (browser, id) =>
    browser.evaluate(`document.getElementById(${JSON.stringify(id)}).textContent`);
