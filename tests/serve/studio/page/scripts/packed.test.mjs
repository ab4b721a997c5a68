import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { unpack } from "../../../../../src/zslearn/serve/studio/page/server.js";

const read = (name) => {
  const file = readFileSync(`${process.env.ZSLEARN_FIXTURES}/${name}`);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
};

test("what Python packed arrives unchanged", () => {
  const { head, arrays } = unpack(read("packed.bin"));
  assert.equal(head.revision, 7);
  assert.equal(head.text, "λ and okapi");
  assert.deepEqual([...arrays.answer], [3, -1, 2147483647]);
  assert.deepEqual([...arrays.split], [0, 1, 1, 0, 1]);
  assert.deepEqual([...arrays.xy], [0.5, -1.25, 2 ** 20, 0]);
  assert.equal(arrays.none.length, 0);
});

test("a cut answer is refused at every length", () => {
  const whole = read("packed.bin");
  const needed = whole.byteLength;
  for (let length = 0; length < needed - 8; length++) {
    assert.throws(() => unpack(whole.slice(0, length)), /packed answer|JSON|cut off/);
  }
});

test("an unknown kind of number is named", () => {
  const head = JSON.stringify({ arrays: [{ name: "x", dtype: "f2", shape: [1] }] });
  const padded = head + " ".repeat((8 - ((4 + head.length) % 8)) % 8);
  const bytes = new Uint8Array(4 + padded.length + 8);
  new DataView(bytes.buffer).setUint32(0, padded.length, true);
  bytes.set(new TextEncoder().encode(padded), 4);
  assert.throws(() => unpack(bytes.buffer), /unknown kind of number f2/);
});
