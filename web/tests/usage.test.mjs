// Usage as a tool: ranges, stacks, values, sessions behind a bar, messages behind a session, a file for a spreadsheet.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";
import { history, line } from "./made.mjs";
import { demo, open, serve } from "./page.mjs";

const value = (page, name) =>
  page
    .locator(".numbers div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) })
    .locator("dd")
    .textContent();

test("ranges, stacks and what is behind a bar", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await page.keyboard.press("u");
  await page.waitForURL(/usage/);
  await go("/usage?days=all");
  await page.locator(".chart .bar").first().waitFor();
  const report = await page.evaluate(async () => (await ask("/api/usage")).json());
  assert.equal(Number(await value(page, "replies")), report.totals.messages);
  const legend = page.locator(".legend li");
  assert.equal(await legend.count(), report.by_model.length);
  // Axes, and values for the bar under the pointer.
  assert.ok((await page.locator(".chart text", { hasText: "$" }).count()) >= 3);
  await page.locator(".chart .bar .reach").first().hover();
  assert.match(await page.locator(".chart [role=status]").textContent(), /\d+ \w+: \$\d/);
  assert.match(await page.locator(".chart .tip").textContent(), /\d+ \w+: \$\d.*\$\d/);
  // The bar of a day leads to its sessions, a session to its messages.
  const sessions = page.locator(".card", { hasText: "Sessions" }).locator("tbody tr:not(.opened-row)");
  const all = await sessions.count();
  await page.locator(".chart .bar .reach").first().click();
  await page.waitForURL(/day=/);
  await page.waitForFunction((all) => document.querySelectorAll(".wide-table tbody tr:has(.unfold)").length < all, all);
  await page.getByRole("button", { name: "Show its messages" }).first().click();
  await page.locator(".costly a").first().click();
  await page.waitForURL(/\/s\/.*at=/);
  await page.waitForSelector(".row.selected");

  for (const [by, name] of [
    ["project", "teapot"],
    ["branch", "abandoned branches"],
    ["agent", "agents"],
  ]) {
    await go(`/usage?days=all&by=${by}`);
    await page.locator(".legend li", { hasText: name }).waitFor();
  }
  // A row of the table narrows everything.
  await go("/usage?days=all&by=project");
  await page.getByRole("button", { name: "teapot", exact: true }).click();
  await page.waitForURL(/group=teapot/);
  await page.waitForFunction(
    (n) => Number(document.querySelectorAll(".numbers dd")[2].textContent) < n,
    report.totals.messages,
  );
  assert.deepEqual(wrong, []);
});

test("a range of one's own, a budget, blocks, and a file", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go("/usage?from=2026-09-14&to=2026-09-16");
  await page.locator(".chart .bar").nth(2).waitFor();
  assert.equal(await page.locator(".chart .bar").count(), 3);
  await page.getByLabel("Budget a day ($)").fill("1");
  await page.locator(".chart .budget", { hasText: "$1.00" }).waitFor();
  await page.locator(".card", { hasText: "Five-hour blocks" }).locator("tbody tr").first().waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  const rows = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\n");
  assert.match(rows[0], /^day,project,session/);
  const messages = rows.slice(1).map((row) => row.match(/(?:[^,"]|"(?:[^"]|"")*")+|(?<=,)(?=,)/g)[7]);
  assert.equal(
    messages.reduce((sum, n) => sum + Number(n), 0),
    Number(await value(page, "replies")),
  );
  await page.getByRole("button", { name: "7 days" }).click();
  await page.waitForURL(/days=7/);
  assert.deepEqual(wrong, []);
});

test("usage is readable on a phone", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude), { width: 390, height: 844 });
  await go("/usage?days=all");
  await page.locator(".chart .bar").first().waitFor();
  const wide = await page.evaluate(
    () => document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth,
  );
  assert.ok(wide <= 0, `${wide} px too wide`);
  // The axis and the newest bar are both in the window.
  const box = await page.locator(".chart svg").boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 391, JSON.stringify(box));
  assert.deepEqual(wrong, []);
});

