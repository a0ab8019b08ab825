// SPDX-License-Identifier: MIT
// layers.js - the views as pictures of one colour a pixel, in the worker.

const NO_LEVEL = 0xffffffff;
const OUTLINE = rgb(255, 214, 10);

// Colours that differ for every kind of colour vision (Okabe and Ito), each in two tones.
const PALETTE = [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178],
                 [213, 94, 0], [204, 121, 167]]
    .flatMap(([r, g, b]) => [rgb(r, g, b), rgb((r + 255) >> 1, (g + 255) >> 1, (b + 255) >> 1)]);

// From dark to light with even steps of lightness.
const RAMP = [[0, 0, 4], [40, 11, 84], [101, 21, 110], [159, 42, 99], [212, 72, 66], [245, 125, 21],
              [250, 193, 39], [252, 255, 164]];

/** Opaque; canvases store red first. */
function rgb(r, g, b) {
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

/** The values between which a band is stretched: its 2nd and 98th percentile. */
function stretchOf(band, isValid) {
    const step = Math.max(1, Math.floor(band.length / 65536));
    const some = [];
    for (let p = 0; p < band.length; p += step)
        if (isValid(p) && Number.isFinite(band[p])) some.push(band[p]);
    some.sort((a, b) => a - b);
    const low = some[Math.floor(0.02 * (some.length - 1))] ?? 0;
    const high = some[Math.ceil(0.98 * (some.length - 1))] ?? 1;
    return high > low ? [low, high] : [low - 1, low + 1];
}

/** A picture of labels with a colour for each. */
function coloured(labels, colours) {
    const out = new Uint32Array(labels.length);
    for (let p = 0; p < out.length; p++) out[p] = colours[labels[p]];
    return out;
}

export class Layers {
    constructor(image, bands) {
        const n = image.width * image.height;
        this.width = image.width;
        this.height = image.height;
        this.valid = image.valid;
        this.planes = Array.from({ length: bands },
                                 (_, b) => image.pixels.subarray(b * n, (b + 1) * n));
        this.stretches = this.planes.map((plane) => stretchOf(plane, (p) => this.isValid(p)));
    }

    /** The largest difference of two values of a band. */
    range() {
        return Math.max(...this.planes.map((plane) => {
            let low = Infinity, high = -Infinity;
            for (let p = 0; p < plane.length; p++) {
                if (!this.isValid(p)) continue;
                if (plane[p] < low) low = plane[p];
                if (plane[p] > high) high = plane[p];
            }
            return high - low;
        }));
    }

    isValid(p) {
        return !this.valid || this.valid[p] !== 0;
    }

    /** A byte of the picture for a value of a band. */
    #shade(band, value) {
        const [low, high] = this.stretches[band];
        return Math.max(0, Math.min(255, Math.round(255 * (value - low) / (high - low))));
    }

    /** The input; shown: the bands that are red, green and blue, from 0.  It is kept. */
    input(shown) {
        if (this.inputOf !== String(shown)) {
            this.kept = this.#paintInput(shown);
            this.inputOf = String(shown);
        }
        return this.kept.slice();
    }

    #paintInput(shown) {
        const out = new Uint32Array(this.width * this.height);
        const [r, g, b] = shown.map((band) => this.planes[band]);
        for (let p = 0; p < out.length; p++)
            if (this.isValid(p))
                out[p] = rgb(this.#shade(shown[0], r[p]), this.#shade(shown[1], g[p]),
                             this.#shade(shown[2], b[p]));
        return out;
    }

    /** Every region in its means of the bands shown. */
    means({ labels, regions }, shown) {
        const count = new Uint32Array(regions + 1);
        const sums = new Float64Array(3 * (regions + 1)); // the three of a region side by side
        const [r, g, b] = shown.map((band) => this.planes[band]);
        for (let p = 0; p < labels.length; p++) {
            const l = labels[p], at = 3 * l;
            count[l]++;
            sums[at] += r[p];
            sums[at + 1] += g[p];
            sums[at + 2] += b[p];
        }
        const colour = new Uint32Array(regions + 1);
        for (let l = 1; l <= regions; l++)
            colour[l] = rgb(this.#shade(shown[0], sums[3 * l] / count[l]),
                            this.#shade(shown[1], sums[3 * l + 1] / count[l]),
                            this.#shade(shown[2], sums[3 * l + 2] / count[l]));
        return coloured(labels, colour);
    }

    /** The input, with the last pixels before another region in one colour. */
    outlines({ labels }, shown) {
        const { width } = this;
        const out = this.input(shown);
        for (let row = 0; row < labels.length; row += width)
            for (let p = row, last = row + width - 1; p <= last; p++) {
                const l = labels[p];
                if ((p < last && labels[p + 1] !== l) ||
                    (p + width < labels.length && labels[p + width] !== l))
                    out[p] = OUTLINE;
            }
        return out;
    }

    /** Calls visit(a, b) for each pair of neighbouring pixels of two regions. */
    #meetings(labels, visit) {
        const { width } = this;
        for (let p = 0; p < labels.length; p++) {
            const a = labels[p];
            if (!a) continue;
            const right = (p + 1) % width ? labels[p + 1] : 0;
            const below = p + width < labels.length ? labels[p + width] : 0;
            if (right && right !== a) visit(a, right);
            if (below && below !== a) visit(a, below);
        }
    }

    /** Each region in the first colour, from its own on, that no neighbour of a smaller number has. */
    colours({ labels, regions }) {
        const starts = new Uint32Array(regions + 2);
        this.#meetings(labels, (a, b) => starts[Math.max(a, b) + 1]++);
        for (let l = 0; l <= regions; l++) starts[l + 1] += starts[l];
        const ends = starts.slice();
        const smaller = new Uint32Array(starts[regions + 1]);
        this.#meetings(labels, (a, b) => { smaller[ends[Math.max(a, b)]++] = Math.min(a, b); });
        const chosen = new Uint8Array(regions + 1), colour = new Uint32Array(regions + 1);
        for (let l = 1; l <= regions; l++) {
            let used = 0;
            for (let i = starts[l]; i < starts[l + 1]; i++) used |= 1 << chosen[smaller[i]];
            let c = (Math.imul(l, 0x9e3779b1) >>> 8) % PALETTE.length;
            for (let tries = 0; tries < PALETTE.length && used >> c & 1; tries++)
                c = (c + 1) % PALETTE.length;
            chosen[l] = c;
            colour[l] = PALETTE[c];
        }
        return coloured(labels, colour);
    }

    /** The largest level of the edges of each pixel: light where only a large alpha joins. */
    saliency({ levels, planes, value, curve }) {
        const n = this.width * this.height;
        const steps = [1, this.width, this.width + 1, this.width - 1];
        const most = new Uint32Array(n);
        for (let d = 0; d < planes; d++)
            for (let p = 0, e = d * n; p < n; p++, e++) {
                const level = levels[e];
                if (level === NO_LEVEL) continue;
                if (level > most[p]) most[p] = level;
                if (level > most[p + steps[d]]) most[p + steps[d]] = level;
            }
        const shade = rampOf(curve);
        const known = new Map();
        return most.map((level, p) => {
            if (!this.isValid(p)) return 0;
            if (!known.has(level)) known.set(level, shade(value(level)));
            return known.get(level);
        });
    }
}

/** A function from alphas to colours, by the share of the regions that are joined at alpha, in
 *  logarithms. */
function rampOf({ alpha, regions }) {
    const all = Math.log(regions[0]) - Math.log(regions[regions.length - 1]) || 1;
    return (value) => {
        let low = 0, high = alpha.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (alpha[middle] <= value) low = middle;
            else high = middle - 1;
        }
        const at = (Math.log(regions[0]) - Math.log(regions[low])) / all * (RAMP.length - 1);
        const i = Math.min(RAMP.length - 2, Math.floor(at)), share = at - i;
        return rgb(...RAMP[i].map((c, k) => Math.round(c + share * (RAMP[i + 1][k] - c))));
    };
}
