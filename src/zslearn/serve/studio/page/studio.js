// What the page knows: the state of the project, the answers, and what the person looks at.

import { say, short } from "./dom.js";
import {
  addressOf, getBlob, getJson, getPacked, makeLane, postBlob, postFile, postJson, postPacked,
} from "./server.js";

const NONE = new Int32Array(0);
const EMPTY = { classes: [], methods: [], dimensions: [], data: {} };
// Edits after which the truth of a picture can be another class than before.
const RELABELS = new Set(["add", "words", "rename", "delete", "example", "forget", "undo", "redo"]);

const BROUGHT = 24; // of what was brought, so many can be looked at again

/** Whether a row is in one of the scopes of the page. */
export function inScope(scope, seen, split) {
  if (scope === "new") return !seen;
  return scope === "all" || !seen || split === 1;
}

/** The model behind the views; says what changed by the events "state", "answers" and "view". */
export class Studio extends EventTarget {
  constructor() {
    super();
    this.state = null;
    this.classes = new Map();
    this.labels = { truth: NONE, split: new Uint8Array(0), names: null, texts: null };
    this.answers = { answer: NONE, margin: new Float32Array(0) };
    this.revision = -1;
    this.warnings = [];
    this.view = { scope: "all", color: "result", focus: null, sample: null, dropped: null, selection: null };
    this.settled = null; // figures after the last edit that is kept, and after the one before
    this.before = null;
    this.sliding = false;
    this.brought = []; // samples that this tab brought, the newest first
    this.lane = makeLane((message) => this.#send(message));
  }

  get n() {
    return this.labels.truth.length;
  }

  /** Load everything; after a restart or a change by another tab, load it again. */
  async load() {
    await this.#loadState();
    if (!this.state.ready) return;
    const [answers] = await Promise.all([getPacked("answers"), this.#loadLabels()]);
    // What the program has learned meanwhile, or another tab has done, is no effect of an edit here.
    this.settled = this.before = null;
    this.#take(answers);
    this.#settle();
  }

  async #loadLabels() {
    const labels = await getPacked("labels");
    this.labels = { ...labels.arrays, names: labels.head.names, texts: labels.head.texts };
  }

  async #loadState() {
    // Before it is ready, the program knows little more than how far it is.
    this.state = { ...EMPTY, ...(await getJson("state")) };
    this.#readClasses();
    this.#tell("state");
  }

  #readClasses() {
    const rows = new Map([...this.classes].map(([id, known]) => [id, known.row]));
    this.classes = new Map(
      this.state.classes.map((c) => [c.id, { ...c, row: c.row ?? rows.get(c.id) ?? null }]),
    );
    const { focus } = this.view;
    // While the program prepares there are no classes; those looked at come back.
    if (this.state.ready && focus !== null && !this.classes.has(focus)) this.view.focus = null;
  }

  /** Do one edit; resolves to the head of the reply, undefined if a newer one overtook it. */
  async edit(message, key) {
    const reply = await this.lane({ path: "edits", body: message }, key);
    if (!reply || reply.head.superseded) return undefined;
    return this.#after(reply, message.op, message.final ?? true);
  }

  /** Take the last edit back. */
  async undo() {
    return this.#after(await this.lane({ path: "undo", body: {} }), "undo", true);
  }

  /** Do it again. */
  async redo() {
    return this.#after(await this.lane({ path: "redo", body: {} }), "redo", true);
  }

