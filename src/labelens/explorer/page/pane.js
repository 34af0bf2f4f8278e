// One view: settings, fit, verdict and map.

import { count, make, say, score } from "./dom.js";
import { warned } from "./guide.js";
import { PointMap } from "./pointmap.js";
import * as server from "./server.js";

const CLIENT = crypto.getRandomValues(new Uint32Array(4)).join("-");
let turns = 0; // numbers of requests, over all panes that ever existed
const TITLES = { pca: "PCA", spca: "SPCA", srp: "SRP", kspca: "KSPCA", ksrp: "KSRP" };

const SLOW = 1000; // ms after which a fit can be cancelled, and a newer request cancels it

export class Pane extends PointMap {
  // The state of a pane: settings, two components, and the visible part of the plot.
  constructor(app, number, { view, axes, ...sight }) {
    super(app, sight);
    Object.assign(this, { number, view, axes });
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
    this.depth = make("select", { "aria-label": "Component in depth" });
    this.chosen = make("span", { class: "axes", hidden: true },
      this.across, " × ", this.up, " × ", this.depth);
    this.error = make("p", { class: "notice", role: "alert", hidden: true });
    this.verdict = make("p", { class: "verdict" });
    this.grade = make("b", { class: "grade" });
    this.told = make("span", {});
    this.next = make("button", { type: "button", class: "plain", hidden: true });
    this.verdict.append(this.grade, " ", this.told, " ", this.next);
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
      this.plot);
    this.root.dataset.pane = number;
    this.listen();
  }

  state() {
    const { view, axes, scatter: { zoom, pan, turn } } = this;
    return { view: { ...view }, axes: [...axes], zoom, pan: [...pan], turn: turn && [...turn] };
  }

  restore({ view, axes, zoom, pan, turn = null }) {
    const same = this.picture && !this.wish
      && Object.keys(view).every((name) => view[name] === this.picture.view[name])
      && `${axes}` === `${this.axes}`;
    Object.assign(this, { view: { ...view }, axes: [...axes] });
    Object.assign(this.scatter, { zoom, pan: [...pan], turn: turn && [...turn] });
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

  // One request is at the server, and the newest other one waits. Fast fits are all shown while a
  // slider moves; a slow fit is cancelled for the newest settings.
  refit() {
    this.wish = ++turns;
    if (!this.asking) this.askOn();
    else if (this.refining || performance.now() - this.began > SLOW) server.drop(`fit ${this.number}`);
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
      const before = this.picture ? "; the plot shows the previous settings" : "";
      this.took.textContent = `fitting, ${Math.round(passed / 1000)} s${before}`;
    }, 250);
    try {
      while (this.wish) {
        const turn = this.wish;
        this.wish = 0;
        this.refining = false;
        const first = await this.ask(turn, true);
        // After the answer of a sample, request that of all rows, unless a newer request waits.
        this.refining = Boolean(first && first.rough) && !this.wish;
        if (this.refining) await this.ask(++turns, false);
      }
    } finally {
      clearInterval(waiting);
      this.asking = this.refining = false;
      this.cancel.hidden = true;
      this.root.classList.remove("busy", "stale");
    }
  }

  // Restore the settings of the plot.
  cancelFit() {
    this.wish = 0;
    server.drop(`fit ${this.number}`);
    this.took.textContent = "cancelled";
    if (this.picture) {
      this.view = { ...this.picture.view };
      if (this.picture.axes.length > 1) this.axes = [...this.picture.axes];
    }
    this.app.activate(this.number);
    this.app.remember();
    say("Cancelled. The settings are those of the plot.");
  }

  // Two or three different components, the chosen ones if they exist.
  shownAxes(most) {
    if (most === 1) return [0];
    const shown = [];
    for (const axis of this.axes.slice(0, most)) {
      const wanted = Math.max(0, Math.min(axis, most - 1));
      const free = [...Array(most).keys()].find((j) => !shown.includes(j));
      shown.push(shown.includes(wanted) ? free : wanted);
    }
    return shown;
  }

  async ask(turn, rough) {
    const view = { ...this.view };
    const axes = this.shownAxes(view.map === "components" ? view.components : 2);
    const shuffled = this.app.part === "shuffled";
    const { data, asFitted: fitted } = this.app;
    this.began = performance.now();
    try {
      const picture = await server.fit({
        client: CLIENT, pane: `${this.number}`, turn, data, view, axes, shuffled, rough, fitted,
      });
      if (!picture) return null;
      this.spread(picture);
      picture.view = view;
      picture.shuffled = shuffled;
      this.show(picture, performance.now() - this.began);
      this.error.hidden = true;
      this.app.fitted(this);
      return picture;
    } catch (problem) {
      if (this.app.lost(problem)) return null;
      this.error.textContent = `${problem.message} The plot shows the last valid fit.`;
      this.error.hidden = false;
      return null;
    }
  }

  // Rows that are not in the sample are not drawn until all rows arrive.
  spread(picture) {
    if (!picture.rough) return;
    const [some, which] = picture.arrays;
    const k = picture.frame.length;
    const flat = new Float32Array(k * this.app.n).fill(NaN);
    which.forEach((i, at) => flat.set(some.subarray(k * at, k * at + k), k * i));
    picture.arrays = [flat];
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
    const of = picture.rough ? `, ${count(picture.rough)} rows; the others follow` : "";
    this.took.textContent = `${Math.round(elapsed)} ms${of}`;
    this.took.title = `${Math.round(1000 * picture.seconds)} ms of it on the server`;
    this.judge();
    this.app.tellParts(this);
    this.offerAxes(view.map === "components" ? view.components : 2);
    this.place();
    say(`${this.named()}: ${this.whose.textContent} ${this.metric.textContent} ${score(own)}, `
      + `${this.other.textContent} ${score(other)}.`, 500);
  }

  // The verdict, and the next step.
  judge() {
    const { grade, verdict, next, notes, shuffled, scores } = this.picture;
    const kind = scores.majority === null ? "5-NN R²" : "1-NN accuracy";
    const asked = `${kind} over ${count(this.app.overview.asked)} held-out rows.`;
    const control = "The labels of this view are shuffled, so its patterns are chance.";
    this.grade.textContent = shuffled ? "Control." : `${grade}.`;
    this.grade.dataset.grade = shuffled ? "chance" : grade.toLowerCase();
    this.told.textContent = [shuffled ? control : verdict, ...notes, asked,
      warned(this.app, this)].join(" ");
    this.next.hidden = shuffled || !next;
    if (next) this.next.textContent = next.text;
  }

  named() {
    const { view } = this.picture;
    const method = TITLES[view.method];
    const shown = this.picture.shuffled ? ", shuffled labels" : "";
    const map = view.map === "components" ? "" : ` ${view.map}`;
    return `${method}${map}${shown}`;
  }

  offerAxes(k) {
    this.chosen.hidden = k < 3;
    const shown = this.shownAxes(k);
    [this.across, this.up, this.depth].forEach((list, axis) => {
      if (list.dataset.of !== `${k}`) {
        list.dataset.of = k;
        const options = Array.from({ length: k }, (_, j) => new Option(`${j + 1}`, j));
        list.replaceChildren(...(axis === 2 ? [new Option("flat", "")] : []), ...options);
      }
      list.value = axis < shown.length ? shown[axis] : "";
    });
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

  listen() {
    const { app } = this;
    this.root.addEventListener("focusin", () => app.activate(this.number));
    this.root.addEventListener("pointerdown", () => app.activate(this.number));
    this.cancel.addEventListener("click", () => this.cancelFit());
    this.next.addEventListener("click", () => {
      this.change(this.picture.next.change);
      app.controls.show();
    });
    [this.across, this.up, this.depth].forEach((list, axis) => {
      list.addEventListener("change", () => {
        const shown = this.shownAxes(this.picture.components);
        if (list.value === "") shown.length = 2;
        else {
          // The same component twice would show a line, so the two change places.
          const wanted = Number(list.value);
          const other = shown.indexOf(wanted);
          const free = [0, 1, 2].find((j) => !shown.includes(j));
          if (other >= 0) shown[other] = axis < shown.length ? shown[axis] : free;
          shown[axis] = wanted;
        }
        this.axes = shown;
        this.refit();
        app.remember();
      });
    });
  }
}
