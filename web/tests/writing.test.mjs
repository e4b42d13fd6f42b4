// Changing something: the plan is shown, what is done is what was shown, and it can be undone.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import test from "node:test";
import { act, demo, file, id, open, rename, serve, teapot, workshop } from "./page.mjs";
import { ramus } from "./where.mjs";

const told = (claude, ...args) =>
  JSON.parse(spawnSync(ramus, ["--claude-dir", claude, ...args, "--json"], { encoding: "utf8" }).stdout);

test("go to a message and undo it", async (t) => {
  const { claude, path, before, page, go, wrong } = await teapot(t);
  await page.keyboard.press("g");
  const turn = page.locator(".row[data-at='1'] .turn").first();
  await turn.hover();
  await turn.getByRole("button", { name: "Actions for this message" }).click();
  await page.getByRole("button", { name: "Resume from here" }).click();
  await page.locator("dialog[open] .plan").waitFor();
  assert.deepEqual(readFileSync(path), before, "a plan that is only shown writes nothing");
  await act(page, "Resume from here");
  const after = readFileSync(path);
  assert.deepEqual(after.subarray(0, before.length), before, "nothing that was there is changed");
  assert.ok(after.length > before.length);
  const resumed = told(claude, "tree", "7ea9").resume;
  assert.notEqual(resumed.leaf, undefined);
  await page.waitForFunction(() => document.querySelectorAll(".tree-row").length > 0);

  await go("/log");
  await page.getByRole("button", { name: "Undo" }).first().click();
  await act(page, "Undo");
  assert.deepEqual(readFileSync(path), before, "undo restores every byte");
  await page.locator(".log .undone").waitFor();
  assert.deepEqual(wrong, []);
});

test("fork, rename, trash and back", async (t) => {
  const { claude, path, before, page, go, wrong } = await teapot(t);
  const count = () => readdirSync(dirname(path)).filter((name) => name.endsWith(".jsonl")).length;
  const files = count();
  const turn = page.locator(".turn.prompt").last();
  await turn.getByRole("button", { name: "Actions for this message" }).click();
  await page.getByRole("button", { name: "Fork from here" }).click();
  await act(page, "Fork");
  await page.locator(".session-head h1", { hasText: "(fork)" }).waitFor();
  assert.equal(count(), files + 1);
  assert.deepEqual(readFileSync(path), before, "the session that was forked is untouched");

  await rename(page, "A pot of <b>my</b> own");
  await page.locator(".session-head h1", { hasText: "A pot of <b>my</b> own" }).waitFor();

  const forked = file(claude, new URL(page.url()).pathname.split("/").pop());
  await page.getByRole("button", { name: "Move to the trash" }).click();
  await act(page, "Move to the trash");
  assert.equal(existsSync(forked), false);
  await go("/log");
  await page.locator(".log li", { hasText: "trash" }).getByRole("button", { name: "Restore" }).click();
  await act(page, "Restore");
  assert.equal(existsSync(forked), true);
  assert.deepEqual(wrong, []);
});

