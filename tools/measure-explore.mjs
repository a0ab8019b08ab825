// SPDX-License-Identifier: MIT
// measure-explore.mjs PAGE.html CHROMIUM [CHANGES] - the time from a movement of a slider of a page of
// qfz explore to the frame that shows its regions, in headless Chromium: median and maximum of some
// changes, in milliseconds, as a table.
import { pathToFileURL } from "node:url";
import { Browser } from "../tests/web/browser.mjs";

const [page, program, changes = "15"] = process.argv.slice(2);
const READY = 'document.body?.dataset.state === "ready"';

// Moves a slider by one step and waits for the frame after the one in which the page is ready.
const MOVE = `(id, step) => new Promise((resolve) => {
    const slider = document.getElementById(id), began = performance.now();
    slider.value = String(Number(slider.value) + step);
    slider.dispatchEvent(new Event("input"));
    const look = () => {
        if (document.body.dataset.state === "ready")
            requestAnimationFrame(() => resolve(performance.now() - began));
        else setTimeout(look, 1);
    };
    look();
})`;

async function measure(browser, hash, id, wait) {
    await browser.go(`${pathToFileURL(page).href}#${hash}`);
    await browser.until(READY);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const times = [];
    for (let k = 0; k < Number(changes); k++) {
        times.push(await browser.evaluate(`(${MOVE})("${id}", ${k % 2 ? -3 : 4})`));
        await new Promise((resolve) => setTimeout(resolve, wait));
    }
    times.sort((a, b) => a - b);
    const regions = await browser.evaluate('document.getElementById("regions").textContent');
    console.log(`| ${id} | \`#${hash}\` | ${regions} | ${times[times.length >> 1].toFixed(0)} | ` +
                `${times[times.length - 1].toFixed(0)} |`);
}

const browser = await Browser.open(program);
try {
    console.log("| slider | settings | regions | median, ms | maximum, ms |\n| --- | --- | --- | --- | --- |");
    const views = "left=outlines&right=means";
    await measure(browser, `alpha=100&${views}`, "alpha", 50);
    await measure(browser, `alpha=100&min-area=25&${views}`, "alpha", 50);
    await measure(browser, `alpha=100&omega=1000&${views}`, "alpha", 50);
    await measure(browser, `alpha=100&omega=1000&${views}`, "omega", 50);
    await measure(browser, `alpha=100&omega=1000&min-area=25&${views}`, "omega", 50);
    await measure(browser, `alpha=100&min-area=25&${views}`, "min-area", 50);
    await measure(browser, `alpha=100&omega=1000&min-area=25&${views}`, "min-area", 50);
} finally {
    await browser.close();
}
