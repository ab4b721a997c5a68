// The map: wheel and pinch zoom, drag pans, Shift or the lasso draws a selection, a rest shows a card.

import { currentTheme, fill, h, toCss, whole } from "./dom.js";
import { Scatter, dress } from "./scatter.js";
import { drawPicture } from "./samples.js";

const DWELL = 125; // milliseconds of rest before a card opens

export const COLOR_MODES = [
  ["result", "right or wrong"],
  ["answer", "answer"],
  ["truth", "true class"],
];
const MAP_NAMES = { pca: "features (PCA)", umap: "features (UMAP)", attributes: "attributes (PCA)" };

export class MapView {
  /** @param {{studio: object, element: HTMLElement, loader: object, fail: Function}} parts */
  constructor({ studio, element, loader, fail }) {
    this.studio = studio;
    this.fail = fail;
    this.loader = loader;
    this.element = element;
    this.pointers = new Map();
    this.kind = null;
    this.lassoing = false;
    this.path = [];
    this.hover = -1;
    this.#build();
    studio.on("answers view state", () => this.refresh());
    new ResizeObserver(() => this.#repaint()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
  }

  #build() {
    this.canvas = h("canvas", {
      class: "map",
      tabindex: "0",
      role: "img",
      "aria-label": "Map of the samples. Arrow keys pan, plus and minus zoom, 0 shows all.",
    });
    this.card = h("div", { class: "hover-card", hidden: true });
    this.kinds = h("select", { "aria-label": "Positions", onchange: () => this.show(this.kinds.value).catch(this.fail) });
    this.lasso = h(
      "button",
      { type: "button", "aria-pressed": "false", onclick: () => this.#setLasso(!this.lassoing) },
      "Lasso",
    );
    this.legend = h("ul", { class: "legend" });
    this.withPictures = h("input", { type: "checkbox", checked: true, onchange: () => this.refresh() });
    const zoom = (factor) => () => this.#zoom(factor);
    fill(
      this.element,
      h(
        "div",
        { class: "toolbar" },
        this.lasso,
        h("button", { type: "button", "aria-label": "Zoom in", onclick: zoom(1.5) }, "+"),
        h("button", { type: "button", "aria-label": "Zoom out", onclick: zoom(1 / 1.5) }, "−"),
        h("button", { type: "button", onclick: () => this.#home() }, "Show all"),
        h("label", { class: "with-pictures" }, this.withPictures, " Pictures"),
        h("label", { class: "kinds" }, h("span", {}, "Positions "), this.kinds),
      ),
      h("div", { class: "map-frame" }, this.canvas, this.card),
      this.legend,
    );
    this.scatter = new Scatter(this.canvas);
    this.#listen();
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", (event) => this.#up(event));
    canvas.addEventListener("pointerleave", () => this.#leave());
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Show the points at other positions. */
  async show(kind) {
    const { arrays } = await this.studio.packed(`map?kind=${encodeURIComponent(kind)}`);
    this.kind = kind;
    this.scope = null;
    this.scatter.setPoints(arrays.xy);
    this.refresh();
  }

  /** Called when the tab is opened and after every change. */
  async refresh() {
    const { studio } = this;
    if (!studio.state?.ready || this.element.hidden) return;
    const maps = studio.state.data.maps ?? ["pca"];
    if (this.kinds.childElementCount !== maps.length) {
      fill(this.kinds, maps.map((kind) => h("option", { value: kind }, MAP_NAMES[kind] ?? kind)));
      this.kinds.parentElement.hidden = maps.length < 2;
      this.withPictures.parentElement.hidden = !studio.state.data.pictures;
    }
    if (this.kind === null) {
      this.kind = maps[0];
      await this.show(this.kind);
      return;
    }
    if (this.scatter.xy.length !== 2 * studio.n || studio.answers.answer.length !== studio.n) return;
    this.#dress();
    if (this.scope !== studio.view.scope) {
      this.scope = studio.view.scope;
      this.scatter.home();
    }
    this.#repaint();
  }

  #dress() {
    const { studio, scatter } = this;
    this.theme = currentTheme();
    const { selection } = studio.view;
    let selected = null;
    if (selection) {
      selected = new Uint8Array(studio.n);
      for (const i of selection) selected[i] = 1;
    }
    const hidden = studio.hidden();
    const waiting = new Set(studio.waiting.map((c) => c.id));
    this.truth = studio.labels.truth.map((id) => (waiting.has(id) ? -1 : id));
    scatter.hidden = hidden;
    scatter.background = this.theme.surface;
    scatter.thumbnail =
      studio.state.data.pictures && this.withPictures.checked ? (i) => this.#thumbnail(i) : null;
    dress(scatter, {
      truth: this.truth,
      answer: studio.answers.answer,
      hidden,
      selected,
      mode: studio.view.color,
      focus: studio.view.focus,
      theme: this.theme,
    });
    this.#describe();
  }

  #thumbnail(i) {
    const found = this.loader.get(i);
    if (!found) this.loader.want(i, (picture) => picture && this.#repaint());
    return found;
  }

  // One paint per frame, however many reasons there are.
  #repaint() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.#paint();
    });
  }

  #paint() {
    if (!this.theme || this.element.hidden) return;
    const { scatter, studio } = this;
    scatter.paint();
    const { sample } = studio.view;
    if (sample !== null && sample < studio.n && !scatter.hidden[sample]) {
      scatter.ring(sample, toCss(this.theme.text), 11);
    }
    if (this.hover >= 0) scatter.ring(this.hover, toCss(this.theme.accent));
    scatter.outline(this.path, toCss(this.theme.accent));
    this.canvas.dataset.painted = String(studio.revision);
    this.element.dispatchEvent(new CustomEvent("painted", { detail: studio.revision }));
  }

