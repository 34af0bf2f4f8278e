// The page's data: typed arrays from base64, and what is known of a row as plain text.

const spec = JSON.parse(document.getElementById("spec").textContent);

const TYPES = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array,
  f4: Float32Array, f8: Float64Array,
};

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[packed.type](bytes.buffer);
}

const components = spec.components.map(unpack);
const heldout = unpack(spec.heldout);
const rowNumbers = spec.rows && unpack(spec.rows);
const n = heldout.length;

// Columns are unpacked when the first row is asked for: the picture does not wait for them.
let columns = null;
function readColumns() {
  columns = columns || spec.columns.map((column) => ({
    name: column.name,
    values: unpack(column.numbers || column.codes),
    words: column.words,
  }));
  return columns;
}

function asText(value) {
  if (Number.isNaN(value)) return "(missing)";
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)));
}

// Labels too: each is unpacked when it is asked for. Its buckets are rows by part and group, the
// traces of the picture; grey groups come first in its order, to lie below the others.
const labels = [];
function readLabel(j) {
  if (labels[j]) return labels[j];
  const { name, groups, names, low, high, ...packed } = spec.labels[j];
  const group = unpack(packed.group);
  const numbers = packed.numbers && unpack(packed.numbers);
  const classes = packed.codes && unpack(packed.codes);
  const lists = [0, 1].map(() => groups.map(() => []));
  for (let i = 0; i < n; i++) lists[heldout[i]][group[i]].push(i);
  labels[j] = {
    name, groups, names, low, high, group, numbers, classes,
    buckets: lists.map((part) => part.map((rows) => Int32Array.from(rows))),
    order: [...groups.keys()].sort((a, b) => groups[b].other - groups[a].other),
    text: (i) => (classes ? names[classes[i]] : asText(numbers[i])),
    gathered: new Map(),
  };
  return labels[j];
}
let by = readLabel(0); // what gives the colours

const rowNumber = (i) => (rowNumbers ? rowNumbers[i] : i);

function describe(i) {
  const parts = [["Row", String(rowNumber(i))]];
  for (const j of spec.labels.keys()) {
    const { name, text } = readLabel(j);
    parts.push([spec.labels.length > 1 ? `Label ${name}` : "Label", text(i)]);
  }
  parts.push(["Part", heldout[i] ? "held-out" : "train"]);
  for (const { name, values, words } of readColumns()) {
    parts.push([name, words ? words[values[i]] : asText(values[i])]);
  }
  return parts;
}

function gather(name, values, rows, key) {
  const id = `${name}/${key}`;
  if (!by.gathered.has(id)) by.gathered.set(id, values.constructor.from(rows, (i) => values[i]));
  return by.gathered.get(id);
}
