// One view: its settings, its fit, its picture, and what pointer and keys do to it.

import { count, make, say, score } from "./dom.js";
import { MARGIN, decorate } from "./overlay.js";
import { Near, Scatter } from "./scatter.js";
import * as server from "./server.js";

const CLIENT = crypto.getRandomValues(new Uint32Array(4)).join("-");
let turns = 0; // of all panes, also those that are gone: the server knows them by number only
const TITLES = { pca: "PCA", spca: "SPCA", srp: "SRP", kspca: "KSPCA", ksrp: "KSRP" };
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

// A touch of the screen is wider than a pointer.
const reach = (event) => (event.pointerType === "touch" ? 26 : 14);

export class Pane {
  constructor(app, number, view) {
    Object.assign(this, { app, number, view, axes: [0, 1], picture: null });
    this.title = make("h2", {});
    this.heldout = make("b", {});
    this.shuffled = make("b", {});
    this.majority = make("b", {});
    this.metric = make("span", {});
    this.meter = make("div", { class: "meter", "aria-hidden": "true" },
      make("i", {}), make("em", {}));
    this.took = make("span", { class: "took soft" });
    this.across = make("select", { "aria-label": "Component across" });
    this.up = make("select", { "aria-label": "Component up" });
    this.chosen = make("span", { class: "axes", hidden: true }, this.across, " × ", this.up);
    this.error = make("p", { class: "notice", role: "alert", hidden: true });
    this.verdict = make("p", { class: "verdict" });
    this.canvas = make("canvas", { tabIndex: 0, role: "img", "aria-label": "No picture yet" });
    this.overlay = make("canvas", { class: "overlay", "aria-hidden": "true" });
    this.root = make("section", { class: "pane" },
      make("div", { class: "head" }, this.title, this.chosen, this.took),
      make("dl", { class: "scores" },
        make("div", { class: "main" },
          make("dt", {}, "held-out ", this.metric), make("dd", {}, this.heldout)),
        make("div", {}, make("dt", {}, "shuffled labels"), make("dd", {}, this.shuffled)),
        make("div", {}, make("dt", {}, "largest class"), make("dd", {}, this.majority)),
        this.meter),
      this.error,
      make("div", { class: "plot" }, this.canvas, this.overlay),
      this.verdict);
    this.root.dataset.pane = number;
    this.scatter = new Scatter(this.canvas, () => decorate(this));
    this.listen();
  }

  // Fits ----------------------------------------------------------------------------------------

  change(changes) {
    Object.assign(this.view, changes);
    this.refit();
  }

  // At most one wish is with the server and one waits, always the newest.
  refit() {
    this.wish = ++turns;
    if (!this.asking) this.askOn();
  }

  async askOn() {
    this.asking = true;
    this.root.classList.add("busy");
    const began = performance.now();
    const waiting = setInterval(() => {
      this.took.textContent = `fitting, ${Math.round((performance.now() - began) / 1000)} s`;
    }, 1000);
    try {
      while (this.wish) {
        const turn = this.wish;
        this.wish = 0;
        await this.ask(turn);
      }
    } finally {
      clearInterval(waiting);
      this.asking = false;
      this.root.classList.remove("busy");
    }
  }

  async ask(turn) {
    const view = { ...this.view };
    const most = view.wheel ? 2 : view.components;
    this.axes = this.axes.map((axis) => Math.min(axis, most - 1));
    if (this.axes[0] === this.axes[1]) this.axes = [0, Math.min(1, most - 1)];
    const axes = most === 1 ? [0] : [...this.axes];
    const shuffled = this.app.part === "shuffled";
    const data = this.app.data;
    const began = performance.now();
    try {
      const picture = await server.fit({
        client: CLIENT, pane: `${this.number}`, turn, data, view, axes, shuffled,
      });
      if (!picture || data !== this.app.data) return;
      picture.view = view;
      picture.shuffled = shuffled;
      this.show(picture, performance.now() - began);
      this.error.hidden = true;
      this.app.fitted(this);
    } catch (problem) {
      if (problem instanceof server.Lost || problem instanceof server.Stranger) {
        this.app.lost(problem);
        return;
      }
      this.error.textContent = `${problem.message} The picture is the last good one.`;
      this.error.hidden = false;
    }
  }

  show(picture, elapsed) {
    this.picture = picture;
    const { scores, view } = picture;
    this.title.textContent = this.named();
    this.heldout.textContent = score(scores.heldout);
    this.shuffled.textContent = score(scores.shuffled);
    this.majority.textContent = score(scores.majority);
    this.majority.closest("div").hidden = scores.majority === null;
    this.metric.textContent = scores.majority === null ? "R²" : "accuracy";
    const [fill, tick] = this.meter.children;
    fill.style.width = `${100 * Math.max(0, Math.min(1, scores.heldout))}%`;
    tick.style.left = `${100 * Math.max(0, Math.min(1, scores.shuffled))}%`;
    this.took.textContent = `${Math.round(elapsed)} ms`;
    this.took.title = `${Math.round(1000 * picture.seconds)} ms of it on the server`;
    const kind = scores.majority === null ? "5-NN R²" : "1-NN accuracy";
    const asked = `${kind} over ${count(this.app.overview.asked)} held-out rows.`;
    this.verdict.textContent = [picture.verdict, ...picture.notes, asked].join(" ");
    this.offerAxes(view.wheel ? 2 : view.components);
    this.place();
    say(`${this.named()}: held-out ${this.metric.textContent} ${score(scores.heldout)}, `
      + `shuffled labels ${score(scores.shuffled)}.`, 500);
  }

