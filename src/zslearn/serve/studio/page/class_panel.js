// One class: its name, how well it is recognized, and a slider for each attribute.

import { getJson } from "./api.js";
import { fill, h, newId } from "./dom.js";
import { counted, percent, short, sliderRange, spoken, whole } from "./numbers.js";
import { dressTile, makeTile } from "./picture.js";

const NAMELESS = "No sliders here: the numbers that describe this class have no names.";
const SHOWN = 12; // pictures that get this answer

/** Dimensions in their groups, in the order of the table. */
export function grouped(dimensions) {
  const groups = new Map();
  dimensions.forEach((dimension, index) => {
    const name = dimension.group ?? "";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ ...dimension, index });
  });
  return groups;
}

/** The rows that got an answer, the surest first. */
export function surest(id, { answer, margin }, rows, count) {
  return Array.from(rows.filter((i) => answer[i] === id))
    .sort((a, b) => margin[b] - margin[a])
    .slice(0, count);
}

export class ClassPanel {
  /** @param {{studio: object, element: HTMLElement, loader: object, announce: Function,
   *   fail: Function}} parts */
  constructor({ studio, element, loader, announce, fail }) {
    Object.assign(this, { studio, element, loader, announce, fail });
    this.id = null;
    this.unsaved = new Map();
    studio.on("answers", () => this.update());
    studio.on("state", () => this.id !== null && this.open(this.id));
  }

  close() {
    this.id = null;
  }

  /** Show a class; if it is shown already, its controls stay and follow. */
  async open(id) {
    const { studio } = this;
    const c = studio.classes.get(id);
    if (!c) return;
    this.id = id;
    if (c.row === null && c.described) c.row = (await getJson(`classes/${id}`)).row;
    if (this.id !== id) return;
    if (this.built === id && this.sliders.size && c.row) {
      this.#follow(c);
      return;
    }
    this.unsaved.clear();
    this.built = id;
    this.#build(c);
    this.update();
  }

  #build(c) {
    const rename = newId("rename");
    this.name = h("input", {
      id: rename,
      class: "title-input",
      value: c.name,
      maxlength: 200,
      autocomplete: "off",
      onchange: () => this.#rename(),
    });
    this.result = h("div", { class: "result" });
    this.warnings = h("ul", { class: "warnings" });
    this.strip = h("div", { class: "strip" });
    this.tiles = new Map();
    fill(
      this.element,
      h("label", { for: rename, class: "muted small" }, c.seen ? "Class of the training" : "New class"),
      this.name,
      this.result,
      this.warnings,
      this.strip,
      this.#sliders(c),
      h(
        "div",
        { class: "row end" },
        h("button", { type: "button", class: "danger", onclick: () => this.#remove() }, "Delete class"),
      ),
    );
  }

  #sliders(c) {
    const { dimensions } = this.studio.state;
    this.sliders = new Map();
    if (!c.row || !this.studio.named) return this.studio.state.text ? this.#words(c) : h("p", { class: "muted" }, NAMELESS);
    const many = dimensions.length > 24;
    const box = h("div", { class: "sliders" });
    for (const [name, group] of grouped(dimensions)) {
      box.append(
        h(
          "fieldset",
          {},
          h("legend", {}, name || "Attributes"),
          group.filter((d) => d.meaningful).map((d) => this.#slider(d, c.row[d.index])),
        ),
      );
    }
    const filter = h("input", {
      type: "search",
      class: "search",
      placeholder: "Find an attribute",
      "aria-label": "Find an attribute",
      oninput: () => {
        const wanted = filter.value.toLowerCase();
        for (const { line, name } of this.sliders.values()) line.hidden = !name.toLowerCase().includes(wanted);
      },
    });
    return [many ? filter : null, box];
  }

  #slider(dimension, value) {
    const id = newId("slider");
    const input = h("input", {
      type: "range",
      id,
      ...sliderRange(dimension, value),
      "data-dimension": dimension.index,
      oninput: () => this.#moved(dimension.index, Number(input.value), false),
      onchange: () => this.#moved(dimension.index, Number(input.value), true),
    });
    input.value = String(value);
    const output = h("output", { for: id }, short(value));
    const line = h("div", { class: "slider" }, h("label", { for: id }, dimension.name), input, output);
    this.sliders.set(dimension.index, { input, output, line, name: dimension.name });
    this.#mark(dimension.index, value);
    return line;
  }

