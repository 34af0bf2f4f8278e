// Suspect labels: found, ringed, kept or corrected one by one, and saved to a new file. The map
// keeps the labels of the opened file.

import { count, find, make, say, short } from "./dom.js";
import { download } from "./picture.js";
import * as server from "./server.js";

// The review of a column of labels, by default of the label of the active view.
function reviewOf(app, label = app.active.view.label) {
  const key = `${app.data} ${label}`;
  if (!app.reviews.has(key)) {
    app.reviews.set(key, { label, suspects: [], changes: new Map(), seen: new Set(), saved: true });
  }
  return app.reviews.get(key);
}

export function useLabels(app) {
  const on = (id, kind, act) => find(id).addEventListener(kind, act);
  on("suspects", "click", () => search(app));
  on("suspect-back", "click", () => step(app, -1));
  on("suspect-next", "click", () => step(app, 1));
  on("keep", "click", () => decide(app, null));
  on("take", "click", () => decide(app, suspectOf(app).predicted));
  on("other-class", "change", () => decide(app, Number(find("other-class").value)));
  on("other-number", "change", () => {
    const value = find("other-number").valueAsNumber;
    if (Number.isFinite(value)) decide(app, value);
  });
  on("save-labels", "click", () => save(app));
  window.addEventListener("beforeunload", (event) => {
    if ([...app.reviews.values()].some(({ saved }) => !saved)) event.preventDefault();
  });
}

async function search(app) {
  const review = reviewOf(app);
  if (!app.active.picture) return;
  const { view, axes } = app.active.picture;
  find("suspects-said").textContent = "Looking …";
  try {
    const found = await server.panel({ data: app.data, view, axes, what: "suspects" });
    review.suspects = found.suspects;
    review.sentence = found.sentence;
    if (review === reviewOf(app) && found.suspects.length) app.pick(found.suspects[0].row);
    else tellLabel(app);
    say(found.sentence);
  } catch (problem) {
    find("suspects-said").textContent = server.dropped(problem) ? "Cancelled." : problem.message;
    app.lost(problem);
  }
}

const suspectOf = (app) => reviewOf(app).suspects.find(({ row }) => row === app.picked);

// Go to another suspect, or to the first from a row that is not suspect.
export function step(app, by) {
  const { suspects } = reviewOf(app);
  if (!suspects.length) return;
  const at = suspects.findIndex(({ row }) => row === app.picked);
  const next = at < 0 ? 0 : (at + by + suspects.length) % suspects.length;
  app.pick(suspects[next].row);
}

// Set another label of the picked row, or null to keep its label.
function decide(app, value) {
  const review = reviewOf(app);
  const row = app.picked;
  const given = app.columnOf(review.label).here.own[row];
  if (value === null || value === given) review.changes.delete(row);
  else review.changes.set(row, value);
  review.seen.add(row);
  review.saved = !review.changes.size;
  const left = review.suspects.find((one) => !review.seen.has(one.row));
  if (suspectOf(app) && left) step(app, 1);
  else tellLabel(app);
}

// Corrections of the open data, for a session: by column [row number, value].
export function corrections(app) {
  return app.overview.labels.map((_, label) => [...reviewOf(app, label).changes].map(
    ([row, value]) => [app.rowNumbers[row], value]));
}

// Corrections of a session file; entries that are not valid are left out.
export function correct(app, told) {
  const rows = new Map([...app.rowNumbers].map((number, row) => [number, row]));
  app.overview.labels.forEach(({ classes }, label) => {
    const good = (value) => Number.isFinite(value)
      && (classes === null || (Number.isInteger(value) && value >= 0 && value < classes));
    for (const change of Array.isArray(told[label]) ? told[label] : []) {
      if (!Array.isArray(change) || !rows.has(change[0]) || !good(change[1])) continue;
      reviewOf(app, label).changes.set(rows.get(change[0]), change[1]);
    }
  });
  tellLabel(app);
}

// The box of labels, for the picked row.
export function tellLabel(app) {
  if (!app.active || !app.overview) return;
  const review = reviewOf(app);
  const { suspects, changes, seen, label, sentence = "" } = review;
  const column = app.columnOf(label);
  if (!column.here) {
    column.then(() => tellLabel(app)).catch((problem) => app.lost(problem));
    return;
  }
  const { own, classes, column: { names } } = column.here;
  app.ringed = suspects.map(({ row }) => row);
  app.ring();
  const done = suspects.filter(({ row }) => seen.has(row)).length;
  find("suspects-said").textContent = sentence
    && `${sentence} ${count(done)} of ${count(suspects.length)} decided.`;
  find("stepping").hidden = !suspects.length;
  const picked = app.picked >= 0;
  find("editing").hidden = !picked;
  find("saving-labels").hidden = !changes.size;
  find("corrections").textContent = `${count(changes.size)} corrected${review.saved ? ", saved" : ""} `;
  if (!picked) return;
  const text = (value) => (classes ? names[value] : short(value));
  const given = own[app.picked];
  const now = changes.has(app.picked) ? changes.get(app.picked) : given;
  const suspect = suspectOf(app);
  find("given").replaceChildren(
    `Row ${count(app.rowNumbers[app.picked])}: `, make("bdi", {}, text(given)),
    ...(now === given ? [] : [" → ", make("b", {}, make("bdi", {}, text(now)))]),
    ...(suspect ? [` (quality ${suspect.quality.toFixed(2)})`] : []),
    seen.has(app.picked) && now === given ? " ✓" : "");
  find("keep").replaceChildren("Keep ", make("bdi", {}, text(given)));
  find("take").hidden = !suspect;
  if (suspect) find("take").replaceChildren("Change to ", make("bdi", {}, suspect.text));
  find("other-class").hidden = !classes;
  find("other-number").hidden = classes;
  if (classes) {
    if (find("other-class").dataset.of !== `${app.data} ${label}`) {
      find("other-class").dataset.of = `${app.data} ${label}`;
      find("other-class").replaceChildren(...names.map((name, c) => new Option(name, c)));
    }
    find("other-class").value = now;
  } else find("other-number").value = now;
}

async function save(app) {
  const review = reviewOf(app);
  const format = find("format").value;
  const changes = [...review.changes];
  try {
    const blob = await server.labels({ data: app.data, label: review.label, changes, format });
    download(`corrected.${format}`, blob);
    review.saved = true;
    tellLabel(app);
    say(`Saved as corrected.${format}.`);
  } catch (problem) {
    app.complain(problem);
  }
}
