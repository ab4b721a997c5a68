// Which part of a long grid is on the screen.

/**
 * Lay out a grid of equal cells of which only some rows exist.
 * @param {{count: number, width: number, cell: number, gap: number, top: number, height: number}} box
 * @returns {{columns: number, total: number, first: number, last: number, pitch: number}}
 *   cells first..last-1 are wanted, with a screen of margin; `total` is the height in pixels
 */
export function visibleCells({ count, width, cell, gap, top, height }) {
  const columns = Math.max(1, Math.floor((width + gap) / (cell + gap)));
  const pitch = cell + gap;
  const rows = Math.ceil(count / columns);
  const firstRow = Math.max(0, Math.floor((top - height / 2) / pitch));
  const lastRow = Math.min(rows, Math.ceil((top + 1.5 * height) / pitch) + 1);
  return {
    columns,
    pitch,
    total: Math.max(0, rows * pitch - gap),
    first: Math.min(firstRow * columns, count),
    last: Math.min(lastRow * columns, count),
  };
}
