// Where things are.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const ramus = process.env.RAMUS ?? join(target, "debug/ramus");
export const chromium = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
export const firefox =
  process.env.FIREFOX_PATH ?? ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find((path) => existsSync(path));
/** Whether the tests run in Firefox this time. */
export const inFirefox = process.env.RAMUS_BROWSER === "firefox";
/** Pictures of each view, to be looked at. */
export const shots = join(target, "page-shots");

/** Reports that something is skipped, and why; an error where everything is required (`RAMUS_REQUIRE_ALL=1`). */
export function skip(missing) {
  if (process.env.RAMUS_REQUIRE_ALL === "1") throw new Error(`RAMUS_REQUIRE_ALL=1, but ${missing}`);
  console.log(`skipped: ${missing}`);
}

/** Something beside the project. It is expected where there is any shared material. */
export function shared(name) {
  const dir = resolve(root, "../shared");
  if (!existsSync(dir)) return undefined;
  const path = join(dir, name);
  if (existsSync(path)) return path;
  skip(`the shared material has no ${name}`);
  return undefined;
}
