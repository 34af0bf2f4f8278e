// One map: its canvases, where its points lie, and what pointer and keys do to it.
//
// `app` is what all maps of a page share: n, trained (rows before that are training rows), part, drag,
// colours, selected, hovered, picked, contours, and hover(), pick(), select(), remember(), and follow(),
// which is told of a map that shows another part of its picture.

import { find, make } from "./dom.js";
import { MARGIN, decorate } from "./overlay.js";
import { watch } from "./pointer.js";
import { ASLANT, AWAY, Near, Scatter } from "./scatter.js";

const still = window.matchMedia("(prefers-reduced-motion: reduce)");

export class PointMap {
  constructor(app, { zoom = 1, pan = [0, 0], turn = null } = {}) {
    // A picture has arrays: [(n k) numbers], axes, frame: [low, high] of each of the k axes,
    // shuffled, and perhaps anchors.
    Object.assign(this, { app, picture: null });
    this.canvas = make("canvas", { tabIndex: 0, role: "img", "aria-label": "No picture yet" });
    this.overlay = make("canvas", { class: "overlay", "aria-hidden": "true" });
    this.plot = make("div", { class: "plot" }, this.canvas, this.overlay);
    this.scatter = new Scatter(this.canvas, () => decorate(this));
    Object.assign(this.scatter, { zoom, pan: [...pan], turn: turn && [...turn] });
    watch(this);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.scatter.draw()).observe(this.canvas);
  }

  get deep() { return Boolean(this.picture) && this.picture.frame.length === 3; }

  // Places in the plot between -1 and 1, in the same unit along all axes, so that distances are
  // those of the embedding. One component: a strip a class, or the label's number.
  place() {
    const { picture, app, scatter } = this;
    const [flat] = picture.arrays;
    const k = picture.frame.length;
    const n = flat.length / k;
    const places = new Float32Array(3 * n); // what has no place yet is far away
    const halves = picture.frame.map(([low, high]) => (high - low) / 2 / MARGIN);
    const unit = Math.max(...halves);
    this.frames = picture.frame.map(([low, high]) => [(low + high) / 2, unit]);
    for (let j = 0; j < k; j++) {
      const [middle] = this.frames[j];
      for (let i = 0; i < n; i++) {
        const value = (flat[k * i + j] - middle) / unit;
        places[3 * i + j] = Number.isNaN(value) ? AWAY : value;
      }
    }
    if (k === 1 && app.colours) {
      for (let i = 0; i < n; i++) {
        places[3 * i + 1] = app.colours.strip(i, picture.shuffled) * MARGIN;
      }
    }
    this.near = null;
    scatter.turn = k === 3 ? scatter.turn || [...ASLANT] : null;
    scatter.box = { 1: null, 2: halves.map((half) => half / unit), 3: [1, 1] }[k];
    scatter.move(places, !still.matches);
    this.paint();
  }

  // Colours for the shown part of the current plot.
  paint() {
    const { app, picture, scatter } = this;
    if (!picture || !app.colours || scatter.n !== app.n) return;
    const { look, shape, size } = app.colours.looks(app, picture.shuffled);
    this.look = look;
    scatter.paint(look, shape, size);
    this.describe();
  }

  describe() {}

  // Pointer and keys ----------------------------------------------------------------------------

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  nearest([x, y], radius) {
    const { picture, scatter, look } = this;
    if (!picture || !scatter.to || !look) return -1;
    if (!this.near || this.near.places !== scatter.flat) this.near = new Near(scatter.flat);
    const [px, py] = scatter.toPlace([x, y]);
    const [qx, qy] = scatter.toPlace([x + radius, y - radius]);
    return this.near.find(px, py, qx - px, qy - py, (i) => look[4 * i + 3] > 0);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 40;
    const moves = {
      ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    };
    if (moves[event.key]) this.dragBy(...moves[event.key]);
    else if (event.key === "n") this.step(1);
    else if (event.key === "b") this.step(-1);
    else return;
    if (moves[event.key]) this.moved();
    event.preventDefault();
    event.stopPropagation();
  }

  dragBy(dx, dy) {
    if (this.deep) this.scatter.turnBy(dx, dy);
    else this.scatter.panBy(dx, dy);
    this.app.follow(this);
  }

  // What is in sight has changed, by hand.
  moved() {
    this.app.follow(this);
    this.app.remember();
  }

  // The next point that is shown.
  step(by) {
    const n = this.look ? this.scatter.n : 0;
    let i = this.app.picked < 0 && by < 0 ? 0 : this.app.picked;
    for (let tries = 0; tries < n; tries++) {
      i = (i + by + n) % n;
      if (this.look[4 * i + 3] > 0) { this.app.pick(i); return; }
    }
  }

  zoomBy(factor) {
    this.scatter.zoomAt(factor, [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2]);
    this.moved();
  }

  home() {
    this.scatter.home();
    this.moved();
  }

  // Marks of the points shown within a path on the screen.
  within(path) {
    const { scatter, look } = this;
    const { flat } = scatter;
    const corners = path.map((point) => scatter.toPlace(point));
    const marks = new Uint8Array(scatter.n);
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < scatter.n; i++) {
      const [x, y] = [flat[2 * i], flat[2 * i + 1]];
      if (x < x0 || x > x1 || y < y0 || y > y1 || look[4 * i + 3] === 0) continue;
      let inside = false;
      for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
        if ((ys[a] > y) !== (ys[b] > y)
          && x < (xs[b] - xs[a]) * (y - ys[a]) / (ys[b] - ys[a]) + xs[a]) inside = !inside;
      }
      marks[i] = inside ? 1 : 0;
    }
    return marks;
  }
}

// The controls of size, opacity and contours of all maps of a page.
export function useLooks(app, maps) {
  const show = () => {
    for (const { scatter } of maps()) {
      scatter.scale = 2 ** find("point-size").valueAsNumber;
      scatter.opacity = 2 ** find("opacity").valueAsNumber;
      scatter.draw();
    }
    app.contours = find("contours").checked;
  };
  for (const id of ["point-size", "opacity", "contours"]) find(id).addEventListener("input", show);
}
