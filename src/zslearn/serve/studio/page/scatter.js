// The map as a picture: points become marks of a color, drawn in layers, with thumbnails when near.

import { Camera, boundsOf } from "./camera.js";
import { PointGrid } from "./points.js";
import { MARKS, clearPixels, drawStamps, makeStamps } from "./stamps.js";

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
