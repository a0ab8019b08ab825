// SPDX-License-Identifier: MIT
// viewer.js - the canvas: two views of the window with a border between them, zoom and pan, and the
// outlines as lines once pixels are large.

const LINES_FROM = 5; // screen pixels of a pixel
const ZOOM_MAX = 64;
const TURN = 50; // of the wheel, for a step in the hierarchy
const MARK_RING = 0xffc814ff, MARK_INNER = 0x50c814ff; // opacity, blue, green, red

export class Viewer {
    #canvas;
    #context;
    #pictures = new Map(); // by view: a canvas of the window's size
    #zoom = 1; // screen pixels of a pixel
    #x = 0;    // pixel at the left and upper edge of the canvas
    #y = 0;
    #pointers = new Map();
    #moved = false;
    #drawn = 0;
    #turned = 0; // of the wheel, towards a step in the hierarchy

    /** onPick(pixel), onMove(x, y) with null outside, onStep(step): 1 to a larger region, -1 back. */
    constructor(canvas, { onPick, onMove, onStep }) {
        this.#canvas = canvas;
        this.#context = canvas.getContext("2d");
        Object.assign(this, { width: 1, height: 1, onPick, onMove, onStep, left: "input", right: "means",
                              share: 0.5, labels: null, selected: null });
        new ResizeObserver(() => this.#resize()).observe(canvas);
        this.#listen();
    }

    /** A window of this size; its pictures follow. */
    open(width, height) {
        Object.assign(this, { width, height, labels: null, selected: null });
        this.#pictures.clear();
        this.fit();
    }

    set(view, pixels) {
        const picture = this.#pictures.get(view) ?? document.createElement("canvas");
        picture.width = this.width;
        picture.height = this.height;
        const bytes = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.byteLength);
        picture.getContext("2d").putImageData(new ImageData(bytes, this.width, this.height), 0, 0);
        this.#pictures.set(view, picture);
    }

    /** Marks a region: mask is not 0 in its pixels; null: none. */
    select(mask) {
        const { width } = this;
        this.selected = mask;
        if (mask)
            this.set("mask", mask.map((m, p) => {
                if (!m) return 0;
                const isInner = p % width > 0 && (p + 1) % width > 0 && mask[p - 1] && mask[p + 1] &&
                    mask[p - width] && mask[p + width];
                return isInner ? MARK_INNER : MARK_RING;
            }));
        this.draw();
    }

