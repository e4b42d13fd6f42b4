//! The examples of every `--help` run on the sample history.

use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::golden::help_texts;
use crate::readme::shell_command;

/// What has to happen before an example makes sense, by how the example begins.
const BEFORE: &[(&str, &str)] = &[
    ("ramus undo", "ramus rename 7ea9 Teapot --yes"),
    ("ramus restore", "ramus rename 7ea9 Teapot --yes"),
    ("ramus unpack", "ramus pack 7ea9 -o work.tar.zst; mkdir -p src/app"),
    ("ramus archive", "ramus archive add"),
    ("ramus archive restore", "rm -r ramus-demo/projects/-home-dev-teapot"),
    ("ramus archive list --deleted", "rm -r ramus-demo/projects/-home-dev-teapot"),
    ("ramus demo", "rm -r ramus-demo"),
    ("ramus log", "ramus rename 7ea9 Teapot --yes"),
    ("ramus merge", "mkdir bin; printf '#!/bin/sh\\necho short' > bin/claude; chmod +x bin/claude"),
    ("ramus sessions .", "ramus fork 7ea9 --into . --yes"),
    ("ramus resume", "ramus fork 7ea9 --into . --yes"),
    ("ramus sessions --tag", "ramus tag 7ea9 review"),
    ("ramus pin", "ramus pin 7ea9"),
    ("ramus tag", "ramus tag 7ea9 review"),
    ("ramus note", "ramus note 7ea9 checked"),
    ("ramus fork latest --into", "mkdir -p other/project"),
    (
        "ramus completions",
        "mkdir -p .local/share/bash-completion/completions .config/fish/completions",
    ),
];

/// Examples with another exit code than 0 on the sample history.
const OTHER_CODES: &[(&str, i32)] = &[
    // The sample has no pull request, no deleted session and nothing from the last days.
    ("ramus find --pr 42", 1),
    ("ramus find --regex 'TODO|FIXME' --role assistant --since 7d", 1),
    ("ramus projects --since 7d", 1),
    ("ramus sessions --gone", 1),
    ("ramus sessions --pr 42", 1),
    ("ramus sessions --since 7d", 1),
    ("ramus usage teapot --since 7d", 1),
    // The working directory of the sample does not exist on this machine.
    ("ramus files 7ea9:bd21 --restore", 2),
    ("ramus resume 7ea9:bd21 --goto", 2),
    ("ramus resume 7ea9@2 --fork", 2),
    // No server is named.
    ("ramus archive init --team --archive $URL", 2),
    ("ramus archive add --redact", 2),
    ("ramus archive share teapot", 2),
    ("ramus archive unshare teapot", 2),
    ("ramus usage --by owner --everyone", 2),
    // An address that no machine has.
    ("ramus serve --listen 192.0.2.7", 2),
];

/// Examples that run until they are stopped.
const RUNS_ON: &[&str] = &["ramus serve", "ramus watch", "ramus usage --watch"];

#[test]
fn help_examples_run_on_the_sample_history() {
    let template = tempfile::tempdir().unwrap();
    // A file that has just changed is left alone (R24), so the sample gets an old date.
    let make = "ramus demo && find . -type f -exec touch -d 2026-01-01 {} +";
    assert!(shell_command(template.path(), make).output().unwrap().status.success());

    let mut failed = Vec::new();
    let mut ran = 0;
    for (command, help) in help_texts() {
        let examples = listed_examples(&help);
        assert!(!examples.is_empty(), "`{command} --help` has no examples");
        for example in examples.iter().filter(|example| example.starts_with("ramus ")) {
            let home = tempfile::tempdir().unwrap();
            let copy = format!("cp -a {}/. .", template.path().display());
            assert!(shell_command(home.path(), &copy).status().unwrap().success());
            if let Err(problem) = check_example(home.path(), example) {
                failed.push(format!("{command}: {example}\n{problem}"));
            }
            ran += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(ran > 80, "{ran} examples were found");
}

/// Returns the commands of the `Examples:` section, without their descriptions.
fn listed_examples(help: &str) -> Vec<String> {
    let section = help.split("\nExamples:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().split("  ").next().unwrap_or_default().to_owned()).collect()
}

fn check_example(home: &Path, example: &str) -> Result<(), String> {
    let before = BEFORE.iter().filter(|(start, _)| example.starts_with(start));
    for (_, line) in before {
        let output = run_line(home, line);
        if !output.status.success() {
            return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    // jq, ssh and man are not everywhere.
    let line = example.split(" | ").next().unwrap_or_default().replace(" --open", "");
    let expected =
        OTHER_CODES.iter().find(|(other, _)| *other == example).map_or(0, |other| other.1);
    if expected == 0 && RUNS_ON.iter().any(|start| example.starts_with(start)) {
        return check_running(home, &line);
    }
    let mut output = run_line(home, &line);
    // What a person confirms on the terminal. `--yes` alone would also install timers and hooks.
    if String::from_utf8_lossy(&output.stderr).contains("no terminal to confirm on") {
        output = run_line(home, &format!("{line} --yes"));
    }
    match output.status.code() {
        Some(code) if code == expected => Ok(()),
        code => Err(format!("{code:?} {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn run_line(home: &Path, line: &str) -> Output {
    let ready = format!(
        "export CLAUDE_CONFIG_DIR=$PWD/ramus-demo RAMUS_CLAUDE=true PATH=$PWD/bin:$PATH; {line}"
    );
    shell_command(home, &ready).output().unwrap()
}

/// Runs a command that does not end by itself until it prints something.
fn check_running(home: &Path, line: &str) -> Result<(), String> {
    let ready = format!("export CLAUDE_CONFIG_DIR=$PWD/ramus-demo; exec {line} 2>&1");
    let mut child = shell_command(home, &ready).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 6];
    let read = child.stdout.as_mut().unwrap().read_exact(&mut first);
    let ended = child.try_wait().unwrap();
    if ended.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    match (read, ended) {
        (Err(error), _) => Err(format!("it ended without output: {error}")),
        (Ok(()), Some(status)) if !status.success() => Err(format!("it ended: {status}")),
        _ if &first == b"Error:" => Err("it failed".to_owned()),
        _ => Ok(()),
    }
}
