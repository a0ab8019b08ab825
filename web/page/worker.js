// SPDX-License-Identifier: MIT
// worker.js - does all work on pixels, in a thread of its own.
//
// start: loads the module.  show: labels and layers of settings.  levels, curve: the hierarchy.  pick:
// one region.  Each message has a number, which the answer repeats; an answer has an error instead of
// a result where the library refused.  Messages are worked on one after another.  A window is decoded
// when settings first name it.
import { load } from "../qfz.js";
import { decodeImage, unpack } from "./decode.js";
import { Engine } from "./engine.js";
import { Layers } from "./layers.js";
import { checksum, levelsOf, pixelsOfComponent, pixelsOfLabel, sizesOf, statistics } from "./regions.js";

let qfz, facts, blocks;
const places = new Map(); // by the number of the window: engine, layers, areas of rows, range
let shown = null;  // the last labels, and their settings
let inputs = null; // the window and the bands of the input as it was last painted

async function start(words) {
    ({ facts, pixels: blocks } = words);
    qfz = await load(await unpack(words.module));
    return {};
}

async function placeOf({ window }) {
    if (!places.has(window)) {
        const image = await decodeImage({ ...facts, ...facts.windows[window - 1] }, blocks[window - 1]);
        const layers = new Layers(image, facts.bands.length);
        places.set(window, { engine: new Engine(qfz, image, facts.weights), layers,
                             rowAreas: facts.windows[window - 1].row_areas ?? null,
                             range: layers.range() });
    }
    return places.get(window);
}

function layer({ engine, layers }, view, result, settings) {
    switch (view) {
    case "means": return layers.means(result, settings.bands);
    case "outlines": return layers.outlines(result, settings.bands);
    case "colours": return layers.colours(result);
    case "saliency": return layers.saliency(engine.hierarchy(settings));
    default: return layers.input(settings.bands);
    }
}

/** views: those to paint; the input is painted only when its bands change. */
async function show({ settings, views }) {
    const place = await placeOf(settings);
    const began = performance.now();
    const result = place.engine.labels(settings);
    shown = { ...result, settings };
    const pictures = {}, ofInput = [settings.window, ...settings.bands].join(" ");
    for (const view of views) {
        if (view === "input" && inputs === ofInput) continue;
        if (view === "input") inputs = ofInput;
        pictures[view] = layer(place, view, result, settings);
    }
    return { regions: result.regions, labels: result.labels.slice(), sizes: sizesOf(result),
             checksum: checksum(result.labels), pictures, milliseconds: performance.now() - began };
}

/** Finds the levels, from which the curve follows. */
async function levels({ settings }) {
    (await placeOf(settings)).engine.hierarchy(settings);
    return {};
}

/** The curve of the window, and the largest range of values of a band in it. */
async function curve({ settings }) {
    const { engine, range } = await placeOf(settings);
    return { curve: engine.hierarchy(settings).curve, range };
}

/** The region of a pixel; level: of a larger one around it, of the hierarchy. */
async function pick({ pixel, level, settings }) {
    const { engine, layers: { width, height, planes }, rowAreas } = await placeOf(settings);
    const n = width * height;
    if (shown?.settings.window !== settings.window || !shown.labels[pixel]) return { region: null };
    const found = engine.hierarchy(settings);
    const pixels = level === undefined ? pixelsOfLabel(shown.labels, pixel)
                                       : pixelsOfComponent(pixel, level, found, width, n);
    const { appears, disappears } = levelsOf(pixels, found, width, n);
    const mask = new Uint32Array(n);
    for (const p of pixels) mask[p] = 1;
    return { region: {
        ...statistics(pixels, planes, width, rowAreas), mask, pixel,
        label: level === undefined ? shown.labels[pixel] : null,
        appears: found.value(appears),
        disappears: disappears === null ? null : found.value(disappears), next: disappears,
    } };
}

const TASKS = { start, show, levels, curve, pick };

async function answer({ number, task, ...arguments_ }) {
    try {
        const result = await TASKS[task](arguments_);
        const buffers = [result.labels, result.region?.mask, ...Object.values(result.pictures ?? {})]
            .filter(Boolean).map((array) => array.buffer);
        self.postMessage({ number, result }, buffers);
    } catch (error) {
        self.postMessage({ number, error: error.message });
    }
}

let before = Promise.resolve();
self.onmessage = ({ data }) => { before = before.then(() => answer(data)); };
