// SPDX-License-Identifier: MIT
// sliders.js - a slider whose positions are numbers of a list, beside a field for any number.

const decimalOf = (value) => (value === Infinity ? "inf" : String(value));

/** The field's number, or null. */
function read(text, { least, isWhole }) {
    const trimmed = text.trim();
    const value = /^inf(inity)?$/i.test(trimmed) ? Infinity : trimmed === "" ? NaN : Number(trimmed);
    if (!(value >= least) || (isWhole && !Number.isSafeInteger(value))) return null;
    return value;
}

export class Slider {
    #range;
    #field;
    #stops = [0];

    /** rules: least, isWhole; onChange(value). */
    constructor(range, field, rules, onChange) {
        this.#range = range;
        this.#field = field;
        this.value = rules.least;
        range.addEventListener("input", () => {
            this.set(this.#stops[Number(range.value)]);
            onChange(this.value);
        });
        field.addEventListener("change", () => {
            const value = read(field.value, rules);
            field.setAttribute("aria-invalid", String(value === null));
            if (value === null) return;
            this.set(value);
            onChange(value);
        });
    }

    /** Ascending numbers.  The field stays as it is: someone may be typing in it. */
    setStops(stops) {
        this.#stops = stops;
        this.#range.max = String(stops.length - 1);
        this.#move();
    }

    set(value) {
        this.value = value;
        this.#move();
        this.#field.value = decimalOf(value);
        this.#field.setAttribute("aria-invalid", "false");
    }

    /** The slider goes to the last stop that is not above the value. */
    #move() {
        let at = 0;
        while (at + 1 < this.#stops.length && this.#stops[at + 1] <= this.value) at++;
        this.#range.value = String(at);
        this.#range.setAttribute("aria-valuetext", decimalOf(this.value));
    }
}
