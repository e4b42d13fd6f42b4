// The way back from what was just done: a button in the message about it, and a line above the transcript.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { act, rename, teapot } from "./page.mjs";

test("after the resume point moved, what was left is in sight, and there is a way back", async (t) => {
  const { path, before, page, wrong } = await teapot(t);
  await page.keyboard.press("g");
  const turn = page.locator(".row[data-at='1'] .turn").first();
  await turn.hover();
  await turn.getByRole("button", { name: "Actions for this message" }).click();
  await page.getByRole("button", { name: "Resume from here" }).click();
  await act(page, "Resume from here");
  await page.locator(".toast", { hasText: /^Done: resume point moved to/ }).waitFor();
  const banner = page.locator(".moved-banner");
  await banner.getByText("Claude Code now resumes here.").waitFor();
  await banner.getByRole("button", { name: "Copy the command" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("claude"));
  await banner.getByRole("link", { name: "Show the later messages" }).click();
  await page.waitForURL(/leaf=/);
  // There it leads back to where Claude Code resumes.
  await banner.getByText("Claude Code now resumes at an earlier message.").waitFor();
  await banner.getByRole("link", { name: "Show where it resumes" }).click();
  await banner.getByText("Claude Code now resumes here.").waitFor();
  await banner.getByRole("button", { name: "Switch back" }).click();
  await act(page, "Undo");
  assert.deepEqual(readFileSync(path), before);
  assert.deepEqual(wrong, []);
});

test("a toast undoes what was just done", async (t) => {
  const { path, before, page, wrong } = await teapot(t);
  await rename(page, "The pot, renamed");
  assert.notDeepEqual(readFileSync(path), before);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await act(page, "Undo");
  assert.deepEqual(readFileSync(path), before);
  assert.deepEqual(wrong, []);
});
