// The form of a new class: like another one, in a phrase, or in words.

import { postJson } from "./api.js";
import { fill, h, newId } from "./dom.js";
import { short } from "./numbers.js";

const WORDS = "a small gray animal that lives in the sea";
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
      placeholder: state.text ? WORDS : suggestion(this.studio)?.text || this.#example(),
      oninput: () => this.#typed(),
      onkeydown: (event) => this.#entered(event),
    });
    this.feedback = h("p", { class: "feedback", role: "status" });
    fill(
      this.element,
      h("h2", {}, "Describe a new class"),
      h("p", { class: "muted" }, state.text ? "No training pictures needed: say in a sentence what it looks like." : "No training pictures needed: say what it is like, then tune it with sliders."),
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
