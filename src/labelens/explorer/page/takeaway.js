// Saved files, and Python code for the same plot.

import { find, say } from "./dom.js";
import { download, png, svg } from "./picture.js";
import * as server from "./server.js";

export async function save(app, what) {
  const format = find("format").value;
  const names = { model: "model.labelens", report: "report.html", embedding: `embedding.${format}` };
  const name = names[what];
  try {
    const blob = await server.save({ data: app.data, view: app.active.view, what, format });
    download(name, blob);
    say(`Saved as ${name}.`);
  } catch (problem) {
    app.complain(problem);
  }
}

export async function showCode(app) {
  try {
    const { code } = await server.code({ data: app.data, view: app.active.view });
    find("code").textContent = code;
    find("copied").textContent = "";
    find("code-dialog").showModal();
    await copy();
  } catch (problem) {
    app.complain(problem);
  }
}

export async function copy() {
  try {
    await navigator.clipboard.writeText(find("code").textContent);
    find("copied").textContent = "Copied.";
  } catch {
    // If the browser denies access to the clipboard, the user selects the text.
    getSelection().selectAllChildren(find("code"));
    find("copied").textContent = "Press Ctrl+C to copy.";
  }
}

// The active map, as it is shown.
export async function saveFigure(app, kind) {
  download(`map.${kind}`, kind === "png" ? await png(app.active) : svg(app.active));
  say(`Saved as map.${kind}.`);
}
