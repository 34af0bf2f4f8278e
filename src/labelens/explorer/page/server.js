// Questions to the server. All paths are below the token in the page's own address.

const TYPES = { float32: Float32Array, uint32: Uint32Array };

export class Lost extends Error {}
export class Stranger extends Error {}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Lost();
  }
  if (answer.status === 403) throw new Stranger();
  if (!answer.ok) {
    let told;
    try { told = (await answer.json()).error; } catch { told = null; }
    throw new Error(told || `The server answered with an error (${answer.status}).`);
  }
  return answer;
}

async function bytes(answer) {
  try { return await answer.arrayBuffer(); } catch { throw new Lost(); }
}

function unpack(buffer) {
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

export const alive = async () => (
  await ask("alive", { signal: AbortSignal.timeout(20000) })).json();
export const overview = async (data) => unpack(await bytes(await ask(`data/${data}`)));
export const column = async (data, j) => unpack(await bytes(await ask(`data/${data}/column/${j}`)));
export const row = async (data, i) => (await ask(`data/${data}/row/${i}`)).json();
export const code = async (message) => (await ask("code", posted(message))).json();
export const save = async (message) => (await ask("save", posted(message))).blob();

// null where a newer wish has overtaken this one.
export async function fit(message) {
  const answer = await ask("fit", posted(message));
  return answer.status === 204 ? null : unpack(await bytes(answer));
}

export async function group(data, label, shuffled, bits) {
  const labels = shuffled ? "shuffled" : "own";
  const options = { method: "POST", body: bits };
  return (await ask(`data/${data}/group/${label}/${labels}`, options)).json();
}
