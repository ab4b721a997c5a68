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

/** Mean of the classes' accuracies over some ids that have pictures; null if none has. */
export function perClassAccuracy(counts, ids) {
  const known = ids.map((id) => counts.get(id)).filter((c) => c && c.count > 0);
  if (!known.length) return null;
  return known.reduce((sum, c) => sum + c.right / c.count, 0) / known.length;
}

/** Harmonic mean of two accuracies; null where one is unknown. */
export function harmonic(a, b) {
  if (a === null || b === null) return null;
  return a + b > 0 ? (2 * a * b) / (a + b) : 0;
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