  #send({ path, body }) {
    return postPacked(path, body);
  }

  async #after(reply, op, final) {
    this.sliding = !final;
    this.#take(reply);
    if (final) this.#settle();
    if (final) await Promise.all([this.#loadState(), RELABELS.has(op) && this.#loadLabels()]);
    if (final) this.#tell("answers");
    return reply.head;
  }

  #take({ head, arrays }) {
    this.answers = arrays;
    this.revision = head.revision;
    this.warnings = head.edit?.warnings ?? head.warnings ?? [];
    for (const name of ["summary", "reject", "two"]) {
      if (name in head) this.state[name] = head[name];
    }
    if ("bias" in head) this.state.balance.bias = head.bias;
    for (const found of head.classes ?? []) {
      const known = this.classes.get(found.id);
      if (known) Object.assign(known, found);
    }
    this.#tell("answers");
  }

  /** Note what the figures are now, to say by how much the next edit moves them. */
  #settle() {
    const classes = new Map([...this.classes].map(([id, c]) => [id, c.accuracy]));
    [this.before, this.settled] = [this.settled, { classes, summary: { ...this.state.summary } }];
  }

  /** What the figures were before the edit that is being made, or was made last. */
  get earlier() {
    return this.sliding ? this.settled : this.before;
  }

  // What the program is asked for beside edits.
  json = getJson;
  packed = getPacked;
  post = postJson;
  addressOf = addressOf;
  blob = (path, body) => (body === undefined ? getBlob(path) : postBlob(path, body));

  /** Let the program name a photograph or a text, and look at its card. */
  async bring(sample) {
    const card = typeof sample === "string" ? await postJson("drop", { text: sample }) : await postFile("drop", sample);
    const face = card.face ?? card.text;
    this.brought = [{ id: card.id, title: card.name, face }, ...this.brought].slice(0, BROUGHT);
    this.look({ dropped: card.id, sample: null, focus: null });
    return card;
  }

  /** Add a sample as an example of a class, known or new; resolves to the number of the class. */
  async teach(name, sample) {
    const known = [...this.classes.values()].find((c) => c.name === name);
    const head = await this.edit({ op: "example", ...(known ? { class: known.id } : { name }), ...sample });
    return head.edit.class;
  }

  /** What an example does, in a sentence. */
  meaningOfExamples() {
    const worth = this.state.description_counts_as;
    const told = worth === null || worth === undefined ? "" : ` Here a description counts as ${short(worth)} pictures.`;
    return say(
      `An example moves its class towards what it shows, and a little the classes that are described alike.${told} Examples are left out when answers are judged.`,
    );
  }

  /** Why examples do nothing, where the method does not learn. */
  whyNoExamples() {
    const method = this.state.methods.find((m) => m.id === this.state.method)?.name;
    return `${method} learns nothing from single examples; choose prototype regression under Method.`;
  }

  /** Change what is looked at: one class, one sample, or one that was brought. */
  look(changes) {
    const one = ["sample", "dropped", "focus"].find((name) => (changes[name] ?? null) !== null);
    if (one === "sample") this.view.dropped = null;
    if (one === "dropped") this.view.sample = null;
    if (one === "focus") this.view.dropped = this.view.sample = null;
    Object.assign(this.view, changes);
    this.#tell("view");
  }

  /** Statistics of the classes: of the server, or of the selection where there is one. */
  statistics() {
    if (!this.view.selection) return this.#withGiven();
    const counts = tally(this.labels.truth, this.answers.answer, this.view.selection);
    const empty = { count: 0, right: 0, answered: 0 };
    return new Map(
      [...this.classes].map(([id, known]) => {
        const found = counts.get(id) ?? empty;
        return [id, { ...known, ...found, accuracy: found.count ? found.right / found.count : null }];
      }),
    );
  }

  /** Of a class without samples, what is shown and gets its name is counted, as on the map. */
  #withGiven() {
    const bare = this.candidates.filter((c) => !c.count);
    if (!bare.length) return this.classes;
    const counts = tally(this.labels.truth, this.answers.answer, this.rows());
    const given = bare.map((c) => [c.id, { ...c, answered: counts.get(c.id)?.answered ?? 0 }]);
    return new Map([...this.classes, ...given]);
  }

  /** Which rows are shown: 1 = hidden. Kept until classes, labels or the scope change. */
  hidden() {
    const key = [this.state, this.labels, this.view.scope];
    if (!this.kept || this.kept.key.some((part, k) => part !== key[k])) {
      this.kept = { key, hidden: this.#hidden() };
    }
    return this.kept.hidden;
  }

  #hidden() {
    const { truth, split } = this.labels;
    const hidden = new Uint8Array(this.n);
    const seen = new Set([...this.classes.values()].filter((c) => c.seen).map((c) => c.id));
    for (let i = 0; i < hidden.length; i++) {
      hidden[i] = inScope(this.view.scope, seen.has(truth[i]), split[i]) ? 0 : 1;
    }
    return hidden;
  }

  /** The rows of the lists: those of the selection, else all in scope. */
  rows() {
    if (this.view.selection) return this.view.selection;
    const hidden = this.hidden();
    const rows = new Uint32Array(hidden.length);
    let count = 0;
    for (let i = 0; i < hidden.length; i++) if (!hidden[i]) rows[count++] = i;
    return rows.subarray(0, count);
  }

  /** The classes that can be answers. */
  get candidates() {
    return [...this.classes.values()].filter((c) => c.described);
  }

  /** Whether the dimensions mean something to people, so that they can be sliders and reasons. */
  get named() {
    return this.state.dimensions.some((d) => d.meaningful);
  }

  /** The classes that pictures have and nobody has described. */
  get waiting() {
    return [...this.classes.values()].filter((c) => !c.described);
  }

  /** The truth of a row where it can be an answer: -1 where it is unknown or not described. */
  knownTruth(i) {
    const truth = this.labels.truth[i];
    return this.classes.get(truth)?.described ? truth : -1;
  }

  /** Whether the answer of a row is right; null where that cannot be said. */
  isRight(i) {
    const truth = this.knownTruth(i);
    return truth < 0 ? null : truth === this.answers.answer[i];
  }

  nameOf(id) {
    if (id === -1 || id === null || id === undefined) return "none of these";
    return this.classes.get(id)?.name ?? `class ${id}`;
  }

  sampleName(i) {
    if (this.labels.texts) return `text ${this.labels.names[i]}`;
    return this.labels.names?.[i] ?? `picture ${i + 1}`;
  }

  /** The text of a row, or its beginning; null where samples are no texts. */
  textOf(i) {
    return this.labels.texts?.[i] ?? null;
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }

  on(names, listener) {
    for (const name of names.split(" ")) this.addEventListener(name, listener);
  }
}

