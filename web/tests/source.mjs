// A module of the page that needs no browser, for unit tests.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const sources = new URL("../src/", import.meta.url);

/** Imports a module of `web/src` that imports nothing but types. */
export function importSource(name) {
  const text = readFileSync(fileURLToPath(new URL(name, sources)), "utf8");
  const { outputText } = ts.transpileModule(text, { compilerOptions: { target: "ES2022", module: "ESNext" } });
  return import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}
