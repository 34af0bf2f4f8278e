// What lies over the points: axes, strips of classes, the rim of a wheel, rings, the lasso.

import { contours } from "./contours.js";
import { cut, short, theme } from "./dom.js";

const FONT = "11.5px system-ui, sans-serif";
const MOST_NAMES = 120;
export const MARGIN = 0.93; // share of the plot that the frame of the points takes

// With a pen of somebody else's: all of it, now.
export function decorate(pane, given = null) {
  const { overlay, canvas, app, scatter } = pane;
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  // While points glide all this stands still, unless it goes with one of them.
  const about = [pane.picture, pane.path, app.hovered, app.picked, scatter.zoom, ...scatter.pan, w,
    h, pane.look, `${scatter.turn}`, app.contours, pane.arrows, app.ringed];
  const same = !given && pane.about && about.every((value, j) => value === pane.about[j]);
  pane.about = about;
  if (same && scatter.done < 1 && app.hovered < 0 && app.picked < 0 && !pane.path) return;
  if (!given) {
    if (overlay.width !== Math.round(w * ratio)) overlay.width = Math.round(w * ratio);
    if (overlay.height !== Math.round(h * ratio)) overlay.height = Math.round(h * ratio);
  }
  const pen = given || overlay.getContext("2d");
  const look = theme();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  pen.font = FONT;
  const rests = scatter.done >= 1 && pane.look;
  if (app.contours && rests) drawContours(pane, pen, look);
  if (pane.picture.radii) {
    drawDiscs(pane, pen, look);
    if (rests) drawNames(pane, pen, look, w, h);
  } else if (pane.picture.anchors) drawAnchors(pane, pen, look, w, h);
  else {
    if (pane.deep) drawCorner(pane, pen, look, h);
    else drawAxes(pane, pen, look, w, h);
    if (rests && pane.frames.length > 1) drawNames(pane, pen, look, w, h);
  }
  if (pane.arrows && pane.arrows.picture === pane.picture) drawArrows(pane, pen, look);
  for (const i of app.ringed || []) {
    if (pane.look && pane.look[4 * i + 3] > 0) drawRing(pane, pen, look, i, 6, 1.2);
  }
  drawRing(pane, pen, look, app.hovered, 8, 2);
  drawRing(pane, pen, look, app.picked, 10, 3);
  if (pane.path && pane.path.length > 1) drawLasso(pen, look, pane.path);
}

function drawContours(pane, pen, look) {
  const { scatter } = pane;
  const { places, look: known } = pane.dense || {};
  if (places !== scatter.flat || known !== pane.look) {
    const made = contours(scatter.flat, pane.look);
    pane.dense = { places: scatter.flat, look: pane.look, found: made };
  }
  pen.strokeStyle = look.ink;
  pane.dense.found.forEach((segments, level) => {
    pen.lineWidth = 0.6 + 0.35 * level;
    pen.beginPath();
    for (const [a, b] of segments) {
      pen.moveTo(...scatter.toScreen(a));
      pen.lineTo(...scatter.toScreen(b));
    }
    pen.stroke();
  });
}

