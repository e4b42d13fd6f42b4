// Each view in light, dark and on a phone: it is there, it is accessible, and it has its picture taken.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { id, open, serve, shot, walk, workshop } from "./page.mjs";
import { ramus } from "./where.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LOOKS = [
  ["light", { scheme: "light" }],
  ["dark", { scheme: "dark" }],
  ["phone", { width: 390, height: 844 }],
];

function views(claude) {
  const teapot = id(claude, "7ea9");
  const told = spawnSync(ramus, ["--claude-dir", claude, "conversations", "7ea9", "--json"], { encoding: "utf8" });
  const leaves = JSON.parse(told.stdout).conversations.map((one) => one.leaf);
  const project = encodeURIComponent("-home-dev-teapot");
  return [
    ["overview", "/", ".sessions li", []],
    ["project", `/p/${project}`, ".sessions li", []],
    ["session", `/s/${teapot}`, ".turn.answer", []],
    ["session-long-title", `/s/${id(claude, "da7c")}`, ".turn.answer", []],
    ["session-start", `/s/${teapot}`, ".turn.answer", ["g", "click:details.call >> nth=0"]],
    ["session-tree", `/s/${teapot}`, ".turn.answer", ["tree"]],
    ["session-details", `/s/${teapot}`, ".turn.answer", ["i"]],
    ["session-abandoned", `/s/${teapot}?leaf=${leaves[0]}`, ".turn.answer", []],
    ["compare", `/compare?a=${teapot}&al=${leaves[0]}&b=${teapot}&bl=${leaves.at(-2)}`, ".side-column .turn", []],
    ["files", `/f/${teapot}?at=`, ".files .code", []],
    ["search", "/search?q=tea", ".hits li", []],
    ["numbers", "/stats", ".bars tr", []],
    ["usage", "/usage", ".chart .bar", []],
    ["outline", `/s/${teapot}`, ".turn.answer", ["l"]],
    ["trace", `/s/${teapot}`, ".turn.answer", ["T"]],
    ["find", `/s/${teapot}`, ".turn.answer", ["/"]],
    ["note", `/s/${teapot}`, ".turn.answer", ["button:Pin, tags, note"]],
    [
      "merge",
      `/s/${teapot}`,
      ".turn.answer",
      ["i", "check:0", "check:1", "button:Merge @", "button:Show the plan", "see:.plan .exchanges"],
    ],
    ["files-back", `/f/${teapot}?at=`, ".files .code", ["button:Restore them", "see:dialog .file"]],
    [
      "agent",
      `/s/${teapot}`,
      ".turn.answer",
      [
        "j:details.call.agent",
        "click:details.call.agent > summary",
        "click:.agent-fold > summary",
        "see:.agent-in .turn.answer",
      ],
    ],
    ["log", "/log", ".card, .log", []],
    ["keys", "/", ".sessions li", ["?"]],
    ["palette", "/", ".sessions li", ["Control+k"]],
  ];
}

for (const [look, options] of LOOKS) {
  test(`every view, ${look}`, async (t) => {
    const { claude } = workshop(t);
    const server = await serve(t, claude);
    const { page, go, wrong } = await open(t, server, { ...options, csp: false });
    const violations = [];
    for (const [name, path, sign, acts] of views(claude)) {
      await go(path);
      await page.waitForSelector(sign);
      for (const act of acts) {
        if (act === "tree")
          await page
            .locator("button[aria-pressed=false]", { hasText: "Tree" })
            .click({ timeout: 500 })
            .catch(() => {});
        else if (act.startsWith("click:")) await page.locator(act.slice(6)).first().click();
        else if (act.startsWith("j:")) await walk(page, act.slice(2));
        else if (act.startsWith("check:"))
          await page
            .locator(".conversations input")
            .nth(Number(act.slice(6)))
            .check();
        else if (act.startsWith("button:"))
          await page
            .getByRole("button", { name: act.slice(7) })
            .first()
            .click();
        else if (act.startsWith("see:")) await page.locator(act.slice(4)).first().waitFor();
        else await page.keyboard.press(act);
      }
      await page.waitForTimeout(250);
      await shot(page, `${name}-${look}`);
      const wide = await page.evaluate(() => {
        const parts = [
          document.documentElement,
          ...document.querySelectorAll("#main, .session, .session-head, .session-in, .page, .scroll"),
        ];
        return Math.max(
          ...parts.map((part) =>
            Math.max(part.scrollWidth - part.clientWidth, part.getBoundingClientRect().right - innerWidth),
          ),
        );
      });
      assert.ok(wide <= 0, `${name} is ${wide} px wider than the window`);
      await page.evaluate(axe);
      const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
      const told = bad.map(
        (one) =>
          `${one.id}: ${one.nodes
            .slice(0, 3)
            .map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`)
            .join("\n    ")}`,
      );
      violations.push(...told.map((one) => `${name}: ${one}`));
    }
    assert.deepEqual(violations, []);
    assert.deepEqual(wrong, []);
  });
}
