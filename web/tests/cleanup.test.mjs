// What Claude Code deletes soon, and what is left of what it deleted.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { demo, file, open, scratch, serve } from "./page.mjs";
import { ramus } from "./where.mjs";

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
  assert.match(await banner.textContent(), /Claude Code will delete 1 session within 7 days/);
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

test("what will be deleted is archived by a button, after a plan", async (t) => {
  const claude = demo(t);
  writeFileSync(join(claude, "settings.json"), "{}");
  const old = Date.now() / 1000 - 27 * 86_400;
  utimesSync(file(claude, "da7c"), old, old);
  const archive = join(scratch(t), "data/archive.db");
  // What was written a moment ago may still be written to, and does not count as archived.
  const env = { RAMUS_ARCHIVE: archive, RAMUS_CACHE_SETTLE_MS: "50" };
  const { page, wrong } = await open(t, await serve(t, claude, [], { env }));
  const banner = page.locator(".card.warn");
  await banner.getByText("1 file of these is not archived.").waitFor();
  await banner.getByRole("button", { name: "Archive…" }).click();
  const plan = page.locator("dialog[open] .plan");
  await plan.getByText("1 of them is due for deletion.").waitFor();
  await plan.getByText("Nothing in the Claude directory changes.").waitFor();
  assert.ok(!existsSync(archive), "a plan writes nothing");
  await page.locator("dialog[open]").getByRole("button", { name: "Archive", exact: true }).click();
  await banner
    .getByRole("status")
    .getByText(/^Archived: \d+ new/)
    .waitFor();
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  await banner.getByRole("button", { name: "Archive…" }).waitFor({ state: "detached" });
  const verified = spawnSync(ramus, ["archive", "verify"], { env: { ...process.env, RAMUS_ARCHIVE: archive } });
  assert.equal(verified.status, 0, String(verified.stderr));
  assert.deepEqual(wrong, []);
});
