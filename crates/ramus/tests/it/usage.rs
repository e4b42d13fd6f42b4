//! `ramus usage`: tokens and cost, each message once.

use std::fmt::Write;

use serde_json::{Value, json as value};
use testkit::TestHome;

use crate::truth::generate_corpus;
use crate::{run_json, run_ramus};

fn token_kinds(row: &Value) -> Value {
    let sum = |keys: &[&str]| keys.iter().map(|key| row[*key].as_u64().unwrap()).sum::<u64>();
    value!({
        "input": sum(&["input"]),
        "output": sum(&["output"]),
        "cr": sum(&["cache_read"]),
        "cw": sum(&["cache_write_5m", "cache_write_1h"]),
    })
}

fn rows_by_key(rows: &Value, key: &str) -> Value {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (row[key].as_str().unwrap().to_owned(), token_kinds(row))).collect()
}

/// Leaves out what used nothing: the client's own words have a model and a day too.
fn used_rows(rows: &Value) -> Value {
    let rows = rows.as_object().unwrap().iter();
    let used = rows.filter(|(_, row)| row.as_object().unwrap().values().any(|n| n != 0));
    used.map(|(key, row)| (key.clone(), row.clone())).collect()
}

#[test]
fn tokens_of_generated_corpora_equal_their_truth() {
    for (megabytes, seed) in [(1, 31), (2, 32), (4, 33), (8, 34)] {
        let dir = tempfile::tempdir().unwrap();
        let Some(truth) = generate_corpus(dir.path(), megabytes, seed) else { return };
        let usage = run_json(&dir.path().join("claude"), &["usage", "--utc"]);
        assert_eq!(token_kinds(&usage["totals"]), truth["tokens"]["dedup_max"], "seed {seed}");
        let models = used_rows(&truth["tokens_by_model_dedup_max"]);
        assert_eq!(rows_by_key(&usage["by_model"], "model"), models, "seed {seed}");
        let days = used_rows(&truth["tokens_by_day_dedup_max"]);
        assert_eq!(used_rows(&rows_by_key(&usage["by_day"], "day")), days, "seed {seed}");
        for part in ["by_branch", "by_line"] {
            let parts = usage[part].as_object().unwrap();
            let cost: f64 = parts.values().map(|part| part["cost_usd"].as_f64().unwrap()).sum();
            let whole = usage["totals"]["cost_usd"].as_f64().unwrap();
            assert!((cost - whole).abs() < 1e-6, "{part} of seed {seed}: {cost} of {whole}");
        }
    }
}

#[test]
fn branches_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_) = generate_corpus(dir.path(), 3, 35) else { return };
    let usage = run_json(&dir.path().join("claude"), &["usage", "--by", "branch"]);
    let cost = |status: &str| {
        let rows = usage["branches"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["status"] == status);
        rows.map(|row| row["cost_usd"].as_f64().unwrap()).sum::<f64>()
    };
    let whole = usage["totals"]["cost_usd"].as_f64().unwrap();
    assert!((cost("active") + cost("abandoned") - whole).abs() < 1e-6);
}

const SESSION: &str = "0a1b2c3d-0000-4000-8000-000000000000";

