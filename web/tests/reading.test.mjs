// Reading, as a person does it: with the mouse, and with keys alone.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { demo, file, id, open, serve, walk } from "./page.mjs";
import { ramus } from "./where.mjs";

test("open a session, switch at a fork, click in the tree, compare, open an agent", async (t) => {
  const claude = demo(t);
  const { page, wrong } = await open(t, await serve(t, claude));
  await page.locator(".sessions a", { hasText: "Tiny HTTP teapot" }).click();
  await page.waitForSelector(".turn.answer");
  assert.match(page.url(), /\/s\/7ea9/);

  // ‹ 2/3 ›: the other way at a fork is read instead, and the reader stays there.
  const fork = page.locator("nav.fork").last();
  const before = await fork.locator(".which").textContent();
  await fork.getByRole("button", { name: "Next branch" }).click();
  await page.waitForURL(/leaf=/);
  await page.waitForSelector(".left-banner");
  await page.waitForFunction(
    (was) => [...document.querySelectorAll("nav.fork .which")].at(-1)?.textContent !== was,
    before,
  );
  await page.goBack();
  await page.waitForFunction(() => !document.querySelector(".left-banner"));

  // The tree: a row that was left leads to its branch.
  await page.locator(".tree-row.left", { hasText: "Do the pool anyway" }).click();
  await page.waitForSelector(".left-banner");
  await page.locator(".said", { hasText: "Do the pool anyway" }).waitFor();
  assert.equal(await page.locator(".tree-row.on", { hasText: "Do the pool anyway" }).count(), 1);

  // Side by side with the one that resumes.
  await page.getByRole("button", { name: "Details" }).click();
  await page
    .locator(".conversations li", { hasText: "Tiny HTTP teapot" })
    .getByRole("link", { name: "compare" })
    .click();
  await page.waitForSelector(".side-column.b .turn");
  assert.equal(await page.locator(".side-column").count(), 2);
  assert.ok((await page.locator(".table tr").count()) > 4);

  // An agent is a conversation of its own, with a way back.
  await page.goBack();
  await page.locator(".tree-row.agent").first().click();
  await page.waitForURL(/agent-/);
  await page.waitForSelector(".turn.task");
  await page.getByRole("link", { name: /agent of/ }).click();
  await page.waitForURL(/\/s\/7ea9/);
  assert.deepEqual(wrong, []);
});

test("what each reply used is shown when it is asked for, and that is remembered", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  const used = page.locator(".turn.answer .reply-usage").first();
  assert.equal(await used.isVisible(), false);
  await page.keyboard.press("c");
  await used.waitFor({ state: "visible" });
  assert.match(await used.textContent(), /in.*cache read.*cache write.*out.*context.*cost\$\d/);
  await page.reload();
  await page.locator(".turn.answer .reply-usage").first().waitFor({ state: "visible" });
  await page.getByRole("button", { name: "Usage", exact: true }).and(page.locator("[aria-pressed=true]")).click();
  await page.locator(".turn.answer .reply-usage").first().waitFor({ state: "hidden" });
  assert.deepEqual(wrong, []);
});

test("ids that are no uuids are shown whole and accepted back", async (t) => {
  const claude = demo(t);
  const line = (uuid, parent, type, content, second) =>
    JSON.stringify({
      type,
      uuid,
      parentUuid: parent,
      sessionId: "chat-session-one",
      cwd: "/w",
      timestamp: `2026-01-01T00:00:0${second}.000Z`,
      version: "2.1.325",
      isSidechain: false,
      message: { role: type, content },
    });
  const lines = [
    line("message-10", null, "user", "tune the harp", 1),
    line("message-11", "message-10", "assistant", [{ type: "text", text: "tuned" }], 2),
  ];
  writeFileSync(file(claude, "7ea9").replace(/[^/]*$/, "chat-session-one.jsonl"), `${lines.join("\n")}\n`);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go("/s/chat-session-one?at=message-11");
  await page.locator(".turn.answer", { hasText: "tuned" }).waitFor();
  await page.locator(".turn.answer .dots").first().click();
  await page.locator("dialog code", { hasText: /^ramus show chat-session-one:message-11$/ }).waitFor();
  assert.deepEqual(wrong, []);
});

test("an agent is unfolded where it was called", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  await page.locator(".tree-row.agent").first().waitFor();
  const call = page.locator("details.call.agent").first();
  await walk(page, "details.call.agent");
  await call.locator("> summary").click();
  await call.locator(".agent-fold > summary").click();
  const inside = call.locator(".agent-in");
  await inside.locator(".turn.task").waitFor();
  await inside.locator(".turn.answer").first().waitFor();
  assert.match(page.url(), /\/s\/7ea9/, "the reader stays where he is");
  // Its own calls open there, too.
  await inside.locator("details.call > summary").first().click();
  await inside.locator("details.call[open] .opened .pieces").first().waitFor();
  assert.equal(await call.evaluate((one) => one.open), true);
  await inside.getByRole("link", { name: "Open the full transcript" }).click();
  await page.waitForURL(/\/s\/agent-/);
  assert.deepEqual(wrong, []);
});

