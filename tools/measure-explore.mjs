// SPDX-License-Identifier: MIT
// measure-explore.mjs PAGE.html CHROMIUM [CHANGES] - the time from a movement of a slider of a page of
// qfz explore to the frame that shows its regions, in headless Chromium on Linux: the median of some
// changes, in milliseconds, as a table.  Processor time is that of all threads of the page: on a
// machine without other work, the time is at most so long.
import { readdirSync, readFileSync } from "node:fs";
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

/** Milliseconds that the threads of the pages have run. */
async function processorTime(browser) {
    let nanoseconds = 0;
    for (const id of await browser.renderers())
        for (const thread of readdirSync(`/proc/${id}/task`))
            try {
                const [ran] = readFileSync(`/proc/${id}/task/${thread}/schedstat`, "utf8").split(" ");
                nanoseconds += Number(ran);
            } catch { /* the thread has ended */ }
    return nanoseconds / 1e6;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1].toFixed(0);

async function measure(browser, hash, id, wait) {
    await browser.go(`${pathToFileURL(page).href}#${hash}`);
    await browser.until(READY);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const elapsed = [], processor = [];
    for (let k = 0; k < Number(changes); k++) {
        const before = await processorTime(browser);
        elapsed.push(await browser.evaluate(`(${MOVE})("${id}", ${k % 2 ? -3 : 4})`));
        processor.push(await processorTime(browser) - before);
        await new Promise((resolve) => setTimeout(resolve, wait));
    }
    const regions = await browser.evaluate('document.getElementById("regions").textContent');
    console.log(`| ${id} | \`#${hash}\` | ${regions} | ${median(processor)} | ${median(elapsed)} |`);
}

const browser = await Browser.open(program);
try {
    console.log("| slider | settings | regions | processor time, ms | elapsed, ms |\n| --- | --- | --- | --- | --- |");
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
