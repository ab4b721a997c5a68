// Seen against unseen: the curve with its handle, and how sure an answer must be.

import { Curve, nearestValue } from "./curve.js";
import { counted, fill, h, hint, newId, percent, say, short } from "./dom.js";

export class BalanceView {
  /** @param {{studio: object, element: HTMLElement, announce: Function, fail: Function}} parts */
  constructor({ studio, element, announce, fail }) {
    Object.assign(this, { studio, element, announce, fail });
    this.curve = new Curve({
      label: "Balance between trained and new classes",
      xLabel: "accuracy on trained classes",
      yLabel: "accuracy on new classes",
      move: (index, final) => this.#move(index, final),
      say: (index) => this.#say(index),
    });
    this.tiles = h("dl", { class: "tiles big" });
    this.buttons = h("div", { class: "row" });
    this.empty = h("p", { class: "empty", hidden: true });
    this.figure = h("div", { class: "with-side" }, this.curve.element, h("div", {}, this.tiles, this.buttons));
    this.rejection = h("section", { class: "rejection" });
    fill(
      element,
      h(
        "div",
        { class: "scroll" },
        h("h3", {}, "How much head start do trained classes get?"),
        h(
          "p",
          { class: "muted" },
          "A model favors what it trained on. Drag the handle along the curve: to the right, trained classes win more often; upward, new ones do.",
        ),
        this.empty,
        this.figure,
        this.rejection,
      ),
    );
    this.#buildRejection();
    studio.on("state answers", () => this.refresh());
  }

  /** Read the curves again where the classes have changed. */
  async refresh() {
    const { studio, element } = this;
    if (!studio.state?.ready || element.hidden) return;
    this.#tiles();
    this.#showRejection();
    if (this.shown === studio.revision || this.loading || this.moving) return;
    this.loading = true;
    const { revision } = studio;
    try {
      const rejection = studio.state.reject?.sure === null ? null : studio.packed("rejection");
      [this.data, this.thresholds] = await Promise.all([studio.packed("balance"), rejection]);
      this.shown = revision;
      this.#explain("");
      this.#draw();
      this.#showRejection();
    } catch (error) {
      this.#empty(error.message);
    } finally {
      this.loading = false;
    }
    if (this.shown !== undefined && this.shown !== studio.revision) this.refresh();
  }

