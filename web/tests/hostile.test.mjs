// A history that tries to break out: nothing runs, nothing is loaded, the page stays usable.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "node:test";
import { history as made, line } from "./made.mjs";
import { open, scratch, serve, walk } from "./page.mjs";
import { BROKEN, isSound, onlySafeLinks } from "./sound.mjs";

const EVIL = [
  "<script>globalThis.broken = 1</script>",
  "<img src=x onerror='globalThis.broken = 1'>",
  "<svg onload='globalThis.broken = 1'><animate onbegin='globalThis.broken = 1' attributeName=x dur=1s>",
  "[go](javascript:globalThis.broken=1) ![p](https://evil.example/p.png) <https://evil.example> [x](data:text/html,<script>globalThis.broken=1</script>)",
  "<style>*{display:none}</style><link rel=stylesheet href=https://evil.example/x.css>",
  "<iframe srcdoc='<script>parent.broken=1</script>'></iframe><meta http-equiv=refresh content='0;url=https://evil.example'>",
  "<form action=https://evil.example><button>x</button></form><base href=https://evil.example>",
  '```html"><script>globalThis.broken = 1</script>\n</code></pre><script>globalThis.broken = 1</script>\n```',
  "\u001b]0;evil\u0007\u202Egnp.exe \u0000 \uD800",
  "| a |\n|--:|\n| <td style='background:url(https://evil.example)'> |",
].join("\n\n");

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SVG = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>parent.broken=1</script></svg>").toString(
  "base64",
);

const AGENT = "e0000001";

function history(dir) {
  const project = join(dir, "projects", "-tmp-<img src=x onerror=globalThis.broken=1>".replaceAll("/", "-"));
  mkdirSync(project, { recursive: true });
  const session = "0a1b2c3d-0000-4000-8000-000000000000";
  let n = 0;
  const main = [];
  const lines = main;
  const add = (parent, more, lines = main) => {
    const uuid = `0a1b2c3d-0000-4000-8000-${String(++n).padStart(12, "0")}`;
    lines.push(
      JSON.stringify({
        parentUuid: parent,
        sessionId: session,
        cwd: `/tmp/${EVIL.slice(0, 60)}`,
        gitBranch: "<b>x</b>",
        version: "2.1.240",
        uuid,
        timestamp: new Date(1.79e12 + n * 1000).toISOString(),
        ...more,
      }),
    );
    return uuid;
  };
  const user = (parent, content, more) => add(parent, { type: "user", message: { role: "user", content }, ...more });
  const said = (content) => ({
    type: "assistant",
    message: {
      id: `m${n}`,
      role: "assistant",
      model: "<img src=x onerror=globalThis.broken=1>",
      usage: { input_tokens: 7, output_tokens: 5 },
      content,
    },
  });
  const claude = (parent, content) => add(parent, said(content));
  let deep = "1";
  for (let level = 0; level < 2000; level++) deep = `[${deep}]`;
  let at = user(null, EVIL);
  at = claude(at, [
    { type: "text", text: EVIL },
    { type: "thinking", thinking: EVIL, signature: "x" },
  ]);
  at = user(at, [
    { type: "text", text: "pictures" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: SVG } },
    { type: "image", source: { type: "base64", media_type: "text/html", data: SVG } },
    { type: "image", source: { type: "url", url: "https://evil.example/x.png" } },
  ]);
  const tools = [
    ["Bash", { command: EVIL }],
    ["Edit", { file_path: `/tmp/${EVIL}`, old_string: "<b>", new_string: EVIL }],
    ["Write", { file_path: "/tmp/x.html", content: EVIL }],
    [`mcp__<script>__${EVIL.slice(0, 40)}`, { x: EVIL }],
    ["WebFetch", { url: "javascript:globalThis.broken=1", prompt: EVIL }],
    ["TodoWrite", { todos: [{ content: EVIL, status: "<b>" }] }],
    ["Task", { description: EVIL, prompt: EVIL, subagent_type: EVIL }],
  ];
  tools.forEach(([name, input], index) => {
    at = claude(at, [{ type: "tool_use", id: `t${index}`, name, input }]);
    at = user(
      at,
      [{ type: "tool_result", tool_use_id: `t${index}`, content: EVIL, is_error: index % 2 === 1 }],
      name === "Task" ? { toolUseResult: { status: "completed", agentId: AGENT, prompt: EVIL } } : {},
    );
  });
  // An agent that calls itself.
  const inside = [];
  const side = { isSidechain: true, agentId: AGENT };
  let below = add(null, { ...side, type: "user", message: { role: "user", content: EVIL } }, inside);
  below = add(
    below,
    { ...side, ...said([{ type: "tool_use", id: "a1", name: "Task", input: { description: EVIL, prompt: EVIL } }]) },
    inside,
  );
  add(
    below,
    {
      ...side,
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "a1", content: EVIL }] },
      toolUseResult: { status: "completed", agentId: AGENT, prompt: EVIL },
    },
    inside,
  );
  writeFileSync(join(project, `agent-${AGENT}.jsonl`), `${inside.join("\n")}\n`);
  const fork = at;
  claude(user(fork, `another way ${EVIL}`), [{ type: "text", text: EVIL }]);
  at = user(at, "x".repeat(2_000_000));
  lines.push(
    `{"parentUuid":"${at}","type":"assistant","uuid":"deep","timestamp":"2026-10-01T00:00:00.000Z","message":{"id":"deep","role":"assistant","content":[{"type":"tool_use","id":"d","name":"Deep","input":{"a":${deep}}}]}}`,
  );
  at = user(at, "still here");
  lines.push(JSON.stringify({ type: "custom-title", customTitle: EVIL, sessionId: session }));
  lines.push('{"type":"user","broken', "\u0000\u0000\u0000");
  writeFileSync(join(project, `${session}.jsonl`), `${lines.join("\n")}\n`);
  return { session, project: project.split("/").pop() };
}

