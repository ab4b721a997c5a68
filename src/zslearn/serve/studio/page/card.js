// One picture: its ranked classes, what spoke for which, what if an attribute were different, and
// what it can teach.

import { alike, fill, h, hint, newId, percent, say, short, signed } from "./dom.js";
import { broughtStrip, drawFace, drawInitials } from "./samples.js";
import { makeLane } from "./server.js";

// Why one class won over another: the largest differences as bars, the rest in one, nothing lost.

/**
 * Turn a comparison so that it speaks for the answer that was given: what is positive spoke for it.
 * @returns {{winner: number, other: number, dimensions: object[], offset_difference: number,
 *   score_difference: number}}
 */
export function forAnswer(reasons, answer, dimensions) {
  const turned = reasons.given !== answer && reasons.right === answer;
  const sign = turned ? -1 : 1;
  return {
    winner: turned ? reasons.right : reasons.given,
    other: turned ? reasons.given : reasons.right,
    says: turned ? reasons.says_right : reasons.says_given,
    offset_difference: sign * reasons.offset_difference,
    score_difference: sign * reasons.score_difference,
    dimensions: reasons.dimensions.map((d) => ({
      name: d.name ?? dimensions[d.index].name,
      right: turned ? d.given : d.right,
      given: turned ? d.right : d.given,
      right_has: turned ? d.given_has : d.right_has,
      given_has: turned ? d.right_has : d.given_has,
      difference: sign * d.difference,
    })),
  };
}

/**
 * Choose the bars of a card.
 * @param {{dimensions: {name: string, right: number, given: number, difference: number}[],
 *   offset_difference: number, score_difference: number}} reasons
 * @param {number} shown how many dimensions get a bar of their own
 * @returns {{name: string, right: number|null, given: number|null, difference: number}[]}
 *   the differences sum to the difference of the scores
 */
export function bars(reasons, shown = 8) {
  const sorted = [...reasons.dimensions].sort(
    (a, b) => Math.abs(b.difference) - Math.abs(a.difference),
  );
  const found = sorted.slice(0, shown).filter((d) => d.difference !== 0);
  const rest = sorted.slice(found.length);
  if (rest.some((d) => d.difference !== 0)) {
    found.push({ name: `${rest.length} others`, ...summed(rest) });
  }
  const offset = reasons.offset_difference ?? 0;
  if (Math.abs(offset) > 1e-12) {
    found.push({ name: "what no attribute says", right: null, given: null, difference: offset });
  }
  return found;
}

function summed(parts) {
  const sum = (key) => parts.reduce((total, part) => total + (part[key] ?? 0), 0);
  return { right: sum("right"), given: sum("given"), difference: sum("difference") };
}

/** What the bars weigh: the largest, all together, the part that speaks for the answer. */
export function weighed(found) {
  const sizes = found.map((bar) => Math.abs(bar.difference));
  const total = sizes.reduce((sum, size) => sum + size, 0) || 1;
  const favor = found.reduce((sum, bar) => sum + Math.max(bar.difference, 0), 0) / total;
  const largest = Math.max(...sizes, 1e-12);
  const digits = Math.min(Math.max(2 - Math.floor(Math.log10(largest)), 0), 6);
  return { largest, total, favor, figure: (value) => signed(value, digits) };
}

/** Which of two classes has a trait, in a few words. */
export function whoHas({ given_has, right_has }, given, right) {
  const verb = (has) => (has ? "has it" : "lacks it");
  if (given_has === null || given_has === undefined) return "";
  if (given_has === right_has) return given_has ? "both have it" : "both lack it";
  return `${given} ${verb(given_has)}, ${right} ${verb(right_has)}`;
}

const RANKED = 5;
const SLIDERS = 8;
const PHRASES = 8;
const NAMELESS = "No reasons here: the numbers that describe these classes have no names of their own.";
const UNSURE =
  "Percentages come once the program has learned, on training classes that were held out, how often such answers are right.";

export class CardPanel {
  /** @param {{studio: object, element: HTMLElement, loader: object, announce: Function,
   *   fail: Function}} parts */
  constructor({ studio, element, loader, announce, fail }) {
    Object.assign(this, { studio, element, loader, announce, fail });
    this.path = null;
    this.against = null;
    this.lane = makeLane((message) => studio.post(`samples/${message.id}/intervene`, message.body));
    studio.on("answers", () => this.path !== null && this.#load());
  }

  close() {
    this.path = null;
  }

  /** Show a sample of the board, or one that was brought. */
  open({ sample, dropped }) {
    const path = dropped === null ? `samples/${sample}` : `drop/${dropped}`;
    if (this.path !== path) this.against = null;
    Object.assign(this, { path, sample, dropped });
    this.changes = new Map();
    return this.#load();
  }

  async #load() {
    const { path } = this;
    const query = this.against === null ? "" : `?against=${this.against}`;
    try {
      const found = await this.studio.json(path + query);
      if (this.path === path) this.#show(found);
    } catch (error) {
      this.fail(error);
    }
  }

