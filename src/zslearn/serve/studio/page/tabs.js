// The views behind one row of tabs, by click and by arrow keys.

import { fill, h } from "./dom.js";

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
