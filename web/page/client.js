// SPDX-License-Identifier: MIT
// client.js - the worker as functions that return promises.

export class Client {
    #worker;
    #waiting = new Map();
    #number = 0;

    constructor(script) {
        const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        this.#worker = new Worker(address);
        this.#worker.onmessage = ({ data: { number, result, error } }) => {
            const { resolve, reject } = this.#waiting.get(number);
            this.#waiting.delete(number);
            if (error === undefined) resolve(result);
            else reject(new Error(error));
        };
        this.#worker.onerror = (event) => {
            for (const { reject } of this.#waiting.values())
                reject(new Error(event.message || "the worker of the page could not start"));
            this.#waiting.clear();
        };
    }

    call(task, words) {
        const number = ++this.#number;
        this.#worker.postMessage({ number, task, ...words });
        return new Promise((resolve, reject) => this.#waiting.set(number, { resolve, reject }));
    }
}
