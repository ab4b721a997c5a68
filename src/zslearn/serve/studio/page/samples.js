// Pictures or texts: one alone, all of them as a grid, and which class is taken for which.

import { classColor, counted, currentTheme, fill, h, newId, percent, say, toCss, whole } from "./dom.js";
import { confusion } from "./studio.js";

/** One line for a row, as titles and screen readers say it. */
export function labelOf(studio, i) {
  const right = studio.isRight(i);
  const answer = `${studio.textOf(i) ?? studio.sampleName(i)}: answered ${studio.nameOf(studio.answers.answer[i])}`;
  const truth = studio.nameOf(studio.labels.truth[i]);
  if (right === null) return studio.labels.truth[i] < 0 ? answer : `${answer}; it is ${truth}, not described yet`;
  return right ? `${answer}, right` : `${answer}, wrong: it is ${truth}`;
}

/** "grizzly bear" -> "GB". */
export function initials(name) {
  const words = name.split(/[\s_+-]+/).filter(Boolean);
  return words.slice(0, 2).map((word) => word[0].toUpperCase()).join("") || "?";
}

/** A canvas that gets the thumbnail of a row as soon as it is here. */
export function drawPicture(loader, i, side, owner = null) {
  const canvas = h("canvas", { class: "thumb", width: 96, height: 96, "data-row": i, "aria-hidden": "true" });
  canvas.style.width = canvas.style.height = `${side}px`;
  const draw = (picture) => {
    if (!picture) return;
    canvas.getContext("2d").drawImage(picture, 0, 0, 96, 96);
    canvas.dataset.drawn = String(i);
  };
  loader.want(i, draw, owner);
  return canvas;
}

/** Initials on the color of the class, for rows without a picture. */
export function drawInitials(studio, i, side) {
  const id = studio.labels.truth[i] >= 0 ? studio.labels.truth[i] : studio.answers.answer[i];
  const tile = h("span", { class: "thumb initials", "aria-hidden": "true" }, initials(studio.nameOf(id)));
  tile.style.width = tile.style.height = `${side}px`;
  tile.style.borderColor = toCss(classColor(id, currentTheme().dark));
  return tile;
}

/** The first lines of a text, on the color of its class. */
export function drawText(studio, i, side) {
  const id = studio.labels.truth[i] >= 0 ? studio.labels.truth[i] : studio.answers.answer[i];
  const tile = h("span", { class: "thumb text-tile", "aria-hidden": "true" }, h("span", {}, studio.textOf(i)));
  tile.style.width = `${wideOf(studio, side)}px`;
  tile.style.height = `${side}px`;
  tile.style.borderColor = toCss(classColor(id, currentTheme().dark));
  return tile;
}

/** How wide a tile is: pictures are square, texts need lines. */
export const wideOf = (studio, side) => (studio.labels.texts ? Math.round(1.9 * side) : side);

/** What shows a row best. */
export function drawFace({ studio, loader, i, side, owner = null }) {
  if (studio.state.data.pictures) return drawPicture(loader, i, side, owner);
  return studio.textOf(i) === null ? drawInitials(studio, i, side) : drawText(studio, i, side);
}

/** A button with the picture of a row, framed by right or wrong and marked with a sign. */
export function makeTile({ studio, loader, i, side, owner, onclick }) {
  const face = drawFace({ studio, loader, i, side, owner });
  const tile = h("button", { type: "button", class: "tile", "data-row": i, onclick }, face);
  dressTile(studio, tile, i);
  return tile;
}

/** Bring frame, sign and label of a tile up to date. */
export function dressTile(studio, tile, i) {
  const right = studio.isRight(i);
  const label = labelOf(studio, i);
  tile.classList.toggle("is-right", right === true);
  tile.classList.toggle("is-wrong", right === false);
  tile.setAttribute("aria-label", label);
  tile.title = label;
  tile.setAttribute("aria-current", String(studio.view.sample === i));
}

// Pictures by sample number: a few requests at a time, what left the screen is given up.

/** Loads pictures and keeps the last ones used. */
export class PictureLoader {
  /**
   * @param {(id: number) => Promise<any>} load resolves to null where there is no picture
   * @param {{atOnce?: number, kept?: number}} limits
   */
  constructor(load, { atOnce = 6, kept = 1500 } = {}) {
    this.load = load;
    this.atOnce = atOnce;
    this.kept = kept;
    this.ready = new Map();
    this.waiting = new Map();
    this.flying = new Map();
    this.missing = new Set();
  }

