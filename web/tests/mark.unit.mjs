// What a search marks: whole words where it found whole words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { isWhole, pattern } = await importSource("mark.ts");
const found = (text, ...of) => [...text.matchAll(pattern(...of))].map((match) => match.index);

test("a word is not marked inside of longer ones", () => {
  assert.deepEqual(found("the others, then The end", "the", "giu", true), [0, 17]);
  assert.deepEqual(found("the others, then The end", "the", "giu"), [0, 5, 12, 17]);
  assert.ok(isWhole(" ", ".") && isWhole(undefined, undefined));
  assert.ok(!isWhole("o", "r") && !isWhole(" ", "n") && !isWhole("_", " "));
});

test("any white space matches any other, and signs are signs", () => {
  assert.deepEqual(found("a\n b a  b", "a b", "gu", true), [0, 5]);
  for (const odd of ["a.b*(c)", "[x]{2}|^$", "\\p{L}/-", "😀+", "漢字"])
    assert.deepEqual(found(`x ${odd} y`, odd, "gu"), [2]);
});
