// The state of the page as text in its address, for reload, back and forward.

const MOST = 12000; // characters of a group; a larger group is not in the address
const PAUSE = 800; // ms between two steps of "back"; faster changes are one step

// Lengths of runs of rows outside and inside a group, in turn, as base64.
export function packed(marks, most = MOST) {
  const bytes = [];
  let [run, inside] = [0, 0];
  const put = (value) => {
    let left = value;
    for (; left > 127; left = Math.floor(left / 128)) bytes.push(128 + left % 128);
    bytes.push(left);
  };
  for (const mark of marks) {
    if (mark === inside) { run++; continue; }
    put(run);
    [run, inside] = [1, mark];
  }
  put(run);
  if (bytes.length > most) return null;
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_");
}

export function unpacked(text, n) {
  const marks = new Uint8Array(n);
  let bytes;
  try { bytes = atob(text.replace(/-/g, "+").replace(/_/g, "/")); } catch { return null; }
  let [at, inside, value, unit] = [0, 0, 0, 1];
  for (let j = 0; j < bytes.length; j++) {
    const byte = bytes.charCodeAt(j);
    value += (byte % 128) * unit;
    unit *= 128;
    if (byte > 127) continue;
    if (inside) marks.fill(1, at, at + value);
    [at, inside, value, unit] = [at + value, 1 - inside, 0, 1];
  }
  return at === n ? marks : null;
}

const numbers = (list) => list.map((v) => Number(v.toFixed(4))).join("_");

// `told` -> text, with the settings that differ from the first view of the data.
export function write(told, first) {
  const found = new URLSearchParams();
  for (const [name, value, usual] of [["data", told.data, 0], ["part", told.part, "all"],
    ["drag", told.drag, "pan"], ["colour", told.colour, 0], ["active", told.active, 0],
    ["row", told.row, -1], ["two", told.two ? 1 : 0, 0], ["fitted", told.fitted ? 1 : 0, 0]]) {
    if (value !== usual) found.set(name, value);
  }
  told.views.forEach((one, number) => {
    for (const [name, value] of Object.entries(one.view)) {
      if (value !== first[name] || (number && name === "method")) {
        found.set(`${number + 1}.${name}`, value);
      }
    }
    if (`${one.axes}` !== "0,1") {
      found.set(`${number + 1}.axes`, one.axes.map((axis) => axis + 1).join("-"));
    }
    if (one.zoom !== 1 || one.pan[0] || one.pan[1]) {
      found.set(`${number + 1}.at`, numbers([one.zoom, ...one.pan]));
    }
    if (one.turn) found.set(`${number + 1}.turn`, numbers(one.turn));
  });
  const group = told.group && packed(told.group);
  if (group) found.set("group", group);
  return found.toString();
}

const whole = (text, usual) => (/^\d{1,9}$/.test(text || "") ? Number(text) : usual);
const among = (text, known) => (known.includes(text) ? text : known[0]);

// The data set of the text.
export const dataOf = (text) => whole(new URLSearchParams(text).get("data"), 0);

// Text from any source -> `told`, with defaults for values that are not valid.
export function read(text, overview, n) {
  const found = new URLSearchParams(text);
  const viewOf = (number) => {
    const view = { ...overview.view };
    for (const name of Object.keys(view)) {
      const given = found.get(`${number}.${name}`);
      if (given === null) continue;
      if (typeof view[name] === "boolean") view[name] = given === "true";
      else if (typeof view[name] === "string") view[name] = given;
      else if (given !== "" && Number.isFinite(Number(given))) view[name] = Number(given);
    }
    const axes = (found.get(`${number}.axes`) || "1-2").split("-").map((a) => whole(a, 1) - 1);
    const listed = (name, length) => {
      const given = (found.get(`${number}.${name}`) || "").split("_").map(Number);
      return given.length === length && given.every(Number.isFinite) ? given : null;
    };
    const at = listed("at", 3);
    const placed = at && at[0] > 0;
    const several = axes.length > 1 && axes.length < 4 && new Set(axes).size === axes.length;
    return {
      view, axes: several ? axes : [0, 1], turn: several && axes[2] >= 0 ? listed("turn", 2) : null,
      zoom: placed ? at[0] : 1, pan: placed ? at.slice(1) : [0, 0],
    };
  };
  const second = [...found.keys()].some((key) => key.startsWith("2."));
  const views = second ? [viewOf(1), viewOf(2)] : [viewOf(1)];
  const two = second && found.get("two") === "1";
  return {
    data: dataOf(text), part: among(found.get("part"), ["all", "train", "heldout", "shuffled"]),
    drag: among(found.get("drag"), ["pan", "lasso"]),
    colour: Math.min(whole(found.get("colour"), 0), overview.columns.length - 1),
    active: two ? Math.min(1, whole(found.get("active"), 0)) : 0,
    row: whole(found.get("row"), -1), two, views, fitted: found.get("fitted") === "1",
    group: found.get("group") && unpacked(found.get("group"), n),
  };
}

let last = 0;
export function remember(text) {
  if (text === location.hash.slice(1)) return;
  const now = performance.now();
  const step = now - last > PAUSE ? "pushState" : "replaceState";
  last = now;
  history[step](null, "", `#${text}`);
}

// The first view is not a step of "back".
export function settle(text) {
  last = -PAUSE;
  if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : "#");
}
