// A curve with a handle: dragged by hand, moved by keys, read aloud as a slider.

import { fill, svg } from "./dom.js";

const WIDTH = 560;
const NARROW = 360; // on a phone the figure is as wide as the screen, and its texts as large as elsewhere
const HEIGHT = 320;
const EDGE = { left: 62, right: 30, top: 30, bottom: 46 };

/** A linear scale from a range of values to pixels. */
export function makeScale([low, high], [from, to]) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** About five round numbers over a range. */
export function ticks([low, high], wanted = 5) {
  const raw = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

/** The number of the point of a curve that is nearest to a pixel. */
export function nearestIndex(points, [x, y], weight = [1, 1]) {
  let best = 0;
  let closest = Infinity;
  points.forEach(([px, py], k) => {
    const distance = weight[0] * (px - x) ** 2 + weight[1] * (py - y) ** 2;
    if (distance < closest) {
      closest = distance;
      best = k;
    }
  });
  return best;
}

/** The number of the value nearest to another in a sorted or unsorted list. */
export function nearestValue(values, wanted) {
  let best = 0;
  for (let k = 1; k < values.length; k++) {
    if (Math.abs(values[k] - wanted) < Math.abs(values[best] - wanted)) best = k;
  }
  return best;
}

/** One figure with axes, lines, marks and one handle. */
export class Curve {
  /**
   * @param {{label: string, xLabel: string, yLabel: string, move: Function, say: Function,
   *   along?: "x"|"both"}} how `move(index, final)` is called while the handle moves; `say(index)`
   *   returns what a screen reader hears
   */
  constructor(how) {
    this.how = how;
    this.index = 0;
    this.points = [];
    this.handle = svg("circle", {
      class: "handle",
      r: 10,
      tabindex: "0",
      role: "slider",
      "aria-label": how.label,
      "aria-valuemin": 0,
    });
    this.width = WIDTH;
    this.figure = null;
    this.layer = svg("g");
    this.element = svg(
      "svg",
      { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": how.label },
      this.layer,
      this.handle,
    );
    new ResizeObserver(([{ contentRect }]) => this.#resize(contentRect.width)).observe(this.element);
    this.handle.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("pointerdown", (event) => this.#down(event));
    this.element.addEventListener("pointermove", (event) => this.dragging && this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      this.element.addEventListener(name, () => this.#up());
    }
  }

  #resize(width) {
    const wanted = width < (WIDTH + NARROW) / 2 ? NARROW : WIDTH;
    if (!width || wanted === this.width) return;
    this.width = wanted;
    this.element.setAttribute("viewBox", `0 0 ${wanted} ${HEIGHT}`);
    if (this.figure) this.draw({ ...this.figure, index: this.index });
  }

  /**
   * Draw.
   * @param {{x: {range: number[], ticks?: number[], text: Function},
   *   y: {range: number[], ticks?: number[], text: Function},
   *   lines: {name: string, class: string, points: number[][]}[],
   *   marks: {at: number[], text: string, shape: "diamond"|"triangle",
   *   below?: boolean}[],
   *   track: number[][], index: number}} figure `track` is what the handle runs along
   */
  draw(figure) {
    this.figure = figure;
    const across = makeScale(figure.x.range, [EDGE.left, this.width - EDGE.right]);
    const up = makeScale(figure.y.range, [HEIGHT - EDGE.bottom, EDGE.top]);
    const at = ([x, y]) => [across(x), up(y)];
    fill(
      this.layer,
      this.#axes(figure, across, up),
      figure.lines.map((line) =>
        svg("polyline", { class: `line ${line.class}`, points: line.points.map(at).join(" ") }),
      ),
      figure.marks.map((mark) => drawMark(mark, at(mark.at), this.width)),
    );
    this.points = figure.track.map(at);
    this.handle.setAttribute("aria-valuemax", String(this.points.length - 1));
    if (!this.dragging) this.place(figure.index);
  }

  #axes({ x, y }, across, up) {
    const bottom = HEIGHT - EDGE.bottom;
    const right = this.width - EDGE.right;
    const text = (attributes, value) => svg("text", { class: "axis", ...attributes }, value);
    return [
      (y.ticks ?? ticks(y.range)).map((value) => [
        svg("line", { class: "rule", x1: EDGE.left, x2: right, y1: up(value), y2: up(value) }),
        text({ x: EDGE.left - 8, y: up(value) + 4, "text-anchor": "end" }, y.text(value)),
      ]),
      (x.ticks ?? ticks(x.range, this.width < WIDTH ? 4 : 5)).map((value) =>
        text({ x: across(value), y: bottom + 18, "text-anchor": "middle" }, x.text(value)),
      ),
      svg("line", { class: "base", x1: EDGE.left, x2: right, y1: bottom, y2: bottom }),
      text({ x: (EDGE.left + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, this.how.xLabel),
      text(
        { transform: `translate(15 ${(EDGE.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
        this.how.yLabel,
      ),
    ];
  }

  /** Put the handle on a point of its track. */
  place(index) {
    if (!this.points.length) return;
    this.index = Math.min(Math.max(index, 0), this.points.length - 1);
    const [x, y] = this.points[this.index];
    this.handle.setAttribute("cx", String(x));
    this.handle.setAttribute("cy", String(y));
    this.handle.setAttribute("aria-valuenow", String(this.index));
    this.handle.setAttribute("aria-valuetext", this.how.say(this.index));
  }

  #pixel(event) {
    const box = this.element.getBoundingClientRect();
    const scale = Math.min(box.width / this.width, box.height / HEIGHT);
    const left = (box.width - this.width * scale) / 2;
    const top = (box.height - HEIGHT * scale) / 2;
    return [(event.clientX - box.left - left) / scale, (event.clientY - box.top - top) / scale];
  }

  #down(event) {
    if (!this.points.length) return;
    this.dragging = true;
    this.element.setPointerCapture(event.pointerId);
    this.handle.focus({ preventScroll: true });
    this.#drag(event);
    event.preventDefault();
  }

  #drag(event) {
    const weight = this.how.along === "x" ? [1, 0] : [1, 1];
    this.#go(nearestIndex(this.points, this.#pixel(event), weight), false);
  }

  #up() {
    if (!this.dragging) return;
    this.dragging = false;
    this.how.move(this.index, true);
  }

  #go(index, final) {
    const before = this.index;
    this.place(index);
    if (this.index !== before || final) this.how.move(this.index, final);
  }

  #key(event) {
    const last = this.points.length - 1;
    const page = Math.max(1, Math.round(last / 10));
    const steps = {
      ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1,
      PageUp: page, PageDown: -page, Home: -last, End: last,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.#go(this.index + steps[event.key], true);
  }
}

function drawMark({ text, shape, below }, [x, y], width) {
  const path = shape === "triangle" ? "M0 -8 L7 6 L-7 6 Z" : "M0 -8 L8 0 L0 8 L-8 0 Z";
  const left = x > width * 0.7;
  return svg(
    "g",
    { class: `point ${shape}`, transform: `translate(${x} ${y})` },
    svg("path", { d: path }),
    svg(
      "text",
      shape === "triangle"
        ? { class: "axis strong", x: left ? 16 : 0, y: -20, "text-anchor": left ? "end" : "middle" }
        : { class: "axis strong", x: left ? -13 : 13, y: below ? 20 : -9, "text-anchor": left ? "end" : "start" },
      text,
    ),
  );
}
