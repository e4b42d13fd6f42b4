// Runs the tests of the page: what needs no browser first, then the real program in a real browser, nothing outside of this machine.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, ramus, skip } from "./where.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const tests = (ending) =>
  readdirSync(here)
    .filter((name) => name.endsWith(ending) && (wanted.length === 0 || wanted.some((word) => name.includes(word))))
    .map((name) => join(here, name));
const run = (files) => {
  if (files.length === 0) return;
  const { status } = spawnSync(
    process.execPath,
    ["--test", "--test-concurrency=1", "--test-timeout=180000", ...files],
    { stdio: "inherit" },
  );
  if (status !== 0) process.exit(status ?? 1);
};

run(tests(".unit.mjs"));
if (!existsSync(chromium)) {
  skip(`there is no browser at ${chromium}; CHROMIUM_PATH may name one`);
  process.exit(0);
}
if (!existsSync(ramus)) {
  console.error(`there is no ${ramus}; build it with \`cargo build\``);
  process.exit(2);
}
run(tests(".test.mjs"));
