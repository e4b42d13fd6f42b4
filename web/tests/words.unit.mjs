// Names: short, and never the same for two things.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const {
  distinct,
  duration,
  lasting,
  middle,
  money,
  projectNames,
  replyCost,
  statName,
  tokens,
  tookText,
  unmarked,
  whenNext,
  whenSent,
} = await importSource("words.ts");

test("projects that end alike get as much of their path as tells them apart", () => {
  const names = projectNames(["/home/ann/app", "/srv/app", "/home/ann/lib", "/home/bob/app", ""]);
  assert.deepEqual([...names.values()].sort(), ["", "ann/app", "bob/app", "lib", "srv/app"].sort());
  assert.equal(projectNames(["/app", "/x/app"]).get("/app"), "app");
});

test("labels that occur twice get what differs", () => {
  const ways = [
    { words: "a", n: 1 },
    { words: "b", n: 2 },
    { words: "a", n: 3 },
    { words: "a", n: 3 },
  ];
  assert.deepEqual(
    distinct(
      ways,
      (one) => one.words,
      (one) => `${one.n} h`,
      (n) => `@${n + 1}`,
    ),
    ["a (1 h)", "b", "a (3 h) (@3)", "a (3 h) (@4)"],
  );
});

test("titles, money and tokens are written as in the terminal", async () => {
  // The server's tests check the same cases.
  const cases = JSON.parse(await readFile(new URL("words.json", import.meta.url), "utf8"));
  const page = { plain_title: unmarked, money, reply_cost: replyCost, tokens };
  for (const group of ["artefact", "shape", "agent", "fork", "source"])
    page[group] = (stable) => statName(group, stable);
  assert.deepEqual(Object.keys(cases), Object.keys(page));
  for (const [name, pairs] of Object.entries(cases))
    for (const [value, text] of pairs) assert.equal(page[name](value), text, `${name} of ${value}`);
});

test("a message of another year has its time of day, one of the same day as the one before nothing else", () => {
  assert.match(whenSent("2019-03-04T05:06:00Z"), /^0\d Mar 2019, \d\d:\d\d$/);
  assert.match(whenNext("2019-03-04T15:06:00", "2019-03-04T15:02:00"), /^15:06$/);
  assert.match(whenNext("2019-03-05T15:06:00", "2019-03-04T15:02:00"), /^05 Mar 2019, 15:06$/);
});

test("long names lose their middle", () => {
  assert.equal(middle("short"), "short");
  const cut = middle("very-long-model-name-with-a-version-20260101", 20);
  assert.equal([...cut].length, 20);
  assert.ok(cut.startsWith("very-long-") && cut.endsWith("20260101".slice(-9)), cut);
});

test("durations are told in the unit that fits", () => {
  assert.equal(duration("2026-01-01T00:00:00Z", "2026-01-01T00:00:02.5Z"), 2500);
  assert.equal(duration(null, "2026-01-01T00:00:00Z"), null);
  assert.equal(duration("2026-01-01T00:00:05Z", "2026-01-01T00:00:00Z"), null);
  assert.deepEqual([120, 2500, 42_000, 3_600_000].map(tookText), ["0.12 s", "2.5 s", "42 s", "1 h 0 min"]);
});

test("a session over many days is told in days", () => {
  const hour = 3_600_000;
  assert.deepEqual([47.5 * hour, 48 * hour, 313 * hour].map(lasting), ["47 h 30 min", "2 days", "13 days"]);
});
