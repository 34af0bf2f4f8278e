// Elements made of text, never of markup; numbers as readers write them.

export const find = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

let announcing = 0;
// Sliders fit many times a second: only what holds for a moment is read out.
export function say(text, wait = 0) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { find("said").textContent = text; }, wait);
}

export const count = (value) => value.toLocaleString("en");
export const short = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));
export const score = (value) => (value === null ? "–" : value.toFixed(3));
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// The colours of the page, read once and again when the scheme changes.
let known = null;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => { known = null; });
export function theme() {
  if (known) return known;
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const stops = read("scale").split(/[\s,]+/).map(rgb);
  known = {
    ink: read("ink"), soft: read("soft"), line: read("line"), card: read("card"),
    colours: Array.from({ length: Number(read("n-colours")) }, (_, i) => rgb(read(`c${i}`))),
    other: rgb(read("other")),
    scale: Array.from({ length: 256 }, (_, i) => between(stops, i / 255)),
  };
  return known;
}

function between(stops, share) {
  const place = share * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  return stops[low].map((value, j) => value + (place - low) * (stops[low + 1][j] - value));
}

export function fillFacts(list, facts) {
  list.replaceChildren(...facts.flatMap(([name, text]) => [
    make("dt", { title: name }, make("bdi", {}, name)), make("dd", {}, make("bdi", {}, text))]));
}

export function besidePointer(tip, event) {
  const { width, height } = tip.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const right = event.clientX + 16 + width < clientWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - width)}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, clientHeight - height - 4))}px`;
}
