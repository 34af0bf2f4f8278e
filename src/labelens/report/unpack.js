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
const group = unpack(spec.group);
const numbers = spec.numbers && unpack(spec.numbers);
const classes = spec.codes && unpack(spec.codes);
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

const rowNumber = (i) => (rowNumbers ? rowNumbers[i] : i);
const label = (i) => (classes ? spec.names[classes[i]] : asText(numbers[i]));

function describe(i) {
  const parts = [
    ["Row", String(rowNumber(i))],
    ["Label", label(i)],
    ["Part", heldout[i] ? "held-out" : "train"],
  ];
  for (const { name, values, words } of readColumns()) {
    parts.push([name, words ? words[values[i]] : asText(values[i])]);
  }
  return parts;
}

// Rows by part and group: the traces of the picture.
const buckets = [0, 1].map(() => spec.groups.map(() => []));
for (let i = 0; i < n; i++) buckets[heldout[i]][group[i]].push(i);
for (const part of buckets) part.forEach((rows, g) => { part[g] = Int32Array.from(rows); });

const gathered = new Map();
function gather(name, values, rows, key) {
  const id = `${name}/${key}`;
  if (!gathered.has(id)) gathered.set(id, values.constructor.from(rows, (i) => values[i]));
  return gathered.get(id);
}
