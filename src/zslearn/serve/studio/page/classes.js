// The list of classes: how many pictures, how many right, seen or new; a click looks at one.

import { counted, fill, h, percent, say, whole } from "./dom.js";

/** Sections of the list, in the order of interest; your own classes come first. */
export function sections(classes) {
  const all = [...classes.values()];
  return [
    { title: "Your classes", classes: all.filter((c) => c.described && c.added) },
    { title: "New classes", classes: all.filter((c) => c.described && !c.added && !c.seen) },
    { title: "Classes of the training", classes: all.filter((c) => c.described && !c.added && c.seen) },
  ].filter((section) => section.classes.length);
}

export class ClassList {
  /** @param {{studio: object, element: HTMLElement, describe: (name?: string) => void}} parts */
  constructor({ studio, element, describe }) {
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
    fill(
      element,
      h("h2", {}, "Classes"),
      this.summary,
      h("button", { type: "button", class: "wide", onclick: () => describe() }, "+ New class"),
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
    const { summary } = this.studio.state;
    const tiles = [
      ["New classes", percent(summary?.unseen), say("Accuracy on classes without training pictures")],
      ["Trained classes", percent(summary?.seen), say("Accuracy on classes with training pictures")],
      ["H", percent(summary?.h), "Harmonic mean of the two"],
    ].filter(([, value]) => value !== "–");
    if (this.summarized === String(tiles)) return;
    this.summarized = String(tiles);
    this.summary.hidden = !tiles.length;
    fill(
      this.summary,
      tiles.map(([name, value, title]) => h("div", { title }, h("dt", {}, name), h("dd", {}, value))),
    );
  }
}

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
