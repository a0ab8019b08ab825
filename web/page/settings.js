// SPDX-License-Identifier: MIT
// settings.js - what the user has chosen, as a hash of the page's address: #alpha=9&omega=60
// &min-area=25&connectivity=8&distance=linf&left=input&right=means.

export const DISTANCES = ["l1", "l2", "linf", "sam"];
export const VIEWS = ["input", "outlines", "means", "colours", "saliency"];

/** A number of at least `least`, or other if the text is none; inf is infinity. */
function number(text, least, other) {
    if (text === null || text.trim() === "") return other;
    const value = /^\+?inf(inity)?$/i.test(text) ? Infinity : Number(text);
    return value >= least ? value : other;
}

const choice = (text, list, other) => (list.includes(text) ? text : other);

/** The settings of a hash; what is missing or wrong in it is taken from `other`. */
export function parseHash(hash, other) {
    const words = new URLSearchParams(hash.replace(/^#/, ""));
    const minArea = number(words.get("min-area"), 1, other.minArea);
    return {
        alpha: number(words.get("alpha"), 0, other.alpha),
        omega: number(words.get("omega"), 0, other.omega),
        minArea: Number.isSafeInteger(minArea) ? minArea : other.minArea,
        connectivity: Number(choice(words.get("connectivity"), ["4", "8"],
                                    String(other.connectivity))),
        distance: choice(words.get("distance"), DISTANCES, other.distance),
        left: choice(words.get("left"), VIEWS, other.left),
        right: choice(words.get("right"), VIEWS, other.right),
    };
}

export const decimal = (value) => (value === Infinity ? "inf" : String(value));

export function formatHash(s) {
    const words = new URLSearchParams({ alpha: decimal(s.alpha) });
    if (s.omega !== Infinity) words.set("omega", decimal(s.omega));
    if (s.minArea > 1) words.set("min-area", s.minArea);
    words.set("connectivity", s.connectivity);
    words.set("distance", s.distance);
    words.set("left", s.left);
    words.set("right", s.right);
    return `#${words}`;
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
