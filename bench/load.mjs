// Load on `ramus serve`: many readers at once, and followers while a session is written to.
//
//   node bench/load.mjs [RAMUS] [SECONDS] [CLIENTS] [FOLLOWERS]
//
// Readers ask for lists, paths and turns as the web app does. Followers hear of each change and read the
// path until they have every message that was appended. Everything stays on this machine.

import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [
  ramus = "target/release/ramus",
  seconds = "60",
  clients = "200",
  followers = "50",
] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "ramus-load-"));
const claude = join(home, "claude");
const APPENDS = 1000;

const server = await start();
const { origin, token } = server;
const headers = { authorization: `Bearer ${token}` };
const get = async (path) => {
  const answer = await fetch(`${origin}/api/${path}`, { headers });
  const text = await answer.text();
  if (!answer.ok)
    throw new Error(`${answer.status} for ${path}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
};

let ok = true;
try {
  await readers();
  await follow();
  const memory = peakMemory();
  report("memory", memory <= 200, `${memory} MB at most (limit 200)`);
} finally {
  server.process.kill("SIGINT");
  rmSync(home, { recursive: true, force: true });
}
process.exit(ok ? 0 : 1);

function report(what, fine, words) {
  ok &&= fine;
  console.log(`${fine ? "ok  " : "FAIL"} ${what}: ${words}`);
}

async function start() {
  const made = spawnSync(ramus, ["demo", claude], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(made.stderr);
  const child = spawn(
    ramus,
    ["--claude-dir", claude, "serve", "--port", "7790"],
    {
      env: { ...process.env, HOME: home, RAMUS_STATE_DIR: join(home, "state") },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(new URL(text.trim()));
    });
    child.once("exit", () => reject(new Error("the server ended")));
  });
  const answer = await fetch(`${url.origin}/api/enter`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: url.searchParams.get("token") }),
  });
  return {
    process: child,
    origin: url.origin,
    token: (await answer.json()).token,
  };
}

function peakMemory() {
  const status = readFileSync(`/proc/${server.process.pid}/status`, "utf8");
  return Math.round(Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024);
}

async function readers() {
  const { sessions } = await get("sessions");
  const paths = [
    "overview",
    "projects",
    "sessions",
    "stats",
    "usage",
    "usage/daily",
    "log",
    "annotations",
  ];
  for (const { id } of sessions)
    for (const part of [
      "",
      "/path",
      "/turns?to=40",
      "/outline",
      "/exchanges",
      "/agent-spans",
      "/lineage",
    ])
      paths.push(`sessions/${id}${part}`);
  const times = [];
  const errors = [];
  const end = performance.now() + Number(seconds) * 1000;
  const reader = async (n) => {
    for (let at = n; performance.now() < end; at += 7) {
      const begun = performance.now();
      await get(paths[at % paths.length]).then(
        () => times.push(performance.now() - begun),
        (error) => errors.push(`${error} ${error.cause ?? ""}`.trim()),
      );
      // A page waits for its reader.
      await new Promise((wake) => setTimeout(wake, 200 + ((n * 37) % 300)));
    }
  };
  await Promise.all(
    Array.from({ length: Number(clients) }, (_, n) => reader(n)),
  );
  times.sort((a, b) => a - b);
  const at = (share) =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))];
  const [p50, p99] = [at(0.5), at(0.99)];
  report(
    "errors",
    errors.length === 0,
    `${errors.length} of ${times.length + errors.length} requests; ${errors[0] ?? ""}`,
  );
  report(
    "latency",
    p99 <= 10 * p50,
    `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (limit 10 × p50)`,
  );
}

async function follow() {
  const project = readdirSync(join(claude, "projects")).find((name) =>
    name.includes("teapot"),
  );
  const name = readdirSync(join(claude, "projects", project)).find(
    (one) => one.startsWith("7ea9") && one.endsWith(".jsonl"),
  );
  const id = name.slice(0, -".jsonl".length);
  const file = join(claude, "projects", project, name);
  const before = (await get(`sessions/${id}/path`)).count;
  let leaf = (await get(`sessions/${id}/path`)).leaf;
  const stop = new AbortController();
  const heard = Array.from({ length: Number(followers) }, () => 0);
  const listener = async (n) => {
    const answer = await fetch(`${origin}/api/events`, {
      headers,
      signal: stop.signal,
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.includes(id) || value.includes("missed")) heard[n] += 1;
    }
  };
  const listening = heard.map((_, n) => listener(n).catch(() => {}));
  await new Promise((wake) => setTimeout(wake, 500));
  const total = APPENDS * 10;
  for (let second = 0; second < 10; second += 1) {
    const begun = performance.now();
    let lines = "";
    for (let n = 0; n < APPENDS; n += 1) {
      const number = second * APPENDS + n;
      const uuid = `cccccccc-0000-4000-8000-${String(number).padStart(12, "0")}`;
      lines = `${JSON.stringify(message(leaf, uuid, number, id))}\n`;
      appendFileSync(file, lines);
      leaf = uuid;
      if (n % 50 === 49)
        await new Promise((wake) =>
          setTimeout(wake, Math.max(0, begun + n - performance.now())),
        );
    }
    await new Promise((wake) =>
      setTimeout(wake, Math.max(0, begun + 1000 - performance.now())),
    );
  }
  // Complete: each follower, asking as the page does, sees every message.
  const wanted = before + total;
  const counts = await Promise.all(
    heard.map(async () => {
      for (let n = 0; n < 100; n += 1) {
        const { count } = await get(`sessions/${id}/path`);
        if (count >= wanted) return count;
        await new Promise((wake) => setTimeout(wake, 200));
      }
      return 0;
    }),
  );
  stop.abort();
  await Promise.all(listening);
  const complete = counts.filter((count) => count >= wanted).length;
  report(
    "followers",
    complete === counts.length,
    `${complete} of ${counts.length} saw all ${total} messages`,
  );
  report(
    "news",
    Math.min(...heard) > 0,
    `each heard ${Math.min(...heard)} to ${Math.max(...heard)} times`,
  );
}

function message(parentUuid, uuid, number, sessionId) {
  const isPrompt = number % 2 === 0;
  return {
    parentUuid,
    isSidechain: false,
    userType: "external",
    cwd: "/home/dev/teapot",
    sessionId,
    version: "2.1.240",
    type: isPrompt ? "user" : "assistant",
    message: isPrompt
      ? { role: "user", content: `append ${number}` }
      : {
          id: `msg_${uuid}`,
          type: "message",
          role: "assistant",
          model: "claude-opus-5",
          content: [{ type: "text", text: `reply ${number}` }],
        },
    uuid,
    timestamp: new Date().toISOString(),
  };
}
