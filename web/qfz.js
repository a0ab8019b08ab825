// SPDX-License-Identifier: MIT
// qfz.js - quasi-flat zones of images in memory: the CPU engine of qfz as a WebAssembly module.
//
//     import { load } from "./qfz.js";
//     const qfz = await load();
//     const { regions, labels } = qfz.label({ width, height, pixels }, { alpha: 9 });
//
// Results equal those of the command qfz and of the C library, bit for bit.  The types of all
// functions are in qfz.d.ts.  The module has one thread, uses no network after load(), and runs in
// browsers, in their workers, and in Node.js.

const TYPES = new Map([
    [Uint8Array, 0], [Uint8ClampedArray, 0], [Int8Array, 1], [Uint16Array, 2], [Int16Array, 3],
    [Uint32Array, 4], [Int32Array, 5], [Float32Array, 6],
]);
const DISTANCES = ["l1", "l2", "linf", "sam"];
const STATUSES = ["QFZ_OK", "QFZ_EARG", "QFZ_ENOMEM", "QFZ_EIO", "QFZ_EGPU", "QFZ_ECANCEL"];
const PARTS = { label: 0, saliency: 2, simplify: 3 };

/** The level of an edge that does not exist. */
export const NO_EDGE = 0xffffffff;

/** A failure; status is the name of a qfz_status. */
export class QfzError extends Error {
    constructor(status, message) {
        super(message);
        this.name = "QfzError";
        this.status = status;
    }
}

function refuse(message) {
    throw new QfzError("QFZ_EARG", message);
}

/** Checks an image; returns its number of bands and the number of its type. */
function describe({ width, height, pixels, valid }) {
    const type = TYPES.get(pixels?.constructor);
    if (type === undefined)
        refuse("image.pixels must be a Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, " +
               "Int16Array, Uint32Array, Int32Array or Float32Array");
    if (!Number.isSafeInteger(width) || !Number.isSafeInteger(height) || width < 1 || height < 1)
        refuse(`an image of ${width} x ${height} pixels; width and height must be at least 1`);
    const bands = pixels.length / (width * height);
    if (!Number.isInteger(bands) || bands < 1)
        refuse(`image.pixels has ${pixels.length} values; a multiple of ${width * height} is ` +
               "required");
    if (valid && (!(valid instanceof Uint8Array) || valid.length !== width * height))
        refuse(`image.valid must be a Uint8Array of ${width * height} values`);
    return { bands, type };
}

/** One byte per pixel: 1 where the pixel is valid.  Pixels with a NaN are not.  null: all are. */
function validity({ width, height, pixels, valid }, bands) {
    const n = width * height;
    const isFloat = pixels instanceof Float32Array;
    if (!valid && !(isFloat && pixels.some(Number.isNaN))) return null;
    const result = new Uint8Array(n).fill(1);
    for (let p = 0; p < n; p++) {
        if (valid && !valid[p]) result[p] = 0;
        for (let b = 0; isFloat && b < bands; b++)
            if (Number.isNaN(pixels[b * n + p])) result[p] = 0;
    }
    return result;
}

/** The options of a criterion with their defaults. */
function criterion({ connectivity = 4, distance = "l1", alpha, omega, minArea = 0, weights }) {
    if (connectivity !== 4 && connectivity !== 8)
        refuse(`connectivity is ${connectivity}; it must be 4 or 8`);
    if (!DISTANCES.includes(distance))
        refuse(`distance is ${distance}; it must be l1, l2, linf or sam`);
    if (!Number.isSafeInteger(minArea) || minArea < 0)
        refuse(`minArea is ${minArea}; it must be a whole number of pixels`);
    return {
        connectivity, distance: DISTANCES.indexOf(distance), alpha, minArea,
        omega: omega === undefined ? null : Float64Array.from([omega].flat()),
        weights: weights ? Float64Array.from(weights) : null,
    };
}

/** An image with a criterion; close() releases its memory. */
class Session {
    #wasm;
    #owned = []; // addresses
    #at = 0;     // address of the session

