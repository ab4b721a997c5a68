// Scores of a linear model in the browser, from what a snapshot holds: the same numbers as Python.

/** Text in base 64 to numbers. */
export function decodeNumbers(text, Kind) {
  const binary = atob(text);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new Kind(bytes.buffer);
}

/** A vector of unit length; zero stays zero. */
export function unit(row) {
  const length = Math.hypot(...row);
  return length > 0 ? row.map((value) => value / length) : [...row];
}

/** sᵀ G s. */
export function quadratic(row, gram) {
  const d = row.length;
  let total = 0;
  for (let i = 0; i < d; i++) {
    if (row[i] !== 0) for (let j = 0; j < d; j++) total += row[i] * gram[i * d + j] * row[j];
  }
  return total;
}

/**
 * Scores of all samples for one class.
 * @param {"dot"|"cosine"|"euclidean"} metric
 * @param {{z: Float32Array, gram: Float32Array, lengths: Float32Array}} branch products of samples
 *   with the map (n × d), of the map with itself (d × d), and the lengths of the samples
 * @param {number[]} row of the class
 * @param {Float64Array} out n numbers
 */
export function scoreBranch(metric, { z, gram, lengths }, row, out) {
  const d = row.length;
  const size = metric === "dot" ? 0 : Math.max(quadratic(row, gram), 0);
  for (let i = 0; i < out.length; i++) {
    let product = 0;
    for (let k = 0, at = i * d; k < d; k++) product += z[at + k] * row[k];
    if (metric === "dot") out[i] = product;
    else if (metric === "cosine") out[i] = product / (lengths[i] * Math.sqrt(size)) || 0;
    else out[i] = 2 * product - size - lengths[i] ** 2;
  }
  return out;
}

/**
 * Scores of all samples for one class: the mean of the branches, minus the bias of seen classes.
 * @param {{n: number, form: {metric: string, signature_norm: string|null, branches: object[]},
 *   bias: number}} model
 * @param {{row: number[], seen: boolean}} found
 */
export function scoreClass({ n, form, bias }, found) {
  const row = form.signature_norm === "l2" ? unit(found.row) : found.row;
  const total = new Float64Array(n);
  const part = new Float64Array(n);
  for (const branch of form.branches) {
    scoreBranch(form.metric, branch, row, part);
    for (let i = 0; i < n; i++) total[i] += part[i] / form.branches.length;
  }
  if (found.seen && bias) for (let i = 0; i < n; i++) total[i] -= bias;
  return total;
}

/**
 * The best class of each sample and how far the second is behind.
 * @param {{id: number}[]} classes in the order of the columns; the first wins a tie
 * @param {Float64Array[]} columns scores by class
 * @param {number|null} reject how far ahead the best must be; below, the answer is -1, none
 */
export function answersOf(classes, columns, reject = null) {
  const n = columns.length ? columns[0].length : 0;
  const answer = new Int32Array(n).fill(-1);
  const second = new Int32Array(n).fill(-1);
  const margin = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    let [best, next] = [-1, -1];
    for (let c = 0; c < columns.length; c++) {
      if (best < 0 || columns[c][i] > columns[best][i]) [best, next] = [c, best];
      else if (next < 0 || columns[c][i] > columns[next][i]) next = c;
    }
    second[i] = next < 0 ? -1 : classes[next].id;
    margin[i] = next < 0 ? 0 : columns[best][i] - columns[next][i];
    answer[i] = reject !== null && margin[i] < reject ? -1 : classes[best].id;
  }
  return { answer, second, margin };
}
