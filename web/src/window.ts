// Which rows of a long transcript are near the window, by heights alone.
//
// `tops[at]` is where row `at` begins; one more entry than there are rows, so that the last one is the end of it all.

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

/** Returns the heights of a path that has grown: those that are known stay. */
export function grownHeights(was: Float64Array, path: Pick<PathView, "count" | "shape" | "sizes">): Float64Array {
  const heights = guessHeights(path);
  heights.set(was.subarray(0, path.count));
  return heights;
}

/** Returns which rows are still loaded when a path has grown: its last ones may have changed, and its forks have more ways. */
export function grownLoaded(loaded: Uint8Array, was: PathView, path: PathView): Uint8Array {
  const first = Math.max(0, Math.min(loaded.length, path.count) - 2);
  const grown = new Uint8Array(path.count);
  grown.set(loaded.subarray(0, first));
  for (const at of [...was.forks, ...path.forks]) grown[at] = 0;
  return grown;
}

/** Whether a path is the one before, grown: its last message is where it was. */
export function isGrown(was: Pick<PathView, "count" | "last">, path: Pick<PathView, "count" | "last">): boolean {
  return was.count > 0 && path.last[was.count - 1 - (path.count - path.last.length)] === was.last.at(-1);
}

/** Adds heights up. */
export function sumTops(heights: Float64Array): Float64Array {
  const tops = new Float64Array(heights.length + 1);
  for (let at = 0; at < heights.length; at++) tops[at + 1] = tops[at] + heights[at];
  return tops;
}

/** Returns the height of everything. */
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

/** Returns the anchor for the same place; one that has come to lie above the window would not hold what is in it. */
export function heldAnchor(tops: Float64Array, anchor: Anchor): Anchor {
  const { at, offset } = anchor;
  return offset > tops[at + 1] - tops[at] ? anchorAt(tops, tops[at] + offset) : anchor;
}

/** Returns a row that exists. */
export function clampRow(at: number, count: number): number {
  return Math.max(0, Math.min(at, count - 1));
}

/** Returns where the window begins: where the anchor is, but never behind the end. */
export function windowTop(tops: Float64Array, anchor: Anchor, following: boolean, height: number): number {
  const end = Math.max(0, totalHeight(tops) - height);
  return following ? end : Math.min(end, tops[anchor.at] + anchor.offset);
}

/** Returns the rows in a window and `beyond` it: the first, and the one after the last. */
export function rowsWithin(tops: Float64Array, top: number, height: number, beyond: number): [number, number] {
  const count = tops.length - 1;
  return [rowAt(tops, Math.max(0, top - beyond)), Math.min(count, rowAt(tops, top + height + beyond) + 1)];
}

/** Returns the numbers of the chunks of `size` rows in which some row from `first` to before `last` is not loaded. */
export function missingChunks(loaded: Uint8Array, first: number, last: number, size: number): number[] {
  const chunks = [];
  for (let chunk = Math.floor(first / size); chunk * size < last; chunk++) {
    if (loaded.subarray(chunk * size, (chunk + 1) * size).includes(0)) chunks.push(chunk);
  }
  return chunks;
}
