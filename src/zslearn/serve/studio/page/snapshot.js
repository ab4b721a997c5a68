// A project in one file, without a server: the map, the classes, and sliders that score again.

import { byId, currentTheme, fill, h, newId, percent, short, sliderRange, spoken, whole } from "./dom.js";
import { Scatter, dress } from "./scatter.js";
import { answersOf, decodeNumbers, scoreClass } from "./scoring.js";
import { tally } from "./tally.js";

/** Turn the data of a snapshot into numbers. */
export function readSnapshot(data) {
  const numbers = (text, Kind) => (text === null || text === undefined ? null : decodeNumbers(text, Kind));
  return {
    ...data,
    truth: numbers(data.truth, Int32Array) ?? new Int32Array(data.n).fill(-1),
    split: numbers(data.split, Uint8Array) ?? new Uint8Array(data.n).fill(1),
    xy: numbers(data.xy, Float32Array),
    form: {
      ...data.form,
      branches: data.form.branches.map((branch) => ({
        z: numbers(branch.z, Float32Array),
        gram: numbers(branch.gram, Float32Array),
        lengths: numbers(branch.lengths, Float32Array),
      })),
    },
  };
}

class Snapshot {
  constructor(data) {
    this.model = readSnapshot(data);
    this.columns = this.model.classes.map((c) => scoreClass(this.model, c));
    this.original = new Map(this.model.classes.map((c) => [c.id, [...c.row]]));
    this.focus = null;
    this.hidden = this.#outOfScope();
    this.#build();
    this.#answer();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    addEventListener("resize", () => this.paint());
  }

