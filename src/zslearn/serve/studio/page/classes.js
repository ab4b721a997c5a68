// The classes: their list, one class with its sliders, and the form of a new one.

import {
  counted, endsOf, figureOf, fill, h, hint, moved, newId, percent, say, sliderRange, spoken, whole,
} from "./dom.js";
import { broughtStrip, dressTile, drawFace, faceOf, makeTile } from "./samples.js";

/** Sections of the list, in the order of interest; your own classes come first. */
export function sections(classes) {
  const all = [...classes.values()];
  return [
    { title: "Your classes", classes: all.filter((c) => c.described && c.added) },
    { title: "New classes", classes: all.filter((c) => c.described && !c.added && !c.seen) },
    { title: "Trained classes", classes: all.filter((c) => c.described && !c.added && c.seen) },
  ].filter((section) => section.classes.length);
}

export class ClassList {
  /** @param {{studio: object, element: HTMLElement, actions: HTMLElement[],
   *   describe: (name?: string) => void}} parts */
  constructor({ studio, element, actions, describe }) {
    this.studio = studio;
    this.describe = describe;
    this.items = new Map();
    this.search = "";
    this.body = h("div", { class: "class-sections" });
    this.filter = h("input", {
      type: "search",
      class: "search",
      placeholder: "Find a class",
      "aria-label": "Find a class",
      oninput: () => {
        this.search = this.filter.value.toLowerCase();
        this.build();
      },
    });
    this.summary = h("dl", { class: "tiles" });
    this.reason = h("p", { class: "small bad", hidden: true });
    fill(
      element,
      h("h2", {}, "Classes"),
      this.summary,
      this.reason,
      h("div", { class: "actions-list" }, h("button", { type: "button", onclick: () => describe() }, "+ New class"), actions),
      this.filter,
      this.body,
    );
    studio.on("state", () => this.build());
    studio.on("answers view", () => this.update());
  }

  build() {
    const { classes, waiting } = this.studio;
    this.items.clear();
    this.filter.hidden = classes.size < 12;
    fill(
      this.body,
      this.#waiting(waiting),
      sections(classes).map(({ title, classes: found }) => {
        const shown = found.filter((c) => c.name.toLowerCase().includes(this.search));
        if (!shown.length) return null;
        return [
          h("h3", {}, title, h("span", { class: "muted" }, ` ${whole(found.length)}`)),
          h("ul", { class: "class-items" }, shown.map((c) => h("li", {}, this.#item(c)))),
        ];
      }),
    );
    this.update();
  }

  /** Names that pictures have but no description yet. */
  #waiting(waiting) {
    if (!waiting.length) return null;
    return [
      h("h3", {}, "Not described yet"),
      h(
        "ul",
        { class: "class-items" },
        waiting.map(({ name, count }) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "class-item waiting", onclick: () => this.describe(name) },
              h("span", { class: "name" }, name),
              h("span", { class: "muted count" }, counted(count, "picture")),
              h("span", { class: "accuracy" }, "Describe"),
            ),
          ),
        ),
      ),
    ];
  }

  #item(c) {
    const parts = {
      count: h("span", { class: "muted count" }),
      accuracy: h("span", { class: "accuracy" }),
      bar: h("span", { class: "bar", "aria-hidden": "true" }),
    };
    const button = h(
      "button",
      {
        type: "button",
        class: "class-item",
        "data-class": c.id,
        onclick: () => this.#choose(c.id),
      },
      h("span", { class: "name" }, h("span", {}, c.name), c.changed && !c.added ? h("span", { class: "tag" }, "changed") : null),
      parts.count,
      parts.accuracy,
      parts.bar,
    );
    this.items.set(c.id, { button, ...parts });
    return button;
  }

  #choose(id) {
    const same = this.studio.view.focus === id && this.studio.view.sample === null;
    this.studio.look({ focus: same ? null : id, sample: null });
  }

  update() {
    const { studio } = this;
    if (!studio.state) return;
    const statistics = studio.statistics();
    for (const [id, item] of this.items) {
      const c = statistics.get(id);
      if (c) write(item, c, studio.view.focus === id);
    }
    this.#summarize();
  }

  #summarize() {
    const { studio } = this;
    const { summary } = studio.state;
    const before = studio.earlier?.summary ?? {};
    const tiles = [
      ["New classes", "unseen", say("Of the pictures of a class without training pictures, so many are recognized, on average over these classes.")],
      ["Trained classes", "seen", say("The same for classes with training pictures, on pictures that were kept for testing.")],
      ["Both together", "h", "The harmonic mean of the two, called H: it is high only if both are."],
    ].filter(([, key]) => (summary?.[key] ?? null) !== null);
    const figures = tiles.map(([name, key, text]) => [name, percent(summary[key]), moved(summary[key], before[key]), text]);
    if (this.summarized === String(figures)) return;
    this.summarized = String(figures);
    this.summary.hidden = !tiles.length;
    fill(
      this.summary,
      figures.map(([name, value, change, text]) =>
        h("div", {}, h("dt", {}, name, hint(text)), h("dd", {}, value, change ? h("span", { class: changeClass(change) }, change) : null)),
      ),
    );
    this.reason.hidden = summary?.seen !== 0;
    this.reason.textContent = studio.state.balance?.bias > 0
      ? "No trained class is recognized: the balance holds them back too much. Open Balance and move the handle to the right."
      : say("No test picture of a trained class is recognized by this method; try another one under Method.");
  }
}

