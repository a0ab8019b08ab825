// SPDX-License-Identifier: MIT
// worker.js - does all work on pixels, in a thread of its own.
//
// start: decodes the blocks.  show: labels and layers of settings.  pick: one region.  Each message
// has a number, which the answer repeats; an answer has an error instead of a result where the
// library refused.
import { load } from "../qfz.js";
import { decodeImage, unpack } from "./decode.js";
import { Engine } from "./engine.js";
import { Layers } from "./layers.js";
import { checksum, levelsOf, pixelsOfComponent, pixelsOfLabel, sizesOf, statistics } from "./regions.js";

let engine, layers, rowAreas;
let shown = null;  // the last labels
let inputs = null; // the input as it was last painted, and the bands in it

async function start({ facts, pixels, module }) {
    const image = await decodeImage(facts, pixels);
    engine = new Engine(await load(await unpack(module)), image, facts.weights);
    layers = new Layers(image, facts.bands.length);
    rowAreas = facts.row_areas ?? null;
    return { labels: null };
}

function layer(view, result, settings) {
    switch (view) {
    case "means": return layers.means(result, settings.bands);
    case "outlines": return layers.outlines(result, settings.bands);
    case "colours": return layers.colours(result);
    case "saliency": return layers.saliency(engine.hierarchy(settings));
    default: return layers.input(settings.bands);
    }
}

/** views: those to paint; the input is painted only when its bands change. */
function show({ settings, views }) {
    const began = performance.now();
    const result = engine.labels(settings);
    shown = { ...result, settings };
    const pictures = {};
    for (const view of views) {
        if (view === "input" && inputs === String(settings.bands)) continue;
        if (view === "input") inputs = String(settings.bands);
        pictures[view] = layer(view, result, settings);
    }
    return { regions: result.regions, labels: result.labels.slice(), sizes: sizesOf(result),
             checksum: checksum(result.labels), pictures, milliseconds: performance.now() - began };
}

/** The curve of the window. */
function hierarchy({ settings }) {
    const { curve } = engine.hierarchy(settings);
    return { curve };
}

/** The region of a pixel; level: of a larger one around it, of the hierarchy. */
function pick({ pixel, level, settings }) {
    const { width, height, planes } = layers;
    const n = width * height;
    if (!shown || !shown.labels[pixel]) return { region: null };
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

const TASKS = { start, show, hierarchy, pick };

self.onmessage = async ({ data: { number, task, ...arguments_ } }) => {
    try {
        const result = await TASKS[task](arguments_);
        const buffers = [result.labels, result.region?.mask, ...Object.values(result.pictures ?? {})]
            .filter(Boolean).map((array) => array.buffer);
        self.postMessage({ number, result }, buffers);
    } catch (error) {
        self.postMessage({ number, error: error.message });
    }
};
