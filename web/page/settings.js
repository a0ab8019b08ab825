// SPDX-License-Identifier: MIT
// settings.js - what the user has chosen, as a hash of the page's address: #alpha=9&omega=60
// &min-area=25&connectivity=8&distance=linf&left=input&right=means&rgb=4,3,2&window=2.

export const DISTANCES = ["l1", "l2", "linf", "sam"];
export const VIEWS = ["input", "outlines", "means", "colours", "saliency"];

/** A number of at least `least`, or other if the text is none; inf is infinity. */
function number(text, least, other) {
    if (text === null || text.trim() === "") return other;
    const value = /^\+?inf(inity)?$/i.test(text) ? Infinity : Number(text);
    return value >= least ? value : other;
}

const choice = (text, list, other) => (list.includes(text) ? text : other);

/** Three positions of bands, from 0, of a text such as 4,3,2 of bands' numbers. */
function bandsOf(text, facts, other) {
    const all = facts.bands.map((band) => String(band.number));
    const positions = (text ?? "").split(",").map((word) => all.indexOf(word));
    return positions.length === 3 && !positions.includes(-1) ? positions : other;
}

/** The settings of a hash; what is missing or wrong in it is taken from `other`. */
export function parseHash(hash, other, facts) {
    const words = new URLSearchParams(hash.replace(/^#/, ""));
    const minArea = number(words.get("min-area"), 1, other.minArea);
    const windows = facts.windows.map((_, i) => String(i + 1));
    return {
        alpha: number(words.get("alpha"), 0, other.alpha),
        omega: number(words.get("omega"), 0, other.omega),
        minArea: Number.isSafeInteger(minArea) ? minArea : other.minArea,
        connectivity: Number(choice(words.get("connectivity"), ["4", "8"],
                                    String(other.connectivity))),
        distance: choice(words.get("distance"), DISTANCES, other.distance),
        left: choice(words.get("left"), VIEWS, other.left),
        right: choice(words.get("right"), VIEWS, other.right),
        bands: bandsOf(words.get("rgb"), facts, other.bands),
        window: Number(choice(words.get("window"), windows, String(other.window))),
    };
}

export const decimal = (value) => (value === Infinity ? "inf" : String(value));

export function formatHash(s, facts) {
    const words = new URLSearchParams({ alpha: decimal(s.alpha) });
    if (s.omega !== Infinity) words.set("omega", decimal(s.omega));
    if (s.minArea > 1) words.set("min-area", s.minArea);
    words.set("connectivity", s.connectivity);
    words.set("distance", s.distance);
    words.set("left", s.left);
    words.set("right", s.right);
    if (facts.bands.length > 1) words.set("rgb", s.bands.map((b) => facts.bands[b].number).join(","));
    if (facts.windows.length > 1) words.set("window", s.window);
    return `#${words}`.replaceAll("%2C", ",");
}

/** A word as a shell reads it. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that computes on the whole raster what the page shows of the window. */
export function commandLine(s, facts) {
    const isSimple = s.omega !== Infinity;
    const words = ["qfz", isSimple ? "simplify" : "label", ...(facts.bands_named.length ? ["-b", facts.bands_named.join(",")] : []),
                   ...facts.options,
                   ...(facts.weights && s.distance !== "sam" ? ["--weights", facts.weights.join(",")] : []),
                   "--connectivity", s.connectivity, "--distance", s.distance,
                   "--alpha", decimal(s.alpha), ...(isSimple ? ["--omega", decimal(s.omega)] : []),
                   ...(s.minArea > 1 ? ["--min-area", s.minArea] : []),
                   // A name that begins with a dash is no option behind "--".
                   ...(facts.src.startsWith("-") ? ["--"] : []),
                   facts.src, isSimple ? "simplified.tif" : "labels.tif"];
    return words.map((word) => quoted(String(word))).join(" ");
}