const changeClass = (change) => `change ${change.startsWith("+") ? "good" : "bad"}`;

// A slider changes few lines of many; the others are not touched, so that they are not laid out.
function write(item, c, chosen) {
  const key = `${c.right} ${c.count} ${c.answered} ${chosen}`;
  if (item.key === key) return;
  item.key = key;
  item.button.setAttribute("aria-pressed", String(chosen));
  item.count.textContent = countOf(c);
  item.accuracy.textContent = percent(c.accuracy);
  item.bar.style.setProperty("--part", String(c.accuracy ?? 0));
}

function countOf(c) {
  if (!c.count) return c.answered ? `given to ${whole(c.answered)}` : "";
  return `${whole(c.right)} of ${whole(c.count)} right`;
}

// One class: its name, how well it is recognized, and a slider for each attribute.

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
    if (c.row === null && c.described) c.row = (await studio.json(`classes/${id}`)).row;
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
    this.examples = h("section", { class: "examples" });
    this.brought = h("section", {});
    this.tiles = new Map();
    fill(
      this.element,
      h("label", { for: rename, class: "muted small" }, c.seen ? "Trained class" : "New class"),
      this.name,
      // Stays in sight while sliders further down are moved.
      h("div", { class: "class-head" }, this.result, this.strip),
      this.warnings,
      this.examples,
      this.brought,
      c.alone ? h("p", { class: "muted" }, say("Known by its example pictures alone. Move a slider, or say more, to describe it.")) : null,
      this.#sliders(c),
      h(
        "div",
        { class: "row end" },
        h("button", { type: "button", class: "danger", onclick: () => this.#remove() }, "Delete class"),
      ),
    );
    this.#showExamples(c);
  }

  #showExamples(c) {
    const { studio, loader } = this;
    const examples = c.examples ?? [];
    const key = `${examples.map((e) => e.key)} ${studio.state.learns}`;
    if (this.shownExamples === key) return;
    this.shownExamples = key;
    if (!examples.length) {
      fill(this.examples);
      return;
    }
    fill(
      this.examples,
      h("h3", {}, counted(examples.length, "example"), hint(studio.meaningOfExamples(), "What an example does")),
      h(
        "ul",
        { class: "strip" },
        examples.map((e) => {
          const forget = () => this.#edit({ op: "forget", class: c.id, key: e.key });
          return h(
            "li",
            { class: "example", title: e.title },
            e.sample === null ? faceOf(e) : drawFace({ studio, loader, i: e.sample, side: 44 }),
            h("button", { type: "button", class: "quiet remove", "aria-label": `Forget the example ${e.title}`, onclick: forget }, "×"),
          );
        }),
      ),
      studio.state.learns ? null : h("p", { class: "muted small" }, studio.whyNoExamples()),
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
      disabled: dimension.low === dimension.high && value === dimension.low,
      oninput: () => this.#moved(dimension.index, Number(input.value), false),
      onchange: () => this.#moved(dimension.index, Number(input.value), true),
    });
    input.value = String(value);
    const output = h("output", { for: id });
    const ends = input.disabled ? ["the same in all trained classes", ""] : endsOf(dimension);
    const [low, high] = ends.map((text) => h("span", { class: "end", "aria-hidden": "true", title: text }, text));
    const named = input.disabled || !dimension.either;
    const line = h(
      "div",
      { class: "slider" },
      h("label", { for: id }, dimension.name),
      h("span", { class: "between" }, named ? input : [low, input, high]),
      output,
      named ? h("span", { class: "ends" }, low, high) : null,
    );
    this.sliders.set(dimension.index, { input, output, line, name: dimension.name });
    this.#mark(dimension.index, value);
    return line;
  }

  #words(c) {
    const id = newId("words");
    const text = h("textarea", { id, rows: 3, maxlength: 2000, value: c.text });
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
    const dimension = this.studio.state.dimensions[index];
    const { low, high } = dimension;
    const { output, line } = this.sliders.get(index);
    output.textContent = figureOf(dimension, value);
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
    fill(this.result, resultOf(c, studio));
    this.#showExamples(studio.classes.get(id));
    // Several photographs of a class are taught one after the other.
    fill(this.brought, studio.brought.length > 1 ? [h("h3", {}, say("Your pictures")), broughtStrip(studio)] : null);
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