test("files as of a message, and what became of them", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("g");
  await page.waitForSelector(".row[data-at='0'] .said");
  await page.keyboard.press("p");
  const prompt = page.locator(".row.selected .turn.prompt");
  await prompt.getByRole("button", { name: "Actions for this message" }).click();
  await page.getByRole("link", { name: "Files as of here" }).click();
  await page.locator(".files nav a", { hasText: "src/main.rs" }).click();
  await page.locator(".files .code code", { hasText: "TcpListener" }).waitFor();
  await page.getByLabel("what became of it").check();
  await page.waitForSelector(".files .diff .row.add");
  assert.deepEqual(wrong, []);
});

test("search finds every branch and leads to the message", async (t) => {
  const { page, wrong, go } = await open(t, await serve(t, demo(t)));
  await go("/search");
  await page.fill("#query", "crates.io");
  await page.keyboard.press("Enter");
  const hit = page.locator(".hits li", { hasText: "abandoned" }).first();
  await hit.waitFor();
  assert.match(await hit.locator("mark").first().textContent(), /crates\.io/i);
  await hit.locator("a").click();
  await page.waitForSelector(".left-banner");
  await page.locator(".turn", { hasText: "crates.io" }).first().waitFor();
  await go("/search?q=crates.io&branch=active");
  await page.waitForFunction(() => /message/.test(document.querySelector("[role=status]")?.textContent ?? ""));
  assert.equal(await page.locator(".hits .left-word").count(), 0);
  await go("/search?q=(&regex=true");
  await page.waitForSelector(".failure-box");
  assert.equal(wrong.filter((text) => !text.includes("400")).length, 0, wrong.join());
});

test("keys alone", async (t) => {
  const claude = demo(t);
  const { page, wrong } = await open(t, await serve(t, claude));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("teapot server");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("g");
  await page.waitForFunction(() => document.querySelector(".row.selected")?.dataset.at === "0");
  await page.keyboard.press("]");
  await page.waitForSelector(".row.selected nav.fork");
  await page.keyboard.press("ArrowLeft");
  await page.waitForSelector(".left-banner");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => !document.querySelector(".left-banner"));
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForSelector(".row.selected details.call[open] .code");
  await page.keyboard.press("G");
  await page.keyboard.press("P");
  await page.waitForSelector(".row.selected .turn.prompt");
  assert.equal(
    await page.evaluate(() => [...document.querySelectorAll(".row:has(.turn.prompt)")].at(-1).matches(".selected")),
    true,
    "the last prompt",
  );
  await page.keyboard.press("m");
  await page.locator("dialog[open]").getByRole("button", { name: "Fork from here" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  // Within a session `/` finds in it; elsewhere it searches everything.
  await page.keyboard.press("/");
  await page.locator(".find-bar input:focus").waitFor();
  await page.keyboard.type("milk");
  await page.locator(".find-bar [role=status]", { hasText: /\d/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".row.hit");
  await page.keyboard.press("Escape");
  await page.keyboard.press("h");
  await page.waitForSelector(".sessions");
  await page.keyboard.press("/");
  await page.waitForURL(/search/);
  await page.locator("main input:focus").waitFor();
  await page.keyboard.type("milk");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".hits li");
  // The tree by keys: focus it, move, go there.
  await page.goBack();
  await page.goBack();
  await page.waitForSelector(".tree-row");
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".left-banner");
  assert.deepEqual(wrong, []);
});

test("keys typed before the session is there are not lost", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(/\/(path|turns)(\?|$)/, async (route) => {
    await gate;
    await route.continue();
  });
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".session-head h1");
  for (const key of ["g", "]", "ArrowLeft", "g", "j", "o"]) await page.keyboard.press(key);
  assert.equal(await page.locator(".row").count(), 0);
  release();
  await page.waitForSelector(".left-banner");
  await page.waitForSelector(".row.selected details.call[open] .code");
  // The next message is the one after the first, not one that stood there before.
  await page.keyboard.press("k");
  await page.waitForFunction(() => document.querySelector(".row.selected")?.dataset.at === "0");
  assert.deepEqual(wrong, []);
});

