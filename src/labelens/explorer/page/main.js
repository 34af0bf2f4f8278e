// The application: data, panes, parts, groups, keys, and the connection to the server.

import { listen } from "./actions.js";
import * as address from "./address.js";
import { Controls } from "./controls.js";
import { count, find, make, say } from "./dom.js";
import { addHelp } from "./help.js";
import { tellLabel } from "./labels.js";
import { Colours } from "./legend.js";
import { showJobs } from "./jobs.js";
import { decorate } from "./overlay.js";
import { Pane } from "./pane.js";
import { agePanel, forgetPanel, usePanels } from "./panels.js";
import { dropRow, hover, pick, tellGroup } from "./rows.js";
import * as server from "./server.js";

const RETRY = 1000;
const HEARTBEAT = 4000;

class App {
  constructor() {
    Object.assign(this, {
      data: 0, overview: null, n: 0, panes: [], activeNumber: 0, part: "all", drag: "pan",
      colours: null, columns: new Map(), selected: null, hovered: -1, picked: -1, instance: null,
      ringed: [], reviews: new Map(), // suspect labels on the map; reviews of labels, by column
      asFitted: false, // whether training rows are placed by the model fitted on them
      only: false, contours: false, // whether other rows are hidden, and density lines drawn
      looked: new Map(), // settings that were compared, by data and label
      second: null, // the settings of view 2 while it is not shown
      told: new Set(), // names of columns that are shown at the pointer
    });
    this.controls = new Controls(this);
    listen(this);
    showJobs(this);
    usePanels(this);
    addHelp();
  }

  get trained() { return this.overview ? this.overview.drawnTrained : 0; }

  get active() { return this.panes[this.activeNumber]; }

  // Data ------------------------------------------------------------------------------------------

  async begin() {
    const told = await server.alive();
    this.instance = told.instance;
    find("data").replaceChildren(...told.titles.map((title, i) => new Option(title, i)));
    find("data-label").hidden = told.titles.length < 2;
    this.titles = told.titles;
    await this.go(location.hash.slice(1));
    this.beating = this.beating || setInterval(() => this.check(), HEARTBEAT);
  }

  // Restore the state of an address; data that are open are not requested again.
  async go(text) {
    const data = Math.min(address.dataOf(text), this.titles.length - 1);
    if (!this.overview || data !== this.data) await this.open(data, text);
    else this.restore(address.read(text, this.overview, this.n));
  }

  // Open a data set, with the state of an address or the first view.
  async open(data, text = "") {
    find("data").value = data;
    const overview = await this.overviewOf(data);
    server.dropAll(); // cancel requests for the previous data
    Object.assign(this, { data, overview, selected: null, hovered: -1, picked: -1, second: null });
    let away;
    [this.rowNumbers, away] = overview.arrays;
    this.n = this.rowNumbers.length;
    this.away = new Uint8Array(this.n); // untouched rows, hidden until they are scored
    away.forEach((row) => { this.away[row] = 1; });
    this.columns.clear();
    this.colours = null;
    find("about").children[0].textContent = find("data-label").hidden ? overview.name : "";
    find("about").children[1].textContent = `${count(overview.rows)} rows × `
      + `${count(overview.features)} columns, ${count(overview.rows - overview.trained)} held out`
      + `${overview.untouched ? `, ${count(overview.untouched)} of them untouched` : ""}`;
    find("final").disabled = !overview.untouched;
    document.title = `${overview.name} · labelens explore`;
    find("notes").textContent = overview.notes.join(" ");
    find("colour").replaceChildren(...overview.columns.map((name, j) => new Option(name, j)));
    Object.assign(this, { names: overview.columns, textual: overview.textual, thumb: null });
    this.panes.splice(0).forEach((pane) => pane.remove());
    forgetPanel(this);
    this.controls.offer(overview);
    const told = address.read(text, overview, this.n);
    this.restore(text ? told : { ...told, part: this.part, drag: this.drag, fitted: this.asFitted });
    if (text === location.hash.slice(1)) address.settle(address.write(this.state(), overview.view));
    else this.remember();
  }

