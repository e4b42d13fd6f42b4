// What is said is read with its structure: Markdown, links, tables, pictures; and found and copied again.

import assert from "node:assert/strict";
import test from "node:test";
import { PIXEL, SESSION, history, line } from "./made.mjs";
import { open, serve } from "./page.mjs";

const PROMPT = "Make it **bold**:\n\n```rust\nfn main() {}\n```\n\nline one\nline two\n\n<b>not markup</b>";
const REPLY = [
  "See [the docs](https://docs.example/a?b=1&c=2), [mine](javascript:alert(1)) and https://bare.example/x_y_z.",
  "[safe.example](https://safe.example@evil.example/)",
  "| name | price |\n|:--|--:|\n| tea | 12 |",
].join("\n\n");

const made = (t) =>
  history(t, [
    line(1, null, "user", PROMPT),
    line(2, 1, "assistant", REPLY),
    line(3, 2, "user", [
      { type: "text", text: "two pictures" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "bm90IGEgcGljdHVyZQ==" } },
    ]),
    line(4, 3, "assistant", "Seen: the needle is here."),
  ]);

test("prompts are Markdown with highlighted code, and raw with a switch", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.keyboard.press("g");
  const said = page.locator(".turn.prompt .said").first();
  await said.locator("strong", { hasText: "bold" }).waitFor();
  assert.equal(await said.locator(".code .k", { hasText: "fn" }).count(), 1);
  assert.equal(await said.locator("b").count(), 0);
  // Lines of a prompt stay lines.
  assert.equal(
    await said.locator("p", { hasText: "line one" }).evaluate((p) => getComputedStyle(p).whiteSpace),
    "pre-line",
  );
  await page.keyboard.press("r");
  await page.waitForFunction(() => document.querySelector(".turn.prompt .said").textContent.includes("**bold**"));
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".turn.prompt .said")?.textContent.includes("**bold**"));
  await page.getByRole("button", { name: "Raw prompts" }).click();
  await page.locator(".turn.prompt .said strong").first().waitFor();
  assert.deepEqual(wrong, []);
});

test("links open safely and show where they lead", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".prose a.link").first().waitFor();
  const links = await page
    .locator(".prose a.link")
    .evaluateAll((all) => all.map((one) => [one.getAttribute("href"), one.rel, one.target, one.dataset.host]));
  const safe = ["noopener noreferrer", "_blank"];
  assert.deepEqual(links, [
    ["https://docs.example/a?b=1&c=2", ...safe, "docs.example"],
    ["https://bare.example/x_y_z", ...safe, "bare.example"],
    ["https://safe.example@evil.example/", ...safe, "evil.example"],
  ]);
  const shown = await page
    .locator(".prose a.link")
    .last()
    .evaluate((one) => getComputedStyle(one, "::after").content);
  // Firefox tells the rule, Chromium what comes of it; the attribute is compared above.
  assert.match(shown, /evil\.example|attr\(data-host\)/);
  // Anything else only hands over its address.
  await page.locator(".prose button.link", { hasText: "mine" }).click();
  await page.locator(".toast", { hasText: "Address copied" }).waitFor();
  const right = page.locator(".prose td", { hasText: "12" });
  assert.equal(await right.evaluate((cell) => getComputedStyle(cell).textAlign), "end");
  assert.deepEqual(wrong, []);
});

test("pictures are enlarged, and a broken one says so", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.locator(".picture-broken", { hasText: "cannot be shown" }).waitFor();
  await page.getByRole("button", { name: /^Enlarge/ }).click();
  await page.locator("dialog.full img.large-picture").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  assert.deepEqual(wrong, []);
});

test("a message is copied as it was written", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.keyboard.press("g");
  await page.locator(".turn.prompt").first().getByRole("button", { name: "Copy this message" }).click();
  await page.locator(".toast", { hasText: "Message copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), PROMPT);
  await page.locator(".turn.answer").first().getByRole("button", { name: "Copy this message" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("See [the docs]"));
  assert.deepEqual(wrong, []);
});

test("`/` finds within the session, from hit to hit", async (t) => {
  const { claude } = made(t);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${SESSION}`);
  await page.waitForSelector(".turn.answer");
  await page.keyboard.press("/");
  const field = page.getByRole("searchbox", { name: "Find in this session" });
  await field.fill("needle");
  await page.locator(".find-bar [role=status]", { hasText: "1" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".find-bar [role=status]", { hasText: "1 of 1" }).waitFor();
  await page.locator(".row.hit", { hasText: "the needle is here" }).waitFor();
  await field.fill("nowhere to be found");
  await page.locator(".find-bar [role=status]", { hasText: "no matches" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".find-bar"));
  assert.deepEqual(wrong, []);
});
