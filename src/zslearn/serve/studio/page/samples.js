// All pictures, or texts, as a grid of which only the part on the screen exists.

import { counted, fill, h } from "./dom.js";
import { dressTile, makeTile, visibleCells, wideOf } from "./tiles.js";

const CELL = 96;
const GAP = 8;

export const ORDERS = [
  ["unsure", "least sure first"],
  ["wrong", "mistakes first"],
  ["class", "by class"],
  ["given", "as given"],
];

/** Sort rows for the grid; stable, so that equal ones stay as they were. */
export function sortRows(rows, order, { truth, answer, margin }) {
  const sorted = Array.from(rows);
  const wrong = (i) => (truth[i] >= 0 && truth[i] !== answer[i] ? 0 : 1);
  if (order === "unsure") sorted.sort((a, b) => margin[a] - margin[b]);
  else if (order === "wrong") sorted.sort((a, b) => wrong(a) - wrong(b));
  else if (order === "class") sorted.sort((a, b) => truth[a] - truth[b]);
  return sorted;
}

export class PicturesView {
  /** @param {{studio: object, element: HTMLElement, loader: object}} parts */
  constructor({ studio, element, loader }) {
    Object.assign(this, { studio, element, loader });
    this.tiles = new Map();
    this.rows = [];
    this.order = h(
      "select",
      { "aria-label": "Order", onchange: () => this.refresh() },
      ORDERS.map(([value, text]) => h("option", { value }, text)),
    );
    this.order.value = "class";
    this.note = h("span", { class: "muted" });
    this.floor = h("div", { class: "grid-floor" });
    this.scroller = h(
      "div",
      { class: "grid", tabindex: "0", role: "group", "aria-label": "Pictures", onscroll: () => this.#ask() },
      this.floor,
    );
    fill(
      element,
      h("div", { class: "toolbar" }, h("label", {}, "Order ", this.order), this.note),
      this.scroller,
    );
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    studio.on("answers view state", () => this.refresh());
    new ResizeObserver(() => this.#ask()).observe(this.scroller);
  }

  refresh() {
    const { studio } = this;
    if (!studio.state?.ready || this.element.hidden) return;
    const focus = studio.view.focus;
    const { truth } = studio.labels;
    const { answer } = studio.answers;
    let rows = studio.rows();
    if (focus !== null) rows = rows.filter((i) => truth[i] === focus || answer[i] === focus);
    this.rows = sortRows(rows, this.order.value, { truth, ...studio.answers });
    const about = focus === null ? "" : ` of or answered ${studio.nameOf(focus)}`;
    this.note.textContent = `${counted(this.rows.length, "picture")}${about}`;
    this.#ask();
  }

  #ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.#lay();
    });
  }

  #lay() {
    const { scroller, floor, rows, studio } = this;
    if (!scroller.clientWidth) return;
    const layout = visibleCells({
      count: rows.length,
      width: floor.clientWidth,
      cell: CELL,
      wide: wideOf(studio, CELL),
      gap: GAP,
      top: scroller.scrollTop,
      height: scroller.clientHeight,
    });
    this.columns = layout.columns;
    floor.style.height = `${layout.total}px`;
    const wanted = new Set(rows.slice(layout.first, layout.last));
    this.loader.keepOnly(this, (id) => wanted.has(id));
    for (const [i, tile] of this.tiles) {
      if (!wanted.has(i)) {
        tile.remove();
        this.tiles.delete(i);
      }
    }
    for (let k = layout.first; k < layout.last; k++) this.#place(rows[k], k, layout);
    this.element.dataset.painted = String(studio.revision);
  }

  #place(i, k, { columns, pitch }) {
    const { studio, loader } = this;
    let tile = this.tiles.get(i);
    if (tile) dressTile(studio, tile, i);
    else {
      tile = makeTile({ studio, loader, i, side: CELL, owner: this, onclick: () => studio.look({ sample: i }) });
      this.tiles.set(i, tile);
      this.floor.append(tile);
    }
    tile.dataset.place = String(k);
    tile.style.left = `${(k % columns) * (wideOf(studio, CELL) + GAP)}px`;
    tile.style.top = `${Math.floor(k / columns) * pitch}px`;
  }

  // Arrow keys walk over the pictures, also to those that do not exist yet.
  #key(event) {
    const place = Number(event.target.dataset?.place ?? -1);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns }[event.key];
    if (step === undefined || !this.rows.length) return;
    event.preventDefault();
    const next = Math.min(Math.max(place < 0 ? 0 : place + step, 0), this.rows.length - 1);
    const top = Math.floor(next / this.columns) * (CELL + GAP);
    const { scroller } = this;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const bottom = top + CELL - scroller.clientHeight;
    if (bottom > scroller.scrollTop) scroller.scrollTop = bottom;
    this.#lay();
    this.tiles.get(this.rows[next])?.focus();
  }
}
