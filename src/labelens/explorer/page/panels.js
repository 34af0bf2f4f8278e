// Panels computed on request, in one box: bars, tables, groups of rows, arrows on the map.

import { count, find, make, say } from "./dom.js";
import * as server from "./server.js";

export function usePanels(app) {
  for (const button of document.querySelectorAll("[data-panel]")) {
    button.addEventListener("click", () => ask(app, button.dataset.panel));
  }
}

async function ask(app, what) {
  const pane = app.active;
  const { picture } = pane;
  if (!picture) return;
  const { view, axes } = picture;
  try {
    const panel = await server.panel({ data: app.data, view, axes, what });
    show(app, panel, view);
    if (panel.arrows && pane.picture === picture) {
      pane.arrows = { picture, list: panel.arrows };
      app.ring();
    }
    if (what === "final") {
      app.away.fill(0);
      app.repaint();
      find("ask-title").scrollIntoView({ block: "nearest" });
    }
    say(`${panel.title}. ${panel.sentence}`);
  } catch (problem) {
    if (!app.lost(problem)) show(app, { title: "Not computed", sentence: problem.message }, view);
  }
}

// Show a panel from the server. Its strings are shown as text, never as HTML.
export function show(app, panel, view) {
  const { title, sentence, bars = [], heads, lines, marks = [] } = panel;
  const longest = panel.most || Math.max(...bars.map(({ value, tick }) => Math.max(value, tick)), 1e-9);
  app.asked = JSON.stringify(view);
  find("panel").replaceChildren(
    make("h3", {}, title),
    make("p", { class: "hint" }, sentence),
    make("p", { class: "notice", id: "panel-old", hidden: true }, "The settings have changed since."),
    ...(bars.length ? [table(heads, bars.map((one) => [
      make("bdi", {}, one.name), bar(one, longest)]))] : []),
    ...(lines ? [table(heads, lines.map((line) => line.map((text) => make("bdi", {}, text))))] : []),
    ...marks.map(({ name, rows }) => group(app, name, rows)));
}

export function forgetPanel(app) {
  app.asked = null;
  find("panel").replaceChildren();
}

// After a fit: whether the panel belongs to the current settings.
export function agePanel(app, view) {
  const note = find("panel-old");
  if (note && app.asked) note.hidden = app.asked === JSON.stringify(view);
}

function table(heads, lines) {
  return make("div", { class: "scrolled", tabIndex: 0, role: "region", "aria-label": "Table" },
    make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...lines.map(([first, ...others]) => make("tr", {},
        make("th", { scope: "row" }, first), ...others.map((cell) => make("td", {}, cell)))))));
}

function bar({ value, text, tick }, longest) {
  const share = (part) => `${100 * Math.max(0, Math.min(1, part / longest))}%`;
  const [fill, line] = [make("i", {}), make("em", { hidden: tick === null })];
  fill.style.width = share(value);
  line.style.left = share(tick);
  return make("div", {}, text, make("div", { class: "meter", "aria-hidden": "true" }, fill, line));
}

function group(app, name, rows) {
  const button = make("button", { type: "button", disabled: !rows.length },
    `${name}: ${count(rows.length)}`);
  button.addEventListener("click", () => {
    const marks = new Uint8Array(app.n);
    for (const i of rows) marks[i] = 1;
    app.select(marks);
  });
  return make("p", {}, button);
}