  named() {
    const { view } = this.picture;
    const method = TITLES[view.method];
    const shown = this.picture.shuffled ? ", shuffled labels" : "";
    return view.wheel ? `${method} wheel${shown}` : `${method}${shown}`;
  }

  offerAxes(k) {
    this.chosen.hidden = k < 3;
    for (const [list, axis] of [[this.across, 0], [this.up, 1]]) {
      if (list.options.length !== k) {
        list.replaceChildren(...Array.from({ length: k }, (_, j) => new Option(`${j + 1}`, j)));
      }
      list.value = this.axes[axis];
    }
  }

  // Places of the picture between -1 and 1. One component: a strip a class, or the label's number.
  place() {
    const { picture, app } = this;
    const [flat] = picture.arrays;
    const single = picture.frame.length === 1;
    const n = single ? flat.length : flat.length / 2;
    const places = new Float32Array(2 * n);
    this.frames = picture.frame.map(([low, high]) => [(low + high) / 2, (high - low) / 2 / MARGIN]);
    const [[mx, hx]] = this.frames;
    if (single) {
      const by = app.colours;
      for (let i = 0; i < n; i++) {
        places[2 * i] = (flat[i] - mx) / hx;
        places[2 * i + 1] = by ? by.strip(i, picture.shuffled) * MARGIN : 0;
      }
    } else {
      const [, [my, hy]] = this.frames;
      for (let i = 0; i < n; i++) {
        places[2 * i] = (flat[2 * i] - mx) / hx;
        places[2 * i + 1] = (flat[2 * i + 1] - my) / hy;
      }
    }
    this.near = null;
    this.scatter.square = Boolean(picture.anchors);
    this.scatter.move(places, !still.matches);
    this.paint();
  }

  // Colours for what is shown of the picture that is there.
  paint() {
    const { app, picture } = this;
    if (!picture || !app.colours) return;
    const n = this.scatter.n;
    if (n !== app.n) return;
    const { look, shape, size } = app.colours.looks(app, picture.shuffled);
    this.look = look;
    this.scatter.paint(look, shape, size);
    this.describe();
  }

  describe() {
    const { app, picture } = this;
    const names = { all: "all rows", train: "training rows", heldout: "held-out rows",
      shuffled: "training rows under shuffled labels" };
    this.canvas.setAttribute("aria-label", `Scatter of ${names[app.part]}, ${this.named()}, `
      + `coloured by ${app.colours.name}. Held-out ${this.metric.textContent} `
      + `${score(picture.scores.heldout)}, shuffled labels ${score(picture.scores.shuffled)}.`);
  }

  // Pointer and keys ----------------------------------------------------------------------------

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  nearest([x, y], radius) {
    if (!this.picture || !this.scatter.to || !this.look) return -1;
    this.near = this.near || new Near(this.scatter.to);
    const [px, py] = this.scatter.toPlace([x, y]);
    const [qx, qy] = this.scatter.toPlace([x + radius, y - radius]);
    return this.near.find(px, py, qx - px, qy - py, (i) => this.look[4 * i + 3] > 0);
  }

  listen() {
    const { canvas, app, scatter } = this;
    let down = null;
    this.root.addEventListener("focusin", () => app.activate(this.number));
    this.root.addEventListener("pointerdown", () => app.activate(this.number));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down = { from: this.at(event), last: this.at(event), moved: false };
      const lasso = app.drag === "lasso" || event.shiftKey;
      if (event.pointerType !== "touch" || lasso) canvas.setPointerCapture(event.pointerId);
      this.path = lasso ? [down.from] : null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = this.at(event);
      if (!down) {
        app.hover(this, this.nearest(here, reach(event)), event);
        return;
      }
      const [dx, dy] = [here[0] - down.last[0], here[1] - down.last[1]];
      if (Math.hypot(here[0] - down.from[0], here[1] - down.from[1]) > 4) down.moved = true;
      if (!down.moved) return;
      down.last = here;
      if (this.path) { this.path.push(here); scatter.draw(); } else scatter.panBy(dx, dy);
    });
    const end = (event) => {
      if (!down) return;
      const { moved } = down;
      down = null;
      const path = this.path;
      this.path = null;
      scatter.draw();
      if (event.type === "pointercancel") return;
      if (!moved) {
        const i = this.nearest(this.at(event), reach(event));
        if (i >= 0) app.pick(i);
        else app.select(null);
      } else if (path) app.select(this.within(path));
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => { if (!down) app.hover(this, -1); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      scatter.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), this.at(event));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => scatter.home());
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const [list, axis] of [[this.across, 0], [this.up, 1]]) {
      list.addEventListener("change", () => {
        this.axes[axis] = Number(list.value);
        this.refit();
      });
    }
    new ResizeObserver(() => scatter.draw()).observe(canvas);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 40;
    const moves = {
      ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    };
    if (moves[event.key]) this.scatter.panBy(...moves[event.key]);
    else if (event.key === "n") this.step(1);
    else if (event.key === "b") this.step(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
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
  }

  // Marks of the points shown within a path on the screen.
  within(path) {
    const { scatter, look } = this;
    const corners = path.map((point) => scatter.toPlace(point));
    const marks = new Uint8Array(scatter.n);
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < scatter.n; i++) {
      const [x, y] = [scatter.to[2 * i], scatter.to[2 * i + 1]];
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
