// Beside a transcript: its prompts, and what ran when; above it, what it cost.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { SESSION, history, line, uuid } from "./made.mjs";
import { demo, id, open, serve } from "./page.mjs";

const long = (t) => {
  const lines = [];
  for (let n = 0; n < 30; n += 1) {
    const at = n * 4;
    lines.push(
      line(at + 1, n === 0 ? null : at, "user", `Prompt number ${n + 1}`),
      line(at + 2, at + 1, "assistant", [
        {
          type: "tool_use",
          id: `t${n}`,
          name: "Edit",
          input: { file_path: `/home/dev/teapot/f${n}.rs`, old_string: "a", new_string: "b" },
        },
      ]),
      line(at + 3, at + 2, "user", [{ type: "tool_result", tool_use_id: `t${n}`, content: "done" }]),
      line(at + 4, at + 3, "assistant", `Done ${n + 1}`),
    );
  }
  return history(t, lines);
};

test("a session without forks opens with its prompts, which lead to their places", async (t) => {
  const { claude } = long(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".outline li").nth(29).waitFor();
  assert.equal(await page.locator(".outline .panel-bar").textContent(), "30 prompts");
  const third = page.locator(".outline li").nth(2);
  assert.match(await third.locator(".facts").textContent(), /30 s.*1.*1/s);
  await third.getByRole("button").click();
  await page.locator(".row.selected .said", { hasText: "Prompt number 3" }).waitFor();
  await page.locator(".outline [aria-current]", { hasText: "Prompt number 3" }).waitFor();
  // A session with forks opens with its tree.
  assert.deepEqual(wrong, []);
});

test("the header tells model, cost and duration, each reply its tokens and time", async (t) => {
  const { claude } = long(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".session-head .cost", { hasText: "$" }).waitFor();
  assert.match(await page.locator(".session-head .model").textContent(), /opus-5/);
  assert.match(await page.locator(".session-head .facts").textContent(), /20 min/);
  await page.keyboard.press("c");
  const used = page.locator(".turn.answer .reply-usage").last();
  await used.waitFor({ state: "visible" });
  assert.match(await used.textContent(), /context1\.0k.*cost\$.*took\d/);
  assert.deepEqual(wrong, []);
});

test("agents and background tasks are lanes in time", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  await page.getByRole("button", { name: "Trace" }).click();
  await page.locator(".trace .span.agent").first().waitFor();
  assert.equal(await page.locator(".trace .span.agent").count(), 2);
  assert.ok((await page.locator(".trace .span.main").count()) > 5);
  const wide = await page.locator(".trace").evaluate((box) => box.scrollWidth - box.closest(".panel").clientWidth);
  assert.ok(wide <= 0, "the lanes and names of the trace stay within its panel");
  await page.locator(".trace-list button", { hasText: "Review HTTP parsing" }).click();
  await page.waitForURL(/agent-/);
  assert.deepEqual(wrong, []);
});

test("a background task runs until it reports", async (t) => {
  const task = "b123";
  const { claude } = history(t, [
    line(1, null, "user", "Start the server"),
    line(2, 1, "assistant", [
      {
        type: "tool_use",
        id: "t1",
        name: "Bash",
        input: { command: "serve", description: "Run the server", run_in_background: true },
      },
    ]),
    line(3, 2, "user", [{ type: "tool_result", tool_use_id: "t1", content: "running" }], {
      more: { toolUseResult: { stdout: "", stderr: "", interrupted: false, backgroundTaskId: task } },
    }),
    line(4, 3, "assistant", "It runs."),
  ]);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.getByRole("button", { name: "Trace" }).click();
  await page.locator(".trace .span.task").waitFor();
  assert.match(await page.locator(".trace-list").textContent(), /Run the server.*end unknown/);
  assert.deepEqual(wrong, []);
});

test("an empty session and an empty history offer what to do next", async (t) => {
  const { claude, dir } = history(t, [line(1, null, "user", "hello")]);
  mkdirSync(join(dir, "x"), { recursive: true });
  writeFileSync(join(dir, `${uuid(77)}.jsonl`), "");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${uuid(77)}`);
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await page.waitForSelector(".sessions");
  await go("/usage");
  await page.locator(".empty", { hasText: "No usage yet" }).waitFor();
  assert.deepEqual(wrong, []);
});
