// SPDX-License-Identifier: MIT
// panel.js - the selected region as tables.  All text is set as text: names of bands are data.

function add(parent, name, text, attributes = {}) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
}

export function digits(value) {
    if (value === null) return "–";
    return Number.isInteger(value) ? String(value) : String(+value.toPrecision(6));
}

function areaText(area, hasCrs) {
    if (!hasCrs) return `${digits(area)} square units`;
    return area >= 1e5 ? `${digits(area / 1e4)} ha` : `${digits(area)} m²`;
}

/** Where the centre of the bounding box lies, in the units of the CRS. */
function placeText(region, facts) {
    const t = facts.transform;
    const x = facts.x + (region.x0 + region.x1) / 2, y = facts.y + (region.y0 + region.y1) / 2;
    return [t[0] + t[1] * x + t[2] * y, t[3] + t[4] * x + t[5] * y]
        .map((value) => +value.toPrecision(9)).join(", ");
}

function rowsOf(region, facts) {
    const rows = [["Label in the window", region.label === null ? "a larger region" : region.label],
                  ["Pixels", region.count]];
    if (region.area !== null) rows.push(["Area", areaText(region.area, Boolean(facts.crs))]);
    if (facts.transform) rows.push(["Centre", placeText(region, facts)]);
    rows.push(["Columns", `${facts.x + region.x0} to ${facts.x + region.x1 - 1}`],
              ["Rows", `${facts.y + region.y0} to ${facts.y + region.y1 - 1}`],
              ["Appears at alpha", digits(region.appears)],
              ["Joins others at alpha", region.disappears === null ? "never" : digits(region.disappears)]);
    return rows;
}

function addBands(place, region, facts) {
    const table = add(add(place, "div", undefined, { class: "bands-table", tabindex: "0" }), "table");
    const head = add(add(table, "thead"), "tr");
    for (const title of ["Band", "Mean", "Min", "Max", "Range"])
        add(head, "th", title, { scope: "col" });
    const body = add(table, "tbody");
    region.bands.forEach(({ mean, low, high }, i) => {
        const { number, name } = facts.bands[i];
        const row = add(body, "tr");
        add(row, "th", name ? `${number} ${name}` : number, { scope: "row" });
        for (const value of [mean, low, high, high - low]) add(row, "td", digits(value));
    });
}

/** region: null shows what to do.  onLarger and onSmaller: of the two buttons. */
export function showRegion(place, region, facts, { onLarger, onSmaller }) {
    place.replaceChildren();
    if (!region) {
        add(place, "p", "Click a region; Shift and the wheel go to larger regions around it.", { class: "note" });
        return;
    }
    const body = add(add(place, "table"), "tbody");
    for (const [title, value] of rowsOf(region, facts)) {
        const row = add(body, "tr");
        add(row, "th", title, { scope: "row" });
        add(row, "td", value);
    }
    addBands(place, region, facts);
    const steps = add(place, "div", undefined, { class: "steps" });
    const larger = add(steps, "button", "Larger region around it", { type: "button", id: "larger" });
    larger.disabled = region.disappears === null;
    larger.addEventListener("click", onLarger);
    const smaller = add(steps, "button", "Back", { type: "button", id: "smaller" });
    smaller.disabled = region.label !== null;
    smaller.addEventListener("click", onSmaller);
}