    constructor(wasm, image, options) {
        const { bands, type } = describe(image);
        const c = criterion(options);
        this.#wasm = wasm;
        this.width = image.width;
        this.height = image.height;
        this.bands = bands;
        this.pixels = image.pixels;
        this.planes = c.connectivity / 2;
        try {
            this.#at = wasm.qfz_web_open(
                image.width, image.height, bands, type, this.#put(image.pixels),
                this.#put(validity(image, bands)), c.connectivity, c.distance,
                c.alpha === undefined ? 0 : 1, c.alpha ?? 0, this.#put(c.omega),
                c.omega?.length ?? 0, this.#put(c.weights), c.weights?.length ?? 0, c.minArea);
            if (!this.#at) this.#fail();
        } catch (error) {
            this.close();
            throw error;
        }
    }

    /** Copies an array into the module's memory; returns its address, 0 for null. */
    #put(array) {
        if (!array) return 0;
        const at = this.#room(array.byteLength);
        new Uint8Array(this.#wasm.memory.buffer, at, array.byteLength)
            .set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
        return at;
    }

    #room(bytes) {
        const at = this.#wasm.malloc(bytes) >>> 0;
        if (!at) throw new QfzError("QFZ_ENOMEM", `out of memory: ${bytes} bytes were refused`);
        this.#owned.push(at);
        return at;
    }

    #fail() {
        const { memory } = this.#wasm;
        const at = this.#wasm.qfz_web_message() >>> 0;
        const bytes = new Uint8Array(memory.buffer, at, 1024);
        const message = new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
        throw new QfzError(STATUSES[this.#wasm.qfz_web_status()] ?? "unknown status", message);
    }

    #check(status) {
        if (status !== 0) this.#fail();
    }

    /** A copy of n words at an address. */
    #words(at, n) {
        return new Uint32Array(this.#wasm.memory.buffer, at >>> 0, n).slice();
    }

    #labels() {
        return {
            regions: this.#wasm.qfz_web_n_regions(this.#at) >>> 0,
            labels: this.#words(this.#wasm.qfz_web_labels(this.#at), this.width * this.height),
        };
    }

    label() {
        this.#check(this.#wasm.qfz_web_run(this.#at, PARTS.label));
        return this.#labels();
    }

    simplify() {
        this.#check(this.#wasm.qfz_web_run(this.#at, PARTS.simplify));
        return this.#labels();
    }

    paint() {
        const plane = this.width * this.height;
        const result = new this.pixels.constructor(plane * this.bands);
        const bytes = plane * this.pixels.BYTES_PER_ELEMENT;
        const at = this.#room(bytes);
        for (let band = 0; band < this.bands; band++) {
            this.#check(this.#wasm.qfz_web_paint(this.#at, band, at));
            new Uint8Array(result.buffer, band * bytes, bytes)
                .set(new Uint8Array(this.#wasm.memory.buffer, at, bytes));
        }
        this.#wasm.free(this.#owned.pop());
        return result;
    }

    saliency() {
        this.#check(this.#wasm.qfz_web_run(this.#at, PARTS.saliency));
        return this.#words(this.#wasm.qfz_web_levels(this.#at),
                           this.planes * this.width * this.height);
    }

    cut(alpha) {
        this.#check(this.#wasm.qfz_web_cut(this.#at, alpha));
        return this.#labels();
    }

    value(level) {
        return this.#wasm.qfz_web_level(this.#at, level);
    }

    close() {
        if (this.#at) this.#wasm.qfz_web_close(this.#at);
        this.#at = 0;
        for (const at of this.#owned) this.#wasm.free(at);
        this.#owned = [];
    }
}

/** Runs a function on a session that is closed afterwards. */
function during(wasm, image, options, use) {
    const session = new Session(wasm, image, options);
    try {
        return use(session);
    } finally {
        session.close();
    }
}

/** The functions of the system that the module imports.  It reads no clock, file or environment. */
function imports(name) {
    if (name === "emscripten_notify_memory_growth") return () => {};
    return () => { throw new QfzError("QFZ_EIO", `the module called ${name}`); };
}

async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return WebAssembly.compile(source);
    const response = await fetch(source);
    if (!response.ok) throw new QfzError("QFZ_EIO", `${source}: ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

export async function load(source = new URL("qfz.wasm", import.meta.url)) {
    const module = await compile(source);
    const needed = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
        (needed[from] ??= {})[name] = imports(name);
    const { exports: wasm } = await WebAssembly.instantiate(module, needed);
    wasm._initialize?.();
    return {
        open: (image, options = {}) => new Session(wasm, image, options),
        label: (image, options = {}) => during(wasm, image, options, (s) => s.label()),
        simplify: (image, options = {}) => during(wasm, image, options, (s) => {
            const result = s.simplify();
            return { ...result, pixels: s.paint() };
        }),
        saliency: (image, options = {}) => during(wasm, image, options, (s) => s.saliency()),
    };
}
