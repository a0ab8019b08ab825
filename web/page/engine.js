// SPDX-License-Identifier: MIT
// engine.js - the regions of the window for any settings, in the worker.
//
// For one connectivity, distance and minimum area, the hierarchy is found once; labels of every alpha
// are then cuts of it.  Where a change comes before there is a hierarchy, the labels are computed
// directly, which takes less time than the hierarchy.
import { windowCurve } from "./curve.js";

export class Engine {
    #qfz;
    #image;
    #weights;
    #session = null; // with the hierarchy of #key
    #key = "";

    constructor(qfz, image, weights) {
        this.#qfz = qfz;
        this.#image = image;
        this.#weights = weights;
    }

    #options({ connectivity, distance, minArea, alpha, omega }) {
        const weights = distance === "sam" ? undefined : this.#weights;
        return { connectivity, distance, weights, alpha, omega, minArea: minArea > 1 ? minArea : 0 };
    }

    #keyOf({ connectivity, distance, minArea }) {
        return [connectivity, distance, minArea].join(" ");
    }

    has(settings) {
        return this.#key === this.#keyOf(settings);
    }

    labels(settings) {
        if (settings.omega !== Infinity) {
            const session = this.#qfz.open(this.#image, this.#options(settings));
            try {
                return session.simplify();
            } finally {
                session.close();
            }
        }
        if (this.has(settings)) return this.#session.cut(settings.alpha);
        return this.#qfz.label(this.#image, { ...this.#options(settings), omega: undefined });
    }

    /** Finds the hierarchy: levels, values of levels, and, when first asked for, the curve of the window. */
    hierarchy(settings) {
        if (this.has(settings)) return this.found;
        this.#session?.close();
        this.#session = null;
        this.#key = "";
        const session = this.#qfz.open(this.#image,
                                       { ...this.#options(settings), alpha: undefined, omega: undefined });
        try {
            const levels = session.saliency();
            const value = (level) => session.value(level);
            const image = this.#image;
            let curve;
            this.found = { levels, planes: session.planes, value,
                           get curve() { return curve ??= windowCurve(levels, image, value); } };
        } catch (error) {
            session.close();
            throw error;
        }
        this.#session = session;
        this.#key = this.#keyOf(settings);
        return this.found;
    }
}
