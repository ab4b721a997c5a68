// One picture of a row, asked for by its number; where there is none, the initials of its class.

import { h } from "./dom.js";
import { classColor, currentTheme, toCss } from "./colors.js";

/** One line for a row, as titles and screen readers say it. */
export function labelOf(studio, i) {
  const right = studio.isRight(i);
  const answer = `${studio.sampleName(i)}: answered ${studio.nameOf(studio.answers.answer[i])}`;
  const truth = studio.nameOf(studio.labels.truth[i]);
  if (right === null) return studio.labels.truth[i] < 0 ? answer : `${answer}; it is ${truth}, not described yet`;
  return right ? `${answer}, right` : `${answer}, wrong: it is ${truth}`;
}

/** "grizzly bear" -> "GB". */
export function initials(name) {
  const words = name.split(/[\s_+-]+/).filter(Boolean);
  return words.slice(0, 2).map((word) => word[0].toUpperCase()).join("") || "?";
}

/** A canvas that gets the thumbnail of a row as soon as it is here. */
export function drawPicture(loader, i, side, owner = null) {
  const canvas = h("canvas", { class: "thumb", width: 96, height: 96, "data-row": i, "aria-hidden": "true" });
  canvas.style.width = canvas.style.height = `${side}px`;
  const draw = (picture) => {
    if (!picture) return;
    canvas.getContext("2d").drawImage(picture, 0, 0, 96, 96);
    canvas.dataset.drawn = String(i);
  };
  loader.want(i, draw, owner);
  return canvas;
}

/** Initials on the color of the class, for rows without a picture. */
export function drawInitials(studio, i, side) {
  const id = studio.labels.truth[i] >= 0 ? studio.labels.truth[i] : studio.answers.answer[i];
  const tile = h("span", { class: "thumb initials", "aria-hidden": "true" }, initials(studio.nameOf(id)));
  tile.style.width = tile.style.height = `${side}px`;
  tile.style.borderColor = toCss(classColor(id, currentTheme().dark));
  return tile;
}

/** A button with the picture of a row, framed by right or wrong and marked with a sign. */
export function makeTile({ studio, loader, i, side, owner, onclick }) {
  const picture = studio.state.data.pictures
    ? drawPicture(loader, i, side, owner)
    : drawInitials(studio, i, side);
  const tile = h("button", { type: "button", class: "tile", "data-row": i, onclick }, picture);
  dressTile(studio, tile, i);
  return tile;
}

/** Bring frame, sign and label of a tile up to date. */
export function dressTile(studio, tile, i) {
  const right = studio.isRight(i);
  const label = labelOf(studio, i);
  tile.classList.toggle("is-right", right === true);
  tile.classList.toggle("is-wrong", right === false);
  tile.setAttribute("aria-label", label);
  tile.title = label;
  tile.setAttribute("aria-current", String(studio.view.sample === i));
}
