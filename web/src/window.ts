// Finds the rows of a long transcript that are near the window, from their heights alone.
//
// `tops[at]` is where row `at` begins. It has one more entry than there are rows: the end of the last row.

import type { PathView } from "./api";

/** The scroll anchor: a row, and the distance of the window's top below the top of that row. */
export interface Anchor {
  at: number;
  offset: number;
}

/** Estimates heights by role and length. */
export function guessHeights({ count, shape, sizes }: Pick<PathView, "count" | "shape" | "sizes">): Float64Array {
  const heights = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const size = sizes.charCodeAt(at) - 65;
    const letter = shape[at];
    heights[at] = letter === "d" ? 0 : letter === "a" ? 60 + 14 * size : letter === "p" ? 70 + 6 * size : 48;
  }
  return heights;
}

/** Returns the heights of a path that has grown; measured heights are kept. */
export function grownHeights(was: Float64Array, path: Pick<PathView, "count" | "shape" | "sizes">): Float64Array {
  const heights = guessHeights(path);
  heights.set(was.subarray(0, path.count));
  return heights;
}

/** Returns which rows stay loaded when a path has grown: its last rows may have changed, and its forks may have more branches. */
export function grownLoaded(loaded: Uint8Array, was: PathView, path: PathView): Uint8Array {
  const first = Math.max(0, Math.min(loaded.length, path.count) - 2);
  const grown = new Uint8Array(path.count);
  grown.set(loaded.subarray(0, first));
  for (const at of [...was.forks, ...path.forks]) grown[at] = 0;
  return grown;
}

/** Whether a path is the earlier one, grown: the last message of that one is at the same position. */
export function isGrown(was: Pick<PathView, "count" | "last">, path: Pick<PathView, "count" | "last">): boolean {
  return was.count > 0 && path.last[was.count - 1 - (path.count - path.last.length)] === was.last.at(-1);
}

/** Sums up heights. */
export function sumTops(heights: Float64Array): Float64Array {
  const tops = new Float64Array(heights.length + 1);
  for (let at = 0; at < heights.length; at++) tops[at + 1] = tops[at] + heights[at];
  return tops;
}

/** Returns the total height. */
export function totalHeight(tops: Float64Array): number {
  return tops[tops.length - 1];
}

/** Finds the row at a height. */
export function rowAt(tops: Float64Array, top: number): number {
  let low = 0;
  let high = tops.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= top) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Anchors the window at a height. */
export function anchorAt(tops: Float64Array, top: number): Anchor {
  const at = rowAt(tops, top);
  return { at, offset: top - tops[at] };
}

/** Returns an anchor for the same position on a row in the window; one above the window would not keep its content in place. */
export function heldAnchor(tops: Float64Array, anchor: Anchor): Anchor {
  const { at, offset } = anchor;
  return offset > tops[at + 1] - tops[at] ? anchorAt(tops, tops[at] + offset) : anchor;
}

/** Clamps a row number to the existing rows. */
export function clampRow(at: number, count: number): number {
  return Math.max(0, Math.min(at, count - 1));
}

/** Returns where the window begins: at the anchor, but never after the end. */
export function windowTop(tops: Float64Array, anchor: Anchor, following: boolean, height: number): number {
  const end = Math.max(0, totalHeight(tops) - height);
  return following ? end : Math.min(end, tops[anchor.at] + anchor.offset);
}

/** Returns the rows in a window and `beyond` it: the first, and the one after the last. */
export function rowsWithin(tops: Float64Array, top: number, height: number, beyond: number): [number, number] {
  const count = tops.length - 1;
  return [rowAt(tops, Math.max(0, top - beyond)), Math.min(count, rowAt(tops, top + height + beyond) + 1)];
}

/** Returns the numbers of the chunks of `size` rows that contain a row from `first` (inclusive) to `last` (exclusive) that is not loaded. */
export function missingChunks(loaded: Uint8Array, first: number, last: number, size: number): number[] {
  const chunks = [];
  for (let chunk = Math.floor(first / size); chunk * size < last; chunk++) {
    if (loaded.subarray(chunk * size, (chunk + 1) * size).includes(0)) chunks.push(chunk);
  }
  return chunks;
}
