// Requests to the server. All paths are below the token in the address of the page.
//
// Each request has a kind. Only the newest request of a kind is answered: older ones are aborted,
// also at the server, and late answers are ignored.

const TYPES = { float32: Float32Array, uint32: Uint32Array };

export class Lost extends Error {}
export class Stranger extends Error {}
export const dropped = (problem) => problem.name === "AbortError";

const asked = new Map();
let watcher = () => {};

// `see` is called at each request.
export function watch(see) { watcher = see; }

// [kind, start time] of all open requests.
export const underWay = () => [...asked].map(([kind, { began }]) => [kind, began]);

// Cancel these requests.
export function drop(kind, reason = "newer") {
  const one = asked.get(kind);
  if (one) one.control.abort(reason);
}
export function dropAll() { for (const kind of asked.keys()) drop(kind); }

// The user cancelled the request; its error has `cancelled`.
export const cancel = (kind) => drop(kind, "cancelled");

async function ask(kind, path, read, options = {}, began = performance.now()) {
  drop(kind);
  const control = new AbortController();
  asked.set(kind, { control, began });
  watcher();
  const { signal } = control;
  try {
    const answer = await fetch(path, { cache: "no-store", ...options, signal });
    if (answer.status === 403) throw new Stranger();
    if (answer.status === 204) return null;
    if (!answer.ok) {
      let told;
      try { told = (await answer.json()).error; } catch { told = null; }
      throw new Error(told || `The server answered with an error (${answer.status}).`);
    }
    return await read(answer);
  } catch (error) {
    if (signal.aborted) {
      const dropped = new DOMException("The request was cancelled.", "AbortError");
      throw Object.assign(dropped, { cancelled: signal.reason === "cancelled" });
    }
    throw error instanceof TypeError || dropped(error) ? new Lost() : error;
  } finally {
    if (asked.has(kind) && asked.get(kind).control === control) asked.delete(kind);
  }
}

const json = (answer) => answer.json();

async function unpack(answer) {
  const buffer = await answer.arrayBuffer();
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let start = 4 + size;
  header.arrays = header.arrays.map(({ type, length }) => {
    const array = new TYPES[type](buffer, start, length);
    start += array.byteLength;
    return array;
  });
  return header;
}

const posted = (message) => ({
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message),
});

export async function alive() {
  let late = false;
  const timer = setTimeout(() => { late = true; drop("alive"); }, 20000);
  try {
    return await ask("alive", "alive", json);
  } catch (problem) {
    throw late ? new Lost() : problem;
  } finally {
    clearTimeout(timer);
  }
}
export const overview = (data) => ask("overview", `data/${data}`, unpack);
export const column = (data, j) => ask(`column ${j}`, `data/${data}/column/${j}`, unpack);
export const row = (data, i) => ask("row", `data/${data}/row/${i}`, json);
export const hovered = (data, i) => ask("hovered", `data/${data}/row/${i}`, json);
export const near = (data, i) => ask("near", `data/${data}/near/${i}`, json);
export const image = (data, i) => `data/${data}/image/${i}`;
export const code = (message) => ask("code", "code", json, posted(message));
export const save = (message) => ask("save", "save", (answer) => answer.blob(), posted(message));

// null if the server has a newer request.
export const fit = (message) => ask(`fit ${message.pane}`, "fit", unpack, posted(message));

export function group(data, label, shuffled, bits) {
  const labels = shuffled ? "shuffled" : "own";
  const options = { method: "POST", body: bits };
  return ask("group", `data/${data}/group/${label}/${labels}`, json, options);
}

export function rows(data, format, bits) {
  const options = { method: "POST", body: bits };
  return ask("rows", `data/${data}/rows/${format}`, (answer) => answer.blob(), options);
}

export const panel = (message) => ask(`panel ${message.what}`, "panel", json, posted(message));

// The table with corrected labels.
export const labels = (message) => ask("labels", "labels", (answer) => answer.blob(), posted(message));

// The best settings of one stage of a search that began at `began`.
export const find = (message, began) => ask("find", "find", json, posted(message), began);

// A table: its bytes, then which of its columns are labels.
export function open(file) {
  const name = encodeURIComponent(file.name.slice(-100));
  return ask("open", `open/${name}`, json, { method: "POST", body: file });
}
export const add = (upload, labels) => ask("open", "add", json, posted({ upload, labels }));
