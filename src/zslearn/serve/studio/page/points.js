// Finding points on the map: a grid of cells in typed arrays, and points inside a drawn outline.

import { boundsOf } from "./camera.js";

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