  // While data are loading, the previous data cannot be saved.
  async overviewOf(data) {
    const buttons = ["python", "save-embedding", "save-model"].map(find);
    buttons.forEach((button) => { button.disabled = true; });
    find("panes").classList.add("leaving");
    const back = () => {
      buttons.forEach((button) => { button.disabled = false; });
      find("panes").classList.remove("leaving");
    };
    try {
      const found = await server.overview(data);
      back();
      return found;
    } catch (problem) {
      if (!server.dropped(problem) || problem.cancelled) {
        find("data").value = this.data;
        back();
      }
      throw problem;
    }
  }

  // State -----------------------------------------------------------------------------------------

  state() {
    const views = this.panes.map((pane) => pane.state());
    if (views.length === 1 && this.second) views.push(this.second);
    return {
      data: this.data, part: this.part, drag: this.drag, colour: Number(find("colour").value),
      active: this.activeNumber, row: this.picked < 0 ? -1 : this.rowNumbers[this.picked],
      two: this.panes.length === 2, views, group: this.selected, fitted: this.asFitted,
    };
  }

  remember() {
    if (this.overview) address.remember(address.write(this.state(), this.overview.view));
  }

  // The only place that shows a state.
  restore(told) {
    const { views, two } = told;
    this.setPart(told.part);
    this.setFitted(told.fitted);
    this.setDrag(told.drag);
    this.second = two ? null : views[1] || this.second;
    while (this.panes.length > (two ? 2 : 1)) this.panes.pop().remove();
    views.slice(0, two ? 2 : 1).forEach((one, number) => {
      this.controls.tidy(one.view);
      if (this.panes[number]) this.panes[number].restore(one);
      else this.addPane(one);
    });
    this.arrange();
    this.activate(told.active);
    this.selected = told.group;
    this.colourBy(told.colour).then(() => this.tellGroup()).catch(() => {});
    const picked = told.row < 0 ? -1 : this.rowNumbers.indexOf(told.row);
    if (picked >= 0) this.pick(picked);
    else dropRow(this);
  }

  // Colours -----------------------------------------------------------------------------------------

  columnOf(j) {
    if (!this.columns.has(j)) {
      const made = server.column(this.data, j).then((column) => new Colours(j, column));
      made.then((colours) => { made.here = colours; }, () => this.columns.delete(j));
      this.columns.set(j, made);
    }
    return this.columns.get(j);
  }

