// One picture: its ranked classes, what spoke for which, and what if an attribute were different.

import { alike, fill, h, newId, say, short, signed } from "./dom.js";
import { addressOf, getJson, makeLane, postJson } from "./server.js";
import { drawInitials } from "./tiles.js";

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
    offset_difference: sign * reasons.offset_difference,
    score_difference: sign * reasons.score_difference,
    dimensions: reasons.dimensions.map((d) => ({
      name: d.name ?? dimensions[d.index].name,
      right: turned ? d.given : d.right,
      given: turned ? d.right : d.given,
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
    found.push({ name: "offset", right: null, given: null, difference: offset });
  }
  return found;
}

function summed(parts) {
  const sum = (key) => parts.reduce((total, part) => total + (part[key] ?? 0), 0);
  return { right: sum("right"), given: sum("given"), difference: sum("difference") };
}

const RANKED = 5;
const SLIDERS = 8;
const NAMELESS = "No reasons here: the numbers that describe these classes have no names of their own.";

export class CardPanel {
  /** @param {{studio: object, element: HTMLElement, announce: Function, fail: Function}} parts */
  constructor({ studio, element, announce, fail }) {
    Object.assign(this, { studio, element, announce, fail });
    this.sample = null;
    this.against = null;
    this.lane = makeLane((message) => postJson(`samples/${message.id}/intervene`, message.body));
    studio.on("answers", () => this.sample !== null && this.#load());
  }

  close() {
    this.sample = null;
  }

  open(sample) {
    if (this.sample !== sample) this.against = null;
    this.sample = sample;
    this.changes = new Map();
    return this.#load();
  }

  async #load() {
    const { sample } = this;
    const query = this.against === null ? "" : `?against=${this.against}`;
    try {
      const found = await getJson(`samples/${sample}${query}`);
      if (this.sample === sample) this.#show(found);
    } catch (error) {
      this.fail(error);
    }
  }

  #show(found) {
    const { studio, sample } = this;
    this.found = found;
    this.ranking = h("ol", { class: "ranking" });
    this.verdict = h("div", { class: "verdict" });
    fill(
      this.element,
      h("p", { class: "muted small" }, say("Picture")),
      h("h2", { class: "sample-name" }, studio.sampleName(sample)),
      this.#face(found),
      this.verdict,
      h("h3", {}, "Ranked classes"),
      this.ranking,
      this.#reasons(found),
      this.#intervention(found),
    );
    this.#rank(found);
  }

  #face({ text }) {
    const { studio, sample } = this;
    if (text !== null && text !== undefined) return h("blockquote", { class: "whole-text", tabindex: "0" }, text);
    if (!studio.state.data.pictures) return drawInitials(studio, sample, 96);
    const alt = `Picture ${studio.sampleName(sample)}`;
    return h("img", { class: "large-picture", src: addressOf(`pictures/${sample}`), alt });
  }

  #rank({ ranking, answer }) {
    const { studio, sample } = this;
    const truth = studio.labels.truth[sample];
    const right = studio.knownTruth(sample) < 0 ? null : truth === answer;
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
      ),
    );
    const best = ranking[0]?.score ?? 0;
    const last = ranking.at(-1)?.score ?? 0;
    const figure = alike(ranking.map((entry) => entry.score));
    fill(
      this.ranking,
      ranking.filter((entry, k) => k < RANKED || entry.class === truth).map((entry) => {
        const bar = h("span", { class: "bar", "aria-hidden": "true" });
        bar.style.setProperty("--part", String(0.06 + 0.94 * ((entry.score - last) / (best - last || 1))));
        const own = entry.class === truth;
        return h(
          "li",
          { class: own ? "own" : null },
          h(
            "button",
            { type: "button", class: "link", onclick: () => studio.look({ focus: entry.class, sample: null }) },
            studio.nameOf(entry.class),
          ),
          own ? h("span", { class: "tag" }, "true class") : null,
          h("span", { class: "number" }, figure(entry.score)),
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
    if (!studio.named) return h("p", { class: "muted" }, NAMELESS);
    const { winner, other, ...split } = forAnswer(reasons, answer, studio.state.dimensions);
    const [given, right] = [studio.nameOf(winner), studio.nameOf(other)];
    const found = bars(split);
    const largest = Math.max(...found.map((bar) => Math.abs(bar.difference)), 1e-12);
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
        found.map((bar) => this.#bar(bar, largest, given, right)),
      ),
      h(
        "p",
        { class: "sum" },
        "Sum = difference of the scores: ",
        h("b", {}, signed(split.score_difference)),
      ),
    );
  }

  #bar({ name, difference }, largest, given, right) {
    const side = difference >= 0 ? "plus" : "minus";
    const stripe = h("span", { class: `stripe ${side}`, "aria-hidden": "true" });
    stripe.style.setProperty("--part", String(Math.abs(difference) / largest));
    return h(
      "li",
      { "data-difference": difference },
      h("span", { class: "name" }, name),
      h("span", { class: "track" }, stripe),
      h("span", { class: "number" }, signed(difference)),
      h("span", { class: "unseen" }, ` for ${difference >= 0 ? given : right}`),
    );
  }

  #compare(id) {
    this.against = id;
    this.#load();
  }

  #intervention({ encoded, encoded_range, reasons }) {
    if (!encoded || !this.studio.named) return null;
    const { dimensions } = this.studio.state;
    const shown = this.#important(encoded, reasons);
    const reset = h("button", { type: "button", onclick: () => this.open(this.sample) }, "Reset");
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
      this.#rank(found);
      if (found.answer !== before) this.announce(`With this change the answer is ${this.studio.nameOf(found.answer)}`);
      this.found = { ...this.found, answer: found.answer };
    } catch (error) {
      this.fail(error);
    }
  }
}
