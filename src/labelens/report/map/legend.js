// Colours of the points by one column, its legend, and what is known of a group of rows.

import { AWAY } from "./scatter.js";
import { count, cut, find, make, score, short, theme } from "./dom.js";

const OUTLINES = [
  "M8 1.5a6.5 6.5 0 1 0 .001 0Z", "M2 2h12v12H2Z", "M8 .5 15.5 8 8 15.5.5 8Z",
  "M5.5 1h5v4.5H15v5h-4.5V15h-5v-4.5H1v-5h4.5Z",
];
const SIZES = [[500, 10], [3000, 8], [12000, 6], [40000, 4.5], [100000, 3.6], [Infinity, 3]];

function swatch(shape, colour) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "swatch");
  svg.style.fill = `var(--${colour})`;
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", OUTLINES[shape]);
  svg.append(path);
  return svg;
}

// Towards white by a positive share, towards black by a negative one.
const shaded = (rgb, share) => rgb.map((v) => v + Math.abs(share) * ((share > 0 ? 255 : 0) - v));

// The number of the class that somebody means: its name, or the only one that is the same but for
// capitals, or that has this in it. -1 if there is none.
export function classNamed(names, typed) {
  if (typed === "") return -1;
  const exact = names.indexOf(typed);
  if (exact >= 0) return exact;
  const low = typed.trim().toLowerCase();
  const only = (fits) => {
    const found = [];
    for (let c = 0; c < names.length && found.length < 2; c++) {
      if (fits(names[c].toLowerCase())) found.push(c);
    }
    return found.length === 1 ? found[0] : -1;
  };
  const same = only((name) => name.trim() === low);
  return same >= 0 || low === "" ? same : only((name) => name.includes(low));
}

export class Colours {
  constructor(number, column) {
    Object.assign(this, { number, name: column.name, column });
    [this.own, this.mixed] = column.arrays;
    this.classes = column.kind === "classes";
    this.hidden = new Set();
    this.found = -1;
    if (!this.classes) return;
    if (column.families) this.useFamilies(column);
    else {
      const groups = column.shown.length;
      this.groups = column.shown.map((c) => column.names[c]);
      if (groups < column.names.length) this.groups.push(column.other);
      this.groupOf = new Uint8Array(column.names.length).fill(groups);
      column.shown.forEach((c, g) => { this.groupOf[c] = g; });
    }
    this.sizes = new Uint32Array(this.groups.length);
    for (const code of this.own) this.sizes[this.groupOf[code]]++;
  }

  // Classes that are close share a colour, lighter in one and darker in the other; a family has the
  // names of its largest classes.
  useFamilies({ families, names }) {
    this.groupOf = Uint8Array.from(families);
    const sizes = new Uint32Array(names.length);
    for (const code of this.own) sizes[code]++;
    const members = Array.from({ length: Math.max(...families) + 1 }, () => []);
    families.forEach((g, c) => members[g].push(c));
    this.groups = members.map((own) => {
      const [first, second, ...more] = own.sort((a, b) => sizes[b] - sizes[a]).map((c) => names[c]);
      return [first, second, ...(more.length ? [`${count(more.length)} more`] : [])]
        .filter((name) => name !== undefined).join(", ");
    });
    this.shade = Float32Array.from(names, (_, c) => ((c * 2654435761) >>> 0) / 4294967296 - 0.5);
  }

  values(shuffled) { return shuffled ? this.mixed : this.own; }

  isOther(g) { return !this.column.families && g >= this.column.shown.length; }

  // Between -1 and 1: where a row lies that has one component only.
  strip(i, shuffled) {
    const value = this.values(shuffled)[i];
    if (!this.classes) {
      const share = (value - this.column.low) / (this.column.high - this.column.low);
      return 2 * Math.max(-0.05, Math.min(1.05, share || 0)) - 1;
    }
    const noise = ((i * 2654435761) >>> 0) / 4294967296 - 0.5;
    return 1 - 2 * (this.groupOf[value] + 0.5 + 0.7 * noise) / this.groups.length;
  }

  strips() {
    if (!this.classes) {
      return [[short(this.column.low), -1], [short(this.column.high), 1]];
    }
    return this.groups.map((name, g) => [name, 1 - 2 * (g + 0.5) / this.groups.length]);
  }

