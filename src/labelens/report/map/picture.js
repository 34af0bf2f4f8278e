// The map as a file: what is drawn on the screen, as PNG or as SVG.

import { decorate } from "./overlay.js";
import { theme } from "./dom.js";

const MOST_SHAPES = 20000; // points of an SVG; more are one image in it

export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function pixels(map, ...layers) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [map.canvas.width, map.canvas.height];
  const pen = copy.getContext("2d");
  map.scatter.render(); // a WebGL canvas can be read in the frame that it was drawn in only
  for (const layer of layers) {
    if (layer) pen.drawImage(layer, 0, 0, copy.width, copy.height);
    else { pen.fillStyle = theme().card; pen.fillRect(0, 0, copy.width, copy.height); }
  }
  return copy;
}

export function png(map) {
  return new Promise((done) => {
    pixels(map, null, map.canvas, map.overlay).toBlob(done, "image/png");
  });
}

const safe = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
  .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd").toWellFormed();
const r = (value) => Number(value.toFixed(2));

// As much of a 2-D context as the overlay uses, that writes SVG.
class SvgPen {
  constructor(measure) { Object.assign(this, { parts: [], path: "", measure, globalAlpha: 1, dash: "" }); }

  beginPath() { this.path = ""; }

  moveTo(x, y) { this.path += `M${r(x)} ${r(y)}`; }

  lineTo(x, y) { this.path += `L${r(x)} ${r(y)}`; }

  closePath() { this.path += "Z"; }

  arc(x, y, radius) {
    const d = r(2 * radius);
    this.path += `M${r(x - radius)} ${r(y)}a${r(radius)} ${r(radius)} 0 1 0 ${d} 0`
      + `a${r(radius)} ${r(radius)} 0 1 0 ${-d} 0`;
  }

  setLineDash(dash) { this.dash = dash.join(" "); }

  draw(fill, stroke) {
    this.parts.push(`<path d="${this.path}" fill="${fill}" stroke="${stroke}" stroke-width="`
      + `${this.lineWidth || 1}" stroke-dasharray="${this.dash}" opacity="${this.globalAlpha}"/>`);
  }

  stroke() { this.draw("none", this.strokeStyle); }

  fill() { this.draw(this.fillStyle, "none"); }

  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] || "start";
    this.parts.push(`<text x="${r(x)}" y="${r(y)}" text-anchor="${anchor}" style="font: `
      + `${safe(this.font)}" fill="${this.fillStyle}" paint-order="stroke" stroke="`
      + `${this.strokeStyle}" stroke-width="4" stroke-linejoin="round">${safe(text)}</text>`);
  }

  strokeText() {} // is the rim of fillText

  measureText(text) { this.measure.font = this.font; return this.measure.measureText(text); }

  setTransform() {}

  clearRect() {}
}

export function svg(map) {
  const { scatter, canvas, look } = map;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  const pen = new SvgPen(document.createElement("canvas").getContext("2d"));
  const parts = [`<rect width="${w}" height="${h}" fill="${theme().card}"/>`];
  if (scatter.n > MOST_SHAPES) {
    parts.push(`<image width="${w}" height="${h}" href="${pixels(map, map.canvas).toDataURL()}"/>`);
  } else {
    const radius = r(scatter.size * scatter.scale / 2);
    for (let i = 0; i < scatter.n; i++) {
      const [red, green, blue, alpha] = look.subarray(4 * i, 4 * i + 4);
      if (!alpha) continue;
      const [x, y] = scatter.toScreen(scatter.now(i)).map(r);
      parts.push(`<circle cx="${x}" cy="${y}" r="${radius}" fill="rgb(${red},${green},${blue})" `
        + `fill-opacity="${r(Math.min(1, scatter.opacity * alpha / 255))}"/>`);
    }
  }
  decorate(map, pen);
  return new Blob([`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" `
    + `height="${h}">${parts.join("")}${pen.parts.join("")}</svg>`], { type: "image/svg+xml" });
}
