//! `ramus merge`: options, output, copied files and refusals.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use testkit::TestHome;

use crate::{run_json, run_ramus};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const OTHER: &str = "22222222-0000-4000-8000-000000000002";
const PROJECT: &str = "-home-dev-app";

const TWO: &str = "
    p1       user       v=2.1.325 tune the harp
    a1 < p1  assistant  which harp
    p2 < a1  user       the gold one
    a2 < p2  assistant  the gold one is tuned
    p3 < a1  user       the small one
    a3 < p3  assistant  the small one is tuned
";

fn write_scene(short: &str) -> (TestHome, PathBuf) {
    let home = TestHome::new();
    let path = home.write_session(&format!("{PROJECT}/{ID}.jsonl"), short);
    (home, path)
}

fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn merged_records(answer: &Value) -> Vec<Value> {
    let text = fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The texts of a session, in the order of its file.
fn message_texts(records: &[Value]) -> Vec<String> {
    let content = |record: &Value| match &record["message"]["content"] {
        Value::String(text) => Some(text.clone()),
        blocks => blocks[0]["text"].as_str().map(str::to_owned),
    };
    records.iter().filter_map(content).collect()
}

#[test]
fn a_merge_is_a_separate_session_and_can_be_undone() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    let answer =
        run_json(&home.claude_dir(), &["merge", "1111@1", "1111@2", "--title", "Harps", "--yes"]);
    assert_eq!(answer["schema"], "ramus.merge/1");
    assert_eq!(answer["operation"], "merge");
    assert_eq!(answer["common"], 2);
    assert_eq!(answer["messages"], 6);
    let exchanges = answer["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 2);
    assert_eq!(exchanges[1]["conversation"], 2);
    assert_eq!(exchanges[1]["fate"], "copied");
    let lines = merged_records(&answer);
    assert_eq!(message_texts(&lines).len(), 6);
    assert_eq!(lines[0]["mergedFrom"]["sessionId"], ID);
    assert_eq!(lines[6]["customTitle"], "Harps");
    assert_eq!(fs::read(&path).unwrap(), before);
    let new = answer["session"].as_str().unwrap();
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    let found = sessions["sessions"].as_array().unwrap().iter().find(|s| s["id"] == new).unwrap();
    assert_eq!(found["resume_leaf"], answer["resume_leaf"]);
    assert_eq!(found["conversations"], 1);
    assert_eq!(run_json(&home.claude_dir(), &["log"])["operations"][0]["operation"], "merge");
    run_json(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_dry_run_numbers_exchanges_and_pick_takes_the_numbers() {
    let (home, path) = write_scene(TWO);
    let output = run_ramus(&home.claude_dir(), &["merge", "1111:a2", "1111:a3", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    let talk = stderr_text(&output);
    assert!(talk.contains("1:1   p2"), "{talk}");
    assert!(talk.contains("2:1   p3"), "{talk}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 8, "{talk}");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    let picked = ["merge", "1111:a2", "1111:a3", "--pick", "2:1", "--pick", "1", "--yes"];
    let answer = run_json(&home.claude_dir(), &picked);
    let said = message_texts(&merged_records(&answer));
    assert_eq!(
        said[2..],
        ["the small one", "the small one is tuned", "the gold one", "the gold one is tuned"]
    );
    for (pick, words) in [("3:1", "no exchange 3:1"), ("1:x", "invalid exchange")] {
        let output = run_ramus(
            &home.claude_dir(),
            &["merge", "1111:a2", "1111:a3", "--pick", pick, "--yes"],
        );
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr_text(&output).contains(words), "{}", stderr_text(&output));
    }
}

#[test]
fn others_in_short_are_one_message() {
    let (home, _) = write_scene(TWO);
    let args = ["merge", "1111:a2", "1111:a3", "--strategy", "digest", "--yes"];
    let said = message_texts(&merged_records(&run_json(&home.claude_dir(), &args)));
    assert_eq!(said.len(), 5);
    assert!(
        said[4].contains("> User: the small one\n> Assistant: the small one is tuned"),
        "{}",
        said[4]
    );
}

/// Merges with a command; returns its messages and whether nothing was created.
#[track_caller]
fn run_assisted(home: &TestHome, command: &str, more: &[&str]) -> (Output, bool) {
    let args = ["merge", "1111:a2", "1111:a3", "--strategy", "assisted", "--with", command];
    let output = run_ramus(&home.claude_dir(), &[&args[..], more].concat());
    let dir = home.claude_dir().join("projects").join(PROJECT);
    (output, fs::read_dir(dir).unwrap().count() == 1)
}

#[test]
fn a_command_writes_the_digest() {
    let (home, _) = write_scene(TWO);
    let seen = home.claude_dir().join("seen.txt");
    let command = format!("tee {} > /dev/null; echo; echo Only the small harp.", seen.display());
    let (output, untouched) = run_assisted(&home, &command, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(
        untouched && stderr_text(&output).contains("│ Only the small harp."),
        "{}",
        stderr_text(&output)
    );
    let brief = fs::read_to_string(&seen).unwrap();
    assert!(brief.contains("> User: the gold one\n> Assistant: the gold one is tuned"), "{brief}");
    assert!(brief.contains("> User: the small one"), "{brief}");
    assert!(brief.contains("Conflicts: none") && !brief.contains("which harp"), "{brief}");
    let (output, untouched) = run_assisted(&home, &command, &["--yes", "--json"]);
    assert!(!untouched, "{}", stderr_text(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["assisted"], "Only the small harp.");
    assert_eq!(answer["exchanges"][1]["fate"], "summarized");
    let lines = merged_records(&answer);
    let digest = message_texts(&lines).pop().unwrap();
    assert!(digest.ends_with("]\n\nOnly the small harp."), "{digest}");
    let record = lines.iter().find(|line| line["message"]["content"] == *digest).unwrap();
    assert_eq!(record["mergedFrom"][0]["messageUuid"], "a3");
    let log = run_json(&home.claude_dir(), &["log"]);
    let words = log["operations"][0]["words"].as_str().unwrap();
    assert!(words.ends_with(", assisted"), "{words}");
}

#[test]
fn nothing_is_written_without_a_digest() {
    let (home, _) = write_scene(TWO);
    let check = |command: &str, words: &str| {
        let (output, untouched) = run_assisted(&home, command, &["--yes"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let talk = stderr_text(&output);
        assert!(untouched && talk.contains("nothing changed: `"), "{command}: {talk}");
        assert!(talk.contains(words), "{command}: {talk}");
    };
    check("cat > /dev/null; echo no; exit 3", "failed with exit code 3");
    check("no-such-command-of-ours", "was not found");
    check("true", "printed nothing");
    check("cat > /dev/null; echo ' '", "printed nothing");
    check("yes", "printed more than 100000 bytes");
    check("printf 'a\\377'", "not UTF-8");
    check("kill -9 $$", "SIGKILL");
    let args = ["merge", "1111:a2", "1111:a3", "--strategy", "assisted", "--yes"];
    let output = run_ramus(&home.claude_dir(), &args);
    assert!(stderr_text(&output).contains("needs `--with COMMAND`"), "{}", stderr_text(&output));
    let output =
        run_ramus(&home.claude_dir(), &["merge", "1111:a2", "1111:a3", "--with", "cat", "--yes"]);
    assert!(
        stderr_text(&output).contains("needs `--strategy assisted`"),
        "{}",
        stderr_text(&output)
    );
}

#[test]
fn a_command_is_not_run_for_nothing() {
    let home = TestHome::new();
    home.write_file(&format!("{PROJECT}/{ID}.jsonl"), conflicting_sessions("gold\n", "small\n"));
    let ran = home.claude_dir().join("ran");
    let command = format!("cat > {}; echo digest", ran.display());
    let args = ["merge", "1111:r2", "1111:r3", "--strategy", "assisted", "--with", &command];
    let output = run_ramus(&home.claude_dir(), &[&args[..], &["--yes"]].concat());
    assert!(stderr_text(&output).contains("--on-conflict"), "{}", stderr_text(&output));
    let output = run_ramus(&home.claude_dir(), &[&args[..], &["--on-conflict", "ours"]].concat());
    assert!(stderr_text(&output).contains("no terminal to confirm on"), "{}", stderr_text(&output));
    assert!(!ran.exists());
    run_json(&home.claude_dir(), &[&args[..], &["--on-conflict", "ours", "--yes"]].concat());
    let brief = fs::read_to_string(ran).unwrap();
    assert!(brief.contains("`notes.txt`") && brief.contains("small"), "{brief}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_command_and_all_that_it_started() {
    let (home, path) = write_scene(TWO);
    let (pids, ready) = (home.claude_dir().join("pids"), home.claude_dir().join("ready"));
    assert!(std::process::Command::new("mkfifo").arg(&ready).status().unwrap().success());
    let command = format!(
        "trap '' TERM; sleep 600 & echo $$ $! > {}; echo > {}; wait; sleep 600",
        pids.display(),
        ready.display()
    );
    let args =
        ["merge", "1111:a2", "1111:a3", "--strategy", "assisted", "--yes", "--with", &command];
    let child = crate::ramus_command(&home.claude_dir(), &args)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Opens once the command writes to the other end.
    fs::read(&ready).unwrap();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(stderr_text(&output).contains("was interrupted"), "{}", stderr_text(&output));
    assert_eq!(output.status.code(), Some(2));
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        // A killed process may still be ending; one that was not killed sleeps for ten minutes.
        let stat = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let has_ended = |stat: &str| stat.is_empty() || stat.contains(") Z");
        for _ in 0..600 {
            if !has_ended(&stat()) {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        }
        assert!(has_ended(&stat()), "{pid} still runs: {}", stat());
    }
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_refused_merge_has_a_hint() {
    let (home, _) = write_scene(TWO);
    home.write_session(
        &format!("{PROJECT}/{OTHER}.jsonl"),
        "x1 user v=2.1.325 hello\ny1 < x1 assistant hi",
    );
    let check = |args: &[&str], words: &[&str]| {
        let output = run_ramus(&home.claude_dir(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        for word in words {
            assert!(stderr_text(&output).contains(word), "{args:?} {}", stderr_text(&output));
        }
    };
    check(
        &["merge", "1111:a2", "2222", "--yes"],
        &["conversation 2 has nothing in common", "--no-base"],
    );
    check(&["merge", "1111:a2", "1111:a1", "--yes"], &["conversation 2 adds nothing"]);
    check(&["merge", "1111:a2", "1111:a3"], &["--yes"]);
    check(&["merge", "1111:a2"], &["ADDRESS"]);
    check(&["merge", "1111:a2", "1111:a3", "--strategy", "pick"], &["--pick"]);
    let answer = run_json(&home.claude_dir(), &["merge", "1111:a2", "2222", "--no-base", "--yes"]);
    assert_eq!(message_texts(&merged_records(&answer)).len(), 6);
}

/// Two branches that write one file.
fn conflicting_sessions(first: &str, second: &str) -> String {
    let mut lines = testkit::jsonl(
        "
        p1       user           v=2.1.325 begin
        a1 < p1  assistant      yes
        p2 < a1  user           one
        c2 < p2  call:t1:Write  notes.txt
        r2 < c2  result:t1      done
        p3 < a1  user           other
        c3 < p3  call:t2:Write  notes.txt
        r3 < c3  result:t2      done
        ",
    );
    for (call, content) in [("t1", first), ("t2", second)] {
        let records = lines.lines().map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if record["message"]["content"][0]["tool_use_id"] == call {
                record["toolUseResult"] = serde_json::json!({
                    "type": "create", "filePath": "notes.txt", "content": content, "structuredPatch": [],
                });
            }
            record.to_string() + "\n"
        });
        lines = records.collect();
    }
    lines
}

#[test]
fn conflicts_stop_until_a_version_is_chosen() {
    let home = TestHome::new();
    home.write_file(&format!("{PROJECT}/{ID}.jsonl"), conflicting_sessions("gold\n", "small\n"));
    let merge = ["merge", "1111:r2", "1111:r3", "--yes"];
    let output = run_ramus(&home.claude_dir(), &merge);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_text(&output).contains("conflict  notes.txt  1: +1 −0, 1 line   2: +1"),
        "{}",
        stderr_text(&output)
    );
    assert!(stderr_text(&output).contains("--on-conflict"));
    let output = run_ramus(&home.claude_dir(), &[&merge[..], &["--json"]].concat());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["conflicts"][0]["ends"][1]["content"], "small\n");
    assert_eq!(answer["op"], Value::Null);
    for (policy, holds, not) in [("ours", "gold", "small"), ("theirs", "small", "gold")] {
        let answer =
            run_json(&home.claude_dir(), &[&merge[..], &["--on-conflict", policy]].concat());
        let note = message_texts(&merged_records(&answer)).pop().unwrap();
        assert!(note.contains(holds) && !note.contains(not), "{note}");
    }
    let answer =
        run_json(&home.claude_dir(), &[&merge[..], &["--on-conflict", "keep-both"]].concat());
    let note = message_texts(&merged_records(&answer)).pop().unwrap();
    assert!(note.contains("gold") && note.contains("small"), "{note}");
    home.write_file(&format!("{PROJECT}/{ID}.jsonl"), conflicting_sessions("same\n", "same\n"));
    assert_eq!(run_json(&home.claude_dir(), &merge)["conflicts"].as_array().unwrap().len(), 0);
}

#[test]
fn agents_outputs_and_backups_come_along() {
    let home = TestHome::new();
    let with = |short: &str, id: &str, agent: &str| {
        home.write_session(&format!("{PROJECT}/{id}.jsonl"), short);
        home.write_session(
            &format!("{PROJECT}/{id}/subagents/agent-{agent}.jsonl"),
            "x side-user v=2.1.325 look\ny < x side-assistant v=2.1.325 seen",
        );
        home.write_file(&format!("{PROJECT}/{id}/tool-results/{agent}.txt"), agent);
        let backups = home.claude_dir().join("file-history").join(id);
        fs::create_dir_all(&backups).unwrap();
        fs::write(backups.join("0123456789abcdef@v1"), agent).unwrap();
    };
    let session = |n: u8| {
        format!(
            "
            p1           user              v=2.1.325 begin
            a1 < p1      assistant         yes
            p{n} < a1    user              ask {n}
            c{n} < p{n}  call:t{n}:Task    look
            r{n} < c{n}  result:t{n}:ag{n} seen
            "
        )
    };
    with(&session(2), ID, "ag2");
    with(&session(3), OTHER, "ag3");
    let mut lines =
        fs::read_to_string(home.claude_dir().join(format!("projects/{PROJECT}/{OTHER}.jsonl")))
            .unwrap();
    lines.push_str(r#"{"type":"file-history-snapshot","messageId":"p3","snapshot":{"messageId":"p3","trackedFileBackups":{"a.txt":{"backupFileName":"0123456789abcdef@v1","version":1}}},"isSnapshotUpdate":false}"#);
    lines.push('\n');
    home.write_file(&format!("{PROJECT}/{OTHER}.jsonl"), lines);
    let answer = run_json(&home.claude_dir(), &["merge", "1111", "2222", "--yes"]);
    let new = answer["session"].as_str().unwrap();
    let dir = home.claude_dir().join("projects").join(PROJECT).join(new);
    for agent in ["ag2", "ag3"] {
        let text = fs::read_to_string(dir.join(format!("subagents/agent-{agent}.jsonl"))).unwrap();
        assert_eq!(text.matches(new).count(), 2, "{text}");
        assert!(dir.join(format!("tool-results/{agent}.txt")).is_file());
    }
    // Both sessions call a backup the same; the second one is called otherwise, here and there.
    let backups = home.claude_dir().join("file-history").join(new);
    assert_eq!(fs::read_to_string(backups.join("0123456789abcdef@v1")).unwrap(), "ag2");
    assert_eq!(
        fs::read_to_string(backups.join(format!("0123456789abcdef@v1-{OTHER}"))).unwrap(),
        "ag3"
    );
    let records = merged_records(&answer);
    let prompt = records.iter().find(|r| r["message"]["content"] == "ask 3").unwrap();
    let snapshot = records.iter().find(|r| r["type"] == "file-history-snapshot").unwrap();
    assert_eq!(snapshot["snapshot"]["messageId"], prompt["uuid"]);
    let backup = &snapshot["snapshot"]["trackedFileBackups"]["a.txt"]["backupFileName"];
    assert_eq!(*backup, format!("0123456789abcdef@v1-{OTHER}"));
}
