import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { answersOf, quadratic, scoreClass, unit } from "../../../../../src/zslearn/serve/studio/page/scoring.js";
import { readSnapshot } from "../../../../../src/zslearn/serve/studio/page/snapshot.js";

const cases = JSON.parse(readFileSync(`${process.env.ZSLEARN_FIXTURES}/scoring.json`, "utf8"));

for (const { name, data, scores, answers } of cases) {
  test(`scores and answers are those of Python: ${name}`, () => {
    const model = readSnapshot(data);
    const columns = model.classes.map((c) => scoreClass(model, c));
    scores.forEach((row, i) =>
      row.forEach((value, c) => {
        assert.ok(Math.abs(columns[c][i] - value) < 2e-5 * (1 + Math.abs(value)), `${i} ${c} ${columns[c][i]} ${value}`);
      }),
    );
    assert.deepEqual([...answersOf(model.classes, columns).answer], answers);
  });
}

test("there are cases of every comparison", () => {
  assert.ok(cases.length >= 5);
});

test("ties go to the first class, and one class has no second", () => {
  const columns = [[1, 2], [1, 3]].map((c) => Float32Array.from(c));
  const found = answersOf([{ id: 7 }, { id: 9 }], columns);
  assert.deepEqual([...found.answer], [7, 9]);
  assert.deepEqual([...found.second], [9, 7]);
  assert.deepEqual([...answersOf([{ id: 7 }], columns.slice(0, 1)).second], [-1, -1]);
  assert.deepEqual([...answersOf([{ id: 7 }, { id: 9 }], columns, 0.5).answer], [-1, 9]);
});

test("lengths", () => {
  assert.deepEqual(unit([3, 4]), [0.6, 0.8]);
  assert.deepEqual(unit([0, 0]), [0, 0]);
  assert.equal(quadratic([1, 2], [2, 1, 1, 5]), 2 + 2 + 2 + 20);
});
