//! `ramus diff`: options, fields, and what cannot be compared.

use serde_json::{Value, json as value};
use testkit::TestHome;

use crate::{run_json, run_ramus};

const SESSION: &str = r"
a        user          build me a kettle
b < a    assistant     here it is
c < b    user          make it boil quickly
d < c    call:t1:Bash  #m make boil
e < d    result:t1     hot
f < e    assistant     it boils quickly
g < b    user          make it boil slowly
h < g    assistant     it boils slowly
";

const FORK: &str = r"
a        user       build me a kettle
b < a    assistant  here it is
x < b    user       paint it red
y < x    assistant  it is red
";

fn test_home() -> TestHome {
    let home = TestHome::new();
    home.write_session("-home-dev-app/aaaa1111.jsonl", SESSION);
    home.write_session("-home-dev-app/bbbb2222.jsonl", FORK);
    home.write_session("-home-dev-app/cccc3333.jsonl", "q  user  else\nr < q  assistant  so");
    home
}

/// Runs `ramus diff` and returns what it printed and its exit code.
#[track_caller]
fn run_diff(args: &[&str], code: i32) -> (String, String) {
    let home = test_home();
    let output = run_ramus(&home.claude_dir(), &[&["diff"], args].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    (stdout, stderr)
}

#[test]
fn branches_are_compared_by_their_differences() {
    let (stdout, _) = run_diff(&["aaaa@1", "aaaa@2"], 0);
    for line in [
        "A  aaaa1111@1  abandoned  make it boil quickly",
        "B  aaaa1111@2  active     build me a kettle",
        "=  2 messages in common, up to b  01 Jan 00:00; then 3 on A, 2 on B",
        "- make it boil quickly",
        "+ make it boil slowly",
        "- $ make boil",
    ] {
        assert!(stdout.lines().any(|found| found == line), "{line}\n{stdout}");
    }
}

#[test]
fn columns_are_wide_or_asked_for() {
    let (stdout, _) = run_diff(&["aaaa@1", "aaaa@2", "--side-by-side"], 0);
    let row = stdout.lines().find(|line| line.contains("quickly") && line.contains(" │ "));
    assert!(row.is_some_and(|row| row.contains("make it boil slowly")), "{stdout}");
    let (stdout, _) = run_diff(&["aaaa@1", "aaaa@2", "--unified"], 0);
    assert!(!stdout.contains(" │ "), "{stdout}");
    run_diff(&["aaaa@1", "aaaa@2", "--unified", "--side-by-side"], 2);
}

#[test]
fn the_short_form_is_a_table() {
    let (stdout, _) = run_diff(&["aaaa@1", "aaaa@2", "--stat"], 0);
    assert!(!stdout.contains("Conversation"), "{stdout}");
    let row = |name: &str| {
        let line = stdout.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_default().split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("messages"), ["3", "2"]);
    assert_eq!(row("Bash"), ["1", "·"]);
    assert_eq!(row("commands"), ["1", "·"]);
    assert_eq!(row("tokens"), ["30", "15"]);
    assert_eq!(row("time"), ["3.0s", "1.0s"]);
}

#[test]
fn the_same_conversation_has_no_difference() {
    for other in ["aaaa@2", "aaaa:h"] {
        let (stdout, _) = run_diff(&["aaaa", other], 0);
        assert!(stdout.contains("no difference: 4 messages in common"), "{stdout}");
    }
}

#[test]
fn sessions_are_compared_by_the_names_they_share() {
    let home = test_home();
    let fork = run_json(&home.claude_dir(), &["diff", "aaaa@2", "bbbb"]);
    assert_eq!(fork["common"]["messages"], value!(2));
    assert_eq!(fork["common"]["node"], value!("b"));
    let stranger = run_json(&home.claude_dir(), &["diff", "aaaa@2", "cccc"]);
    assert_eq!(stranger["common"], value!({"messages": 0, "node": null, "timestamp": null}));
    assert_eq!(stranger["only_a"].as_array().map(Vec::len), Some(4));
    let (stdout, _) = run_diff(&["aaaa@2", "cccc"], 0);
    assert!(stdout.contains("nothing in common: 4 messages on A, 2 messages on B"), "{stdout}");
}

#[test]
fn scripts_get_all_of_it() {
    let home = test_home();
    let diff = run_json(&home.claude_dir(), &["diff", "aaaa@1", "aaaa:h"]);
    assert_eq!(diff["schema"], value!("ramus.diff/1"));
    assert_eq!(diff["same"], value!(false));
    let side = |letter: &str, fields: &[&str]| -> Vec<Value> {
        fields.iter().map(|field| diff[letter][*field].clone()).collect()
    };
    let fields = ["session", "leaf", "status", "address", "messages", "prompts", "answers"];
    assert_eq!(
        value!(side("a", &fields)),
        value!(["aaaa1111", "f", "abandoned", "aaaa1111@1", 3, 1, 2])
    );
    assert_eq!(
        value!(side("b", &fields)),
        value!(["aaaa1111", "h", "active", "aaaa1111:h", 2, 1, 1])
    );
    let names = |turns: &Value| -> Vec<Value> {
        turns.as_array().unwrap().iter().map(|turn| turn["uuid"].clone()).collect()
    };
    assert_eq!(names(&diff["only_a"]), ["c", "d", "f"]);
    assert_eq!(names(&diff["only_b"]), ["g", "h"]);
    assert_eq!(diff["tools"], value!({"Bash": {"a": 1, "b": 0, "failed_a": 0, "failed_b": 0}}));
    assert_eq!(
        diff["commands"],
        value!({"a": [{"command": "make boil", "error": false}], "b": []})
    );
    assert_eq!(diff["files"], value!([]));
    assert_eq!(diff["usage"]["a"]["output"], value!(10));
    assert_eq!(diff["usage"]["b"]["models"], value!({"claude-sonnet-4-5": 1}));
    let cost = diff["usage"]["b"]["cost_usd"].as_f64().unwrap();
    assert!((cost - (10.0 * 3.0 + 5.0 * 15.0) / 1e6).abs() < 1e-12, "{cost}");
}

/// Turns that are too large to keep are read again, with the same result.
#[test]
fn a_long_side_is_compared_like_a_short_one() {
    let compare = |reply: &str| {
        let home = TestHome::new();
        let session = SESSION.replace("it boils quickly", reply);
        home.write_session("-home-dev-app/aaaa1111.jsonl", &session);
        let args = ["diff", "aaaa@1", "aaaa@2"];
        let text = run_ramus(&home.claude_dir(), &args).stdout;
        let text = String::from_utf8(text).unwrap();
        (text, run_json(&home.claude_dir(), &args))
    };
    let (short_text, short) = compare("it boils quickly");
    let long = format!("it boils{}", " quickly".repeat((9 << 20) / 8));
    let (long_text, mut read_again) = compare(&long);
    let turns = |answer: &Value| answer["only_a"].as_array().unwrap().len();
    assert_eq!(turns(&short), turns(&read_again));
    for (field, answer) in short.as_object().unwrap() {
        if field != "only_a" {
            assert_eq!(*answer, read_again[field], "{field}");
        }
    }
    let last = read_again["only_a"].as_array_mut().unwrap().pop().unwrap().to_string();
    assert!(last.contains(&long));
    let beginning = |text: &str| text.lines().take(8).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(beginning(&short_text), beginning(&long_text));
}

#[test]
fn other_prices_count_as_they_do_for_usage() {
    let home = test_home();
    let file = home.path().join("prices.json");
    std::fs::write(&file, r#"{"models":{"claude-sonnet-4-5":{"input":0,"output":1000000}}}"#)
        .unwrap();
    let prices = file.to_str().unwrap();
    let diff = run_json(&home.claude_dir(), &["diff", "aaaa@1", "aaaa@2", "--prices", prices]);
    assert_eq!(diff["usage"]["a"]["cost_usd"], value!(10.0));
    assert_eq!(diff["usage"]["b"]["cost_usd"], value!(5.0));
    let output =
        run_ramus(&home.claude_dir(), &["diff", "aaaa@1", "aaaa@2", "--stat", "--prices", prices]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("$10.00") && stdout.contains("$5.00"), "{stdout}");
}

#[test]
fn files_carry_what_they_end_with() {
    let home = TestHome::new();
    let short = "a  user  go\nb < a  call:t1:Write  /f\nc < b  result:t1  ok\nd < a  user  stop @9";
    let lines: Vec<String> = testkit::jsonl(short)
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if record["uuid"] == "c" {
                record["toolUseResult"] =
                    value!({"type": "create", "filePath": "/f", "content": "hi\n", "structuredPatch": []});
            }
            format!("{record}\n")
        })
        .collect();
    home.write_file("-p/dddd4444.jsonl", lines.concat());
    let diff = run_json(&home.claude_dir(), &["diff", "dddd:c", "dddd:d"]);
    let expected = value!([{
        "path": "/f",
        "a": {"changed": true, "added": 1, "removed": 0, "known": true, "content": "hi\n"},
        "b": {"changed": false, "added": 0, "removed": 0, "known": true, "content": null},
        "differs": true,
    }]);
    assert_eq!(diff["files"], expected);
}