  #describe() {
    const { studio, scatter } = this;
    const { truth } = this;
    const counts = { right: 0, wrong: 0, none: 0, missed: 0, given: 0, unknown: 0 };
    const { focus } = studio.view;
    for (const i of scatter.order) {
      const answer = studio.answers.answer[i];
      if (focus !== null) {
        if (truth[i] === focus) counts[answer === focus ? "right" : "missed"]++;
        else if (answer === focus) counts[truth[i] < 0 ? "unknown" : "wrong"]++;
      } else if (truth[i] < 0) counts.unknown++;
      else if (answer < 0) counts.none++;
      else counts[answer === truth[i] ? "right" : "wrong"]++;
    }
    const name = focus === null ? null : studio.nameOf(focus);
    const unknown = studio.waiting.length ? "not described yet" : "true class unknown";
    // Of what there is none it is only said where something else would be meant.
    const own = name ? counts.missed : counts.wrong;
    const none = own ? "disc" : name && !counts.right && !counts.wrong ? "dot" : null;
    const items = [
      ["right", "disc", name ? `${name}, recognized` : "right", counts.right],
      ["wrong", "ring", name ? `called ${name}, wrong` : "wrong", counts.wrong],
      ["wrong", "diamond", `${name}, missed`, counts.missed],
      ["none", "cross", "none of these", counts.none],
      ["unknown", "dot", name ? `called ${name}` : unknown, counts.unknown],
    ].filter(([, mark, , count]) => count || mark === none);
    fill(
      this.legend,
      items.map(([kind, mark, text, count]) =>
        h("li", {}, h("span", { class: `sign ${kind} ${mark}`, "aria-hidden": "true" }), `${text} `, h("b", {}, whole(count))),
      ),
    );
  }

  #point(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #wheel(event) {
    event.preventDefault();
    const [x, y] = this.#point(event);
    this.scatter.camera.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), x, y);
    this.#endHover();
    this.#repaint();
  }

  #down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.#point(event);
    this.pointers.set(event.pointerId, at);
    this.start = at;
    this.moved = false;
    this.drawing = (this.lassoing || event.shiftKey) && this.pointers.size === 1;
    this.path = this.drawing ? [...at] : [];
    this.#endHover();
  }

  #move(event) {
    const at = this.#point(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.#rest(at);
      return;
    }
    if (this.pointers.size === 2) this.#pinch(event.pointerId, before, at);
    else if (this.drawing) this.path.push(...at);
    else this.scatter.camera.pan(at[0] - before[0], at[1] - before[1]);
    this.moved ||= Math.hypot(at[0] - this.start[0], at[1] - this.start[1]) > 4;
    this.pointers.set(event.pointerId, at);
    this.#repaint();
  }

  #pinch(id, before, at) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const apart = (p) => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 1);
    this.scatter.camera.zoom(apart(at) / apart(before), other[0], other[1]);
  }

  #up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (event.type === "pointercancel") this.path = [];
    else if (this.drawing && this.path.length >= 6) this.#select();
    else if (!this.moved) this.#choose(this.#point(event));
    this.path = [];
    this.drawing = false;
    this.#repaint();
  }

  #select() {
    const { scatter } = this;
    const outline = [];
    for (let k = 0; k < this.path.length; k += 2) {
      outline.push(...scatter.camera.toWorld(this.path[k], this.path[k + 1]));
    }
    const found = scatter.grid.inside(outline, (i) => !scatter.hidden[i]);
    this.#setLasso(false);
    this.studio.look({ selection: found.length ? found : null });
  }

  #choose([x, y]) {
    const found = this.scatter.pick(x, y);
    this.studio.look({ sample: found < 0 ? null : found, dropped: null });
  }

  #rest(at) {
    const found = this.scatter.pick(...at);
    this.canvas.classList.toggle("over", found >= 0);
    if (found === this.hover || found === this.coming) return;
    this.#endHover();
    if (found < 0) return;
    this.coming = found;
    this.timer = setTimeout(() => this.#openCard(found), DWELL);
  }

  #openCard(i) {
    this.coming = -1;
    this.hover = i;
    const { studio, card } = this;
    const [x, y] = this.scatter.camera.toPixel(this.scatter.xy[2 * i], this.scatter.xy[2 * i + 1]);
    const right = studio.isRight(i);
    fill(
      card,
      studio.state.data.pictures
        ? drawPicture(this.loader, i, 72)
        : null,
      h(
        "div",
        {},
        h("b", {}, studio.sampleName(i)),
        studio.textOf(i) === null ? null : h("div", { class: "hover-text" }, studio.textOf(i)),
        h("div", {}, `answer: ${studio.nameOf(studio.answers.answer[i])}`),
        studio.labels.truth[i] < 0 ? null : h("div", {}, `truth: ${studio.nameOf(studio.labels.truth[i])}`),
        right === null
          ? null
          : h("div", { class: right ? "good" : "bad" }, right ? "✓ right" : "✗ wrong"),
      ),
    );
    card.hidden = false;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const left = x + 16 + card.offsetWidth > width ? x - 16 - card.offsetWidth : x + 16;
    card.style.left = `${Math.max(4, left)}px`;
    card.style.top = `${Math.min(Math.max(4, y - 20), height - card.offsetHeight - 4)}px`;
    this.#repaint();
  }

  #endHover() {
    clearTimeout(this.timer);
    this.coming = -1;
    if (this.hover >= 0) this.#repaint();
    this.hover = -1;
    this.card.hidden = true;
  }

  #leave() {
    if (!this.pointers.size) this.#endHover();
  }

  #key(event) {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (steps[event.key]) this.scatter.camera.pan(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.#zoom(1.4);
    else if (event.key === "-") this.#zoom(1 / 1.4);
    else if (event.key === "0") this.#home();
    else if (event.key === "Escape" && this.lassoing) this.#setLasso(false);
    else return;
    event.preventDefault();
    this.#repaint();
  }

  #zoom(factor) {
    const { camera } = this.scatter;
    camera.zoom(factor, camera.width / 2, camera.height / 2);
    this.#repaint();
  }

  #home() {
    this.scatter.home();
    this.#repaint();
  }

  #setLasso(on) {
    this.lassoing = on;
    this.lasso.setAttribute("aria-pressed", String(on));
    this.canvas.classList.toggle("drawing", on);
  }
}
