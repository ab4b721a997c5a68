// Around the board: how far the program is before there is one, and what can be taken along.

import { byId, fill, h, inWords, newId, say, whole } from "./dom.js";

const SOON = 5000; // milliseconds before a rate is worth an estimate

/** Seconds until all is done, at the rate since the first look; null while that says little. */
export function timeLeft(first, now, { done, total }) {
  if (now - first.at < SOON || done <= first.done) return null;
  return ((total - done) * (now - first.at)) / (done - first.done) / 1000;
}

export class Preparing {
  /** @param {{element: HTMLElement, board: HTMLElement}} parts the board waits behind the element */
  constructor({ element, board }) {
    Object.assign(this, { element, board });
    this.first = null;
    this.title = h("h2", { id: "preparing-title" });
    this.bar = h("progress", { id: "progress-bar", "aria-labelledby": "preparing-title" });
    this.text = h("p", { id: "progress-text", class: "number" });
    this.hint = h("p", { class: "muted" });
    fill(element, h("div", { class: "panel" }, this.title, this.bar, this.text, this.hint));
  }

  /** Show how far it is; null when the board can be used. */
  show(progress) {
    this.element.hidden = !progress;
    this.board.inert = Boolean(progress);
    if (!progress) return;
    const failed = Boolean(progress.failed);
    this.element.classList.toggle("failed", failed);
    this.element.setAttribute("role", failed ? "alert" : "region");
    this.bar.hidden = failed;
    this.title.textContent = failed ? "This cannot be opened" : progress.text;
    if (failed) this.#fail(progress);
    else this.#count(progress);
  }

  #fail({ text }) {
    this.text.textContent = text[0].toUpperCase() + text.slice(1);
    this.hint.textContent = "Mend it and start the program again; this page then goes on by itself.";
    document.title = "cannot be opened – zslearn studio";
  }

  #count({ text, done, total }) {
    const many = total > 1;
    if (this.first?.text !== text) this.first = { text, done, at: performance.now() };
    const left = many ? timeLeft(this.first, performance.now(), { done, total }) : null;
    this.bar.max = total || 1;
    // Without a count the bar only shows that something goes on.
    if (many) this.bar.value = done;
    else this.bar.removeAttribute("value");
    this.text.textContent = many
      ? [`${whole(done)} of ${whole(total)}`, left === null ? null : inWords(left)].filter(Boolean).join(" · ")
      : "";
    this.hint.textContent = many
      ? "You can close this page, and stop the program: what is done is kept, and the next start goes on from there."
      : "";
    document.title = many ? `${Math.floor((100 * done) / total)} % – zslearn studio` : "zslearn studio";
  }
}

// What is kept, and what can be taken along: files to send to others.

const FILES = [
  ["report.html", "A page for a colleague", "What to expect of this model, what it mistakes for what, and how to use it; one file that opens without a server."],
  ["classes.csv", "The table of classes", "One line per class, for a spreadsheet or for zslearn."],
  ["model.zsl", "The model", "For zslearn predict and zslearn serve, with your classes."],
  ["model.py", "The Python lines", "A program that makes the same model."],
];

/** Show where the project lives and offer its files. */
export function openKeep(dialog, studio) {
  const { project } = studio.state;
  fill(
    dialog,
    h("h2", { id: "keep-title" }, "Save & share"),
    h(
      "p",
      {},
      "Every change is saved at once in ",
      h("code", {}, project.file ?? project.name),
      ". Close the tab or stop the program whenever you like.",
    ),
    h(
      "ul",
      { class: "files" },
      FILES.map((file) => offer(studio, file)),
    ),
    h(
      "form",
      { method: "dialog", class: "row end" },
      h("button", { class: "primary" }, "Close"),
    ),
  );
  dialog.showModal();
}

function offer(studio, [name, title, text]) {
  const note = h("p", { class: "small", role: "alert" });
  const take = (event) => {
    event.preventDefault();
    make(studio, name, note);
  };
  return h(
    "li",
    {},
    h("a", { href: studio.addressOf(`export/${name}`), download: name, onclick: take }, title),
    h("span", { class: "muted" }, ` ${name}. ${text}`),
    note,
  );
}

/** Ask for a file; why it cannot be made is said beside it, which a browser would not. */
async function make(studio, name, note) {
  note.className = "small muted";
  note.textContent = "Making it …";
  try {
    download(await studio.blob(`export/${name}`), name);
    note.textContent = "";
  } catch (error) {
    note.className = "small bad";
    note.textContent = error.message;
  }
}

