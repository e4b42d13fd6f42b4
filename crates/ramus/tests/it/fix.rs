//! `ramus check --fix`: what is repaired and what is not changed.

use std::fs;
use std::process::Output;

use serde_json::Value;
use testkit::{TestHome, jsonl};

use crate::{run_json, run_ramus};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const PROJECT: &str = "-home-dev-app";

fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_repair_is_a_copy_that_is_shown_asked_for_and_undone() {
    let home = TestHome::new();
    let short = "
        a      user       v=2.0.74 one
        b < a  assistant  two
        c < x  user       three
        d < c  call:t1    ls
        e < d  assistant  five
    ";
    let path = home.write_session(&format!("{PROJECT}/{ID}.jsonl"), short);
    let before = fs::read(&path).unwrap();
    let output = run_ramus(&home.claude_dir(), &["check", "--fix"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("1 × lost parent"), "{}", stderr_text(&output));
    assert!(
        stderr_text(&output).contains("1 × tool call without a result"),
        "{}",
        stderr_text(&output)
    );
    assert!(stderr_text(&output).contains("--yes"));
    let output = run_ramus(&home.claude_dir(), &["check", "--fix", "--dry-run"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 8);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let answer = run_json(&home.claude_dir(), &["check", "--fix", "--yes"]);
    assert_eq!(answer["schema"], "ramus.check.fix/1");
    assert_eq!(answer["operation"], "fix");
    assert_eq!(answer["of"], ID);
    assert_eq!(answer["repairs"].as_array().unwrap().len(), 2);
    assert_eq!(fs::read(&path).unwrap(), before);
    let copy = fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    assert_eq!(copy.lines().count(), 8);
    let again = run_ramus(&home.claude_dir(), &["check", "--fix", "--yes"]);
    assert!(stderr_text(&again).contains("was repaired already"), "{}", stderr_text(&again));
    run_json(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_line_that_broke_off_is_ended_and_the_rest_left_alone() {
    let home = TestHome::new();
    let whole = jsonl("a user v=2.1.325 one\nb < a assistant two");
    let torn = format!("{whole}{{\"type\":\"user\",\"uuid\":\"to");
    let path = home.write_file(&format!("{PROJECT}/{ID}.jsonl"), &torn);
    let answer = run_json(&home.claude_dir(), &["check", "--fix", "--yes", "--force"]);
    assert_eq!(answer["appended_bytes"], 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{torn}\n"));
    run_json(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), torn);
}

#[test]
fn nothing_wrong_is_nothing_to_repair() {
    let home = TestHome::new();
    let short = "a user v=2.1.325 one\nb < a thinking #m\nc < b assistant #m two";
    home.write_session(&format!("{PROJECT}/{ID}.jsonl"), short);
    let output = run_ramus(&home.claude_dir(), &["check", "--fix", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("Nothing to repair"));
    let answer: Value =
        run_json(&home.claude_dir(), &["check", "--fix", "--drop-thinking", "--yes"]);
    assert_eq!(answer["repairs"][0], "1 × thinking block that cannot be sent: is left out");
    let output = run_ramus(&home.claude_dir(), &["check", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("--fix"));
}
