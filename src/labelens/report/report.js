// The report's map: its data, and what a reader can do with it. All works from the keyboard.

const on = (id, kind, act) => { if (find(id)) find(id).addEventListener(kind, act); };
const TYPES = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[packed.type](bytes.buffer);
}

const DRAWN = [0.01, 0.99]; // of the rows are within 1.3 times the frame of many
const NEIGHBOURS = 10;

class Report {
  constructor(spec) {
    Object.assign(this, {
      spec, components: spec.components.map(unpack), rowNumbers: unpack(spec.rows),
      trained: spec.trained, part: "all", drag: "pan", colours: null, selected: null, hovered: -1,
      picked: -1, contours: false, known: [], axes: spec.components.length > 1 ? [0, 1] : [0],
      names: spec.columns.map(({ name }) => name),
    });
    this.n = this.rowNumbers.length;
    this.textual = [...spec.columns.keys()].filter((j) => spec.columns[j].kind === "classes");
    this.map = new PointMap(this);
    this.map.describe = () => this.map.canvas.setAttribute("aria-label", "Scatter plot of the "
      + `embedding, coloured by ${this.colours.name}. Arrow keys move, plus and minus zoom.`);
    find("plot").append(this.map.plot);
    this.listen();
    this.colourBy(0);
    this.tellGroup();
  }

  column(j) {
    const { values, ...column } = this.spec.columns[j];
    const array = this.known[j] ? null : unpack(values);
    this.known[j] = this.known[j] || new Colours(j, { ...column, arrays: [array, array] });
    return this.known[j];
  }

  async columnOf(j) { return this.column(j); }

  colourBy(j) {
    this.colours = this.column(j);
    this.colours.forget();
    this.colours.legend(() => this.repaint(), (wanted) => this.selectClass(wanted));
    this.draw();
    this.tellGroup();
  }

  draw() {
    const flat = new Float32Array(this.axes.length * this.n);
    const frame = this.axes.map((axis, j) => {
      const values = this.components[axis];
      for (let i = 0; i < this.n; i++) flat[this.axes.length * i + j] = values[i];
      return this.frameOf(values);
    });
    this.map.picture = { arrays: [flat], axes: this.axes, frame, shuffled: false };
    const { discs } = this.spec;
    if (discs.length && `${this.axes}` === "0,1") {
      const there = discs.filter((disc) => disc);
      const ends = (j) => [Math.min(...there.map((disc) => disc[j] - disc[2])),
        Math.max(...there.map((disc) => disc[j] + disc[2]))];
      Object.assign(this.map.picture, { frame: [ends(0), ends(1)],
        anchors: discs.map((disc) => disc && disc.slice(0, 2)), radii: discs.map((disc) => disc && disc[2]) });
    }
    this.map.place();
    this.tell();
  }

  // A few far rows must not push all others together.
  frameOf(values) {
    const sorted = values.slice().sort();
    const [low, high] = [sorted[0], sorted[this.n - 1]];
    const [a, b] = DRAWN.map((share) => sorted[Math.round(share * (this.n - 1))]);
    const [down, up] = [a - 0.3 * (b - a), b + 0.3 * (b - a)];
    const ends = this.n <= 2000 || !(b > a) ? [low, high] : [Math.max(low, down), Math.min(high, up)];
    return ends[1] > ends[0] ? ends : [low - 1, high + 1];
  }

  repaint() {
    this.colours.forget();
    this.map.paint();
    this.tell();
  }

  tell() {
    const { look } = this.map;
    let shown = 0;
    for (let i = 0; look && i < this.n; i++) shown += look[4 * i + 3] > 0;
    const by = this.spec.columns.length > 1 ? `, coloured by ${this.colours.name}` : "";
    say(`${count(shown)} of ${count(this.n)} points shown${by}.`);
  }

  // Rows and groups -----------------------------------------------------------------------------

  describe(i) {
    const part = i < this.trained ? "train" : "held-out";
    return [["Row", String(this.rowNumbers[i])], ["Part", part],
      ...this.spec.columns.map(({ name }, j) => [name, this.column(j).text(i, false, 6)])];
  }

  hover(map, i, event) {
    if (i !== this.hovered) { this.hovered = i; decorate(this.map); }
    const tip = find("tip");
    tip.hidden = i < 0;
    if (tip.hidden) return;
    fillFacts(tip, this.describe(i));
    besidePointer(tip, event);
  }

  pick(i) {
    this.picked = i;
    decorate(this.map);
    fillFacts(find("picked"), this.describe(i));
    find("neighbours").disabled = false;
  }

  // The rows that are nearest to the picked one in all components that the page has.
  neighbours() {
    const far = new Float64Array(this.n);
    for (const values of this.components) {
      for (let i = 0; i < this.n; i++) far[i] += (values[i] - values[this.picked]) ** 2;
    }
    const nearest = [...far.keys()].sort((a, b) => far[a] - far[b]).slice(0, NEIGHBOURS + 1);
    const marks = new Uint8Array(this.n);
    for (const i of nearest) marks[i] = 1;
    this.select(marks);
  }

