// The page put together: data, panes, parts, groups, keys, files, and a server that may go away.

import { Controls } from "./controls.js";
import { count, find, make, say } from "./dom.js";
import { Colours, showGroup } from "./legend.js";
import { decorate } from "./overlay.js";
import { Pane } from "./pane.js";
import * as server from "./server.js";

const RETRY = 1000;
const HEARTBEAT = 4000;

class App {
  constructor() {
    Object.assign(this, {
      data: 0, overview: null, n: 0, panes: [], activeNumber: 0, part: "all", drag: "pan",
      colours: null, columns: new Map(), selected: null, hovered: -1, picked: -1, instance: null,
    });
    this.controls = new Controls(this);
    this.listen();
  }

  get active() { return this.panes[this.activeNumber]; }

  // Data ------------------------------------------------------------------------------------------

  async begin() {
    const told = await server.alive();
    this.instance = told.instance;
    find("data").replaceChildren(...told.titles.map((title, i) => new Option(title, i)));
    find("data-label").hidden = told.titles.length < 2;
    await this.open(0);
    this.beating = this.beating || setInterval(() => this.check(), HEARTBEAT);
  }

  async open(data) {
    const overview = await server.overview(data);
    Object.assign(this, { data, overview, selected: null, hovered: -1, picked: -1 });
    [this.rowNumbers] = overview.arrays;
    this.n = this.rowNumbers.length;
    this.columns.clear();
    find("about").children[0].textContent = find("data-label").hidden ? overview.name : "";
    find("about").children[1].textContent = `${count(overview.rows)} rows × `
      + `${count(overview.features)} columns, ${count(overview.rows - overview.trained)} held out`;
    document.title = `${overview.name} · labelens explore`;
    find("notes").textContent = overview.notes.join(" ");
    find("colour").replaceChildren(...overview.columns.map((name, j) => new Option(name, j)));
    find("row").max = overview.rows - 1;
    find("facts").replaceChildren();
    this.panes.forEach((pane) => pane.root.remove());
    this.panes = [];
    this.activeNumber = 0;
    this.addPane({ ...overview.view });
    this.controls.offer(overview);
    this.controls.show();
    showGroup(null);
    this.arrange();
    await this.colourBy(0);
  }

  async columnOf(j) {
    if (!this.columns.has(j)) {
      this.columns.set(j, new Colours(j, await server.column(this.data, j)));
    }
    return this.columns.get(j);
  }

  // Names of the classes of a label, where they have come.
  classNames(label) {
    const found = this.columns.get(label);
    if (found) return found.column.names;
    this.columnOf(label).then(() => this.redraw()).catch((problem) => this.lost(problem));
    return null;
  }

  async colourBy(j) {
    find("colour").value = j;
    try {
      const colours = await this.columnOf(j);
      if (Number(find("colour").value) !== j) return;
      this.colours = colours;
      colours.forget();
      colours.legend(() => this.repaint(), (wanted) => this.selectClass(wanted));
      for (const pane of this.panes) {
        if (pane.picture && pane.picture.frame.length === 1) pane.place();
        else pane.paint();
      }
    } catch (problem) {
      this.lost(problem);
    }
  }

  // Panes -----------------------------------------------------------------------------------------

  addPane(view) {
    const pane = new Pane(this, this.panes.length, view);
    this.panes.push(pane);
    find("panes").append(pane.root);
    pane.refit();
    return pane;
  }

  compare() {
    if (this.panes.length === 1) {
      // Something to compare with: blind to the labels, unless that is what is there.
      const view = { ...this.active.view };
      view.method = view.method === "pca" ? "spca" : "pca";
      this.addPane(view);
      this.activate(1);
    } else {
      this.panes.pop().root.remove();
      this.activate(0);
    }
    this.arrange();
    say(this.panes.length === 2 ? "Two views." : "One view.");
  }

  arrange() {
    const two = this.panes.length === 2;
    find("compare").setAttribute("aria-pressed", two);
    find("which").hidden = !two;
    find("panes").classList.toggle("two", two);
    this.redraw();
  }

  activate(number) {
    if (!this.panes[number]) return;
    this.activeNumber = number;
    this.panes.forEach((pane, i) => pane.root.classList.toggle("active", i === number));
    document.querySelector(`#which input[value="${number}"]`).checked = true;
    this.controls.show();
  }

  fitted(pane) {
    document.documentElement.dataset.ready = "yes";
    find("lost").hidden = true;
    if (pane === this.active) this.controls.show(document.activeElement.id);
  }

