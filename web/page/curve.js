// SPDX-License-Identifier: MIT
// curve.js - the number of regions of the window for every alpha, from its saliency.
//
// Edges are added by ascending level; each that joins two parts lessens the number of regions by one.

const NONE = 0xffffffff;
const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [-1, 1]]; // of the planes of levels: dx, dy

/** The numbers of the edges that exist, by ascending level: a radix sort by 11 bits at a time. */
function sortedEdges(levels) {
    let n = 0, top = 0;
    for (const level of levels)
        if (level !== NONE) {
            n++;
            if (level > top) top = level;
        }
    let edges = new Uint32Array(n), spare = new Uint32Array(n);
    for (let e = 0, i = 0; e < levels.length; e++) if (levels[e] !== NONE) edges[i++] = e;
    for (let shift = 0; shift < 32 && top >>> shift; shift += 11) {
        const starts = new Uint32Array(2049);
        for (const e of edges) starts[((levels[e] >>> shift) & 2047) + 1]++;
        for (let i = 0; i < 2048; i++) starts[i + 1] += starts[i];
        for (const e of edges) spare[starts[(levels[e] >>> shift) & 2047]++] = e;
        [edges, spare] = [spare, edges];
    }
    return edges;
}

function find(parent, p) {
    while (parent[p] !== p) p = parent[p] = parent[parent[p]];
    return p;
}

/** { alpha, regions }: regions[i] from alpha[i] on, as qfz curve prints them.  value: of a level. */
export function windowCurve(levels, { width, height, valid }, value) {
    const n = width * height;
    const steps = DIRECTIONS.map(([dx, dy]) => dy * width + dx);
    const parent = new Uint32Array(n).map((_, p) => p);
    let regions = valid ? valid.reduce((sum, v) => sum + v, 0) : n;
    const curve = { alpha: [0], regions: [regions] };
    let last = 0;
    for (const e of sortedEdges(levels)) {
        const p = e % n;
        const a = find(parent, p), b = find(parent, p + steps[(e / n) | 0]);
        if (a === b) continue;
        parent[a < b ? b : a] = a < b ? a : b;
        regions--;
        if (levels[e] !== last) {
            last = levels[e];
            curve.alpha.push(value(last));
            curve.regions.push(regions);
        } else {
            curve.regions[curve.regions.length - 1] = regions;
        }
    }
    return curve;
}

/** The number of regions at alpha. */
export function regionsAt(curve, alpha) {
    let low = 0, high = curve.alpha.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (curve.alpha[middle] <= alpha) low = middle;
        else high = middle - 1;
    }
    return curve.regions[low];
}

/** The number with the fewest digits from alpha on, below the next alpha; whole numbers stay. */
function fewDigits(alpha, next) {
    for (let digits = 1; digits < 17 && !Number.isInteger(alpha); digits++) {
        const value = Number(alpha.toPrecision(digits));
        if (value >= alpha && value < next) return value;
    }
    return alpha;
}

/** Alphas along the quantiles of a curve: from one to the next, the number of regions falls by some
 *  percent, and from the first to the last by all. */
export function quantiles(curve, percent) {
    const result = [];
    let before = Infinity;
    curve.regions.forEach((regions, i) => {
        if (regions > before * (1 - percent / 100) && i < curve.regions.length - 1) return;
        before = regions;
        result.push(fewDigits(curve.alpha[i], curve.alpha[i + 1] ?? Infinity));
    });
    return result;
}
