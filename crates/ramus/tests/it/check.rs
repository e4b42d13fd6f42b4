//! What `check` finds besides damaged lines and broken links, and what it announces.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use testkit::{TestHome, jsonl};

use testkit::shared_material;

use crate::{run_json, run_ramus};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const FILE: &str = "-w/11111111-0000-4000-8000-000000000001.jsonl";
const DAY: Duration = Duration::from_secs(86_400);

/// Lists the defects as `line kind`, with a sign where a repair is possible.
fn listed_defects(home: &TestHome) -> Vec<String> {
    let check = run_json(&home.claude_dir(), &["check"]);
    let row = |defect: &Value| {
        let sign = if defect["fixable"] == true { " +" } else { "" };
        format!("{} {}{sign}", defect["line"], defect["kind"].as_str().unwrap())
    };
    check["defects"].as_array().unwrap().iter().map(row).collect()
}

#[track_caller]
fn check_defects(lines: &str, expected: &[&str]) -> TestHome {
    let home = TestHome::new();
    home.write_file(FILE, lines.replace("\"session\"", &format!("\"{ID}\"")));
    assert_eq!(listed_defects(&home), expected);
    let code = run_ramus(&home.claude_dir(), &["check", "--strict"]).status.code();
    assert_eq!(code, Some(i32::from(!expected.is_empty())));
    home
}

/// Repairs the only session; returns the list of repairs. The old file is not changed.
fn listed_repairs(home: &TestHome) -> Vec<String> {
    let before = fs::read(home.claude_dir().join("projects").join(FILE)).unwrap();
    let answer = run_json(&home.claude_dir(), &["check", "--fix", "--yes"]);
    assert_eq!(fs::read(home.claude_dir().join("projects").join(FILE)).unwrap(), before);
    let copy = run_json(&home.claude_dir(), &["check", answer["session"].as_str().unwrap()]);
    assert_eq!(copy["defects"].as_array().unwrap().len(), 0, "{copy}");
    let repairs = answer["repairs"].as_array().unwrap().iter();
    repairs.map(|words| words.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_record_of_another_session_is_found_and_repaired() {
    let lines = jsonl("a user one\nb < a assistant two\nc < b user three\nd < c assistant four");
    let third = lines.lines().nth(2).unwrap();
    let mixed = lines.replace(third, &third.replace("\"session\"", "\"another\""));
    check_defects(&lines, &[]);
    let home = check_defects(&mixed, &["3 other-session +"]);
    assert_eq!(
        listed_repairs(&home),
        ["1 × record of another session: belongs to the session of the copy"]
    );
}

#[test]
fn thinking_without_a_signature_is_found_and_repaired() {
    let lines = jsonl("a user one\nb < a thinking hm\nc < b assistant #b two");
    let home = check_defects(&lines.replace("c2lnbmF0dXJl", ""), &["2 unsigned-thinking +"]);
    assert_eq!(listed_repairs(&home), ["1 × thinking block that cannot be sent: is left out"]);
}

#[test]
fn ids_that_were_used_twice_are_found_and_repaired() {
    let calls = "a user one\nb < a call:t1 ls\nc < b result:t1 x\nd < c call:t1 pwd\ne < d result:t1 y\nf < e assistant done";
    let home = check_defects(&jsonl(calls), &["4 reused-tool-id +"]);
    assert_eq!(listed_repairs(&home), ["1 × duplicate id: made unique"]);
    let answers = "a user one\nb < a assistant #m two\nc < b user three\nd < c assistant #m four";
    let home =
        check_defects(&jsonl(answers).replacen("req_m", "req_n", 1), &["4 reused-message-id +"]);
    assert_eq!(listed_repairs(&home), ["1 × duplicate id: made unique"]);
}

#[test]
fn a_session_id_in_two_projects_is_found() {
    let home = TestHome::new();
    home.write_session(FILE, "a user one");
    home.write_session(&FILE.replace("-w/", "-x/"), "b user two");
    let check = run_json(&home.claude_dir(), &["check"]);
    let defect = &check["defects"][0];
    assert_eq!((&defect["kind"], &defect["fixable"]), (&"same-session-id".into(), &false.into()));
    assert_eq!(defect["file"], format!("projects/{}", FILE.replace("-w/", "-x/")));
    // A single project gets the same answer.
    let one = run_json(&home.claude_dir(), &["check", "-x"]);
    assert_eq!(one["defects"][0]["kind"], "same-session-id");
}

#[test]
fn a_lost_backup_is_found() {
    let lines = jsonl(
        "a user one\n- snapshot:a x=0011223344556677@v1 y=8899aabbccddeeff@v1\nb < a assistant two",
    );
    let home = check_defects(&lines, &["2 lost-backup"]);
    let dir = home.claude_dir().join("file-history").join(ID);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("0011223344556677@v1"), "x").unwrap();
    let text = String::from_utf8(run_ramus(&home.claude_dir(), &["check"]).stdout).unwrap();
    assert!(text.contains("8899aabbccddeeff@v1") && !text.contains("0011223344556677"), "{text}");
}

#[test]
fn two_clients_at_once_are_found() {
    let lines = jsonl(
        "a user one\nb < a assistant two\nc < b user here\nx < b user there\nd < c assistant yes\ny < x assistant no",
    );
    check_defects(&lines, &["5 two-clients"]);
}

#[test]
fn the_list_marks_what_can_be_repaired() {
    let home = TestHome::new();
    home.write_session(FILE, "a user one\nb < x user two\nc < b assistant three");
    let text = String::from_utf8(run_ramus(&home.claude_dir(), &["check"]).stdout).unwrap();
    assert!(text.contains("orphan  1  --fix can repair"), "{text}");
    assert!(text.contains("`ramus check --fix` to make a repaired copy"), "{text}");
}

#[test]
fn real_histories_give_no_false_alarm() {
    let Some(samples) = shared_material("samples") else { return };
    let check = run_json(&samples, &["--no-cache", "check"]);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for defect in check["defects"].as_array().unwrap() {
        let kind = defect["kind"].as_str().unwrap();
        if matches!(kind, "other-session" | "two-clients" | "reused-message-id" | "reused-tool-id")
        {
            found.push((defect["file"].as_str().unwrap(), kind));
        }
    }
    assert_eq!(found, []);
}

/// Writes a session that was last changed so many days ago.
fn set_age(home: &TestHome, name: &str, days: u32) {
    let path = home.write_session(name, "a user one\nb < a assistant two");
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - DAY * days).unwrap();
}

