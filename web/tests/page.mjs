// A server, a browser and a page for a test; all of them end with it.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium as chromiums, firefox as firefoxes } from "playwright-core";
import { chromium, firefox, inFirefox, ramus, shots } from "./where.mjs";

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--force-prefers-reduced-motion",
];

/** What Firefox would otherwise ask the network for, and the same calm as in Chromium. */
const QUIET_FIREFOX = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.safebrowsing.downloads.remote.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "captivedetect.canonicalURL": "",
  "datareporting.healthreport.uploadEnabled": false,
  "dom.events.testing.asyncClipboard": true,
  "extensions.getAddons.cache.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "",
  "toolkit.telemetry.enabled": false,
  "ui.prefersReducedMotion": 1,
};

let running;

/** The browser of a file of tests: starting one costs more than most tests. */
function browser() {
  running ??= inFirefox ? launchFirefox() : chromiums.launch({ executablePath: chromium, args: QUIET });
  return running;
}
after(async () => (await running)?.close());

async function launchFirefox() {
  const browser = await firefoxes.launch({
    channel: "moz-firefox",
    executablePath: firefox,
    firefoxUserPrefs: QUIET_FIREFOX,
  });
  // A Firefox of a distribution is spoken to by WebDriver BiDi. Which media it imitates cannot be told to it yet.
  const session = Object.getPrototypeOf(browser._connection.toImpl(browser)._browserSession);
  const send = session.send;
  session.send = function (method, params) {
    return send.call(this, method, params).catch((error) => {
      if (method === "emulation.setMediaFeaturesOverride" && /unknown command/.test(error.message)) return {};
      throw error;
    });
  };
  return browser;
}

const madeDir = () => mkdtempSync(join(tmpdir(), "ramus-page-"));
const remove = (dir) => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });

/** A directory that is gone after the test. */
export function scratch(t) {
  const dir = madeDir();
  t.after(() => remove(dir));
  return dir;
}

/** The demo history in a directory of its own. */
export function demo(t) {
  const dir = join(scratch(t), "claude");
  const made = spawnSync(ramus, ["demo", dir], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return dir;
}

export function copy(t, from) {
  const dir = join(scratch(t), "claude");
  cpSync(from, dir, { recursive: true });
  return dir;
}

/** Starts the server and returns its address, which lets one browser in. */
export async function serve(t, claude, args = [], { home: given, port = 7700, env = {} } = {}) {
  const home = given ?? madeDir();
  const server = spawn(ramus, ["--claude-dir", claude, "serve", "--port", String(port), ...args], {
    env: { ...process.env, HOME: home, RAMUS_STATE_DIR: join(home, "state"), TZ: "UTC", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = [];
  server.stderr.on("data", (data) => log.push(String(data)));
  const ended = new Promise((resolve) => server.once("exit", (code, signal) => resolve({ code, signal })));
  t.after(async () => {
    server.kill("SIGINT");
    await ended;
    // Not before: a server that runs writes its cache.
    if (given === undefined) remove(home);
  });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.trim());
    });
    server.once("exit", () => reject(new Error(`the server ended: ${log.join("")}`)));
  });
  return { url, origin: new URL(url).origin, server, ended, log, home };
}

