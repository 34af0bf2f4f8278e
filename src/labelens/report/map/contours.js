// Lines of equal density of the points that are shown.

import { AWAY } from "./scatter.js";

const SIDE = 96;
const LEVELS = [0.05, 0.15, 0.35, 0.65];
const BLUR = 3; // passes of a box of three cells

function smoothed(cells) {
  const next = new Float32Array(cells.length);
  for (let y = 1; y < SIDE - 1; y++) {
    for (let x = 1; x < SIDE - 1; x++) {
      let sum = 0;
      for (let b = -1; b <= 1; b++) for (let a = -1; a <= 1; a++) sum += cells[x + a + SIDE * (y + b)];
      next[x + SIDE * y] = sum / 9;
    }
  }
  return next;
}

// (2 n) places -> for each level its segments, four numbers each.
export function contours(flat, look) {
  let [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  const shown = [];
  for (let i = 0; i < flat.length / 2; i++) {
    if (look[4 * i + 3] <= 8 || Math.abs(flat[2 * i]) >= AWAY / 2) continue;
    shown.push(i);
    for (const j of [0, 1]) {
      low[j] = Math.min(low[j], flat[2 * i + j]);
      high[j] = Math.max(high[j], flat[2 * i + j]);
    }
  }
  const step = [0, 1].map((j) => Math.max(1e-9, (high[j] - low[j]) / (SIDE - 2 * BLUR - 2)));
  low = low.map((value, j) => value - (BLUR + 1) * step[j]);
  let cells = new Float32Array(SIDE * SIDE);
  for (const i of shown) {
    cells[Math.floor((flat[2 * i] - low[0]) / step[0])
      + SIDE * Math.floor((flat[2 * i + 1] - low[1]) / step[1])]++;
  }
  for (let pass = 0; pass < BLUR; pass++) cells = smoothed(cells);
  const most = cells.reduce((a, b) => Math.max(a, b), 0);
  const at = (x, y) => [low[0] + (x + 0.5) * step[0], low[1] + (y + 0.5) * step[1]];
  return LEVELS.map((level) => {
    const segments = [];
    for (let y = 0; y < SIDE - 1; y++) {
      for (let x = 0; x < SIDE - 1; x++) {
        // Marching squares: where the level crosses the four sides of a square.
        const corners = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
        const values = corners.map(([a, b]) => cells[a + SIDE * b] - level * most);
        const crossed = [];
        for (let j = 0; j < 4; j++) {
          const [v, u] = [values[j], values[(j + 1) % 4]];
          if ((v > 0) === (u > 0)) continue;
          const [[a, b], [c, d]] = [corners[j], corners[(j + 1) % 4]];
          const t = v / (v - u);
          crossed.push(at(a + t * (c - a), b + t * (d - b)));
        }
        for (let j = 0; j + 1 < crossed.length; j += 2) segments.push([crossed[j], crossed[j + 1]]);
      }
    }
    return segments;
  });
}
