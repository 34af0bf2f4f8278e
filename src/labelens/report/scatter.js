// The picture: traces and layout for what `state` asks, in the page's colours.

const CAMERA = { eye: { x: 1.4, y: 1.4, z: 0.85 }, center: { x: 0, y: 0, z: -0.15 } };
const SHAPES = ["circle", "square", "diamond", "cross"];
const COLOURS = Number(getComputedStyle(document.documentElement).getPropertyValue("--n-colours"));
const plot = document.getElementById("plot");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const coarse = window.matchMedia("(pointer: coarse)").matches;
const flat = components.length === 1;

const state = {
  part: "both", view: "2d", axes: flat ? [0, "strip"] : [0, 1, 2],
  hidden: new Set(), picked: -1, found: -1,
  camera: CAMERA,
};

// One component: rows of a class lie on a strip of their own; numbers have an axis already.
const strip = () => (by.numbers ? Float32Array.from(by.numbers) : Float32Array.from(
  by.group, (g, i) => -g + 0.7 * (((i * 2654435761) >>> 0) / 4294967296 - 0.5)));
function values(axis) {
  if (axis !== "strip") return components[axis];
  by.strip = by.strip || strip();
  return by.strip;
}

// plotly reads a little HTML in its texts: class names must not be taken for it.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const scale = read("scale").split(/[\s,]+/);
  return {
    ink: read("ink"), soft: read("soft"), line: read("line"), card: read("card"),
    colour: (g) => read(by.groups[g].other ? "other" : `c${g % COLOURS}`),
    scale: scale.map((colour, i) => [i / (scale.length - 1), colour]),
  };
}

const hollow = n <= 5000 && !by.numbers;
const size = n <= 500 ? 9 : n <= 3000 ? 7 : n <= 30000 ? 5 : 3;
let traceRows = [];

function marker(g, part, look) {
  const three = state.view === "3d";
  const base = {
    size: three ? Math.max(2, size - 3) : size,
    symbol: by.numbers || by.groups[g].other ? "circle" : SHAPES[Math.floor(g / COLOURS) % 4],
    opacity: part ? 0.9 : hollow ? 0.75 : n <= 5000 ? 0.45 : 0.3,
    line: { width: 0 },
  };
  if (by.numbers && !by.groups[g].other) {
    return { ...base, cmin: by.low, cmax: by.high, colorscale: look.scale, showscale: false };
  }
  base.color = look.colour(g);
  if (hollow && !part) {
    if (three) return { ...base, symbol: `${base.symbol}-open` };
    return { ...base, color: "rgba(0,0,0,0)", line: { width: 1.3, color: base.color } };
  }
  if (hollow && !three) base.line = { width: 0.5, color: look.card };
  return base;
}

function place(trace, rows, key) {
  const [x, y, z] = state.axes;
  trace.x = gather(x, values(x), rows, key);
  trace.y = gather(y, values(y), rows, key);
  if (state.view === "3d") trace.z = gather(z, values(z), rows, key);
  return trace;
}

function traces(look) {
  const type = state.view === "3d" ? "scatter3d" : spec.webgl ? "scattergl" : "scatter";
  const common = { type, mode: "markers", hoverinfo: "none", showlegend: false };
  const made = [];
  traceRows = [];
  for (const part of [0, 1]) {
    for (const g of by.order) {
      const rows = by.buckets[part][g];
      if (!rows.length) continue;
      const trace = place({ ...common, marker: marker(g, part, look) }, rows, `${part}.${g}`);
      if (by.numbers && !by.groups[g].other) {
        trace.marker.color = gather("label", by.numbers, rows, `${part}.${g}`);
      }
      trace.visible = partShown(part) && !state.hidden.has(g);
      made.push(trace);
      traceRows.push(rows);
    }
  }
  const marked = { ...common, hoverinfo: "skip" };
  if (state.found >= 0) {
    const rows = rowsOfClass(state.found);
    const ring = { symbol: "circle-open", size: size + 4, color: look.ink, line: { width: 2 } };
    made.push({ ...place({ ...marked, marker: ring }, rows, `found ${state.found}`) });
  }
  if (state.picked >= 0) {
    const rows = [state.picked];
    const ring = { symbol: "circle-open", size: size + 11, color: look.ink, line: { width: 3 } };
    made.push(place({ ...marked, marker: ring }, rows, `picked ${state.picked}`));
  }
  return made;
}

const partShown = (part) => state.part === "both" || (state.part === "heldout") === (part === 1);

