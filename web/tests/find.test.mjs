// `/` in a session: every match of it, from top to bottom, in sessions and in agents.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { SESSION, history, line } from "./made.mjs";
import { open, serve } from "./page.mjs";

const MESSAGES = 24;

/** A session in which every prompt and every reply has the word, and an agent that has it twice. */
function made(t) {
  const lines = Array.from({ length: MESSAGES }, (_, n) =>
    line(n + 1, n || null, n % 2 ? "assistant" : "user", `needle number ${n + 1}`),
  );
  const told = history(t, lines);
  const agent = { isSidechain: true, agentId: "a1" };
  const inside = [
    line(101, null, "user", "look for the needle", { more: agent }),
    line(102, 101, "assistant", "here is the needle", { more: agent }),
  ];
  writeFileSync(join(told.dir, "agent-a1.jsonl"), `${inside.join("\n")}\n`);
  return told;
}

const status = (page, text) => page.locator(".find-bar [role=status]", { hasText: text }).waitFor();

test("every match is counted, and they are visited from the first to the last", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Find in this session" }).fill("needle");
  await status(page, String(MESSAGES));
  await page.keyboard.press("Enter");
  await status(page, `1 of ${MESSAGES}`);
  await page.locator(".row.hit", { hasText: "needle number 1" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".row.hit", { hasText: "needle number 2" }).waitFor();
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.press("Shift+Enter");
  await page.locator(".row.hit", { hasText: `needle number ${MESSAGES}` }).waitFor();
  // The search in one session has all of them, too.
  await go(`/search?q=needle&session=${SESSION}&role=user`);
  await page
    .locator(".hits li")
    .nth(MESSAGES / 2 - 1)
    .waitFor();
  assert.deepEqual(wrong, []);
});

test("the transcript of an agent is searched, too", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go("/s/agent-a1");
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Find in this session" }).fill("needle");
  await status(page, "2");
  await page.keyboard.press("Enter");
  await page.locator(".row.hit", { hasText: "look for the needle" }).waitFor();
  assert.deepEqual(wrong, []);
});

test("a long thought is cut, and shown whole on request", async (t) => {
  const { claude } = history(t, [
    line(1, null, "user", "think"),
    line(2, 1, "assistant", [
      { type: "thinking", thinking: `${"long thought ".repeat(4000)}the very end`, signature: "x" },
      { type: "text", text: "done" },
    ]),
  ]);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  const fold = page.locator("details.fold", { hasText: "Thinking" });
  await fold.locator("summary").click();
  await fold.getByRole("button", { name: /^Show all/ }).click();
  await fold.getByText("the very end").waitFor();
  assert.equal(await fold.getByRole("button", { name: /^Show all/ }).count(), 0);
  assert.deepEqual(wrong, []);
});
