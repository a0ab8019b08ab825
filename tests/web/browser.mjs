// SPDX-License-Identifier: MIT
// browser.mjs - headless Chromium, driven by the DevTools protocol through two pipes: messages of JSON
// that end with a zero byte.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const KEYS = { Tab: 9, Enter: 13, Escape: 27, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37,
               ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
const SHIFT = 8;

export class Browser {
    #process;
    #profile = mkdtempSync(join(tmpdir(), "qfz_chromium_"));
    #waiting = new Map();
    #number = 0;
    #session;
    problems = []; // errors and warnings of the page's console, and exceptions

    static async open(program, { width = 1280, height = 900, scheme = "light" } = {}) {
        const browser = new Browser();
        browser.#start(program);
        const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
        const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
        browser.#session = sessionId;
        await browser.send("Runtime.enable");
        await browser.send("Log.enable");
        await browser.send("Page.enable");
        await browser.size(width, height);
        await browser.send("Emulation.setEmulatedMedia",
                           { features: [{ name: "prefers-color-scheme", value: scheme }] });
        return browser;
    }

    #start(program) {
        this.#process = spawn(program, [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--disable-dev-shm-usage", `--user-data-dir=${this.#profile}`, "--remote-debugging-pipe",
        ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
        let text = "";
        this.#process.stdio[4].setEncoding("utf8").on("data", (part) => {
            const messages = (text + part).split("\0");
            text = messages.pop();
            for (const message of messages) this.#receive(JSON.parse(message));
        });
    }

    #receive({ id, result, error, method, params }) {
        if (id !== undefined) {
            const { resolve, reject } = this.#waiting.get(id);
            this.#waiting.delete(id);
            if (error) reject(new Error(error.message));
            else resolve(result);
        } else if (method === "Runtime.exceptionThrown") {
            this.problems.push(params.exceptionDetails.exception?.description ??
                               params.exceptionDetails.text);
        } else if (method === "Runtime.consoleAPICalled" && /error|warning/.test(params.type)) {
            this.problems.push(params.args.map((a) => a.value ?? a.description).join(" "));
        } else if (method === "Log.entryAdded" && /error|warning/.test(params.entry.level)) {
            this.problems.push(params.entry.text);
        }
    }

    /** To the page, or before there is one to the browser. */
    send(method, params = {}, sessionId = this.#session) {
        const id = ++this.#number;
        const message = { id, method, params, ...(sessionId && { sessionId }) };
        this.#process.stdio[3].write(`${JSON.stringify(message)}\0`);
        return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    }

    /** The numbers of the processes that run pages. */
    async renderers() {
        const { processInfo } = await this.send("SystemInfo.getProcessInfo", {}, "");
        return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
    }

    size(width, height, mobile = false) {
        return this.send("Emulation.setDeviceMetricsOverride",
                         { width, height, deviceScaleFactor: 1, mobile });
    }

    /** The value of an expression, of a promise too. */
    async evaluate(expression) {
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
            expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    /** Waits until an expression is true. */
    async until(expression, seconds = 30) {
        for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
            if (await this.evaluate(`Boolean(${expression})`)) return;
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
        throw new Error(`not within ${seconds} s: ${expression}`);
    }

    async go(url) {
        await this.send("Page.navigate", { url: "about:blank" });
        await this.send("Page.navigate", { url });
    }

    async key(key, code = key) {
        const number = KEYS[key];
        const words = { key, code, windowsVirtualKeyCode: number,
                        ...(key === "Enter" && { text: "\r" }) };
        await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...words });
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...words });
    }

    /** Text, as if typed, into the element that has the focus. */
    async type(text) {
        await this.send("Input.insertText", { text });
    }

    async #mouse(type, x, y, words = {}) {
        await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1, ...words });
    }

    async click(x, y) {
        await this.#mouse("mousePressed", x, y);
        await this.#mouse("mouseReleased", x, y);
    }

    async drag(x0, y0, x1, y1) {
        await this.#mouse("mousePressed", x0, y0);
        await this.#mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, { buttons: 1 });
        await this.#mouse("mouseMoved", x1, y1, { buttons: 1 });
        await this.#mouse("mouseReleased", x1, y1);
    }

    async wheel(x, y, delta, { shift = false } = {}) {
        await this.#mouse("mouseWheel", x, y, { button: "none", deltaX: 0, deltaY: delta,
                                                modifiers: shift ? SHIFT : 0 });
    }

    /** Place and size of an element on the screen. */
    box(id) {
        return this.evaluate(`{ const element = document.getElementById(${JSON.stringify(id)});
            element.scrollIntoView({ block: "nearest" });
            const { x, y, width, height } = element.getBoundingClientRect();
            ({ x, y, width, height }) }`);
    }

    /** A picture of the page, or of a part of it: x, y, width, height. */
    async screenshot(part) {
        const { data } = await this.send("Page.captureScreenshot", {
            format: "png", ...(part && { clip: { ...part, scale: 1 } }) });
        return Buffer.from(data, "base64");
    }

    async close() {
        const ended = new Promise((resolve) => this.#process.once("exit", resolve));
        this.#session = undefined;
        this.send("Browser.close").catch(() => {});
        await ended;
        rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
