// Why one class won over another: the largest differences as bars, the rest in one, nothing lost.

/**
 * Turn a comparison so that it speaks for the answer that was given: what is positive spoke for it.
 * @returns {{winner: number, other: number, dimensions: object[], offset_difference: number,
 *   score_difference: number}}
 */
export function forAnswer(reasons, answer, dimensions) {
  const turned = reasons.given !== answer && reasons.right === answer;
  const sign = turned ? -1 : 1;
  return {
    winner: turned ? reasons.right : reasons.given,
    other: turned ? reasons.given : reasons.right,
    offset_difference: sign * reasons.offset_difference,
    score_difference: sign * reasons.score_difference,
    dimensions: reasons.dimensions.map((d) => ({
      name: d.name ?? dimensions[d.index].name,
      right: turned ? d.given : d.right,
      given: turned ? d.right : d.given,
      difference: sign * d.difference,
    })),
  };
}

/**
 * Choose the bars of a card.
 * @param {{dimensions: {name: string, right: number, given: number, difference: number}[],
 *   offset_difference: number, score_difference: number}} reasons
 * @param {number} shown how many dimensions get a bar of their own
 * @returns {{name: string, right: number|null, given: number|null, difference: number}[]}
 *   the differences sum to the difference of the scores
 */
export function bars(reasons, shown = 8) {
  const sorted = [...reasons.dimensions].sort(
    (a, b) => Math.abs(b.difference) - Math.abs(a.difference),
  );
  const found = sorted.slice(0, shown).filter((d) => d.difference !== 0);
  const rest = sorted.slice(found.length);
  if (rest.some((d) => d.difference !== 0)) {
    found.push({ name: `${rest.length} others`, ...summed(rest) });
  }
  const offset = reasons.offset_difference ?? 0;
  if (Math.abs(offset) > 1e-12) {
    found.push({ name: "offset", right: null, given: null, difference: offset });
  }
  return found;
}

function summed(parts) {
  const sum = (key) => parts.reduce((total, part) => total + (part[key] ?? 0), 0);
  return { right: sum("right"), given: sum("given"), difference: sum("difference") };
}
