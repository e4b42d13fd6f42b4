//! `ramus pin`, `tag` and `note`: stored outside the history, shown in lists, included in packs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::TestHome;

use crate::{run_json, run_ramus};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const OTHER: &str = "22222222-0000-4000-8000-000000000002";

fn test_home() -> TestHome {
    let home = TestHome::new();
    home.write_session(&format!("-w/{ID}.jsonl"), "a user tune\nb < a assistant tuned");
    home.write_session(&format!("-w/{OTHER}.jsonl"), "c user @60 paint\nd < c assistant @61 done");
    home
}

fn state_file(home: &TestHome) -> PathBuf {
    home.path().join(".local/state/ramus/annotations.jsonl")
}

fn session_ids(claude: &Path, args: &[&str]) -> Vec<Value> {
    let rows = run_json(claude, &[&["sessions"], args].concat());
    rows["sessions"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect()
}

#[track_caller]
fn check_done(home: &TestHome, args: &[&str]) {
    let output = run_ramus(&home.claude_dir(), args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn annotations_are_listed_and_filtered_by() {
    let home = test_home();
    let claude = home.claude_dir();
    let before = fs::read(claude.join(format!("projects/-w/{ID}.jsonl"))).unwrap();
    check_done(&home, &["tag", ID, "Review", "#bug"]);
    check_done(&home, &["tag", &format!("{OTHER}:d"), "bug"]);
    check_done(&home, &["pin", ID]);
    check_done(&home, &["note", ID, "second try"]);
    assert_eq!(fs::read(claude.join(format!("projects/-w/{ID}.jsonl"))).unwrap(), before);

    let rows = run_json(&claude, &["sessions", "--tag", "review"]);
    let row = &rows["sessions"][0];
    assert_eq!(row["tags"], json!(["bug", "review"]));
    assert_eq!((&row["pinned"], &row["note"]), (&json!(true), &json!("second try")));
    // A message with the tag is enough.
    assert_eq!(session_ids(&claude, &["--tag", "bug"]), [OTHER, ID]);
    assert_eq!(session_ids(&claude, &["--tag", "bug", "--tag", "review"]), [ID]);
    assert_eq!(session_ids(&claude, &["--pinned"]), [ID]);
    let text = String::from_utf8(run_ramus(&claude, &["sessions"]).stdout).unwrap();
    assert!(text.contains("◆ ") && text.contains("#bug #review"), "{text}");

    let all = run_json(&claude, &["tag"]);
    assert_eq!(all["schema"], "ramus.annotations/1");
    assert_eq!(all["annotations"][1]["message"], "d");
    let tags = String::from_utf8(run_ramus(&claude, &["tag"]).stdout).unwrap();
    assert!(tags.lines().any(|line| line.split_whitespace().eq(["bug", "1", "1"])), "{tags}");

    check_done(&home, &["tag", ID, "review", "--remove"]);
    check_done(&home, &["pin", ID, "--remove"]);
    check_done(&home, &["note", ID, "--remove"]);
    let left = run_json(&claude, &["tag", ID]);
    assert_eq!(left["annotations"][0]["tags"], json!(["bug"]));
    assert_eq!(run_ramus(&claude, &["pin"]).status.code(), Some(1));
}

#[test]
fn missing_tags_and_notes_are_reported() {
    let home = test_home();
    for (command, expected) in
        [("tag", "11111111 has no tags\n"), ("note", "11111111 has no note\n")]
    {
        let output = run_ramus(&home.claude_dir(), &[command, ID]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_tag_that_is_no_word_and_an_address_that_is_none_are_refused() {
    let home = test_home();
    for args in
        [&["tag", ID, "two words"][..], &["tag", "nowhere", "x"], &["pin", &format!("{ID}:zz")]]
    {
        let output = run_ramus(&home.claude_dir(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!state_file(&home).exists());
    }
}

#[test]
fn a_damaged_file_is_reported_by_line_and_kept() {
    let home = test_home();
    check_done(&home, &["pin", ID]);
    let path = state_file(&home);
    let text = fs::read_to_string(&path).unwrap() + "{\"session\": 7}\n";
    fs::write(&path, &text).unwrap();
    let output = run_ramus(&home.claude_dir(), &["sessions", "--pinned"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("annotations.jsonl") && stderr.contains("line 2"), "{stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("tune"));
    check_done(&home, &["pin", OTHER]);
    assert!(fs::read_to_string(&path).unwrap().contains("{\"session\": 7}\n"));
}

#[test]
fn annotations_go_along_in_a_pack() {
    let home = test_home();
    check_done(&home, &["tag", ID, "review"]);
    check_done(&home, &["note", &format!("{ID}:b"), "mail me at ann@example.org"]);
    let pack = home.path().join("work.tar.zst");
    let redacted = home.path().join("redacted.tar.zst");
    check_done(&home, &["pack", ID, "-o", &pack.to_string_lossy()]);
    check_done(&home, &["pack", ID, "--redact", "-o", &redacted.to_string_lossy()]);
    for (pack, note) in [(pack, Some("mail me at ann@example.org")), (redacted, None)] {
        let other = TestHome::new();
        let work = other.path().join("work");
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(other.claude_dir()).unwrap();
        let into = work.to_string_lossy().into_owned();
        let args = ["unpack", &*pack.to_string_lossy(), "--into", &into, "--yes"];
        check_done(&other, &args);
        assert_eq!(session_ids(&other.claude_dir(), &["--tag", "review"]), [ID]);
        let notes = run_json(&other.claude_dir(), &["note"]);
        let written = notes["annotations"][0]["note"].as_str().unwrap();
        match note {
            Some(note) => assert_eq!(written, note),
            None => assert!(!written.contains("ann@example.org"), "{written}"),
        }
        assert_eq!(notes["annotations"][0]["message"], "b");
        // A second copy gets another id, and what belongs to it.
        check_done(&other, &args);
        assert_eq!(session_ids(&other.claude_dir(), &["--tag", "review"]).len(), 2);
    }
}
