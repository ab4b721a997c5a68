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

/** sᵀ G s; without G the squared length. */
export function quadratic(row, gram) {
  const d = row.length;
  let total = 0;
  for (let i = 0; i < d; i++) {
    if (!gram) total += row[i] * row[i];
    else if (row[i] !== 0) for (let j = 0; j < d; j++) total += row[i] * gram[i * d + j] * row[j];
  }
  return total;
}

/**
 * Scores of all samples for one class.
 * @param {{comparison: "dot"|"cosine"|"euclidean", rows: Float32Array, gram: Float32Array|null,
 *   squares: Float32Array|null}} branch `rows` has n × d numbers
 * @param {number[]} row of the class
 * @param {Float32Array} out n numbers
 */
export function scoreBranch({ comparison, rows, gram, squares }, row, out) {
  const d = row.length;
  const size = comparison === "dot" ? 0 : Math.max(quadratic(row, gram), 0);
  const length = Math.sqrt(size);
  for (let i = 0; i < out.length; i++) {
    let product = 0;
    for (let k = 0, at = i * d; k < d; k++) product += rows[at + k] * row[k];
    if (comparison === "dot") out[i] = product;
    else if (comparison === "cosine") out[i] = length > 0 ? product / length : 0;
    else out[i] = -Math.max(0, squares[i] + size - 2 * product);
  }
  return out;
}

/**
 * Scores of all samples for one class: the mean of the branches, minus the bias of seen classes.
 * @param {{n: number, branches: object[], signature_norm: string|null, bias: number}} model
 * @param {{row: number[], seen: boolean}} found
 */
export function scoreClass(model, found) {
  const row = model.signature_norm === "l2" ? unit(found.row) : found.row;
  const total = new Float32Array(model.n);
  const part = new Float32Array(model.n);
  for (const branch of model.branches) {
    scoreBranch(branch, row, part);
    for (let i = 0; i < total.length; i++) total[i] += part[i] / model.branches.length;
  }
  if (found.seen && model.bias) for (let i = 0; i < total.length; i++) total[i] -= model.bias;
  return total;
}

/**
 * The best class of each sample and how far the second is behind.
 * @param {{id: number}[]} classes in the order of the columns; the first wins a tie
 * @param {Float32Array[]} columns scores by class
 */
export function answersOf(classes, columns) {
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
    answer[i] = classes[best].id;
    second[i] = next < 0 ? -1 : classes[next].id;
    margin[i] = next < 0 ? 0 : columns[best][i] - columns[next][i];
  }
  return { answer, second, margin };
}
