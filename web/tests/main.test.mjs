// One way through everything that is read: lists, a session, its branches, a comparison, search, usage, copying.

import assert from "node:assert/strict";
import test from "node:test";
import { demo, open, serve } from "./page.mjs";
import { inFirefox } from "./where.mjs";

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

test(`from the list to a message and back, in ${inFirefox ? "Firefox" : "Chromium"}`, async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  assert.equal(/Firefox/.test(await page.evaluate(() => navigator.userAgent)), inFirefox);
  // The list, and a session of it.
  await page
    .getByRole("main")
    .getByRole("link", { name: /Tiny HTTP teapot server/ })
    .click();
  await page.locator(".turn.answer").first().waitFor();
  // Another branch, and back.
  await page.keyboard.press("g");
  const fork = page.locator("nav.fork").first();
  await fork.getByRole("button", { name: "Next branch" }).waitFor();
  const which = await fork.locator(".which").textContent();
  await fork.getByRole("button", { name: "Next branch" }).click();
  await page.locator(".left-banner").waitFor();
  assert.match(page.url(), /leaf=/);
  await page.goBack();
  await page.locator(".left-banner").waitFor({ state: "detached" });
  assert.equal(await page.locator("nav.fork .which").first().textContent(), which);
  // The command to resume, from the header.
  await page.locator(".session-head .resume").click();
  await page.getByText(/^Copied: /).waitFor();
  assert.match(await clipboard(page), /claude --resume 7ea9/);
  // Two branches compared.
  await page.getByRole("button", { name: "Details" }).click();
  await page.locator(".compare-link").first().click();
  await page.locator(".side-column .turn").first().waitFor();
  // Search leads to the message.
  await go("/search?q=coffee");
  await page.locator(".hits a").first().click();
  await page.locator(".row.hit").waitFor();
  // Usage: a bar tells its value and leads to its sessions.
  await go("/usage?days=all");
  await page.locator(".chart .bar .reach").last().hover();
  assert.match(await page.locator(".chart-value").textContent(), /: \$\d/);
  await page.locator(".chart .bar .reach").last().click();
  await page.locator(".chosen-chips .chip").waitFor();
  assert.deepEqual(wrong, []);
});