/** Each is a prompt and a reply of its own. */
const CASES = [
  "[a](java&#115;cript:" + BROKEN + ") [b](java\tscript:" + BROKEN + ") [c](\u0001javascript:" + BROKEN + ")",
  "[a](JaVaScRiPt:" + BROKEN + ") [b](vbscript:x) [c](data:image/svg+xml,<svg onload=" + BROKEN + ">)",
  "[a](blob:https://evil.example/1) [b](filesystem:x) [c](//evil.example) [d](/api/log) [e](?token=x) [f](#main)",
  "[a](https://good.example\\\\@evil.example) https://good.example\\@evil.example https://good.example@evil.example",
  '[a](https://evil.example/"onmouseover="' + BROKEN + ") https://evil.example/'\"><img/src/onerror=" + BROKEN + ">",
  '[a](https://evil.example "title\\" onfocus=' + BROKEN + ' autofocus="")',
  "[x]\n\n[x]: javascript:" + BROKEN + ' "t"\n\n[![i](javascript:1)](javascript:' + BROKEN + ")",
  '![" onerror=' + BROKEN + ' x="](https://evil.example/p.png) ![p](data:image/svg+xml,<svg/onload=' + BROKEN + ">)",
  "| <img src=x onerror=" +
    BROKEN +
    '> | " onclick=' +
    BROKEN +
    " |\n|:--|--:|\n| `</td><script>" +
    BROKEN +
    "</script>` | x |",
  "# h {#id .class onclick=" + BROKEN + "}\n\n## </h2><script>" + BROKEN + "</script>",
  "[^1]\n\n[^1]: <script>" + BROKEN + "</script>\n\n- [ ] <input onfocus=" + BROKEN + " autofocus>",
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=" + BROKEN + "&gt;'>",
  "<svg><foreignObject><iframe srcdoc='<script>parent.broken=1</script>'></iframe></foreignObject></svg>",
  "<template shadowrootmode=open><script>" + BROKEN + "</script></template><slot onslotchange=" + BROKEN + ">",
  "<!--><img src=x onerror=" + BROKEN + ">--> <![CDATA[<script>" + BROKEN + "</script>]]> <?xml-stylesheet href=x?>",
  "<scr\u0000ipt>" + BROKEN + "</scr\u0000ipt> <\u0000img src=x onerror=" + BROKEN + ">",
  "<a href=https://evil.example ping=https://evil.example download onclick=" +
    BROKEN +
    ">x</a> <area href=javascript:1>",
  "<style>@import 'https://evil.example/x.css'; .prose{background:url(https://evil.example)}</style>",
  "\u202Ehttps://evil.example/\u202Cgnp.txt \u2066https://evil.example\u2069 \u200B\u200D\uFEFF",
  "\u001b]8;;javascript:" + BROKEN + "\u0007link\u001b]8;;\u0007 \u001b[31m\u001b]52;c;ZXZpbA==\u0007",
  "https://evil.example/" + "a".repeat(20_000),
  "https://e.example/1 ".repeat(3_000),
  '```js" onmouseover=' + BROKEN + ' x="\n1\n```\n\n~~~</code><script>' + BROKEN + "</script>\nx\n~~~",
  "> ".repeat(400) + "deep\n\n" + "- ".repeat(300) + "deep",
  "{{constructor.constructor('" + BROKEN + "')()}} ${" + BROKEN + "} <%= " + BROKEN + " %> #{" + BROKEN + "}",
  "Z\u0351\u036B\u0343a\u0363\u0367l\u0358\u0341g\u0315o ".repeat(500),
  "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u{1F3FD} \uD83D \uDC00 \u{E0041}\u{E0042} 漢字かな交じり文 العربية עברית",
  "<base target=_top><meta http-equiv=Content-Security-Policy content=''><object data=javascript:1></object>",
  "<dialog open onclose=" + BROKEN + ">x</dialog><details open ontoggle=" + BROKEN + "><summary>x</summary></details>",
  "<video autoplay onplay=" + BROKEN + " src=https://evil.example/v></video><audio src=x onerror=" + BROKEN + ">",
  "<button popovertarget=x commandfor=main command=close>x</button><div id=main popover>y</div>",
  "<form id=app><input name=attributes><input name=textContent></form><img name=getElementById>",
  // Lists leave the marks of Markdown out, which must not make a tag of what was none.
  "<**img src=x onerror=" + BROKEN + "**> <scr`ipt>" + BROKEN + "</scr`ipt> <**svg** `onload=" + BROKEN + "`>",
  "# > - * + ".repeat(4_000) + "</title></textarea><script>" + BROKEN + "</script>",
  "**".repeat(20_000) + "a" + "** b".repeat(5_000) + "`".repeat(20_000),
  "[a](ms-msdt:/id) [b](intent://evil.example#Intent;end) [c](view-source:https://evil.example) [d](mailto:x) [e](file:///etc/passwd)",
  "[a](https://good.example%2F@evil.example) [b](https:evil.example) [c](http:\\\\evil.example) [d](https://evil。example) [e](\\\\evil.example\\x)",
  "<plaintext><xmp><script>" + BROKEN + "</script></xmp><noscript><img src=x onerror=" + BROKEN + "></noscript>",
  '<a data-address="javascript:' + BROKEN + '" data-more data-n="1">x</a><div class="row last" data-at="0">y</div>',
  "\u{E0001}\u{E0073}\u{E007F}\uFFF9a\uFFFAb\uFFFB \u061C\u200F\u2067" + "\u202E".repeat(500) + " \uFDFD".repeat(500),
];