/** Opens a page; a message on its console, an error or a request elsewhere fails the test. */
export async function open(t, server, { width = 1440, height = 900, scheme = "light", csp = true } = {}) {
  const context = await (
    await browser()
  ).newContext({
    viewport: { width, height },
    colorScheme: scheme,
    timezoneId: "UTC",
    locale: "en-GB",
    bypassCSP: !csp,
    acceptDownloads: true,
  });
  t.after(() => context.close());
  if (!inFirefox) await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.origin });
  // What a test asks the server for itself needs the token, too.
  await context.addInitScript(() => {
    globalThis.ask = (path, init = {}) =>
      fetch(path, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${localStorage.getItem("ramus-token")}` },
      });
  });
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.origin) && !/^(data|blob):/.test(request.url()))
      wrong.push(`request to ${request.url()}`);
  });
  page.setDefaultTimeout(20_000);
  await page.goto(server.url);
  await page.waitForSelector(".side section, .failure-box", { state: "attached" });
  return { page, context, wrong, go: (path) => page.goto(new URL(path, server.origin).href) };
}

/** Exchanges an address for the token, as a page does. */
export async function enter(server) {
  const code = new URL(server.url).searchParams.get("token");
  const answer = await fetch(`${server.origin}/api/enter`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()).token;
}

/** Waits until something is true, and looks often. */
export async function until(what, isTrue) {
  for (let n = 0; n < 3000; n += 1) {
    if (await isTrue()) return;
    await new Promise((wake) => setTimeout(wake, 20));
  }
  throw new Error(`still not true: ${what}`);
}

/** A record as Claude Code writes it. */
export const record = (parent, uuid, kind, content, session) =>
  JSON.stringify({
    parentUuid: parent,
    isSidechain: false,
    userType: "external",
    cwd: "/home/dev/teapot",
    sessionId: session,
    version: "2.1.240",
    type: kind,
    message:
      kind === "user"
        ? { role: "user", content }
        : {
            id: `msg_${uuid}`,
            type: "message",
            role: "assistant",
            model: "claude-opus-5",
            content: typeof content === "string" ? [{ type: "text", text: content }] : content,
          },
    uuid,
    timestamp: new Date().toISOString(),
  });

/** What a person says next: the record, and that the session goes on there. */
export const said = (parent, uuid, text, session) =>
  `${record(parent, uuid, "user", text, session)}\n${JSON.stringify({ type: "last-prompt", lastPrompt: text, leafUuid: uuid, sessionId: session })}\n`;

export async function shot(page, name) {
  mkdirSync(shots, { recursive: true });
  // Hiding the caret would need a style that the page does not allow.
  await page.screenshot({ path: join(shots, `${name}.png`), caret: "initial" });
}

/** The id of the session that begins so. */
export function id(claude, start) {
  for (const project of readdirSync(join(claude, "projects"))) {
    for (const file of readdirSync(join(claude, "projects", project))) {
      if (file.startsWith(start) && file.endsWith(".jsonl")) return file.slice(0, -".jsonl".length);
    }
  }
  throw new Error(`no session begins with ${start}`);
}

export function file(claude, start) {
  for (const project of readdirSync(join(claude, "projects"))) {
    for (const name of readdirSync(join(claude, "projects", project))) {
      if (name.startsWith(start) && name.endsWith(".jsonl")) return join(claude, "projects", project, name);
    }
  }
  throw new Error(`no session begins with ${start}`);
}

/** The demo, with its project in a directory that is there. */
export function workshop(t) {
  const claude = demo(t);
  const cwd = join(scratch(t), "teapot");
  mkdirSync(join(cwd, "src"), { recursive: true });
  const path = file(claude, "7ea9");
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("/home/dev/teapot", cwd));
  return { claude, cwd };
}

/** Goes on from the first message, one by one, until something is there. */
export async function walk(page, selector) {
  const here = () => document.querySelector(".row.selected")?.dataset.at;
  await page.keyboard.press("g");
  await page.waitForFunction(() => document.querySelector(".row.selected .turn")?.closest(".row").dataset.at === "0");
  // Rows beside the selected one come and go while heights are measured.
  for (let n = 0; n < 60 && (await page.locator(`.row.selected ${selector}`).count()) === 0; n += 1) {
    const was = await page.evaluate(here);
    await page.keyboard.press("j");
    await page.waitForFunction(
      (was) => document.querySelector(".row.selected .turn")?.closest(".row").dataset.at !== was,
      was,
    );
  }
  await page.locator(`.row.selected ${selector}`).first().waitFor();
}

/** Carries out the plan that is shown. */
export async function act(page, name) {
  await page.locator("dialog[open] .plan").waitFor();
  await page.locator("dialog[open] .buttons").getByRole("button", { name }).click();
  // What was done before may still be told; the dialog closes when this is done.
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  await page.waitForFunction(() => /^Done/.test(document.querySelector(".toast")?.textContent ?? ""));
}

/** The session of the teapot on the page, and its file as it was. */
export async function teapot(t) {
  const claude = demo(t);
  const path = file(claude, "7ea9");
  const before = readFileSync(path);
  const opened = await open(t, await serve(t, claude));
  await opened.go(`/s/${id(claude, "7ea9")}`);
  await opened.page.waitForSelector(".turn.answer");
  return { claude, path, before, ...opened };
}

/** Renames the session that is shown. */
export async function rename(page, title) {
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("New title").fill(title);
  await page.getByRole("button", { name: "Show the plan" }).click();
  await act(page, "Rename");
}