test("code and addresses can be copied, a transcript taken along", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${id(claude, "7ea9")}`);
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("g");
  await page.locator(".code .copy").first().click();
  await page.waitForFunction(() => document.querySelector(".toast")?.textContent === "Code copied");
  assert.ok((await page.evaluate(() => navigator.clipboard.readText())).length > 5);
  await page.getByRole("button", { name: "Export" }).click();
  const loading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Markdown" }).click();
  const text = readFileSync(await (await loading).path(), "utf8");
  assert.match(text, /teapot/i);
  assert.deepEqual(wrong, []);
});

test("colours are chosen and kept", async (t) => {
  const { page, go, wrong } = await open(t, await serve(t, demo(t)));
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light);
  const dark = await ground();
  await go("/stats");
  await page.waitForSelector(".bars");
  assert.equal(await ground(), dark);
  assert.deepEqual(wrong, []);
});

test("a phone has the lists in a drawer and the tree over the transcript", async (t) => {
  const claude = demo(t);
  const { page, wrong } = await open(t, await serve(t, claude), { width: 390, height: 844 });
  assert.equal(await page.locator(".side").isVisible(), false);
  await page.getByRole("button", { name: "Projects and sessions" }).click();
  await page.locator(".side li a", { hasText: "Tiny HTTP teapot" }).click();
  await page.waitForSelector(".turn.answer");
  await page.locator(".side").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Tree" }).click();
  await page.locator(".tree-row.left", { hasText: "Do the pool anyway" }).click();
  await page.waitForSelector(".left-banner");
  await page.locator(".said", { hasText: "Do the pool anyway" }).waitFor();
  assert.deepEqual(wrong, []);
});

test("a fork with many branches shows the taken one, and all when asked", async (t) => {
  const claude = demo(t);
  const session = "dddddddd-0000-4000-8000-000000000000";
  const uuid = (n) => `dddddddd-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const said = (n, parent, type, text) =>
    JSON.stringify({
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd: "/home/dev/teapot",
      sessionId: session,
      version: "2.1.240",
      type,
      message:
        type === "user"
          ? { role: "user", content: text }
          : {
              id: `m${n}`,
              type: "message",
              role: "assistant",
              model: "claude-opus-5",
              content: [{ type: "text", text }],
            },
      uuid: uuid(n),
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString(),
    });
  const lines = [said(1, null, "user", "begin \u202Egnp.exe"), said(2, uuid(1), "assistant", "begun")];
  for (let n = 10; n < 60; n += 2)
    lines.push(said(n, uuid(2), "user", `way ${n / 2 - 4}`), said(n + 1, uuid(n), "assistant", "done"));
  writeFileSync(join(file(claude, "7ea9"), "..", `${session}.jsonl`), `${lines.join("\n")}\n`);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page.locator("nav.fork .which", { hasText: "25/25" }).waitFor();
  await page.locator("nav.fork .taken .words", { hasText: "this branch" }).waitFor();
  assert.ok((await page.locator("nav.fork li").count()) < 9);
  await page.getByRole("button", { name: "all 25 branches" }).click();
  assert.equal(await page.locator("nav.fork li").count(), 25);
  // What turns the direction of reading round is not obeyed.
  assert.equal((await page.locator(".turn.prompt .said").first().textContent()).trim(), "begin gnp.exe");
  assert.deepEqual(wrong, []);
});

test("the command that resumes at a message is in its menu and can be copied", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const session = id(claude, "7ea9");
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  const copied = async (turn) => {
    await turn.scrollIntoViewIfNeeded();
    await turn.hover();
    await turn.getByRole("button", { name: "Actions for this message" }).click();
    const item = page.locator("dialog[open] button", { hasText: "Copy the command that resumes here" });
    const shown = await item.locator("code").textContent();
    const note = await item.textContent();
    await item.click();
    await page.waitForFunction(() => document.querySelector(".toast")?.textContent === "Command copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
    await page.waitForFunction(() => !document.querySelector("dialog[open]"));
    return { shown, note };
  };
  const printed = (at) => {
    const args = ["--claude-dir", claude, "resume", at, "--print"];
    return spawnSync(ramus, args, { encoding: "utf8" }).stdout.trim();
  };
  // Where Claude Code resumes by itself it is started at once.
  const last = await copied(page.locator(".turn.answer").last());
  assert.match(last.shown, new RegExp(`--resume ${session}$`));
  assert.equal(last.shown, printed("7ea9"));
  // Anywhere else ramus asks first.
  await page.keyboard.press("g");
  const first = await copied(page.locator(".row[data-at='1'] .turn").first());
  assert.match(first.shown, new RegExp(`ramus .*resume ${session}:`));
  assert.match(first.note, /first asks whether to move the resume point or to fork/);
  assert.equal(first.shown, printed(first.shown.split(" ").pop()));
  assert.deepEqual(wrong, []);
});
