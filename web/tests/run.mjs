// Runs the tests of the page: the real program, a real browser, nothing outside of this machine.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, ramus, skip } from "./where.mjs";

const here = dirname(fileURLToPath(import.meta.url));
if (!existsSync(chromium)) {
  skip(`there is no browser at ${chromium}; CHROMIUM_PATH may name one`);
  process.exit(0);
}
if (!existsSync(ramus)) {
  console.error(`there is no ${ramus}; build it with \`cargo build\``);
  process.exit(2);
}
const wanted = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith(".test.mjs") && (wanted.length === 0 || wanted.some((word) => name.includes(word))));
const run = spawnSync(process.execPath, ["--test", "--test-concurrency=1", "--test-timeout=180000", ...files.map((name) => join(here, name))], { stdio: "inherit" });
process.exit(run.status ?? 1);
