// Where sessions came from and what came out of them; what belongs to one repository.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { demo, file, id, open, record, scratch, serve, shot } from "./page.mjs";
import { ramus } from "./where.mjs";

test("a session links to where it came from and to what came out of it", async (t) => {
  const claude = demo(t);
  const state = scratch(t);
  const merged = spawnSync(
    ramus,
    ["--claude-dir", claude, "merge", "7ea9@1", "7ea9@2", "--on-conflict", "theirs", "--yes", "--json"],
    { encoding: "utf8", env: { ...process.env, HOME: state, RAMUS_STATE_DIR: join(state, "state") } },
  );
  assert.equal(merged.status, 0, merged.stderr);
  const made = JSON.parse(merged.stdout).session;
  const teapot = id(claude, "7ea9");
  appendFileSync(
    file(claude, "b2a9"),
    `${JSON.stringify({ type: "pr-link", sessionId: id(claude, "b2a9"), prNumber: 42, prUrl: "https://github.com/acme/teapot/pull/42", prRepository: "acme/teapot", timestamp: "2026-09-14T09:00:00.000Z" })}\n`,
  );
  const lost = join(
    dirname(file(claude, "7ea9")),
    "5e551077-0000-4000-8000-000000000000",
    "subagents",
    "agent-10577.jsonl",
  );
  mkdirSync(dirname(lost), { recursive: true });
  writeFileSync(
    lost,
    `${record(null, "u1", "user", "Count the cups", "5e551077")}\n${record("u1", "a1", "assistant", "Twelve.", "5e551077")}\n`,
  );
  const { page, go, wrong } = await open(t, await serve(t, claude));

  await go(`/s/${made}`);
  const from = page.locator(".session-head .lineage", { hasText: "merged from" });
  await from.waitFor();
  await page.getByRole("button", { name: "Tree" }).click();
  await page
    .locator(".tree-bar .lineage", { hasText: "merged from" })
    .getByRole("link", { name: teapot.slice(0, 8) })
    .waitFor();
  await shot(page, "lineage-merged");
  await from.getByRole("link", { name: teapot.slice(0, 8) }).click();
  await page.waitForURL(new RegExp(`/s/${teapot}`));
  await page
    .locator(".session-head .lineage", { hasText: "merged into" })
    .getByRole("link", { name: made.slice(0, 8) })
    .waitFor();
  await page
    .locator(".session-head .lineage", { hasText: "forked into" })
    .getByRole("link", { name: "b2a9c1d4" })
    .click();
  await page.waitForURL(/\/s\/b2a9/);
  await page.locator(".session-head .lineage", { hasText: "forked from" }).waitFor();
  await page.keyboard.press("G");
  await page.locator(".turn", { hasText: "pull request #42 of acme/teapot" }).waitFor();

  await go(`/p/${encodeURIComponent("-home-dev-teapot")}`);
  await page.locator(".lost a").waitFor();
  assert.equal(await page.locator(".sessions .facts", { hasText: "merge" }).count(), 1);
  assert.equal(await page.locator(".sessions .facts", { hasText: "PR #42" }).count(), 1);
  await page.locator(".lost a", { hasText: "Count the cups" }).click();
  await page.locator(".turn.answer", { hasText: "Twelve." }).waitFor();
  assert.deepEqual(wrong, []);
});

test("projects with the same last directory are told apart in every view", async (t) => {
  const claude = join(scratch(t), "claude");
  for (const parent of ["left", "right"]) {
    mkdirSync(join(claude, "projects", `-${parent}-tea`), { recursive: true });
    const said = JSON.parse(record(null, `u-${parent}`, "user", `brew ${parent}`, parent));
    writeFileSync(
      join(claude, "projects", `-${parent}-tea`, `${parent}.jsonl`),
      `${JSON.stringify({ ...said, cwd: `/${parent}/tea` })}\n`,
    );
  }
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const both = (selector) =>
    page.waitForFunction((selector) => {
      const names = [...document.querySelectorAll(selector)].map((one) => one.textContent);
      return names.includes("left/tea") && names.includes("right/tea");
    }, selector);
  await both(".side h2 a");
  await both(".sessions .where");
  await go("/search?q=brew");
  await both(".hits .where");
  await page.keyboard.press("Control+k");
  await both(".palette li > span");
  await go("/s/left");
  await page.locator(".session-head .facts a", { hasText: "left/tea" }).waitFor();
  assert.deepEqual(wrong, []);
});

test("the list puts projects of one repository together", async (t) => {
  const claude = join(scratch(t), "claude");
  const kettle = join(scratch(t), "kettle");
  mkdirSync(join(kettle, ".git", "objects"), { recursive: true });
  mkdirSync(join(kettle, "lid"));
  writeFileSync(join(kettle, ".git", "HEAD"), "ref: refs/heads/main\n");
  for (const [name, cwd] of [
    ["one", kettle],
    ["two", join(kettle, "lid")],
  ]) {
    mkdirSync(join(claude, "projects", `-${name}`), { recursive: true });
    const said = JSON.parse(record(null, `u-${name}`, "user", `brew ${name}`, name));
    writeFileSync(join(claude, "projects", `-${name}`, `${name}.jsonl`), `${JSON.stringify({ ...said, cwd })}\n`);
  }
  const { page, wrong } = await open(t, await serve(t, claude));
  await page.waitForFunction(() => document.querySelectorAll(".side section").length === 2);
  const box = page.getByRole("checkbox", { name: "By repository" });
  await box.check();
  await page.waitForFunction(() => document.querySelectorAll(".side section").length === 1);
  assert.equal(await page.locator(".side section li").count(), 2);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".side section").length === 1);
  await box.uncheck();
  await page.waitForFunction(() => document.querySelectorAll(".side section").length === 2);
  assert.deepEqual(wrong, []);
});
