// Pictures by sample number: a few requests at a time, what left the screen is given up.

/** Loads pictures and keeps the last ones used. */
export class PictureLoader {
  /**
   * @param {(id: number) => Promise<any>} load resolves to null where there is no picture
   * @param {{atOnce?: number, kept?: number}} limits
   */
  constructor(load, { atOnce = 6, kept = 1500 } = {}) {
    this.load = load;
    this.atOnce = atOnce;
    this.kept = kept;
    this.ready = new Map();
    this.waiting = new Map();
    this.flying = new Map();
    this.missing = new Set();
  }

  /** The picture if it is here, else null. */
  get(id) {
    const found = this.ready.get(id);
    if (found === undefined) return null;
    this.ready.delete(id);
    this.ready.set(id, found);
    return found;
  }

  /**
   * Ask for a picture; `done` is called with it, or with null if there is none.
   * @param {number} id
   * @param {(picture: any) => void} done
   * @param {any} [owner] who asks, for `keepOnly`
   */
  want(id, done, owner = null) {
    const found = this.get(id);
    if (found || this.missing.has(id)) {
      done(found);
      return;
    }
    const asked = this.flying.get(id) ?? this.waiting.get(id);
    if (asked) {
      asked.push({ done, owner });
      return;
    }
    this.waiting.set(id, [{ done, owner }]);
    this.#next();
  }

  /** Give up what an owner waits for and no longer wants. */
  keepOnly(owner, wanted) {
    for (const [id, wishes] of this.waiting) {
      const left = wishes.filter((wish) => wish.owner !== owner || wanted(id));
      if (left.length) this.waiting.set(id, left);
      else this.waiting.delete(id);
    }
  }

  #next() {
    while (this.flying.size < this.atOnce && this.waiting.size) {
      const [id, wishes] = this.waiting.entries().next().value;
      this.waiting.delete(id);
      this.flying.set(id, wishes);
      this.#fetch(id, wishes);
    }
  }

  async #fetch(id, wishes) {
    let picture = null;
    try {
      picture = await this.load(id);
      if (picture === null) this.missing.add(id);
      else this.#keep(id, picture);
    } catch {
      picture = null; // no connection: the next wish asks again
    }
    this.flying.delete(id);
    for (const { done } of wishes) done(picture);
    this.#next();
  }

  #keep(id, picture) {
    this.ready.set(id, picture);
    while (this.ready.size > this.kept) this.ready.delete(this.ready.keys().next().value);
  }
}
