//! Originals, copies and merges as the commands show them.

use serde_json::{Value, json};

use crate::{run_json, run_ramus};

const ORIGINAL: &str = "aaaaaaaa-0000-4000-8000-000000000000";
const COPY: &str = "bbbbbbbb-0000-4000-8000-000000000000";

fn record_line(uuid: &str, parent: Option<&str>, session: &str, day: u32) -> String {
    let is_prompt = uuid.starts_with('u');
    let kind = if is_prompt { "user" } else { "assistant" };
    let message = match is_prompt {
        true => json!({"role": kind, "content": uuid}),
        false => json!({"id": format!("msg_{uuid}"), "role": kind, "model": "claude-opus-5",
            "content": [{"type": "text", "text": uuid}], "usage": {"input_tokens": 0, "output_tokens": 100}}),
    };
    let record = json!({"parentUuid": parent, "isSidechain": false, "sessionId": session, "version": "2.1.325",
        "cwd": "/w", "type": kind, "message": message, "uuid": uuid, "timestamp": format!("2026-01-{day:02}T10:00:00.000Z")});
    format!("{record}\n")
}

/// An original that continues three days after its copy, which has no `forkedFrom`.
fn forked_home() -> testkit::TestHome {
    let home = testkit::TestHome::new();
    let shared = |session: &str| {
        [record_line("u1", None, session, 1), record_line("a1", Some("u1"), session, 2)].concat()
    };
    let own = |session: &str, prompt: &str, answer: &str, day| {
        [
            record_line(prompt, Some("a1"), session, day),
            record_line(answer, Some(prompt), session, day + 1),
        ]
        .concat()
    };
    home.write_file(
        &format!("-w/{ORIGINAL}.jsonl"),
        shared(ORIGINAL) + &own(ORIGINAL, "u3", "a3", 6),
    );
    home.write_file(&format!("-w/{COPY}.jsonl"), shared(COPY) + &own(COPY, "u2", "a2", 3));
    home
}

fn row_of<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let rows = answer["sessions"].as_array().or(answer["by_session"].as_array());
    let mut rows = rows.unwrap().iter();
    rows.find(|row| row["id"] == id || row["session"] == id).unwrap()
}

#[test]
fn an_original_that_went_on_is_no_fork_of_its_copy() {
    let home = forked_home();
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    assert_eq!(row_of(&sessions, ORIGINAL)["flow"], json!(["linear"]));
    assert_eq!(row_of(&sessions, COPY)["links"], json!([{"kind": "copy", "session": ORIGINAL}]));
    let usage = run_json(&home.claude_dir(), &["usage", "--by", "session"]);
    let output = |id| row_of(&usage, id)["output"].clone();
    assert_eq!((output(ORIGINAL), output(COPY)), (json!(200), json!(100)), "{usage}");
}

#[test]
fn a_merged_session_names_its_sources() {
    let home = forked_home();
    let merge = ["merge", ORIGINAL, COPY, "--yes"];
    let merged = run_json(&home.claude_dir(), &merge);
    let id = merged["session"].as_str().unwrap_or_else(|| panic!("{merged}"));
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    let merged = row_of(&sessions, id);
    assert_eq!(merged["flow"], json!(["merged"]));
    assert_eq!(merged["complexity"], 3);
    let links = json!([{"kind": "merge", "session": ORIGINAL}, {"kind": "merge", "session": COPY}]);
    assert_eq!(merged["links"], links);
    assert_eq!(row_of(&sessions, ORIGINAL)["flow"], json!(["linear"]));
    let stats = run_json(&home.claude_dir(), &["stats"]);
    assert_eq!((&stats["merged_sessions"], &stats["unique_paths"]), (&json!(1), &json!(1)));
    let tree = run_ramus(&home.claude_dir(), &["tree", id]);
    let tree = String::from_utf8_lossy(&tree.stdout);
    assert!(tree.contains(&format!("merged from {ORIGINAL} and {COPY}")), "{tree}");
}

const FORK: &str = "cccccccc-0000-4000-8000-000000000000";
const AFTER: &str = "dddddddd-0000-4000-8000-000000000000";

fn run_stdout(home: &testkit::TestHome, args: &[&str]) -> String {
    String::from_utf8_lossy(&run_ramus(&home.claude_dir(), args).stdout).into_owned()
}

