// The map as a picture: points become marks of a color, drawn in layers, with thumbnails when near.

import { classColor, faded } from "./dom.js";

// Where the map is looked at from: world coordinates to pixels and back.

/** A view of the plane: pixel = world * scale + shift, the vertical axis turned up. */
export class Camera {
  constructor(width = 1, height = 1) {
    this.width = width;
    this.height = height;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = 1;
    this.box = null; // what was fitted, and where the view was then
    this.home = [1, 0, 0];
  }

  /** Show the whole of a box with a margin in pixels. */
  fit(box, margin = 28) {
    const [left, bottom, right, top] = box;
    const across = Math.max(right - left, 1e-12);
    const up = Math.max(top - bottom, 1e-12);
    const wide = Math.max(this.width - 2 * margin, 1);
    const high = Math.max(this.height - 2 * margin, 1);
    this.scale = Math.min(wide / across, high / up);
    this.fitted = this.scale;
    this.x = this.width / 2 - (this.scale * (left + right)) / 2;
    this.y = this.height / 2 + (this.scale * (bottom + top)) / 2;
    this.box = box;
    this.home = [this.scale, this.x, this.y];
  }

  /**
   * Follow a window that changes its size: what was seen whole stays whole; where somebody has
   * moved or zoomed, the middle stays where it is.
   */
  resize(width, height) {
    const whole = this.#isHome() ? this.box : null;
    this.x += (width - this.width) / 2;
    this.y += (height - this.height) / 2;
    this.width = width;
    this.height = height;
    if (whole) this.fit(whole);
  }

  #isHome() {
    return this.box !== null && this.home.every((value, k) => value === [this.scale, this.x, this.y][k]);
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  /** Zoom so that the point under the pixel stays under it. */
  zoom(factor, px, py) {
    const scale = Math.min(Math.max(this.scale * factor, this.fitted / 4), this.fitted * 400);
    const change = scale / this.scale;
    this.x = px - (px - this.x) * change;
    this.y = py - (py - this.y) * change;
    this.scale = scale;
  }

  toPixel(x, y) {
    return [x * this.scale + this.x, this.y - y * this.scale];
  }

  toWorld(px, py) {
    return [(px - this.x) / this.scale, (this.y - py) / this.scale];
  }
}

/** The box of points given as x, y, x, y, ...: left, bottom, right, top. Hidden ones count not. */
export function boundsOf(xy, hidden = null) {
  let left = Infinity;
  let bottom = Infinity;
  let right = -Infinity;
  let top = -Infinity;
  for (let i = 0; i + 1 < xy.length; i += 2) {
    if (hidden?.[i / 2]) continue;
    if (xy[i] < left) left = xy[i];
    if (xy[i] > right) right = xy[i];
    if (xy[i + 1] < bottom) bottom = xy[i + 1];
    if (xy[i + 1] > top) top = xy[i + 1];
  }
  return left > right ? [0, 0, 1, 1] : [left, bottom, right, top];
}

// Finding points on the map: a grid of cells in typed arrays, and points inside a drawn outline.

/** Points sorted into square cells, so that a pick looks at a handful of them. */
export class PointGrid {
  /** @param {Float32Array} xy x, y, x, y, ... */
  constructor(xy) {
    this.xy = xy;
    const n = xy.length / 2;
    const [left, bottom, right, top] = boundsOf(xy);
    const side = Math.max(1, Math.ceil(Math.sqrt(n / 4)));
    this.left = left;
    this.bottom = bottom;
    this.cell = Math.max(right - left, top - bottom, 1e-12) / side;
    this.columns = Math.floor((right - left) / this.cell) + 1;
    this.rows = Math.floor((top - bottom) / this.cell) + 1;
    this.starts = new Uint32Array(this.columns * this.rows + 1);
    const cells = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      cells[i] = this.cellOf(xy[2 * i], xy[2 * i + 1]);
      this.starts[cells[i] + 1]++;
    }
    for (let c = 0; c + 1 < this.starts.length; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice(0, -1);
    this.order = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.order[next[cells[i]]++] = i;
  }

