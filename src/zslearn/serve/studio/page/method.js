// Which method, which λ, and two methods side by side.

import { Curve, nearestValue } from "./curve.js";
import { counted, fill, h, newId, percent, say, short } from "./dom.js";

/** Rows by who is right: both, only the first, only the second, neither. */
export function agreement(truth, first, second, rows) {
  const groups = { both: [], first: [], second: [], neither: [] };
  for (const i of rows) {
    if (truth[i] < 0) continue;
    const [a, b] = [first[i] === truth[i], second[i] === truth[i]];
    groups[a ? (b ? "both" : "first") : b ? "second" : "neither"].push(i);
  }
  return groups;
}

export class ChooseView {
  /** @param {{studio: object, element: HTMLElement, announce: Function, fail: Function,
   *   open: () => void}} parts */
  constructor({ studio, element, announce, fail, open }) {
    Object.assign(this, { studio, element, announce, fail, open });
    this.curve = new Curve({
      label: "Lambda",
      xLabel: "λ, from decoder-like to encoder-like",
      yLabel: "accuracy on held-out classes",
      along: "x",
      move: (index, final) => this.#setLam(index, final),
      say: (index) => this.#say(index),
    });
    this.methods = h("fieldset", { class: "methods" });
    this.lam = h("section", { class: "lam" });
    this.compare = h("section", { class: "compare" });
    fill(element, h("div", { class: "scroll" }, this.methods, this.lam, this.compare));
    studio.on("state", () => this.refresh());
    studio.on("answers view", () => this.#comparison());
  }

  async refresh() {
    const { studio, element } = this;
    if (!studio.state?.ready || element.hidden) return;
    this.#methods();
    this.#comparison();
    await this.#lamCurve();
    element.dataset.painted = String(studio.revision);
  }

  #methods() {
    const { state } = this.studio;
    const name = newId("method");
    fill(
      this.methods,
      h("legend", {}, "Method"),
      state.methods.map((method) =>
        h(
          "label",
          { class: "check" },
          h("input", {
            type: "radio",
            name,
            value: method.id,
            checked: method.id === state.method,
            onchange: () => this.#edit({ op: "method", method: method.id }, method.name),
          }),
          ` ${method.name}`,
        ),
      ),
    );
  }

