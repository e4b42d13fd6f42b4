// Colours have names, and each is given its value once.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { sources } from "./source.mjs";

const COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch)\(/gi;
const read = (name) => readFileSync(fileURLToPath(new URL(name, sources)), "utf8");

test("a colour is written in the palette only, and for paper", () => {
  const files = readdirSync(fileURLToPath(sources), { recursive: true }).filter((name) => /\.(tsx?|css)$/.test(name));
  for (const name of files) {
    const text = read(name).replaceAll(/^\s*:root[^{]*\{[^}]*\}/gm, "");
    assert.deepEqual(text.match(COLOUR) ?? [], [], `${name} has colours of its own`);
  }
});

test("the palette gives each name one value", () => {
  const [palette] = read("style.css").match(/^:root \{[^}]*\}/m);
  const names = [...palette.matchAll(/(--[\w-]+):/g)].map(([, name]) => name);
  assert.ok(names.length > 30);
  assert.deepEqual(names, [...new Set(names)]);
  for (const [, name] of read("style.css").matchAll(/var\((--[\w-]+)\)/g))
    assert.ok(names.includes(name), `${name} is not in the palette`);
});