/** How well a class is recognized, in figures that add up. */
function resultOf(c, studio) {
  const answered = c.answered ?? 0;
  if (!c.count) return h("p", { class: "muted" }, `Given as the answer to ${counted(answered, "picture")}.`);
  const change = studio.view.selection ? "" : moved(c.accuracy, studio.earlier?.classes.get(c.id));
  const [wrong, open] = calledSo(c.id, studio);
  const others = studio.view.scope === "new" ? ["new class", "new classes"] : ["class", "classes"];
  const often = c.right < c.count ? mistakenFor(c.id, studio) : null;
  return [
    h(
      "p",
      { class: "score" },
      h("b", {}, percent(c.accuracy)),
      change ? h("span", { class: changeClass(change) }, change) : null,
      ` ${whole(c.right)} of its ${counted(c.count, "test picture")} recognized`,
    ),
    h(
      "p",
      { class: "muted small" },
      wrong === 0 ? say(`No picture of another ${others[0]} is called so. `) : null,
      wrong === 1 ? say(`1 picture of another ${others[0]} is called so too. `) : null,
      wrong > 1 ? `${counted(wrong, "picture")} of other ${others[1]} are called so too. ` : null,
      open ? `${counted(open, "picture")} of classes not described yet ${open === 1 ? "is" : "are"} called so. ` : null,
      often ? `Most often taken for ${often}.` : null,
    ),
  ];
}

/** How many samples of other classes, and of classes not described, get an answer: as the map counts. */
function calledSo(id, studio) {
  let [wrong, open] = [0, 0];
  for (const i of studio.rows()) {
    if (studio.answers.answer[i] !== id || studio.labels.truth[i] === id) continue;
    if (studio.knownTruth(i) < 0) open++;
    else wrong++;
  }
  return [wrong, open];
}

/** What the test pictures of a class are taken for most often, if they are not recognized. */
export function mistakenFor(id, studio) {
  const { labels, answers } = studio;
  const counts = new Map();
  for (let i = 0; i < labels.truth.length; i++) {
    const answer = answers.answer[i];
    if (labels.truth[i] === id && labels.split[i] && answer !== id) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  const [best] = [...counts].sort((a, b) => b[1] - a[1]);
  return best ? `${studio.nameOf(best[0])} (${whole(best[1])})` : null;
}

// The form of a new class: like another one, in a phrase, or in words.

const WORDS = {
  picture: "a small gray animal that lives in the sea",
  text: "The customer wants money back",
};
const PAUSE = 200; // milliseconds without a key before a phrase is read

/** A text in which a word is written as the name that was meant. */
export function withWord(text, word, name) {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll("'", "['’]");
  const before = name.startsWith("like ") ? String.raw`(?:\b(?:like|as|similar to)\s+)?(?:\b(?:an?|the)\s+)?` : "";
  return text.replace(new RegExp(`${before}(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "iu"), name);
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
      state.data.drop
        ? h("p", { class: "muted small" }, say(`Without a description: ${state.data.unit === "text" ? "paste" : "drop"} a picture of it on the page, and add it as the first example.`))
        : null,
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
    const isNew = () => this.phrase.value.trim() === text;
    try {
      const reply = await this.studio.post("phrase", { text, suggest: false });
      if (isNew()) this.#tell(reply);
      if (!isNew() || !reply.unknown.length) return;
      // The first word that is no attribute loads the text encoder, which takes a moment.
      const more = await this.studio.post("phrase", { text });
      if (isNew()) this.#tell(more);
    } catch (error) {
      fill(this.feedback, h("span", { class: "bad" }, error.message));
    }
  }

  #tell(reply) {
    if (reply.like !== null && reply.like !== undefined) this.like.value = String(reply.like);
    const known = reply.understood.join(", ");
    fill(
      this.feedback,
      known ? h("span", { class: "good" }, `✓ ${known}. `) : null,
      (reply.unknown ?? []).map((word) => this.#unknown(word, reply.suggestions?.[word] ?? [])),
      reply.constant?.length
        ? h("span", { class: "bad" }, ` ⚠ the same in all trained classes, so the model cannot know it: ${reply.constant.join(", ")}`)
        : null,
    );
  }

  /** A word that names nothing; what may be meant is offered, and written only by a click. */
  #unknown(word, suggestions) {
    return h(
      "span",
      { class: "odd-word" },
      h("span", { class: "bad" }, suggestions.length ? `“${word}” is ` : `✗ “${word}” is no attribute`),
      suggestions.map((name) =>
        h("button", { type: "button", class: "chip", onclick: () => this.#accept(word, name) }, name),
      ),
      suggestions.length ? h("span", { class: "muted" }, "?") : null,
    );
  }

  #accept(word, name) {
    this.phrase.value = withWord(this.phrase.value, word, name);
    this.phrase.focus();
    this.#read();
  }

  #message() {
    const name = this.name.value.trim();
    const text = this.phrase.value.trim();
    if (text) return { op: "words", name, text };
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
