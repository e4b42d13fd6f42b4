// Pins, tags and notes: put on sessions and messages, shown everywhere, never written to the history.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { demo, file, id, open, serve } from "./page.mjs";
import { ramus } from "./where.mjs";

test("a session and a message are pinned, tagged and get a note", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const before = readFileSync(file(claude, "7ea9"));
  const server = await serve(t, claude);
  const { page, go, wrong } = await open(t, server);
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  await page.getByRole("button", { name: "Pin, tags, note" }).click();
  const form = page.locator("dialog .annotation-form");
  await form.getByLabel("Pinned").check();
  await form.getByLabel("Tags").fill("Review #bug");
  await form.getByLabel("Note").fill("The second try");
  await form.getByRole("button", { name: "Save" }).click();
  await page.locator(".session-head .annotation", { hasText: "The second try" }).waitFor();
  assert.deepEqual(await page.locator(".session-head .chip-tag").allTextContents(), ["#bug", "#review"]);
  // The list knows it at once, and finds it by its tag.
  await page.locator(".pinned-list a", { hasText: "Tiny HTTP teapot" }).waitFor();
  await page.getByRole("searchbox", { name: "Filter sessions" }).fill("#rev");
  await page.waitForFunction(() => document.querySelectorAll(".side section:not(.pinned-list) li").length === 1);

  await page.locator(".turn.answer").last().getByRole("button", { name: "Actions for this message" }).click();
  await page.locator("dialog").getByRole("button", { name: "Pin, tags, note" }).click();
  await form.getByLabel("Note").fill("Here it was decided");
  await form.getByRole("button", { name: "Save" }).click();
  await page.locator(".turn .annotation", { hasText: "Here it was decided" }).waitFor();
  await page.reload();
  await page.locator(".turn .annotation", { hasText: "Here it was decided" }).waitFor();
  await go("/");
  await page.locator(".sessions .chip-tag", { hasText: "#review" }).waitFor();

  const told = spawnSync(ramus, ["--claude-dir", claude, "sessions", "--tag", "review", "--json"], {
    encoding: "utf8",
    env: { ...process.env, HOME: server.home, RAMUS_STATE_DIR: join(server.home, "state") },
  });
  const [row] = JSON.parse(told.stdout).sessions;
  assert.deepEqual([row.id, row.pinned, row.note, row.annotated_messages], [session, true, "The second try", 1]);
  assert.deepEqual(readFileSync(file(claude, "7ea9")), before);
  assert.deepEqual(wrong, []);
});

test("a tag that is refused says why", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  await page.getByRole("button", { name: "Pin, tags, note" }).click();
  await page.locator("dialog").getByLabel("Tags").fill("x".repeat(60));
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await page.locator("dialog .failure-box", { hasText: "longer than" }).waitFor();
  assert.equal(wrong.filter((one) => !one.includes("400")).length, 0);
});

test("what was written elsewhere is shown, and not overwritten", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const server = await serve(t, claude);
  const { page, go } = await open(t, server);
  const env = { ...process.env, HOME: server.home, RAMUS_STATE_DIR: join(server.home, "state") };
  const run = (...args) => spawnSync(ramus, ["--claude-dir", claude, ...args], { encoding: "utf8", env });
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  // The page has read what there was; the note is written only now.
  assert.equal(run("note", session, "From the terminal").status, 0);
  const dialog = page.locator("dialog");
  await page.getByRole("button", { name: "Pin, tags, note" }).click();
  await page.waitForFunction(() => document.querySelector("dialog textarea")?.value === "From the terminal");
  await dialog.getByLabel("Tags").fill("kept");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".session-head .chip-tag", { hasText: "#kept" }).waitFor();
  const note = () => JSON.parse(run("sessions", "--tag", "kept", "--json").stdout).sessions[0].note;
  assert.equal(note(), "From the terminal");

  // What cannot be read cannot be saved.
  await page.route("**/annotations", (asked) => asked.abort());
  await page.getByRole("button", { name: "Pin, tags, note" }).click();
  await dialog.locator(".failure-box").waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
});
