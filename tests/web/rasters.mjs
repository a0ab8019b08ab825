// SPDX-License-Identifier: MIT
// rasters.mjs - random rasters for the tests: VRTs over raw files, which GDAL reads.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Arrays, GDAL's names and ENVI's numbers of the types.
export const TYPES = [[Uint8Array, "Byte", 1], [Int16Array, "Int16", 2], [Uint16Array, "UInt16", 12],
                      [Int32Array, "Int32", 3], [Uint32Array, "UInt32", 13],
                      [Float32Array, "Float32", 4]];

let state = 0;
export function seed(number) {
    state = number;
}

/** A whole number from 0 to n - 1. */
export function random(n) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return (state >>> 8) % n;
}

export const pick = (list) => list[random(list.length)];

/** Runs of values of a few levels; types: some of TYPES. */
export function randomImage(types, width, height) {
    const [Type, name, number] = pick(types);
    const bands = 1 + random(3);
    const range = pick([2, 5, 40, 200]), step = Type === Float32Array ? 0.25 : 1;
    const low = Type === Int16Array || Type === Int32Array ? -20 : 1;
    const pixels = new Type(width * height * bands);
    for (let p = 0; p < pixels.length; p++)
        pixels[p] = p % width && random(3) ? pixels[p - 1] : low + random(range) * step;
    const valid = random(2) ? Uint8Array.from({ length: width * height }, () => +(random(9) > 0))
                            : null;
    return { width, height, pixels, valid, bands, name, number };
}

const escaped = (text) => text.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** A VRT over raw pixels: GDAL does not look into these, where it could find the mark of another format. */
const describe = ({ width, height }, bands, name, type, bytes) =>
    `<VRTDataset rasterXSize="${width}" rasterYSize="${height}">` + Array.from({ length: bands }, (_, b) =>
        `<VRTRasterBand dataType="${type}" band="${b + 1}" subClass="VRTRawRasterBand">` +
        `<SourceFilename relativetoVRT="1">${escaped(name)}.raw</SourceFilename>` +
        `<ImageOffset>${b * width * height * bytes}</ImageOffset><PixelOffset>${bytes}</PixelOffset>` +
        `<LineOffset>${width * bytes}</LineOffset><ByteOrder>LSB</ByteOrder></VRTRasterBand>`).join("") +
    "</VRTDataset>\n";

function storeOne(image, bands, pixels, folder, name) {
    const type = TYPES.find(([Type]) => pixels instanceof Type)[1];
    writeFileSync(join(folder, `${name}.raw`), pixels);
    writeFileSync(join(folder, name), describe(image, bands, name, type, pixels.BYTES_PER_ELEMENT));
}

/** Writes folder/name and, if some pixels are invalid, folder/name_mask. */
export function store(image, folder, name) {
    storeOne(image, image.bands, image.pixels, folder, name);
    if (image.valid) storeOne(image, 1, image.valid, folder, `${name}_mask`);
}

/** The values of a raster of ENVI, path.img. */
export function values(path) {
    const number = /data type *= *(\d+)/.exec(readFileSync(`${path}.hdr`, "utf8"))[1];
    const [Type] = TYPES.find((type) => type[2] === Number(number));
    const bytes = readFileSync(`${path}.img`);
    return new Type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
