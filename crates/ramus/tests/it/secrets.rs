//! `ramus check --secrets`.

use std::fs;

use serde_json::Value;
use testkit::TestHome;

use crate::run_ramus;

fn home_with_secrets(key: &str) -> TestHome {
    let home = TestHome::new();
    home.write_session(
        "-home-dev-app/0123abcd.jsonl",
        &format!(
            "a user use {key} and {key}\nb < a assistant ok\nc < b user PGPASSWORD=hunter22 psql"
        ),
    );
    home.write_session(
        "-home-dev-app/4567cdef.jsonl",
        "a user nothing here\nb < a assistant password: str",
    );
    let spilled = home.claude_dir().join("projects").join("-home-dev-app/0123abcd/tool-results");
    fs::create_dir_all(&spilled).unwrap();
    fs::write(spilled.join("out.txt"), "one\ntwo\nDB_PASSWORD=hunter22\n").unwrap();
    home
}

#[test]
fn secrets_are_listed_by_session_and_line_and_never_shown() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let home = home_with_secrets(&key);
    let answer = run_ramus(&home.claude_dir(), &["check", "--secrets", "--json"]);
    assert_eq!(answer.status.code(), Some(0));
    let text = String::from_utf8(answer.stdout).unwrap();
    assert!(!text.contains(&key) && !text.contains("hunter22"), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "ramus.check.secrets/1");
    assert_eq!((&answer["count"], &answer["files"]), (&4.into(), &3.into()));
    assert_eq!(answer["by_rule"], serde_json::json!({"github-pat": 2, "password": 2}));
    assert_eq!(answer["sessions"].as_array().unwrap().len(), 1);
    let places = &answer["sessions"][0]["places"];
    let row = |n: usize| (&places[n]["line"], &places[n]["rule"], &places[n]["times"]);
    assert_eq!(row(0), (&1.into(), &"github-pat".into(), &2.into()));
    assert_eq!(row(1), (&3.into(), &"password".into(), &1.into()));
    assert_eq!(row(2), (&3.into(), &"password".into(), &1.into()));
    assert_eq!(places[0]["masked"], "ghp_… (40 characters)");
    assert!(places[2]["file"].as_str().unwrap().ends_with("tool-results/out.txt"), "{places}");
}

#[test]
fn the_text_masks_secrets_and_strict_fails_on_them() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let home = home_with_secrets(&key);
    let found = run_ramus(&home.claude_dir(), &["check", "--secrets", "--strict"]);
    assert_eq!(found.status.code(), Some(1));
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(text.starts_with("4 secrets in 1 session of 3 files"), "{text}");
    assert!(text.contains("0123abcd.jsonl:1  github-pat  ghp_… (40 characters)  ×2"), "{text}");
    assert!(!text.contains(&key) && !text.contains("hunter22"), "{text}");
    let clean = run_ramus(&home.claude_dir(), &["check", "4567", "--secrets", "--strict"]);
    assert_eq!(clean.status.code(), Some(0));
    assert_eq!(String::from_utf8(clean.stdout).unwrap(), "No secrets found in 1 file.\n");
}
