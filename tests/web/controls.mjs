// SPDX-License-Identifier: MIT
// controls.mjs QFZ CHROMIUM [START] - the controls of a page of qfz explore by keys, pointer and wheel:
// after each, regions and labels are those of the command; the row of a region; tabs; names for
// screen readers; contrast in both schemes; a phone.
import assert from "node:assert/strict";
import { Browser } from "./browser.mjs";
import { address, at, cut, expected, hashOf, READY, run, scratch, setHash, shown, textOf } from "./pages.mjs";
import { random, randomImage, seed, store, TYPES, values } from "./rasters.mjs";

const [command, program, start = "1"] = process.argv.slice(2);

/** The settings in the address, as hashOf() takes them. */
async function settingsOf(browser) {
    const words = new URLSearchParams((await browser.evaluate("location.hash")).slice(1));
    return { alpha: Number(words.get("alpha")), omega: words.has("omega") ? Number(words.get("omega")) : null,
             "min-area": words.has("min-area") ? Number(words.get("min-area")) : null,
             connectivity: Number(words.get("connectivity")), distance: words.get("distance") };
}

/** The page shows what the command computes with the settings in the address; returns these. */
async function isRight(browser) {
    await browser.until(READY);
    const settings = await settingsOf(browser);
    assert.deepEqual(await shown(browser), expected(command, settings, false), hashOf(settings));
    return settings;
}

async function focus(browser, id) {
    await browser.evaluate(`document.getElementById("${id}").focus()`);
}

async function keys(browser, id, ...names) {
    await focus(browser, id);
    for (const name of names) await browser.key(name);
    await browser.until(READY);
}

