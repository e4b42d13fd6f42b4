// Coming back to where one was, printing, and what a search leads to.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { demo, id, open, record, scratch, serve, shot } from "./page.mjs";

/** A session with 120 exchanges, a fork at the tenth, and a tool call in the middle. */
function history(t) {
  const dir = join(scratch(t), "claude");
  const session = "20000000-0000-4000-8000-000000000000";
  const path = join(dir, "projects", "-home-dev-teapot", `${session}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const lines = [];
  let [parent, n] = [null, 0];
  const add = (kind, content, at = parent) => {
    const uuid = `e${String(n++).padStart(7, "0")}-0000-4000-8000-000000000000`;
    lines.push(record(at, uuid, kind, content, session));
    parent = uuid;
    return uuid;
  };
  for (let turn = 0; turn < 120; turn += 1) {
    const prompt = add("user", `Question ${turn} about the teapot. ${"More words follow here. ".repeat(turn % 7)}`);
    if (turn === 10) {
      add("assistant", "An answer that was thrown away.");
      parent = prompt;
    }
    if (turn === 60) {
      const call = (name, input, output, id) => {
        add("assistant", [{ type: "tool_use", id, name, input }]);
        add("user", [{ type: "tool_result", tool_use_id: id, content: output }]);
      };
      call("Bash", { command: "ls" }, "nothing here", "t1");
      call(
        "Bash",
        { command: "cat kettle.log" },
        `${"steam\n".repeat(300)}the samovar is <b>hidden</b> down here\n`,
        "t2",
      );
    }
    add("assistant", `Answer ${turn}. ${"It goes on for a while. ".repeat((turn * 5) % 11)}`);
  }
  writeFileSync(path, `${lines.join("\n")}\n`);
  return { dir, session };
}

/** The first row in the window, and how far its top is above it. */
const where = (page) =>
  page.evaluate(() => {
    const top = document.querySelector(".scroll").getBoundingClientRect().top;
    const row = [...document.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().bottom > top + 1);
    return { at: row.dataset.at, offset: Math.round(row.getBoundingClientRect().top - top) };
  });

test("back leads to where one was in a transcript", async (t) => {
  const { dir, session } = history(t);
  const { page, go, wrong } = await open(t, await serve(t, dir));
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("g");
  await page.locator(".said", { hasText: "Question 0 " }).waitFor();
  for (let n = 0; n < 9; n += 1) {
    await page.mouse.move(500, 500);
    await page.mouse.wheel(0, 917);
    await page.waitForTimeout(80);
  }
  await page.waitForFunction(() => !document.querySelector(".row > .ghost"));
  await page.waitForTimeout(300);
  const before = await where(page);
  assert.notEqual(before.at, "0");
  await page.getByRole("link", { name: "Usage" }).first().click();
  await page.waitForURL("**/usage");
  await page.goBack();
  await page.waitForSelector(".row .turn");
  await page.waitForFunction((at) => document.querySelector(`.row[data-at="${at}"] .turn`), before.at);
  await page.waitForTimeout(300);
  const after = await where(page);
  assert.equal(after.at, before.at);
  assert.ok(Math.abs(after.offset - before.offset) <= 2, `${after.offset} instead of ${before.offset}`);
  // Loading the page again changes nothing about it.
  await page.reload();
  await page.waitForFunction((at) => document.querySelector(`.row[data-at="${at}"] .turn`), before.at);
  await page.waitForTimeout(300);
  const again = await where(page);
  assert.deepEqual([again.at, Math.abs(again.offset - before.offset) <= 2], [before.at, true], JSON.stringify(again));
  assert.deepEqual(wrong, []);
});

test("back leads to where one was in a search, without searching again", async (t) => {
  const { dir } = history(t);
  const { page, context, go, wrong } = await open(t, await serve(t, dir));
  await go("/search?q=teapot&sort=newest");
  await page.locator(".hits li").nth(110).waitFor();
  await page.getByText("120 messages").waitFor();
  await page.locator(".hits li").nth(70).scrollIntoViewIfNeeded();
  const top = await page.evaluate(() => document.getElementById("main").scrollTop);
  assert.ok(top > 500);
  let searches = 0;
  context.on("request", (request) => {
    if (request.url().includes("/api/find")) searches += 1;
  });
  await page.locator(".hits li a").nth(70).click();
  await page.waitForSelector(".row .turn");
  await page.goBack();
  await page.locator(".hits li").nth(110).waitFor();
  await page.waitForFunction((top) => Math.abs(document.getElementById("main").scrollTop - top) <= 1, top);
  assert.equal(searches, 0);
  assert.deepEqual(wrong, []);
});

test("a hit inside a tool call opens it and is marked", async (t) => {
  const { dir } = history(t);
  const { page, go, wrong } = await open(t, await serve(t, dir));
  await go("/search?q=samovar");
  await page.locator(".hits li a").first().click();
  const marked = () =>
    page.evaluate(() =>
      [...(CSS.highlights.get("hit") ?? [])].map((range) => ({
        text: range.toString(),
        top: range.getBoundingClientRect().top,
      })),
    );
  await page.waitForFunction(() => CSS.highlights.get("hit")?.size > 0);
  await page.waitForFunction(() => {
    const [range] = CSS.highlights.get("hit") ?? [];
    const box = range?.getBoundingClientRect();
    return box && box.top > 0 && box.bottom < innerHeight;
  });
  assert.deepEqual(
    (await marked()).map(({ text }) => text),
    ["samovar"],
  );
  assert.equal(await page.locator(".row.hit details.call[open]").count(), 1, "only the call that holds it");
  assert.equal(
    await page.locator(".row.hit details.call[open]", { hasText: "the samovar is <b>hidden</b> down here" }).count(),
    1,
  );
  await shot(page, "hit-in-tool");
  assert.deepEqual(wrong, []);
});

test("printing gives the whole transcript, with its forks", async (t) => {
  const { dir, session } = history(t);
  const { page, go, wrong } = await open(t, await serve(t, dir), { scheme: "dark" });
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  assert.ok((await page.locator(".said").count()) < 60, "the window holds a part");
  await page.emulateMedia({ media: "print" });
  await page.waitForSelector(".printed", { state: "attached" });
  const printed = await page.evaluate(() => ({
    prompts: [...document.querySelectorAll(".printed .said")].filter((one) => /^Question \d+ /.test(one.textContent))
      .length,
    forks: document.querySelectorAll(".printed-fork").length,
    text: document.querySelector(".printed-fork").textContent,
    width: document.documentElement.scrollWidth - innerWidth,
    height: document.documentElement.scrollHeight,
  }));
  assert.equal(printed.prompts, 120);
  assert.equal(printed.forks, 1);
  assert.match(printed.text, /2 branches.*An answer that was thrown away/);
  assert.ok(printed.height > 3000 && printed.width <= 0, JSON.stringify(printed));
  await page.emulateMedia({ media: null });
  await page.waitForSelector(".printed", { state: "detached" });
  // The browser's own way to print finds it, too.
  const pdf = await page.pdf();
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
  assert.ok(pages > 5, `${pages} pages`);
  assert.deepEqual(
    wrong.filter((text) => !text.includes("Synchronous XMLHttpRequest")),
    [],
  );
});

test("on another branch back leads to the branch before", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector("nav.fork");
  const before = await where(page);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/leaf=/);
  await page.waitForSelector(".left-banner");
  await page.goBack();
  await page.waitForSelector(".left-banner", { state: "detached" });
  await page.waitForFunction((at) => document.querySelector(`.row[data-at="${at}"] .turn`), before.at);
  await page.waitForTimeout(300);
  const after = await where(page);
  assert.deepEqual([after.at, Math.abs(after.offset - before.offset) <= 2], [before.at, true], JSON.stringify(after));
  assert.deepEqual(wrong, []);
});