    #resize() {
        const ratio = window.devicePixelRatio || 1, { clientWidth, clientHeight } = this.#canvas;
        const isFirst = this.#canvas.dataset.ready !== "yes";
        this.#canvas.width = Math.round(clientWidth * ratio);
        this.#canvas.height = Math.round(clientHeight * ratio);
        this.#canvas.dataset.ready = "yes";
        if (isFirst) this.fit();
        else this.draw();
    }

    fit() {
        const { width, height } = this.#canvas;
        this.#zoom = Math.min(width / this.width, height / this.height);
        this.#x = (this.width - width / this.#zoom) / 2;
        this.#y = (this.height - height / this.#zoom) / 2;
        this.draw();
    }

    /** Zooms by a factor about a point of the canvas, by default its centre. */
    zoom(factor, atX = this.#canvas.width / 2, atY = this.#canvas.height / 2) {
        const least = Math.min(this.#canvas.width / this.width, this.#canvas.height / this.height);
        const zoom = Math.max(least / 2, Math.min(ZOOM_MAX, this.#zoom * factor));
        this.#x += atX / this.#zoom - atX / zoom;
        this.#y += atY / this.#zoom - atY / zoom;
        this.#zoom = zoom;
        this.draw();
    }

    pan(dx, dy) {
        this.#x = Math.max(-this.width / 2, Math.min(this.width, this.#x - dx / this.#zoom));
        this.#y = Math.max(-this.height / 2, Math.min(this.height, this.#y - dy / this.#zoom));
        this.draw();
    }

    draw() {
        if (this.#drawn) return;
        this.#drawn = requestAnimationFrame(() => {
            this.#drawn = 0;
            this.#paint();
        });
    }

    #paint() {
        const c = this.#context, { width, height } = this.#canvas;
        const border = Math.round(width * this.share);
        c.clearRect(0, 0, width, height);
        this.#paintView(this.left, 0, border);
        this.#paintView(this.right, border, width);
        if (this.selected) this.#paintPicture("mask");
        if (this.share > 0 && this.share < 1) {
            c.fillStyle = "#fff";
            c.fillRect(border - 1, 0, 2, height);
            c.fillStyle = "#0008";
            c.fillRect(border - 2, 0, 1, height);
            c.fillRect(border + 1, 0, 1, height);
        }
    }

    #paintPicture(view) {
        const picture = this.#pictures.get(view);
        if (!picture) return;
        this.#context.imageSmoothingEnabled = this.#zoom < 1;
        this.#context.imageSmoothingQuality = "high";
        this.#context.drawImage(picture, -this.#x * this.#zoom, -this.#y * this.#zoom,
                                this.width * this.#zoom, this.height * this.#zoom);
    }

    #paintView(view, from, to) {
        const c = this.#context;
        const asLines = view === "outlines" && this.#zoom >= LINES_FROM && this.labels;
        c.save();
        c.beginPath();
        c.rect(from, 0, to - from, this.#canvas.height);
        c.clip();
        this.#paintPicture(asLines ? "input" : view);
        if (asLines) this.#paintLines(from, to);
        c.restore();
    }

    #paintLines(from, to) {
        const { labels, width, height } = this, z = this.#zoom, c = this.#context;
        const x0 = Math.max(0, Math.floor(this.#x + from / z)), y0 = Math.max(0, Math.floor(this.#y));
        const x1 = Math.min(width, Math.ceil(this.#x + to / z));
        const y1 = Math.min(height, Math.ceil(this.#y + this.#canvas.height / z));
        c.beginPath();
        for (let y = y0; y < y1; y++)
            for (let x = x0; x < x1; x++) {
                const p = y * width + x, sx = (x - this.#x) * z, sy = (y - this.#y) * z;
                if (x + 1 < width && labels[p] !== labels[p + 1]) {
                    c.moveTo(sx + z, sy);
                    c.lineTo(sx + z, sy + z);
                }
                if (y + 1 < height && labels[p] !== labels[p + width]) {
                    c.moveTo(sx, sy + z);
                    c.lineTo(sx + z, sy + z);
                }
            }
        c.lineWidth = Math.max(1.5, z / 12);
        c.strokeStyle = "#ffd60a";
        c.stroke();
    }

    /** The pixel under a point of the canvas, or null. */
    #pixelAt(atX, atY) {
        const x = Math.floor(this.#x + atX / this.#zoom), y = Math.floor(this.#y + atY / this.#zoom);
        return x >= 0 && y >= 0 && x < this.width && y < this.height ? [x, y] : null;
    }

    #pick(atX, atY) {
        const at = this.#pixelAt(atX, atY);
        if (at) this.onPick(at[1] * this.width + at[0]);
    }

    #place(event) {
        const ratio = window.devicePixelRatio || 1, box = this.#canvas.getBoundingClientRect();
        return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    }

    /** One pointer pans, two zoom; a pointer that did not move picks. */
    #drag(event) {
        const place = this.#place(event), before = this.#pointers.get(event.pointerId);
        this.onMove(this.#pixelAt(...place));
        if (!before) return;
        const others = [...this.#pointers].filter(([id]) => id !== event.pointerId);
        const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
        if (apart(place, before) < 4 && !this.#moved) return;
        this.#moved = true;
        this.#pointers.set(event.pointerId, place);
        if (others.length === 1)
            this.zoom(apart(place, others[0][1]) / apart(before, others[0][1]), ...others[0][1]);
        else if (others.length === 0) this.pan(place[0] - before[0], place[1] - before[1]);
    }

    #listen() {
        const canvas = this.#canvas;
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            this.#moved = this.#pointers.size > 0;
            this.#pointers.set(event.pointerId, this.#place(event));
        });
        canvas.addEventListener("pointermove", (event) => this.#drag(event));
        canvas.addEventListener("pointerup", (event) => {
            if (this.#pointers.delete(event.pointerId) && !this.#moved)
                this.#pick(...this.#place(event));
        });
        canvas.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
        canvas.addEventListener("pointerleave", () => this.onMove(null));
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            if (event.shiftKey) this.#turn(event.deltaY || event.deltaX);
            else this.zoom(2 ** (-event.deltaY / 300), ...this.#place(event));
        }, { passive: false });
        canvas.addEventListener("keydown", (event) => this.#key(event));
    }

    /** The wheel away from the user: to larger regions.  Small turns add up to a step. */
    #turn(delta) {
        this.#turned = Math.sign(this.#turned) === Math.sign(delta) ? this.#turned + delta : delta;
        if (Math.abs(this.#turned) < TURN) return;
        this.onStep(this.#turned < 0 ? 1 : -1);
        this.#turned = 0;
    }

    #key(event) {
        const step = 60;
        const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step],
                        ArrowDown: [0, -step] };
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (moves[event.key]) this.pan(...moves[event.key]);
        else if (event.key === "+" || event.key === "=") this.zoom(1.5);
        else if (event.key === "-") this.zoom(1 / 1.5);
        else if (event.key === "0") this.fit();
        else if (event.key === "Enter") this.#pick(this.#canvas.width / 2, this.#canvas.height / 2);
        else if (event.key === "PageUp") this.onStep(1);
        else if (event.key === "PageDown") this.onStep(-1);
        else if (event.key === "Escape") this.onPick(null);
        else return;
        event.preventDefault();
    }
}
