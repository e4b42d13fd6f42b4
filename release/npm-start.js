#!/usr/bin/env node
// Starts the program of this platform, which npm installed beside this package.
"use strict";
const { spawnSync } = require("node:child_process");
const name = `ramus-history-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "ramus.exe" : "ramus";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`ramus: the package ${name} is not installed.`);
  console.error("Install again without --omit=optional, or build ramus with `cargo install ramus`.");
  process.exit(2);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`ramus: cannot start ${program}: ${error.message}`);
  process.exit(2);
}
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 1);
