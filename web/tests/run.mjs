// Runs the tests of the page: what needs no browser first, then the real program in a real browser, nothing outside of this machine.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, firefox, ramus, skip } from "./where.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const tests = (ending) =>
  readdirSync(here)
    .filter((name) => name.endsWith(ending) && (wanted.length === 0 || wanted.some((word) => name.includes(word))))
    .map((name) => join(here, name));
const run = (files, env = {}) => {
  if (files.length === 0) return;
  const { status } = spawnSync(
    process.execPath,
    ["--test", "--test-concurrency=1", "--test-timeout=600000", ...files],
    { stdio: "inherit", env: { ...process.env, ...env } },
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
// The main part again in Firefox; all of it with RAMUS_BROWSER=firefox.
const MAIN = ["main", "markdown", "undo", "writing"].map((name) => `${name}.test.mjs`);
if (process.env.RAMUS_BROWSER) process.exit(0);
if (firefox)
  run(
    tests(".test.mjs").filter((path) => MAIN.includes(basename(path))),
    { RAMUS_BROWSER: "firefox" },
  );
else skip("there is no Firefox; FIREFOX_PATH may name one");
