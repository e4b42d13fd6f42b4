// The arithmetic of a transcript's window.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const page = await importSource("window.ts");
const tops = (...heights) => page.sumTops(Float64Array.from(heights));

test("heights are guessed by who speaks and how much", () => {
  const heights = page.guessHeights({ count: 4, shape: "pads", sizes: "ACZA" });
  assert.deepEqual([...heights], [70, 60 + 28, 0, 48]);
});

test("the tops are the sums of the heights before, and the last one is the whole height", () => {
  assert.deepEqual([...tops(10, 0, 30)], [0, 10, 10, 40]);
  assert.equal(page.totalHeight(tops(10, 0, 30)), 40);
  assert.equal(page.totalHeight(tops()), 0);
});

test("every height is in the row that a walk from the top finds", () => {
  const heights = [10, 0, 0, 30, 5, 0, 20];
  const sums = tops(...heights);
  for (let top = 0; top < 65; top++) {
    const at = page.rowAt(sums, top);
    assert.ok(sums[at] <= top && top < sums[at + 1], `${top} is not in row ${at}`);
  }
});

test("a height outside of all rows is in the first or the last one", () => {
  assert.equal(page.rowAt(tops(10, 10), -5), 0);
  assert.equal(page.rowAt(tops(10, 10), 500), 1);
  assert.equal(page.rowAt(tops(), 0), 0);
});

test("an anchor keeps its place when rows above it turn out to be higher", () => {
  const anchor = page.anchorAt(tops(10, 10, 10, 500), 25);
  assert.deepEqual(anchor, { at: 2, offset: 5 });
  assert.equal(page.windowTop(tops(10, 90, 10, 500), anchor, false, 100), 105);
});

test("an anchor whose row became too low moves to the row that is there now", () => {
  const sums = tops(10, 4, 30);
  assert.deepEqual(page.heldAnchor(sums, { at: 1, offset: 9 }), { at: 2, offset: 5 });
  const fits = { at: 1, offset: 4 };
  assert.equal(page.heldAnchor(sums, fits), fits);
});

test("the window does not begin behind the end, and follows the end when it is asked to", () => {
  const sums = tops(100, 100, 100);
  assert.equal(page.windowTop(sums, { at: 2, offset: 0 }, false, 120), 180);
  assert.equal(page.windowTop(sums, { at: 0, offset: 0 }, true, 120), 180);
  assert.equal(page.windowTop(sums, { at: 0, offset: 0 }, true, 1000), 0);
});

test("the rows within a window are all that it shows, and no more than reach into it", () => {
  const sums = tops(100, 100, 100, 100, 100);
  assert.deepEqual(page.rowsWithin(sums, 150, 100, 0), [1, 3]);
  assert.deepEqual(page.rowsWithin(sums, 150, 100, 60), [0, 4]);
  assert.deepEqual(page.rowsWithin(sums, 0, 9000, 9000), [0, 5]);
  assert.deepEqual(page.rowsWithin(tops(), 0, 800, 900), [0, 0]);
});

test("a row that exists is named for any number", () => {
  assert.deepEqual(
    [-3, 2, 9].map((at) => page.clampRow(at, 4)),
    [0, 2, 3],
  );
  assert.equal(page.clampRow(7, 0), 0);
});

test("chunks are asked for when a row in them is missing, also beyond the window", () => {
  const loaded = new Uint8Array(10).fill(1);
  assert.deepEqual(page.missingChunks(loaded, 0, 10, 4), []);
  loaded[7] = 0;
  assert.deepEqual(page.missingChunks(loaded, 4, 5, 4), [1]);
  assert.deepEqual(page.missingChunks(loaded, 0, 4, 4), []);
  assert.deepEqual(page.missingChunks(new Uint8Array(9), 0, 9, 4), [0, 1, 2]);
});

test("a path is the one before, grown, if the last message is where it was", () => {
  const was = { count: 3, last: ["b", "c"] };
  assert.equal(page.isGrown(was, { count: 4, last: ["c", "d"] }), true);
  assert.equal(page.isGrown(was, { count: 3, last: ["b", "c"] }), true);
  assert.equal(page.isGrown(was, { count: 4, last: ["x", "d"] }), false);
  assert.equal(page.isGrown(was, { count: 9, last: ["h", "i"] }), false);
  assert.equal(page.isGrown({ count: 0, last: [] }, { count: 1, last: ["a"] }), false);
});

test("what was measured stays when a path grows or shrinks", () => {
  const was = Float64Array.from([11, 12, 13]);
  assert.deepEqual([...page.grownHeights(was, { count: 4, shape: "aaap", sizes: "AAAA" })], [11, 12, 13, 70]);
  assert.deepEqual([...page.grownHeights(was, { count: 2, shape: "aa", sizes: "AA" })], [11, 12]);
});

test("the last rows and the forks are loaded again when a path grows", () => {
  const loaded = new Uint8Array(6).fill(1);
  assert.deepEqual([...page.grownLoaded(loaded, { forks: [1] }, { count: 7, forks: [1, 3] })], [1, 0, 1, 0, 0, 0, 0]);
});