function drawRing({ scatter }, pen, look, i, radius, width) {
  if (i < 0 || i >= scatter.n) return;
  const [x, y] = scatter.toScreen(scatter.now(i));
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  for (const [line, colour] of [[width + 2, look.card], [width, look.ink]]) {
    pen.lineWidth = line;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

function drawLasso(pen, look, path) {
  pen.beginPath();
  path.forEach(([x, y], j) => (j ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.lineWidth = 1.5;
  pen.strokeStyle = look.ink;
  pen.setLineDash([5, 4]);
  pen.stroke();
  pen.setLineDash([]);
  pen.globalAlpha = 0.06;
  pen.fillStyle = look.ink;
  pen.fill();
  pen.globalAlpha = 1;
}

// Text with a rim in the colour of the ground, so that it can be read on points too.
function write(pen, look, text, x, y, align) {
  pen.textAlign = align;
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.strokeStyle = look.card;
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}

function drawAxes({ scatter, frames, picture, app }, pen, look, w, h) {
  const ends = [scatter.toPlace([0, h]), scatter.toPlace([w, 0])];
  pen.fillStyle = look.soft;
  frames.forEach(([middle, half], j) => {
    const [low, high] = ends.map((place) => middle + place[j] * half);
    for (const tick of ticks(low, high, j ? h / 90 : w / 100)) {
      const place = (tick - middle) / half;
      const [x, y] = scatter.toScreen(j ? [0, place] : [place, 0]);
      pen.lineWidth = 1;
      pen.strokeStyle = look.line;
      pen.beginPath();
      pen.moveTo(j ? 0 : x, j ? y : h);
      pen.lineTo(j ? 5 : x, j ? y : h - 5);
      pen.stroke();
      if (j && y > 26 && y < h - 26) write(pen, look, short(tick), 9, y + 4, "left");
      if (!j && x > 22 && x < w - 104) write(pen, look, short(tick), x, h - 10, "center");
    }
  });
  const title = (j) => `component ${picture.axes[j] + 1}`;
  write(pen, look, title(0), w - 10, h - 10, "right");
  if (frames.length > 1) {
    write(pen, look, title(1), 9, 17, "left");
  } else if (app.colours) {
    for (const [name, place] of app.colours.strips()) {
      const [, y] = scatter.toScreen([0, place * MARGIN]);
      if (y > 8 && y < h - 24) write(pen, look, cut(name, 18), 9, y + 4, "left");
    }
  }
}

// Three axes seen aslant have no ticks: a corner shows where each of them points.
function drawCorner({ scatter, picture }, pen, look, h) {
  const [across, up] = scatter.directions();
  pen.fillStyle = look.soft;
  picture.axes.forEach((axis, j) => {
    pen.strokeStyle = look.soft;
    pen.lineWidth = 1.5;
    const [x, y] = [46 + 30 * across[j], h - 46 - 30 * up[j]];
    pen.beginPath();
    pen.moveTo(46, h - 46);
    pen.lineTo(x, y);
    pen.stroke();
    write(pen, look, `${axis + 1}`, 46 + 1.3 * (x - 46), h - 46 + 1.3 * (y - h + 46) + 4, "center");
  });
}

function drawAnchors({ scatter, picture, app }, pen, look, w, h) {
  const centre = scatter.toScreen([0, 0]);
  const rim = scatter.toScreen([MARGIN, 0])[0] - centre[0];
  pen.strokeStyle = look.line;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.arc(...centre, rim, 0, 7);
  pen.stroke();
  const names = app.classNames(picture.view.label);
  if (!names) return;
  pen.fillStyle = look.ink;
  const placed = []; // names that would lie on another are left out
  picture.anchors.forEach((anchor, c) => {
    if (!anchor) return;
    const [x, y] = scatter.toScreen([anchor[0] * MARGIN, anchor[1] * MARGIN]);
    const text = cut(names[c], 16);
    const width = pen.measureText(text).width;
    const upright = Math.abs(anchor[0]) < 0.3; // near the top or the bottom
    const left = upright ? x - width / 2 : anchor[0] > 0 ? x + 7 : x - 7 - width;
    const at = Math.max(3, Math.min(w - width - 3, left));
    const base = Math.max(12, Math.min(h - 5, y + 4 - (upright ? 12 * Math.sign(anchor[1]) : 0)));
    const meets = ([a, b, wide]) => (
      Math.abs(b - base) < 13 && a < at + width + 4 && at < a + wide + 4);
    if (placed.some(meets)) return;
    placed.push([at, base, width]);
    write(pen, look, text, at, base, "left");
  });
}

// Directions from the middle of the plot; a correlation of 1 reaches the edge of the frame.
function drawArrows({ arrows, scatter, deep }, pen, look) {
  const from = scatter.toScreen([0, 0]);
  const flat = (at) => (deep ? scatter.directions() : [[1, 0], [0, 1]]).map(
    (direction) => at.reduce((sum, value, j) => sum + value * direction[j] * MARGIN, 0));
  const placed = []; // names that would lie on another move up or down, or are left out
  for (const { name, at } of arrows.list) {
    const [x, y] = scatter.toScreen(flat(at));
    const turn = Math.atan2(y - from[1], x - from[0]);
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(x, y);
    for (const side of [-0.4, 0.4]) {
      pen.moveTo(x, y);
      pen.lineTo(x - 9 * Math.cos(turn + side), y - 9 * Math.sin(turn + side));
    }
    for (const [width, colour] of [[4, look.card], [1.6, look.ink]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.stroke();
    }
    pen.fillStyle = look.ink;
    const [left, text] = [x < from[0], cut(name, 20)];
    const width = pen.measureText(text).width;
    const start = left ? x - 5 - width : x + 5;
    const base = [4, -9, 17, -22, 30].map((shift) => y + shift).find((height) => !placed.some(
      ([a, b, wide]) => Math.abs(b - height) < 13 && a < start + width + 4 && start < a + wide + 4));
    if (base === undefined) continue;
    placed.push([start, base, width]);
    write(pen, look, text, start, base, "left");
  }
}

// The discs of an atlas.
function drawDiscs({ scatter, picture, frames }, pen, look) {
  pen.strokeStyle = look.line;
  pen.lineWidth = 1;
  picture.anchors.forEach((anchor, c) => {
    if (!anchor) return;
    const at = anchor.map((value, j) => (value - frames[j][0]) / frames[j][1]);
    const [x, y] = scatter.toScreen(at);
    const [edge] = scatter.toScreen([at[0] + picture.radii[c] / frames[0][1], at[1]]);
    pen.beginPath();
    pen.arc(x, y, edge - x, 0, 7);
    pen.stroke();
  });
}

// Names of classes where their points are, the largest class first; one that would lie on another
// is left out, and comes when the plot is zoomed.
function drawNames(pane, pen, look, w, h) {
  const { scatter, picture, app } = pane;
  if (!app.colours || !app.colours.classes || !pane.look) return;
  const about = pane.centred;
  if (!about || about.places !== scatter.flat || about.look !== pane.look) {
    const { number, column } = app.colours;
    const { anchors } = picture;
    // A disc has the name of its class, also if the rows of the class are elsewhere.
    const found = picture.radii && number === (picture.view ? picture.view.label : 0)
      ? [...anchors.keys()].filter((c) => anchors[c]).map((c) => [column.names[c],
        ...anchors[c].map((value, j) => (value - pane.frames[j][0]) / pane.frames[j][1])])
      : app.colours.centres(pane.look, scatter.flat, picture.shuffled);
    pane.centred = { places: scatter.flat, look: pane.look, found };
  }
  pen.fillStyle = look.ink;
  pen.font = "600 13px system-ui, sans-serif";
  const placed = [];
  pane.namesShown = [];
  for (const [name, px, py] of pane.centred.found) {
    if (placed.length === MOST_NAMES) break;
    const [x, y] = scatter.toScreen([px, py]);
    const text = cut(name, 24);
    const half = pen.measureText(text).width / 2 + 3;
    if (x < half || x > w - half || y < 24 || y > h - 24) continue;
    if (placed.some(([a, b, wide]) => Math.abs(b - y) < 16 && Math.abs(a - x) < half + wide)) continue;
    placed.push([x, y, half]);
    pane.namesShown.push(name);
    write(pen, look, text, x, y + 4, "center");
  }
  pen.font = FONT;
}

// Round numbers between two ends, about so many.
function ticks(low, high, about) {
  const span = Math.max(high - low, 1e-30);
  const rough = span / Math.max(2, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let t = Math.ceil(low / step) * step; t <= high && found.length < 30; t += step) {
    found.push(Math.abs(t) < step * 1e-6 ? 0 : t);
  }
  return found;
}
