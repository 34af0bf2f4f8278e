// Requests of more than a second: elapsed time and a cancel button for each.

import { find, make, say } from "./dom.js";
import * as server from "./server.js";

const SLOW = 1000; // ms
const OFTEN = 250;
// Texts by kind of request. Fits have theirs in the pane, opened files in the dialog.
const DOING = {
  overview: "Opening the data", column: "Reading a column", row: "Reading the row",
  near: "Looking for neighbours", group: "Describing the group", rows: "Saving the rows",
  save: "Saving", labels: "Saving the labels", panel: "Computing", code: "Writing the code", find: "Comparing settings",
};

const lines = new Map(); // kind -> its line on the page
let timer = 0;

export function showJobs(app) {
  server.watch(() => { timer = timer || setInterval(() => show(app), OFTEN); });
}

function show(app) {
  const now = performance.now();
  const underWay = server.underWay();
  const slow = underWay.filter(([kind, began]) => DOING[word(kind)] && now - began > SLOW);
  const kinds = new Set(slow.map(([kind]) => kind));
  for (const [kind, { line }] of lines) {
    if (!kinds.has(kind)) { line.remove(); lines.delete(kind); }
  }
  for (const [kind, began] of slow) {
    if (!lines.has(kind)) lines.set(kind, added(kind, Boolean(app.overview)));
    const doing = DOING[word(kind)];
    lines.get(kind).said.textContent = `${doing}, ${Math.round((now - began) / 1000)} s `;
  }
  if (!underWay.length) {
    clearInterval(timer);
    timer = 0;
  }
}

const word = (kind) => kind.split(" ")[0];

// Without data the page has nothing to show.
function added(kind, goesBack) {
  const said = make("span", {});
  const cancel = make("button", { type: "button", class: "cancel", hidden: !goesBack,
    "aria-label": `Cancel: ${DOING[word(kind)]}` }, "Cancel");
  cancel.addEventListener("click", () => {
    server.cancel(kind);
    say("Cancelled.");
  });
  const line = make("p", { class: "job" }, make("progress", { "aria-hidden": "true" }), said, cancel);
  find("jobs").append(line);
  say(DOING[word(kind)]);
  return { line, said };
}
