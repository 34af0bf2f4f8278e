// What can be taken away: files, and code that makes the same picture.

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
    // A browser may keep the clipboard from us; the text is there to be selected.
    getSelection().selectAllChildren(find("code"));
    find("copied").textContent = "Press Ctrl+C to copy.";
  }
}

// The map that is active, as it is seen.
export async function saveFigure(app, kind) {
  download(`map.${kind}`, kind === "png" ? await png(app.active) : svg(app.active));
  say(`Saved as map.${kind}.`);
}