  // The pictures of new classes are what a snapshot is about; without labels, all are shown.
  #outOfScope() {
    const { truth, classes } = this.model;
    const fresh = new Set(classes.filter((c) => !c.seen).map((c) => c.id));
    const any = truth.some((id) => fresh.has(id));
    return Uint8Array.from(truth, (id) => (any && !fresh.has(id) ? 1 : 0));
  }

  #build() {
    const { model } = this;
    byId("title").textContent = model.title;
    document.title = model.title;
    byId("about").textContent = `${model.method} · ${whole(model.n)} pictures · a snapshot, made with zslearn studio`;
    this.canvas = h("canvas", {
      class: "map",
      tabindex: "0",
      role: "img",
      "aria-label": "Map of the pictures; the list beside it has the same numbers",
    });
    this.legend = h("ul", { class: "legend" });
    fill(byId("middle"), h("div", { class: "map-frame" }, this.canvas), this.legend);
    this.scatter = new Scatter(this.canvas);
    this.scatter.setPoints(model.xy);
    this.scatter.hidden = this.hidden;
    this.items = new Map();
    fill(
      byId("classes"),
      h("h2", {}, "Classes"),
      [["New classes", false], ["Classes of the training", true]].map(([title, seen]) => [
        h("h3", { class: "muted" }, title),
        h(
          "ul",
          { class: "class-items" },
          model.classes.filter((c) => c.seen === seen).map((c) => h("li", {}, this.#item(c))),
        ),
      ]),
    );
    this.#listen();
    this.#showPictures();
    this.#panel();
  }

  #item(c) {
    const count = h("span", { class: "muted count" });
    const accuracy = h("span", { class: "accuracy" });
    const button = h(
      "button",
      { type: "button", class: "class-item", "data-class": c.id, onclick: () => this.choose(c.id) },
      h("span", { class: "name" }, c.name),
      count,
      accuracy,
    );
    this.items.set(c.id, { button, count, accuracy });
    return button;
  }

  // Pictures are decoded when they come into sight.
  #showPictures() {
    const { thumbnails } = this.model;
    if (!thumbnails) return;
    const found = new Map();
    this.scatter.thumbnail = (i) => {
      if (!found.has(i)) {
        const image = new Image();
        image.addEventListener("load", () => this.#repaint());
        image.src = thumbnails[i];
        found.set(i, image);
      }
      const image = found.get(i);
      return image.complete && image.naturalWidth ? image : null;
    };
  }

  #repaint() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  #listen() {
    const { canvas, scatter } = this;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        scatter.camera.zoom(Math.exp(-event.deltaY * 0.0016), ...at(event));
        this.paint();
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.last = at(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.last) return;
      const now = at(event);
      scatter.camera.pan(now[0] - this.last[0], now[1] - this.last[1]);
      this.last = now;
      this.paint();
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => (this.last = null));
    }
  }

  choose(id) {
    this.focus = this.focus === id ? null : id;
    this.#panel();
    this.paint();
  }

  #panel() {
    const c = this.model.classes.find((found) => found.id === this.focus);
    if (!c) {
      fill(
        byId("details"),
        h("h2", {}, "Move a slider"),
        h("p", { class: "muted" }, "Choose a class on the left and change its description: every picture is answered again, here in your browser."),
      );
      return;
    }
    this.result = h("p", { class: "score" });
    fill(
      byId("details"),
      h("h2", {}, c.name),
      this.result,
      h(
        "div",
        { class: "sliders" },
        this.model.dimensions.map((d, k) => (d.meaningful === false ? null : this.#slider(c, d, k))),
      ),
      h("div", { class: "row end" }, h("button", { type: "button", onclick: () => this.#reset(c) }, "Reset")),
    );
    this.#showResult();
  }

  #slider(c, dimension, k) {
    const id = newId("slider");
    const output = h("output", { for: id }, short(c.row[k]));
    const input = h("input", {
      type: "range",
      id,
      ...sliderRange(dimension, c.row[k]),
      "data-dimension": k,
      oninput: () => {
        c.row[k] = Number(input.value);
        output.textContent = short(c.row[k]);
        this.#rescore(c);
      },
      onchange: () => (byId("announcements").textContent = spoken(this.statistics.get(c.id))),
    });
    input.value = String(c.row[k]);
    return h("div", { class: "slider" }, h("label", { for: id }, dimension.name), input, output);
  }

  #reset(c) {
    c.row = [...this.original.get(c.id)];
    this.#rescore(c);
    this.#panel();
  }

  // One class changed: one column of scores.
  #rescore(c) {
    this.columns[this.model.classes.indexOf(c)] = scoreClass(this.model, c);
    this.#answer();
  }

  #answer() {
    const { model } = this;
    this.answers = answersOf(model.classes, this.columns, model.reject ?? null);
    const rows = Array.from(model.truth.keys()).filter((i) => model.split[i] === 1);
    const counts = tally(model.truth, this.answers.answer, rows);
    this.statistics = new Map(
      model.classes.map((c) => {
        const found = counts.get(c.id) ?? { count: 0, right: 0, answered: 0 };
        return [c.id, { ...c, ...found, accuracy: found.count ? found.right / found.count : null }];
      }),
    );
    for (const [id, item] of this.items) {
      const found = this.statistics.get(id);
      item.count.textContent = found.count
        ? `${whole(found.right)} of ${whole(found.count)} right`
        : `given to ${whole(found.answered)}`;
      item.accuracy.textContent = percent(found.accuracy);
    }
    this.#showResult();
    this.paint();
  }

  #showResult() {
    const found = this.statistics?.get(this.focus);
    if (!found || !this.result) return;
    const text = found.count
      ? ` ${whole(found.right)} of ${whole(found.count)} pictures recognized`
      : ` given to ${whole(found.answered)} pictures`;
    fill(this.result, found.count ? h("b", {}, percent(found.accuracy)) : null, text);
  }

  paint() {
    const theme = currentTheme();
    const { scatter, model } = this;
    scatter.background = theme.surface;
    dress(scatter, {
      truth: model.truth,
      answer: this.answers.answer,
      hidden: this.hidden,
      selected: null,
      mode: "result",
      focus: this.focus,
      theme,
    });
    scatter.paint();
    for (const [id, item] of this.items) item.button.setAttribute("aria-pressed", String(id === this.focus));
    fill(this.legend, legendOf(scatter, this.focus));
    document.documentElement.dataset.ready = "true";
  }
}

function legendOf(scatter, focus) {
  const named = focus === null ? ["right", "wrong"] : ["recognized", "wrongly given"];
  const counts = [0, 0, 0, 0, 0];
  for (const i of scatter.order) if (!scatter.plain[i]) counts[scatter.mark[i]]++;
  const signs = [
    ["right disc", named[0], counts[0]],
    ["wrong ring", named[1], counts[1]],
    ["wrong diamond", "missed", counts[4]],
  ];
  return signs
    .filter(([, , count], k) => k === 0 || count)
    .map(([kind, text, count]) =>
      h("li", {}, h("span", { class: `sign ${kind}`, "aria-hidden": "true" }), `${text} `, h("b", {}, whole(count))),
    );
}

if (typeof document !== "undefined" && document.getElementById("snapshot-data")) {
  new Snapshot(JSON.parse(byId("snapshot-data").textContent));
}