// What the answers of some pictures come to, counted in the browser: per class, and as a matrix.

/**
 * Count answers per class over some rows.
 * @param {Int32Array} truth class ids, -1 where unknown
 * @param {Int32Array} answer class ids, -1 for "none of these"
 * @param {Iterable<number>} rows
 * @returns {Map<number, {count: number, right: number, answered: number}>}
 */
export function tally(truth, answer, rows) {
  const counts = new Map();
  const of = (id) => {
    if (!counts.has(id)) counts.set(id, { count: 0, right: 0, answered: 0 });
    return counts.get(id);
  };
  for (const i of rows) {
    if (truth[i] >= 0) {
      const own = of(truth[i]);
      own.count++;
      if (truth[i] === answer[i]) own.right++;
    }
    if (answer[i] >= 0) of(answer[i]).answered++;
  }
  return counts;
}

/**
 * Count truth against answer.
 * @returns {{truths: number[], answers: number[], cells: Map<string, number[]>}} rows by "truth,answer"
 */
export function confusion(truth, answer, rows) {
  const cells = new Map();
  const truths = new Set();
  const answers = new Set();
  for (const i of rows) {
    if (truth[i] < 0) continue;
    truths.add(truth[i]);
    answers.add(answer[i]);
    const key = `${truth[i]},${answer[i]}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(i);
  }
  return { truths: [...truths], answers: [...answers], cells };
}