  /** The picture if it is here, else null. */
  get(id) {
    const found = this.ready.get(id);
    if (found === undefined) return null;
    this.ready.delete(id);
    this.ready.set(id, found);
    return found;
  }

  /**
   * Ask for a picture; `done` is called with it, or with null if there is none.
   * @param {number} id
   * @param {(picture: any) => void} done
   * @param {any} [owner] who asks, for `keepOnly`
   */
  want(id, done, owner = null) {
    const found = this.get(id);
    if (found || this.missing.has(id)) {
      done(found);
      return;
    }
    const asked = this.flying.get(id) ?? this.waiting.get(id);
    if (asked) {
      asked.push({ done, owner });
      return;
    }
    this.waiting.set(id, [{ done, owner }]);
    this.#next();
  }

  /** Give up what an owner waits for and no longer wants. */
  keepOnly(owner, wanted) {
    for (const [id, wishes] of this.waiting) {
      const left = wishes.filter((wish) => wish.owner !== owner || wanted(id));
      if (left.length) this.waiting.set(id, left);
      else this.waiting.delete(id);
    }
  }

  #next() {
    while (this.flying.size < this.atOnce && this.waiting.size) {
      const [id, wishes] = this.waiting.entries().next().value;
      this.waiting.delete(id);
      this.flying.set(id, wishes);
      this.#fetch(id, wishes);
    }
  }

  async #fetch(id, wishes) {
    let picture = null;
    try {
      picture = await this.load(id);
      if (picture === null) this.missing.add(id);
      else this.#keep(id, picture);
    } catch {
      picture = null; // no connection: the next wish asks again
    }
    this.flying.delete(id);
    for (const { done } of wishes) done(picture);
    this.#next();
  }

  #keep(id, picture) {
    this.ready.set(id, picture);
    while (this.ready.size > this.kept) this.ready.delete(this.ready.keys().next().value);
  }
}

// Which part of a long grid is on the screen.

/**
 * Lay out a grid of equal cells, `wide` by `cell`, of which only some rows exist.
 * @param {{count: number, width: number, cell: number, wide?: number, gap: number, top: number, height: number}} box
 * @returns {{columns: number, total: number, first: number, last: number, pitch: number}}
 *   cells first..last-1 are wanted, with a screen of margin; `total` is the height in pixels
 */
export function visibleCells({ count, width, cell, wide = cell, gap, top, height }) {
  const columns = Math.max(1, Math.floor((width + gap) / (wide + gap)));
  const pitch = cell + gap;
  const rows = Math.ceil(count / columns);
  const firstRow = Math.max(0, Math.floor((top - height / 2) / pitch));
  const lastRow = Math.min(rows, Math.ceil((top + 1.5 * height) / pitch) + 1);
  return {
    columns,
    pitch,
    total: Math.max(0, rows * pitch - gap),
    first: Math.min(firstRow * columns, count),
    last: Math.min(lastRow * columns, count),
  };
}

// All pictures, or texts, as a grid of which only the part on the screen exists.

const CELL = 96;
const GAP = 8;

export const ORDERS = [
  ["unsure", "least sure first"],
  ["wrong", "mistakes first"],
  ["class", "by class"],
  ["given", "as given"],
];

/** The small picture, or the beginning of the text, of a sample that was brought. */
export function faceOf({ face, title }) {
  if (face?.startsWith("data:image/")) return h("img", { class: "thumb small-face", src: face, alt: title });
  return h("span", { class: "thumb text-tile small-face" }, h("span", {}, face ?? title));
}

/** What this tab brought lately, to be looked at again. */
export function broughtStrip(studio) {
  const tiles = studio.brought.map(({ id, ...one }) => {
    const look = () => studio.look({ dropped: id });
    const now = id === studio.view.dropped ? "true" : null;
    return h("li", {}, h("button", { type: "button", class: "tile", "aria-label": `Look at ${one.title}`, "aria-current": now, onclick: look }, faceOf(one)));
  });
  return h("ul", { class: "strip brought", "aria-label": say("Your pictures") }, tiles);
}

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

// Truth against answer; a click on a cell shows its pictures.

// More classes than this do not fit a table a person can read.
const LARGEST = 60;