  #show(found) {
    const { studio } = this;
    this.found = found;
    this.ranking = h("ol", { class: "ranking" });
    this.verdict = h("div", { class: "verdict" });
    const name = found.dropped ? found.name : studio.sampleName(this.sample);
    fill(
      this.element,
      h("p", { class: "muted small" }, say(found.dropped ? "Your picture" : "Picture")),
      found.dropped && found.text ? null : h("h2", { class: "sample-name" }, name),
      this.#face(found),
      found.dropped && studio.brought.length > 1 ? broughtStrip(studio) : null,
      this.verdict,
      h("h3", {}, "How likely", found.calibrated ? null : hint(UNSURE), this.#details(found)),
      this.ranking,
      this.#reasons(found),
      this.#teaching(found),
      this.#intervention(found),
    );
    this.#rank(found);
  }

  #face({ text, face, dropped, name }) {
    const { studio, sample } = this;
    if (text !== null && text !== undefined) return h("blockquote", { class: "whole-text", tabindex: "0" }, text);
    if (dropped) return h("img", { class: "large-picture", src: face, alt: `Your picture ${name}` });
    if (!studio.state.data.pictures) return drawInitials(studio, sample, 96);
    const alt = `Picture ${studio.sampleName(sample)}`;
    return h("img", { class: "large-picture", src: studio.addressOf(`pictures/${sample}`), alt });
  }

  /** The raw scores, for those who want them. */
  #details({ ranking }) {
    const figure = alike(ranking.map((entry) => entry.score));
    const scores = ranking.slice(0, RANKED).map((entry) => `${this.studio.nameOf(entry.class)} ${figure(entry.score)}`);
    return hint(`Scores, less the balance: ${scores.join(", ")}. They compare within one picture only.`, "The scores behind");
  }

  #rank({ ranking, answer, truth }) {
    const { studio } = this;
    // The reasons are those of the picture as it is.
    const corrected = this.changes.size > 0;
    this.element.querySelector(".reasons")?.classList.toggle("before", corrected);
    const known = truth >= 0 && studio.classes.get(truth)?.described;
    const right = known ? truth === answer : null;
    fill(
      this.verdict,
      h(
        "p",
        { class: right === null ? "" : right ? "good" : "bad" },
        right === null ? "" : right ? "✓ " : "✗ ",
        h("b", {}, studio.nameOf(answer)),
        right === false ? ` – it is ${studio.nameOf(truth)}` : null,
        right === true ? " – right" : null,
        right === null && truth >= 0 ? ` – it is ${studio.nameOf(truth)}, not described yet` : null,
        corrected ? ", as corrected" : null,
      ),
    );
    const best = ranking[0]?.score ?? 0;
    const last = ranking.at(-1)?.score ?? 0;
    fill(
      this.ranking,
      ranking.filter((entry, k) => k < RANKED || entry.class === truth).map((entry) => {
        const bar = h("span", { class: "bar", "aria-hidden": "true" });
        const share = (entry.score - last) / (best - last || 1);
        bar.style.setProperty("--part", String(entry.probability ?? 0.06 + 0.94 * share));
        const own = entry.class === truth;
        return h(
          "li",
          { class: own ? "own" : null },
          h(
            "button",
            { type: "button", class: "link", onclick: () => studio.look({ focus: entry.class }) },
            studio.nameOf(entry.class),
          ),
          own ? h("span", { class: "tag" }, "true class") : null,
          entry.probability === null ? null : h("span", { class: "number" }, likely(entry.probability)),
          bar,
        );
      }),
    );
  }

  #reasons({ reasons, answer }) {
    if (!reasons) {
      return h("p", { class: "muted" }, "This method does not split its scores by attribute.");
    }
    const { studio } = this;
    const { winner, other, says, ...split } = forAnswer(reasons, answer, studio.state.dimensions);
    const [given, right] = [studio.nameOf(winner), studio.nameOf(other)];
    if (says.length) return this.#phrases(says, given, reasons.note);
    if (!studio.named) return h("p", { class: "muted" }, NAMELESS);
    const found = bars(split);
    const weights = weighed(found);
    const id = newId("against");
    const choice = h(
      "select",
      { id, onchange: () => this.#compare(Number(choice.value)) },
      studio.candidates
        .filter((c) => c.id !== winner)
        .map((c) => h("option", { value: c.id }, c.name)),
    );
    choice.value = String(other);
    return h(
      "section",
      { class: "reasons" },
      h("h3", {}, `Why ${given}?`),
      h("label", { for: id, class: "muted small" }, "compared with "),
      choice,
      h(
        "div",
        { class: "sides", "aria-hidden": "true" },
        h("span", {}, `◂\u00a0for ${right}`),
        h("span", {}, `for ${given}\u00a0▸`),
      ),
      h(
        "ul",
        { class: "bars", "data-sum": found.reduce((sum, bar) => sum + bar.difference, 0) },
        found.map((bar) => this.#bar(bar, weights, given, right)),
      ),
      h(
        "p",
        { class: "sum" },
        "Together ",
        h("b", {}, percent(weights.favor)),
        ` speak for ${given}`,
        hint(
          `Each bar is a share of all that was weighed; nothing is left out. As differences of scores, less the balance: ${found.map((bar) => `${bar.name} ${weights.figure(bar.difference)}`).join(", ")}; together ${weights.figure(split.score_difference)}.`,
          "The scores behind the bars",
        ),
      ),
      reasons.note ? h("p", { class: "muted small" }, `${given}: ${reasons.note}.`) : null,
    );
  }

  /** What each phrase of a description does for the answer: the score with it and without it. */
  #phrases(says, given, note) {
    const found = [...says].filter((one) => one.adds).sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds)).slice(0, PHRASES);
    const weights = weighed(found.map((one) => ({ difference: one.adds })));
    return h(
      "section",
      { class: "reasons" },
      h(
        "h3",
        {},
        `Why ${given}?`,
        hint("Each phrase of the description is left out in turn: the bar shows by how much the score would fall without it, or rise.", "How this is found"),
      ),
      h("div", { class: "sides", "aria-hidden": "true" }, h("span", {}, "◂\u00a0against it"), h("span", {}, "for it\u00a0▸")),
      h(
        "ul",
        { class: "bars" },
        found.map((one) => this.#bar({ name: `“${one.trait}”`, difference: one.adds }, weights, given, "others")),
      ),
      note ? h("p", { class: "muted small" }, `${given}: ${note}.`) : null,
    );
  }

  #bar({ name, difference, ...sides }, { largest, total }, given, right) {
    const side = difference >= 0 ? "plus" : "minus";
    const stripe = h("span", { class: `stripe ${side}`, "aria-hidden": "true" });
    stripe.style.setProperty("--part", String(Math.abs(difference) / largest));
    const who = whoHas(sides, given, right);
    return h(
      "li",
      { "data-difference": difference },
      h("span", { class: "name" }, name),
      h("span", { class: "track" }, stripe),
      h("span", { class: "number" }, likely(Math.abs(difference) / total)),
      h("span", { class: "unseen" }, ` for ${difference >= 0 ? given : right}`),
      who ? h("span", { class: "who muted" }, who) : null,
    );
  }

  #compare(id) {
    this.against = id;
    this.#load();
  }

  /** Take the sample as an example of a class, known or new. */
  #teaching({ example, ranking }) {
    const { studio } = this;
    if (example !== null && example !== undefined) {
      return h(
        "section",
        { class: "teach" },
        h("h3", {}, "Example"),
        h("p", {}, say("This picture is an example of "), h("button", { type: "button", class: "link", onclick: () => studio.look({ focus: example }) }, studio.nameOf(example)), "."),
      );
    }
    const id = newId("teach");
    const known = newId("known");
    const name = h("input", { id, type: "text", required: true, maxlength: 200, list: known, autocomplete: "off", value: ranking.length ? studio.nameOf(ranking[0].class) : "" });
    return h(
      "section",
      { class: "teach" },
      h("h3", {}, "Add as an example", hint(studio.meaningOfExamples(), "What an example does")),
      h(
        "form",
        {
          class: "row",
          onsubmit: (event) => {
            event.preventDefault();
            this.#teach(name.value.trim());
          },
        },
        h("label", { for: id }, say("This picture is a ")),
        name,
        h("datalist", { id: known }, [...studio.classes.values()].map((c) => h("option", { value: c.name }))),
        h("button", { type: "submit", class: "primary" }, "Add"),
      ),
      studio.state.learns ? null : h("p", { class: "muted small" }, studio.whyNoExamples()),
    );
  }

  async #teach(name) {
    const { studio } = this;
    const what = this.dropped === null ? { sample: this.sample } : { dropped: this.dropped };
    try {
      const id = await studio.teach(name, what);
      this.announce(`An example of ${name} was added.`);
      studio.look({ focus: id });
    } catch (error) {
      this.fail(error);
    }
  }

  #intervention({ encoded, encoded_range, reasons, dropped }) {
    if (!encoded || dropped || !this.studio.named) return null;
    const { dimensions } = this.studio.state;
    const shown = this.#important(encoded, reasons);
    const reset = h("button", { type: "button", onclick: () => this.open(this) }, "Reset");
    return h(
      "section",
      { class: "intervene" },
      h("h3", {}, "What if?"),
      h("p", { class: "muted" }, say("What the model reads in this picture. Correct a value and see the answer change.")),
      shown.map((index) => {
        const [low, high] = encoded_range
          ? [encoded_range[0][index], encoded_range[1][index]]
          : [dimensions[index].low, dimensions[index].high];
        return this.#slider(index, { name: dimensions[index].name, low, high }, encoded[index]);
      }),
      reset,
    );
  }

  /** The attributes that decided most; without reasons, the first ones. */
  #important(encoded, reasons) {
    const all = encoded.map((_, index) => index);
    const size = new Map((reasons?.dimensions ?? []).map((d) => [d.index, Math.abs(d.difference)]));
    if (!size.size) return all.slice(0, SLIDERS);
    return all.sort((a, b) => (size.get(b) ?? 0) - (size.get(a) ?? 0)).slice(0, SLIDERS);
  }

  #slider(index, { name, low, high }, value) {
    const id = newId("encoded");
    const [least, most] = [Math.min(low, value), Math.max(high, value)];
    const margin = 0.1 * (most - least) || 0.5;
    const output = h("output", { for: id }, short(value));
    const input = h("input", {
      type: "range",
      id,
      min: least - margin,
      max: most + margin,
      step: (most - least + 2 * margin) / 200,
      "data-encoded": index,
      oninput: () => {
        output.textContent = short(Number(input.value));
        this.#intervene(index, Number(input.value));
      },
    });
    input.value = String(value);
    return h("div", { class: "slider" }, h("label", { for: id }, name), input, output);
  }

  async #intervene(index, value) {
    this.changes.set(index, value);
    const body = { encoded: Object.fromEntries(this.changes) };
    try {
      const found = await this.lane({ id: this.sample, body }, "intervene");
      if (!found) return;
      const before = this.found.answer;
      this.#rank({ ...this.found, ...found });
      if (found.answer !== before) this.announce(`With this change the answer is ${this.studio.nameOf(found.answer)}`);
      this.found = { ...this.found, answer: found.answer };
    } catch (error) {
      this.fail(error);
    }
  }
}

