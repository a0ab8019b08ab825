// SPDX-License-Identifier: MIT
// chart.js - the two charts, as SVG.
import { regionsAt } from "./curve.js";

const WIDTH = 420, HEIGHT = 210, LEFT = 46, RIGHT = 410, TOP = 12, BOTTOM = 182;

function draw(parent, name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
}

function canvasOf(place, label) {
    place.replaceChildren();
    return draw(place, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
}

export function short(value) {
    if (!Number.isFinite(value)) return String(value);
    const size = Math.abs(value);
    if (size >= 1e9) return `${+(value / 1e9).toPrecision(3)}G`;
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
    return String(+value.toPrecision(4));
}

/** A logarithmic axis; values below the least lie at its start. */
function axis(least, most, from, to) {
    const low = Math.log10(least), high = Math.max(Math.log10(most), low + 1e-9);
    return (value) => from + (to - from) * Math.max(0, Math.min(1, (Math.log10(Math.max(value, least)) - low) /
                                                                   (high - low)));
}

function powers(least, most) {
    const all = [];
    for (let k = Math.ceil(Math.log10(least)); k <= Math.log10(most) + 1e-9; k++) all.push(10 ** k);
    const stride = Math.ceil(all.length / 7);
    return all.filter((_, i) => i % stride === 0);
}

/** curves: { window, raster }, the second may be missing; alpha: the one to mark. */
export function drawCurve(place, curves, alpha) {
    const there = Object.entries(curves).filter(([, curve]) => curve);
    const positive = there.flatMap(([, curve]) => curve.alpha.filter((a) => a > 0 && a < Infinity));
    const least = positive.reduce((a, b) => Math.min(a, b), Infinity);
    const most = positive.reduce((a, b) => Math.max(a, b), 0);
    const top = Math.max(...there.map(([, curve]) => curve.regions[0]));
    const svg = canvasOf(place, `Number of regions for every alpha; ${short(regionsAt(curves.window, alpha))} at alpha ${alpha}`);
    if (!(most > 0) || top < 1) return;
    const x = axis(least / 1.6, most, LEFT, RIGHT), y = axis(1, Math.max(top, 10), BOTTOM, TOP);
    for (const power of powers(least / 1.6, most)) {
        draw(svg, "line", { class: "grid", x1: x(power), x2: x(power), y1: TOP, y2: BOTTOM });
        draw(svg, "text", { x: x(power), y: BOTTOM + 15, "text-anchor": "middle" }, short(power));
    }
    for (const power of powers(1, top)) {
        draw(svg, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(power), y2: y(power) });
        draw(svg, "text", { x: LEFT - 6, y: y(power) + 4, "text-anchor": "end" }, short(power));
    }
    draw(svg, "text", { x: RIGHT, y: HEIGHT - 1, "text-anchor": "end" }, "alpha");
    for (const [name, curve] of there) {
        let d = `M${x(0).toFixed(1)} ${y(curve.regions[0]).toFixed(1)}`;
        for (let i = 1; i < curve.alpha.length; i++)
            if (curve.alpha[i] < Infinity)
                d += `H${x(curve.alpha[i]).toFixed(1)}V${y(curve.regions[i]).toFixed(1)}`;
        draw(svg, "path", { class: `line ${name}`, d: `${d}H${RIGHT}` });
    }
    draw(svg, "line", { class: "mark", x1: x(alpha), x2: x(alpha), y1: TOP, y2: BOTTOM });
    for (const [name, curve] of there)
        draw(svg, "circle", { class: `dot ${name}`, cx: x(alpha), cy: y(regionsAt(curve, alpha)), r: 4 });
}

/** counts[i]: regions of 2^i to 2^(i + 1) - 1 pixels. */
export function drawSizes(place, counts) {
    const names = counts.map((_, i) => (i ? `${2 ** i} to ${2 ** (i + 1) - 1}` : "1"));
    const svg = canvasOf(place, `Regions by size: ${counts.map((n, i) => `${n} of ${names[i]} pixels`).join("; ")}`);
    const top = Math.max(10, ...counts);
    const y = axis(0.7, top, BOTTOM, TOP), step = (RIGHT - LEFT) / Math.max(counts.length, 6);
    for (const power of powers(1, top)) {
        draw(svg, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(power), y2: y(power) });
        draw(svg, "text", { x: LEFT - 6, y: y(power) + 4, "text-anchor": "end" }, short(power));
    }
    const stride = Math.ceil(counts.length / 11);
    counts.forEach((count, i) => {
        const x = LEFT + i * step;
        if (count) {
            const bar = draw(svg, "rect", { class: "bar-of", x: x + 1.5, width: step - 3, y: y(count),
                                            height: BOTTOM - y(count), rx: 1.5 });
            draw(bar, "title", {}, `${count} regions of ${names[i]} pixels`);
        }
        if (i % stride === 0)
            draw(svg, "text", { x: x + step / 2, y: BOTTOM + 15, "text-anchor": "middle" },
                 i < 14 ? String(2 ** i) : short(Math.round(2 ** i / 1000) * 1000));
    });
    draw(svg, "text", { x: RIGHT, y: HEIGHT - 1, "text-anchor": "end" }, "pixels and more");
}
