// One row, beside the pointer or picked, and a group of rows: what is known of them.

import { count, find, make, say } from "./dom.js";
import { showGroup } from "./legend.js";
import * as server from "./server.js";

const LINGER = 120; // ms that the pointer rests on a point before its columns are asked for

export function hover(app, pane, i, event) {
  const tip = find("tip");
  if (i !== app.hovered) {
    app.hovered = i;
    app.ring();
    lookUp(app, i);
  }
  tip.hidden = i < 0 || !app.colours;
  if (tip.hidden) return;
  const held = i >= app.overview.drawnTrained;
  tip.replaceChildren(
    make("b", {}, make("bdi", {}, app.colours.text(i, pane.picture.shuffled))),
    make("span", {}, `row ${count(app.rowNumbers[i])}, ${held ? "held out" : "training"}`),
    ...(app.facts && app.facts.row === i ? app.facts.lines : []));
  const { width, height } = tip.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const right = event.clientX + 16 + width < clientWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - width)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, clientHeight - height - 4))}px`;
}

// Columns that the reader has chosen come beside the pointer when it rests.
function lookUp(app, i) {
  clearTimeout(app.lingering);
  server.drop("hovered");
  if (i < 0 || !app.told.size) return;
  app.lingering = setTimeout(async () => {
    try {
      const { facts } = await server.hovered(app.data, i);
      const lines = facts.filter(([name]) => app.told.has(name)).map(([name, text]) => make(
        "span", { class: "told" }, make("bdi", {}, name), ": ", make("bdi", {}, text)));
      app.facts = { row: i, lines };
      find("tip").append(...lines);
    } catch (problem) {
      app.lost(problem);
    }
  }, LINGER);
}

export async function pick(app, i) {
  app.picked = i;
  find("row").value = app.rowNumbers[i];
  app.ring();
  app.remember();
  try {
    const { facts } = await server.row(app.data, i);
    find("facts").replaceChildren(...facts.flatMap(([name, text]) => [
      make("dt", { title: name }, chooser(app, name)), make("dd", {}, make("bdi", {}, text))]));
    say(facts.slice(0, 3).map(([name, text]) => `${name} ${text}`).join(", "));
  } catch (problem) {
    app.lost(problem);
  }
}

// A name in the list of a row; its box shows the column beside the pointer too.
function chooser(app, name) {
  const box = make("input", { type: "checkbox", checked: app.told.has(name) });
  box.addEventListener("change", () => {
    if (box.checked) app.told.add(name);
    else app.told.delete(name);
    app.facts = null;
  });
  return make("label", { title: `Show ${name} beside the pointer` }, box, " ",
    make("bdi", {}, name));
}

export async function tellGroup(app) {
  const marks = app.selected;
  server.drop("group");
  if (!marks || !app.colours) { showGroup(null); return; }
  const bits = new Uint8Array(Math.ceil(marks.length / 8));
  for (let i = 0; i < marks.length; i++) if (marks[i]) bits[i >> 3] |= 1 << (i & 7);
  const labels = app.overview.labels.length;
  const shownLabel = app.colours.number < labels ? app.colours.number : app.active.view.label;
  try {
    const group = await server.group(app.data, shownLabel, app.part === "shuffled", bits);
    showGroup(group, () => app.select(null));
  } catch (problem) {
    if (!app.lost(problem)) showGroup({ error: problem.message });
  }
}
