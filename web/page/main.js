// SPDX-License-Identifier: MIT
// main.js - the page: controls, views and charts around the worker.
//
// A change asks the worker for labels and for the two views.  While the worker is busy, only the last
// change is kept.  Once there is nothing to do, the worker finds the hierarchy of the settings, from
// which the curve, the stops of the sliders and further labels come.
import { drawCurve, drawSizes, short } from "./chart.js";
import { Client } from "./client.js";
import { quantiles, regionsAt } from "./curve.js";
import { showRegion } from "./panel.js";
import { commandLine, decimal, DISTANCES, formatHash, parseHash, VIEWS } from "./settings.js";
import { Slider } from "./sliders.js";
import { Tabs } from "./tabs.js";
import { Viewer } from "./viewer.js";

const IDLE_MS = 250;
const $ = (id) => document.getElementById(id);
const facts = JSON.parse($("data").textContent);
const worker = new Client($("worker").textContent);
let settings = { alpha: 0, omega: Infinity, minArea: 1, left: "outlines", right: "means", window: 1,
                 connectivity: facts.connectivity, distance: facts.distance,
                 bands: facts.bands.length >= 3 ? [0, 1, 2] : [0, 0, 0] };
let here = null; // the facts with those of the window that is shown

const state = {
    busy: false,      // the worker computes
    wanted: false,    // settings have changed since
    idle: 0,          // timer before the hierarchy
    curve: null, curveOf: "", // the window's, and of which settings
    region: null, picked: null, // the region shown; the pixel that was clicked
    levels: [], // of the larger regions around it, up to the one shown
};

const hierarchyKey = () =>
    [settings.connectivity, settings.distance, settings.minArea, settings.window].join(" ");

function problem(text) {
    $("problem").textContent = text;
    $("problem").hidden = text === "";
}

function say(text) {
    $("busy").textContent = text;
}

// ------------------------------------------------------------------------------------------- labels
/** Asks for what the settings show; changes during the work are one more request. */
async function refresh() {
    clearTimeout(state.idle);
    state.wanted = true;
    document.body.dataset.state = "busy";
    if (state.busy) return;
    state.busy = true;
    while (state.wanted) {
        state.wanted = false;
        await showOnce();
    }
    state.busy = false;
    document.body.dataset.state = "ready";
    say("");
    if (state.curveOf !== hierarchyKey()) state.idle = setTimeout(findHierarchy, IDLE_MS);
}

async function showOnce() {
    const asked = { ...settings };
    const slow = setTimeout(() => say("Computing"), 200);
    try {
        const result = await worker.call("show", { settings: asked,
                                                   views: [...new Set([asked.left, asked.right, "input"])] });
        openWindow(asked.window);
        for (const [view, pixels] of Object.entries(result.pictures)) viewer.set(view, pixels);
        Object.assign(viewer, { labels: result.labels, left: asked.left, right: asked.right });
        $("regions").textContent = String(result.regions);
        $("regions").dataset.checksum = result.checksum;
        $("regions").dataset.milliseconds = result.milliseconds.toFixed(1);
        drawSizes($("sizes"), result.sizes);
        state.picked = null;
        select(null);
        problem("");
    } catch (error) {
        problem(error.message);
    }
    clearTimeout(slow);
    drawCurves();
    viewer.draw();
}

/** In two steps, so that a change does not wait for both. */
async function findHierarchy() {
    if (state.busy) return;
    state.busy = true;
    const key = hierarchyKey(), asked = { ...settings };
    try {
        await worker.call("levels", { settings: asked });
        if (!state.wanted) {
            const { curve, range } = await worker.call("curve", { settings: asked });
            Object.assign(state, { curve, range, curveOf: key });
            alpha.setStops(quantiles(curve, 2));
            omega.setStops(omegaStops(range));
            drawCurves();
        }
    } catch (error) {
        problem(error.message);
    }
    state.busy = false;
    if (state.wanted) refresh();
}

// -------------------------------------------------------------------------------------------- charts
/** The curve of the whole raster holds for the settings that it was computed with. */
function rasterCurve() {
    const same = settings.minArea <= 1 && settings.connectivity === facts.connectivity &&
        settings.distance === facts.distance;
    return same ? facts.curve : undefined;
}

