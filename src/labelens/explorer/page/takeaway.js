// What can be taken away: files, and code that makes the same picture.

import { find, make, say } from "./dom.js";
import * as server from "./server.js";

export async function save(app, what) {
  const format = find("format").value;
  const name = what === "model" ? "model.labelens" : `embedding.${format}`;
  try {
    const blob = await server.save({ data: app.data, view: app.active.view, what, format });
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
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