  async #lamCurve() {
    const { studio } = this;
    const { state } = studio;
    if (!state.lam) {
      this.lamOf = null;
      fill(this.lam, h("p", { class: "muted" }, "This method has no λ."));
      return;
    }
    if (this.lamOf !== state.method) {
      try {
        this.data = await studio.json("lambda");
      } catch (error) {
        fill(this.lam, h("p", { class: "muted" }, error.message));
        return;
      }
      this.lamOf = state.method;
      fill(
        this.lam,
        h("h3", {}, "λ: how much encoding, how much decoding"),
        h("p", { class: "muted" }, say("Each point is the accuracy on training classes that were held out. Drag the handle and the pictures are answered again.")),
        this.curve.element,
        h(
          "ul",
          { class: "legend" },
          h("li", {}, h("span", { class: "stroke first", "aria-hidden": "true" }), "encoder"),
          h("li", {}, h("span", { class: "stroke second", "aria-hidden": "true" }), "decoder"),
          h("li", {}, "◆ chosen for each"),
        ),
      );
    }
    this.#drawLam();
  }

  #drawLam() {
    const { values, encoder, decoder, chosen_encoder, chosen_decoder } = this.data;
    const { lam } = this.studio.state;
    const logs = values.map(Math.log10);
    const points = (line) => line.map((y, k) => [logs[k], y]);
    const own = this.#ownLine();
    const mark = (value, line, text, below) => {
      const k = nearestValue(logs, Math.log10(value));
      return { at: [logs[k], line[k]], text, shape: "diamond", below };
    };
    const [low, top] = [Math.min(...encoder, ...decoder), Math.max(...encoder, ...decoder)];
    this.curve.draw({
      x: { range: [logs[0], logs.at(-1)], text: (v) => short(10 ** v) },
      y: { range: [Math.max(0, Math.floor(low * 10 - 0.5) / 10), Math.min(1, Math.ceil(top * 10 + 0.5) / 10)], text: (v) => percent(v) },
      lines: [
        { name: "encoder", class: "first", points: points(encoder) },
        { name: "decoder", class: "second", points: points(decoder) },
      ],
      marks: [mark(chosen_encoder, encoder, "encoder"), mark(chosen_decoder, decoder, "decoder", true)],
      track: points(own),
      index: nearestValue(logs, Math.log10(lam.value)),
    });
  }

  /** The line the handle runs along: that of the direction in use. */
  #ownLine() {
    return this.studio.state.method === "sae-encode" ? this.data.encoder : this.data.decoder;
  }

  #say(index) {
    if (!this.data) return "";
    return `λ ${short(this.data.values[index])}, accuracy on held-out classes ${percent(this.#ownLine()[index])}`;
  }

  async #setLam(index, final) {
    const value = this.data.values[index];
    this.studio.state.lam.value = value;
    try {
      const head = await this.studio.edit({ op: "lam", value, final }, "lam");
      if (head && final) this.announce(this.#say(index));
    } catch (error) {
      this.fail(error);
    }
  }

  async #edit(message, name) {
    try {
      await this.studio.edit(message);
      this.announce(`${name}: new classes ${percent(this.studio.state.summary?.unseen)}`);
    } catch (error) {
      this.fail(error);
    }
  }

  #comparison() {
    const { studio } = this;
    if (!studio.state?.ready || this.element.hidden) return;
    const { state } = studio;
    if (!this.second || this.offered !== `${state.methods.map((m) => m.id)}`) this.#buildCompare();
    if (document.activeElement !== this.second) this.second.value = state.compare ?? "";
    if (state.compare && studio.answers.answer2) this.#sideBySide();
    else fill(this.side);
  }

  #buildCompare() {
    const { state } = this.studio;
    const id = newId("second");
    this.offered = `${state.methods.map((m) => m.id)}`;
    this.second = h(
      "select",
      {
        id,
        onchange: () => this.#edit({ op: "compare", method: this.second.value || null }, "Compared"),
      },
      h("option", { value: "" }, "nothing"),
      state.methods.map((m) => h("option", { value: m.id }, m.name)),
    );
    this.side = h("div", { class: "side-by-side" });
    fill(
      this.compare,
      h("h3", {}, "Two methods side by side"),
      h("label", { for: id }, "Compare with "),
      this.second,
      this.side,
    );
  }

  #sideBySide() {
    const { studio } = this;
    const { state } = studio;
    const nameOf = (id) => state.methods.find((m) => m.id === id)?.name ?? id;
    const [first, second] = [nameOf(state.method), nameOf(state.compare)];
    const rows = [
      ["New classes", "unseen"],
      ["Trained classes", "seen"],
      ["Both together", "h"],
    ];
    const groups = agreement(
      studio.labels.truth,
      studio.answers.answer,
      studio.answers.answer2,
      studio.rows(),
    );
    fill(
      this.side,
      h(
        "table",
        { class: "versus" },
        h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, first), h("th", { scope: "col" }, second))),
        h(
          "tbody",
          {},
          rows.map(([text, key]) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, text),
              h("td", {}, percent(state.summary?.[key], 1)),
              h("td", {}, percent(state.two?.summary?.[key], 1)),
            ),
          ),
        ),
      ),
      h(
        "ul",
        { class: "agreement" },
        [
          ["both", "Both are right"],
          ["first", `Only ${first} is right`],
          ["second", `Only ${second} is right`],
          ["neither", "Neither is right"],
        ].map(([key, text]) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: "link",
                disabled: !groups[key].length,
                onclick: () => this.#show(groups[key]),
              },
              text,
            ),
            h("span", { class: "muted" }, ` ${counted(groups[key].length, "picture")}`),
          ),
        ),
      ),
    );
    this.side.dataset.painted = String(studio.revision);
  }

  #show(rows) {
    this.studio.look({ selection: Uint32Array.from(rows), focus: null });
    this.open();
  }
}