#[test]
fn a_merge_is_known_from_both_sides() {
    let home = forked_home();
    let merged = run_json(&home.claude_dir(), &["merge", ORIGINAL, COPY, "--yes"]);
    let id = merged["session"].as_str().unwrap();
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    let merge = |id: &str| json!({"kind": "merge", "session": id, "found": true});
    assert_eq!(row_of(&sessions, id)["origins"], json!([merge(ORIGINAL), merge(COPY)]));
    let offspring = row_of(&sessions, ORIGINAL)["offspring"].as_array().unwrap();
    assert!(offspring.contains(&merge(id)), "{offspring:?}");
    let tree = run_stdout(&home, &["tree", COPY]);
    assert!(tree.contains(&format!("merged into {id}")), "{tree}");
    assert!(tree.starts_with(&format!("copied from {ORIGINAL}\n")), "{tree}");
    let list = run_stdout(&home, &["sessions"]);
    assert!(list.contains("↳merge "), "{list}");
}

#[test]
fn forks_in_other_projects_and_of_deleted_sessions_are_listed() {
    let home = forked_home();
    let fork = |from: &str| {
        let mut record: Value = serde_json::from_str(&record_line("u1", None, FORK, 1)).unwrap();
        record["forkedFrom"] = json!({"sessionId": from, "messageUuid": "u1"});
        format!("{record}\n")
    };
    home.write_file(&format!("-elsewhere/{FORK}.jsonl"), fork(ORIGINAL));
    let origin = |id: &str, found| json!([{"kind": "fork", "session": id, "found": found}]);
    // The other project is known although only this one is listed.
    for args in [&["sessions"][..], &["sessions", "-elsewhere"]] {
        let sessions = run_json(&home.claude_dir(), args);
        assert_eq!(row_of(&sessions, FORK)["origins"], origin(ORIGINAL, true), "{args:?}");
    }
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    assert!(row_of(&sessions, ORIGINAL)["offspring"].to_string().contains(FORK));
    home.write_file(&format!("-elsewhere/{FORK}.jsonl"), fork(AFTER));
    let tree = run_stdout(&home, &["tree", FORK]);
    assert!(tree.starts_with(&format!("forked from {AFTER} (not found)\n")), "{tree}");
}

/// Writes a session that begins with `/clear`, typed on 9 January at ten.
fn add_cleared_session(home: &testkit::TestHome) {
    let mut first: Value = serde_json::from_str(&record_line("u5", None, AFTER, 9)).unwrap();
    first["message"]["content"] =
        json!("<command-name>/clear</command-name>\n<command-message>clear</command-message>");
    let next = record_line("u6", Some("u5"), AFTER, 10);
    home.write_file(&format!("-w/{AFTER}.jsonl"), format!("{first}\n{next}"));
}

#[test]
fn what_clear_began_names_the_session_only_where_the_client_noted_it() {
    let home = forked_home();
    add_cleared_session(&home);
    let origins = |home: &testkit::TestHome| {
        row_of(&run_json(&home.claude_dir(), &["sessions"]), AFTER)["origins"].clone()
    };
    assert_eq!(origins(&home), json!([{"kind": "clear", "session": null, "found": false}]));
    assert!(run_stdout(&home, &["tree", AFTER]).starts_with("started with /clear\n"));
    let note = |session: &str, millis: i64| {
        let note = json!({"display": "/clear", "project": "/w", "sessionId": session, "timestamp": millis});
        format!("{note}\n")
    };
    let noted = home.claude_dir().join("history.jsonl");
    let at = 1_767_952_800_000;
    let far = note(COPY, at - 60_000);
    std::fs::write(&noted, far.clone() + &note(ORIGINAL, at + 20)).unwrap();
    assert_eq!(origins(&home), json!([{"kind": "clear", "session": ORIGINAL, "found": true}]));
    let tree = run_stdout(&home, &["tree", ORIGINAL]);
    assert!(tree.contains(&format!("cleared, continued in {AFTER}")), "{tree}");
    // Two sessions were cleared at once: it is unknown which of them this one came from.
    std::fs::write(&noted, note(COPY, at) + &note(ORIGINAL, at)).unwrap();
    assert_eq!(origins(&home)[0]["session"], Value::Null);
}

