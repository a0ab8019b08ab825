// SPDX-License-Identifier: MIT
// decode.js - the blocks of the page: base64 of bytes that zlib compressed, and the pixels in them
// (apps/explore_data.h).

const ARRAYS = { UInt8: Uint8Array, Int8: Int8Array, UInt16: Uint16Array, Int16: Int16Array,
                 UInt32: Uint32Array, Int32: Int32Array, Float32: Float32Array };
const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

export async function unpack(base64) {
    const text = atob(base64);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Bytes of planes of differences, as numbers of one band. */
function restore(words, planes, width) {
    const bytes = words.BYTES_PER_ELEMENT, n = words.length;
    for (let k = 0; k < bytes; k++)
        for (let p = 0; p < n; p++) words[p] |= planes[k * n + p] << (8 * k);
    for (let p = 0; p < n; p++) if (p % width) words[p] += words[p - 1];
}

/** The image of the window: width, height, pixels, valid. */
export async function decodeImage(facts, base64) {
    const { width, height, bands, type } = facts;
    const bytes = await unpack(base64);
    const pixels = new ARRAYS[type](width * height * bands.length);
    const n = width * height, size = pixels.BYTES_PER_ELEMENT;
    for (let b = 0; b < bands.length; b++)
        restore(new WORDS[size](pixels.buffer, b * n * size, n),
                bytes.subarray(b * n * size, (b + 1) * n * size), width);
    const at = bands.length * n * size;
    return { width, height, pixels, valid: facts.valid < n ? bytes.slice(at, at + n) : null };
}
