// A long session and histories of others: everything opens, nothing complains.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { copy, open, scratch, serve } from "./page.mjs";
import { shared } from "./where.mjs";

const SESSION = "0a1b2c3d-0000-4000-8000-000000000000";

function long(dir, messages) {
  const project = join(dir, "projects", "-home-dev-long");
  mkdirSync(project, { recursive: true });
  const lines = [];
  let parent = null;
  for (let n = 0; n < messages; n++) {
    const uuid = `0a1b2c3d-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const text = `message ${n} ${"of a long conversation ".repeat(1 + (n % 40))}`;
    const message =
      n % 2 === 0
        ? { role: "user", content: text }
        : {
            id: `m${n}`,
            role: "assistant",
            model: "claude-opus-5",
            content: [{ type: "text", text: `**${text}**\n\n\`\`\`rust\nfn f${n}() {}\n\`\`\`` }],
          };
    lines.push(
      JSON.stringify({
        parentUuid: parent,
        type: n % 2 === 0 ? "user" : "assistant",
        sessionId: SESSION,
        cwd: "/home/dev/long",
        version: "2.1.240",
        message,
        uuid,
        timestamp: new Date(1.79e12 + n * 1000).toISOString(),
      }),
    );
    // An edit now and then makes the tree a tree.
    if (n % 20 !== 2) parent = uuid;
  }
  writeFileSync(join(project, `${SESSION}.jsonl`), `${lines.join("\n")}\n`);
}

test("ten thousand messages: any place is near", async (t) => {
  const claude = join(scratch(t), "claude");
  long(claude, 10_000);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".turn", { hasText: "message 9999 " }).waitFor();
  await page.keyboard.press("g");
  await page.locator(".turn", { hasText: "message 0 of" }).waitFor();
  const middle = "0a1b2c3d-0000-4000-8000-000000005001";
  await go(`/s/${SESSION}?at=${middle}`);
  await page.locator(".turn", { hasText: "message 5001 " }).waitFor();
  assert.ok((await page.locator(".row").count()) < 120, "only what is near the window exists");
  assert.ok((await page.locator(".tree-row").count()) < 120, "of the tree, too");
  // Scrolling by hand shows what is there, wherever that is.
  await page.locator(".scroll").evaluate((box) => {
    box.scrollTop = box.scrollHeight * 0.25;
  });
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll(".row")].filter(
      (row) => row.getBoundingClientRect().bottom > 200 && row.getBoundingClientRect().top < 700,
    );
    return rows.length > 0 && rows.every((row) => row.querySelector(".turn"));
  });
  assert.deepEqual(wrong, []);
});

test("nothing jumps while others are measured", async (t) => {
  const claude = join(scratch(t), "claude");
  long(claude, 600);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".turn", { hasText: "message 599 " }).waitFor();
  // Upwards, where heights are guesses until rows are drawn: a row that is seen moves as far as the reader does.
  const jumps = await page.locator(".scroll").evaluate(async (box) => {
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const jumps = [];
    for (let n = 0; n < 120; n++) {
      const row = [...document.querySelectorAll(".row")].find(
        (one) => one.querySelector(".turn") && one.getBoundingClientRect().top > 150,
      );
      const before = row.getBoundingClientRect().top;
      box.scrollTop -= 120;
      await drawn();
      const moved = row.getBoundingClientRect().top - before;
      if (Math.abs(moved - 120) > 1.5) jumps.push(moved);
    }
    return jumps;
  });
  assert.deepEqual(jumps, []);
  // What grows above the window is not seen to.
  const where = await page.evaluate(async () => {
    const rows = [...document.querySelectorAll(".row")].filter((one) => one.querySelector(".turn"));
    const above = rows.findLast((one) => one.getBoundingClientRect().bottom < 100);
    const seen = rows.find((one) => one.getBoundingClientRect().top > 150);
    const before = seen.getBoundingClientRect().top;
    above.querySelector(".turn").style.paddingBlockEnd = "300px";
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return seen.getBoundingClientRect().top - before;
  });
  assert.ok(Math.abs(where) <= 1.5, `moved by ${where}`);
  // At the end of a high window there is no room below the last message: those before it fill the window.
  await page.setViewportSize({ width: 1440, height: 1600 });
  await go(`/s/${SESSION}?at=0a1b2c3d-0000-4000-8000-000000000599`);
  await page.locator(".turn", { hasText: "message 599 " }).waitFor();
  await page.waitForFunction(() => document.querySelector(".ghost") === null);
  const above = await page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return (
      document.querySelector(".row").getBoundingClientRect().top -
      document.querySelector(".scroll").getBoundingClientRect().top
    );
  });
  assert.ok(above <= 0, `${above} px are empty`);
  assert.deepEqual(wrong, []);
});

for (const [name, make] of [
  ["samples of real histories", (t) => shared("samples") && copy(t, shared("samples"))],
  [
    "a generated corpus",
    (t) => {
      const generator = shared("tools/gen_corpus.py");
      if (!generator) return undefined;
      const dir = join(scratch(t), "corpus");
      const made = spawnSync("python3", [generator, "--size-mb", "3", "--seed", "5", "--out", dir], {
        encoding: "utf8",
      });
      assert.equal(made.status, 0, made.stderr);
      return dir;
    },
  ],
]) {
  test(name, async (t) => {
    const claude = make(t);
    if (!claude) {
      t.skip("they are not beside the project");
      return;
    }
    const { page, go, wrong } = await open(t, await serve(t, claude));
    const sessions = await page.evaluate(async () => (await (await ask("/api/sessions")).json()).sessions);
    assert.ok(sessions.length > 0 && readdirSync(claude).length > 0);
    sessions.sort((a, b) => b.conversations - a.conversations || b.messages - a.messages);
    for (const session of sessions.filter((one) => one.messages > 0).slice(0, 12)) {
      await go(`/s/${encodeURIComponent(session.id)}`);
      await page.waitForSelector(".turn, .failure-box");
      await page.keyboard.press("g");
      await page.waitForSelector(".turn");
      assert.equal(await page.locator(".failure-box").count(), 0, session.id);
    }
    await go("/stats");
    await page.waitForSelector(".bars tr");
    assert.deepEqual(wrong, []);
  });
}
