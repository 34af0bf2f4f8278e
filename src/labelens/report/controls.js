// What a reader can do: toggle, choose axes, zoom, hover, find. Everything works from the keyboard.

const find = (id) => document.getElementById(id);
const say = (text) => { find("said").textContent = text; };

function tell() {
  let shown = 0;
  for (const part of [0, 1]) {
    by.buckets[part].forEach((rows, g) => {
      if (partShown(part) && !state.hidden.has(g)) shown += rows.length;
    });
  }
  const coloured = spec.labels.length > 1 ? `, coloured by ${by.name}` : "";
  say(`${shown.toLocaleString("en")} of ${n.toLocaleString("en")} points shown${coloured}.`);
}

function fill(list, i) {
  list.replaceChildren(...describe(i).flatMap(([name, text]) => {
    const [term, value] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    value.textContent = text;
    return [term, value];
  }));
}

// The label beside the pointer.
const tip = find("tip");
const pointer = { x: 0, y: 0 };
for (const kind of ["pointermove", "pointerdown"]) {
  plot.addEventListener(kind, (event) => {
    pointer.x = event.clientX;
    pointer.y = event.clientY;
  }, true);
}

function hover(event) {
  const point = event.points[0];
  const rows = traceRows[point.curveNumber];
  if (!rows) return;
  fill(tip, rows[point.pointNumber]);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const right = pointer.x + 14 + width < clientWidth;
  tip.style.left = `${Math.max(4, right ? pointer.x + 14 : pointer.x - 14 - width)}px`;
  tip.style.top = `${Math.max(4, Math.min(pointer.y + 14, clientHeight - height - 4))}px`;
}

const leave = () => { tip.hidden = true; };
window.addEventListener("scroll", leave, { passive: true });

function pick(i) {
  state.picked = i;
  fill(find("picked"), i);
  draw();
}

function listen() {
  plot.on("plotly_hover", hover);
  plot.on("plotly_unhover", leave);
  plot.on("plotly_click", (event) => {
    const rows = traceRows[event.points[0].curveNumber];
    if (rows) pick(rows[event.points[0].pointNumber]);
  });
  plot.on("plotly_relayout", (change) => {
    if (change["scene.camera"]) state.camera = change["scene.camera"];
    const zoomed = Object.keys(change).some((name) => /^[xy]axis/.test(name));
    if (zoomed) Plotly.relayout(plot, { annotations: classNames(theme()) });
  });
}

// Zoom by a factor and move by shares of what is seen; in 3-D, step back and turn.
function move(factor, across = 0, up = 0) {
  if (state.view === "3d") {
    const { x, y, z } = state.camera.eye;
    const turn = across * 1.2;
    const eye = {
      x: factor * (x * Math.cos(turn) - y * Math.sin(turn)),
      y: factor * (x * Math.sin(turn) + y * Math.cos(turn)),
      z: factor * (z + up),
    };
    state.camera = { ...state.camera, eye };
    return Plotly.relayout(plot, { "scene.camera": state.camera });
  }
  const change = {};
  for (const [name, by] of [["xaxis", across], ["yaxis", up]]) {
    const [low, high] = plot.layout[name].range.map(Number);
    const [middle, half] = [(low + high) / 2 + by * (high - low), (factor * (high - low)) / 2];
    change[`${name}.range`] = [middle - half, middle + half];
  }
  return Plotly.relayout(plot, change);
}

function reset() {
  if (state.view === "3d") {
    state.camera = CAMERA;
    return Plotly.relayout(plot, { "scene.camera": state.camera });
  }
  return Plotly.relayout(plot, { "xaxis.autorange": true, "yaxis.autorange": true });
}

// A finger on a flat picture scrolls the page, so plotly must not see it; buttons zoom.
if (coarse) {
  for (const kind of ["touchstart", "touchmove", "touchend"]) {
    plot.addEventListener(kind, (event) => {
      if (state.view === "2d") event.stopPropagation();
    }, { capture: true, passive: true });
  }
}

