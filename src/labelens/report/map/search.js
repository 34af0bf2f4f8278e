// Rows that somebody means: `column > value`, the number of a row, or text in any column of text.
//
// `app` has names (of all columns), textual (numbers of those with text), rowNumbers, and columnOf().

import { classNamed } from "./legend.js";

const ASKED = /^(.+?)\s*(<=|>=|!=|=|<|>|:)\s*(.+)$/;
const COMPARED = {
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
  "=": (a, b) => a === b, "!=": (a, b) => a !== b, ":": (a, b) => String(a).includes(b),
};

// What holds for a value -> marks of the rows of a column for which it does.
function marked(column, holds) {
  if (!column.classes) return Uint8Array.from(column.own, (value) => (holds(value) ? 1 : 0));
  const fitting = column.column.names.map((name) => holds(name.toLowerCase()));
  return Uint8Array.from(column.own, (code) => (fitting[code] ? 1 : 0));
}

// Marks of the rows, or null where the question names a column that is not there.
export async function matching(app, typed) {
  const wanted = typed.trim().toLowerCase();
  const [, name, sign, value] = ASKED.exec(wanted) || [];
  const j = name ? classNamed(app.names, name) : -1;
  if (j >= 0) {
    const column = await app.columnOf(j);
    const right = column.classes || sign === ":" ? value : Number(value);
    return marked(column, (left) => COMPARED[sign](left, right));
  }
  const marks = new Uint8Array(app.n);
  const row = /^\d+$/.test(wanted) ? app.rowNumbers.indexOf(Number(wanted)) : -1;
  if (row >= 0) { marks[row] = 1; return marks; }
  if (wanted === "") return marks;
  for (const each of app.textual) {
    const column = await app.columnOf(each);
    if (!column.classes) continue;
    const found = marked(column, (text) => text.includes(wanted));
    found.forEach((mark, i) => { marks[i] |= mark; });
  }
  return marks;
}

// The form with the box of questions; `found` is told the marks and one sentence.
export function useSearch(app, form, found) {
  const box = form.querySelector("input");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const marks = await matching(app, box.value);
      let [many, hidden] = [0, 0]; // some rows may be set aside
      marks.forEach((mark, i) => {
        if (app.away && app.away[i]) { hidden += mark; marks[i] = 0; } else many += mark;
      });
      const said = (many ? `${many.toLocaleString("en")} ${many > 1 ? "rows" : "row"}.`
        : "No row of the plot matches.") + (hidden ? ` Untouched rows that match: ${hidden}.` : "");
      found(marks, many, box.value.trim() === "" ? "" : said);
    } catch (problem) { app.complain(problem); }
  });
}
