//! The command line as a person or a script uses it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop, and say so")]

mod address;
mod annotate;
mod archive;
mod bad_input;
mod cache;
mod carry;
mod check;
mod contract;
mod current_project;
mod dates;
mod diff;
mod export;
mod files;
mod find;
mod fix;
mod golden;
mod help_examples;
mod lineage;
mod lists;
mod mcp;
mod merge;
mod reading;
mod readme;
mod repository;
#[cfg(unix)]
mod resume;
mod samples;
mod screen_keys;
mod screen_looks;

mod screen_sessions;
mod screens;
mod secrets;
mod shell;
mod team;
mod terminal;
mod truth;
mod usage;
mod watch;
mod write;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs `ramus` on a Claude directory with nothing of this machine around it.
fn run_ramus(claude: &Path, args: &[&str]) -> Output {
    ramus_command(claude, args).output().unwrap()
}

/// Makes the command that [`run_ramus`] runs.
fn ramus_command(claude: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramus"));
    command
        .env_clear()
        .env("HOME", claude.parent().unwrap_or(claude))
        .env("RAMUS_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("TZ", "UTC")
        .env("COLUMNS", "100")
        .args(["--claude-dir", &claude.to_string_lossy()])
        .args(args);
    command
}

/// Runs `ramus … --json` and reads the answer.
#[track_caller]
fn run_json(claude: &Path, args: &[&str]) -> Value {
    let output = run_ramus(claude, &[args, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error} for {args:?}\n{stderr}"))
}
