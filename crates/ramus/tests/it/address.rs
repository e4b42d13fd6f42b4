//! Addresses: what users can type for a project, a session or a node.

use testkit::TestHome;

use crate::{run_json, run_ramus};

const ONE: &str = "-home-dev-app/11111111-aaaa-4000-8000-000000000000.jsonl";
const TWO: &str = "-home-dev-app/11112222-bbbb-4000-8000-000000000000.jsonl";
const THREE: &str = "-home-dev-lib/33333333-cccc-4000-8000-000000000000.jsonl";

fn test_home() -> TestHome {
    let home = TestHome::new();
    home.write_session(ONE, "a user @1 one\nb < a assistant @2 1\nc < b user @3 two\nd < b user @4 three\n- title The first");
    home.write_session(TWO, "e user @50 five");
    home.write_session(THREE, "f user @20 six\n- title The third");
    home
}

#[track_caller]
fn shown_text(home: &TestHome, address: &str) -> String {
    let show = run_json(&home.claude_dir(), &["show", address]);
    format!("{}:{}", &show["session"].as_str().unwrap()[..8], show["leaf"].as_str().unwrap())
}

#[test]
fn a_session_goes_by_id_prefix_title_path_and_latest() {
    let home = test_home();
    let path = home.claude_dir().join("projects").join(THREE);
    for (address, expected) in [
        ("11111111-aaaa-4000-8000-000000000000", "11111111:d"),
        ("11111", "11111111:d"),
        ("The first", "11111111:d"),
        ("latest", "11112222:e"),
        ("3333", "33333333:f"),
        (path.to_str().unwrap(), "33333333:f"),
        ("projects/-home-dev-lib/33333333-cccc-4000-8000-000000000000.jsonl", "33333333:f"),
        ("11111:c", "11111111:c"),
        ("11111@1", "11111111:c"),
        ("The first@2", "11111111:d"),
        ("The third:f", "33333333:f"),
    ] {
        assert_eq!(shown_text(&home, address), expected, "{address}");
    }
}

#[test]
fn an_ambiguous_or_unknown_address_exits_with_2() {
    let home = test_home();
    for (args, message) in [
        (
            &["show", "1111"][..],
            "\"1111\" matches 2 files:\n  11111111  The first\n  11112222  five",
        ),
        (&["show", "ffff"], "no session has the id or title \"ffff\""),
        (&["show", "ffff"], "`ramus find` searches messages"),
        (&["show", "3333@7"], "no conversation 7; the session has 1"),
        (&["show", "3333:zz"], "no message in the session has a uuid starting with \"zz\""),
        (&["sessions", "home"], "\"home\" matches 2 projects:"),
        (&["sessions", "home"], "Hint: use more of the path, or a name from this list"),
        (&["sessions", "nowhere"], "no project matches \"nowhere\""),
        (&["stats", "nothing like it"], "no session has the id or title"),
        (&["show", "gone.jsonl"], "no file at gone.jsonl"),
    ] {
        let output = run_ramus(&home.claude_dir(), args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_project_goes_by_name_path_and_part() {
    let home = test_home();
    for project in ["-home-dev-app", "/home/dev/app", "app", "dev/app"] {
        let sessions = run_json(&home.claude_dir(), &["sessions", project]);
        assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2, "{project}");
    }
}

#[test]
fn an_agent_goes_by_its_id() {
    let home = test_home();
    let agent = "x side-user look\ny < x side-assistant seen";
    home.write_session(
        "-home-dev-app/11111111-aaaa-4000-8000-000000000000/subagents/agent-abc1234.jsonl",
        agent,
    );
    assert_eq!(
        run_json(&home.claude_dir(), &["show", "agent-abc1234"])["nodes"].as_array().unwrap().len(),
        2
    );
    assert_eq!(run_json(&home.claude_dir(), &["show", "abc1"])["leaf"], "y");
}

#[test]
fn a_path_runs_through_the_session_it_continues() {
    let home = TestHome::new();
    home.write_session(
        "-p/11111111-0000-4000-8000-000000000000.jsonl",
        "a user @1 one\nb < a assistant @2 1\nx < b user @3 other",
    );
    home.write_session(
        "-p/22222222-0000-4000-8000-000000000000.jsonl",
        "c < b user @9 two\nd < c assistant @10 2",
    );
    let show = run_json(&home.claude_dir(), &["show", "2222"]);
    assert_eq!(show["nodes"], serde_json::json!(["a", "b", "c", "d"]));
    let check = run_json(&home.claude_dir(), &["check"]);
    assert_eq!(check["defects"], serde_json::json!([]));
    let sessions = run_json(&home.claude_dir(), &["sessions"]);
    let linked = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["id"].as_str().unwrap().starts_with('2'));
    assert_eq!(linked.unwrap()["links"][0]["kind"], "continuation");
}