  // Names of the classes of a label, if they are loaded.
  classNames(label) {
    const found = this.columnOf(label);
    if (found.here) return found.here.column.names;
    found.then(() => this.redraw()).catch((problem) => this.lost(problem));
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
      if (problem.cancelled && this.colours) find("colour").value = this.colours.number;
      this.lost(problem);
    }
  }

  // Panes -----------------------------------------------------------------------------------------

  addPane(one) {
    const pane = new Pane(this, this.panes.length, one);
    this.panes.push(pane);
    find("panes").append(pane.root);
    pane.refit();
  }

  compare() {
    if (this.panes.length === 1) {
      // The earlier second view, or PCA, which ignores the labels.
      const view = { ...this.active.view };
      view.method = view.method === "pca" ? "spca" : "pca";
      this.addPane(this.second || { view, axes: [0, 1], zoom: 1, pan: [0, 0] });
      this.second = null;
      this.activate(1);
    } else {
      const pane = this.panes.pop();
      this.second = pane.state();
      pane.remove();
      this.activate(0);
    }
    this.arrange();
    this.remember();
    say(this.panes.length === 2 ? "Two views." : "One view.");
  }

  arrange() {
    const two = this.panes.length === 2;
    find("compare").setAttribute("aria-pressed", two);
    find("which").hidden = !two;
    find("link").closest("label").hidden = !two;
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

  // The settings with which the data were opened.
  reset() {
    this.second = null;
    this.restore(address.read("", this.overview, this.n));
    this.remember();
    say("The first settings are restored.");
  }

  fitted(pane) {
    document.documentElement.dataset.ready = "yes";
    find("lost").hidden = true;
    if (pane !== this.active) return;
    this.tellParts(pane);
    this.controls.show(document.activeElement.id);
    tellLabel(this);
    agePanel(this, pane.picture.view);
  }

  // Linked views show the same part of their plots.
  follow(pane) {
    if (!find("link").checked) return;
    const { zoom, pan, turn } = pane.scatter;
    for (const { scatter, deep } of this.panes.filter((one) => one !== pane)) {
      Object.assign(scatter, { zoom, pan: [...pan], turn: deep && turn ? [...turn] : scatter.turn });
      scatter.draw();
    }
  }

  redraw() { this.panes.forEach((pane) => pane.scatter.draw()); }

  // Rings are drawn over the points, which stay as they are.
  ring() { this.panes.forEach((pane) => { if (pane.look) decorate(pane); }); }

  // After a change of the shown rows or of their style.
  repaint() {
    if (this.colours) this.colours.forget();
    this.panes.forEach((pane) => pane.paint());
  }

  show(part) {
    this.setPart(part);
    this.remember();
    say({ all: "All rows.", train: "Training rows.", heldout: "Held-out rows.",
      shuffled: "Shuffled labels: a fit to chance." }[part]);
  }

  setPart(part) {
    const before = this.part;
    this.part = part;
    document.querySelector(`#part input[value="${part}"]`).checked = true;
    if ((before === "shuffled") === (part === "shuffled")) this.repaint();
    else this.panes.forEach((pane) => pane.refit());
  }

  setFitted(fitted) {
    const changed = fitted !== this.asFitted;
    this.asFitted = fitted;
    find("fitted").checked = fitted;
    if (changed) this.panes.forEach((pane) => pane.refit());
  }

  // The meaning of the pale points.
  tellParts(pane) {
    if (pane !== this.active) return;
    const { honest } = pane.picture;
    find("fitted-label").hidden = honest === undefined;
    find("pale").textContent = honest
      ? "training rows, placed by models that were fitted without them" : "training rows, as fitted";
  }

  setDrag(drag) {
    this.drag = drag;
    document.querySelector(`#drag input[value="${drag}"]`).checked = true;
    find("panes").classList.toggle("lasso", drag === "lasso");
  }

  // Rows and groups -------------------------------------------------------------------------------

  hover(pane, i, event) { hover(this, pane, i, event); }

  pick(i) { return pick(this, i); }

  selectClass(wanted) {
    const shuffled = this.part === "shuffled";
    const values = this.colours.values(shuffled);
    const { trained } = this;
    const marks = new Uint8Array(this.n);
    const parts = { all: [0, this.n], heldout: [trained, this.n] };
    const [first, end] = parts[this.part] || [0, trained];
    for (let i = first; i < end; i++) marks[i] = wanted(i, values) && !this.away[i] ? 1 : 0;
    this.select(marks);
  }

  select(marks) {
    const any = marks && marks.includes(1);
    this.selected = any ? marks : null;
    if (this.colours) this.colours.found = any ? this.colours.found : -1;
    this.repaint();
    this.remember();
    return this.tellGroup();
  }

  tellGroup() { return tellGroup(this); }

  // The server ------------------------------------------------------------------------------------

  // True if the request was cancelled, or if the server cannot be reached (with a message).
  lost(problem) {
    if (server.dropped(problem)) return true;
    const banner = find("lost");
    if (problem instanceof server.Stranger) {
      banner.textContent = "The server was restarted and has another link. Open the link that "
        + "it printed.";
    } else if (problem instanceof server.Lost) {
      banner.textContent = "The server does not answer. The plot stays as it is; trying "
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
        // Another process, which may serve other data under the same link.
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

  complain(problem) {
    if (this.lost(problem)) return;
    this.active.error.textContent = problem.message;
    this.active.error.hidden = false;
  }
}

const app = new App();
window.explorer = app; // for developer tools and tests
app.begin().catch((problem) => {
  if (app.lost(problem)) return;
  find("lost").textContent = problem.message;
  find("lost").hidden = false;
});
