// One row, at the pointer or picked, and a group of rows.

import { besidePointer, count, find, make, say, short } from "./dom.js";
import { showGroup } from "./legend.js";
import { tellLabel } from "./labels.js";
import { download } from "./picture.js";
import * as server from "./server.js";

const LINGER = 120; // ms on a point before its columns are requested

export function hover(app, pane, i, event) {
  const tip = find("tip");
  if (i !== app.hovered) {
    app.hovered = i;
    app.ring();
    lookUp(app, i);
  }
  tip.hidden = i < 0 || !app.colours;
  if (tip.hidden) return;
  const held = i >= app.trained;
  tip.replaceChildren(
    ...pictured(app, i),
    make("b", {}, make("bdi", {}, app.colours.text(i, pane.picture.shuffled))),
    make("span", {}, `row ${count(app.rowNumbers[i])}, ${held ? "held out" : "training"}`),
    ...(app.facts && app.facts.row === i ? app.facts.lines : []));
  besidePointer(tip, event);
}

// The image of a row, if the data have images.
function pictured(app, i) {
  if (!app.overview.images) return [];
  if (app.thumb && app.thumb.row === i) return [app.thumb.image];
  const image = make("img", { class: "thumb", alt: "", src: server.image(app.data, i) });
  image.addEventListener("error", () => image.remove());
  app.thumb = { row: i, image };
  return [image];
}

// Ticked columns are shown when the pointer rests.
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
  tellLabel(app);
  app.ring();
  app.remember();
  try {
    const { facts } = await server.row(app.data, i);
    const image = make("img", { class: "thumb", alt: `Image of row ${app.rowNumbers[i]}`,
      src: app.overview.images ? server.image(app.data, i) : "" });
    const near = make("button", { type: "button", id: "neighbours" }, "Neighbours");
    near.addEventListener("click", () => neighbours(app, i));
    find("picked").replaceChildren(...(app.overview.images ? [image] : []), near);
    find("facts").replaceChildren(...facts.flatMap(([name, text]) => [
      make("dt", { title: name }, chooser(app, name)), make("dd", {}, make("bdi", {}, text))]));
    say(facts.slice(0, 3).map(([name, text]) => `${name} ${text}`).join(", "));
  } catch (problem) {
    app.lost(problem);
  }
}

export function dropRow(app) {
  app.picked = -1;
  tellLabel(app);
  find("picked").replaceChildren();
  find("facts").replaceChildren();
  app.ring();
}

// The nearest rows in all columns: a list, and a group on the map.
async function neighbours(app, i) {
  try {
    const { neighbours: found } = await server.near(app.data, i);
    const marks = new Uint8Array(app.n);
    for (const { row } of [{ row: i }, ...found]) marks[row] = 1;
    app.select(marks);
    const items = found.map(({ row, distance, label }) => {
      const go = make("button", { type: "button", class: "plain" }, `row ${app.rowNumbers[row]}`);
      go.addEventListener("click", () => app.pick(row));
      return make("li", {}, go, " ", make("bdi", {}, label), ` at ${short(distance)}`);
    });
    find("picked").append(make("ol", { class: "near", "aria-label": "Nearest rows" }, ...items));
  } catch (problem) {
    app.complain(problem);
  }
}

// A name in the list of a row; its box also shows the column at the pointer.
function chooser(app, name) {
  const box = make("input", { type: "checkbox", checked: app.told.has(name) });
  box.addEventListener("change", () => {
    if (box.checked) app.told.add(name);
    else app.told.delete(name);
    app.facts = null;
  });
  return make("label", { title: `Show ${name} at the pointer` }, box, " ",
    make("bdi", {}, name));
}

function packed(marks) {
  const bits = new Uint8Array(Math.ceil(marks.length / 8));
  for (let i = 0; i < marks.length; i++) if (marks[i]) bits[i >> 3] |= 1 << (i & 7);
  return bits;
}

export async function tellGroup(app) {
  const marks = app.selected;
  server.drop("group");
  find("group-tools").hidden = !marks;
  if (!marks || !app.colours) { showGroup(null); return; }
  const labels = app.overview.labels.length;
  const shownLabel = app.colours.number < labels ? app.colours.number : app.active.view.label;
  try {
    const shuffled = app.part === "shuffled";
    showGroup(await server.group(app.data, shownLabel, shuffled, packed(marks)),
      () => app.select(null));
  } catch (problem) {
    if (!app.lost(problem)) showGroup({ error: problem.message });
  }
}

export async function saveRows(app) {
  const format = find("format").value;
  try {
    download(`rows.${format}`, await server.rows(app.data, format, packed(app.selected)));
    say(`Saved as rows.${format}.`);
  } catch (problem) {
    app.complain(problem);
  }
}
