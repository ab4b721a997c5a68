import assert from "node:assert/strict";
import { test } from "node:test";
import { Camera, MARKS, PointGrid, boundsOf, clearPixels, contains, drawStamps, dress, makeStamps, markOf, withRoom } from "../../../../../src/zslearn/serve/studio/page/scatter.js";
import { classColor, faded, hexToNumber, hslToNumber, toCss } from "../../../../../src/zslearn/serve/studio/page/dom.js";

/** The same numbers in every run. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function cloud(n, seed = 1) {
  const next = random(seed);
  return Float32Array.from({ length: 2 * n }, () => next() * next() * 10 - 3);
}

test("pixels and the world are inverse, also after pan and zoom", () => {
  const camera = new Camera(640, 480);
  camera.fit([-3, -1, 5, 2]);
  camera.pan(17, -40);
  camera.zoom(3.7, 100, 200);
  const [x, y] = camera.toWorld(123, 321);
  const [px, py] = camera.toPixel(x, y);
  assert.ok(Math.hypot(px - 123, py - 321) < 1e-9);
});

test("zoom keeps the point under the pointer and stays within limits", () => {
  const camera = new Camera(640, 480);
  camera.fit([0, 0, 1, 1]);
  const before = camera.toWorld(200, 111);
  camera.zoom(2.5, 200, 111);
  const after = camera.toWorld(200, 111);
  assert.ok(Math.hypot(before[0] - after[0], before[1] - after[1]) < 1e-9);
  camera.zoom(1e9, 0, 0);
  assert.equal(camera.scale, camera.fitted * 400);
  camera.zoom(1e-9, 0, 0);
  assert.equal(camera.scale, camera.fitted / 4);
});

test("a fitted view holds every shown point, and hidden ones do not count", () => {
  const xy = cloud(200);
  const camera = new Camera(300, 500);
  camera.fit(boundsOf(xy), 10);
  for (let i = 0; i < 200; i++) {
    const [px, py] = camera.toPixel(xy[2 * i], xy[2 * i + 1]);
    assert.ok(px >= 9.99 && px <= 290.01 && py >= 9.99 && py <= 490.01);
  }
  assert.deepEqual(boundsOf([0, 0, 100, 100, 1, 2], [0, 1, 0]), [0, 0, 1, 2]);
  assert.deepEqual(boundsOf([], null), [0, 0, 1, 1]);
});

test("the grid finds the same nearest point as a look at all of them", () => {
  const xy = cloud(3000, 5);
  const grid = new PointGrid(xy);
  const next = random(9);
  for (let trial = 0; trial < 300; trial++) {
    const [x, y, radius] = [next() * 10 - 3, next() * 10 - 3, next() * 0.5];
    let [best, closest] = [-1, radius];
    for (let i = 0; i < 3000; i++) {
      const distance = Math.hypot(xy[2 * i] - x, xy[2 * i + 1] - y);
      if (distance <= closest) [best, closest] = [i, distance];
    }
    assert.equal(grid.nearest(x, y, radius), best);
  }
});

test("hidden points are not picked", () => {
  const grid = new PointGrid(Float32Array.from([0, 0, 1, 0]));
  assert.equal(grid.nearest(0.1, 0, 5), 0);
  assert.equal(grid.nearest(0.1, 0, 5, (i) => i !== 0), 1);
});

test("a lasso takes exactly the points inside, in order", () => {
  const xy = cloud(2000, 3);
  const grid = new PointGrid(xy);
  const star = [];
  for (let k = 0; k < 10; k++) {
    const size = k % 2 ? 0.7 : 2.5;
    star.push(size * Math.cos((k * Math.PI) / 5) - 1, size * Math.sin((k * Math.PI) / 5));
  }
  const found = [...grid.inside(star)];
  const expected = [...Array(2000).keys()].filter((i) => contains(star, xy[2 * i], xy[2 * i + 1]));
  assert.deepEqual(found, expected);
  assert.ok(found.length > 20 && found.length < 1900);
  assert.equal(grid.inside([0, 0, 1, 1]).length, 0);
});

test("points on a line and equal points do not break the grid", () => {
  const grid = new PointGrid(Float32Array.from([2, 2, 2, 2, 2, 2]));
  assert.ok(grid.nearest(2, 2, 0.1) >= 0);
  assert.equal(new PointGrid(new Float32Array(0)).nearest(0, 0, 1), -1);
});

test("marks cover what their shapes cover", () => {
  const { side, masks } = makeStamps(6);
  const area = (name) => masks[MARKS[name]].reduce((sum, value) => sum + value, 0);
  assert.ok(Math.abs(area("disc") - Math.PI * 36) < 2);
  assert.ok(Math.abs(area("ring") - Math.PI * 36 * (1 - 0.52 ** 2)) < 2);
  assert.ok(Math.abs(area("diamond") - 2 * (1.12 * 6) ** 2) < 3);
  assert.equal(masks[MARKS.ring][(side * side - 1) / 2], 0);
});

test("drawing blends onto the background, on the edge too", () => {
  const image = { data: new Uint8ClampedArray(4 * 20 * 20), width: 20, height: 20 };
  clearPixels(image, 0x102030ff);
  assert.deepEqual([...image.data.slice(0, 4)], [16, 32, 48, 255]);
  const stamps = makeStamps(3);
  drawStamps(image, stamps, {
    x: [10, -1, 100],
    y: [10, 19, 10],
    mark: [MARKS.disc, MARKS.disc, MARKS.disc],
    color: [0xff0000ff, 0x00ff00ff, 0xffffffff],
    order: [0, 1, 2],
  });
  const at = (x, y) => [...image.data.slice(4 * (20 * y + x), 4 * (20 * y + x) + 3)];
  assert.deepEqual(at(10, 10), [255, 0, 0]);
  assert.deepEqual(at(0, 19), [0, 255, 0]);
  assert.deepEqual(at(19, 0), [16, 32, 48]);
});

test("pictures on the map never overlap, and as many as possible stand", () => {
  const xy = cloud(400, 8);
  const x = Float32Array.from({ length: 400 }, (_, i) => 100 * xy[2 * i]);
  const y = Float32Array.from({ length: 400 }, (_, i) => 100 * xy[2 * i + 1]);
  const chosen = withRoom([...x.keys()], x, y, 40, 1000);
  const overlap = (a, b) => Math.abs(x[a] - x[b]) < 40 && Math.abs(y[a] - y[b]) < 40;
  for (const a of chosen) for (const b of chosen) assert.ok(a === b || !overlap(a, b));
  for (let i = 0; i < 400; i++) assert.ok(chosen.some((c) => c === i || overlap(c, i)));
  assert.equal(withRoom([...x.keys()], x, y, 1e-6, 7).length, 7);
});

const theme = {
  surface: 0xffffffff, text: 0x000000ff, muted: 0x555555ff, right: 0x007700ff, wrong: 0xbb4400ff,
  focus: 0x0000bbff, accent: 0x0000bbff, faint: 0xccccccff, dark: false,
};

test("right and wrong differ by mark, not only by color", () => {
  assert.equal(markOf(4, 4), MARKS.disc);
  assert.equal(markOf(4, 5), MARKS.ring);
  assert.equal(markOf(4, -1), MARKS.cross);
  assert.equal(markOf(-1, 4), MARKS.dot);
});

test("a class in focus stands in front: recognized, wrongly given and missed differ", () => {
  const n = 5;
  const points = { mark: new Uint8Array(n), color: new Uint32Array(n), order: new Uint32Array(n) };
  dress(points, {
    truth: Int32Array.from([1, 2, 1, 2, 2]),
    answer: Int32Array.from([1, 1, 2, 2, 2]),
    hidden: Uint8Array.from([0, 0, 0, 0, 1]),
    selected: null, mode: "result", focus: 1, theme,
  });
  assert.deepEqual([...points.order], [3, 0, 1, 2]);
  assert.deepEqual([...points.mark].slice(0, 4), [MARKS.disc, MARKS.ring, MARKS.diamond, MARKS.dot]);
  assert.equal(points.color[0], theme.right);
  assert.equal(points.color[1], theme.wrong);
  assert.deepEqual([...points.plain].slice(0, 4), [0, 0, 0, 1]);
});

test("what is outside of a selection stands back", () => {
  const points = { mark: new Uint8Array(2), color: new Uint32Array(2), order: new Uint32Array(2) };
  dress(points, {
    truth: Int32Array.from([1, 1]), answer: Int32Array.from([1, 1]), hidden: new Uint8Array(2),
    selected: Uint8Array.from([0, 1]), mode: "truth", focus: null, theme,
  });
  assert.deepEqual([...points.order], [0, 1]);
  assert.equal(points.color[0], faded(theme.faint, 0.4));
  assert.equal(points.color[1], classColor(1, false));
});

test("colors are read and written as CSS does", () => {
  assert.equal(hexToNumber("#12ab34"), 0x12ab34ff);
  assert.throws(() => hexToNumber("red"), /not a color/);
  assert.equal(hslToNumber(120, 100, 50), 0x00ff00ff);
  assert.equal(toCss(0x0a0b0cff), "rgb(10 11 12)");
  assert.equal(faded(0x11223344, 1), 0x112233ff);
});

test("a window that shrinks still shows all, unless somebody has moved the map", () => {
  const box = [-3, -1, 5, 2];
  const camera = new Camera(640, 480);
  camera.fit(box);
  camera.resize(300, 200);
  const fresh = new Camera(300, 200);
  fresh.fit(box);
  assert.deepEqual([camera.scale, camera.x, camera.y], [fresh.scale, fresh.x, fresh.y]);
  camera.pan(5, 0);
  const { scale } = camera;
  const middle = camera.toWorld(150, 100);
  camera.resize(640, 480);
  assert.equal(camera.scale, scale);
  assert.deepEqual(camera.toWorld(320, 240), middle);
});