/// A session with two days, two models, a fork and an agent.
fn test_home() -> TestHome {
    let home = TestHome::new();
    let answer = |uuid: &str, parent: &str, model: &str, time: &str, usage: Value| {
        value!({"parentUuid": parent, "isSidechain": false, "cwd": "/home/dev/app", "sessionId": SESSION,
            "version": "2.0.74", "type": "assistant", "requestId": format!("r{uuid}"),
            "message": {"id": format!("m{uuid}"), "type": "message", "role": "assistant", "model": model,
                "content": [{"type": "text", "text": "an answer"}], "usage": usage},
            "uuid": uuid, "timestamp": time})
    };
    let prompt = |uuid: &str, parent: Value, time: &str| {
        value!({"parentUuid": parent, "isSidechain": false, "cwd": "/home/dev/app", "sessionId": SESSION,
            "version": "2.0.74", "type": "user", "message": {"role": "user", "content": format!("prompt {uuid}")},
            "uuid": uuid, "timestamp": time})
    };
    let million = 1_000_000;
    let records = [
        prompt("a", Value::Null, "2026-01-31T10:00:00.000Z"),
        answer(
            "b",
            "a",
            "claude-opus-5",
            "2026-01-31T10:00:01.000Z",
            value!({"input_tokens": million,
            "cache_creation_input_tokens": 3 * million, "cache_creation": {"ephemeral_5m_input_tokens": million,
            "ephemeral_1h_input_tokens": 2 * million}}),
        ),
        prompt("c", value!("b"), "2026-01-31T23:30:00.000Z"),
        answer(
            "d",
            "c",
            "claude-haiku-4-5",
            "2026-01-31T23:30:01.000Z",
            value!({"output_tokens": million, "speed": "standard", "server_tool_use": {"web_search_requests": 5}}),
        ),
        prompt("e", value!("b"), "2026-02-01T09:00:00.000Z"),
        answer("f", "e", "glm-5", "2026-02-01T09:00:01.000Z", value!({"output_tokens": 7000})),
        answer(
            "g",
            "f",
            "claude-opus-5",
            "2026-02-01T09:00:02.000Z",
            value!({"output_tokens": million, "speed": "fast"}),
        ),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    home.write_file(&format!("-home-dev-app/{SESSION}.jsonl"), lines);
    home
}

fn run_usage(args: &[&str]) -> Value {
    let args: Vec<&str> = ["usage", "--utc"].iter().chain(args).copied().collect();
    run_json(&test_home().claude_dir(), &args)
}

#[test]
fn every_kind_of_token_has_its_price() {
    let usage = run_usage(&[]);
    let cost = |row: &Value| row["cost_usd"].as_f64().unwrap();
    // 1M input, 1M written for five minutes and 2M for an hour; 1M output and five searches; 1M output fast.
    assert_eq!(cost(&usage["totals"]), (5.0 + 6.25 + 20.0) + (5.0 + 0.05) + 50.0);
    assert_eq!(usage["totals"]["cache_write_1h"], 2_000_000);
    assert_eq!(usage["totals"]["fast_messages"], 1);
    assert_eq!(usage["totals"]["web_searches"], 5);
    assert_eq!(cost(&usage["by_branch"]["abandoned"]), 5.05);
    assert_eq!(usage["unpriced"], value!([{"model": "glm-5", "tokens": 7000}]));
    let glm = usage["by_model"].as_array().unwrap().iter().find(|row| row["model"] == "glm-5");
    assert_eq!(glm.unwrap()["cost_usd"], Value::Null);
}

#[test]
fn time_and_model_choose_messages() {
    let messages = |args: &[&str]| run_usage(args)["totals"]["messages"].clone();
    assert_eq!(messages(&["--since", "2026-02-01"]), 2);
    assert_eq!(messages(&["--until", "2026-01-31"]), 2);
    assert_eq!(messages(&["--since", "2026-01-31T12:00:00Z", "--until", "2026-01-31"]), 1);
    assert_eq!(messages(&["--model", "OPUS"]), 2);
    assert_eq!(messages(&["--project", "app"]), 4);
    let months = run_usage(&[])["by_month"].clone();
    assert_eq!(months[0]["month"], "2026-01");
    assert_eq!(run_usage(&[])["by_week"].as_array().unwrap().len(), 1);
}

#[test]
fn days_are_those_of_the_zone() {
    let home = test_home();
    for (zone, name) in [("JST-9", "local time"), ("Asia/Tokyo", "Asia/Tokyo")] {
        let mut command = crate::ramus_command(&home.claude_dir(), &["usage", "--json"]);
        let output = command.env("TZ", zone).output().unwrap();
        let usage: Value = serde_json::from_slice(&output.stdout).unwrap();
        let days: Vec<&str> = usage["by_day"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["day"].as_str().unwrap())
            .collect();
        assert_eq!(days, ["2026-01-31", "2026-02-01"], "{zone}");
        assert_eq!(usage["by_day"][1]["messages"], 3, "{zone}");
        assert_eq!(usage["zone"], name);
    }
}

#[test]
fn messages_without_a_timestamp_have_a_separate_row() {
    let home = TestHome::new();
    home.write_session(
        "-home-dev-app/11111111-0000-4000-8000-000000000001.jsonl",
        "a user go\nb < a assistant one\nc < b user on\nd < c assistant @none two",
    );
    let usage = run_json(&home.claude_dir(), &["usage"]);
    assert_eq!(
        (&usage["totals"]["messages"], &usage["undated"]["messages"]),
        (&2.into(), &1.into())
    );
    let shown = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), &[&["usage", "--by", "month"], args].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(shown(&[]).contains("\nno time"), "{}", shown(&[]));
    assert!(shown(&["--csv"]).contains("\n,1,"), "{}", shown(&["--csv"]));
}