#[test]
fn files_due_for_deletion_are_announced_where_people_look() {
    let home = TestHome::new();
    set_age(&home, "-w/overdue.jsonl", 40);
    set_age(&home, "-w/soon.jsonl", 26);
    set_age(&home, "-w/late.jsonl", 2);
    set_age(&home, "-w/agent-1111111.jsonl", 40);
    let sentence =
        "Claude Code will delete 2 sessions and 1 sub-agent file within 7 days (2 overdue";
    let text = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), args);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for args in [&["check"][..], &["sessions"], &[]] {
        // Lines are as wide as there is room.
        let told = text(args).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(sentence) && told.contains("its default"), "{args:?}: {told}");
    }
    let retention = &run_json(&home.claude_dir(), &["check"])["retention"];
    assert_eq!(
        (&retention["soon"], &retention["overdue"], &retention["days"]),
        (&3.into(), &2.into(), &30.into())
    );
    let rows = run_json(&home.claude_dir(), &["sessions"]);
    assert!(rows["sessions"][0]["deleted_after"].as_str().unwrap().starts_with("20"));
    fs::write(home.claude_dir().join("settings.json"), r#"{"cleanupPeriodDays": 365}"#).unwrap();
    for args in [&["check"][..], &["sessions"], &[]] {
        assert!(!text(args).contains("will be deleted"), "{args:?}");
    }
}
