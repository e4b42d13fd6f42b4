// Where things are.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const ramus = process.env.RAMUS ?? join(target, "debug/ramus");
export const chromium = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
/** Pictures of each view, to be looked at. */
export const shots = join(target, "page-shots");

/** Something beside the project, if it is there. */
export function shared(name) {
  const path = resolve(root, "../shared", name);
  return existsSync(path) ? path : undefined;
}
