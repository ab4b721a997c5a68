import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, weighed, whoHas } from "../../../../../src/zslearn/serve/studio/page/card.js";
import { grouped, mistakenFor, suggestion, surest, withWord } from "../../../../../src/zslearn/serve/studio/page/classes.js";
import { makeScale, nearestIndex, nearestValue, ticks } from "../../../../../src/zslearn/serve/studio/page/curve.js";
import {
  alike, counted, endsOf, figureOf, inWords, moved, percent, short, signed, sliderRange, spoken,
} from "../../../../../src/zslearn/serve/studio/page/dom.js";
import { timeLeft } from "../../../../../src/zslearn/serve/studio/page/frame.js";
import { agreement } from "../../../../../src/zslearn/serve/studio/page/method.js";
import {
  PictureLoader, axes, initials, mistakes, sortRows, visibleCells,
} from "../../../../../src/zslearn/serve/studio/page/samples.js";
import {
  confusion, inScope, tally,
} from "../../../../../src/zslearn/serve/studio/page/studio.js";

const truth = Int32Array.from([0, 0, 0, 1, 1, -1, 2]);
const answer = Int32Array.from([0, 1, 0, 1, -1, 1, 0]);
const all = [...truth.keys()];

test("answers are counted per class; an unknown truth counts for nobody's accuracy", () => {
  const counts = tally(truth, answer, all);
  assert.deepEqual(counts.get(0), { count: 3, right: 2, answered: 3 });
  assert.deepEqual(counts.get(1), { count: 2, right: 1, answered: 3 });
  assert.deepEqual(counts.get(2), { count: 1, right: 0, answered: 0 });
});

test("the matrix holds every row with a truth once, and mistakes come fullest first", () => {
  const found = confusion(truth, answer, all);
  assert.deepEqual(found.cells.get("0,0"), [0, 2]);
  assert.equal([...found.cells.values()].flat().length, 6);
  assert.deepEqual(axes(found, [2, 1, 0]), { rows: [2, 1, 0], columns: [2, 1, 0, -1] });
  assert.deepEqual(mistakes(found.cells).map((m) => [m.truth, m.answer]), [[0, 1], [1, -1], [2, 0]]);
});

test("bars sum to the difference of the scores, however few are shown", () => {
  const dimensions = Array.from({ length: 30 }, (_, k) => ({
    name: `d${k}`, right: 0.1 * k, given: 0.05 * k * k, difference: 0.05 * k * k - 0.1 * k,
  }));
  const total = dimensions.reduce((sum, d) => sum + d.difference, 0) + 0.25;
  for (const shown of [0, 1, 8, 30, 50]) {
    const found = bars({ dimensions, offset_difference: 0.25, score_difference: total }, shown);
    const sum = found.reduce((s, bar) => s + bar.difference, 0);
    assert.ok(Math.abs(sum - total) < 1e-9);
    assert.equal(found.at(-1).name, "what no attribute says");
  }
  const [first] = bars({ dimensions, offset_difference: 0 }, 3);
  assert.equal(first.name, "d29");
});

test("numbers read as people write them", () => {
  assert.equal(percent(0.925), "93 %");
  assert.equal(percent(null), "–");
  assert.equal(short(0.12345), "0.123");
  assert.equal(short(1e-7), "1.0e-7");
  assert.equal(signed(-0.5), "−0.500");
  assert.equal(counted(1, "picture"), "1 picture");
  assert.equal(counted(12345, "picture"), "12,345 pictures");
  const okapi = { name: "okapi", right: 37, count: 40, accuracy: 37 / 40, answered: 41 };
  assert.equal(spoken(okapi), "okapi: 37 of 40 pictures right, accuracy 93 %, given to 41 pictures");
  assert.equal(spoken({ name: "okapi", answered: 1, accuracy: null }), "okapi: given to 1 picture");
});

test("a grid of 20,000 makes a bounded number of cells at every place", () => {
  for (const top of [0, 999, 123456, 1e9]) {
    const found = visibleCells({ count: 20000, width: 620, cell: 96, gap: 8, top, height: 700 });
    assert.equal(found.columns, 6);
    assert.equal(found.total, Math.ceil(20000 / 6) * 104 - 8);
    assert.ok(found.last - found.first <= 6 * 18);
    assert.ok(found.first >= 0 && found.last <= 20000);
  }
  const screen = visibleCells({ count: 20000, width: 620, cell: 96, gap: 8, top: 5000, height: 700 });
  assert.ok(screen.first <= Math.floor(5000 / 104) * 6);
  assert.ok(screen.last >= Math.ceil(5700 / 104) * 6);
});

