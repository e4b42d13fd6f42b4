#!/usr/bin/env node
// Measures the page in a real browser against large histories.
//
//     node bench/page.mjs --corpus DIR [--ramus target/release/ramus] [--word WORD] [--messages 10000]
//
// A corpus is a Claude directory. Opens its largest session, scrolls through its transcript, searches; prints
// Markdown rows. Times are those of the browser: first contentful paint, the first message of the transcript,
// tasks that block it for over 50 ms, and the first hit of a search. Scrolling goes 240 px a frame, from the
// beginning to the end and back again, as often as it takes to pass so many messages (three to four minutes).

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const option = (name, usual) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? usual : process.argv[at + 1]; };
const corpus = option("corpus");
const ramus = option("ramus", join(root, "target/release/ramus"));
const word = option("word", "qzneedleusertextonce");
const messages = Number(option("messages", "10000"));
if (!corpus) { console.error("--corpus DIR is needed"); process.exit(2); }

function largest(dir) {
  let best = { size: 0 };
  for (const project of readdirSync(join(dir, "projects"))) {
    for (const name of readdirSync(join(dir, "projects", project))) {
      const path = join(dir, "projects", project, name);
      const { size } = statSync(path);
      if (name.endsWith(".jsonl") && !name.startsWith("agent-") && size > best.size) best = { id: name.slice(0, -6), size };
    }
  }
  return best;
}

const load = () => readFileSync("/proc/loadavg", "utf8").split(" ").slice(0, 3).join(" ");
const row = (name, value) => console.log(`| ${name} | ${value} |`);
const memory = (pid, what) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`${what}:\\s+(\\d+)`))?.[1] ?? 0) / 1024;

const home = mkdtempSync(join(tmpdir(), "ramus-bench-"));
const server = spawn(ramus, ["--claude-dir", corpus, "serve", "--port", "7800"], { env: { ...process.env, HOME: home, RAMUS_STATE_DIR: join(home, "state") } });
const url = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
const { origin } = new URL(url);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
const page = await context.newPage();
await page.addInitScript(() => { globalThis.ask = (path) => fetch(path, { headers: { authorization: `Bearer ${localStorage.getItem("ramus-token")}` } }); });
await page.goto(url);
await page.waitForSelector(".side section", { timeout: 120_000 });

const session = largest(corpus);
console.log(`\n### ${corpus.split("/").pop()}: a session of ${Math.round(session.size / 1e6)} MB\n\n| what | is |\n|---|---:|`);
const opening = async () => {
  await page.goto("about:blank");
  await page.goto(`${origin}/s/${session.id}`);
  await page.waitForSelector(".turn", { timeout: 120_000 });
  return page.evaluate(() => ({ paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, turn: performance.now() }));
};
const first = await opening();
row("first contentful paint, first time", `${Math.round(first.paint)} ms`);
row("first message there, first time", `${Math.round(first.turn)} ms`);
const again = await opening();
row("first contentful paint, again", `${Math.round(again.paint)} ms`);
row("first message there, again", `${Math.round(again.turn)} ms`);

// Scrolling through from the beginning on, 240 px a frame, which is a fast flick; at an end it turns round.
await page.keyboard.press("g");
await page.waitForTimeout(500);
page.setDefaultTimeout(0);
const scrolled = await page.evaluate(async (messages) => {
  const long = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: false });
  const box = document.querySelector(".scroll");
  const frames = [];
  let last = performance.now();
  let [passed, step, before, turns] = [0, 240, 0, 0];
  for (let n = 0; n < 60_000 && passed < messages; n++) {
    box.scrollTop += step;
    await new Promise((done) => requestAnimationFrame(done));
    const now = performance.now();
    frames.push(now - last);
    last = now;
    const rows = document.querySelectorAll(".row");
    const at = Number(rows[step > 0 ? rows.length - 1 : 0]?.dataset.at ?? before);
    // Only what lies ahead counts, and at an end nothing does.
    passed += Math.max(0, step > 0 ? at - before : before - at);
    before = at;
    const atEnd = step > 0 ? box.scrollTop + box.clientHeight >= box.scrollHeight - 2 : box.scrollTop <= 0;
    if (atEnd) {
      step = -step;
      turns += 1;
      before = Number(rows[step > 0 ? rows.length - 1 : 0]?.dataset.at ?? 0);
    }
  }
  await new Promise((done) => setTimeout(done, 300));
  frames.sort((a, b) => a - b);
  return { long, frames: frames.length, seen: passed, turns, median: frames[frames.length >> 1], most: frames.at(-1), p95: frames[Math.floor(frames.length * 0.95)] };
}, messages);
row("messages scrolled through, frames, turned round", `${scrolled.seen}, ${scrolled.frames}, ${scrolled.turns} times`);
row("frame: median, 95 %", `${scrolled.median.toFixed(1)} ms, ${scrolled.p95.toFixed(1)} ms`);
row("tasks over 50 ms while scrolling", `${scrolled.long.length}${scrolled.long.length ? ` (the longest ${Math.round(Math.max(...scrolled.long))} ms)` : ""}`);

for (const q of [word, "the"]) {
  const hit = await page.evaluate(async (q) => {
    const start = performance.now();
    const response = await ask(`/api/find?q=${q}`);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    let firstHit;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      if (firstHit === undefined && text.includes('"ramus.find/1"')) firstHit = performance.now() - start;
    }
    return { firstHit, all: performance.now() - start };
  }, q);
  row(`search for \`${q}\`: first hit, all`, `${hit.firstHit === undefined ? "none" : `${Math.round(hit.firstHit)} ms`}, ${Math.round(hit.all)} ms`);
}
await page.goto(origin);
await page.waitForSelector(".sessions li", { timeout: 120_000 });
row("server memory: peak, now", `${Math.round(memory(server.pid, "VmHWM"))} MB, ${Math.round(memory(server.pid, "VmRSS"))} MB`);
const used = async () => page.evaluate(async () => { const start = performance.now(); await (await ask("/api/usage")).json(); return Math.round(performance.now() - start); });
row("usage: first time, again", `${await used()} ms, ${await used()} ms`);
row("server memory after usage: peak, now", `${Math.round(memory(server.pid, "VmHWM"))} MB, ${Math.round(memory(server.pid, "VmRSS"))} MB`);
const dist = join(root, "crates/ramus-web/dist");
const files = [join(dist, "index.html"), ...readdirSync(join(dist, "assets")).map((name) => join(dist, "assets", name))];
const sum = (pack) => Math.round(files.reduce((all, file) => all + pack(readFileSync(file)).length, 0) / 1000);
row("the page itself: gzip, brotli", `${sum(gzipSync)} KB, ${sum(brotliCompressSync)} KB`);
row("load average of the machine", load());
await browser.close();
server.kill("SIGINT");
rmSync(home, { recursive: true, force: true });
