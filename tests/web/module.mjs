// SPDX-License-Identifier: MIT
// module.mjs QFZ FOLDER [START [CASE]] - the module in FOLDER (qfz.wasm, beside it qfz.js) against the
// command: labels, painted means, saliency and cuts of random images are equal, pixel by pixel; a
// failure has the library's message.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { pick, random, randomImage, seed, store, TYPES, values } from "./rasters.mjs";

const [command, folder, start = "1", only] = process.argv.slice(2);
const CASES = 12, LARGEST_BYTES = 500e3; // compressed
const { load, NO_EDGE, QfzError } = await import(pathToFileURL(join(folder, "qfz.js")));
const scratch = mkdtempSync(join(tmpdir(), "qfz_web_"));
process.on("exit", () => rmSync(scratch, { recursive: true }));

function options({ bands, name }) {
    const o = { connectivity: pick([4, 8]), distance: pick(["l1", "l2", "linf"]),
                alpha: pick([0, 1, 2.5, 6, 30]), minArea: pick([0, 0, 3, 25]) };
    if (o.distance === "l1" && bands > 1 && name.endsWith("32")) o.distance = "linf"; // 2^32
    if (bands > 1 && !random(6)) Object.assign(o, { distance: "sam", alpha: 0.1 });
    else if (!random(4))
        o.weights = Array.from({ length: bands }, (_, b) => (b ? pick([0, 0.5, 1]) : 1.5));
    return o;
}

// ------------------------------------------------------------------------------------- the command
const criterion = (o) => [
    "--connectivity", o.connectivity, "--distance", o.distance,
    ...(o.minArea ? ["--min-area", o.minArea] : []),
    ...(o.weights ? ["--weights", o.weights.join(",")] : []),
];

/** Runs the command; returns the values of the output raster. */
function run(task, i, words) {
    const mask = i.valid ? ["--mask", join(scratch, "in_mask")] : [];
    const args = [task, "-q", "--overwrite", ...words, ...mask].map(String);
    const done = spawnSync(command, args, { encoding: "utf8" });
    assert.equal(done.status, 0, `${args.join(" ")}: ${done.stderr}`);
    return values(join(scratch, "out"));
}

const output = ["-of", "ENVI", join(scratch, "in"), join(scratch, "out.img")];

/** Not of 32-bit integers, whose saliency is UInt64, which ENVI cannot hold. */
function checkLevels(i, o, session, levels) {
    const stored = run("saliency", i, [...criterion(o), ...output]);
    const nodata = stored instanceof Float32Array ? NaN : 2 ** (8 * stored.BYTES_PER_ELEMENT) - 1;
    assert.deepEqual(Array.from(levels, (l) => (l === NO_EDGE ? nodata : session.value(l))),
                     Array.from(stored));
}

function check(qfz, i, o) {
    const equal = { ...o, alpha: undefined, weights: undefined, minArea: 0 };
    assert.deepEqual(qfz.label(i, equal).labels,
                     run("label", i, [...criterion(equal), ...output]));
    const alpha = ["--alpha", o.alpha];
    const labels = qfz.label(i, o);
    assert.deepEqual(labels.labels,
                     run("label", i, [...criterion(o), ...alpha, ...output]));
    assert.equal(labels.regions, labels.labels.reduce((a, b) => Math.max(a, b), 0));

    const omega = random(2) || i.bands === 1 ? 2 * o.alpha : Array(i.bands).fill(3 * o.alpha);
    const simple = qfz.simplify(i, { ...o, omega });
    const painted = run("simplify", i, [
        ...criterion(o), ...alpha, "--omega", [omega].flat().join(","),
        "--labels", join(scratch, "labels.img"), ...output]);
    const partition = readFileSync(join(scratch, "labels.img"));
    assert.deepEqual(Buffer.from(simple.labels.buffer), partition);
    for (let p = 0; p < painted.length; p++)
        if (simple.labels[p % (i.width * i.height)]) assert.equal(simple.pixels[p], painted[p]);

    const session = qfz.open(i, o);
    const levels = session.saliency();
    if (!i.name.endsWith("Int32")) checkLevels(i, o, session, levels);
    assert.deepEqual(session.cut(o.alpha), labels);
    session.close();
}

// ------------------------------------------------------------------------------------------- checks
const bytes = readFileSync(join(folder, "qfz.wasm"));
assert.ok(gzipSync(bytes).length < LARGEST_BYTES, `${bytes.length} bytes`);
const qfz = await load(bytes);
const numbers = only === undefined ? Array.from({ length: CASES }, (_, n) => n) : [Number(only)];
for (const n of numbers) {
    seed(Number(start) * 1000003 + n);
    const i = randomImage(TYPES, 1 + random(90), 1 + random(70)), o = options(i);
    try {
        store(i, scratch, "in");
        check(qfz, i, o);
    } catch (error) {
        console.error(`repeat with: module.mjs ${command} ${folder} ${start} ${n}`);
        throw error;
    }
}

