// Talking to the studio's server: JSON, packed arrays, and what went wrong in one line.

import { unpack } from "./packed.js";

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