const likely = (probability) => (probability < 0.005 ? "< 1 %" : probability > 0.995 ? "> 99 %" : percent(probability));

// Which pictures to label next: those between two classes of which little is known.

const ASKED = 6;

export class LabelPanel {
  /** @param {{studio: object, element: HTMLElement, loader: object, announce: Function,
   *   fail: Function}} parts */
  constructor({ studio, element, loader, announce, fail }) {
    Object.assign(this, { studio, element, loader, announce, fail });
  }

  /** Ask the program which ones, and show them. */
  async open() {
    const { studio } = this;
    fill(this.element, h("h2", {}, "Label these next"), h("p", { class: "muted" }, "Choosing …"));
    try {
      const { samples } = await studio.json(`suggest?n=${ASKED}`);
      this.#show(samples);
    } catch (error) {
      fill(this.element, h("h2", {}, "Label these next"), h("p", {}, error.message));
    }
  }

  #show(samples) {
    fill(
      this.element,
      h("h2", {}, "Label these next"),
      h(
        "p",
        { class: "muted" },
        say("These pictures would teach the model most: it hesitates between two classes that it knows little of."),
        hint(this.studio.meaningOfExamples(), "What an example does"),
      ),
      h("ul", { class: "asked" }, samples.map((one) => this.#question(one))),
      h("button", { type: "button", onclick: () => this.open() }, "Choose others"),
    );
  }

  #question({ sample, classes }) {
    const { studio, loader } = this;
    const line = h("li", {});
    const answer = async (name) => {
      try {
        await studio.teach(name, { sample });
        this.announce(`An example of ${name} was added.`);
        fill(line, h("p", { class: "good" }, `✓ ${name}`));
      } catch (error) {
        this.fail(error);
      }
    };
    fill(
      line,
      h("button", { type: "button", class: "tile", "aria-label": say(`Look at picture ${studio.sampleName(sample)}`), onclick: () => studio.look({ sample }) }, drawFace({ studio, loader, i: sample, side: 72 })),
      h(
        "div",
        { class: "answers" },
        classes.map((id) => h("button", { type: "button", onclick: () => answer(studio.nameOf(id)) }, studio.nameOf(id))),
        h("button", { type: "button", class: "link", onclick: () => studio.look({ sample }) }, "another …"),
      ),
    );
    return line;
  }
}