  cellOf(x, y) {
    const column = clamp(Math.floor((x - this.left) / this.cell), 0, this.columns - 1);
    const row = clamp(Math.floor((y - this.bottom) / this.cell), 0, this.rows - 1);
    return row * this.columns + column;
  }

  /** Call back with every point whose cell touches a box. */
  each([left, bottom, right, top], found) {
    const at = (value, start, count) => clamp(Math.floor((value - start) / this.cell), 0, count - 1);
    const lastColumn = at(right, this.left, this.columns);
    const lastRow = at(top, this.bottom, this.rows);
    for (let row = at(bottom, this.bottom, this.rows); row <= lastRow; row++) {
      for (let column = at(left, this.left, this.columns); column <= lastColumn; column++) {
        const cell = row * this.columns + column;
        for (let k = this.starts[cell]; k < this.starts[cell + 1]; k++) found(this.order[k]);
      }
    }
  }

  /** The nearest point within a radius for which `allowed` holds, or -1. */
  nearest(x, y, radius, allowed = () => true) {
    let best = -1;
    let closest = radius * radius;
    this.each([x - radius, y - radius, x + radius, y + radius], (i) => {
      const distance = (this.xy[2 * i] - x) ** 2 + (this.xy[2 * i + 1] - y) ** 2;
      if (distance <= closest && allowed(i)) {
        closest = distance;
        best = i;
      }
    });
    return best;
  }

  /** The points inside an outline given as x, y, x, y, ..., in the order of their numbers. */
  inside(outline, allowed = () => true) {
    const found = [];
    if (outline.length < 6) return Uint32Array.from(found);
    this.each(boundsOf(outline), (i) => {
      if (allowed(i) && contains(outline, this.xy[2 * i], this.xy[2 * i + 1])) found.push(i);
    });
    return Uint32Array.from(found).sort();
  }
}

