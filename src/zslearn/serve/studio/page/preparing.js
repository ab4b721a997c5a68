// Before there is anything to look at: what the program does, how far it is, or why it cannot.

import { fill, h, whole } from "./dom.js";

const SOON = 5000; // milliseconds before a rate is worth an estimate

/** Seconds until all is done, at the rate since the first look; null while that says little. */
export function timeLeft(first, now, { done, total }) {
  if (now - first.at < SOON || done <= first.done) return null;
  return ((total - done) * (now - first.at)) / (done - first.done) / 1000;
}

/** A time as a person would say it. */
export function inWords(seconds) {
  if (seconds < 60) return "less than a minute left";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} minute${minutes === 1 ? "" : "s"} left`;
  return `about ${Math.round(seconds / 3600)} hours left`;
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
