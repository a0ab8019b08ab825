// SPDX-License-Identifier: MIT
// tabs.js - the windows of the page as tabs: one of them is chosen, by pointer or by keys.

export class Tabs {
    #buttons;

    /** list: an empty element; panel: what the tabs switch; onChoose(number), from 1.  One window
     *  needs no tabs. */
    constructor(list, panel, windows, onChoose) {
        list.hidden = windows.length < 2;
        if (list.hidden) windows = [];
        this.#buttons = windows.map(({ x, y, width, height }, i) => {
            const button = document.createElement("button");
            Object.assign(button, { type: "button", id: `window-${i + 1}` });
            button.setAttribute("role", "tab");
            button.setAttribute("aria-controls", panel.id);
            button.textContent = `${width} × ${height} at column ${x}, row ${y}`;
            button.addEventListener("click", () => onChoose(i + 1));
            return button;
        });
        list.replaceChildren(...this.#buttons);
        list.addEventListener("keydown", (event) => this.#key(event, onChoose));
        if (list.hidden) return;
        panel.setAttribute("role", "tabpanel");
        this.panel = panel;
    }

    /** Marks a window as chosen; it is the one that Tab reaches. */
    show(number) {
        this.#buttons.forEach((button, i) => {
            const isChosen = i + 1 === number;
            button.setAttribute("aria-selected", String(isChosen));
            button.tabIndex = isChosen ? 0 : -1;
        });
        this.panel?.setAttribute("aria-labelledby", `window-${number}`);
    }

    #key(event, onChoose) {
        const n = this.#buttons.length, at = this.#buttons.indexOf(event.target);
        const to = { ArrowRight: (at + 1) % n, ArrowLeft: (at + n - 1) % n, Home: 0, End: n - 1 }[event.key];
        if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        this.#buttons[to].focus();
        onChoose(to + 1);
    }
}