  // [name, x, y] of every group that is shown, the largest first: the medians of its points.
  centres(look, places, shuffled) {
    if (!this.classes) return [];
    const values = this.values(shuffled);
    const sizes = new Uint32Array(this.column.names.length);
    const here = (i) => look[4 * i + 3] > 8 && Math.abs(places[2 * i]) < AWAY / 2;
    for (let i = 0; i < values.length; i++) if (here(i)) sizes[values[i]]++;
    const starts = new Uint32Array(sizes.length + 1);
    sizes.forEach((size, c) => { starts[c + 1] = starts[c] + size; });
    const next = starts.slice();
    const across = new Float32Array(starts[sizes.length]);
    const up = new Float32Array(across.length);
    for (let i = 0; i < values.length; i++) {
      if (!here(i)) continue;
      const at = next[values[i]]++;
      across[at] = places[2 * i];
      up[at] = places[2 * i + 1];
    }
    const middle = (array, c) => array.subarray(starts[c], starts[c + 1]).sort()[sizes[c] >> 1];
    return [...sizes.keys()].filter((c) => sizes[c]).sort((a, b) => sizes[b] - sizes[a])
      .map((c) => [this.column.names[c], middle(across, c), middle(up, c)]);
  }

  text(i, shuffled, digits = 4) {
    const value = this.values(shuffled)[i];
    if (this.classes) return this.column.names[value];
    if (Number.isNaN(value)) return "(missing)";
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(digits)));
  }

  // The same as long as only points move.
  looks(app, shuffled) {
    const key = `${app.part} ${shuffled}`;
    if (this.lastKey !== key) {
      this.lastKey = key;
      this.last = this.made(app, shuffled);
    }
    return this.last;
  }

  forget() { this.lastKey = ""; }

  // Colour and alpha (4 n bytes), shape (n bytes) and size for what is shown.
  made(app, shuffled) {
    const { n } = app;
    const palette = theme();
    const m = palette.colours.length;
    const values = this.values(shuffled);
    const look = new Uint8Array(4 * n);
    const shape = new Uint8Array(n);
    const [, size] = SIZES.find(([most]) => n <= most);
    const thick = n <= 3000 ? 1 : n <= 30000 ? 0.8 : 0.55;
    const { part, selected } = app;
    const { trained } = app;
    const [first, end] = {
      all: [0, n], train: [0, trained], shuffled: [0, trained], heldout: [trained, n],
    }[part];
    const span = this.column.high - this.column.low;
    for (let i = first; i < end; i++) {
      let rgb;
      let alpha = 0.92 * thick;
      if (part === "all" && i < trained) alpha = 0.5 * thick;
      if (this.classes) {
        const g = this.groupOf[values[i]];
        const other = this.isOther(g);
        if (this.hidden.has(g) && this.found !== values[i]) continue;
        rgb = other ? palette.other : palette.colours[g % m];
        if (this.shade) rgb = shaded(rgb, this.shade[values[i]]);
        shape[i] = other ? 0 : Math.floor(g / m) % 4;
        if (other) alpha *= 0.6;
        if (this.found >= 0) {
          if (values[i] === this.found) { alpha = 1; rgb = other ? palette.colours[1] : rgb; }
          else alpha *= 0.12;
        }
      } else {
        const share = (values[i] - this.column.low) / span;
        rgb = Number.isNaN(share) ? palette.other : palette.scale[Math.round(255 * Math.max(0, Math.min(1, share)))];
      }
      if ((selected && app.only && !selected[i]) || (app.away && app.away[i])) continue;
      if (selected) alpha = selected[i] ? Math.max(alpha, 0.95) : alpha * 0.12;
      look[4 * i] = rgb[0];
      look[4 * i + 1] = rgb[1];
      look[4 * i + 2] = rgb[2];
      look[4 * i + 3] = Math.max(4, Math.round(255 * alpha));
    }
    return { look, shape, size };
  }

  // The list next to the plot. `changed` repaints, `select` makes a class the group.
  legend(changed, select) {
    find("legend-title").textContent = this.name;
    if (!this.classes) {
      find("legend").replaceChildren(
        make("div", { class: "colourbar", role: "img",
          "aria-label": `Colours from ${short(this.column.low)} to ${short(this.column.high)}` }),
        make("div", { class: "ends" }, make("span", {}, `≤ ${short(this.column.low)}`),
          make("span", {}, `≥ ${short(this.column.high)}`)),
        make("p", { class: "hint" }, "Colours end at the 1st and 99th percentile."));
      return;
    }
    const m = theme().colours.length;
    const boxes = this.groups.map(() => make("input", { type: "checkbox", checked: true }));
    const toggle = (g, shown) => { if (shown) this.hidden.delete(g); else this.hidden.add(g); };
    const items = this.groups.map((name, g) => {
      const other = this.isOther(g);
      boxes[g].checked = !this.hidden.has(g);
      boxes[g].addEventListener("change", () => { toggle(g, boxes[g].checked); changed(); });
      const pickIt = make("button", { type: "button", class: "plain", title: "Select these rows",
        "aria-label": `Select ${name}` }, "◎");
      pickIt.addEventListener("click", () => select((i, values) => this.groupOf[values[i]] === g));
      return make("li", {},
        make("label", {}, boxes[g],
          swatch(other ? 0 : Math.floor(g / m) % 4, other ? "other" : `c${g % m}`),
          make("bdi", { title: name }, name),
          make("span", { class: "count" }, count(this.sizes[g]))),
        other ? null : pickIt);
    });
    const all = make("button", { type: "button" }, "All");
    const none = make("button", { type: "button" }, "None");
    for (const [button, shown] of [[all, true], [none, false]]) {
      button.addEventListener("click", () => {
        boxes.forEach((box, g) => { box.checked = shown; toggle(g, shown); });
        changed();
      });
    }
    const parts = [make("div", { class: "row" }, all, none)];
    if (this.groups.length < this.column.names.length || this.column.names.length > 20) {
      parts.push(this.finder(changed, select));
    }
    parts.push(make("ul", { class: "list", "aria-label": `Classes of ${this.name}` }, ...items));
    find("legend").replaceChildren(...parts);
  }

  finder(changed, select) {
    const options = make("datalist", { id: "class-names" });
    const box = make("input", { type: "text", id: "class", autocomplete: "off",
      placeholder: `Find one of ${count(this.column.names.length)}`,
      "aria-label": "Find a class by name" });
    box.setAttribute("list", "class-names");
    const told = make("p", { class: "hint", role: "status" });
    const form = make("form", { class: "row", id: "find-class" },
      box, make("button", {}, "Find"), options);
    box.addEventListener("input", () => {
      const typed = box.value.toLowerCase();
      const matches = [];
      for (const name of this.column.names) {
        if (matches.length === 50) break;
        if (name.toLowerCase().includes(typed)) matches.push(new Option(name, name));
      }
      options.replaceChildren(...matches);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.found = classNamed(this.column.names, box.value);
      const missing = box.value !== "" && this.found < 0;
      told.textContent = missing ? `There is no class “${cut(box.value, 40)}”.` : "";
      if (this.found >= 0) select((i, values) => values[i] === this.found);
      else changed();
    });
    return make("div", {}, form, told);
  }
}