  #empty(reason) {
    this.shown = this.studio.revision;
    this.data = null;
    this.#explain(reason);
  }

  #explain(reason) {
    this.empty.textContent = reason;
    this.empty.hidden = !reason;
    this.figure.hidden = Boolean(reason);
  }

  #draw() {
    const { bias, seen, unseen } = this.data.arrays;
    const track = Array.from(bias, (_, k) => [seen[k], unseen[k]]);
    const { chosen, oracle } = this.data.head;
    const mark = (value, text, shape, below) => {
      const k = nearestValue(bias, value);
      return { at: track[k], text, shape, below };
    };
    const range = (values) => [0, Math.min(1, Math.ceil(10 * Math.max(...values) + 0.4) / 10)];
    this.curve.draw({
      x: { range: range(seen), text: (v) => percent(v) },
      y: { range: range(unseen), text: (v) => percent(v) },
      lines: [{ name: "balance", class: "first", points: track }],
      marks: [
        ...(oracle === null || oracle === undefined ? [] : [mark(oracle, "best possible", "triangle")]),
        ...(chosen === null || chosen === undefined ? [] : [mark(chosen, "chosen", "diamond", true)]),
      ],
      track,
      index: nearestValue(bias, this.studio.state.balance.bias),
    });
    const use = (value, text) =>
      value === null || value === undefined
        ? null
        : h("button", { type: "button", onclick: () => this.#use(value) }, text);
    // A button that is replaced between press and release gets no click.
    if (!this.buttons.childElementCount || chosen !== this.offered) {
      this.offered = chosen;
      fill(
        this.buttons,
        use(chosen, "Use the chosen balance"),
        use(0, "No correction"),
        h(
          "p",
          { class: "muted small" },
          "◆ chosen: learned by holding out training classes. ▲ best possible: needs the labels of the new classes, so it is only shown.",
        ),
      );
    }
    this.element.dataset.painted = String(this.shown);
  }

  #say(index) {
    if (!this.data) return "";
    const { seen, unseen, h: mean } = this.data.arrays;
    return `trained classes ${percent(seen[index])}, new classes ${percent(unseen[index])}, both together ${percent(mean[index])}`;
  }

  #move(index, final) {
    this.moving = !final;
    this.#use(this.data.arrays.bias[index], final);
  }

  async #use(bias, final = true) {
    this.studio.state.balance.bias = bias;
    try {
      const head = await this.studio.edit({ op: "balance", bias, final }, "balance");
      if (head && final) this.announce(this.#say(this.curve.index));
    } catch (error) {
      this.fail(error);
    }
  }

  #tiles() {
    const { summary, balance } = this.studio.state;
    const tiles = [
      ["Trained classes", percent(summary?.seen, 1)],
      ["New classes", percent(summary?.unseen, 1)],
      ["Both together", percent(summary?.h, 1)],
    ];
    const figures = `${tiles} ${balance?.bias}`;
    if (this.figures !== figures) {
      this.figures = figures;
      fill(
        this.tiles,
        tiles.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
        hint(
          `“Both together” is the harmonic mean of the two, called H: it is high only if both are. The balance is ${short(balance?.bias)}, subtracted from the scores of trained classes.`,
          "What these figures are",
        ),
      );
    }
    if (this.data && !this.curve.dragging) {
      this.curve.place(nearestValue(this.data.arrays.bias, balance.bias));
    }
  }

  #buildRejection() {
    const id = newId("threshold");
    this.on = h("input", { type: "checkbox", onchange: () => this.#reject(true) });
    this.threshold = h("input", {
      type: "range",
      id,
      min: 0,
      max: 1,
      step: 0.01,
      oninput: () => this.#reject(false),
      onchange: () => this.#reject(true),
    });
    this.level = h("output", { for: id });
    this.rejectText = h("output", { for: id, class: "wide" });
    fill(
      this.rejection,
      h("h3", {}, "None of these", hint("How sure an answer is was learned on training classes that were held out: among answers that are 70 % sure, about 70 of 100 were right there.", "What sure means")),
      h("label", { class: "check" }, this.on, say(" Leave a picture without an answer when the model is not sure")),
      h("div", { class: "slider" }, h("label", { for: id }, "How sure it must be"), this.threshold, this.level),
      this.rejectText,
    );
  }

  #showRejection() {
    const { reject, summary } = this.studio.state;
    const unknown = !reject || reject.sure === null;
    this.rejection.hidden = unknown;
    if (unknown) return;
    const curve = this.thresholds?.arrays;
    if (document.activeElement !== this.threshold) this.threshold.value = String(reject.sure ?? reject.chosen ?? 0);
    const level = Number(this.threshold.value);
    this.on.checked = reject.on;
    this.threshold.disabled = !reject.on;
    this.level.textContent = percent(level);
    const count = summary?.n_rejected ?? this.studio.answers.answer.filter((a) => a < 0).length;
    const rest = curve?.accuracy[nearestValue(curve.sure, level)];
    this.rejectText.textContent = reject.on
      ? `${counted(count, "test picture")} without an answer; of the others ${percent(rest)} are right`
      : say("off: every picture gets an answer");
  }

  async #reject(final) {
    const { state } = this.studio;
    const wanted = { on: this.on.checked, sure: Number(this.threshold.value) };
    Object.assign(state.reject, wanted);
    this.level.textContent = percent(wanted.sure);
    try {
      await this.studio.edit({ op: "reject", ...wanted, final }, "reject");
      if (final) this.announce(this.rejectText.textContent);
    } catch (error) {
      this.fail(error);
    }
  }
}
