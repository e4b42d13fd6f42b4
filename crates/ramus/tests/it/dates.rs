//! Dates that are missing or lie in the future hide nothing, and are reported.

use serde_json::json;

use crate::{run_json, run_ramus};

fn printed_text(home: &testkit::TestHome, args: &[&str]) -> String {
    let output = run_ramus(&home.claude_dir(), args);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A session without any date, as the shortest descriptions of the format have it.
fn undated_home() -> testkit::TestHome {
    let home = testkit::TestHome::new();
    let lines = [
        json!({"type": "user", "uuid": "first", "parentUuid": null, "content": "Good morning"}),
        json!({"type": "assistant", "uuid": "second", "parentUuid": "first", "content": "Good evening"}),
        json!({"type": "summary", "summary": "Manners", "leafUuid": "second"}),
    ];
    home.write_file("-w/greeting.jsonl", lines.map(|line| format!("{line}\n")).concat());
    home
}

#[test]
fn a_session_without_dates_is_shown_whole_and_reported() {
    let home = undated_home();
    let text = printed_text(&home, &["show", "greeting"]);
    assert!(text.contains("Good morning") && text.contains("Good evening"), "{text}");
    let check = run_json(&home.claude_dir(), &["check"]);
    assert_eq!(check["defects"][0]["kind"], "missing-date");
    assert_eq!(
        (&check["defects"][0]["line"], check["defects"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    let explained = printed_text(&home, &["conversations", "greeting", "--explain"]);
    assert!(
        explained.contains("no record has a timestamp, so later messages are not resumed"),
        "{explained}"
    );
}

#[test]
fn a_record_dated_in_the_future_hides_nothing_and_is_reported() {
    let home = testkit::TestHome::new();
    // The second answer is dated in the year 2118.
    let lines = testkit::jsonl(
        "a user v=2.0.74 one
         b < a assistant v=2.0.74 two
         c < b user v=2.0.74 three
         d < c assistant v=2.0.74 four",
    );
    home.write_file("-w/ahead.jsonl", lines.replace("2026-01-01T00:00:01", "2118-01-01T00:00:01"));
    let text = printed_text(&home, &["show", "ahead"]);
    for said in ["one", "two", "three", "four"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let check = run_json(&home.claude_dir(), &["check"]);
    assert_eq!(check["defects"][0]["kind"], "future-date");
    assert_eq!(check["defects"][0]["line"], 2);
    let explained = printed_text(&home, &["conversations", "ahead", "--explain"]);
    assert!(explained.contains("in the future"), "{explained}");
}