function drawCurves() {
    const raster = rasterCurve();
    $("raster-key").hidden = !raster;
    $("whole").textContent = "";
    if (raster && settings.omega === Infinity) {
        const n = regionsAt(raster, settings.alpha);
        const isExact = raster.exact_below === null || settings.alpha < raster.exact_below;
        $("whole").textContent = `${isExact ? "" : "about "}${isExact ? n : short(n)} in the whole raster`;
    }
    if (state.curve && state.curveOf === hierarchyKey())
        drawCurve($("curve"), { window: state.curve, raster }, settings.alpha);
}

// ------------------------------------------------------------------------------------------- region
function select(region) {
    state.region = region;
    viewer.select(region && region.mask);
    showRegion($("region"), region, here, { onLarger: () => step(1), onSmaller: () => step(-1) });
}

/** Selects the region of a pixel, or the one around it at the last of some levels. */
async function pick(pixel, levels = []) {
    if (settings.window !== here.number) return; // another window will be shown
    state.picked = pixel;
    if (pixel === null) {
        select(null);
        return;
    }
    try {
        const { region } = await worker.call("pick", { pixel, level: levels.at(-1),
                                                       settings: { ...settings } });
        if (state.picked !== pixel) return; // another one since
        state.levels = levels;
        select(region);
    } catch (error) {
        problem(error.message);
    }
}

/** 1: to the next larger region around the selected one; -1: back by one. */
function step(direction) {
    const { region, picked, levels } = state;
    if (!region) return;
    if (direction > 0 && region.next !== null) pick(picked, [...levels, region.next]);
    if (direction < 0 && levels.length) pick(picked, levels.slice(0, -1));
}

function showPosition(at) {
    if (!at) {
        $("position").textContent = "\u00a0";
        return;
    }
    const x = here.x + at[0], y = here.y + at[1], t = facts.transform;
    const map = t ? [t[0] + t[1] * (x + 0.5) + t[2] * (y + 0.5), t[3] + t[4] * (x + 0.5) + t[5] * (y + 0.5)]
        .map((value) => +value.toPrecision(9)).join(", ") : "";
    $("position").textContent = `column ${x}, row ${y}${map ? ` · ${map}` : ""}` +
        (viewer.labels ? ` · region ${viewer.labels[at[1] * here.width + at[0]]}` : "");
}

// ----------------------------------------------------------------------------------------- controls
const viewer = new Viewer($("canvas"), { onPick: (pixel) => pick(pixel), onMove: showPosition,
                                         onStep: step });
const tabs = new Tabs($("windows"), $("picture"), facts.windows, (number) => change({ window: number }));

/** The page shows another window from now on; its pictures follow. */
function openWindow(number) {
    if (here?.number === number) return;
    here = { ...facts, ...facts.windows[number - 1], number };
    viewer.open(here.width, here.height);
    minArea.setStops(geometric(here.valid / 4));
    showFacts();
}

/** Takes over changed settings: into the address, the command and the worker. */
function change(some) {
    Object.assign(settings, some);
    history.replaceState(null, "", formatHash(settings, facts));
    tabs.show(settings.window);
    $("command").textContent = commandLine(settings, facts);
    refresh();
}

const alpha = new Slider($("alpha"), $("alpha-number"), { least: 0 }, (value) => change({ alpha: value }));
const omega = new Slider($("omega"), $("omega-number"), { least: 0 }, (value) => change({ omega: value }));
const minArea = new Slider($("min-area"), $("min-area-number"), { least: 1, isWhole: true },
                           (value) => change({ minArea: value }));

function fill(select, items) {
    select.replaceChildren(...items.map(([value, text]) => new Option(text, value)));
}

function showSettings() {
    alpha.set(settings.alpha);
    omega.set(settings.omega);
    minArea.set(settings.minArea);
    for (const name of ["distance", "connectivity", "left", "right"])
        $(name).value = String(settings[name]);
    COLOURS.forEach((id, i) => { $(id).value = String(settings.bands[i]); });
}

