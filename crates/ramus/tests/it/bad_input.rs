//! Bad input: one clear message or defect each, and the rest is still shown.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;
use testkit::{TestHome, jsonl};

use crate::{run_json, run_ramus};

const FINE: &str = "a user hello\nb < a assistant hi";

/// Returns the kinds of the defects that `check` finds.
fn listed_defects(home: &TestHome) -> Vec<String> {
    let check = run_json(&home.claude_dir(), &["check"]);
    let sum =
        ["known", "unknown", "damaged"].iter().map(|key| check[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, check["lines"].as_u64().unwrap());
    let defects = check["defects"].as_array().unwrap().iter();
    defects
        .map(|defect| format!("{}:{}", defect["line"], defect["kind"].as_str().unwrap()))
        .collect()
}

fn count_sessions(home: &TestHome) -> usize {
    run_json(&home.claude_dir(), &["sessions"])["sessions"].as_array().unwrap().len()
}

#[test]
fn a_missing_directory_is_named_with_what_to_do() {
    let home = TestHome::new();
    let output = run_ramus(&home.path().join("nowhere"), &["sessions"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.starts_with("Error: no Claude directory at "), "{stderr}");
    assert!(stderr.contains("nowhere") && stderr.contains("ramus demo"), "{stderr}");
    fs::create_dir(home.path().join("bare")).unwrap();
    let output = run_ramus(&home.path().join("bare"), &["sessions"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("has no `projects` directory"));
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_shown() {
    let home = TestHome::new();
    let fine = home.write_session("-p/11111111-0000-4000-8000-000000000000.jsonl", FINE);
    let dir = fine.parent().unwrap();
    fs::create_dir(dir.join("22222222-0000-4000-8000-000000000000.jsonl")).unwrap();
    symlink(
        "33333333-0000-4000-8000-000000000000.jsonl",
        dir.join("33333333-0000-4000-8000-000000000000.jsonl"),
    )
    .unwrap();
    symlink("nothing", dir.join("44444444-0000-4000-8000-000000000000.jsonl")).unwrap();
    let output = run_ramus(&home.claude_dir(), &["sessions", "--json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("22222222-0000-4000-8000-000000000000.jsonl"), "{stderr}");
    assert!(stderr.contains("33333333-0000-4000-8000-000000000000.jsonl"), "{stderr}");
}

#[test]
fn damaged_lines_are_located_and_the_session_is_still_there() {
    let lines = jsonl("a user hello\nb < a assistant hi\nc < b user more");
    let lines: Vec<&str> = lines.lines().collect();
    let cut = &lines[1][..40];
    for (bytes, expected) in [
        (format!("{}\nrubbish\n{}\n", lines[0], lines[1]).into_bytes(), vec!["2:not-json"]),
        (format!("{}\n\0\0\0\0\n{}\n", lines[0], lines[1]).into_bytes(), vec!["2:nul"]),
        (format!("{}\n\0\0{}\n", lines[0], lines[1]).into_bytes(), vec!["2:nul"]),
        (format!("{}{}\n", lines[0], lines[1]).into_bytes(), vec!["1:glued"]),
        (format!("{}\n{}", lines[0], cut).into_bytes(), vec!["2:torn"]),
        (
            [lines[0].as_bytes(), b"\n", &lines[1].replace("hi", "h\u{1}").into_bytes()].concat(),
            vec![],
        ),
        (format!("\u{feff}{}\r\n\r\n{}", lines[0], lines[1]).into_bytes(), vec![]),
        (lines[0].replace("hello", "half \\ud83d emoji").into_bytes(), vec![]),
    ] {
        let home = TestHome::new();
        home.write_file("-p/11111111-0000-4000-8000-000000000000.jsonl", &bytes);
        assert_eq!(listed_defects(&home), expected, "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(count_sessions(&home), 1);
        let shown = run_ramus(&home.claude_dir(), &["show", "1111"]);
        assert_eq!(shown.status.code(), Some(0), "{}", String::from_utf8_lossy(&shown.stderr));
    }
}

#[test]
fn bad_utf8_damages_its_line_only() {
    let home = TestHome::new();
    let mut bytes = jsonl("a user caf#\nb < a assistant hi").into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'#').unwrap();
    bytes[at] = 0xff;
    home.write_file("-p/11111111-0000-4000-8000-000000000000.jsonl", bytes);
    assert_eq!(listed_defects(&home), ["1:not-utf8"]);
    let shown = run_ramus(&home.claude_dir(), &["show", "1111"]);
    assert!(String::from_utf8(shown.stdout).unwrap().contains("caf\u{fffd}"));
}

#[test]
fn broken_links_are_defects() {
    for (short, expected) in [
        ("a < a user me", vec!["1:self-parent"]),
        ("a < b user one\nb < a user two", vec!["2:cycle"]),
        ("a < gone user lost", vec!["1:orphan"]),
        ("b < a assistant hi\na user hello", vec![]),
        ("a user one\na user two", vec!["2:version"]),
        ("a user go\nb < a call:t1 ls\nc < b assistant done", vec!["2:unanswered-tool"]),
        ("a user go\nb < a result:t9 what", vec!["2:stray-result"]),
    ] {
        let home = TestHome::new();
        home.write_session("-p/11111111-0000-4000-8000-000000000000.jsonl", short);
        assert_eq!(listed_defects(&home), expected, "{short}");
        assert_eq!(
            run_ramus(&home.claude_dir(), &["tree", "1111"]).status.code(),
            Some(0),
            "{short}"
        );
    }
}

#[test]
fn check_is_strict_only_when_asked() {
    let home = TestHome::new();
    home.write_file("-p/11111111-0000-4000-8000-000000000000.jsonl", "rubbish\n");
    assert_eq!(run_ramus(&home.claude_dir(), &["check"]).status.code(), Some(0));
    assert_eq!(run_ramus(&home.claude_dir(), &["check", "--strict"]).status.code(), Some(1));
    assert_eq!(
        run_ramus(&home.claude_dir(), &["check", "1111", "--strict"]).status.code(),
        Some(1)
    );
}

#[test]
fn a_line_of_megabytes_is_one_record() {
    let home = TestHome::new();
    let long = jsonl("a user LONG\nb < a assistant hi")
        .replace("LONG", &"lorem \\\"ipsum\\\" ".repeat(220_000));
    assert!(long.len() > 3_000_000);
    home.write_file("-p/11111111-0000-4000-8000-000000000000.jsonl", long);
    let stats = run_json(&home.claude_dir(), &["stats"]);
    assert_eq!((&stats["records"], &stats["damaged"]), (&2.into(), &0.into()));
    assert_eq!(run_ramus(&home.claude_dir(), &["show", "1111"]).status.code(), Some(0));
}

#[test]
fn hostile_words_do_not_reach_the_terminal() {
    let home = TestHome::new();
    let session = jsonl("a user XX\nb < a assistant XX\n- title XX")
        .replace("XX", "\\u001b]0;owned\\u0007\\u001b[2Jhello");
    home.write_file("-p/11111111-0000-4000-8000-000000000000.jsonl", session);
    for command in [&["sessions"][..], &["show", "1111"], &["tree", "1111"], &["conversations"]] {
        let output = run_ramus(&home.claude_dir(), command);
        assert!(
            !output.stdout.contains(&0x1b),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// A pipe nobody writes to, or a device without an end, is never waited for.
#[test]
fn pipes_and_devices_are_not_read() {
    const ID: &str = "11111111-0000-4000-8000-000000000000";
    for pipe in [true, false] {
        let home = TestHome::new();
        let session = home.write_session(&format!("-p/{ID}.jsonl"), FINE);
        let dir = session.parent().unwrap();
        let agents = dir.join(ID).join("subagents");
        let state = home.path().join(".local/state/ramus");
        for dir in [&agents, &home.claude_dir().join("sessions"), &state] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::copy(&session, agents.join("agent-a1.jsonl")).unwrap();
        for path in [
            dir.join("22222222-0000-4000-8000-000000000000.jsonl"),
            agents.join("agent-a1.meta.json"),
            home.claude_dir().join("settings.json"),
            home.claude_dir().join("sessions/1.json"),
            state.join("journal.jsonl"),
            state.join("lock"),
        ] {
            if pipe {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                symlink("/dev/zero", &path).unwrap();
            }
        }
        for args in [
            &["sessions"][..],
            &["tree", "1111"],
            &["show", "1111"],
            &["find", "hello"],
            &["stats"],
            &["usage"],
            &["check"],
            &["fork", "1111", "--dry-run"],
            &["goto", "1111@1", "--yes"],
            &["log"],
            &["undo", "--yes"],
        ] {
            let output = run_ramus(&home.claude_dir(), args);
            assert!(output.status.code().is_some_and(|code| code <= 2), "{args:?}: {output:?}");
        }
    }
}

#[test]
fn a_word_too_long_for_a_pattern_is_refused_in_a_sentence() {
    let home = TestHome::new();
    home.write_session("-p/11111111-0000-4000-8000-000000000000.jsonl", FINE);
    let output = run_ramus(&home.claude_dir(), &["find", &"sk".repeat(30_000)]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("Error: ") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn what_check_finds_fits_the_width() {
    let home = TestHome::new();
    let project = "-home-dev-a-project-with-a-rather-long-name-that-takes-a-lot-of-room";
    home.write_file(
        &format!("{project}/11111111-0000-4000-8000-000000000001.jsonl"),
        format!("{}{{\"broken\n", testkit::jsonl("a user hi\nb < gone assistant there")),
    );
    for columns in ["40", "80", "120"] {
        let output = crate::ramus_command(&home.claude_dir(), &["check"])
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest} of {columns}:\n{text}");
        assert!(text.contains("11111111-0000"), "{text}");
    }
}

#[test]
fn json_holds_nothing_that_a_terminal_would_obey() {
    let home = TestHome::new();
    let words = "kettle a\u{9b}31mb \u{7f}c \u{202e}d \u{2066}e";
    home.write_session(
        "-p/11111111-0000-4000-8000-000000000001.jsonl",
        &format!("a user {words}\nb < a call:t {words}\nc < b result:t {words}\n- title {words}"),
    );
    let commands: [&[&str]; 8] = [
        &["show", "11111111", "--tools", "--json"],
        &["show", "11111111", "--as-client", "--json"],
        &["sessions", "--json"],
        &["conversations", "11111111", "--json"],
        &["tree", "11111111", "--json"],
        &["find", "kettle", "--json"],
        &["export", "11111111", "--format", "json"],
        &["stats", "--json"],
    ];
    for args in commands {
        let output = run_ramus(&home.claude_dir(), args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let bad = text.chars().find(|c| matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
        assert_eq!(bad, None, "{args:?}");
    }
}
