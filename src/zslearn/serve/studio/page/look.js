// What each point looks like: its mark says right or wrong, its color the class or the result.

import { classColor, faded } from "./colors.js";
import { MARKS } from "./stamps.js";

/** What an answer is to the eye: right, wrong, none of these, or unknown. */
export function markOf(truth, answer) {
  if (truth < 0) return MARKS.dot;
  if (answer < 0) return MARKS.cross;
  return truth === answer ? MARKS.disc : MARKS.ring;
}

/**
 * Write marks and colors of all points, and the order in which they are drawn.
 * @param {{mark: Uint8Array, color: Uint32Array, order: Uint32Array, plain: Uint8Array}} points
 *   written to; plain ones stand back
 * @param {{truth: Int32Array, answer: Int32Array, hidden: Uint8Array, selected: Uint8Array|null,
 *   mode: "result"|"answer"|"truth", focus: number|null, theme: object}} how
 */
export function dress(points, how) {
  const { truth, answer, hidden, selected, focus, theme } = how;
  const colorOf = makeColors(how);
  const [back, front] = [[], []];
  points.plain = new Uint8Array(truth.length);
  for (let i = 0; i < truth.length; i++) {
    if (hidden[i]) continue;
    const mark = markOf(truth[i], answer[i]);
    points.mark[i] = mark;
    let color = colorOf(truth[i], answer[i], mark);
    let near = true;
    if (focus !== null) {
      near = truth[i] === focus || answer[i] === focus;
      if (near && truth[i] === focus && answer[i] !== focus) points.mark[i] = MARKS.diamond;
      color = near ? focusColor(truth[i], answer[i], focus, theme) : faded(theme.faint, 0.55);
      if (!near) points.mark[i] = MARKS.dot;
    }
    if (selected && !selected[i]) {
      near = false;
      color = faded(theme.faint, 0.4);
    }
    points.color[i] = color;
    points.plain[i] = near ? 0 : 1;
    (near ? front : back).push(i);
  }
  points.order = Uint32Array.from(back.concat(front));
}

function focusColor(truth, answer, focus, theme) {
  if (truth === focus && answer === focus) return theme.right;
  if (truth < 0) return theme.focus;
  return theme.wrong;
}

function makeColors({ mode, theme }) {
  if (mode === "result") {
    const colors = [theme.right, theme.wrong, theme.muted, theme.focus];
    return (truth, answer, mark) => faded(colors[mark], 0.85);
  }
  const known = new Map();
  const of = (id) => {
    if (!known.has(id)) known.set(id, id < 0 ? theme.muted : classColor(id, theme.dark));
    return known.get(id);
  };
  return mode === "answer" ? (truth, answer) => of(answer) : (truth) => of(truth);
}