async function sliders(browser) {
    const before = await settingsOf(browser);
    await keys(browser, "alpha", "ArrowRight", "ArrowRight", "ArrowRight");
    let now = await isRight(browser);
    assert.ok(now.alpha > before.alpha, "a key moves alpha");
    assert.equal(parseInt(await textOf(browser, "whole"), 10), (await shown(browser))[0],
                 "the number in the whole raster");

    const { x, y, width, height } = await browser.box("alpha");
    await browser.click(x + width * 0.7, y + height / 2);
    now = await isRight(browser);
    assert.ok(now.alpha > 0, "a click moves alpha");
    await keys(browser, "alpha", "Home");
    assert.equal((await isRight(browser)).alpha, 0);

    const omega = await browser.box("omega");
    const middle = omega.y + omega.height / 2;
    await browser.drag(omega.x + omega.width - 6, middle, omega.x + omega.width / 3, middle);
    now = await isRight(browser);
    assert.ok(now.omega > 0 && now.omega < 200, `the pointer drags omega to ${now.omega}`);
    await keys(browser, "omega", "End");
    assert.equal((await isRight(browser)).omega, null);

    await keys(browser, "min-area", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight");
    assert.ok((await isRight(browser))["min-area"] > 1, "a key moves the minimum area");
}

async function typed(browser, id, text) {
    await focus(browser, id);
    await browser.evaluate(`document.getElementById("${id}").select()`);
    await browser.type(text);
    await browser.key("Enter");
    await browser.until(READY);
}

async function fields(browser) {
    await typed(browser, "alpha-number", "2.5");
    await typed(browser, "omega-number", "7");
    await typed(browser, "min-area-number", "3");
    const now = await isRight(browser);
    assert.deepEqual([now.alpha, now.omega, now["min-area"]], [2.5, 7, 3]);
    // A number that is none changes nothing.
    for (const [id, text] of [["alpha-number", "-1"], ["omega-number", "x"], ["min-area-number", "2.5"]]) {
        await typed(browser, id, text);
        assert.equal(await browser.evaluate(`document.getElementById("${id}").ariaInvalid`), "true");
    }
    assert.deepEqual(await isRight(browser), now);
    await typed(browser, "omega-number", "inf");
    await typed(browser, "min-area-number", "1");

    await keys(browser, "connectivity", "ArrowDown");
    assert.equal((await isRight(browser)).connectivity, 8);
    await keys(browser, "distance", "ArrowUp");
    assert.equal((await isRight(browser)).distance, "l2");
    await keys(browser, "connectivity", "ArrowUp");
    await keys(browser, "distance", "ArrowDown");
}

/** Text that is being typed stays when the hierarchy of new settings comes; so does the mark of a wrong one.  The
    text is there before the page can hear from its worker: all of it in one turn of the page. */
async function halfTyped(browser) {
    await browser.evaluate(`{
        const fill = (id, text, ...events) => {
            document.getElementById(id).value = text;
            for (const event of events) document.getElementById(id).dispatchEvent(new Event(event));
        };
        fill("connectivity", "8", "change");
        fill("omega-number", "x", "change");
        document.getElementById("alpha-number").focus();
        fill("alpha-number", "12.");
        document.getElementById("curve").replaceChildren();
    }`);
    await browser.until('document.querySelector("#curve path")');
    assert.deepEqual(await browser.evaluate(`[document.getElementById("alpha-number").value,
        document.getElementById("omega-number").value,
        document.getElementById("omega-number").ariaInvalid]`), ["12.", "x", "true"]);
    await typed(browser, "alpha-number", "2");
    await typed(browser, "omega-number", "inf");
    await keys(browser, "connectivity", "ArrowUp");
    await isRight(browser);
}

/** The command to copy gives the same number. */
async function commandLine(browser) {
    const words = (await textOf(browser, "command")).split(" ");
    assert.equal(words.shift(), "qfz");
    words.pop();
    assert.equal(JSON.parse(run(command, ...words, "--count-only", "-q")).regions, (await shown(browser))[0]);
}

/** The rows of the selected region: by their titles, without those of bands, and of the bands. */
async function regionOf(browser) {
    const cells = await browser.evaluate(
        `[...document.querySelectorAll("#region tr")].map((row) => [...row.children].map((c) => c.textContent))`);
    return { row: Object.fromEntries(cells.filter((c) => c.length === 2)),
             bands: cells.filter((c) => c.length > 2).slice(1).map((c) => c.slice(1).map(Number)) };
}

/** The pixels of the component of pixel p at an alpha, by the command. */
function component(p, alpha, settings) {
    expected(command, { ...settings, alpha }, false);
    const labels = values(at("labels"));
    return [...labels.keys()].filter((q) => labels[q] === labels[p]);
}

/** The region of pixel p that is shown: pixels, means, range and levels. */
async function regionIsRight(browser, image, p, settings) {
    const { row, bands } = await regionOf(browser);
    const appears = Number(row["Appears at alpha"]), joins = row["Joins others at alpha"];
    const pixels = component(p, appears, settings), n = image.width * image.height;
    assert.equal(Number(row.Pixels), pixels.length);
    bands.forEach(([mean, least, most, range], b) => {
        const all = pixels.map((q) => image.pixels[b * n + q]);
        assert.ok(Math.abs(mean - all.reduce((a, c) => a + c, 0) / all.length) < 1e-4 * Math.abs(mean));
        assert.deepEqual([least, most, range],
                         [Math.min(...all), Math.max(...all), Math.max(...all) - Math.min(...all)]);
    });
    assert.equal(bands.length, image.bands);
    if (appears > 0) assert.ok(component(p, appears - 1, settings).length < pixels.length);
    if (joins === "never") return { pixels: pixels.length, isLast: true };
    assert.equal(component(p, Number(joins) - 1, settings).length, pixels.length);
    assert.ok(component(p, Number(joins), settings).length > pixels.length);
    return { pixels: pixels.length, isLast: false };
}

async function region(browser, image) {
    await typed(browser, "alpha-number", "1");
    const settings = await isRight(browser);
    const { x, y, width, height } = await browser.box("canvas");
    const middle = [x + width / 2, y + height / 2];
    const p = (image.height >> 1) * image.width + (image.width >> 1); // both sides are even
    await browser.click(middle[0] + 2, middle[1] + 2);
    await browser.until('document.querySelector("#region table")');
    const first = await regionIsRight(browser, image, p, settings);
    assert.ok(!first.isLast, "the test needs a region with a larger one around it");

    const changed = (count) => browser.until(
        `Number([...document.querySelectorAll("#region tr")].find((row) =>
            row.firstChild.textContent === "Pixels")?.lastChild.textContent) ${count}`);
    await browser.wheel(...middle, -120, { shift: true });
    await changed(`> ${first.pixels}`);
    const second = await regionIsRight(browser, image, p, settings);
    await browser.wheel(...middle, 120, { shift: true });
    await changed(`=== ${first.pixels}`);
    await focus(browser, "canvas");
    await browser.key("PageUp");
    await changed(`=== ${second.pixels}`);
    await browser.key("PageDown");
    await changed(`=== ${first.pixels}`);
    await browser.evaluate('document.getElementById("larger").click()');
    await changed(`=== ${second.pixels}`);
    await browser.key("Escape");
    await browser.until('!document.querySelector("#region table")');
    // Zoom, pan and the region in the middle by keys.
    for (const key of ["+", "ArrowLeft", "-", "0", "Enter"]) await browser.key(key);
    await changed(`=== ${first.pixels}`);
    await browser.wheel(...middle, -120);
    await browser.key("0");
}

/** Each tab shows its window, by keys and in the address. */
async function windows(browser, parts) {
    const show = async (n) => {
        await browser.until(`document.getElementById("window-${n}").ariaSelected === "true"`);
        store(parts[n - 1], scratch, "part");
        await isRight(browser);
        assert.match(await textOf(browser, "facts"), new RegExp(`^${parts[n - 1].width} × ${parts[n - 1].height} of`));
        assert.equal(await browser.evaluate('new URLSearchParams(location.hash.slice(1)).get("window")'), String(n));
    };
    await keys(browser, "window-1", "ArrowRight");
    await show(2);
    assert.equal(await browser.evaluate("document.activeElement.id"), "window-2");
    await keys(browser, "window-2", "End");
    await show(3);
    await keys(browser, "window-3", "ArrowRight");
    await show(1);
    await setHash(browser, "window=2");
    await show(2);
    const { x, y, width, height } = await browser.box("window-1");
    await browser.click(x + width / 2, y + height / 2);
    await show(1);
}

/** Every control has a name, and the keyboard reaches every control. */
async function names(browser) {
    const { nodes } = await browser.send("Accessibility.getFullAXTree");
    const controls = nodes.filter((node) => !node.ignored &&
        ["slider", "textbox", "combobox", "button", "tab", "application"].includes(node.role?.value));
    assert.ok(controls.length >= 20, `${controls.length} controls`);
    for (const { role, name } of controls)
        assert.ok(name?.value.trim(), `a ${role.value} without a name`);
    const texts = controls.map(({ role, name }) => `${role.value} ${name.value}`);
    assert.equal(new Set(texts).size, texts.length, `two controls have one name: ${texts}`);
    for (const { role, name, properties } of controls)
        assert.ok(role.value === "tab" || properties.some((p) => p.name === "focusable" && p.value.value) ||
                  properties.some((p) => p.name === "disabled" && p.value.value), `${name.value} takes no focus`);
    const status = nodes.filter((node) => node.role?.value === "status");
    assert.ok(status.length > 0, "the number of regions is announced");
}

/** The contrast of every text with what lies behind it is at least 4.5, as WCAG AA demands. */
const CONTRAST = `(() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (c) => c.slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] === 1) return c;
        }
        return [255, 255, 255];
    };
    const low = [];
    for (const element of document.body.querySelectorAll("*")) {
        const hasText = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!hasText || !element.getClientRects().length || element.closest("script, option, :disabled")) continue;
        const style = getComputedStyle(element), isSvg = element.namespaceURI.endsWith("svg");
        const [a, b] = [light(parse(isSvg ? style.fill : style.color)), light(behind(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.push(element.outerHTML.slice(0, 80) + " " + ratio.toFixed(2));
    }
    return low;
})()`;

async function schemes(browser) {
    const backs = [];
    for (const value of ["light", "dark"]) {
        await browser.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
        assert.deepEqual(await browser.evaluate(CONTRAST), [], value);
        backs.push(await browser.evaluate("getComputedStyle(document.body).backgroundColor"));
    }
    assert.notEqual(backs[0], backs[1]);
}

/** On a phone nothing is wider than the screen. */
async function phone(browser) {
    await browser.size(360, 740, true);
    await browser.until("innerWidth <= 360");
    const wide = await browser.evaluate(`[...document.body.querySelectorAll("*")]
        .filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".bands-table, .skip, svg"))
        .map((e) => e.outerHTML.slice(0, 80))`);
    assert.deepEqual(wide, []);
    await browser.size(1280, 900);
}

async function views(browser) {
    for (const view of ["input", "outlines", "means", "colours", "saliency"]) {
        await browser.evaluate(`{ const left = document.getElementById("left");
            left.value = "${view}"; left.dispatchEvent(new Event("change")); }`);
        await isRight(browser);
    }
}

seed(Number(start));
let image;
do image = { ...randomImage([TYPES[0]], 90, 70), valid: null };
while (image.bands < 2 || new Set(image.pixels).size < 30); // many levels
const places = [{ x: 0, y: 0, w: 90, h: 70 }, { x: 11, y: 5, w: 40 + random(20), h: 33 }, { x: 60, y: 40, w: 30, h: 30 }];
store(image, scratch, "part");
store(image, scratch, "whole");
run(command, "explore", "-q", "--overwrite", "--distance", "linf",
    ...places.flatMap((place) => ["--window", Object.values(place).join(",")]), at("whole"), at("page.html"));
const browser = await Browser.open(program);
try {
    await browser.go(address("page.html") + "#alpha=0&omega=inf&min-area=1");
    await shown(browser);
    await browser.until('document.querySelector("#curve path")');
    await sliders(browser);
    await fields(browser);
    await halfTyped(browser);
    await commandLine(browser);
    await region(browser, image);
    await views(browser);
    await windows(browser, places.map((place) => cut(image, place)));
    await names(browser);
    await schemes(browser);
    await phone(browser);
    assert.deepEqual(browser.problems, []);
    console.log("sliders, fields, regions, tabs, names, contrast");
} finally {
    await browser.close();
}