/** Hand a file to the person at the browser. */
export function download(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The pictures of the selection as a table. */
export async function exportSelection(studio) {
  const ids = Array.from(studio.view.selection ?? studio.rows());
  download(await studio.blob("export/selection.csv", { ids }), "selection.csv");
}

// Photographs and texts that a person brings: dropped anywhere on the page, chosen, or pasted.

const KINDS = { image: "image/jpeg,image/png" };

export class DropZone {
  /** @param {{studio: object, announce: Function, fail: Function, busy: Function}} parts */
  constructor({ studio, announce, fail, busy }) {
    Object.assign(this, { studio, announce, fail, busy });
    this.veil = h("div", { class: "veil", hidden: true }, h("p", {}, ""));
    document.body.append(this.veil);
    for (const name of ["dragenter", "dragover"]) document.addEventListener(name, (event) => this.#over(event));
    document.addEventListener("dragleave", (event) => event.relatedTarget === null && this.#hide());
    document.addEventListener("drop", (event) => this.#drop(event));
    document.addEventListener("paste", (event) => this.#paste(event));
    this.file = h("input", {
      type: "file",
      accept: KINDS.image,
      multiple: true,
      hidden: true,
      onchange: () => {
        this.#bringAll([...this.file.files]);
        this.file.value = "";
      },
    });
    document.body.append(this.file);
    this.button = h("button", { type: "button", onclick: () => this.choose() }, "Name a photo …");
    studio.on("state", () => this.#label());
  }

  get kind() {
    return this.studio.state?.ready ? this.studio.state.data.drop : null;
  }

  #label() {
    this.button.hidden = !this.kind;
    this.button.textContent = this.kind === "text" ? "Name a text …" : "Name a photo …";
    this.veil.firstChild.textContent = this.kind === "text" ? "Drop the text to see it named" : "Drop the photo to see it named";
  }

  /** Ask for a file, or for a text. */
  choose() {
    if (this.kind === "text") this.#askText();
    else this.file.click();
  }

  #askText() {
    const dialog = byId("keep-dialog");
    const id = newId("own-text");
    const text = h("textarea", { id, rows: 4, maxlength: 10_000, required: true });
    fill(
      dialog,
      h("h2", { id: "keep-title" }, "Name a text"),
      h(
        "form",
        {
          method: "dialog",
          class: "stack",
          onsubmit: () => this.#bring(text.value),
        },
        h("label", { for: id }, "Write or paste it"),
        text,
        h(
          "div",
          { class: "row end" },
          h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
          h("button", { type: "submit", class: "primary" }, "Name it"),
        ),
      ),
    );
    dialog.showModal();
    text.focus();
  }

  #over(event) {
    if (!this.kind || byId("keep-dialog").open) return;
    event.preventDefault();
    this.veil.hidden = false;
  }

  #hide() {
    this.veil.hidden = true;
  }

  #drop(event) {
    if (!this.kind) return;
    event.preventDefault();
    this.#hide();
    const files = [...event.dataTransfer.files];
    if (this.kind === "text") {
      const text = event.dataTransfer.getData("text/plain").trim();
      if (text) this.#bring(text);
      else if (files.length) files[0].text().then((found) => this.#bring(found.trim()));
      return;
    }
    if (files.length) this.#bringAll(files);
    else this.fail(new Error("This is no file; save the picture first, then drop the file."));
  }

  /** Outside of fields that take text, what is pasted is named. */
  #paste(event) {
    if (!this.kind || event.target.matches?.("input, textarea")) return;
    const files = [...event.clipboardData.files];
    const text = event.clipboardData.getData("text/plain").trim();
    if (this.kind === "image" && files.length) this.#bringAll(files);
    else if (this.kind === "text" && text) this.#bring(text);
    else return;
    event.preventDefault();
  }

  async #bringAll(files) {
    for (const file of files) await this.#bring(file);
  }

  async #bring(sample) {
    this.busy(say("Looking at your picture"));
    try {
      const card = await this.studio.bring(sample);
      this.announce(`${card.name}: ${this.studio.nameOf(card.answer)}`);
    } catch (error) {
      this.fail(error);
    } finally {
      this.busy("");
    }
  }
}