function rowsOfClass(code) {
  const rows = [];
  for (let i = 0; i < n; i++) if (by.classes[i] === code && partShown(heldout[i])) rows.push(i);
  return rows;
}

function layout(look) {
  const axis = (which) => ({
    title: {
      text: which === "strip" ? (by.numbers ? "label" : "") : `component ${which + 1}`, standoff: 8,
    },
    gridcolor: look.line, zerolinecolor: look.line, linecolor: look.line, color: look.soft,
    automargin: true,
  });
  const [x, y, z] = state.axes;
  const common = {
    paper_bgcolor: look.card, plot_bgcolor: look.card, showlegend: false, hovermode: "closest",
    font: { color: look.ink, family: "system-ui, sans-serif", size: 13 }, autosize: true,
    uirevision: `${state.view} ${state.axes}`,
  };
  if (state.view === "3d") {
    const side = (which) => ({ ...axis(which), backgroundcolor: look.card, showspikes: false });
    const scene = {
      xaxis: side(x), yaxis: side(y), zaxis: side(z), aspectmode: "data", camera: state.camera,
    };
    return { ...common, margin: { l: 0, r: 0, t: 0, b: 0 }, scene };
  }
  const up = axis(y);
  // The same unit across and up: distances are those of the embedding.
  if (y !== "strip") Object.assign(up, { scaleanchor: "x", scaleratio: 1 });
  if (y === "strip" && !by.numbers) {
    up.tickvals = by.groups.map((_, g) => -g);
    up.ticktext = by.groups.map(({ name }) => plain(cut(name, 14)));
    up.zeroline = false;
  }
  return {
    ...common, margin: { l: 50, r: 12, t: 12, b: 45 }, dragmode: coarse ? false : "zoom",
    xaxis: axis(x), yaxis: up, annotations: classNames(look),
  };
}

// Names of classes at the medians of their points, the largest first; one that would lie on another
// is left out, and comes with a closer look.
function classNames(look) {
  const [x, y] = state.axes;
  if (by.numbers || y === "strip" || state.view === "3d") return [];
  const { _size: inner } = plot._fullLayout || {};
  const [w, h] = inner ? [inner.w, inner.h] : [plot.clientWidth - 62, plot.clientHeight - 57];
  const range = (axis, which) => (plot.layout && plot.layout[axis] && plot.layout[axis].range)
    || extent(values(which));
  const [[x0, x1], [y0, y1]] = [range("xaxis", x), range("yaxis", y)];
  const unit = Math.max((x1 - x0) / w, (y1 - y0) / h);
  const placed = [];
  const median = (rows, axis) => {
    const sorted = Float32Array.from(rows, (i) => values(axis)[i]).sort();
    return sorted[sorted.length >> 1];
  };
  const shownRows = (g) => [0, 1].filter(partShown).flatMap((part) => [...by.buckets[part][g]]);
  const groups = by.groups.map((group, g) => ({ ...group, g, rows: shownRows(g) }))
    .filter(({ g, other, rows }) => !other && rows.length && !state.hidden.has(g))
    .sort((a, b) => b.rows.length - a.rows.length);
  for (const { name, rows } of groups) {
    const text = cut(name, 20);
    const at = [median(rows, x), median(rows, y)];
    const half = 4 * text.length + 5;
    const meets = (one) => Math.abs(one.at[1] - at[1]) < 17 * unit
      && Math.abs(one.at[0] - at[0]) < (half + one.half) * unit;
    const outside = at[0] < x0 || at[0] > x1 || at[1] < y0 || at[1] > y1;
    if (!outside && !placed.some(meets)) placed.push({ at, text, half });
  }
  return placed.map(({ at, text }) => ({
    x: at[0], y: at[1], text: `<b>${plain(text)}</b>`, showarrow: false, bgcolor: look.card,
    opacity: 0.85, borderpad: 1, font: { color: look.ink, size: 13 }, captureevents: false,
  }));
}

function extent(array) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of array) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
}

const CONFIG = {
  displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: false,
  showTips: false, showLink: false, typesetMath: false, doubleClick: "reset",
};

// The drawing that is under way; a second wish waits for it.
let drawing = Promise.resolve();
function draw(fresh = false) {
  drawing = drawing.then(async () => {
    const look = theme();
    if (fresh) Plotly.purge(plot);
    await Plotly.react(plot, traces(look), layout(look), CONFIG);
    if (fresh) listen();
    tell();
  }).catch((error) => { say(`The picture could not be drawn: ${error.message}`); });
  return drawing;
}
