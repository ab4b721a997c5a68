import assert from "node:assert/strict";
import { test } from "node:test";
import { makeLane } from "../../../../../src/zslearn/serve/studio/page/server.js";

/** A server that answers when it is told to. */
function slowServer() {
  const asked = [];
  const send = (message) => new Promise((resolve, reject) => asked.push({ message, resolve, reject }));
  return { asked, send };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("one message is under way, and only the newest of those that wait is sent", async () => {
  const { asked, send } = slowServer();
  const lane = makeLane(send);
  const replies = [1, 2, 3, 4].map((value) => lane(value, "slider"));
  assert.deepEqual(asked.map((a) => a.message), [1]);
  asked[0].resolve("first");
  await settled();
  assert.deepEqual(asked.map((a) => a.message), [1, 4]);
  asked[1].resolve("last");
  assert.deepEqual(await Promise.all(replies), ["first", undefined, undefined, "last"]);
});

test("messages of other keys, or of none, are never overtaken and keep their order", async () => {
  const { asked, send } = slowServer();
  const lane = makeLane(send);
  lane("a", "x");
  lane("add");
  lane("b", "y");
  lane("delete");
  for (let k = 0; k < 4; k++) {
    asked[k].resolve(k);
    await settled();
  }
  assert.deepEqual(asked.map((a) => a.message), ["a", "add", "b", "delete"]);
});

test("a failure reaches its sender and does not stop the lane", async () => {
  const { asked, send } = slowServer();
  const lane = makeLane(send);
  const first = lane(1);
  const second = lane(2);
  asked[0].reject(new Error("no"));
  await assert.rejects(first, /no/);
  await settled();
  asked[1].resolve("yes");
  assert.equal(await second, "yes");
});