/** Numbers that grow by at most a quarter, from 1 to most, whole ones where they are small. */
function geometric(most) {
    const stops = [];
    for (let value = 1; value <= most; value = Math.max(value + 1, Math.round(value * 1.25)))
        stops.push(value);
    return stops;
}

/** Stops of omega up to the range of the values in the window. */
function omegaStops(range) {
    const most = range || 1, unit = facts.type === "Float32" ? most / 1000 : 1;
    return [0, ...geometric(most / unit).map((value) => +(value * unit).toPrecision(4)), Infinity];
}

const COLOURS = ["red", "green", "blue"];
const CHOICES = ["distance", "left", "right", "connectivity"];
fill($("distance"), DISTANCES.filter((d) => d !== "sam" || facts.bands.length > 1).map((d) => [d, d]));
for (const id of ["left", "right"])
    fill($(id), VIEWS.map((view) => [view, view[0].toUpperCase() + view.slice(1)]));
for (const id of CHOICES)
    $(id).addEventListener("change", () => change({ [id]: id === "connectivity" ? Number($(id).value)
                                                                              : $(id).value }));
COLOURS.forEach((id, i) => {
    fill($(id), facts.bands.map(({ number, name }, b) => [b, name ? `${number} ${name}` : number]));
    $(id).addEventListener("change", () =>
        change({ bands: settings.bands.map((b, k) => (k === i ? Number($(id).value) : b)) }));
});
$("bands").hidden = facts.bands.length < 2;
$("form").addEventListener("submit", (event) => event.preventDefault());
$("swipe").addEventListener("input", () => {
    viewer.share = Number($("swipe").value) / 1000;
    viewer.draw();
});
$("zoom-in").addEventListener("click", () => viewer.zoom(1.5));
$("zoom-out").addEventListener("click", () => viewer.zoom(1 / 1.5));
$("fit").addEventListener("click", () => viewer.fit());
$("copy").addEventListener("click", async () => {
    try {
        await navigator.clipboard.writeText($("command").textContent);
        $("copy").textContent = "Copied";
    } catch {
        getSelection().selectAllChildren($("command"));
        $("copy").textContent = "Press Ctrl-C";
    }
    setTimeout(() => { $("copy").textContent = "Copy"; }, 2000);
});
window.addEventListener("hashchange", () => {
    settings = parseHash(location.hash, settings, facts);
    showSettings();
    change({});
});

// -------------------------------------------------------------------------------------------- start
function showFacts() {
    const name = facts.src.split("/").pop();
    const crs = /^\w+\["([^"]*)"/.exec(facts.crs ?? "");
    document.title = `${name} – qfz explore`;
    $("source").textContent = `explore ${name}`;
    $("version").textContent = `qfz ${facts.version}`;
    $("facts").textContent = [
        `${here.width} × ${here.height} of ${facts.raster_width} × ${facts.raster_height} pixels, ` +
        `from column ${here.x}, row ${here.y}`,
        `${facts.bands.length} band${facts.bands.length > 1 ? "s" : ""} of ${facts.type}`,
        ...(crs ? [crs[1]] : []),
    ].join(" · ");
}

/** An alpha at which regions have some 40 pixels. */
function firstAlpha(curve) {
    const stops = quantiles(curve, 2);
    return stops.find((stop) => regionsAt(curve, stop) <= here.valid / 40) ?? stops[stops.length - 1];
}

async function start() {
    settings = parseHash(location.hash, settings, facts);
    tabs.show(settings.window);
    openWindow(settings.window);
    await worker.call("start", { facts, module: $("module").textContent,
                                 pixels: facts.windows.map((_, i) => $(`pixels-${i + 1}`).textContent) });
    await findHierarchy();
    if (!state.curve) return;
    if (!new URLSearchParams(location.hash.slice(1)).has("alpha")) {
        settings.alpha = firstAlpha(state.curve);
        settings.omega = omegaStops(state.range).find((stop) => stop >= 6 * settings.alpha);
    }
    showSettings();
    change({});
}

start().catch((error) => {
    say("");
    problem(`The page could not start: ${error.message}`);
    document.body.dataset.state = "failed";
});
