// SPDX-License-Identifier: MIT
// regions.js - one region of the window: its pixels, statistics and levels; and all sizes.

const ABSENT = 0xffffffff;
const MOVES = [[1, 0], [0, 1], [1, 1], [-1, 1]];

/** The pixels of a region: those with the label of pixel p. */
export function pixelsOfLabel(labels, p) {
    const pixels = [];
    for (let q = 0; q < labels.length; q++) if (labels[q] === labels[p]) pixels.push(q);
    return pixels;
}

/** Calls visit(q, level) for each edge of pixel p. */
function edgesOf(p, { levels, planes }, width, n, visit) {
    for (let d = 0; d < planes; d++) {
        const step = MOVES[d][1] * width + MOVES[d][0];
        if (levels[d * n + p] !== ABSENT) visit(p + step, levels[d * n + p]);
        const before = p - step;
        if (before >= 0 && before < n && levels[d * n + before] !== ABSENT &&
            (MOVES[d][0] === 0 || Math.abs(before % width - p % width) === 1))
            visit(before, levels[d * n + before]);
    }
}

/** The pixels of the alpha-component of pixel p, alpha being a level. */
export function pixelsOfComponent(p, level, hierarchy, width, n) {
    const seen = new Uint8Array(n), pixels = [p];
    seen[p] = 1;
    for (let i = 0; i < pixels.length; i++)
        edgesOf(pixels[i], hierarchy, width, n, (q, l) => {
            if (seen[q] || l > level) return;
            seen[q] = 1;
            pixels.push(q);
        });
    return pixels;
}

/** The level at which the pixels have all been joined, and the one at which they join others; null:
 *  none does. */
export function levelsOf(pixels, hierarchy, width, n) {
    const inside = new Uint8Array(n);
    for (const p of pixels) inside[p] = 1;
    let appears = 0, disappears = null;
    for (const p of pixels)
        edgesOf(p, hierarchy, width, n, (q, l) => {
            if (inside[q]) appears = Math.max(appears, l);
            else disappears = disappears === null ? l : Math.min(disappears, l);
        });
    return { appears, disappears };
}

/** Pixels, area, bounding box, and mean, least and largest value of each band. */
export function statistics(pixels, planes, width, rowAreas) {
    let area = 0, x0 = Infinity, x1 = -1, y0 = Infinity, y1 = -1;
    for (const p of pixels) {
        const x = p % width, y = Math.floor(p / width);
        area += rowAreas ? rowAreas[y] : 0;
        x0 = Math.min(x0, x), x1 = Math.max(x1, x + 1);
        y0 = Math.min(y0, y), y1 = Math.max(y1, y + 1);
    }
    const bands = planes.map((plane) => {
        let sum = 0, low = Infinity, high = -Infinity;
        for (const p of pixels) {
            sum += plane[p];
            low = Math.min(low, plane[p]), high = Math.max(high, plane[p]);
        }
        return { mean: sum / pixels.length, low, high };
    });
    return { count: pixels.length, area: rowAreas ? area : null, x0, y0, x1, y1, bands };
}

/** counts[i]: regions of 2^i to 2^(i + 1) - 1 pixels. */
export function sizesOf({ labels, regions }) {
    const pixels = new Uint32Array(regions + 1);
    for (const l of labels) pixels[l]++;
    const counts = [];
    for (let l = 1; l <= regions; l++) {
        const i = 31 - Math.clz32(pixels[l]);
        counts[i] = (counts[i] ?? 0) + 1;
    }
    return Array.from(counts, (count) => count ?? 0);
}

/** A sum over all labels in their order (FNV-1a of the 32-bit words), as eight digits. */
export function checksum(labels) {
    let sum = 0x811c9dc5;
    for (const l of labels) sum = Math.imul(sum ^ l, 0x01000193);
    return (sum >>> 0).toString(16).padStart(8, "0");
}