#[test]
fn a_calendar_adds_up_its_days() {
    let home = TestHome::new();
    let session =
        testkit::jsonl("a user go\nb < a assistant one\nc < b user on\nd < c assistant two");
    let session = session.replace("2026-01-01T00:00:03", "2026-01-15T00:00:03");
    home.write_file("-home-dev-app/11111111-0000-4000-8000-000000000001.jsonl", session);
    let output = run_ramus(&home.claude_dir(), &["usage", "--utc"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let total = shown.lines().find(|line| line.starts_with("Calendar")).unwrap_or_default();
    assert!(total.contains(" on 2 days, most on "), "{shown}");
    assert!(shown.contains("\n    less · ░ ▒ ▓ █ more\n"), "{shown}");
}

#[test]
fn nothing_in_scope_is_nothing_found() {
    let output = run_ramus(&test_home().claude_dir(), &["usage", "--since", "2027-01-01"]);
    assert_eq!(output.status.code(), Some(1));
    let output = run_ramus(&test_home().claude_dir(), &["usage", "--since", "soon"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_file_can_change_the_prices() {
    let home = test_home();
    let file = home.path().join("prices.json");
    std::fs::write(&file, r#"{"models":{"glm-5":{"input":1,"output":1000}}}"#).unwrap();
    let usage = run_json(&home.claude_dir(), &["usage", "--prices", file.to_str().unwrap()]);
    assert_eq!(usage["unpriced"], value!([]));
    assert_eq!(usage["prices"]["file"], file.to_str().unwrap());
    std::fs::write(&file, "{").unwrap();
    let output = run_ramus(&home.claude_dir(), &["usage", "--prices", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("prices.json"));
    let output = run_ramus(&home.claude_dir(), &["usage", "--prices", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_clients_totals_are_shown_next_to_ours() {
    let home = test_home();
    let path = home.claude_dir().join(format!("projects/-home-dev-app/{SESSION}.jsonl"));
    let mut lines = std::fs::read_to_string(&path).unwrap();
    for cost in ["1.0", "86.3"] {
        writeln!(
            lines,
            r#"{{"type":"cost-state","sessionId":"{SESSION}","totalCostUSD":{cost},"modelUsage":{{"claude-opus-5[1m]":{{"inputTokens":5,"costUSD":2.0}}}},"hasUnknownModelCost":true}}"#
        )
        .unwrap();
    }
    std::fs::write(&path, lines).unwrap();
    let usage = run_json(&home.claude_dir(), &["usage", "--compare-client"]);
    let row = &usage["client"][0];
    assert_eq!(
        (row["client_cost_usd"].as_f64(), row["cost_usd"].as_f64()),
        (Some(86.3), Some(86.3))
    );
    assert_eq!(row["difference_usd"], 0.0);
    assert_eq!(row["client_lacks_prices"], true);
    assert_eq!(row["models"][1]["client_tokens"], 5);
    let text = run_ramus(&home.claude_dir(), &["usage", "--compare-client"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("$86.3000"));
}

#[test]
fn tables_for_people_and_spreadsheets() {
    let home = test_home();
    for by in ["day", "week", "month", "model", "project", "session", "conversation", "branch"] {
        for width in ["40", "80", "160"] {
            let mut command =
                crate::ramus_command(&home.claude_dir(), &["usage", "--utc", "--by", by]);
            let output = command.env("COLUMNS", width).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(
                output.status.success() && widest <= width.parse().unwrap(),
                "{by} {width}\n{text}"
            );
        }
        let csv = run_ramus(&home.claude_dir(), &["usage", "--utc", "--by", by, "--csv"]);
        let text = String::from_utf8(csv.stdout).unwrap();
        assert!(text.lines().count() > 1 && text.contains("cost_usd"), "{text}");
    }
    insta::assert_snapshot!(
        String::from_utf8(run_ramus(&home.claude_dir(), &["usage", "--utc"]).stdout).unwrap()
    );
}

/// Sums by file, and by message if a model is given, are the same.
#[test]
fn every_message_by_itself_adds_up_to_the_same() {
    for seed in [3, 4, 5] {
        let home = TestHome::new();
        testkit::write_corpus(&home, seed, 40);
        for by in ["conversation", "branch"] {
            let mut added = run_json(&home.claude_dir(), &["usage", "--utc", "--by", by]);
            // Every model has such a letter in its name.
            let mut each =
                run_json(&home.claude_dir(), &["usage", "--utc", "--by", by, "--model=-"]);
            round_dollars(&mut added);
            round_dollars(&mut each);
            assert_eq!(added, each, "seed {seed}, by {by}");
        }
    }
}

/// Leaves of dollars what the order of adding up cannot change.
fn round_dollars(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(round_dollars),
        Value::Object(members) => members.values_mut().for_each(round_dollars),
        Value::Number(number) if number.is_f64() => {
            *value = value!((number.as_f64().unwrap() * 1e6).round() as i64);
        }
        _ => {}
    }
}

/// Adds up rows of amounts.
fn sum_rows(rows: &[&Value]) -> Value {
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    let keys = ["messages", "input", "output", "cache_read", "cache_write_5m", "cache_write_1h"];
    keys.iter().map(|key| ((*key).to_owned(), Value::from(sum(key)))).collect()
}

fn row_dollars(row: &Value) -> f64 {
    row["cost_usd"].as_f64().unwrap_or_default()
}

/// Compares what `show` adds up with `usage --by conversation`, for every path of some sessions.
fn compare_paths(claude: &std::path::Path, sessions: &[String]) -> usize {
    let mut compared = 0;
    for session in sessions {
        let usage = run_json(claude, &["usage", session, "--by", "conversation"]);
        for row in usage["by_conversation"].as_array().unwrap() {
            let address = format!("{session}@{}", row["n"]);
            let shown = run_json(claude, &["show", &address]);
            let [replies, agents] = ["replies", "agents"].map(|part| &shown["usage"][part]);
            assert_eq!(sum_rows(&[replies, agents]), sum_rows(&[row]), "{address}");
            let cost = row_dollars(replies) + row_dollars(agents);
            assert!(
                (cost - row_dollars(row)).abs() < 1e-6,
                "{address}: {cost} of {}",
                row_dollars(row)
            );
            let turns = shown["turns"].as_array().unwrap();
            let told: Vec<&Value> = turns.iter().map(|turn| &turn["usage"]).collect();
            let told: Vec<&Value> = told.into_iter().filter(|usage| !usage.is_null()).collect();
            let output: u64 = told.iter().map(|usage| usage["output"].as_u64().unwrap()).sum();
            assert_eq!(output, replies["output"], "{address}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn show_adds_up_to_what_usage_tells_of_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let demo = dir.path().join("demo");
    assert!(run_ramus(dir.path(), &["demo", &demo.to_string_lossy()]).status.success());
    // A path that continues in another file is longer than the row of one session in `usage`.
    let continues = |session: &Value| {
        session["links"].as_array().unwrap().iter().any(|link| link["kind"] == "continuation")
    };
    let alone = |claude: &std::path::Path| -> Vec<String> {
        let listed = run_json(claude, &["sessions"]);
        let sessions = listed["sessions"].as_array().unwrap().iter();
        let alone = sessions.filter(|session| !continues(session));
        alone.map(|session| session["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(compare_paths(&demo, &alone(&demo)) > 5);
    let generated_dir = tempfile::tempdir().unwrap();
    let Some(_) = generate_corpus(generated_dir.path(), 1, 36) else { return };
    let claude = generated_dir.path().join("claude");
    assert!(compare_paths(&claude, &alone(&claude)) > 5);
}

#[test]
fn show_tells_below_each_reply_what_it_used() {
    let home = TestHome::new();
    home.write_session(
        "-tea/11111111-0000-4000-8000-000000000001.jsonl",
        "p1      user      v=2.1.325 one
         a1 < p1 assistant #m1 two
         p2 < a1 user      three
         a2 < p2 assistant #m2 four",
    );
    let output = run_ramus(&home.claude_dir(), &["show", "1111", "--usage"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let row = "  in    10  cache read     0  cache write     0  out     5  context    10   $0.0001";
    assert_eq!(text.matches(row).count(), 2, "{text}");
    assert!(text.contains("2 replies\n  in    20  "), "{text}");
    let plain = String::from_utf8(run_ramus(&home.claude_dir(), &["show", "1111"]).stdout).unwrap();
    assert!(!plain.contains("context"), "{plain}");
    let shown = run_json(&home.claude_dir(), &["show", "1111"]);
    let told = &shown["turns"][1]["usage"];
    assert_eq!((&told["context"], &told["cost_usd"]), (&value!(10), &value!(0.000_105)), "{told}");
    let prices = home.claude_dir().join("prices.json");
    let dear = r#"{"models": {"claude-sonnet-4-5": {"input": 1000, "output": 0}}}"#;
    std::fs::write(&prices, dear).unwrap();
    let args = ["show", "1111", "--usage", "--prices", &prices.to_string_lossy()];
    let text = String::from_utf8(run_ramus(&home.claude_dir(), &args).stdout).unwrap();
    assert_eq!(text.matches(" $0.0100").count(), 2, "{text}");
    assert!(text.contains(" $0.0200"), "{text}");
}