function slowLoader(limits) {
  const asked = [];
  const loader = new PictureLoader(
    (id) => new Promise((resolve, reject) => asked.push({ id, resolve, reject })),
    limits,
  );
  return { asked, loader };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("pictures are asked a few at a time, each once, and what left the screen is given up", async () => {
  const { asked, loader } = slowLoader({ atOnce: 2, kept: 10 });
  const got = [];
  for (let id = 0; id < 6; id++) loader.want(id, (picture) => got.push([id, picture]), "grid");
  loader.want(0, (picture) => got.push(["again", picture]));
  loader.want(5, (picture) => got.push(["other", picture]), "strip");
  assert.deepEqual(asked.map((a) => a.id), [0, 1]);
  loader.keepOnly("grid", (id) => id === 3);
  asked[0].resolve("p0");
  await settled();
  assert.deepEqual(got, [[0, "p0"], ["again", "p0"]]);
  assert.deepEqual(asked.map((a) => a.id), [0, 1, 3]);
  asked[1].resolve("p1");
  asked[2].resolve("p3");
  await settled();
  assert.deepEqual(asked.map((a) => a.id), [0, 1, 3, 5]);
  asked[3].resolve("p5");
  await settled();
  assert.deepEqual(got.at(-1), ["other", "p5"]);
});

test("a missing picture is not asked again, a failed one is; old ones are forgotten", async () => {
  const { asked, loader } = slowLoader({ atOnce: 3, kept: 2 });
  const nothing = () => {};
  loader.want(1, nothing);
  asked[0].resolve(null);
  await settled();
  loader.want(1, nothing);
  assert.equal(asked.length, 1);
  loader.want(2, nothing);
  asked[1].reject(new Error("offline"));
  await settled();
  loader.want(2, nothing);
  assert.equal(asked.length, 3);
  asked[2].resolve("two");
  loader.want(3, nothing);
  asked[3].resolve("three");
  await settled();
  loader.get(2);
  loader.want(4, nothing);
  asked[4].resolve("four");
  await settled();
  assert.equal(loader.get(3), null);
  assert.equal(loader.get(2), "two");
});

test("rows are sorted for the grid and the rest stays in order", () => {
  const margin = Float32Array.from([3, 1, 2, 5, 4, 0, 6]);
  const by = (order) => sortRows(all, order, { truth, answer, margin });
  assert.deepEqual(by("unsure"), [5, 1, 2, 0, 4, 3, 6]);
  assert.deepEqual(by("wrong"), [1, 4, 6, 0, 2, 3, 5]);
  assert.deepEqual(by("given"), all);
  assert.deepEqual(by("class"), [5, 0, 1, 2, 3, 4, 6]);
});

test("scales, ticks and the nearest point of a curve", () => {
  const scale = makeScale([0, 2], [100, 0]);
  assert.equal(scale(0.5), 75);
  assert.deepEqual(ticks([0, 0.8]), [0, 0.2, 0.4, 0.6, 0.8]);
  assert.deepEqual(ticks([-3, 3], 6), [-3, -2, -1, 0, 1, 2, 3]);
  assert.equal(nearestIndex([[0, 0], [10, 90], [20, 0]], [12, 0]), 2);
  assert.equal(nearestIndex([[0, 0], [10, 90], [20, 0]], [12, 0], [1, 0]), 1);
  assert.equal(nearestValue([-1, 0, 0.4, 2], 0.3), 2);
});

test("a slider spans the range of the training, holds its value, and meets its ends", () => {
  const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-9, `${found} is not ${wanted}`);
  for (const [low, high, value, least, most] of [
    [0, 1, 0.5, 0, 1], [0, 1, 3, 0, 3], [2, 2, 2, 2, 2], [0, 50, -10.2, -10.5, 50],
  ]) {
    const { min, max, step } = sliderRange({ low, high }, value);
    near(min, least);
    near(max, most);
    for (const end of [low, high]) near((end - min) / step, Math.round((end - min) / step));
  }
});

test("the ends of a slider have names, and an accuracy says by how much it moved", () => {
  assert.deepEqual(endsOf({ either: true, least: "cow", most: "zebra" }), ["no", "yes"]);
  assert.deepEqual(endsOf({ either: false, least: "cow", most: "zebra" }), ["least: cow", "most: zebra"]);
  assert.equal(moved(0.98, 0.85), "+13");
  assert.equal(moved(0.2, 0.851), "−65");
  assert.deepEqual([moved(0.5, 0.501), moved(null, 0.5), moved(0.5, undefined)], ["", "", ""]);
});

test("attributes stay in the order of the table within their groups", () => {
  const groups = grouped([{ name: "a", group: "x" }, { name: "b", group: null }, { name: "c", group: "x" }]);
  assert.deepEqual([...groups.keys()], ["x", ""]);
  assert.deepEqual(groups.get("x").map((d) => d.index), [0, 2]);
});

