//! Sessions grouped by git repository, and found by pull request.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::{run_json, run_ramus};

fn record_line(name: &str, parent: Option<&str>, cwd: &Path, second: u32) -> String {
    let record = json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "version": "2.1.240", "cwd": cwd,
        "type": "user", "message": {"role": "user", "content": name}, "uuid": name,
        "timestamp": format!("2026-01-01T10:00:{second:02}.000Z")});
    format!("{record}\n")
}

fn pull_request(number: u64, repository: &str) -> String {
    let url = format!("https://github.com/{repository}/pull/{number}");
    let record = json!({"type": "pr-link", "sessionId": "s", "prNumber": number, "prUrl": url,
        "prRepository": repository, "timestamp": "2026-01-01T10:00:30.000Z"});
    format!("{record}\n")
}

/// A repository with a worktree beside it, and a directory that is in none; a session in each.
fn test_home() -> testkit::TestHome {
    let home = testkit::TestHome::new();
    let [main, tree, plain] = ["main", "tree", "plain"].map(|name| home.path().join(name));
    let kept = main.join(".git/worktrees/tree");
    for dir in [&main.join(".git/objects"), &kept, &tree, &plain] {
        fs::create_dir_all(dir).unwrap();
    }
    fs::write(main.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[remote \"origin\"]\n\turl = https://me:hunter2@github.com/acme/kettle.git\n";
    fs::write(main.join(".git/config"), config).unwrap();
    fs::write(kept.join("commondir"), "../..\n").unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
    home.write_file(
        "-main/m.jsonl",
        record_line("in main", None, &main, 1) + &pull_request(42, "acme/kettle"),
    );
    home.write_file(
        "-tree/t.jsonl",
        record_line("in tree", None, &tree, 3) + &pull_request(42, "acme/teapot"),
    );
    home.write_file("-plain/p.jsonl", record_line("in plain", None, &plain, 2));
    home
}

#[test]
fn projects_of_one_repository_are_put_together() {
    let home = test_home();
    let projects = run_json(&home.claude_dir(), &["projects", "--by", "repo"]);
    let groups: Vec<(&Value, &Value)> = { projects["repositories"].as_array().unwrap().iter() }
        .map(|group| (&group["repository"], &group["projects"]))
        .collect();
    let kettle = json!("github.com/acme/kettle");
    assert_eq!(groups, [(&kettle, &json!(["-tree", "-main"])), (&Value::Null, &json!(["-plain"]))]);
    assert!(!projects.to_string().contains("hunter2"));
    // Unless it is asked for, no repository is looked at.
    let projects = run_json(&home.claude_dir(), &["projects"]);
    assert_eq!(projects["projects"][0]["repository"], Value::Null);
    assert_eq!(projects.get("repositories"), None);
}

#[test]
fn sessions_of_one_repository_are_listed_below_its_name() {
    let home = test_home();
    let sessions = run_json(&home.claude_dir(), &["sessions", "--by", "repo"]);
    let ids: Vec<&Value> =
        { sessions["sessions"].as_array().unwrap().iter() }.map(|row| &row["id"]).collect();
    assert_eq!(ids, ["t", "m", "p"]);
    let list = run_ramus(&home.claude_dir(), &["sessions", "--by", "repo"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert_eq!(list.matches("github.com/acme/kettle\n").count(), 1, "{list}");
}

#[test]
fn a_pull_request_finds_its_session() {
    let home = test_home();
    let ids = |args: &[&str]| {
        let sessions = run_json(&home.claude_dir(), &[&["sessions"], args].concat());
        let rows = sessions["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&["--pr", "42"]), "t m");
    assert_eq!(ids(&["--pr", "acme/kettle#42"]), "m");
    assert_eq!(ids(&["--pr", "https://github.com/acme/teapot/pull/42"]), "t");
    assert_eq!(ids(&["--pr", "4"]), "");
    let found = run_ramus(&home.claude_dir(), &["find", "--pr", "acme/kettle#42", "--json"]);
    let hit: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&hit["session"], &hit["kind"]), (&json!("m"), &json!("pr-link")));
    assert_eq!(hit["snippet"], "https://github.com/acme/kettle/pull/42");
    let found = run_ramus(&home.claude_dir(), &["find", "in", "--pr", "acme/teapot#42", "--count"]);
    assert_eq!(String::from_utf8_lossy(&found.stdout), "1\n");
    let none = run_ramus(&home.claude_dir(), &["find", "--pr", "7"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("No session created pull request 7"));
}

#[test]
fn a_pull_request_is_part_of_the_transcript_that_it_was_made_in() {
    let home = testkit::TestHome::new();
    let cwd = Path::new("/w");
    let records = [
        record_line("begin", None, cwd, 1),
        record_line("left", Some("begin"), cwd, 2),
        record_line("taken", Some("begin"), cwd, 3),
        pull_request(42, "acme/kettle"),
        record_line("on", Some("taken"), cwd, 4),
    ];
    home.write_file("-w/s.jsonl", records.concat());
    let show = |address: &str| {
        String::from_utf8_lossy(&run_ramus(&home.claude_dir(), &["show", address]).stdout)
            .into_owned()
    };
    let words = "pull request #42 of acme/kettle: https://github.com/acme/kettle/pull/42";
    let text = show("s");
    let [taken, made, on] = ["taken", words, "on\n"].map(|words| text.rfind(words));
    assert!(made.is_some() && taken < made && made < on, "{text}");
    assert!(!show("s@1").contains(words));
    let out = home.path().join("out");
    for format in ["md", "html", "txt", "json"] {
        let args = ["export", "s", "--format", format, "--out", out.to_str().unwrap()];
        assert!(run_ramus(&home.claude_dir(), &args).status.success());
        let files = walk_tree(&out);
        let held = files.iter().filter(|text| text.contains("acme/kettle/pull/42"));
        assert!(held.count() >= 1, "{format}");
        fs::remove_dir_all(&out).unwrap();
    }
}

fn walk_tree(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk_tree(&path),
            false => vec![fs::read_to_string(path).unwrap_or_default()],
        })
        .collect()
}