/** Order the classes: those of the truth first, then answers that are no truth here, none last. */
export function axes({ truths, answers }, order) {
  const place = new Map(order.map((id, k) => [id, k]));
  const sorted = (ids) => [...ids].sort((a, b) => place.get(a) - place.get(b));
  const rows = sorted(truths);
  const own = new Set(rows);
  const others = sorted(answers.filter((id) => id >= 0 && !own.has(id)));
  return { rows, columns: [...rows, ...others, ...(answers.includes(-1) ? [-1] : [])] };
}

/** The wrong cells, the fullest first. */
export function mistakes(cells) {
  return [...cells]
    .map(([key, rows]) => ({ truth: Number(key.split(",")[0]), answer: Number(key.split(",")[1]), rows }))
    .filter((cell) => cell.truth !== cell.answer)
    .sort((a, b) => b.rows.length - a.rows.length);
}

export class ConfusionView {
  /** @param {{studio: object, element: HTMLElement, open: () => void}} parts */
  constructor({ studio, element, open }) {
    Object.assign(this, { studio, element, open });
    studio.on("answers view state", () => this.refresh());
  }

  refresh() {
    const { studio, element } = this;
    if (!studio.state?.ready || element.hidden) return;
    const { truth } = studio.labels;
    const found = confusion(truth, studio.answers.answer, studio.rows());
    if (!found.truths.length) {
      fill(element, h("p", { class: "empty" }, say("The true classes of these pictures are not known.")));
      return;
    }
    // What nobody has described cannot be answered rightly, so it is no mistake.
    const wrong = mistakes(found.cells).filter(({ truth: own }) => studio.classes.get(own)?.described);
    fill(
      element,
      h("div", { class: "scroll confusion" }, this.#worst(wrong), this.#table(found)),
    );
    element.dataset.painted = String(studio.revision);
  }

  #worst(wrong) {
    if (!wrong.length) return h("p", {}, say("No mistakes among these pictures."));
    return [
      h("h3", {}, "Most frequent mistakes"),
      h(
        "ul",
        { class: "mistakes" },
        wrong.slice(0, 5).map((cell) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "link", onclick: () => this.#show(cell.rows) },
              `${this.studio.nameOf(cell.truth)} → ${this.studio.nameOf(cell.answer)}`,
            ),
            h("span", { class: "muted count" }, ` ${counted(cell.rows.length, "picture")}`),
          ),
        ),
      ),
    ];
  }

  #table(found) {
    const { rows, columns } = axes(found, [...this.studio.classes.keys()]);
    if (columns.length > LARGEST) {
      return h(
        "p",
        { class: "muted" },
        `${whole(columns.length)} classes are too many for a table; draw a lasso on the map to look at fewer.`,
      );
    }
    const { studio } = this;
    const about = newId("confusion");
    const table = h(
      "div",
      { class: "scroll-x", tabindex: "0", role: "group", "aria-label": "Confusion table" },
      h(
        "table",
        { class: "matrix", "aria-describedby": about },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td"),
            columns.map((id) => h("th", { scope: "col" }, h("span", {}, studio.nameOf(id)))),
          ),
        ),
        h("tbody", {}, rows.map((id) => this.#row(id, columns, found.cells))),
      ),
    );
    const text = say("Rows: the true class. Columns: the answer. A click shows the pictures.");
    return [h("p", { id: about, class: "muted small" }, text), table];
  }

  #row(truth, columns, cells) {
    const total = columns.reduce((sum, c) => sum + (cells.get(`${truth},${c}`)?.length ?? 0), 0);
    const described = this.studio.classes.get(truth)?.described;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, this.studio.nameOf(truth), described ? null : h("span", { class: "muted" }, " (not described)")),
      columns.map((answer) => {
        const rows = cells.get(`${truth},${answer}`);
        if (!rows) return h("td", { class: truth === answer ? "diagonal" : null });
        return h("td", { class: truth === answer ? "diagonal" : null }, this.#cell(rows, total, truth, answer));
      }),
    );
  }

  #cell(rows, total, truth, answer) {
    const { studio } = this;
    const label = `${counted(rows.length, "picture")} of ${studio.nameOf(truth)} answered ${studio.nameOf(answer)}, ${percent(rows.length / total)}`;
    const button = h(
      "button",
      {
        type: "button",
        class: truth === answer ? "cell good" : "cell bad",
        "aria-label": label,
        title: label,
        onclick: () => this.#show(rows),
      },
      whole(rows.length),
    );
    button.style.setProperty("--part", String(0.12 + 0.5 * (rows.length / total)));
    return button;
  }

  #show(rows) {
    this.studio.look({ selection: Uint32Array.from(rows), focus: null });
    this.open();
  }
}
