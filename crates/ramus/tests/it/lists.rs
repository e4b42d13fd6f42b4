//! Lists: what is left out, in which order, and what ids look like.

use serde_json::{Value, json};

use crate::{run_json, run_ramus};

const WARM_UP: &str = "a user Warmup\nb < a assistant ready";

/// Three sessions: one with a fork and a failure of the server, one that was compacted, one plain.
fn test_home() -> testkit::TestHome {
    let home = testkit::TestHome::new();
    home.write_session(
        "-w/forked.jsonl",
        "a user go\nb < a assistant left\nc < a assistant right\nd < c error overloaded",
    );
    home.write_session(
        "-w/compacted.jsonl",
        "a user @36000 go\nb < a assistant @36001 done\nc < b boundary @36002\nd < c user @36003 on\ne < d assistant @36004 yes",
    );
    home.write_session("-x/plain.jsonl", "a user @72000 hi\nb < a assistant @72001 hello");
    home.write_session("-x/agent-warm.jsonl", WARM_UP);
    home
}

fn listed_ids(home: &testkit::TestHome, args: &[&str]) -> Vec<String> {
    let rows = run_json(&home.claude_dir(), &[&["sessions"], args].concat());
    let rows = rows["sessions"].as_array().unwrap();
    rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sessions_are_filtered_and_sorted() {
    let home = test_home();
    for (args, expected) in [
        (&[][..], "plain compacted forked"),
        (&["--limit", "1"], "plain"),
        (&["--has", "forks"], "forked"),
        (&["--has", "forks", "--has", "compaction"], ""),
        (&["--has", "compaction"], "compacted"),
        (&["--has", "errors"], "forked"),
        (&["--has", "agents"], ""),
        (&["--sort", "title"], "compacted forked plain"),
        (&["--sort", "branches", "--limit", "1"], "forked"),
        (&["--since", "2026-01-01T15:00:00Z"], "plain"),
        (&["--until", "2026-01-01T05:00:00Z"], "forked"),
        (&["--since", "2026-01-01T05:00:00Z", "--until", "2026-01-01T15:00:00Z"], "compacted"),
        (&["--branch", "abandoned"], "forked"),
        (&["--branch", "no-such-branch"], ""),
        (&["--model", "claude"], "plain compacted forked"),
        (&["--model", "gpt"], ""),
        (&["--min-cost", "1000"], ""),
    ] {
        assert_eq!(listed_ids(&home, args).join(" "), expected, "{args:?}");
    }
}

#[test]
fn an_empty_list_names_its_cause() {
    let home = test_home();
    for (args, expected) in [
        (&["sessions", "--model", "gpt"][..], "no sessions match these options\n"),
        (&["projects", "--since", "2027-01-01"], "no projects match these options\n"),
        (&["conversations", "--tag", "x"], "no conversations match these options\n"),
    ] {
        let output = run_ramus(&home.claude_dir(), args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{args:?}");
    }
    let empty = testkit::TestHome::new();
    empty.write_session("-w/empty.jsonl", "");
    let output = run_ramus(&empty.claude_dir(), &["sessions"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.starts_with("no sessions found\nHint: use --all"), "{stderr}");
}

#[test]
fn conversations_and_projects_are_filtered_too() {
    let home = test_home();
    let rows = run_json(&home.claude_dir(), &["conversations", "--branch", "abandoned"]);
    let rows = rows["conversations"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["status"], &rows[0]["file"]),
        (&json!("abandoned"), &json!("projects/-w/forked.jsonl"))
    );
    let limited = run_json(&home.claude_dir(), &["conversations", "--limit", "2"]);
    assert_eq!(limited["conversations"].as_array().unwrap().len(), 2);
    let names = |args: &[&str]| -> Vec<Value> {
        let projects = run_json(&home.claude_dir(), &[&["projects"], args].concat());
        projects["projects"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect()
    };
    assert_eq!(names(&["--since", "2026-01-01T15:00:00Z"]), ["-x"]);
    assert_eq!(names(&["--sort", "branches", "--limit", "1"]), ["-w"]);
}

#[test]
fn all_lists_agents_that_only_warmed_up() {
    let home = test_home();
    assert!(!listed_ids(&home, &[]).contains(&"warm".to_owned()));
    let rows = run_json(&home.claude_dir(), &["sessions", "--all"]);
    let rows = rows["sessions"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == "warm").unwrap();
    assert_eq!(
        (&row["class"], &row["file"]),
        (&json!("warmup"), &json!("projects/-x/agent-warm.jsonl"))
    );
}

#[test]
fn tool_calls_are_found_without_a_text() {
    let home = testkit::TestHome::new();
    home.write_session(
        "-w/s.jsonl",
        "a user go\nb < a call:t1:Read /w/main.rs\nc < b result:t1 fn main\nd < c call:t2:Bash ls\ne < d result:t2 x",
    );
    let found = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), &[&["find", "--json"], args].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let uuids = text.lines().map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            row["uuid"].as_str().unwrap().to_owned()
        });
        uuids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found(&["--file", "main.rs"]), "b");
    assert_eq!(found(&["--tool", "bash"]), "d");
    assert_eq!(found(&["--tool", "Write"]), "");
}

#[test]
fn ids_that_are_no_uuids_are_printed_whole_and_accepted_back() {
    let home = testkit::TestHome::new();
    home.write_session(
        "-w/session-one.jsonl",
        "message-1 user hello\nmessage-2 < message-1 assistant left\nmessage-3 < message-1 assistant right",
    );
    let printed = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), args);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for args in [&["show", "session-one"][..], &["tree", "session-one"], &["find", "right"]] {
        let text = printed(args);
        assert!(text.contains("message-3"), "{args:?}: {text}");
    }
    assert!(printed(&["sessions"]).contains("session-one"));
    assert!(printed(&["show", "session-one:message-2"]).contains("left"));
}

#[test]
fn a_dry_run_of_restore_prints_a_plan() {
    let home = testkit::TestHome::new();
    let session = "0a1b2c3d-0000-4000-8000-000000000000";
    let path = home.write_session(
        &format!("-w/{session}.jsonl"),
        "a user v=2.1.325 hello\nb < a assistant v=2.1.325 left\nc < a assistant v=2.1.325 right",
    );
    let before = std::fs::read(&path).unwrap();
    let goto = run_ramus(&home.claude_dir(), &["goto", &format!("{session}@1"), "--yes"]);
    assert!(goto.status.success(), "{}", String::from_utf8_lossy(&goto.stderr));
    let output = run_ramus(&home.claude_dir(), &["restore", session, "--dry-run"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(&format!("3 lines, {} bytes", before.len())), "{text}");
    assert!(!text.contains("parentUuid"), "{text}");
}
