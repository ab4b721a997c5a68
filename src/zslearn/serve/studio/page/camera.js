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
