// Usage as a tool: ranges, stacks, values, sessions behind a bar, messages behind a session, a file for a spreadsheet.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
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
