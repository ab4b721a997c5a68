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
