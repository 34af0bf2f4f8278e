// One view: its settings, its fit, its picture, and what pointer and keys do to it.

import { count, make, say, score } from "./dom.js";
import { MARGIN, decorate } from "./overlay.js";
import { watch } from "./pointer.js";
import { Near, Scatter } from "./scatter.js";
import * as server from "./server.js";

const CLIENT = crypto.getRandomValues(new Uint32Array(4)).join("-");
let turns = 0; // of all panes, also those that are gone: the server knows them by number only
const TITLES = { pca: "PCA", spca: "SPCA", srp: "SRP", kspca: "KSPCA", ksrp: "KSRP" };
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

const SLOW = 1000; // ms after which a fit can be cancelled, and makes way for a newer wish

export class Pane {
  // What is remembered of a pane: settings, two components, and the part of the picture in sight.
  constructor(app, number, { view, axes, zoom, pan }) {
    Object.assign(this, { app, number, view, axes, picture: null });
    this.title = make("h2", {});
    this.heldout = make("b", {});
    this.shuffled = make("b", {});
    this.majority = make("b", {});
    this.metric = make("span", {});
    this.whose = make("span", {});
    this.other = make("span", {});
    this.meter = make("div", { class: "meter", "aria-hidden": "true" },
      make("i", {}), make("em", {}));
    this.took = make("span", { class: "took soft" });
    this.cancel = make("button", { type: "button", class: "cancel", hidden: true }, "Cancel");
    this.across = make("select", { "aria-label": "Component across" });
    this.up = make("select", { "aria-label": "Component up" });
    this.chosen = make("span", { class: "axes", hidden: true }, this.across, " × ", this.up);
    this.error = make("p", { class: "notice", role: "alert", hidden: true });
    this.verdict = make("p", { class: "verdict" });
    this.grade = make("b", { class: "grade" });
    this.told = make("span", {});
    this.next = make("button", { type: "button", class: "plain", hidden: true });
    this.verdict.append(this.grade, " ", this.told, " ", this.next);
    this.canvas = make("canvas", { tabIndex: 0, role: "img", "aria-label": "No picture yet" });
    this.overlay = make("canvas", { class: "overlay", "aria-hidden": "true" });
    this.root = make("section", { class: "pane" },
      make("div", { class: "head" }, this.title, this.chosen, this.took, this.cancel),
      make("dl", { class: "scores" },
        make("div", { class: "main" },
          make("dt", {}, this.whose, " ", this.metric), make("dd", {}, this.heldout)),
        make("div", {}, make("dt", {}, this.other), make("dd", {}, this.shuffled)),
        make("div", {}, make("dt", {}, "largest class"), make("dd", {}, this.majority)),
        this.meter),
      this.error,
      this.verdict,
      make("div", { class: "plot" }, this.canvas, this.overlay));
    this.root.dataset.pane = number;
    this.scatter = new Scatter(this.canvas, () => decorate(this));
    Object.assign(this.scatter, { zoom, pan: [...pan] });
    this.listen();
  }

  state() {
    const { view, axes, scatter: { zoom, pan } } = this;
    return { view: { ...view }, axes: [...axes], zoom, pan: [...pan] };
  }

  restore({ view, axes, zoom, pan }) {
    const same = this.picture && !this.wish
      && Object.keys(view).every((name) => view[name] === this.picture.view[name])
      && `${axes}` === `${this.axes}`;
    Object.assign(this, { view: { ...view }, axes: [...axes] });
    Object.assign(this.scatter, { zoom, pan: [...pan] });
    if (same && !this.asking) this.scatter.draw();
    else this.refit();
  }

  remove() {
    this.wish = 0;
    server.drop(`fit ${this.number}`);
    this.root.remove();
  }

  // Fits ----------------------------------------------------------------------------------------

  change(changes) {
    Object.assign(this.view, changes);
    this.refit();
    this.app.remember();
  }

  // At most one wish is with the server and one waits, always the newest. A hand that moves a
  // slider sees every fit that is fast; a slow one is dropped for what is wanted now.
  refit() {
    this.wish = ++turns;
    if (!this.asking) this.askOn();
    else if (performance.now() - this.began > SLOW) server.drop(`fit ${this.number}`);
  }

  async askOn() {
    this.asking = true;
    this.root.classList.add("busy");
    const waiting = setInterval(() => {
      const passed = performance.now() - this.began;
      if (passed < SLOW) return;
      if (this.wish) server.drop(`fit ${this.number}`);
      this.root.classList.add("stale");
      this.cancel.hidden = false;
      const before = this.picture ? "; what is shown is of the settings before" : "";
      this.took.textContent = `fitting, ${Math.round(passed / 1000)} s${before}`;
    }, 250);
    try {
      while (this.wish) {
        const turn = this.wish;
        this.wish = 0;
        await this.ask(turn);
      }
    } finally {
      clearInterval(waiting);
      this.asking = false;
      this.cancel.hidden = true;
      this.root.classList.remove("busy", "stale");
    }
  }

  // The settings go back to those of the picture.
  cancelFit() {
    this.wish = 0;
    server.drop(`fit ${this.number}`);
    this.took.textContent = "cancelled";
    if (this.picture) {
      this.view = { ...this.picture.view };
      if (this.picture.axes.length === 2) this.axes = [...this.picture.axes];
    }
    this.app.activate(this.number);
    this.app.remember();
    say("Cancelled. The settings are those of the picture.");
  }