test("the surest pictures of an answer come first", () => {
  const margin = Float32Array.from([3, 1, 2, 5, 4, 9, 6]);
  assert.deepEqual(surest(1, { answer, margin }, all, 2), [5, 3]);
});

test("two methods agree or not, row by row", () => {
  const second = Int32Array.from([0, 0, 1, 0, 0, 0, 0]);
  assert.deepEqual(agreement(truth, answer, second, all), {
    both: [0], first: [2, 3], second: [1], neither: [4, 6],
  });
});

test("a suggestion that is accepted is written in the place of the word, once", () => {
  assert.equal(withWord("a bigg ring, bigger", "bigg", "large"), "a large ring, bigger");
  assert.equal(withWord("Like a hors with doted fur", "hors", "like horse"), "like horse with doted fur");
  assert.equal(withWord("an elefant that doesn’t swim", "elefant", "like elephant"), "like elephant that doesn’t swim");
  assert.equal(withWord("long-legged, (tall)", "long-legged", "longleg"), "longleg, (tall)");
  assert.equal(withWord("größe und größer", "größe", "large"), "large und größer");
});

test("which of two classes has a trait is said in a few words", () => {
  assert.equal(whoHas({ given_has: true, right_has: false }, "zebra", "cow"), "zebra has it, cow lacks it");
  assert.equal(whoHas({ given_has: false, right_has: false }, "zebra", "cow"), "both lack it");
  assert.equal(whoHas({ given_has: null }, "zebra", "cow"), "");
});

test("bars are shares of all that is weighed, and a trait that is there or not is a share too", () => {
  const found = weighed([{ difference: 3 }, { difference: -1 }]);
  assert.deepEqual([found.largest, found.total, found.favor], [3, 4, 0.75]);
  assert.equal(found.figure(-1), "−1.00");
  assert.equal(weighed([]).favor, 0);
  assert.equal(figureOf({ either: true, low: 0, high: 1 }, 0.133), "13 %");
  assert.equal(figureOf({ either: false, low: 0, high: 1 }, 0.133), "0.133");
  assert.equal(figureOf({ either: true, low: -1, high: 1 }, 1), "1");
});

test("what a class is mistaken for most is counted on test pictures", () => {
  const studio = {
    labels: { truth: Int32Array.from([0, 0, 0, 0, 1]), split: Uint8Array.from([1, 1, 1, 0, 1]) },
    answers: { answer: Int32Array.from([0, 2, 2, 1, 1]) },
    nameOf: (id) => `c${id}`,
  };
  assert.equal(mistakenFor(0, studio), "c2 (2)");
  assert.equal(mistakenFor(1, studio), null);
});

test("initials and scopes", () => {
  assert.equal(initials("grizzly+bear"), "GB");
  assert.equal(initials("ox"), "O");
  assert.equal(initials(""), "?");
  assert.deepEqual([inScope("new", true, 1), inScope("test", true, 1), inScope("test", true, 0)], [false, true, false]);
  assert.deepEqual([inScope("new", false, 0), inScope("all", true, 0)], [true, true]);
});

test("a suggestion names what differs, and only what the training can know", () => {
  const dimension = (name, high = 1, group = null) => ({ name, low: 0, high, group, meaningful: true });
  const dimensions = [dimension("plain"), dimension("dotted"), dimension("blue", 0), dimension("red"), dimension("ring")];
  const given = { candidates: [{ name: "dotted red ring" }], waiting: [{ name: "plain blue ring" }] };
  const text = (all) => suggestion({ state: { dimensions: all }, ...given }).text;
  assert.equal(text(dimensions), "like dotted red ring, but plain, not dotted, not red");
  // Of a group there is one at a time.
  assert.equal(text(dimensions.map((d) => ({ ...d, group: "any" }))), "like dotted red ring, but plain");
});

test("the time left is said as a person would", () => {
  const first = { done: 100, at: 0 };
  assert.equal(timeLeft(first, 1000, { done: 200, total: 1000 }), null);
  assert.equal(timeLeft(first, 10_000, { done: 100, total: 1000 }), null);
  assert.equal(timeLeft(first, 10_000, { done: 200, total: 1000 }), 80);
  assert.deepEqual([20, 80, 600, 9000].map(inWords), [
    "less than a minute left", "about 1 minute left", "about 10 minutes left", "about 3 hours left",
  ]);
});

test("numbers that stand below each other have as many decimals", () => {
  const shown = (values) => values.map(alike(values));
  assert.deepEqual(shown([0.31, 0.3, -0.295]), ["0.310", "0.300", "−0.295"]);
  assert.deepEqual(shown([209.4, -3]), ["209", "−3"]);
  assert.deepEqual(shown([12.34, 1]), ["12.3", "1.0"]);
  assert.deepEqual(shown([0, 0]), ["0.00", "0.00"]);
  assert.deepEqual(shown([3e-7]), ["3.0e-7"]);
});
