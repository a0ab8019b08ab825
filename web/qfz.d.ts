// SPDX-License-Identifier: MIT
// qfz.d.ts - the types of qfz.js: the CPU engine of qfz for images in memory.
//
// Terms and exact definitions are those of the C library (include/qfz.h).  A function that cannot
// do its work throws a QfzError; its message is that of the library.

export type Pixels =
    | Uint8Array | Uint8ClampedArray | Int8Array | Uint16Array | Int16Array
    | Uint32Array | Int32Array | Float32Array;

/** An image; its arrays are copied. */
export interface Image {
    width: number;
    height: number;
    /** Band b, row y, column x is element (b * height + y) * width + x: the number of bands follows
     *  from the length. */
    pixels: Pixels;
    /** One byte per pixel, 0 = invalid; by default all pixels are valid.  Pixels with a NaN are
     *  invalid in either case. */
    valid?: Uint8Array | null;
}

/** Which pixels form a region. */
export interface Options {
    /** Neighbours of a pixel; 4 by default. */
    connectivity?: 4 | 8;
    /** Dissimilarity of two neighbours; l1 by default. */
    distance?: "l1" | "l2" | "linf" | "sam";
    /** Largest dissimilarity of two neighbours that join, >= 0 or Infinity.  By default, labels are
     *  of flat zones, and simplify() has no limit.  saliency() is of every alpha. */
    alpha?: number;
    /** simplify(): largest maximum - minimum of a region, one for all bands or one per band. */
    omega?: number | ArrayLike<number>;
    /** Least number of pixels of a region; 0 by default. */
    minArea?: number;
    /** One weight per band, for l1, l2 and linf. */
    weights?: ArrayLike<number>;
}

/** labels has one number per pixel, row by row: 1..regions by the first pixel of the region, and 0
 *  where the pixel is invalid. */
export interface Labels {
    regions: number;
    labels: Uint32Array;
}

/** The level of an edge that does not exist: it leaves the image, or ends in an invalid pixel. */
export const NO_EDGE: 0xffffffff;

export class QfzError extends Error {
    /** "QFZ_EARG": a parameter is wrong; "QFZ_ENOMEM": the module's memory, at most 4 GB, ran out;
     *  "QFZ_EIO": the module could not be loaded. */
    status: string;
}

/** An image with its options.  Each function computes anew. */
export interface Session {
    readonly width: number;
    readonly height: number;
    readonly bands: number;
    /** Number of planes of saliency(): 2 (4-connected) or 4 (8-connected). */
    readonly planes: number;
    /** Labels of flat zones or, with alpha, of alpha-components: `qfz label`. */
    label(): Labels;
    /** Labels of (alpha, omega)-components: `qfz simplify --labels`. */
    simplify(): Labels;
    /** The image with every pixel replaced by the mean of its region, 0 where it is invalid: the
     *  output of `qfz simplify`.  simplify() must be the last function that computed labels. */
    paint(): Pixels;
    /** The level of every edge: planes of width * height levels, of the edges from each pixel to the
     *  right, below, below right, below left; NO_EDGE where there is none. */
    saliency(): Uint32Array;
    /** The labels of label() with this alpha, from the levels that the last saliency() found, in a
     *  fraction of its time. */
    cut(alpha: number): Labels;
    /** The dissimilarity that a level of saliency() stands for, in the unit of the pixels. */
    value(level: number): number;
    /** Releases the memory of the session, which must not be used afterwards. */
    close(): void;
}

export interface Qfz {
    label(image: Image, options?: Options): Labels;
    simplify(image: Image, options?: Options): Labels & { pixels: Pixels };
    saliency(image: Image, options?: Options): Uint32Array;
    open(image: Image, options?: Options): Session;
}

/** Loads the module qfz.wasm: from its address (by default it lies beside qfz.js; Node.js needs the
 *  bytes), its bytes, or compiled. */
export function load(
    source?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<Qfz>;