  #words(c) {
    const id = newId("words");
    const text = h("textarea", { id, rows: 3, maxlength: 2000 });
    return h(
      "form",
      {
        class: "stack",
        onsubmit: (event) => {
          event.preventDefault();
          this.#edit({ op: "words", class: c.id, name: c.name, text: text.value });
        },
      },
      h("label", { for: id }, "Describe it in other words"),
      text,
      h("button", { type: "submit", class: "primary" }, "Use these words"),
    );
  }

  // Values outside of what the training has seen are marked, not refused.
  #mark(index, value) {
    const { low, high } = this.studio.state.dimensions[index];
    const { output, line } = this.sliders.get(index);
    output.textContent = short(value);
    line.classList.toggle("outside", value < low - 1e-9 || value > high + 1e-9);
  }

  #moved(index, value, final) {
    const c = this.studio.classes.get(this.id);
    c.row[index] = value;
    this.unsaved.set(index, value);
    this.#mark(index, value);
    this.#send(final);
  }

  // All that is not kept yet goes with every message, so an overtaken one loses nothing.
  async #send(final) {
    const sent = new Map(this.unsaved);
    const { id } = this;
    const changes = Object.fromEntries(sent);
    try {
      const head = await this.studio.edit({ op: "set", class: id, changes, final }, `set ${id}`);
      if (!head || !final) return;
      for (const [index, value] of sent) {
        if (this.unsaved.get(index) === value) this.unsaved.delete(index);
      }
      const found = this.studio.classes.get(id);
      if (found) this.announce(spoken(found));
    } catch (error) {
      this.fail(error);
    }
  }

  // Undo and other tabs move the sliders, except the one in the hand.
  #follow(c) {
    if (document.activeElement !== this.name) this.name.value = c.name;
    for (const [index, { input }] of this.sliders) {
      if (this.unsaved.has(index) || !c.row) continue;
      input.value = String(c.row[index]);
      this.#mark(index, c.row[index]);
    }
    this.update();
  }

  update() {
    const { studio, id } = this;
    if (id === null || !this.result) return;
    const c = studio.statistics().get(id);
    if (!c) return;
    fill(this.result, resultOf(c));
    fill(
      this.warnings,
      studio.warnings
        .filter((w) => w.class === undefined || w.class === null || w.class === id || w.kind === "near")
        .map((w) => h("li", { class: "warning" }, h("span", { "aria-hidden": "true" }, "⚠ "), w.text)),
    );
    this.#showStrip(id);
  }

  #showStrip(id) {
    const { studio, loader } = this;
    const rows = surest(id, studio.answers, studio.rows(), SHOWN);
    const tiles = rows.map((i) => {
      const tile = this.tiles.get(i);
      if (!tile) return makeTile({ studio, loader, i, side: 50, onclick: () => studio.look({ sample: i }) });
      dressTile(studio, tile, i);
      return tile;
    });
    const same = tiles.length === this.strip.childElementCount && tiles.every((tile, k) => tile === this.strip.children[k]);
    this.tiles = new Map(rows.map((i, k) => [i, tiles[k]]));
    if (!same) fill(this.strip, tiles);
  }

  async #edit(message) {
    try {
      await this.studio.edit(message);
      const found = this.studio.classes.get(this.id);
      if (found) this.announce(spoken(found));
    } catch (error) {
      this.fail(error);
    }
  }

  #rename() {
    const name = this.name.value.trim();
    if (name) this.#edit({ op: "rename", class: this.id, name });
    else this.name.value = this.studio.nameOf(this.id);
  }

  async #remove() {
    const { id } = this;
    const name = this.studio.nameOf(id);
    this.id = null;
    await this.#edit({ op: "delete", class: id });
    this.studio.look({ focus: null });
    this.announce(`${name} deleted. Undo brings it back.`);
  }
}

function resultOf(c) {
  const given = h("p", { class: "muted" }, `Given as the answer to ${counted(c.answered ?? 0, "picture")}.`);
  if (!c.count) return given;
  return [
    h(
      "p",
      { class: "score" },
      h("b", {}, percent(c.accuracy)),
      ` ${whole(c.right)} of ${counted(c.count, "picture")} recognized`,
    ),
    given,
  ];
}
