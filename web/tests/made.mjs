// Sessions made for one test: records with times, models and tokens.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./page.mjs";

export const SESSION = "0a1b2c3d-0000-4000-8000-00000000000a";
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const uuid = (n) => `0a1b2c3d-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** One record; each is written ten seconds after the one before it. */
export function line(
  n,
  parent,
  type,
  content,
  { session = SESSION, start = Date.parse("2026-09-14T08:00:00Z"), more = {} } = {},
) {
  const message =
    type === "user"
      ? { role: "user", content }
      : {
          id: `msg_${session}_${n}`,
          type: "message",
          role: "assistant",
          model: "claude-opus-5",
          usage: {
            input_tokens: 100,
            output_tokens: 50,
            cache_read_input_tokens: 900,
            cache_creation_input_tokens: 10,
          },
          content: typeof content === "string" ? [{ type: "text", text: content }] : content,
        };
  return JSON.stringify({
    parentUuid: parent === null ? null : uuid(parent),
    isSidechain: false,
    userType: "external",
    cwd: "/home/dev/teapot",
    sessionId: session,
    version: "2.1.240",
    gitBranch: "main",
    type,
    message,
    requestId: type === "user" ? undefined : `req_${session}_${n}`,
    uuid: uuid(n),
    timestamp: new Date(start + n * 10_000).toISOString(),
    ...more,
  });
}

/** A Claude directory with one session of these lines. */
export function history(t, lines, { session = SESSION, project = "-home-dev-teapot" } = {}) {
  const claude = join(scratch(t), "claude");
  const dir = join(claude, "projects", project);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, `${session}.jsonl`), `${lines.join("\n")}\n`);
  return { claude, dir, path: join(dir, `${session}.jsonl`) };
}