  redraw() { this.panes.forEach((pane) => pane.scatter.draw()); }

  // Rings lie over the points, which need not be drawn again.
  ring() { this.panes.forEach((pane) => { if (pane.look) decorate(pane); }); }

  // After a change of what is shown, or how.
  repaint() {
    if (this.colours) this.colours.forget();
    this.panes.forEach((pane) => pane.paint());
  }

  show(part) {
    const before = this.part;
    this.part = part;
    document.querySelector(`#part input[value="${part}"]`).checked = true;
    if ((before === "shuffled") === (part === "shuffled")) this.repaint();
    else this.panes.forEach((pane) => pane.refit());
    say({ all: "All rows.", train: "Training rows.", heldout: "Held-out rows.",
      shuffled: "Shuffled labels: what chance looks like." }[part]);
  }

  setDrag(drag) {
    this.drag = drag;
    document.querySelector(`#drag input[value="${drag}"]`).checked = true;
    find("panes").classList.toggle("lasso", drag === "lasso");
  }

  // Rows and groups -------------------------------------------------------------------------------

  hover(pane, i, event) {
    const tip = find("tip");
    if (i !== this.hovered) { this.hovered = i; this.ring(); }
    tip.hidden = i < 0 || !this.colours;
    if (tip.hidden) return;
    const held = i >= this.overview.drawnTrained;
    tip.replaceChildren(
      make("b", {}, make("bdi", {}, this.colours.text(i, pane.picture.shuffled))),
      make("span", {}, `row ${count(this.rowNumbers[i])}, ${held ? "held out" : "training"}`));
    const { width, height } = tip.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const right = event.clientX + 16 + width < clientWidth;
    tip.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - width)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, clientHeight - height - 4))}px`;
  }

  async pick(i) {
    this.picked = i;
    find("row").value = this.rowNumbers[i];
    this.ring();
    try {
      const { facts } = await server.row(this.data, i);
      if (this.picked !== i) return;
      find("facts").replaceChildren(...facts.flatMap(([name, text]) => [
        make("dt", { title: name }, make("bdi", {}, name)),
        make("dd", {}, make("bdi", {}, text))]));
      say(facts.slice(0, 3).map(([name, text]) => `${name} ${text}`).join(", "));
    } catch (problem) {
      this.lost(problem);
    }
  }

  selectClass(wanted) {
    const shuffled = this.part === "shuffled";
    const values = this.colours.values(shuffled);
    const trained = this.overview.drawnTrained;
    const marks = new Uint8Array(this.n);
    const parts = { all: [0, this.n], heldout: [trained, this.n] };
    const [first, end] = parts[this.part] || [0, trained];
    for (let i = first; i < end; i++) marks[i] = wanted(i, values) ? 1 : 0;
    this.select(marks);
  }

  async select(marks) {
    const any = marks && marks.includes(1);
    this.selected = any ? marks : null;
    if (this.colours) this.colours.found = any ? this.colours.found : -1;
    this.repaint();
    if (!any) { showGroup(null); return; }
    const bits = new Uint8Array(Math.ceil(marks.length / 8));
    for (let i = 0; i < marks.length; i++) if (marks[i]) bits[i >> 3] |= 1 << (i & 7);
    const labels = this.overview.labels.length;
    const shownLabel = this.colours.number < labels ? this.colours.number : this.active.view.label;
    try {
      const group = await server.group(this.data, shownLabel, this.part === "shuffled", bits);
      if (this.selected === marks) showGroup(group, () => this.select(null));
    } catch (problem) {
      if (!this.lost(problem)) showGroup({ error: problem.message });
    }
  }

  // The server ------------------------------------------------------------------------------------

  // Says so if a problem is that the server cannot be reached; false if it is another.
  lost(problem) {
    const banner = find("lost");
    if (problem instanceof server.Stranger) {
      banner.textContent = "The server was started anew, with another link: open the one that "
        + "it has printed.";
    } else if (problem instanceof server.Lost) {
      banner.textContent = "The server does not answer. The picture stays as it is; trying "
        + "again …";
    } else {
      return false;
    }
    banner.hidden = false;
    if (!this.retrying) this.retrying = setTimeout(() => this.retry(), RETRY);
    return true;
  }

  async retry() {
    this.retrying = 0;
    try {
      if (!this.overview) { await this.begin(); return; }
      const { instance } = await server.alive();
      find("lost").hidden = true;
      say("The server is back.");
      if (instance !== this.instance) {
        // Another process: what it serves under the same link may be other data.
        this.instance = instance;
        const { name, rows, labels } = this.overview;
        const now = await server.overview(this.data);
        const same = now.name === name && now.rows === rows && now.labels.length === labels.length;
        if (!same) { await this.open(this.data); return; }
      }
      this.panes.forEach((pane) => pane.refit());
    } catch (problem) {
      this.lost(problem);
    }
  }

  async check() {
    if (this.retrying || this.panes.some((pane) => pane.asking)) return;
    try { await server.alive(); } catch (problem) { this.lost(problem); }
  }

  // Files and code --------------------------------------------------------------------------------

  async save(what) {
    const format = find("format").value;
    const name = what === "model" ? "model.labelens" : `embedding.${format}`;
    try {
      const blob = await server.save({ data: this.data, view: this.active.view, what, format });
      const link = make("a", { href: URL.createObjectURL(blob), download: name });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      say(`Saved as ${name}.`);
    } catch (problem) {
      this.complain(problem);
    }
  }

  async showCode() {
    try {
      const { code } = await server.code({ data: this.data, view: this.active.view });
      find("code").textContent = code;
      find("copied").textContent = "";
      find("code-dialog").showModal();
      await this.copy();
    } catch (problem) {
      this.complain(problem);
    }
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(find("code").textContent);
      find("copied").textContent = "Copied.";
    } catch {
      // A browser may keep the clipboard from us; the text is there to be selected.
      getSelection().selectAllChildren(find("code"));
      find("copied").textContent = "Press Ctrl+C to copy.";
    }
  }

  complain(problem) {
    if (this.lost(problem)) return;
    this.active.error.textContent = problem.message;
    this.active.error.hidden = false;
  }

  // Keys and buttons ------------------------------------------------------------------------------

  listen() {
    const on = (id, kind, act) => find(id).addEventListener(kind, act);
    on("data", "change", () => {
      this.open(Number(find("data").value)).catch((problem) => this.complain(problem));
    });
    on("colour", "change", () => this.colourBy(Number(find("colour").value)));
    on("compare", "click", () => this.compare());
    on("python", "click", () => this.showCode());
    on("copy", "click", () => this.copy());
    on("keys", "click", () => find("keys-dialog").showModal());
    on("save-embedding", "click", () => this.save("embedding"));
    on("save-model", "click", () => this.save("model"));
    on("zoom-in", "click", () => this.active.zoomBy(1.4));
    on("zoom-out", "click", () => this.active.zoomBy(1 / 1.4));
    on("zoom-reset", "click", () => this.active.scatter.home());
    on("find-row", "submit", (event) => {
      event.preventDefault();
      const i = this.rowNumbers.indexOf(Number(find("row").value));
      if (i >= 0) this.pick(i);
      else find("facts").replaceChildren(make("dd", {}, "This row is not in the picture."));
    });
    for (const input of document.querySelectorAll("input[name=part]")) {
      input.addEventListener("change", () => this.show(input.value));
    }
    for (const input of document.querySelectorAll("input[name=drag]")) {
      input.addEventListener("change", () => this.setDrag(input.value));
    }
    for (const input of document.querySelectorAll("input[name=pane]")) {
      input.addEventListener("change", () => this.activate(Number(input.value)));
    }
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.repaint());
    window.addEventListener("resize", () => this.redraw());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest("input[type=number], input[type=text], select");
    if (event.key === "Escape") { this.select(null); this.hover(null, -1); return; }
    if (typing) return;
    const acts = {
      a: () => this.show("all"), t: () => this.show("train"),
      h: () => this.show("heldout"), s: () => this.show("shuffled"),
      c: () => this.compare(), 1: () => this.activate(0), 2: () => this.activate(1),
      p: () => this.setDrag("pan"), l: () => this.setDrag("lasso"),
      "+": () => this.active.zoomBy(1.4), "=": () => this.active.zoomBy(1.4),
      "-": () => this.active.zoomBy(1 / 1.4),
      0: () => this.active.scatter.home(), "?": () => find("keys-dialog").showModal(),
    };
    if (!this.panes.length || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
}

const app = new App();
window.explorer = app; // for whoever looks with the browser's tools
app.begin().catch((problem) => {
  if (app.lost(problem)) return;
  find("lost").textContent = problem.message;
  find("lost").hidden = false;
});
