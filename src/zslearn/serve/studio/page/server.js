// Talking to the studio's server: JSON, packed arrays, and what went wrong in one line.

// Binary answers of the studio: a JSON head, then arrays back to back, each padded to 8 bytes.

const KINDS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array };
const padded = (size) => Math.ceil(size / 8) * 8;

/**
 * Read a packed answer.
 * @param {ArrayBuffer} buffer
 * @returns {{head: object, arrays: Object<string, Float32Array|Int32Array|Uint8Array>}}
 */
export function unpack(buffer) {
  if (buffer.byteLength < 4) throw new Error("packed answer: too short for its head");
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new Error("packed answer: the head is cut off");
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let offset = padded(4 + length);
  for (const { name, dtype, shape } of head.arrays ?? []) {
    const Kind = KINDS[dtype];
    if (!Kind) throw new Error(`packed answer: unknown kind of number ${dtype}`);
    const count = shape.reduce((product, size) => product * size, 1);
    const size = count * Kind.BYTES_PER_ELEMENT;
    if (offset + size > buffer.byteLength) throw new Error(`packed answer: ${name} is cut off`);
    arrays[name] = new Kind(buffer, offset, count);
    offset += padded(size);
  }
  return { head, arrays };
}

const BASE = "api/";

/** The number of this tab, so that it knows its own changes in the stream of events. */
export const TAB = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

/** An answer that is not 200; `status` is 0 where the server could not be reached. */
export class ServerError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(BASE + path, {
      ...options,
      headers: { "X-Tab": TAB, ...options.headers },
    });
  } catch {
    throw new ServerError("The studio does not answer. Is the program still running?", 0);
  }
  if (!response.ok) throw new ServerError(await reasonOf(response), response.status);
  return response;
}

async function reasonOf(response) {
  if (response.status === 401) {
    return "This tab is no longer let in: open the address that the program printed.";
  }
  try {
    const { error } = await response.json();
    return error[0].toUpperCase() + error.slice(1);
  } catch {
    return `The studio answered ${response.status}.`;
  }
}

const posted = (body) => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "Content-Type": "application/json" },
});

export const getJson = async (path) => (await ask(path)).json();
export const getPacked = async (path) => unpack(await (await ask(path)).arrayBuffer());
export const postJson = async (path, body) => (await ask(path, posted(body))).json();
export const postPacked = async (path, body) =>
  unpack(await (await ask(path, posted(body))).arrayBuffer());
/** Send a file as it is, with its name. */
export const postFile = async (path, file) => {
  const headers = { "Content-Type": file.type || "application/octet-stream", "X-Title": encodeURIComponent(file.name) };
  return (await ask(path, { method: "POST", body: file, headers })).json();
};
export const postBlob = async (path, body) => (await ask(path, posted(body))).blob();
export const getBlob = async (path) => (await ask(path)).blob();
export const addressOf = (path) => BASE + path;

/** A thumbnail as something a canvas can draw; null where the sample has no picture. */
export async function loadThumbnail(id) {
  const response = await fetch(`${BASE}thumbnails/${id}`);
  if (response.status === 404) return null;
  if (!response.ok) throw new ServerError(`thumbnail ${id}`, response.status);
  return createImageBitmap(await response.blob());
}

/**
 * Listen to what happens on the server.
 * @param {{changed: Function, progress: Function, connected: Function}} listeners
 */
export function listen({ changed, progress, connected }) {
  const events = new EventSource(`${BASE}events`);
  events.addEventListener("open", () => connected(true));
  events.addEventListener("error", () => {
    connected(false);
    // After a refusal the browser does not try again by itself.
    if (events.readyState === EventSource.CLOSED) {
      setTimeout(() => listen({ changed, progress, connected }), 2000);
    }
  });
  events.addEventListener("changed", (event) => changed(JSON.parse(event.data)));
  events.addEventListener("progress", (event) => progress(JSON.parse(event.data)));
  return events;
}

// One request at a time, and of the waiting ones with the same key only the newest: a slider that
// moves faster than the server answers never builds a queue.

/**
 * Make a lane of messages.
 * @param {(message: any) => Promise<any>} send
 * @returns {(message: any, key?: any) => Promise<any>} resolves to undefined for a message that
 *   was overtaken by a newer one of its key; without a key a message is never overtaken
 */
export function makeLane(send) {
  const waiting = new Map();
  let busy = false;

  async function run() {
    if (busy) return;
    busy = true;
    while (waiting.size) {
      const [key, item] = waiting.entries().next().value;
      waiting.delete(key);
      try {
        item.resolve(await send(item.message));
      } catch (error) {
        item.reject(error);
      }
    }
    busy = false;
  }

  return (message, key = Symbol("own")) =>
    new Promise((resolve, reject) => {
      waiting.get(key)?.resolve(undefined);
      waiting.set(key, { message, resolve, reject });
      run();
    });
}
