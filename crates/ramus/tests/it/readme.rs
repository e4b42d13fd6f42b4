//! The examples of the README work as printed, on the sample history.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the blocks of commands: each command with what is printed below it.
fn readme_commands(readme: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap_or_default().lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => {
                    let command = command.split("  #").next().unwrap_or_default().trim();
                    commands.push((command.to_owned(), Vec::new()));
                }
                (None, Some((_, printed))) => printed.push(line.to_owned()),
                (None, None) => panic!("{line:?} is printed by no command"),
            }
        }
    }
    commands
}

/// Runs a line in a shell in which `ramus` is the one under test.
pub(crate) fn shell_command(dir: &Path, line: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_ramus")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command
        .env_clear()
        .current_dir(dir)
        .env("HOME", dir)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("TZ", "UTC")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .args(["-c", line]);
    command
}

#[test]
fn examples_work_as_printed() {
    let readme = include_str!("../../../../README.md");
    let dir = tempfile::tempdir().unwrap();
    let mut exports = String::new();
    let mut ran = 0;
    for (command, printed) in readme_commands(readme) {
        if command.starts_with("export ") {
            exports.extend([&*command, "; "]);
            continue;
        }
        let program = command.split(' ').next().unwrap();
        let serves = command.starts_with("ramus serve") || command.starts_with("ramus watch");
        if program != "ramus" || serves {
            assert!(serves || ["cargo", "claude", "./test"].contains(&program), "{command}");
            continue;
        }
        // What asks on a terminal is answered; jq is not everywhere.
        let asks = ["ramus goto", "ramus undo"].iter().any(|asks| command.starts_with(asks));
        let yes = if asks { " --yes" } else { "" };
        let line = command.split(" | ").next().unwrap();
        let output = shell_command(dir.path(), &format!("{exports}{line}{yes}")).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{stdout}\n{stderr}");
        if !printed.is_empty() {
            assert_eq!(stdout.lines().collect::<Vec<_>>(), printed, "{command}");
        }
        if command.starts_with("ramus demo") {
            // A person types more slowly: a file that has just changed is left alone (R24).
            let touch = "find . -type f -exec touch -d 2026-01-01 {} +";
            assert!(shell_command(dir.path(), touch).status().unwrap().success());
        }
        ran += 1;
    }
    assert!(ran > 10, "{ran} examples were found");
}
