// Truth against answer; a click on a cell shows its pictures.

import { counted, fill, h, newId, percent, say, whole } from "./dom.js";
import { confusion } from "./tally.js";

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
    const wrong = mistakes(found.cells);
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
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, this.studio.nameOf(truth)),
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