#[test]
fn agents_whose_session_is_gone_are_listed() {
    let home = forked_home();
    let agent = "a user count the cups\nb < a assistant twelve";
    home.write_session(&format!("-w/{FORK}/subagents/agent-lost1.jsonl"), agent);
    home.write_session(&format!("-w/{ORIGINAL}/subagents/agent-kept1.jsonl"), agent);
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    let lost = sessions["lost_agents"].as_array().unwrap();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!((&lost[0]["agent"], &lost[0]["session"]), (&json!("lost1"), &json!(FORK)));
    let list = run_stdout(&home, &["sessions"]);
    assert!(list.contains("▸ agent-lost1  of cccccccc, which was deleted"), "{list}");
    let tree = run_stdout(&home, &["tree", "agent-lost1"]);
    assert!(tree.starts_with(&format!("agent of {FORK} (not found)\n")), "{tree}");
}

/// A session in which a person went back after `/w/a.txt` had been changed; the checkpoint of the new prompt
/// names `backup`.
fn went_back(backup: &str) -> testkit::TestHome {
    let home = testkit::TestHome::new();
    let snapshot = |prompt: &str, backups: Value| {
        let snapshot = json!({"messageId": prompt, "timestamp": "2026-01-01T10:00:00.000Z", "trackedFileBackups": backups});
        json!({"type": "file-history-snapshot", "messageId": prompt, "snapshot": snapshot, "isSnapshotUpdate": false}).to_string() + "\n"
    };
    let entry = |name: &str, version: u32| {
        let backup = json!({"backupFileName": name, "version": version, "backupTime": "2026-01-01T10:00:00.000Z"});
        json!({"a.txt": backup})
    };
    let mut call: Value =
        serde_json::from_str(&record_line("a2", Some("u2"), ORIGINAL, 3)).unwrap();
    call["message"]["content"] = json!([{"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "/w/a.txt", "content": "new"}}]);
    let mut result: Value =
        serde_json::from_str(&record_line("u3", Some("a2"), ORIGINAL, 4)).unwrap();
    result["message"]["content"] =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]);
    result["toolUseResult"] = json!({"type": "update", "filePath": "/w/a.txt", "content": "new", "originalFile": "old", "structuredPatch": []});
    let version = backup.rsplit('v').next().unwrap().parse().unwrap();
    let records = [
        record_line("u1", None, ORIGINAL, 1),
        record_line("a1", Some("u1"), ORIGINAL, 2),
        snapshot("u2", entry("0123456789abcdef@v1", 1)),
        record_line("u2", Some("a1"), ORIGINAL, 3),
        format!("{call}\n{result}\n"),
        record_line("a3", Some("u3"), ORIGINAL, 5),
        snapshot("u4", entry(backup, version)),
        record_line("u4", Some("a1"), ORIGINAL, 6),
        record_line("a4", Some("u4"), ORIGINAL, 7),
    ];
    home.write_file(&format!("-w/{ORIGINAL}.jsonl"), records.concat());
    let backups = home.claude_dir().join("file-history").join(ORIGINAL);
    std::fs::create_dir_all(&backups).unwrap();
    for (name, text) in [("v1", "old"), ("v2", "new"), ("v3", "old"), ("v4", "other")] {
        std::fs::write(backups.join(format!("0123456789abcdef@{name}")), text).unwrap();
    }
    home
}

#[test]
fn a_tree_tells_whether_files_went_back_too() {
    for (backup, files) in [
        ("0123456789abcdef@v1", json!("restored")),
        ("0123456789abcdef@v2", json!("kept")),
        ("0123456789abcdef@v3", json!("restored")),
        // Somebody changed the file meanwhile, or its backup is gone.
        ("0123456789abcdef@v4", Value::Null),
        ("0123456789abcdef@v9", Value::Null),
    ] {
        let home = went_back(backup);
        let tree = run_json(&home.claude_dir(), &["tree", ORIGINAL]);
        assert_eq!(tree["forks"][0]["files"], files, "{backup} {tree}");
    }
    let tree = run_stdout(&went_back("0123456789abcdef@v2"), &["tree", ORIGINAL]);
    assert!(tree.contains("edited prompt: 2 branches, files kept"), "{tree}");
}
