// What Claude Code writes appears without loading anything again.

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { demo, file, id, open, record, said, serve } from "./page.mjs";

test("an append appears", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  await page.evaluate(() => {
    globalThis.sameDocument = true;
  });
  const unfolded = page.locator("details.call").last();
  await unfolded.locator("summary").click();
  await unfolded.locator(".code").waitFor();
  await page.keyboard.press("G");
  const path = file(claude, "7ea9");
  const leaf = await page.evaluate(
    async (address) => (await (await ask(address)).json()).leaf,
    `/api/sessions/${session}/path`,
  );
  const uuid = "aaaaaaaa-0000-4000-8000-000000000001";
  appendFileSync(path, `${record(leaf, uuid, "user", "And a lid, please: live.", session)}\n`);
  appendFileSync(
    path,
    `${JSON.stringify({ type: "last-prompt", lastPrompt: "And a lid", leafUuid: uuid, sessionId: session })}\n`,
  );
  await page.locator(".said", { hasText: "And a lid, please: live." }).waitFor();
  appendFileSync(
    path,
    `${record(uuid, "aaaaaaaa-0000-4000-8000-000000000002", "assistant", "The lid is on.", session)}\n`,
  );
  await page.locator(".turn.answer", { hasText: "The lid is on." }).waitFor();
  assert.equal(await page.evaluate(() => globalThis.sameDocument), true);
  assert.ok(await unfolded.locator(".code").isVisible(), "what was unfolded stays");
  // Who reads the end goes on doing so: below the last message there is nothing.
  const below = await page.evaluate(
    () =>
      document.querySelector(".scroll").getBoundingClientRect().bottom -
      [...document.querySelectorAll(".row")].at(-1).getBoundingClientRect().bottom,
  );
  assert.ok(Math.abs(below) < 2, `${below} px are below the last message`);
  assert.deepEqual(wrong, []);
});

test("a fork that appears in what is read is shown there", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const told = await page.evaluate(async (address) => (await ask(address)).json(), `/api/sessions/${session}/path`);
  await go(`/s/${session}?leaf=${told.leaf}`);
  await page.waitForSelector(".turn.answer");
  const forks = await page.locator("nav.fork").count();
  appendFileSync(
    file(claude, "7ea9"),
    `${record(told.last.at(-3), "dddddddd-0000-4000-8000-000000000001", "user", "Something else instead", session)}\n`,
  );
  await page.locator("nav.fork", { hasText: "Something else instead" }).waitFor();
  assert.equal(await page.locator("nav.fork").count(), forks + 1);
  assert.deepEqual(wrong, []);
});

test("a new session appears in the lists", async (t) => {
  const claude = demo(t);
  const { page, wrong } = await open(t, await serve(t, claude));
  const path = file(claude, "7ea9");
  const session = "bbbbbbbb-0000-4000-8000-000000000001";
  const text = record(null, "bbbbbbbb-0000-4000-8000-000000000002", "user", "A kettle that sings", session);
  writeFileSync(join(path, "..", `${session}.jsonl`), `${text}\n`);
  await page.locator(".side li", { hasText: "A kettle that sings" }).waitFor();
  assert.ok(readFileSync(path).length > 0);
  assert.deepEqual(wrong, []);
});

test("a session in which nothing was said fills when something is", async (t) => {
  const claude = demo(t);
  const session = "cccccccc-0000-4000-8000-000000000001";
  const path = join(file(claude, "7ea9"), "..", `${session}.jsonl`);
  writeFileSync(
    path,
    `${JSON.stringify({ type: "permission-mode", permissionMode: "default", sessionId: session })}\n`,
  );
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page.getByText("This session has no messages yet.").waitFor();
  appendFileSync(
    path,
    `${record(null, "cccccccc-0000-4000-8000-000000000002", "user", "Is anybody there?", session)}\n`,
  );
  await page.locator(".said", { hasText: "Is anybody there?" }).waitFor();
  assert.deepEqual(wrong, []);
});

test("a session that goes away is told, and comes back", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  const path = file(claude, "7ea9");
  renameSync(path, `${path}.aside`);
  await page.getByRole("alert").filter({ hasText: "no longer exists" }).waitFor();
  renameSync(`${path}.aside`, path);
  await page.waitForSelector(".turn.answer");
  // What the page asks for in the moment before it hears of it is not found.
  assert.deepEqual(
    wrong.filter((one) => !one.includes("404")),
    [],
  );
});

test("a session that is written to is marked, its running tool says so, and news below is counted", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  assert.equal(await page.locator(".session-head .live").count(), 0);
  await page.keyboard.press("g");
  await page.waitForSelector(".row[data-at='0'] .said");
  const path = file(claude, "7ea9");
  const leaf = await page.evaluate(
    async (address) => (await (await ask(address)).json()).leaf,
    `/api/sessions/${session}/path`,
  );
  const uuid = (n) => `bbbbbbbb-0000-4000-8000-00000000000${n}`;
  appendFileSync(path, said(leaf, uuid(1), "One more thing.", session));
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  const call = [{ type: "tool_use", id: "toolu_live", name: "Bash", input: { command: "sleep 60" } }];
  appendFileSync(path, `${record(uuid(1), uuid(2), "assistant", call, session)}\n`);
  await page.getByRole("button", { name: "2 new messages" }).click();
  await page.locator(".session-head .live").waitFor();
  await page.locator(".row.last .call .running").waitFor({ state: "visible" });
  await page.waitForFunction(() => !document.querySelector(".unread"));
  const result = [{ type: "tool_result", tool_use_id: "toolu_live", content: "done" }];
  appendFileSync(path, `${record(uuid(2), uuid(3), "user", result, session)}\n`);
  await page.waitForFunction(() => !document.querySelector(".row.last .running"));
  assert.deepEqual(wrong, []);
});