// A group in words, shares and bars.
export function showGroup(group, clear) {
  const root = find("group");
  if (!group) {
    root.replaceChildren(make("p", { class: "hint" },
      "Drag a lasso around points (key l, or hold Shift), or select a class in the legend, to see "
      + "its labels and the columns that set it apart."));
    return;
  }
  if (group.error) {
    root.replaceChildren(make("p", { class: "notice" }, group.error));
    return;
  }
  const drop = make("button", { type: "button", class: "plain" }, "drop");
  drop.addEventListener("click", clear);
  const parts = [make("p", { class: "sum" },
    make("b", {}, count(group.size)), `${group.size === 1 ? " row" : " rows"}, ${count(group.heldout)} of them held out `, drop)];
  parts.push(make("h3", {}, "Labels: ", make("bdi", {}, group.label)));
  if (group.classes) {
    parts.push(table(["Class", "", "Group", "All"], group.classes.map((one) => [
      one.name, [one.share, ""], percent(one.share), percent(one.overall)])));
    if (group.more) {
      parts.push(make("p", { class: "hint" }, `and ${count(group.more)} more classes`));
    }
  } else {
    const { group: own, overall } = group.quartiles;
    const heads = ["least", "25 %", "median", "75 %", "most"];
    parts.push(table(["", "Group", "All"], heads.map(
      (name, j) => [name, brief(own[j]), brief(overall[j])])));
  }
  parts.push(make("h3", {}, "Columns that set it apart"));
  if (group.features.length) {
    const most = Math.max(...group.features.map((one) => Math.abs(one.effect)));
    parts.push(table(["Column", "", "Group", "Others"], group.features.map((one) => [
      one.name, [Math.abs(one.effect) / most, one.effect < 0 ? "minus" : "plus"],
      brief(one.group), brief(one.others)])));
    parts.push(make("p", { class: "hint" },
      "Bars are differences of means over the standard deviation of all rows; the longest is "
      + `${score(most)}.`));
  } else {
    parts.push(make("p", { class: "hint" }, "There are no other rows, or none that differ."));
  }
  root.replaceChildren(...parts);
}

const brief = (value) => String(Number(value.toPrecision(3)));
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u202f%`;

// Cells are text, or [share, class] for a bar.
function table(heads, rows) {
  const cell = (value, j) => {
    if (!Array.isArray(value)) {
      return j ? make("td", { class: "number" }, value)
        : make("th", { scope: "row" }, make("bdi", { title: value }, value));
    }
    const bar = make("div", { class: value[1] });
    bar.style.width = `${(100 * value[0]).toFixed(1)}%`;
    return make("td", { class: "track", "aria-hidden": "true" }, bar);
  };
  return make("table", { class: "group" },
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))));
}
