//! Originals, copies and merges as the commands show them.

use serde_json::{Value, json};

use crate::{json, ramus};

const ORIGINAL: &str = "aaaaaaaa-0000-4000-8000-000000000000";
const COPY: &str = "bbbbbbbb-0000-4000-8000-000000000000";

fn line(uuid: &str, parent: Option<&str>, session: &str, day: u32) -> String {
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

/// An original that goes on three days after its copy did, which does not say `forkedFrom`.
fn forked() -> testkit::Home {
    let home = testkit::Home::new();
    let shared =
        |session: &str| [line("u1", None, session, 1), line("a1", Some("u1"), session, 2)].concat();
    let own = |session: &str, prompt: &str, answer: &str, day| {
        [line(prompt, Some("a1"), session, day), line(answer, Some(prompt), session, day + 1)]
            .concat()
    };
    home.write(&format!("-w/{ORIGINAL}.jsonl"), shared(ORIGINAL) + &own(ORIGINAL, "u3", "a3", 6));
    home.write(&format!("-w/{COPY}.jsonl"), shared(COPY) + &own(COPY, "u2", "a2", 3));
    home
}

fn row<'a>(answer: &'a Value, id: &str) -> &'a Value {
    let rows = answer["sessions"].as_array().or(answer["by_session"].as_array());
    let mut rows = rows.unwrap().iter();
    rows.find(|row| row["id"] == id || row["session"] == id).unwrap()
}

#[test]
fn an_original_that_went_on_is_no_fork_of_its_copy() {
    let home = forked();
    let sessions = json(&home.claude(), &["sessions"]);
    assert_eq!(row(&sessions, ORIGINAL)["flow"], json!(["linear"]));
    assert_eq!(row(&sessions, COPY)["links"], json!([{"kind": "copy", "session": ORIGINAL}]));
    let usage = json(&home.claude(), &["usage", "--by", "session"]);
    let output = |id| row(&usage, id)["output"].clone();
    assert_eq!((output(ORIGINAL), output(COPY)), (json!(200), json!(100)), "{usage}");
}

#[test]
fn a_merged_session_names_its_sources() {
    let home = forked();
    let merge = ["merge", ORIGINAL, COPY, "--yes"];
    let merged = json(&home.claude(), &merge);
    let id = merged["session"].as_str().unwrap_or_else(|| panic!("{merged}"));
    let sessions = json(&home.claude(), &["sessions"]);
    let merged = row(&sessions, id);
    assert_eq!(merged["flow"], json!(["merged"]));
    assert_eq!(merged["complexity"], 3);
    let links = json!([{"kind": "merge", "session": ORIGINAL}, {"kind": "merge", "session": COPY}]);
    assert_eq!(merged["links"], links);
    assert_eq!(row(&sessions, ORIGINAL)["flow"], json!(["linear"]));
    let stats = json(&home.claude(), &["stats"]);
    assert_eq!((&stats["merged_sessions"], &stats["unique_paths"]), (&json!(1), &json!(1)));
    let tree = ramus(&home.claude(), &["tree", id]);
    let tree = String::from_utf8_lossy(&tree.stdout);
    assert!(tree.contains(&format!("merged from {ORIGINAL} and {COPY}")), "{tree}");
}
