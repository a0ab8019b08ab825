// SPDX-License-Identifier: MIT
// bundle.mjs FOLDER WASM OUT.c - makes the page of qfz explore out of FOLDER/page: one file of HTML
// with styles, scripts and the module, cut in two where `qfz explore` writes the data of a window, as
// two arrays of C (apps/explore_page.h).
//
// Modules are joined in the order of their imports, which must be one line each, into one classic
// script: browsers refuse workers that are modules in a page of file://.  Names are unique in all
// modules.  A policy in the page allows these scripts and no others, and no
// connection.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

const [folder, wasm, out] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, "page", name), "utf8");

function joined(path, done = new Set()) {
    if (done.has(path)) return "";
    done.add(path);
    let before = "";
    const own = readFileSync(path, "utf8")
        .replace(/^import \{[^}]*\} from "(\.[^"]*)";\n/gm, (_, from) => {
            before += joined(join(dirname(path), from), done);
            return "";
        })
        .replace(/^export /gm, "")
        .replaceAll("import.meta.url", "location.href"); // the worker is no module
    if (/^import /m.test(own)) throw new Error(`${path}: an import of another form`);
    return before + own;
}

/** A script whose names do not become those of the page. */
const alone = (script) => `"use strict";\n(() => {\n${script}})();\n`;

/** Text that ends no element of HTML. */
function inline(text) {
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error("a script or style ends its element");
    return text;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const style = inline(read("page.css"));
const script = inline(alone(joined(join(folder, "page", "main.js"))));
const policy = ["default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval' blob:`,
                "worker-src blob:", `style-src ${hash(style)}`, "base-uri 'none'",
                "form-action 'none'"].join("; ");
const parts = {
    policy, style, script,
    worker: inline(alone(joined(join(folder, "page", "worker.js")))),
    module: deflateSync(readFileSync(wasm), { level: 9 }).toString("base64"),
    licence: readFileSync(join(folder, "..", "LICENSE"), "utf8").trim(),
};
const page = read("page.html").replace(/\{\{(\w+)\}\}/g, (mark, name) => parts[name] ?? mark);
const [head, tail, ...more] = page.split("{{data}}\n");
if (tail === undefined || more.length) throw new Error("page.html has no place for the data");

function array(name, text) {
    const bytes = [...Buffer.from(text)];
    const lines = [];
    for (let i = 0; i < bytes.length; i += 32) lines.push(bytes.slice(i, i + 32).join(","));
    return `const unsigned char ${name}[] = {\n${lines.join(",\n")}};\n` +
           `const size_t ${name}_bytes = ${bytes.length};\n`;
}
writeFileSync(out, `#include "explore_page.h"\n\n${array("explore_page_head", head)}` +
                   array("explore_page_tail", tail));
