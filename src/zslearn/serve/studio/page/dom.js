// Elements in one expression; nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element: properties starting with "on" are listeners, "class" and the rest attributes.
 * @param {string} tag
 * @param {Object<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined|false|any[])} children
 */
export function h(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

const nodes = (children) =>
  children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);

/** Put other children into an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** The element with an id, which must exist. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

let numbered = 0;

/** A new id, to tie a label to its control. */
export const newId = (stem) => `${stem}-${++numbered}`;

/** A question mark that opens a few words more. */
export function hint(text, about = "What is this?") {
  return h("details", { class: "hint" }, h("summary", { "aria-label": about, title: about }, "?"), h("p", {}, text));
}

// The views behind one row of tabs, by click and by arrow keys.

export class Tabs {
  /**
   * @param {{list: HTMLElement, stage: HTMLElement, names: [string, string][],
   *   shown: (id: string) => void}} parts
   */
  constructor({ list, stage, names, shown }) {
    this.shown = shown;
    this.tabs = new Map();
    this.panels = new Map();
    for (const [id, text] of names) {
      this.tabs.set(
        id,
        h("button", {
          type: "button",
          role: "tab",
          id: `tab-${id}`,
          "aria-controls": `view-${id}`,
          onclick: () => this.open(id),
        }, text),
      );
      this.panels.set(
        id,
        h("div", { class: `view view-${id}`, id: `view-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}`, hidden: true }),
      );
    }
    fill(list, ...this.tabs.values());
    fill(stage, ...this.panels.values());
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  open(id) {
    this.current = id;
    for (const [name, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(name === id));
      tab.tabIndex = name === id ? 0 : -1;
      this.panels.get(name).hidden = name !== id;
    }
    this.shown(id);
  }

  #key(event) {
    const names = [...this.tabs.keys()].filter((name) => this.tabs.get(name).offsetParent);
    const at = names.indexOf(this.current);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.open(names[(next + names.length) % names.length]);
    this.tabs.get(this.current).focus();
  }
}

// Numbers as people read them.

const WHOLE = new Intl.NumberFormat("en-US");

export const whole = (value) => WHOLE.format(value);
export const percent = (value, digits = 0) =>
  value === null || value === undefined || Number.isNaN(value)
    ? "–"
    : `${(100 * value).toFixed(digits)} %`;
export const signed = (value, digits = 3) =>
  `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

/** Three significant digits, without an exponent where a person would not write one. */
export function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e6)) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** How to write numbers that stand below each other: three digits of the largest, all as many decimals. */
export function alike(values) {
  const size = Math.max(...values.map(Math.abs), 0);
  if (!Number.isFinite(size) || (size && (size < 1e-4 || size >= 1e6))) return short;
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(size || 1)), 0), 7);
  return (value) => value.toFixed(decimals).replace("-", "−");
}

const STEPS = 100; // from the lowest to the highest value of the training

/**
 * A slider of a value: over the range of the training, and to a value that lies outside, in steps
 * that meet both ends of the range exactly.
 * @returns {{min: number, max: number, step: number}}
 */
export function sliderRange({ low, high }, value) {
  const step = (high - low || 1) / STEPS;
  const steps = (distance) => Math.max(0, Math.ceil(distance / step - 1e-9));
  return { min: low - steps(low - value) * step, max: high + steps(value - high) * step, step };
}

/** A value of a trait: of one that a class has or has not, how much of it, else the number itself. */
export const figureOf = ({ either, low, high }, value) =>
  either && low === 0 && high === 1 ? percent(value) : short(value);

/** What the ends of the slider of a trait are called: yes and no, or the classes that are there. */
export function endsOf({ either, least, most }) {
  return either ? ["no", "yes"] : [`least: ${least}`, `most: ${most}`];
}

let sampleWord = "picture"; // what a sample is; the same for a whole visit

/** Say once what samples are; true if that is another word than before. */
export function setUnit(word = "picture") {
  const other = word !== sampleWord;
  sampleWord = word;
  return other;
}

/** A sentence about pictures as one about the samples that there are. */
export const say = (text) =>
  text.replaceAll("picture", sampleWord).replaceAll("Picture", sampleWord[0].toUpperCase() + sampleWord.slice(1));

/** Classes often have the plural of one. */
export const counted = (count, one, many = `${one}s`) =>
  say(`${whole(count)} ${count === 1 ? one : many}`);

/** By how many points an accuracy moved, as people say it; nothing where it did not. */
export function moved(now, before) {
  const points = Math.round(100 * (now ?? 0)) - Math.round(100 * (before ?? 0));
  if (now === null || now === undefined || before === null || before === undefined || !points) return "";
  return `${points > 0 ? "+" : "−"}${Math.abs(points)}`;
}

/** A time as a person would say it. */
export function inWords(seconds) {
  if (seconds < 60) return "less than a minute left";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} minute${minutes === 1 ? "" : "s"} left`;
  return `about ${Math.round(seconds / 3600)} hours left`;
}

/** The line a screen reader hears after a change of a class. */
export function spoken(found) {
  const pictures = counted(found.answered, "picture");
  if (found.accuracy === null || found.accuracy === undefined) {
    return `${found.name}: given to ${pictures}`;
  }
  const right = `${whole(found.right)} of ${counted(found.count, "picture")} right`;
  return `${found.name}: ${right}, accuracy ${percent(found.accuracy)}, given to ${pictures}`;
}

// Colors of classes and of right and wrong, read from the style sheet so that they follow its theme.

/** A color of a class: neighbors in the list are far apart in hue. */
export function classColor(id, dark) {
  const hue = (id * 137.508 + 20) % 360;
  const light = dark ? 64 + 8 * (id % 2) : 40 + 8 * (id % 2);
  return hslToNumber(hue, dark ? 62 : 66, light);
}

/** Hue in degrees, saturation and lightness in percent, to 0xRRGGBBFF. */
export function hslToNumber(hue, saturation, lightness) {
  const [s, l] = [saturation / 100, lightness / 100];
  const channel = (n) => {
    const k = (n + hue / 30) % 12;
    const value = l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value);
  };
  return ((channel(0) << 24) | (channel(8) << 16) | (channel(4) << 8) | 255) >>> 0;
}

/** "#rrggbb" to 0xRRGGBBAA. */
export function hexToNumber(hex, alpha = 1) {
  if (!/^\s*#[0-9a-f]{6}\s*$/i.test(hex)) throw new Error(`not a color of the form #rrggbb: ${hex}`);
  const value = Number.parseInt(hex.trim().slice(1), 16);
  return ((value << 8) | Math.round(255 * alpha)) >>> 0;
}

/** 0xRRGGBBAA to a CSS color. */
export function toCss(number) {
  const [r, g, b] = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255];
  return `rgb(${r} ${g} ${b})`;
}

/** The same color with another strength. */
export const faded = (number, alpha) => ((number & 0xffffff00) | Math.round(255 * alpha)) >>> 0;

let lastTheme = null;

/** The colors the map needs; read once for light and dark, since reading makes the browser wait. */
export function currentTheme() {
  const { matches } = matchMedia("(prefers-color-scheme: dark)");
  if (lastTheme?.dark !== matches) lastTheme = readTheme();
  return lastTheme;
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["surface", "text", "muted", "right", "wrong", "focus", "accent", "faint"];
  const colors = Object.fromEntries(
    names.map((name) => [name, hexToNumber(style.getPropertyValue(`--${name}`))]),
  );
  return { ...colors, dark: style.getPropertyValue("--dark").trim() === "1" };
}
