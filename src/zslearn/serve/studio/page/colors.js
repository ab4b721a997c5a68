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