/** Replies on these days; one has this usage. */
function replies(t, times, usage = {}) {
  const lines = times.flatMap((time, n) => [
    line(2 * n + 1, n ? 2 * n : null, "user", `at ${time}`, { more: { timestamp: time } }),
    line(2 * n + 2, 2 * n + 1, "assistant", "ok", { more: { timestamp: time } }),
  ]);
  lines[1] = lines[1].replace(/"usage":\{[^}]*\}/, (own) =>
    JSON.stringify({ usage: { ...JSON.parse(`{${own}}`).usage, ...usage } }).slice(1, -1),
  );
  return history(t, lines);
}

const daysAgo = (days) => new Date(Date.now() - days * 86_400_000).toISOString();

test("a clock that was wrong once hides nothing", async (t) => {
  const { claude } = replies(t, ["1970-01-01T00:00:00Z", daysAgo(3), "2099-12-31T23:59:59Z"]);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  const bars = page.locator(".chart .bar");
  // The usual range ends today.
  await go("/usage");
  await bars.first().waitFor();
  assert.equal(await value(page, "replies"), "1");
  assert.equal(await bars.count(), 30);
  // All of it, by year: each reply in the bar of its year.
  await go("/usage?days=all&show=messages");
  await page.locator(".chart").waitFor();
  assert.equal(await value(page, "replies"), "3");
  assert.equal(await bars.count(), 2099 - 1970 + 1);
  const filled = await bars.evaluateAll((all) =>
    all.filter((one) => one.querySelector("[class^=series]")).map((one) => one.querySelector(".reach").ariaLabel),
  );
  assert.deepEqual(filled, ["1970: 1", `${new Date(Date.now() - 3 * 86_400_000).getUTCFullYear()}: 1`, "2099: 1"]);
  // The calendar ends today, too.
  await go("/");
  await page
    .locator(".heat title", { hasText: `${daysAgo(3).slice(0, 10)}: 2 messages` })
    .waitFor({ state: "attached" });
  // It adds up what it shows, and tells each day by the keyboard, too.
  const legend = page.locator(".heat-legend [role=status]");
  assert.match(await legend.textContent(), /^2 messages on 1 day of a year, most on \d+ \w+ \d{4}: 2$/);
  await page.locator(".heat").focus();
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
  assert.match(await legend.textContent(), /^\d+ \w+ \d{4}: 2 messages$/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await legend.textContent(), /: 0 messages$/);
  assert.deepEqual(wrong, []);
});

test("an address that makes no sense shows the usual choices", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  for (const odd of ["from=2026&to=x", "days=1e99", "days=-3&from=<b>", "show=toString&by=constructor", "day=x"]) {
    await go(`/usage?${odd}`);
    await page.locator(".chart .bar, .card .empty").first().waitFor();
    assert.equal(await page.locator(".failure-box").count(), 0, odd);
  }
  assert.deepEqual(wrong, []);
});

test("the numbers beside a chart are never cut", async (t) => {
  const { claude } = replies(t, [daysAgo(2), daysAgo(1)], { input_tokens: 9e15, output_tokens: 9e15 });
  const { page, go, wrong } = await open(t, await serve(t, claude), { width: 390, height: 844 });
  for (const show of ["cost", "tokens", "messages"]) {
    await go(`/usage?show=${show}`);
    await page.locator(".chart .bar").first().waitFor();
    const outside = await page.locator(".chart svg").evaluate((svg) => {
      const edge = svg.getBoundingClientRect().left;
      const texts = [...svg.querySelectorAll("text")];
      return texts.filter((text) => text.getBoundingClientRect().left < edge).map((text) => text.textContent);
    });
    assert.deepEqual(outside, [], show);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${show} is ${wide} px too wide`);
  }
  assert.deepEqual(wrong, []);
});

test("a model without a known price has no cost, rather than none to pay", async (t) => {
  const { claude, path } = replies(t, [daysAgo(2), daysAgo(1)]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"claude-opus-5"', '"a-model-of-ours"'));
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go("/usage?show=cost");
  const row = page.locator(".bars tr", { hasText: "a-model-of-ours" }).first();
  await row.waitFor();
  assert.equal(await row.locator(".amount").textContent(), "–");
  assert.deepEqual(wrong, []);
});
