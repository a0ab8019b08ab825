// SPDX-License-Identifier: MIT
// live.mjs ROOT BUILD CHROMIUM - the live pages of the documentation's site: tools/live-pages.sh makes
// those that docs/user/live.md links to; each link shows regions with the settings that it names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";
import { address, at, run, shown, textOf } from "./pages.mjs";

const [root, build, program] = process.argv.slice(2);

// Without a build, each page says so.
run(join(root, "tools/live-pages.sh"), at("none"), at("no_build"));
for (const name of ["fields", "swath", "relief"])
    assert.match(readFileSync(at(`none/${name}.html`), "utf8"), /built without the page of this scene/);

run(join(root, "tools/live-pages.sh"), at("live"), build);
const text = readFileSync(join(root, "docs/user/live.md"), "utf8");
const links = [...text.matchAll(/(?:href|src)="([^"]*\.html)#([^"]*)"/g)];
assert.ok(links.length >= 7);
const browser = await Browser.open(program);
try {
    for (const [, page, hash] of links) {
        await browser.go(`${address("live")}/${page}#${hash}`);
        const [regions] = await shown(browser);
        assert.ok(regions > 1, `${page}#${hash}: ${regions} regions`);
        const words = new URLSearchParams((await browser.evaluate("location.hash")).slice(1));
        for (const [name, value] of new URLSearchParams(hash)) assert.equal(words.get(name), value, `${page}#${hash}`);
    }
    // The scene of the tutorial has the tutorial's number of regions.
    const [, count] = /This gives ([\d,]+) regions/.exec(readFileSync(join(root, "docs/user/tutorial.md"), "utf8"));
    await browser.go(`${address("live")}/fields.html#alpha=8`);
    await shown(browser);
    assert.equal(await textOf(browser, "whole"), `${count.replace(",", "")} in the whole raster`);
    assert.deepEqual(browser.problems, []);
    console.log(`${links.length} links`);
} finally {
    await browser.close();
}
