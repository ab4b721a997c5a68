// One picture of a row, asked for by its number, or its text; else the initials of its class.

import { classColor, currentTheme, h, toCss } from "./dom.js";

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
