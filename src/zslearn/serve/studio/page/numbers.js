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
 * A slider of a value: over the range of the training, a little beyond, and always to the value
 * itself, in steps that meet both ends of the range exactly.
 * @returns {{min: number, max: number, step: number}}
 */
export function sliderRange({ low, high }, value) {
  const step = (high - low || 1) / STEPS;
  const beyond = high > low ? 0.15 * STEPS : STEPS / 2;
  const steps = (distance) => Math.max(beyond, Math.ceil(distance / step - 1e-9));
  return { min: low - steps(low - value) * step, max: high + steps(value - high) * step, step };
}

/** Classes often have the plural of one. */
export const counted = (count, one, many = `${one}s`) =>
  `${whole(count)} ${count === 1 ? one : many}`;

/** The line a screen reader hears after a change of a class. */
export function spoken(found) {
  const pictures = counted(found.answered, "picture");
  if (found.accuracy === null || found.accuracy === undefined) {
    return `${found.name}: given to ${pictures}`;
  }
  const right = `${whole(found.right)} of ${counted(found.count, "picture")} right`;
  return `${found.name}: ${right}, accuracy ${percent(found.accuracy)}, given to ${pictures}`;
}
