// One class: its name, how well it is recognized, and a slider for each attribute.

import { counted, fill, h, newId, percent, say, short, sliderRange, spoken, whole } from "./dom.js";
import { getJson, postJson } from "./server.js";
import { dressTile, makeTile } from "./tiles.js";

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

// The form of a new class: like another one, in a phrase, or in words.


const WORDS = {
  picture: "a small gray animal that lives in the sea",
  text: "The customer wants money back",
};
const PAUSE = 200; // milliseconds without a key before a phrase is read

/** What a phrase was understood as, in one line: the class it is like, and what differs from it. */
export function understood(reply, { nameOf, dimensions, rowOf = () => null }) {
  const parts = [];
  const known = reply.like === null || reply.like === undefined ? null : rowOf(reply.like);
  if (reply.like !== null && reply.like !== undefined) parts.push(`like ${nameOf(reply.like)}`);
  for (const [index, value] of Object.entries(reply.changes ?? {})) {
    if (known && known[index] === value) continue;
    parts.push(`${dimensions[Number(index)].name} ${short(value)}`);
  }
  return parts.join(", ");
}

/**
 * What to describe first: a name that pictures have, and a phrase that may fit it.
 * The server knows best; without it, the words of the names are compared with the attributes.
 * @returns {{name: string, text: string}|null}
 */
export function suggestion({ state, candidates, waiting }) {
  if (state.suggestion) return state.suggestion;
  const attributes = new Map(state.dimensions.filter((d) => d.meaningful).map((d) => [d.name, d]));
  for (const { name } of waiting) {
    const words = name.split(/\s+/);
    if (!words.every((word) => attributes.has(word))) continue;
    const shared = (c) => c.name.split(/\s+/).filter((word) => words.includes(word)).length;
    const like = candidates.reduce((best, c) => (!best || shared(c) > shared(best) ? c : best), null);
    const known = like.name.split(/\s+/);
    const differs = (word) => attributes.get(word)?.high > attributes.get(word)?.low;
    const more = words.filter((word) => !known.includes(word) && differs(word));
    // Where attributes come in groups, one of a group excludes the others already.
    const less = known.filter((word) => !words.includes(word) && differs(word) && !attributes.get(word).group);
    const said = [...more, ...less.map((word) => `not ${word}`)];
    if (said.length && shared(like)) return { name, text: `like ${like.name}, but ${said.join(", ")}` };
  }
  return waiting.length ? { name: waiting[0].name, text: "" } : null;
}

export class NewClass {
  /** @param {{studio: object, element: HTMLElement, fail: Function, announce: Function}} parts */
  constructor({ studio, element, fail, announce }) {
    Object.assign(this, { studio, element, fail, announce });
  }

  /** Show the form; with a name or a phrase filled in where they are known. */
  open({ name = "", text = "" } = {}) {
    const { state, candidates, waiting } = this.studio;
    const ids = { name: newId("name"), like: newId("like"), phrase: newId("phrase"), list: newId("known") };
    this.name = h("input", { id: ids.name, type: "text", required: true, maxlength: 200, list: ids.list, value: name, autocomplete: "off" });
    this.like = h(
      "select",
      { id: ids.like, onchange: () => this.#chosen() },
      h("option", { value: "" }, "an average class"),
      candidates
        .map((c) => h("option", { value: c.id }, c.name)),
    );
    this.phrase = h("textarea", {
      id: ids.phrase,
      rows: 2,
      maxlength: 500,
      value: text,
      autocomplete: "off",
      placeholder: state.text ? WORDS[state.data.unit] ?? WORDS.picture : suggestion(this.studio)?.text || this.#example(),
      oninput: () => this.#typed(),
      onkeydown: (event) => this.#entered(event),
    });
    this.feedback = h("p", { class: "feedback", role: "status" });
    fill(
      this.element,
      h("h2", {}, "Describe a new class"),
      h("p", { class: "muted" }, this.#invitation()),
      h(
        "form",
        { class: "stack", onsubmit: (event) => this.#submit(event) },
        h("label", { for: ids.name }, "Name"),
        this.name,
        h("datalist", { id: ids.list }, waiting.map((c) => h("option", { value: c.name }))),
        h("label", { for: ids.like }, "Start from"),
        this.like,
        h("label", { for: ids.phrase }, state.text ? "Or in words" : "Or in a phrase"),
        this.phrase,
        this.feedback,
        h("button", { type: "submit", class: "primary" }, "Add and watch"),
      ),
    );
    this.name.focus();
    if (text) this.#typed();
  }

  #invitation() {
    const { state } = this.studio;
    const how = state.data.unit === "text" ? "what they are about" : "what it looks like";
    const text = state.text ? `say in a sentence ${how}.` : "say what it is like, then tune it with sliders.";
    return say(`No training pictures needed: ${text}`);
  }

  #example() {
    const [known] = this.studio.candidates;
    const word = this.studio.state.dimensions.find((d) => d.meaningful)?.name ?? "larger";
    return known ? `like ${known.name}, but ${word}` : "";
  }

  /** A phrase may need two lines on the screen but has one. */
  #entered(event) {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    this.phrase.form.requestSubmit();
  }

  /** A class that is chosen takes the place of a phrase that speaks of another one. */
  #chosen() {
    this.phrase.value = "";
    fill(this.feedback);
  }

  #typed() {
    if (this.studio.state.text) return; // a sentence is read as a whole, by the text encoder
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#read(), PAUSE);
  }

  async #read() {
    const text = this.phrase.value.trim();
    if (!text) {
      fill(this.feedback);
      return;
    }
    try {
      const reply = await postJson("phrase", { text });
      if (this.phrase.value.trim() !== text) return;
      if (reply.like !== null && reply.like !== undefined) this.like.value = String(reply.like);
      const { studio } = this;
      const known = understood(reply, {
        nameOf: (id) => studio.nameOf(id),
        rowOf: (id) => studio.classes.get(id)?.row,
        dimensions: studio.state.dimensions,
      });
      fill(
        this.feedback,
        known ? h("span", { class: "good" }, `✓ ${known}`) : null,
        reply.unknown?.length
          ? h("span", { class: "bad" }, ` ✗ not understood: ${reply.unknown.join(", ")}`)
          : null,
        reply.constant?.length
          ? h("span", { class: "bad" }, ` ⚠ the same in all training classes, so the model cannot know it: ${reply.constant.join(", ")}`)
          : null,
      );
    } catch (error) {
      fill(this.feedback, h("span", { class: "bad" }, error.message));
    }
  }

  #message() {
    const name = this.name.value.trim();
    const text = this.phrase.value.trim();
    if (text) return { op: this.studio.state.text ? "words" : "phrase", name, text };
    return { op: "add", name, like: this.like.value === "" ? null : Number(this.like.value), row: null };
  }

  async #submit(event) {
    event.preventDefault();
    const { studio } = this;
    const message = this.#message();
    try {
      const head = await studio.edit(message);
      const id = head.edit?.class ?? [...studio.classes.values()].find((c) => c.name === message.name)?.id;
      studio.look({ focus: id ?? null, sample: null });
    } catch (error) {
      this.fail(error);
    }
  }
}