test("more hostile cases, each as a prompt and a reply", async (t) => {
  const session = "0a1b2c3d-0000-4000-8000-0000000000ff";
  const lines = [];
  let parent = null;
  CASES.forEach((text, n) => {
    lines.push(line(2 * n + 1, parent, "user", text, { session }));
    const reply = line(2 * n + 2, 2 * n + 1, "assistant", text, { session });
    lines.push(reply.replace("claude-opus-5", "m<img src=x onerror=1>"));
    parent = 2 * n + 2;
  });
  lines.push(
    line(
      900,
      parent,
      "assistant",
      [{ type: "tool_use", id: "t", name: "__proto__", input: { constructor: CASES[0] } }],
      {
        session,
      },
    ),
  );
  const title = `**Tea** <scr\`ipt>${BROKEN}</scr\`ipt> <**img src=x onerror=${BROKEN}**>`;
  lines.push(JSON.stringify({ type: "custom-title", customTitle: title, sessionId: session }));
  const { claude } = made(t, lines, { session, project: "-__proto__-constructor" });
  const { page, go, wrong } = await open(t, await serve(t, claude));
  await go(`/s/${session}`);
  await page
    .locator(".outline li")
    .nth(CASES.length - 1)
    .waitFor();
  const sound = (where) => isSound(page, where);
  await page.keyboard.press("g");
  await page.waitForSelector(".row[data-at='0'] .said");
  for (let n = 0; n < 2 * CASES.length; n += 1) {
    await sound(`message ${n}`);
    await page.keyboard.press("j");
    await page.waitForTimeout(30);
  }
  // A note is text, too.
  await page.getByRole("button", { name: "Pin, tags, note" }).click();
  await page.locator("dialog").getByLabel("Note").fill(CASES.slice(0, 6).join(" "));
  await page.locator("dialog").getByLabel("Tags").fill("<img/src=x/onerror=1>");
  await page.locator("dialog").getByRole("button", { name: "Save" }).click();
  await page.locator(".session-head .note-text").waitFor();
  await sound("note");
  for (const panel of ["Trace", "Details", "Tree"]) {
    await page.getByRole("button", { name: panel, exact: true }).click();
    await page.waitForTimeout(150);
    await sound(panel);
  }
  await go("/usage?days=all");
  await page.waitForSelector(".chart .bar");
  await sound("usage");
  await go("/");
  await page.waitForSelector(".sessions");
  await sound("overview");
  const plain = title.replace(/[`]|[*][*]/g, "");
  assert.equal(await page.locator("main .sessions .title").first().textContent(), plain);
  assert.deepEqual(wrong, []);
});

test("a hostile history", async (t) => {
  const claude = join(scratch(t), "claude");
  const { session, project } = history(claude);
  const server = await serve(t, claude);
  const { page, go, wrong } = await open(t, server);
  const sound = async (where) => {
    assert.equal(await page.evaluate(() => globalThis.broken), undefined, where);
    assert.equal(
      await page.evaluate(
        () =>
          document.querySelectorAll(
            "script:not([src]), iframe, object, embed, base, form[action], .prose style, .prose link, #main svg script, .prose img, [onerror], [onclick], [onload], [style*=url]",
          ).length,
      ),
      0,
      where,
    );
    await onlySafeLinks(page, where);
    assert.ok(page.url().startsWith(server.origin), where);
  };
  await sound("overview");
  await go(`/p/${encodeURIComponent(project)}`);
  await page.waitForSelector(".sessions li");
  await sound("project");
  await go(`/s/${session}`);
  await page.locator(".said", { hasText: "still here" }).waitFor();
  await page.keyboard.press("g");
  await page.waitForSelector(".row[data-at='0'] .said");
  await sound("session");
  // Opens everything there is, from the first to the last message.
  const count = await page.evaluate(
    async (address) => (await (await ask(address)).json()).count,
    `/api/sessions/${session}/path`,
  );
  for (let at = 0; at < count; at++) {
    await page.keyboard.press("o");
    await page.waitForTimeout(60);
    await page.keyboard.press("j");
  }
  await page.waitForTimeout(300);
  await sound("opened");
  for (const link of await page.locator(".link[data-address]").all()) if (await link.isVisible()) await link.click();
  await sound("clicked");
  await page.keyboard.press("i");
  await page.waitForSelector(".details");
  await sound("details");
  // What two branches come to when they are merged.
  await page.locator(".conversations input").nth(0).check();
  await page.locator(".conversations input").nth(1).check();
  await page.getByRole("button", { name: "Merge @" }).click();
  await sound("merge");
  await page.getByRole("button", { name: "Show the plan" }).click();
  await page.locator("dialog[open] .exchanges", { hasText: "another way" }).waitFor();
  await sound("merge planned");
  await page.keyboard.press("Escape");
  // An agent inside an agent.
  await walk(page, "details.call.agent");
  const call = page.locator("details.call.agent").first();
  await call.evaluate((one) => {
    one.open = true;
  });
  await call.locator(".agent-fold > summary").first().click();
  const inner = call.locator(".agent-in details.call.agent").first();
  await inner.locator("> summary").click();
  await inner.locator(".agent-fold > summary").first().click();
  await inner.locator(".agent-in .turn.task").first().waitFor();
  await sound("agents");
  await go("/usage");
  await page.waitForSelector(".chart .bar");
  await sound("usage");
  await go("/search?q=broken");
  await page.waitForSelector(".hits li");
  await sound("search");
  await go(`/compare?a=${session}&al=&b=${session}&bl=`);
  await page.waitForSelector(".table");
  await sound("compare");
  // Only pictures that do nothing but draw are sent.
  const kinds = await page.evaluate(async (session) => {
    const path = await (await ask(`/api/sessions/${session}/turns?to=10`)).json();
    const turn = path.turns.find((one) => one.parts.some((part) => part.t === "picture"));
    const answers = await Promise.all(
      [0, 1, 2, 3].map((n) => ask(`/api/sessions/${session}/picture?at=${turn.at}&i=${turn.i}&n=${n}`)),
    );
    return answers.map((answer) => [answer.status, answer.headers.get("content-type")?.split(";")[0]]);
  }, session);
  assert.deepEqual(kinds, [
    [200, "image/png"],
    [404, "application/json"],
    [404, "application/json"],
    [404, "application/json"],
  ]);
  assert.deepEqual(
    wrong.filter((text) => !text.includes("404")),
    [],
  );
});

test("a page of another site gets nothing", async (t) => {
  const claude = join(scratch(t), "claude");
  const { session } = history(claude);
  const server = await serve(t, claude);
  const { page } = await open(t, server);
  // Another port is the same site to a browser; still that page can neither read nor act.
  const foreign = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<title>evil</title>"));
  await new Promise((ready) => foreign.listen(0, "127.0.0.1", ready));
  t.after(() => foreign.close());
  await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
  const answers = await page.evaluate(async (origin) => {
    const tries = [
      fetch(`${origin}/api/projects`, { credentials: "include" }),
      fetch(`${origin}/api/plan`, { method: "POST", credentials: "include", mode: "no-cors", body: "{}" }),
    ];
    return Promise.all(
      tries.map((one) =>
        one.then(
          (answer) => (answer.type === "opaque" ? "opaque" : answer.status),
          () => "refused",
        ),
      ),
    );
  }, server.origin);
  assert.equal(answers[0], "refused");
  const log = server.log.join("");
  assert.match(log, /refused GET \/api\/projects: the request comes from another site/);
  assert.match(log, /refused POST \/api\/plan: the request comes from another site/);
  assert.ok(session);
});
