// Hostile values in every field, and more of everything than anybody wrote: each case is a session of its own.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { line } from "./made.mjs";
import { open, scratch, serve } from "./page.mjs";
import { BROKEN, isSound } from "./sound.mjs";

const SCRIPT = `<script>${BROKEN}</script>`;
const IMG = `<img src=x onerror=${BROKEN}>`;
const ATTRIBUTE = `" onmouseover=${BROKEN} autofocus onfocus=${BROKEN} x="`;
const SVG = Buffer.from(`<svg xmlns='http://www.w3.org/2000/svg'>${SCRIPT}</svg>`).toString("base64");

const prompt = (text, more) => (session) => [line(1, null, "user", text, { session, more })];
const reply = (content, more) => (session) => [
  line(1, null, "user", "hello", { session }),
  line(2, 1, "assistant", content, { session, more }),
];
/** A reply that calls a tool, and what came back. */
const call =
  (name, input, result, more = {}) =>
  (session) => [
    line(1, null, "user", "hello", { session }),
    line(2, 1, "assistant", [{ type: "tool_use", id: "t1", name, input }], { session }),
    line(3, 2, "user", [{ type: "tool_result", tool_use_id: "t1", content: result, ...more.block }], {
      session,
      more: more.record,
    }),
  ];
const image = (source) => reply([{ type: "image", source }]);
/** Changes the text of finished lines: what no JSON writer would write. */
const written = (make, change) => (session) => make(session).map(change);
const nested = (depth) => JSON.parse(`${'{"a":'.repeat(depth)}${JSON.stringify(IMG)}${"}".repeat(depth)}`);

