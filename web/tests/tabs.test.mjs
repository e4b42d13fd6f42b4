// Many tabs, one stream; a busy history; and readers that do not read.

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import test from "node:test";
import { demo, enter, file, id, open, record, said, scratch, serve, until } from "./page.mjs";

/** Counts the streams that a browser holds. */
function countStreams(context) {
  const streams = new Set();
  context.on("request", (request) => {
    if (request.url().endsWith("/api/events")) streams.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"]) context.on(end, (request) => streams.delete(request));
  // A tab that is closed says nothing of how its requests ended.
  return () => [...streams].filter((request) => !request.frame().page().isClosed()).length;
}

test("twelve tabs work and hold one stream", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const server = await serve(t, claude);
  const { page, context, wrong } = await open(t, server);
  const streams = countStreams(context);
  const tabs = [];
  for (let n = 0; n < 12; n += 1) {
    const tab = await context.newPage();
    tab.setDefaultTimeout(60_000);
    await tab.goto(`${server.origin}/s/${session}`);
    tabs.push(tab);
  }
  for (const tab of tabs) await tab.waitForSelector(".turn.answer");
  await page.close();
  const leaf = await tabs[0].evaluate(
    async (address) => (await (await ask(address)).json()).leaf,
    `/api/sessions/${session}/path`,
  );
  let [parent, n] = [leaf, 0];
  const say = (text) => {
    const uuid = `aaaaaaaa-0000-4000-8000-${String(++n).padStart(12, "0")}`;
    appendFileSync(file(claude, "7ea9"), said(parent, uuid, text, session));
    parent = uuid;
  };
  say("Everybody hears this.");
  for (const tab of tabs)
    await tab.locator(".said", { hasText: "Everybody hears this." }).waitFor({ state: "attached" });
  assert.ok(streams() <= 1, `${streams()} streams`);
  // Whoever holds the stream goes; the next one takes over, and nothing is missed on the way.
  while (tabs.length > 3) {
    await tabs.shift().close();
    say(`Still ${tabs.length} of us.`);
  }
  for (const tab of tabs) await tab.locator(".said", { hasText: "Still 3 of us." }).waitFor({ state: "attached" });
  assert.ok(streams() <= 1, `${streams()} streams`);
  assert.deepEqual(wrong, []);
});

test("a tab in the background holds no stream, and knows everything when it is seen again", async (t) => {
  const claude = demo(t);
  const session = id(claude, "7ea9");
  const server = await serve(t, claude);
  const { page, context, go, wrong } = await open(t, server);
  const streams = countStreams(context);
  await go(`/s/${session}`);
  await page.waitForSelector(".turn.answer");
  await until("a stream is open", () => streams() === 1);
  const turn = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await turn(true);
  await until("the stream is closed", () => streams() === 0);
  const leaf = await page.evaluate(
    async (address) => (await (await ask(address)).json()).leaf,
    `/api/sessions/${session}/path`,
  );
  appendFileSync(
    file(claude, "7ea9"),
    said(leaf, "aaaaaaaa-0000-4000-8000-000000000001", "Said while nobody looked.", session),
  );
  await turn(false);
  await page.locator(".said", { hasText: "Said while nobody looked." }).waitFor({ state: "attached" });
  assert.deepEqual(wrong, []);
});

/** Twenty sessions of two messages each. */
function twenty(t) {
  const dir = join(scratch(t), "claude");
  const sessions = Array.from({ length: 20 }, (_, n) => {
    const session = `0000${String(n).padStart(4, "0")}-0000-4000-8000-000000000000`;
    const path = join(dir, "projects", "-home-dev-teapot", `${session}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const [a, b] = ["a", "b"].map((letter) => `${letter}${session.slice(1)}`);
    writeFileSync(
      path,
      `${record(null, a, "user", `Session ${n}`, session)}\n${record(a, b, "assistant", "Yes.", session)}\n`,
    );
    return { session, path, last: b, n: 0 };
  });
  return { dir, sessions };
}

test("a thousand appends a second to twenty sessions reach fifty followers and a page", async (t) => {
  const { dir, sessions } = twenty(t);
  const server = await serve(t, dir);
  const token = await enter(server);
  await until("the next address is printed", () => /for another one open (\S+)/.test(server.log.join("")));
  server.url = server.log.join("").match(/for another one open (\S+)/)[1];
  const { page, go, wrong } = await open(t, server);
  await go(`/s/${sessions[0].session}`);
  await page.waitForSelector(".turn.answer");
  const stop = new AbortController();
  t.after(() => stop.abort());
  const followers = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const heard = new Map();
      const answer = await fetch(`${server.origin}/api/events`, {
        headers: { authorization: `Bearer ${token}` },
        signal: stop.signal,
      });
      assert.equal(answer.status, 200);
      void (async () => {
        let rest = "";
        for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
          const lines = (rest + piece).split("\n");
          rest = lines.pop();
          for (const line of lines)
            if (line.startsWith("data:"))
              for (const news of JSON.parse(line.slice(5)))
                heard.set(news.session ?? "", (heard.get(news.session ?? "") ?? 0) + 1);
        }
      })().catch(() => {});
      return heard;
    }),
  );
  let [written, busiest] = [0, Date.now()];
  const append = (one) => {
    const uuid = `c${String(one.n++).padStart(7, "0")}${one.session.slice(8)}`;
    appendFileSync(
      one.path,
      `${record(one.last, uuid, one.n % 2 ? "user" : "assistant", `Line ${one.n}`, one.session)}\n`,
    );
    one.last = uuid;
    written += 1;
  };
  // Writing never pauses until everybody has heard of every session ten times.
  const began = Date.now();
  const writer = setInterval(() => {
    while (written < Date.now() - busiest) append(sessions[written % sessions.length]);
  }, 5);
  t.after(() => clearInterval(writer));
  const least = () => Math.min(...followers.flatMap((heard) => sessions.map(({ session }) => heard.get(session) ?? 0)));
  await until("everybody hears of every session while writing goes on", () => least() >= 10);
  const seconds = (Date.now() - began) / 1000;
  await page.locator(".said, .prose", { hasText: "Line " }).first().waitFor({ state: "attached" });
  clearInterval(writer);
  t.diagnostic(
    `${Math.round(written / seconds)} appends a second; each session was heard of at least ${(least() / seconds).toFixed(1)} times a second by each of ${followers.length} followers`,
  );
  // What comes last is not missed either.
  followers.forEach((heard) => heard.clear());
  sessions.forEach(append);
  await until("the last line of every session is heard of", () => least() >= 1);
  const last = `Line ${sessions[0].n}`;
  await page.waitForFunction(
    (last) => [...document.querySelectorAll(".said, .prose")].some((one) => one.textContent.trim() === last),
    last,
  );
  assert.deepEqual(wrong, []);
});

/** A long session that an export of is far larger than any buffer on the way. */
function long(t) {
  const dir = join(scratch(t), "claude");
  const session = "10000000-0000-4000-8000-000000000000";
  const path = join(dir, "projects", "-home-dev-teapot", `${session}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  let parent = null;
  const lines = Array.from({ length: 3000 }, (_, n) => {
    const uuid = `d${String(n).padStart(7, "0")}-0000-4000-8000-000000000000`;
    const line = record(parent, uuid, n % 2 ? "assistant" : "user", `needle ${n} ${"a".repeat(10_000)}`, session);
    parent = uuid;
    return line;
  });
  writeFileSync(path, `${lines.join("\n")}\n`);
  return { dir, session };
}

test("readers that do not read, and callers that say nothing, hold nobody up", async (t) => {
  const { dir, session } = long(t);
  const server = await serve(t, dir);
  const token = await enter(server);
  const { hostname, port, host } = new URL(server.origin);
  const headers = { authorization: `Bearer ${token}` };
  const silent = (text) =>
    new Promise((ready, fail) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(text);
        ready(socket);
      });
      socket.once("error", fail);
      socket.on("error", () => {});
      socket.pause();
      t.after(() => socket.destroy());
    });
  const request = (path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  for (let n = 0; n < 12; n += 1) {
    await silent(request(`/api/sessions/${session}/export?format=html`));
    await silent(request("/api/find?q=needle"));
    await silent(request("/api/events"));
  }
  const answers = async (path) => {
    const answer = await fetch(`${server.origin}/api/${path}`, { headers });
    assert.equal(answer.status, 200, path);
    return answer.text();
  };
  await answers("overview");
  await answers(`sessions/${session}/turns?to=20`);
  assert.match(await answers("find?q=needle&limit=3"), /ramus\.find\/1/);
  assert.ok(
    (await answers(`sessions/${session}/export?format=jsonl`)).length > 1_000_000,
    "an export that is read comes whole",
  );
  // Half a request, two thousand times.
  for (let n = 0; n < 2000; n += 1) await silent("GET / HTTP/1.1\r\nHost:").catch(() => {});
  await answers("overview");
  // A search that is abandoned ends, and one that would never end is refused.
  for (let n = 0; n < 8; n += 1) {
    const stop = new AbortController();
    const answer = await fetch(`${server.origin}/api/find?q=${encodeURIComponent("[ab]*a[ab]{60}c")}&regex=true`, {
      headers,
      signal: stop.signal,
    });
    assert.equal(answer.status, 200);
    stop.abort();
  }
  await answers("overview");
  assert.match(await answers("find?q=needle&limit=3"), /ramus\.find\/1/);
  assert.match(await answers(`find?q=${"a".repeat(1000)}&limit=3`), /ramus\.find\/1/);
  const refused = await fetch(`${server.origin}/api/find?q=${"a".repeat(60_000)}`, { headers });
  assert.ok([400, 414, 431].includes(refused.status), String(refused.status));
});
