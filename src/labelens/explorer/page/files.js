// Files that the user opens: tables, and saved sessions.

import * as address from "./address.js";
import { find, say } from "./dom.js";
import { download } from "./picture.js";
import { correct, corrections } from "./labels.js";
import * as server from "./server.js";

// A session ----------------------------------------------------------------------------------------

const KIND = "labelens explorer session";
const LARGEST = 4e6; // bytes of a session

export function saveSession(app) {
  const state = app.state();
  const told = {
    kind: KIND, version: 1, data: app.overview.name, rows: app.n,
    address: address.write({ ...state, group: null }, app.overview.view),
    group: state.group && address.packed(state.group, Infinity), labels: corrections(app),
  };
  download("session.json", new Blob([JSON.stringify(told, null, 1)], { type: "application/json" }));
  say("Saved as session.json.");
}

export async function openSession(app, input) {
  try {
    const [file] = input.files;
    if (file.size > LARGEST) throw new Error(`${file.name} is too large for a session (at most 4 MB).`);
    let told;
    try { told = JSON.parse(await file.text()); } catch { told = null; }
    if (!told || told.kind !== KIND || told.version !== 1 || typeof told.address !== "string") {
      throw new Error(`${file.name} is not a session of labelens explore.`);
    }
    const data = told.data === app.overview.name ? app.data : app.titles.indexOf(told.data);
    if (data < 0) throw new Error(`This session needs the data “${told.data}”. Open them first.`);
    const found = new URLSearchParams(told.address);
    found.set("data", data);
    await app.go(found.toString());
    if (typeof told.group === "string" && told.rows === app.n) {
      app.select(address.unpacked(told.group, app.n));
    }
    if (Array.isArray(told.labels)) correct(app, told.labels);
    app.remember();
    say("The session is open.");
  } catch (problem) {
    app.complain(problem);
  } finally {
    input.value = "";
  }
}

// A table ------------------------------------------------------------------------------------------

// The file goes to the server of this page, on this machine. Then the user chooses the labels.
export async function openData(app, input) {
  const [file] = input.files;
  input.value = "";
  if (!file) return;
  const dialog = find("open-dialog");
  const told = find("open-said");
  const form = dialog.querySelector("form");
  find("open-name").textContent = file.name;
  find("open-labels").replaceChildren();
  told.textContent = "Reading …";
  dialog.showModal();
  dialog.addEventListener("close", () => server.drop("open"), { once: true });
  try {
    const { upload, columns, likely } = await server.open(file);
    told.textContent = `${columns.length.toLocaleString("en")} columns. Which is the label?`;
    find("open-labels").replaceChildren(...columns.map((name) => new Option(name, name)));
    for (const option of find("open-labels").options) option.selected = option.value === likely;
    form.onsubmit = async (event) => {
      event.preventDefault();
      const labels = [...find("open-labels").selectedOptions].map(({ value }) => value);
      told.textContent = "Opening …";
      try {
        const { titles } = await server.add(upload, labels);
        app.titles = titles;
        find("data").replaceChildren(...titles.map((title, i) => new Option(title, i)));
        find("data-label").hidden = false;
        dialog.close();
        await app.open(titles.length - 1);
      } catch (problem) {
        if (!server.dropped(problem)) told.textContent = problem.message;
      }
    };
  } catch (problem) {
    if (!server.dropped(problem)) told.textContent = problem.message;
  }
}
