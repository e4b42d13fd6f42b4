// What Claude Code deletes soon, and what is left of what it deleted.

import assert from "node:assert/strict";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { demo, file, open, serve } from "./page.mjs";

test("what will be deleted is announced, and deleted prompts are listed and found", async (t) => {
  const claude = demo(t);
  writeFileSync(join(claude, "settings.json"), "{}");
  const old = Date.now() / 1000 - 27 * 86_400;
  utimesSync(file(claude, "da7c"), old, old);
  const note = {
    display: "what does an osprey eat",
    timestamp: Date.now() - 86_400_000,
    project: "/home/dev/teapot",
    sessionId: "0dead000-0000-4000-8000-000000000000",
  };
  writeFileSync(join(claude, "history.jsonl"), `${JSON.stringify(note)}\n`);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const banner = page.locator(".card.warn");
  await banner.waitFor();
  assert.match(await banner.textContent(), /1 session will be deleted by Claude Code within 7 days/);
  assert.equal(await banner.locator(".leaving li").count(), 1);
  await page.locator(".sessions .bad", { hasText: "deleted in 3 days" }).waitFor();

  const gone = page.locator("details.gone");
  assert.match(await gone.locator("summary").textContent(), /1 prompt of 1 deleted session/);
  await gone.locator("summary").click();
  await gone.locator("li", { hasText: "what does an osprey eat" }).waitFor();
  assert.equal(await gone.locator("a").count(), 0);

  await go("/search?q=osprey");
  const hit = page.locator(".hits li", { hasText: "prompt only" });
  await hit.waitFor();
  assert.equal(await hit.locator("mark").textContent(), "osprey");
  assert.equal(await hit.locator("a").count(), 0);
  assert.deepEqual(wrong, []);
});
