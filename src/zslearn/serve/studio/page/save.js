// What is kept, and what can be taken along: files to send to others.

import { fill, h } from "./dom.js";
import { addressOf, getBlob, postBlob } from "./server.js";

const FILES = [
  ["snapshot.html", "A page for a colleague", "One file that opens without a server; its sliders still work."],
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
      FILES.map(offer),
    ),
    h(
      "form",
      { method: "dialog", class: "row end" },
      h("button", { class: "primary" }, "Close"),
    ),
  );
  dialog.showModal();
}

function offer([name, title, text]) {
  const note = h("p", { class: "small", role: "alert" });
  const take = (event) => {
    event.preventDefault();
    make(name, note);
  };
  return h(
    "li",
    {},
    h("a", { href: addressOf(`export/${name}`), download: name, onclick: take }, title),
    h("span", { class: "muted" }, ` ${name}. ${text}`),
    note,
  );
}

/** Ask for a file; why it cannot be made is said beside it, which a browser would not. */
async function make(name, note) {
  note.className = "small muted";
  note.textContent = "Making it …";
  try {
    download(await getBlob(`export/${name}`), name);
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
  download(await postBlob("export/selection.csv", { ids }), "selection.csv");
}
