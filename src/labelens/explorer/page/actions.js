// Actions of buttons and keys.

import { openData, openSession, saveSession } from "./files.js";
import { find } from "./dom.js";
import { search } from "./guide.js";
import { step, useLabels } from "./labels.js";
import { useLooks } from "./pointmap.js";
import { saveRows } from "./rows.js";
import { useSearch } from "./search.js";
import { copy, save, saveFigure, showCode } from "./takeaway.js";

export function listen(app) {
  const on = (id, kind, act) => find(id).addEventListener(kind, act);
  on("data", "change", () => {
    app.open(Number(find("data").value)).catch((problem) => app.complain(problem));
  });
  on("colour", "change", () => {
    app.colourBy(Number(find("colour").value)).then(() => app.remember());
  });
  on("compare", "click", () => app.compare());
  on("python", "click", () => showCode(app));
  on("copy", "click", () => copy());
  on("keys", "click", () => find("keys-dialog").showModal());
  on("save-embedding", "click", () => save(app, "embedding"));
  on("save-model", "click", () => save(app, "model"));
  on("zoom-in", "click", () => app.active.zoomBy(1.4));
  on("zoom-out", "click", () => app.active.zoomBy(1 / 1.4));
  on("zoom-reset", "click", () => app.active.home());
  on("save-png", "click", () => saveFigure(app, "png"));
  on("save-svg", "click", () => saveFigure(app, "svg"));
  on("save-rows", "click", () => saveRows(app));
  on("search", "click", () => search(app));
  on("undo", "click", () => history.back());
  on("reset", "click", () => app.reset());
  on("open-data", "change", () => openData(app, find("open-data")));
  on("open-session", "change", () => openSession(app, find("open-session")));
  on("open-cancel", "click", () => find("open-dialog").close());
  on("save-session", "click", () => saveSession(app));
  on("save-report", "click", () => save(app, "report"));
  on("fitted", "change", () => { app.setFitted(find("fitted").checked); app.remember(); });
  on("only", "change", () => { app.only = find("only").checked; app.repaint(); });
  useLooks(app, () => app.panes);
  useLabels(app);
  useSearch(app, find("find-rows"), (marks, many, said) => {
    app.select(marks);
    if (many === 1) app.pick(marks.indexOf(1));
    find("found").textContent = said;
  });
  const acts = {
    part: (value) => app.show(value),
    drag: (value) => { app.setDrag(value); app.remember(); },
    pane: (value) => { app.activate(Number(value)); app.remember(); },
  };
  for (const [name, act] of Object.entries(acts)) {
    for (const input of document.querySelectorAll(`input[name=${name}]`)) {
      input.addEventListener("change", () => act(input.value));
    }
  }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => app.repaint());
  window.addEventListener("resize", () => app.redraw());
  window.addEventListener("popstate", () => {
    if (!app.titles) return;
    app.go(location.hash.slice(1)).catch((problem) => app.complain(problem));
  });
  document.addEventListener("keydown", (event) => key(app, event));
}

function key(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input[type=number], input[type=text], select");
  if (event.key === "Escape") { app.select(null); app.hover(null, -1); return; }
  if (typing) return;
  const drag = (kind) => { app.setDrag(kind); app.remember(); };
  const acts = {
    a: () => app.show("all"), t: () => app.show("train"),
    h: () => app.show("heldout"), s: () => app.show("shuffled"),
    c: () => app.compare(), 1: () => app.activate(0), 2: () => app.activate(1),
    "[": () => step(app, -1), "]": () => step(app, 1), u: () => history.back(), p: () => drag("pan"), l: () => drag("lasso"),
    "+": () => app.active.zoomBy(1.4), "=": () => app.active.zoomBy(1.4),
    "-": () => app.active.zoomBy(1 / 1.4),
    0: () => app.active.home(), "?": () => find("keys-dialog").showModal(),
  };
  if (!app.panes.length || !acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