const CASES = {
  "a title that is a script": (session) => [
    ...prompt("hello")(session),
    JSON.stringify({ type: "custom-title", customTitle: `${IMG}\u202E${"title ".repeat(2000)}`, sessionId: session }),
  ],
  "a summary that closes the document": (session) => [
    ...prompt("hello")(session),
    JSON.stringify({
      type: "summary",
      summary: `</title></head>${SCRIPT}`,
      leafUuid: JSON.parse(line(1, null, "user", "x", { session })).uuid,
    }),
  ],
  "a directory with markup and line ends": prompt("hello", { cwd: `/tmp/${IMG}\n\r\u2028/${"x".repeat(5000)}` }),
  "a git branch named like a prototype": prompt("hello", { gitBranch: "__proto__" }),
  "a version that is markup": prompt("hello", { version: `2.1.240${SCRIPT}` }),
  "times that are none": (session) =>
    ["not a time", "+275760-09-13T00:00:00.001Z", "-271821-04-20T00:00:00Z", "2026-13-45T99:99:99Z", "", IMG].map(
      (timestamp, n) => line(n + 1, n || null, n % 2 ? "assistant" : "user", "hello", { session, more: { timestamp } }),
    ),
  "models named like parts of an object": (session) =>
    ["__proto__", "constructor", "toString", "hasOwnProperty", IMG].map((model, n) =>
      line(n + 1, n || null, "assistant", `from ${model}`, { session }).replace(
        '"claude-opus-5"',
        JSON.stringify(model),
      ),
    ),
  "usage that cannot be": written(reply("hello"), (text) =>
    text
      .replace('"input_tokens":100', '"input_tokens":-1e308')
      .replace('"output_tokens":50', '"output_tokens":"<b>50</b>"')
      .replace('"cache_read_input_tokens":900', '"cache_read_input_tokens":1e400'),
  ),
  "a tool named like a script": call(IMG, { [IMG]: IMG, [ATTRIBUTE]: ATTRIBUTE }, IMG),
  "keys of prototypes": written(call("mcp__x__y", { marker: 1 }, "ok"), (text) =>
    text.replace('{"marker":1}', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  ),
  "input five hundred levels deep": call("mcp__deep__deep", nested(500), "ok"),
  "a result of a hundred thousand lines": call("Bash", { command: "yes" }, "yes\n".repeat(100_000)),
  "output that moves the cursor and sets links": call(
    "Bash",
    { command: `echo ${SCRIPT}` },
    `\u001b[2J\u001b[H\u001b[31m${IMG}\u001b]8;;javascript:${BROKEN}\u0007x\u001b]8;;\u0007\u001b[?1049h\u009b31m\u001bP${SCRIPT}\u001b\\`,
  ),
  "a patch of scripts": call(
    "Edit",
    { file_path: `/tmp/${IMG}`, old_string: SCRIPT, new_string: `</code></pre>${SCRIPT}` },
    "done",
    {
      record: {
        toolUseResult: {
          filePath: `/tmp/${IMG}`,
          structuredPatch: [
            { oldStart: -1, oldLines: 1e9, newStart: 1, newLines: 1, lines: [`-${SCRIPT}`, `+${IMG}`] },
          ],
        },
      },
    },
  ),
  "names of files that read backwards": call(
    "Write",
    { file_path: `/tmp/\u202Egpj.exe\u2066\u0000${ATTRIBUTE}`, content: IMG },
    "written",
  ),
  "a list of things to do": call("TodoWrite", { todos: [{ content: SCRIPT, status: IMG, activeForm: IMG }] }, "ok"),
  "a question with answers of markup": call(
    "AskUserQuestion",
    { questions: [{ question: IMG, header: SCRIPT, options: [{ label: IMG, description: SCRIPT }] }] },
    IMG,
  ),
  "a plan": call("ExitPlanMode", { plan: `# ${IMG}\n\n${SCRIPT}\n\n[x](javascript:${BROKEN})` }, "approved"),
  "an agent that is called by a script": call("Task", { description: IMG, subagent_type: SCRIPT, prompt: IMG }, IMG),
  "an error as a result": call("Bash", { command: "x" }, [{ type: "text", text: SCRIPT }], {
    block: { is_error: true },
  }),
  "a picture that is a page": image({ type: "base64", media_type: "text/html", data: SVG }),
  "a picture that is a drawing with a script": image({ type: "base64", media_type: "image/svg+xml", data: SVG }),
  "a picture of another machine": image({ type: "url", url: "https://evil.example/p.png" }),
  "a picture that is not one": image({ type: "base64", media_type: "image/png", data: "AAAA%%%<>" }),
  "a command of scripts": prompt(
    `<command-name>${IMG}</command-name><command-message>${SCRIPT}</command-message><command-args>${ATTRIBUTE}</command-args>`,
  ),
  "output of a command": prompt(`<local-command-stdout>${SCRIPT}\u001b[31m${IMG}</local-command-stdout>`),
  "thinking in markup": reply([{ type: "thinking", thinking: `${SCRIPT}\n\n${IMG}`, signature: IMG }]),
  "lone surrogates and null bytes": written(prompt("MARK"), (text) =>
    text.replace("MARK", "\\ud800 \\udc00\\ud83d \\u0000 \\u001b \\uffff \\ufeff"),
  ),
  "a word of a million letters": prompt("W".repeat(1_000_000)),
  "a block of a hundred thousand lines": reply(`\`\`\`rust\n${"let tea = 1; // <b>\n".repeat(100_000)}\`\`\``),
  "a table of two hundred columns": reply(
    `|${" a |".repeat(200)}\n|${"--|".repeat(200)}\n${`|${` ${IMG} |`.repeat(200)}\n`.repeat(100)}`,
  ),
  "quotes and lists two thousand deep": reply(
    `${"> ".repeat(2000)}x\n\n${Array.from({ length: 500 }, (_, n) => `${" ".repeat(2 * n)}- x`).join("\n")}`,
  ),
  "emphasis that never ends": reply(`${"*_".repeat(20_000)}x${"[".repeat(20_000)}${"`".repeat(9999)}`),
  "eight hundred branches with one text": (session) => [
    line(1, null, "user", "start", { session }),
    ...Array.from({ length: 800 }, (_, n) => line(n + 2, 1, "user", IMG, { session })),
  ],
  "a message that is its own parent": (session) => [
    line(1, 2, "user", "first", { session }),
    line(2, 1, "assistant", IMG, { session }),
    line(3, 3, "user", SCRIPT, { session }),
  ],
};

test("hostile values in every field, and too much of everything", async (t) => {
  const claude = join(scratch(t), "claude");
  const project = join(claude, "projects", "-constructor-..-%2e%2e");
  mkdirSync(project, { recursive: true });
  const cases = Object.entries(CASES).map(([name, make], n) => {
    const session = `0a1b2c3d-0000-4000-8000-${String(n).padStart(12, "f")}`;
    writeFileSync(join(project, `${session}.jsonl`), `${make(session).join("\n")}\n`);
    return { name, session };
  });
  assert.ok(cases.length >= 30);
  const { page, go, wrong } = await open(t, await serve(t, claude));
  // What is not there, such as a picture that is none, is answered so.
  const unexpected = () => wrong.filter((one) => !/status of 40[034]/.test(one));
  for (const { name, session } of cases) {
    await go(`/s/${session}`);
    await page.locator(".turn, .session .empty").first().waitFor();
    // It can be read: what is folded opens, the panels come, and the keys are heard.
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await isSound(page, name);
    for (const panel of ["Outline", "Tree", "Details"]) {
      const button = page.locator(".session-head").getByRole("button", { name: panel, exact: true });
      if ((await button.getAttribute("aria-pressed")) !== "true") await button.click();
      await page.locator(`aside[aria-label="${panel}"]`).waitFor();
      await isSound(page, `${name}: ${panel}`);
    }
    assert.deepEqual(unexpected(), [], name);
  }
  for (const [path, there] of [
    ["/", ".sessions li"],
    ["/usage?days=all", ".page"],
    ["/usage?days=all&by=project", ".page"],
    ["/search?q=script", ".hits li"],
    ["/stats", ".bars tr"],
    [`/p/${encodeURIComponent("-constructor-..-%2e%2e")}`, ".sessions li"],
    ["/s/__proto__", ".failure-box"],
    ["/s/..%2f..%2fetc%2fpasswd", "h1:has-text('Request refused')"],
  ]) {
    await go(path);
    await page.locator(there).first().waitFor();
    await isSound(page, path);
  }
  assert.deepEqual(unexpected(), []);
});