/** Whether an outline holds a point, by the even-odd rule. */
export function contains(outline, x, y) {
  let inside = false;
  for (let i = 0, j = outline.length - 2; i < outline.length; j = i, i += 2) {
    const [ax, ay, bx, by] = [outline[i], outline[i + 1], outline[j], outline[j + 1]];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// Many small marks on a canvas: shapes as masks of coverage, blended into pixels by one loop.
// 50,000 marks take some milliseconds this way, where as many canvas calls take a hundred.

/** Marks by number: a disc is right, a ring wrong, a cross "none of these", a dot unknown. */
export const MARKS = { disc: 0, ring: 1, cross: 2, dot: 3, diamond: 4 };

const SAMPLES = 4;

const SHAPES = [
  (x, y, r) => x * x + y * y <= r * r,
  (x, y, r) => x * x + y * y <= r * r && x * x + y * y >= (0.52 * r) ** 2,
  (x, y, r) => Math.abs(Math.abs(x) - Math.abs(y)) < 0.38 * r && x * x + y * y <= r * r,
  (x, y, r) => x * x + y * y <= (0.72 * r) ** 2,
  (x, y, r) => Math.abs(x) + Math.abs(y) <= 1.12 * r,
];

/**
 * Coverage of each mark in a square of pixels.
 * @param {number} radius in pixels of the canvas
 * @returns {{side: number, masks: Float32Array[]}}
 */
export function makeStamps(radius) {
  const half = Math.ceil(radius * 1.15);
  const side = 2 * half + 1;
  const masks = SHAPES.map((holds) => {
    const mask = new Float32Array(side * side);
    for (let k = 0; k < mask.length; k++) {
      const x = (k % side) - half;
      const y = Math.floor(k / side) - half;
      for (let s = 0; s < SAMPLES * SAMPLES; s++) {
        const dx = ((s % SAMPLES) + 0.5) / SAMPLES - 0.5;
        const dy = (Math.floor(s / SAMPLES) + 0.5) / SAMPLES - 0.5;
        if (holds(x + dx, y + dy, radius)) mask[k] += 1 / (SAMPLES * SAMPLES);
      }
    }
    return mask;
  });
  return { side, masks };
}

/**
 * Blend marks into pixels.
 * @param {{data: Uint8ClampedArray, width: number, height: number}} image
 * @param {{side: number, masks: Float32Array[]}} stamps
 * @param {{x: Float32Array, y: Float32Array, mark: Uint8Array, color: Uint32Array,
 *   order: Uint32Array}} points pixels; color is 0xRRGGBBAA; `order` says which, the last on top
 */
export function drawStamps(image, stamps, points) {
  const { data, width, height } = image;
  const { side, masks } = stamps;
  const half = (side - 1) / 2;
  for (const i of points.order) {
    const left = Math.round(points.x[i]) - half;
    const top = Math.round(points.y[i]) - half;
    if (left + side <= 0 || top + side <= 0 || left >= width || top >= height) continue;
    const mask = masks[points.mark[i]];
    const color = points.color[i];
    const [red, green, blue] = [color >>> 24, (color >>> 16) & 255, (color >>> 8) & 255];
    const strength = (color & 255) / 255;
    const firstRow = Math.max(0, -top);
    const lastRow = Math.min(side, height - top);
    const firstColumn = Math.max(0, -left);
    const lastColumn = Math.min(side, width - left);
    for (let row = firstRow; row < lastRow; row++) {
      let at = 4 * ((top + row) * width + left + firstColumn);
      for (let column = firstColumn; column < lastColumn; column++, at += 4) {
        const alpha = mask[row * side + column] * strength;
        if (alpha === 0) continue;
        data[at] += (red - data[at]) * alpha;
        data[at + 1] += (green - data[at + 1]) * alpha;
        data[at + 2] += (blue - data[at + 2]) * alpha;
      }
    }
  }
}

/** Fill the pixels with one opaque color, 0xRRGGBBAA. */
export function clearPixels(image, color) {
  const swapped =
    ((255 << 24) | (((color >>> 8) & 255) << 16) | (((color >>> 16) & 255) << 8) | (color >>> 24)) >>> 0;
  new Uint32Array(image.data.buffer).fill(swapped);
}

// Pictures stand where there is room, if not more points than this are in sight.
const NEAR = 1500;
const PICTURES = 160;

/** Radius of a mark in CSS pixels: many points need small ones. */
export const radiusFor = (n) => (n <= 1500 ? 4.5 : n <= 6000 ? 3.6 : n <= 20000 ? 2.8 : 2.2);

const mixed = (i) => Math.imul(i + 1, 2654435761) >>> 0;

/** Those points, first come first served, whose squares do not overlap. */
export function withRoom(rows, x, y, side, most) {
  const taken = new Map();
  const chosen = [];
  const free = (i, column, row) => {
    for (let dx = -1; dx <= 1; dx++) {
      for (let dy = -1; dy <= 1; dy++) {
        const other = taken.get(`${column + dx},${row + dy}`);
        if (other !== undefined && Math.abs(x[i] - x[other]) < side && Math.abs(y[i] - y[other]) < side) {
          return false;
        }
      }
    }
    return true;
  };
  for (const i of rows) {
    const [column, row] = [Math.floor(x[i] / side), Math.floor(y[i] / side)];
    if (!free(i, column, row)) continue;
    taken.set(`${column},${row}`, i);
    chosen.push(i);
    if (chosen.length === most) break;
  }
  return chosen;
}

/** A canvas of points. What each looks like is given as arrays, so a repaint reads no objects. */
export class Scatter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.camera = new Camera();
    this.xy = new Float32Array(0);
    this.grid = new PointGrid(this.xy);
    this.ratio = 1;
    this.background = 0xffffffff;
    this.thumbnail = null; // (id) => CanvasImageSource | null
    this.hidden = null; // Uint8Array, 1 = not shown
    this.plain = null; // Uint8Array, 1 = never shown as a picture
    this.showing = new Set();
  }

  /** Take other points; the view is fitted to them. */
  setPoints(xy) {
    const n = xy.length / 2;
    this.xy = xy;
    this.grid = new PointGrid(xy);
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    this.mark = new Uint8Array(n);
    this.color = new Uint32Array(n);
    this.order = Uint32Array.from({ length: n }, (_, i) => i);
    this.camera.fit(boundsOf(xy));
  }

  /** Follow the size of the element on the screen. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return false;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [across, down] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down || !this.image) {
      const fresh = !this.image;
      this.canvas.width = across;
      this.canvas.height = down;
      this.image = this.context.createImageData(across, down);
      this.camera.resize(width, height);
      if (fresh) this.home();
    }
    const radius = radiusFor(this.xy.length / 2) * this.ratio;
    if (this.radius !== radius) {
      this.radius = radius;
      this.stamps = makeStamps(radius);
    }
    return true;
  }

  /** Show all points that are not hidden. */
  home() {
    this.camera.fit(boundsOf(this.xy, this.hidden));
  }

  /** Draw everything; the look of the points has been written to mark, color and order. */
  paint() {
    if (!this.resize()) return;
    const { camera, ratio, xy, x, y } = this;
    const scale = camera.scale * ratio;
    const [shiftX, shiftY] = [camera.x * ratio, camera.y * ratio];
    for (let i = 0, n = xy.length / 2; i < n; i++) {
      x[i] = xy[2 * i] * scale + shiftX;
      y[i] = shiftY - xy[2 * i + 1] * scale;
    }
    clearPixels(this.image, this.background);
    drawStamps(this.image, this.stamps, this);
    this.context.putImageData(this.image, 0, 0);
    this.#paintPictures();
  }

  /** The points in sight that may be shown, at most `limit` + 1 of them. */
  inSight(limit) {
    const { camera } = this;
    const [left, bottom] = camera.toWorld(0, camera.height);
    const [right, top] = camera.toWorld(camera.width, 0);
    const found = [];
    this.grid.each([left, bottom, right, top], (i) => {
      if (found.length > limit || this.hidden?.[i] || this.plain?.[i]) return;
      const [px, py] = [this.xy[2 * i], this.xy[2 * i + 1]];
      if (px >= left && px <= right && py >= bottom && py <= top) found.push(i);
    });
    // In a mixed order that does not change, so that all classes get a place.
    return found.sort((a, b) => mixed(a) - mixed(b));
  }

  #paintPictures() {
    this.showing = new Set();
    if (!this.thumbnail) return;
    const near = this.inSight(NEAR);
    if (!near.length || near.length > NEAR) return;
    const side = (near.length > 60 ? 32 : 46) * this.ratio;
    this.showing = new Set(withRoom(near, this.x, this.y, side + 2 * this.ratio, PICTURES));
    for (const i of this.showing) {
      const picture = this.thumbnail(i);
      if (!picture) continue;
      const [left, top] = [Math.round(this.x[i] - side / 2), Math.round(this.y[i] - side / 2)];
      this.context.drawImage(picture, left, top, side, side);
      this.#frame(i, left, top, side);
    }
  }

  // A full frame is right, a dashed one wrong: never color alone.
  #frame(i, left, top, side) {
    const { context, ratio } = this;
    const color = this.color[i];
    context.strokeStyle = `rgb(${color >>> 24} ${(color >>> 16) & 255} ${(color >>> 8) & 255})`;
    context.lineWidth = 3 * ratio;
    context.setLineDash(this.mark[i] === MARKS.disc || this.mark[i] === MARKS.dot ? [] : [5 * ratio, 4 * ratio]);
    context.strokeRect(left, top, side, side);
    context.setLineDash([]);
  }

  /** A ring around a point, on top of all. */
  ring(i, color, size = 9) {
    const [px, py] = this.camera.toPixel(this.xy[2 * i], this.xy[2 * i + 1]);
    const { context, ratio } = this;
    context.beginPath();
    const radius = this.showing.has(i) ? 28 : size;
    context.arc(px * ratio, py * ratio, radius * ratio, 0, 2 * Math.PI);
    context.lineWidth = 2.5 * ratio;
    context.strokeStyle = color;
    context.stroke();
  }

  /** An outline in pixels of the screen, as it is drawn by hand. */
  outline(path, color) {
    if (path.length < 4) return;
    const { context, ratio } = this;
    context.beginPath();
    for (let k = 0; k < path.length; k += 2) context.lineTo(path[k] * ratio, path[k + 1] * ratio);
    context.closePath();
    context.lineWidth = 2 * ratio;
    context.setLineDash([6 * ratio, 4 * ratio]);
    context.strokeStyle = color;
    context.stroke();
    context.setLineDash([]);
  }

  /** The point at a pixel of the screen, within a radius in pixels, or -1. */
  pick(px, py, radius = 14) {
    const [x, y] = this.camera.toWorld(px, py);
    return this.grid.nearest(x, y, radius / this.camera.scale, (i) => !this.hidden?.[i]);
  }
}

