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