  selectClass(wanted) {
    const marks = Uint8Array.from({ length: this.n }, (_, i) => (wanted(i, this.colours.own) ? 1 : 0));
    this.select(marks);
  }

  select(marks) {
    this.selected = marks && marks.includes(1) ? marks : null;
    if (!this.selected) this.colours.found = -1;
    this.repaint();
    this.tellGroup();
  }

  tellGroup() {
    const { selected } = this;
    showGroup(selected && groupOf(this, selected), () => this.select(null));
    find("save-rows").hidden = !selected;
  }

  saveRows() {
    const rows = [...this.selected.keys()].filter((i) => this.selected[i]).map((i) => this.describe(i));
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
    const lines = [rows[0].map(([name]) => name), ...rows.map((row) => row.map(([, text]) => text))];
    const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n");
    download("rows.csv", new Blob([`${text}\r\n`], { type: "text/csv" }));
  }

  remember() {}

  follow() {} // there is one map

  complain(problem) { say(problem.message); }

  // Controls ------------------------------------------------------------------------------------

  listen() {
    const { map } = this;
    on("by", "change", () => this.colourBy(Number(find("by").value)));
    for (const [name, act] of [["part", () => this.repaint()], ["drag", () => {
      find("plot").classList.toggle("lasso", this.drag === "lasso");
    }]]) {
      for (const input of document.querySelectorAll(`input[name=${name}]`)) {
        input.addEventListener("change", () => { this[name] = input.value; act(); });
      }
    }
    ["across", "up", "deep"].forEach((id, axis) => on(id, "change", (event) => {
      const { value } = event.target;
      if (value === "") this.axes.length = 2;
      else this.axes[axis] = Number(value);
      this.draw();
    }));
    on("zoom-in", "click", () => map.zoomBy(1.4));
    on("zoom-out", "click", () => map.zoomBy(1 / 1.4));
    on("reset", "click", () => map.home());
    on("save", "click", async () => download("embedding.png", await png(map)));
    on("save-svg", "click", () => download("embedding.svg", svg(map)));
    on("save-rows", "click", () => this.saveRows());
    on("neighbours", "click", () => this.neighbours());
    useLooks(this, () => [map]);
    useSearch(this, find("find-rows"), (marks, many, said) => {
      this.select(marks);
      if (many === 1) this.pick(marks.indexOf(1));
      find("found").textContent = said;
    });
    window.addEventListener("scroll", () => { find("tip").hidden = true; }, { passive: true });
    window.matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => { this.colourBy(this.colours.number); });
    map.canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") this.select(null);
      else if ("+=".includes(event.key)) map.zoomBy(1.4);
      else if (event.key === "-") map.zoomBy(1 / 1.4);
      else if (event.key === "0") map.home();
      const drag = { l: "lasso", p: "pan" }[event.key];
      if (drag) document.querySelector(`input[value=${drag}]`).click();
    });
  }
}

// What is known of a group without a server, in the words of the explorer's answer.
function groupOf(app, marks) {
  const rows = [...marks.keys()].filter((i) => marks[i]);
  const { colours, n } = app;
  const about = { size: rows.length, heldout: rows.filter((i) => i >= app.trained).length,
    label: colours.name, features: [] };
  if (colours.classes) {
    const tally = (list) => {
      const sizes = new Uint32Array(colours.column.names.length);
      for (const i of list) sizes[colours.own[i]]++;
      return sizes;
    };
    const [here, all] = [tally(rows), tally(colours.own.keys())];
    const order = [...here.keys()].filter((c) => here[c]).sort((a, b) => here[b] - here[a]);
    about.classes = order.slice(0, 12).map((c) => ({
      name: colours.column.names[c], share: here[c] / rows.length, overall: all[c] / n }));
    about.more = Math.max(0, order.length - 12);
  } else {
    const ends = (list) => {
      const sorted = Float64Array.from(list).filter(Number.isFinite).sort();
      return [0, 0.25, 0.5, 0.75, 1].map((q) => sorted[Math.round(q * (sorted.length - 1))] ?? NaN);
    };
    about.quartiles = { group: ends(rows.map((i) => colours.own[i])), overall: ends(colours.own) };
  }
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  app.spec.columns.forEach(({ name, kind }, j) => {
    if (kind === "classes" || rows.length === n) return;
    const { own } = app.column(j);
    const known = (wanted) => [...own].filter((v, i) => marks[i] === wanted && Number.isFinite(v));
    const [group, others] = [mean(known(1)), mean(known(0))];
    const middle = mean([...own].filter(Number.isFinite));
    const std = Math.sqrt(mean([...own].filter(Number.isFinite).map((v) => (v - middle) ** 2)));
    if (std > 0) about.features.push({ name, effect: (group - others) / std, group, others });
  });
  about.features = about.features.filter(({ effect }) => effect);
  about.features.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  return about;
}

window.report = new Report(JSON.parse(find("spec").textContent));
document.documentElement.dataset.ready = "yes";