  // Two different components that are there, the chosen ones if they are.
  shownAxes(most) {
    const [x, y] = this.axes.map((axis) => Math.max(0, Math.min(axis, most - 1)));
    return most === 1 ? [0] : [x, x === y ? (x ? 0 : 1) : y];
  }

  async ask(turn) {
    const view = { ...this.view };
    const axes = this.shownAxes(view.wheel ? 2 : view.components);
    const shuffled = this.app.part === "shuffled";
    const { data } = this.app;
    this.began = performance.now();
    try {
      const picture = await server.fit({
        client: CLIENT, pane: `${this.number}`, turn, data, view, axes, shuffled,
      });
      if (!picture) return;
      picture.view = view;
      picture.shuffled = shuffled;
      this.show(picture, performance.now() - this.began);
      this.error.hidden = true;
      this.app.fitted(this);
    } catch (problem) {
      if (this.app.lost(problem)) return;
      this.error.textContent = `${problem.message} The picture is the last good one.`;
      this.error.hidden = false;
    }
  }

  show(picture, elapsed) {
    this.picture = picture;
    const { scores, view, shuffled } = picture;
    const [own, other] = shuffled ? [scores.shuffled, scores.heldout]
      : [scores.heldout, scores.shuffled];
    this.title.textContent = this.named();
    this.heldout.textContent = score(own);
    this.shuffled.textContent = score(other);
    this.whose.textContent = shuffled ? "shuffled labels," : "held-out";
    this.other.textContent = shuffled ? "own labels" : "shuffled labels";
    this.majority.textContent = score(scores.majority);
    this.majority.closest("div").hidden = scores.majority === null;
    this.metric.textContent = scores.majority === null ? "R²" : "accuracy";
    const [fill, tick] = this.meter.children;
    fill.style.width = `${100 * Math.max(0, Math.min(1, own))}%`;
    tick.style.left = `${100 * Math.max(0, Math.min(1, other))}%`;
    this.took.textContent = `${Math.round(elapsed)} ms`;
    this.took.title = `${Math.round(1000 * picture.seconds)} ms of it on the server`;
    this.judge();
    this.offerAxes(view.wheel ? 2 : view.components);
    this.place();
    say(`${this.named()}: ${this.whose.textContent} ${this.metric.textContent} ${score(own)}, `
      + `${this.other.textContent} ${score(other)}.`, 500);
  }

  // The verdict on what is shown, and what to try next.
  judge() {
    const { grade, verdict, next, notes, shuffled, scores } = this.picture;
    const kind = scores.majority === null ? "5-NN R²" : "1-NN accuracy";
    const asked = `${kind} over ${count(this.app.overview.asked)} held-out rows.`;
    const control = "The labels of this view are shuffled, so every pattern in it is chance.";
    this.grade.textContent = shuffled ? "Control." : `${grade}.`;
    this.grade.dataset.grade = shuffled ? "chance" : grade.toLowerCase();
    this.told.textContent = [shuffled ? control : verdict, ...notes, asked].join(" ");
    this.next.hidden = shuffled || !next;
    if (next) this.next.textContent = next.text;
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
      list.value = this.shownAxes(k)[axis];
    }
  }

  // Places of the picture between -1 and 1, in the same unit across and up, so that distances are
  // those of the embedding. One component: a strip a class, or the label's number.
  place() {
    const { picture, app } = this;
    const [flat] = picture.arrays;
    const single = picture.frame.length === 1;
    const n = single ? flat.length : flat.length / 2;
    const places = new Float32Array(2 * n);
    const halves = picture.frame.map(([low, high]) => (high - low) / 2 / MARGIN);
    const unit = Math.max(...halves);
    this.frames = picture.frame.map(([low, high]) => [(low + high) / 2, unit]);
    const [[mx]] = this.frames;
    if (single) {
      const by = app.colours;
      for (let i = 0; i < n; i++) {
        places[2 * i] = (flat[i] - mx) / unit;
        places[2 * i + 1] = by ? by.strip(i, picture.shuffled) * MARGIN : 0;
      }
    } else {
      const [, [my]] = this.frames;
      for (let i = 0; i < n; i++) {
        places[2 * i] = (flat[2 * i] - mx) / unit;
        places[2 * i + 1] = (flat[2 * i + 1] - my) / unit;
      }
    }
    this.near = null;
    this.scatter.box = single ? null : halves.map((half) => half / unit);
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
    const { canvas, app } = this;
    this.root.addEventListener("focusin", () => app.activate(this.number));
    this.root.addEventListener("pointerdown", () => app.activate(this.number));
    watch(this);
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.cancel.addEventListener("click", () => this.cancelFit());
    this.next.addEventListener("click", () => {
      this.change(this.picture.next.change);
      app.controls.show();
    });
    [this.across, this.up].forEach((list, axis) => {
      list.addEventListener("change", () => {
        // The same component on both would show a line: the two change places.
        const shown = this.shownAxes(this.picture.components);
        const wanted = Number(list.value);
        if (shown[1 - axis] === wanted) shown.reverse();
        else shown[axis] = wanted;
        this.axes = shown;
        this.refit();
        app.remember();
      });
    });
    new ResizeObserver(() => this.scatter.draw()).observe(canvas);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 40;
    const moves = {
      ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    };
    if (moves[event.key]) { this.scatter.panBy(...moves[event.key]); this.app.remember(); } else if (event.key === "n") this.step(1);
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
    this.app.remember();
  }

  home() {
    this.scatter.home();
    this.app.remember();
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