// What each point looks like: its mark says right or wrong, its color the class or the result.

/** What an answer is to the eye: right, wrong, none of these, or unknown. */
export function markOf(truth, answer) {
  if (truth < 0) return MARKS.dot;
  if (answer < 0) return MARKS.cross;
  return truth === answer ? MARKS.disc : MARKS.ring;
}

/**
 * Write marks and colors of all points, and the order in which they are drawn.
 * @param {{mark: Uint8Array, color: Uint32Array, order: Uint32Array, plain: Uint8Array}} points
 *   written to; plain ones stand back
 * @param {{truth: Int32Array, answer: Int32Array, hidden: Uint8Array, selected: Uint8Array|null,
 *   mode: "result"|"answer"|"truth", focus: number|null, theme: object}} how
 */
export function dress(points, how) {
  const { truth, answer, hidden, selected, focus, theme } = how;
  const colorOf = makeColors(how);
  const [back, front] = [[], []];
  points.plain = new Uint8Array(truth.length);
  for (let i = 0; i < truth.length; i++) {
    if (hidden[i]) continue;
    const mark = markOf(truth[i], answer[i]);
    points.mark[i] = mark;
    let color = colorOf(truth[i], answer[i], mark);
    let near = true;
    if (focus !== null) {
      near = truth[i] === focus || answer[i] === focus;
      if (near && truth[i] === focus && answer[i] !== focus) points.mark[i] = MARKS.diamond;
      color = near ? focusColor(truth[i], answer[i], focus, theme) : faded(theme.faint, 0.55);
      if (!near) points.mark[i] = MARKS.dot;
    }
    if (selected && !selected[i]) {
      near = false;
      color = faded(theme.faint, 0.4);
    }
    points.color[i] = color;
    points.plain[i] = near ? 0 : 1;
    (near ? front : back).push(i);
  }
  points.order = Uint32Array.from(back.concat(front));
}

function focusColor(truth, answer, focus, theme) {
  if (truth === focus && answer === focus) return theme.right;
  if (truth < 0) return theme.focus;
  return theme.wrong;
}

function makeColors({ mode, theme }) {
  if (mode === "result") {
    const colors = [theme.right, theme.wrong, theme.muted, theme.focus];
    return (truth, answer, mark) => faded(colors[mark], 0.85);
  }
  const known = new Map();
  const of = (id) => {
    if (!known.has(id)) known.set(id, id < 0 ? theme.muted : classColor(id, theme.dark));
    return known.get(id);
  };
  return mode === "answer" ? (truth, answer) => of(answer) : (truth) => of(truth);
}