#[test]
fn what_agents_did_counts_for_the_side_that_called_them() {
    let home = TestHome::new();
    home.write_session(
        "-p/dddd4444.jsonl",
        "
        a        user           go
        b < a    call:t1:Task   look around
        c < b    result:t1:a1   done
        d < a    user      @30  go back
        e < d    assistant @31  ok
        ",
    );
    home.write_session(
        "-p/dddd4444/subagents/agent-a1.jsonl",
        "
        x        user                @2 look around
        y < x    call:t9:Bash        @3 ls
        z < y    result:t9           @4 here
        ",
    );
    let diff = run_json(&home.claude_dir(), &["diff", "dddd@1", "dddd@2"]);
    assert_eq!((&diff["a"]["agents"], &diff["b"]["agents"]), (&value!(1), &value!(0)));
    assert_eq!(diff["tools"]["Bash"]["a"], 1);
    assert_eq!(diff["commands"]["a"][0]["command"], "ls");
}

#[test]
fn bad_addresses_are_refused() {
    for (args, said) in [
        (["aaaa@1", "aaaa@9"], "no conversation 9; the session has 2"),
        (["aaaa:zz", "aaaa"], "no message in the session has a uuid starting with \"zz\""),
        (["aaaa", "nothing"], "no session has the id or title \"nothing\""),
    ] {
        let (stdout, stderr) = run_diff(&args, 2);
        assert!(stdout.is_empty() && stderr.contains(said), "{stdout}{stderr}");
    }
}