test("bring back what undo cannot: the session went on", async (t) => {
  const { path, before, page, go, wrong } = await teapot(t);
  await rename(page, "Another pot");
  appendFileSync(path, '{"type":"summary","summary":"went on","leafUuid":"x"}\n');
  const after = readFileSync(path);
  await go("/log");
  const entry = page.locator(".log li", { hasText: "rename" });
  await entry.getByRole("button", { name: "Undo" }).click();
  await page.locator("dialog[open]", { hasText: "restore the session" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await entry.getByRole("button", { name: "Restore" }).click();
  await page.locator("dialog[open] .plan", { hasText: "has grown by" }).waitFor();
  assert.deepEqual(readFileSync(path), after, "a plan that is only shown writes nothing");
  await act(page, "Restore");
  assert.deepEqual(readFileSync(path), before);
  await page.locator(".log li", { hasText: "restore" }).getByRole("button", { name: "Undo" }).click();
  await act(page, "Undo");
  assert.deepEqual(readFileSync(path), after, "what came since was kept");
  assert.deepEqual(
    wrong.filter((text) => !/409/.test(text)),
    [],
    "but for the refusal",
  );
});

test("merge two branches into a new session", async (t) => {
  const { path, before, page, go, wrong } = await teapot(t);
  await page.keyboard.press("i");
  const merge = page.getByRole("button", { name: "Merge", exact: false }).first();
  assert.equal(await merge.isDisabled(), true);
  const boxes = page.getByRole("checkbox", { name: /to be merged/ });
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await merge.click();
  await page.getByLabel("Digest").check();
  await page.getByLabel("Title").fill("Two <i>pots</i> in one");
  await page.getByRole("button", { name: "Show the plan" }).click();
  await page.locator("dialog[open] .exchanges li.summarized").first().waitFor();
  assert.deepEqual(readFileSync(path), before);
  // Both changed a file: a version must be chosen first.
  assert.equal(await page.locator("dialog[open] .primary").isDisabled(), true);
  await page
    .locator("dialog[open] .conflicts", { hasText: "src/main.rs" })
    .getByLabel("the version of the last conversation")
    .check();
  await act(page, "Merge");
  await page.locator(".session-head h1", { hasText: "Two <i>pots</i> in one" }).waitFor();
  assert.deepEqual(readFileSync(path), before, "what is merged is untouched");
  await go("/log");
  await page.getByRole("button", { name: "Undo" }).first().click();
  await act(page, "Undo");
  assert.deepEqual(wrong, []);
});

test("put files back and undo it", async (t) => {
  const { claude, cwd } = workshop(t);
  const main = join(cwd, "src/main.rs");
  writeFileSync(main, "by <b>hand</b>\n");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/f/${id(claude, "7ea9")}?at=`);
  await page.getByRole("button", { name: "Restore them" }).click();
  const change = page.locator("dialog[open] .file", { hasText: "src/main.rs" });
  await change.locator("summary").click();
  await change.locator(".diff .row.del", { hasText: "by <b>hand</b>" }).waitFor();
  assert.equal(readFileSync(main, "utf8"), "by <b>hand</b>\n", "a plan that is only shown writes nothing");
  await act(page, "Restore them");
  assert.match(readFileSync(main, "utf8"), /TcpListener/);
  await page.getByRole("button", { name: "Undo" }).click();
  await act(page, "Undo");
  await page.waitForFunction(() => !document.querySelector(".note.done"));
  assert.equal(readFileSync(main, "utf8"), "by <b>hand</b>\n");
  assert.deepEqual(wrong, []);
});

test("of two sessions with one id the one that was clicked is meant", async (t) => {
  const claude = demo(t);
  const path = file(claude, "7ea9");
  const other = join(dirname(path), "..", "-home-dev-copy", basename(path));
  mkdirSync(dirname(other));
  writeFileSync(other, `${readFileSync(path, "utf8").split("\n").slice(0, 12).join("\n")}\n`);
  const session = basename(path, ".jsonl");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go("/p/-home-dev-copy");
  await page.locator(".sessions a").click();
  await page.waitForURL(`**/s/${session}~-home-dev-copy`);
  await page.waitForSelector(".turn.answer");
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("button", { name: "Move to the trash" }).click();
  await act(page, "Move to the trash");
  assert.ok(!existsSync(other) && existsSync(path), "the other one is where it was");
  assert.deepEqual(wrong, []);

  // An address from before there were two asks which is meant.
  writeFileSync(other, readFileSync(path));
  // The server may know the new file a moment later. `waitForFunction` does not wait for promises when it polls.
  let answer = null;
  for (let tries = 0; answer === null && tries < 100; tries++) {
    answer = await page.evaluate(async (address) => {
      const response = await ask(address);
      if (response.status === 409) return response.json();
      await new Promise((resolve) => setTimeout(resolve, 200));
      return null;
    }, `/api/sessions/${session}`);
  }
  assert.deepEqual(answer?.candidates, [`${session}~-home-dev-copy`, `${session}~-home-dev-teapot`]);
  await go(`/s/${session}`);
  await page.getByRole("alert").getByRole("link", { name: "-home-dev-teapot" }).click();
  await page.waitForSelector(".turn.answer");
});