const KEYS = {
  ArrowLeft: () => move(1, -0.15), ArrowRight: () => move(1, 0.15),
  ArrowUp: () => move(1, 0, 0.15), ArrowDown: () => move(1, 0, -0.15),
  "+": () => move(0.7), "=": () => move(0.7), "-": () => move(1 / 0.7), 0: reset,
};
plot.addEventListener("keydown", (event) => {
  if (event.key === "Escape") leave();
  const act = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const on = (id, kind, act) => { if (find(id)) find(id).addEventListener(kind, act); };
on("zoom-in", "click", () => move(0.7));
on("zoom-out", "click", () => move(1 / 0.7));
on("reset", "click", reset);
on("save", "click", () => {
  const { width, height } = plot.getBoundingClientRect();
  Plotly.downloadImage(plot, { format: "png", filename: "embedding", width, height, scale: 2 });
});

for (const input of document.querySelectorAll("input[name=part]")) {
  input.addEventListener("change", () => { state.part = input.value; leave(); draw(); });
}
for (const input of document.querySelectorAll("input[name=view]")) {
  input.addEventListener("change", () => {
    state.view = input.value;
    find("deep").disabled = state.view === "2d";
    leave();
    draw(true);
  });
}
["across", "up", "deep"].forEach((id, axis) => {
  on(id, "change", (event) => { state.axes[axis] = Number(event.target.value); draw(); });
});

function useLegend() {
  const boxes = [...document.querySelectorAll("#legend input")];
  const show = (g, shown) => { if (shown) state.hidden.delete(g); else state.hidden.add(g); };
  boxes.forEach((box, g) => {
    box.addEventListener("change", () => { show(g, box.checked); draw(); });
  });
  for (const [id, checked] of [["all", true], ["none", false]]) {
    on(id, "click", () => {
      boxes.forEach((box, g) => { box.checked = checked; show(g, checked); });
      draw();
    });
  }
  on("class", "input", suggest);
  on("find-class", "submit", ring);
}
on("by", "change", (event) => {
  const j = Number(event.target.value);
  by = readLabel(j);
  state.hidden.clear();
  state.found = -1;
  find("side").replaceChildren(find(`legend-${j}`).content.cloneNode(true));
  useLegend();
  leave();
  draw();
});

on("find-row", "submit", (event) => {
  event.preventDefault();
  const wanted = Number(find("row").value);
  const i = rowNumbers ? rowNumbers.indexOf(wanted) : wanted;
  if (i >= 0 && i < n) pick(i);
  else say(`Row ${find("row").value} is not in the picture.`);
});

// Of thousands of classes only those that match what was typed become options.
function suggest(event) {
  const typed = event.target.value.toLowerCase();
  const matches = [];
  for (const name of by.names) {
    if (matches.length === 50) break;
    if (name.toLowerCase().includes(typed)) matches.push(new Option(name, name));
  }
  find("class-names").replaceChildren(...matches);
}
// The number of the class that somebody means: its name, or the only one that is the same but for
// capitals, or that has this in it. -1 if there is none.
function classNamed(names, typed) {
  const exact = names.indexOf(typed);
  const low = typed.trim().toLowerCase();
  if (exact >= 0 || low === "") return exact;
  const only = (fits) => {
    const first = names.findIndex((name) => fits(name.toLowerCase()));
    const second = names.findIndex((name, c) => c > first && fits(name.toLowerCase()));
    return second < 0 ? first : -1;
  };
  const same = only((name) => name.trim() === low);
  return same >= 0 ? same : only((name) => name.includes(low));
}
function ring(event) {
  event.preventDefault();
  const typed = find("class").value;
  state.found = classNamed(by.names, typed);
  draw().then(() => {
    if (typed === "") return;
    const rows = state.found < 0 ? [] : rowsOfClass(state.found);
    const held = rows.filter((i) => heldout[i]).length;
    say(state.found < 0 ? `There is no class “${typed}”.`
      : `“${by.names[state.found]}”: ${rows.length} points ringed, ${held} of them held out.`);
  });
}
useLegend();

dark.addEventListener("change", () => draw());

const canvas = document.createElement("canvas");
spec.webgl = Boolean(canvas.getContext("webgl2") || canvas.getContext("webgl"));
if (spec.webgl || n <= 20000) {
  draw(true).then(() => { document.documentElement.dataset.ready = "yes"; });
} else {
  say("This browser has no WebGL, which so many points need.");
}
