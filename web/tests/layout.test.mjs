// Long names and narrow windows: nothing is cut off or wider than the window, and fingers hit the buttons.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { line, uuid } from "./made.mjs";
import { demo, id, open, rename, scratch, serve } from "./page.mjs";

const PHONE = { width: 390, height: 844 };
const LONG = "x".repeat(300);

/** Sessions of one history copied eight times, in a directory with a long name, with a tool that has one, too. */
function named(t) {
  const claude = join(scratch(t), "claude");
  const sessions = Array.from({ length: 8 }, (_, n) => uuid(1000 + n));
  const project = `-home-${"x".repeat(180)}`;
  const dir = join(claude, "projects", project);
  mkdirSync(dir, { recursive: true });
  for (const session of sessions) {
    const more = { cwd: `/home/${LONG}`, gitBranch: `feature/${LONG}` };
    const call = { type: "tool_use", id: "t1", name: `mcp__${LONG}__${LONG}`, input: { q: LONG } };
    const result = { type: "tool_result", tool_use_id: "t1", content: LONG };
    const lines = [
      line(1, null, "user", `hello ${LONG}`, { session, more }),
      line(2, 1, "assistant", [call], { session, more }),
      line(3, 2, "user", [result], { session, more }),
    ];
    writeFileSync(join(dir, `${session}.jsonl`), `${lines.join("\n")}\n`);
  }
  return { claude, project, session: sessions[0] };
}

/** Parts that are wider than they may be: a window, or a box that only scrolls up and down. */
const tooWide = (page) =>
  page
    .locator("html, #main, .page, .session, .session-head, .scroll, .panel, .card, .call > summary, dialog[open]")
    .evaluateAll((parts) =>
      parts
        .filter((part) => {
          const { left, right, width } = part.getBoundingClientRect();
          return width > 0 && (right > innerWidth + 1 || left < -1 || part.scrollWidth > part.clientWidth + 1);
        })
        .map((part) => `${part.tagName}.${part.className}: ${part.scrollWidth} in ${part.clientWidth}`),
    );

for (const [name, window] of [
  ["phone", PHONE],
  ["wide window", { width: 1440, height: 900 }],
]) {
  test(`long names, ${name}`, async (t) => {
    const { claude, project, session } = named(t);
    const { page, go, wrong } = await open(t, await serve(t, claude), window);
    for (const [path, there] of [
      ["/", ".sessions li"],
      [`/s/${session}`, ".call"],
      ["/search?q=hello", ".hits li"],
      ["/usage?days=all&by=project", ".chart .bar"],
      ["/stats", ".bars tr"],
      [`/p/${encodeURIComponent(project)}`, ".sessions li"],
      [`/f/${session}?at=`, ".page"],
      [`/compare?a=${session}&b=${session}`, ".table"],
      [`/s/${LONG}`, ".failure-box"],
    ]) {
      await go(path);
      await page.locator(there).first().waitFor();
      assert.deepEqual(await tooWide(page), [], path);
    }
    await go(`/s/${session}`);
    await page.locator(".session-head .lineage", { hasText: "more session" }).waitFor();
    for (const panel of ["Outline", "Tree", "Trace", "Details"]) {
      const button = page.locator(".session-head").getByRole("button", { name: panel, exact: true });
      if ((await button.getAttribute("aria-pressed")) !== "true") await button.click();
      await page.locator(`aside[aria-label="${panel}"]`).waitFor();
      assert.deepEqual(await tooWide(page), [], panel);
    }
    await page.keyboard.press("Control+k");
    await page.locator(".palette li").first().waitFor();
    assert.deepEqual(await tooWide(page), [], "palette");
    assert.deepEqual(
      wrong.filter((one) => !/status of 404/.test(one)),
      [],
    );
  });
}

test("the buttons of a session are in one row on a phone, large enough and equally high", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude), PHONE);
  await go(`/s/${id(claude, "7ea9")}`);
  await page.locator(".turn.answer").first().waitFor();
  const boxes = await page.locator(".session-head .tools button").evaluateAll((all) =>
    all.map((one) => {
      const { top, width, height } = one.getBoundingClientRect();
      return { top: Math.round(top), height: Math.round(height), isWide: width >= 28 };
    }),
  );
  assert.ok(boxes.length >= 10);
  assert.equal(new Set(boxes.map(({ top, height }) => `${top} ${height}`)).size, 1, JSON.stringify(boxes));
  assert.ok(
    boxes.every(({ height, isWide }) => height >= 30 && isWide),
    JSON.stringify(boxes),
  );
  assert.deepEqual(wrong, []);
});

test("what is being loaded has room, and the times of a trace are not cut", async (t) => {
  const session = uuid(2000);
  const claude = join(scratch(t), "claude");
  const dir = join(claude, "projects", "-home-dev-teapot");
  mkdirSync(dir, { recursive: true });
  // Many short exchanges, hours apart: each is a part of its own.
  const lines = Array.from({ length: 24 }, (_, n) =>
    line(n + 1, n || null, n % 2 ? "assistant" : "user", `message ${n}`, {
      session,
      start: Date.parse("2025-03-01T08:00:00Z") + Math.floor(n / 2) * 4 * 3_600_000,
    }),
  );
  writeFileSync(join(dir, `${session}.jsonl`), `${lines.join("\n")}\n`);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page.getByRole("button", { name: "Trace" }).click();
  await page.locator(".trace .span").nth(11).waitFor();
  const times = await page.locator(".trace svg").evaluate((svg) => {
    const box = svg.getBoundingClientRect();
    const drawn = [...svg.querySelectorAll("text:not(.lane-name)")].filter((text) => text.textContent);
    return drawn.map((text) => {
      const { left, right } = text.getBoundingClientRect();
      return [Math.round(left - box.left), Math.round(right - box.left), Math.ceil(box.width)];
    });
  });
  assert.ok(times.length >= 2);
  times.forEach(([left, right, width], n) => {
    assert.ok(right <= width, `a time ends at ${right} of ${width}`);
    if (n > 0) assert.ok(left >= times[n - 1][1], "two times overlap");
  });
  assert.deepEqual(wrong, []);
});

test("on a phone a message at the bottom keeps its button in one piece", async (t) => {
  const claude = demo(t);
  const { page, go, wrong } = await open(t, await serve(t, claude), PHONE);
  await go(`/s/${id(claude, "7ea9")}`);
  await page.locator(".turn.answer").first().waitFor();
  await rename(page, "A new title for the session that is much longer than the one before");
  const button = page.locator(".toast").getByRole("button", { name: "Undo" });
  const { height, x, width } = await button.boundingBox();
  assert.ok(height < 34 && x + width <= PHONE.width, `${height} px high, up to ${x + width}`);
  assert.deepEqual(wrong, []);
});

for (const [name, window] of [
  ["phone", PHONE],
  ["wide window", { width: 1440, height: 900 }],
]) {
  test(`the prompts behind a session do not push its numbers away, ${name}`, async (t) => {
    const claude = demo(t);
    const { page, go, wrong } = await open(t, await serve(t, claude), window);
    await go("/usage?days=all");
    const table = page.getByRole("region", { name: "Sessions", exact: true });
    const width = () => table.evaluate((box) => box.scrollWidth);
    await table.getByRole("button", { name: "Show its messages" }).first().waitFor();
    const before = await width();
    await table
      .getByRole("row", { name: /teapot server/ })
      .getByRole("button", { name: "Show its messages" })
      .click();
    await table.locator(".costly a").first().waitFor();
    assert.equal(await width(), before);
    assert.deepEqual(wrong, []);
  });
}