// Pixels with a NaN are invalid.
const line = Float32Array.of(1, NaN, 1, 1);
assert.deepEqual([...qfz.label({ width: 4, height: 1, pixels: line }).labels], [1, 0, 2, 2]);

const small = { width: 2, height: 2, pixels: Uint8Array.of(1, 2, 3, 4) };
const refusals = [
    [small, { alpha: -1 }, /alpha/], [small, { alpha: NaN }, /alpha/],
    [small, { connectivity: 5 }, /4 or 8/], [small, { distance: "max" }, /l1, l2, linf or sam/],
    [small, { minArea: 1.5 }, /minArea/], [small, { distance: "sam", alpha: 1 }, /two bands/],
    [small, { weights: [1, 2] }, /weights/], [small, { weights: [-1] }, /weight/],
    [small, { alpha: 1, omega: [1, 2] }, /omega/],
    [{ ...small, width: 3 }, {}, /multiple of 6/], [{ ...small, width: 0 }, {}, /at least 1/],
    [{ ...small, pixels: [1, 2, 3, 4] }, {}, /Uint8Array/],
    [{ ...small, valid: new Uint8Array(3) }, {}, /image.valid/],
];
for (const [i, o, message] of refusals)
    assert.throws(() => qfz.simplify(i, o), (e) =>
        e instanceof QfzError && e.status === "QFZ_EARG" && message.test(e.message));

// The module refuses what the command refuses.
const number = (x) => (x === Infinity ? "inf" : String(x).toLowerCase());
const strange = [
    { alpha: -1 }, { alpha: NaN }, { alpha: Infinity }, { alpha: 1e300 }, { connectivity: 5 }, { distance: "max" },
    { distance: "sam", alpha: 0.1 }, { distance: "sam", alpha: 4 }, { distance: "sam", alpha: 0.1, weights: [1, 1] },
    { weights: [1] }, { weights: [1, 2] }, { weights: [0, 0] }, { weights: [-1, 1] }, { weights: [Infinity, 1] },
    { weights: [1e-30, 1e30] }, { omega: -1 }, { omega: NaN }, { omega: [1, 2] }, { omega: [1, 2, 3] },
    { omega: Infinity }, { minArea: -1 }, { minArea: 2.5 }, { minArea: 2 ** 40 }, { distance: "l2" }, { distance: "l1" }, { distance: "linf" },
];

/** The number of regions that the command counts, and the one of the module; null: refused. */
function both(i, o) {
    const { omega, alpha = 3 } = o;
    const words = ["simplify", "-q", "--count-only", "--alpha", number(alpha),
                   ...(omega === undefined ? [] : ["--omega", [omega].flat().map(number).join(",")]),
                   ...["connectivity", "distance"].flatMap((n) => (o[n] ? [`--${n}`, o[n]] : [])),
                   ...(o.weights ? ["--weights", o.weights.map(number).join(",")] : []),
                   ...(o.minArea ? ["--min-area", o.minArea] : []), join(scratch, "in")];
    store(i, scratch, "in");
    const done = spawnSync(command, words.map(String), { encoding: "utf8" });
    let regions = null;
    try {
        ({ regions } = qfz.simplify(i, { ...o, alpha }));
    } catch (error) {
        assert.ok(error instanceof QfzError, error.stack);
    }
    return [done.status ? null : JSON.parse(done.stdout).regions, regions, `${words.join(" ")}: ${done.stderr}`];
}

const images = [TYPES[0], TYPES[4], TYPES[5]].flatMap(([Type, , number]) => [1, 2].map((bands) => (
    { width: 3, height: 2, bands, number, pixels: Type.from({ length: 6 * bands }, (_, p) => 5 * p) })));
let refused = 0;
strange.forEach((o, k) => {
    for (const n of [k % 6, (k + 3) % 6]) { // one band and two
        const [ofCommand, ofModule, what] = both(images[n], o);
        assert.equal(ofModule, ofCommand, what);
        refused += ofModule === null;
    }
});
assert.ok(refused >= 20, `only ${refused} refusals`);

const closed = qfz.open(small);
assert.throws(() => closed.cut(1), /SALIENCY/);
closed.close();

// The types name every function.
const types = readFileSync(join(folder, "qfz.d.ts"), "utf8");
for (const name of [...Object.keys(qfz), "saliency", "cut", "paint", "value", "close"])
    assert.ok(new RegExp(`\\b${name}\\(`).test(types), `${name} is not in qfz.d.ts`);
console.log(`${numbers.length} images, ${refusals.length + refused} refusals`);
