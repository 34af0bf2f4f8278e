// A search for good settings, in stages, with progress and a cancel button.

import { find, say, score } from "./dom.js";
import * as server from "./server.js";

export async function search(app) {
  const [button, told] = ["search", "search-said"].map(find);
  const pane = app.active;
  const { data } = app;
  let [best, compared] = [null, 0];
  button.disabled = true;
  const began = performance.now();
  try {
    for (let stage = 0, of = 1; stage < of; stage++) {
      told.textContent = `Comparing settings, stage ${stage + 1}${of > 1 ? ` of ${of}` : ""} …`;
      const found = await server.find({ data, view: pane.view, stage }, began);
      of = found.of;
      compared += found.compared;
      if (!best || found.score > best.score) best = found;
    }
    pane.change(app.controls.tidy({ ...pane.view, ...best.change }));
    app.controls.show();
    told.textContent = `The best of ${compared} settings, cross-validated ${score(best.score)} ± `
      + `${score(best.error)} on training rows. Held-out rows were not used.`;
    say(told.textContent);
  } catch (problem) {
    told.textContent = server.dropped(problem) ? "Cancelled." : problem.message;
  } finally {
    button.disabled = false;
  }
}

// The number of settings compared for these labels: the best of many scores is too high.
const MANY = 20;
export function warned(app, pane) {
  const key = `${app.data} ${pane.picture.view.label}`;
  const looked = app.looked.get(key) || new Set();
  app.looked.set(key, looked.add(JSON.stringify(pane.picture.view)));
  if (looked.size < MANY) return "";
  return `You have compared ${looked.size} settings on the same held-out rows, so the best score is too `
    + `high. Check it on ${app.overview.untouched ? "the untouched rows" : "new rows"}.`;
}
