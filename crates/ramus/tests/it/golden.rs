//! The machine output and the help, held word for word.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::{json, ramus};

/// Writes the demo and returns the directory it lies in.
fn demo() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_ramus"))
        .arg("demo")
        .arg(dir.path().join("demo"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    dir
}

/// Holds the answer to a command, with what differs from run to run taken out.
#[track_caller]
fn golden(name: &str, args: &[&str]) {
    let dir = demo();
    let mut answer = json(&dir.path().join("demo"), args);
    if let Some(retention) = answer.get_mut("retention") {
        *retention = Value::Null;
    }
    for session in answer.get_mut("sessions").and_then(Value::as_array_mut).into_iter().flatten() {
        assert!(session["deleted_after"].take().is_string());
    }
    let text = serde_json::to_string_pretty(&answer)
        .unwrap()
        .replace(&*dir.path().to_string_lossy(), "[dir]");
    insta::assert_snapshot!(name, text);
}

#[test]
fn projects() {
    golden("projects", &["projects"]);
}

#[test]
fn sessions() {
    golden("sessions", &["sessions", "--all"]);
}

#[test]
fn conversations() {
    golden("conversations", &["conversations", "7ea9"]);
}

#[test]
fn show() {
    golden("show", &["show", "10ad"]);
}

#[test]
fn files() {
    golden("files", &["files", "7ea9"]);
    golden("files_diff", &["files", "7ea9@1", "--diff", "7ea9"]);
}

#[test]
fn usage() {
    golden("usage", &["usage", "--utc", "--by", "branch"]);
}

#[test]
fn tree() {
    golden("tree", &["tree", "7ea9"]);
}

#[test]
fn stats() {
    golden("stats", &["stats"]);
}

#[test]
fn check() {
    golden("check", &["check"]);
}

#[test]
fn the_demo_is_written_once_and_never_over_anything() {
    let dir = demo();
    let again = Command::new(env!("CARGO_BIN_EXE_ramus"))
        .arg("demo")
        .arg(dir.path().join("demo"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8(again.stderr).unwrap().contains("give another directory"));
}

#[test]
fn reading_changes_nothing() {
    let dir = demo();
    let claude = dir.path().join("demo");
    let state = || {
        let mut files = Vec::new();
        let mut open = vec![claude.clone()];
        while let Some(path) = open.pop() {
            let meta = std::fs::metadata(&path).unwrap();
            files.push((path.clone(), meta.len(), meta.modified().unwrap()));
            if meta.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        files.sort();
        files
    };
    let before = state();
    for args in [
        &["projects"][..],
        &["sessions"],
        &["conversations"],
        &["show", "7ea9", "--full"],
        &["tree", "7ea9"],
        &["stats"],
        &["check"],
    ] {
        assert_eq!(ramus(&claude, args).status.code(), Some(0), "{args:?}");
    }
    assert_eq!(state(), before);
}

#[test]
fn the_whole_reference() {
    let mut text = String::new();
    let commands = [
        &[][..],
        &["projects"],
        &["sessions"],
        &["conversations"],
        &["show"],
        &["tree"],
        &["find"],
        &["diff"],
        &["export"],
        &["stats"],
        &["check"],
        &["demo"],
        &["completions"],
        &["man"],
    ];
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_ramus"))
            .env("COLUMNS", "100")
            .args(command)
            .arg("--help")
            .output()
            .unwrap();
        let call = [&["ramus"], command, &["--help"]].concat().join(" ");
        text = format!(
            "{text}$ {call}
{}
",
            String::from_utf8(output.stdout).unwrap()
        );
    }
    insta::assert_snapshot!("help", text);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = ramus(dir.path(), &["completions", shell]);
        assert!(String::from_utf8(output.stdout).unwrap().contains("conversations"), "{shell}");
    }
    let pages = dir.path().join("pages");
    assert_eq!(
        ramus(dir.path(), &["man", "--out", pages.to_str().unwrap()]).status.code(),
        Some(0)
    );
    assert!(pages.join("ramus-tree.1").exists());
    assert!(String::from_utf8(ramus(dir.path(), &["man"]).stdout).unwrap().starts_with(".ie"));
}

/// The same project has the same name wherever it is listed.
#[test]
fn a_project_is_named_one_way() {
    let home = testkit::Home::new();
    let short = "a user Which needle?\nb < a assistant This one.";
    home.session("-home-dev-app/11111111-0000-4000-8000-000000000001.jsonl", short);
    for args in
        [&["projects"][..], &["sessions"], &["find", "needle"], &["usage", "--by", "project"]]
    {
        let output =
            crate::command(&home.claude(), args).env("HOME", "/home/dev").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("~/app") && !text.contains("-home-dev"), "{args:?}\n{text}");
    }
}

#[test]
fn commands_that_print_a_text_take_json_too() {
    let home = testkit::Home::new();
    for args in [&["guide"][..], &["completions", "bash"], &["man"]] {
        let answer = crate::json(&home.claude(), args);
        let plain = crate::ramus(&home.claude(), args).stdout;
        assert_eq!(answer["text"].as_str().unwrap().as_bytes(), plain, "{args:?}");
        assert_eq!(answer["schema"], format!("ramus.{}/1", args[0]));
    }
    let dir = home.claude().join("sample").display().to_string();
    let answer = crate::json(&home.claude(), &["demo", &dir]);
    assert_eq!(answer["directory"], *dir);
    assert!(answer["files"].as_u64().unwrap() > 7, "{answer}");
}
