//! `ramus find`: what it finds, what it shows, and what it must not find.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use testkit::TestHome;

use crate::run_ramus;
use crate::truth::generate_corpus;

const APP: &str = "-home-dev-app";
const ID: &str = "11111111-0000-4000-8000-000000000001";

/// Runs `find … --json` and reads the hits.
#[track_caller]
fn find_hits(claude: &Path, args: &[&str]) -> Vec<Value> {
    let output = run_ramus(claude, &[&["find"], args, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8(output.stdout).unwrap();
    let code = output.status.code();
    assert_eq!(code, Some(i32::from(lines.is_empty())), "{args:?}: {stderr}");
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes one session and returns the hits of a search: uuid, kind, status of each.
#[track_caller]
fn check_hits(session: &str, args: &[&str], expected: &str) {
    let home = TestHome::new();
    home.write_session(&format!("{APP}/{ID}.jsonl"), session);
    assert_eq!(hit_uuids(&find_hits(&home.claude_dir(), args)), expected, "{args:?}");
}

fn hit_uuids(hits: &[Value]) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let rows = hits.iter().map(|hit| {
        format!("{} {} {}", word(&hit["uuid"]), word(&hit["kind"]), word(&hit["status"]))
    });
    rows.collect::<Vec<_>>().join(", ")
}

const BRANCHED: &str = "
    a        user             tune the harp
    b < a    assistant        which harp
    c < b    call:t1:Edit     src/harp.rs
    d < c    result:t1        edited the harp
    e < d    assistant        the harp is in tune
    f < b    user       @20   a violet Harp
    g < f    assistant  @21   played
    h < g    queued     @22   louder, harp
    -        summary:g        harp music
    -        title            Concert for harp
";

#[test]
fn every_place_is_searched_newest_first_with_its_status() {
    // A summary and a title say no time; they come last.
    check_hits(
        BRANCHED,
        &["harp"],
        "h queued active, f prompt active, e answer abandoned, d tool-result abandoned, \
         c tool-input abandoned, b answer active, a prompt active, - title active, - summary active",
    );
}

#[test]
fn filters_narrow_the_search() {
    let only =
        |args: &[&str], expected: &str| check_hits(BRANCHED, &[&["harp"], args].concat(), expected);
    only(&["--role", "user"], "h queued active, f prompt active, a prompt active");
    only(&["--role", "tool"], "d tool-result abandoned");
    only(
        &["--kind", "answer", "--kind", "title"],
        "e answer abandoned, b answer active, - title active",
    );
    only(
        &["--branch", "abandoned"],
        "e answer abandoned, d tool-result abandoned, c tool-input abandoned",
    );
    only(&["--branch", "active", "--role", "assistant"], "b answer active");
    only(&["--tool", "edit"], "d tool-result abandoned, c tool-input abandoned");
    only(&["--tool", "bash"], "");
    only(&["--file", "src/harp.rs"], "d tool-result abandoned, c tool-input abandoned");
    only(&["--file", "harp"], "");
    only(&["--since", "2026-01-01T00:00:22Z", "--kind", "queued"], "h queued active");
    only(&["--until", "2026-01-01T00:00:01Z"], "a prompt active");
    only(&["--since", "2026-01-02"], "");
    only(&["--limit", "1"], "h queued active");
    only(&["--sort", "best", "--limit", "1"], "- title active");
    check_hits(BRANCHED, &["Harp"], "f prompt active");
    check_hits(BRANCHED, &["VIOLET"], "f prompt active");
    check_hits(BRANCHED, &["VIOLET", "-s"], "");
    check_hits(BRANCHED, &["Violet", "-i"], "f prompt active");
    check_hits(BRANCHED, &["harp", "violet"], "f prompt active");
    check_hits(BRANCHED, &["violet Harp", "--exact"], "f prompt active");
    check_hits(BRANCHED, &["violet harp", "--exact"], "");
    check_hits(BRANCHED, &["viol", "-w"], "");
    check_hits(BRANCHED, &["volet", "--fuzzy"], "f prompt active");
    check_hits(BRANCHED, &["a violet harp", "-x", "-i"], "f prompt active");
    check_hits(BRANCHED, &["\"a violet harp\"", "-x"], "f prompt active");
    check_hits(BRANCHED, &["harp", "-violet", "--kind", "prompt"], "a prompt active");
    check_hits(BRANCHED, &["tool:Edit"], "c tool-input abandoned");
    check_hits(BRANCHED, &["--role", "user", "--until", "2026-01-01T00:00:01Z"], "a prompt active");
    check_hits(BRANCHED, &["harp violet"], "f prompt active");
    check_hits(BRANCHED, &["\"violet harp\""], "f prompt active");
    check_hits(BRANCHED, &["\"harp violet\""], "");
    check_hits(BRANCHED, &["--regex", r"^a \w+ [Hh]arp$"], "f prompt active");
    check_hits(
        BRANCHED,
        &["harp", "dev-app", "--kind", "prompt"],
        "f prompt active, a prompt active",
    );
    check_hits(BRANCHED, &["harp", "1111", "--kind", "prompt"], "f prompt active, a prompt active");
}

#[test]
fn the_best_hits_say_why() {
    let home = TestHome::new();
    home.write_session(&format!("{APP}/{ID}.jsonl"), BRANCHED);
    let hits = find_hits(&home.claude_dir(), &["violet", "harp", "--sort", "best", "--why"]);
    assert_eq!(
        (hits.len(), &hits[0]["uuid"], &hits[0]["level"]),
        (3, &json!("f"), &json!("phrase"))
    );
    assert_eq!(hits[0]["more"], 5);
    assert_eq!(hits[0]["why"]["words"][0]["form"], "word");
    let output = run_ramus(&home.claude_dir(), &["find", "violet", "harp", "--why"]);
    let seen = String::from_utf8(output.stdout).unwrap();
    assert!(seen.contains("why: phrase in prompt"), "{seen}");
    assert!(seen.contains("… 5 more in this session"), "{seen}");
}

#[test]
fn hidden_records_are_not_found() {
    let home = TestHome::new();
    let lines = [
        json!({"parentUuid": null, "type": "user", "uuid": "harp1", "harp": "x", "sessionId": "harp",
            "message": {"role": "user", "content": [
                {"type": "text", "text": "see", "harp": true},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGharp"}}]}}),
        json!({"parentUuid": "harp1", "type": "assistant", "uuid": "b", "requestId": "harp",
            "message": {"id": "harp", "model": "harp", "content": [
                {"type": "thinking", "thinking": "", "signature": "harp"}]}}),
        json!({"parentUuid": "b", "type": "user", "uuid": "c", "toolUseResult": {"type": "image", "file": {"base64": "harp"}},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "harp", "content": [
                {"type": "image", "source": {"data": "harp", "type": "base64"}}]}]}}),
        json!({"type": "file-history-snapshot", "messageId": "harp", "snapshot": {"trackedFileBackups": {"harp": {}}}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write_file(&format!("{APP}/{ID}.jsonl"), text);
    assert_eq!(hit_uuids(&find_hits(&home.claude_dir(), &["harp"])), "");
    assert_eq!(hit_uuids(&find_hits(&home.claude_dir(), &["see"])), "harp1 prompt active");
}

#[test]
fn copies_are_one_hit_with_all_their_places() {
    let home = TestHome::new();
    let line = |session: &str, more: &str| {
        format!(
            "{{\"parentUuid\":null,\"sessionId\":\"{session}\",{more}\"type\":\"user\",\"message\":{{\"role\":\"user\",\
             \"content\":\"a harp\"}},\"uuid\":\"u1\",\"timestamp\":\"2026-01-01T00:00:00.000Z\"}}\n"
        )
    };
    let fork = "22222222-0000-4000-8000-000000000002";
    let copy =
        line(fork, &format!("\"forkedFrom\":{{\"sessionId\":\"{ID}\",\"messageUuid\":\"u1\"}},"));
    // The copy is the older file, but later by its records.
    home.write_file(&format!("{APP}/{fork}.jsonl"), format!("\n{copy}"));
    home.write_file(&format!("{APP}/{ID}.jsonl"), line(ID, ""));
    let hits = find_hits(&home.claude_dir(), &["harp"]);
    let places = json!([
        {"file": format!("projects/{APP}/{ID}.jsonl"), "line": 1, "status": "active", "conversation": 1},
        {"file": format!("projects/{APP}/{fork}.jsonl"), "line": 2, "status": "active", "conversation": 1},
    ]);
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0]["places"], places);
    assert_eq!(hits[0]["address"], "11111111:u1");
    let keys: Vec<&String> = hits[0].as_object().unwrap().keys().collect();
    let stable = [
        "schema",
        "session",
        "title",
        "project",
        "agent",
        "address",
        "file",
        "line",
        "uuid",
        "role",
        "kind",
        "conversation",
        "status",
        "resumes",
        "timestamp",
        "snippet",
        "match",
        "places",
    ];
    assert_eq!(keys, stable);
    assert_eq!(hits[0]["schema"], "ramus.find/1");
    assert_eq!((&hits[0]["snippet"], &hits[0]["match"]), (&json!("a harp"), &json!([2, 6])));
    let output = run_ramus(&home.claude_dir(), &["find", "harp", "--count"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    let output = run_ramus(&home.claude_dir(), &["find", "harp", "--files"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
}

/// A session of many prompts, one below the other, at every `step`-th second from `start` on.
fn long_session(name: &str, start: usize, step: usize, prompts: usize) -> String {
    (0..prompts)
        .map(|n| {
            let parent = if n == 0 { String::new() } else { format!("< {name}{} ", n - 1) };
            format!("{name}{n} {parent}user @{} harp {n}\n", start + n * step)
        })
        .collect()
}

#[test]
fn many_hits_come_newest_first_and_each_once() {
    let home = TestHome::new();
    // Two that continue at the same time, one that ended before, and a copy of it that continued.
    home.write_session(&format!("{APP}/{ID}.jsonl"), &long_session("a", 1000, 2, 90));
    home.write_session(
        &format!("{APP}/22222222-0000-4000-8000-000000000002.jsonl"),
        &long_session("b", 1001, 2, 90),
    );
    let third = long_session("c", 0, 3, 90);
    home.write_session(&format!("{APP}/33333333-0000-4000-8000-000000000003.jsonl"), &third);
    let copy = format!("{third}more < c89 user @2000 harp at last");
    home.write_session(&format!("{APP}/44444444-0000-4000-8000-000000000004.jsonl"), &copy);
    home.write_session(
        &format!("{APP}/55555555-0000-4000-8000-000000000005.jsonl"),
        "- title harp",
    );
    let hits = find_hits(&home.claude_dir(), &["harp"]);
    assert_eq!(hits.len(), 3 * 90 + 2);
    assert_eq!(hits[0]["uuid"], "more");
    assert_eq!(hits[hits.len() - 1]["kind"], "title");
    let times: Vec<&str> = hits.iter().filter_map(|hit| hit["timestamp"].as_str()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b));
    let copied = |hit: &&Value| hit["places"].as_array().unwrap().len() == 2;
    assert_eq!(hits.iter().filter(copied).count(), 90);
    assert_eq!(self::find_hits(&home.claude_dir(), &["harp", "--limit", "50"]), hits[..50]);
}

#[test]
fn a_file_may_end_with_something_old() {
    let home = TestHome::new();
    let prompts = long_session("a", 1000, 1, 60);
    home.write_session(&format!("{APP}/{ID}.jsonl"), &prompts);
    let old = format!("{prompts}old < a0 user @1 {}", "once upon a time ".repeat(5000));
    home.write_session(&format!("{APP}/22222222-0000-4000-8000-000000000002.jsonl"), &old);
    let newest = format!("z user @9000 the newest harp\ny < z assistant @2 {}", "on ".repeat(9000));
    home.write_session(&format!("{APP}/33333333-0000-4000-8000-000000000003.jsonl"), &newest);
    let all = find_hits(&home.claude_dir(), &["harp"]);
    assert_eq!((all.len(), &all[0]["uuid"]), (61, &json!("z")));
    let places = |hit: &Value| hit["places"].as_array().unwrap().len();
    assert!(all[1..].iter().all(|hit| places(hit) == 2), "each stands in two files");
    assert_eq!(find_hits(&home.claude_dir(), &["harp", "--limit", "5"]), all[..5]);
}

#[test]
fn agents_of_agents_have_the_status_of_the_call_that_began_it() {
    let home = TestHome::new();
    home.write_session(
        &format!("{APP}/{ID}.jsonl"),
        "a user play
         b < a call:t1:Task tune it
         c < a user @20 rather sing
         d < c assistant @21 la",
    );
    // Only their prompts show what called them.
    for (agent, prompt, below) in [
        ("a1", "tune it", "tune the strings"),
        ("a2", "tune the strings", "tune one"),
        ("a3", "tune one", "-"),
    ] {
        let calls = format!(
            "x{agent} side-user {prompt}
             y{agent} < x{agent} call:{agent}:Task {below}
             z{agent} < y{agent} side-assistant a harp"
        );
        home.write_session(&format!("{APP}/{ID}/subagents/agent-{agent}.jsonl"), &calls);
    }
    let statuses: Vec<Value> =
        find_hits(&home.claude_dir(), &["harp"]).iter().map(|hit| hit["status"].clone()).collect();
    assert_eq!(statuses, ["abandoned"; 3]);
    assert_eq!(find_hits(&home.claude_dir(), &["harp", "--branch", "active"]), Vec::<Value>::new());
}

#[test]
fn a_project_may_begin_with_a_hyphen() {
    check_hits(BRANCHED, &["violet", APP], "f prompt active");
    check_hits(BRANCHED, &["violet", "--project", APP], "f prompt active");
}

#[test]
fn copies_say_what_became_of_each() {
    let home = TestHome::new();
    home.write_session(
        &format!("{APP}/{ID}.jsonl"),
        "a user a harp\nb < a assistant @1 ok\nc user @9 new",
    );
    let fork = "22222222-0000-4000-8000-000000000002";
    home.write_session(
        &format!("{APP}/{fork}.jsonl"),
        "a user a harp\nb < a assistant @1 ok\nd < b user @20 on",
    );
    let only = |args: &[&str]| find_hits(&home.claude_dir(), &[&["harp"], args].concat());
    let statuses = |hit: &Value| {
        let places = hit["places"].as_array().unwrap();
        places.iter().map(|place| place["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let found = only(&[]);
    assert_eq!(found.len(), 1);
    let mut seen = statuses(&found[0]);
    seen.sort_unstable();
    assert_eq!(seen.len(), 2);
    assert_eq!(only(&["--branch", "active"]).len(), 1);
}

#[test]
fn a_title_may_stand_in_another_file() {
    let home = TestHome::new();
    home.write_session(&format!("{APP}/{ID}.jsonl"), "a user a harp\nb < a assistant ok");
    let other = "22222222-0000-4000-8000-000000000002";
    home.write_session(
        &format!("{APP}/{other}.jsonl"),
        "- summary:b Concert in May\nx user @50 else",
    );
    for scope in [&[][..], &["1111"]] {
        let hits = find_hits(&home.claude_dir(), &[&["harp"], scope].concat());
        assert_eq!(hits[0]["title"], "Concert in May", "{scope:?}");
    }
}

#[test]
fn agents_have_the_status_of_the_call_that_started_them() {
    let home = TestHome::new();
    home.write_session(
        &format!("{APP}/{ID}.jsonl"),
        "
        a        user           go
        b < a    call:t1:Task   find the harp
        c < b    result:t1:a1   done
        d < a    user      @30  go back
        e < d    assistant @31  ok
    ",
    );
    home.write_session(
        &format!("{APP}/{ID}/subagents/agent-a1.jsonl"),
        "
        x        side-user      @2 find the harp
        y < x    side-assistant @3 a harp, here
    ",
    );
    let claude = home.claude_dir();
    let all = "y answer abandoned, x prompt abandoned, b tool-input abandoned";
    assert_eq!(hit_uuids(&find_hits(&claude, &["harp"])), all);
    assert_eq!(
        hit_uuids(&find_hits(&claude, &["harp", "--agents", "none"])),
        "b tool-input abandoned"
    );
    let agents = find_hits(&claude, &["harp", "1111", "--agents", "only"]);
    assert_eq!(hit_uuids(&agents), "y answer abandoned, x prompt abandoned");
    assert_eq!(agents[0]["session"], ID);
    assert_eq!(agents[0]["agent"], "a1");
    assert_eq!(agents[0]["address"], "agent-a1:y");
}

#[test]
fn agents_in_the_sessions_own_file_are_agents_too() {
    let session = "
        a        user             go
        b < a    call:t1:Task     find it
        x        side-user        find it
        y < x    side-assistant   a harp
        c < b    result:t1        a harp was found
    ";
    check_hits(session, &["harp"], "c tool-result active, y answer active");
    check_hits(session, &["harp", "--agents", "none"], "c tool-result active");
    check_hits(session, &["harp", "--agents", "only"], "y answer active");
}

#[test]
fn spilled_results_belong_to_their_record() {
    let home = TestHome::new();
    let spilled = format!("{APP}/{ID}/tool-results/t1.txt");
    home.write_session(
        &format!("{APP}/{ID}.jsonl"),
        &format!(
            "
        a        user           go
        b < a    call:t1:Bash   make
        c < b    result:t1      <persisted-output> full output in /x/projects/{spilled}
    "
        ),
    );
    home.write_file(&spilled, "one\ntwo \"quoted\" harp\n");
    let claude = home.claude_dir();
    let hit = &find_hits(&claude, &["\"quoted\" harp"])[0];
    assert_eq!(hit_uuids(std::slice::from_ref(hit)), "c tool-result active");
    assert_eq!((&hit["line"], &hit["snippet"]), (&json!(2), &json!("one two \"quoted\" harp")));
    assert_eq!(hit_uuids(&find_hits(&claude, &["harp", "--tool", "Bash"])), "c tool-result active");
    assert_eq!(hit_uuids(&find_hits(&claude, &["harp", "--tool", "Read"])), "");
}

#[test]
fn a_prompt_that_waited_is_found_once() {
    let home = TestHome::new();
    let queue = |content: &str| json!({"type": "queue-operation", "operation": "enqueue", "content": content, "timestamp": "2026-01-01T00:00:09.000Z"});
    let queued = json!({"parentUuid": "a", "type": "attachment", "uuid": "q", "timestamp": "2026-01-01T00:00:10.000Z",
        "attachment": {"type": "queued_command", "prompt": "a harp", "commandMode": "prompt"}});
    let lines = [queue("a harp"), queued, queue("no harp after all")];
    home.write_file(&format!("{APP}/{ID}.jsonl"), lines.map(|line| format!("{line}\n")).concat());
    assert_eq!(
        hit_uuids(&find_hits(&home.claude_dir(), &["harp"])),
        "q queued active, - queued active"
    );
}

#[test]
fn a_person_sees_headings_marks_and_addresses() {
    let home = TestHome::new();
    home.write_session(&format!("{APP}/{ID}.jsonl"), BRANCHED);
    let page = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), &[&["find"], args].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let seen = page(&["tune", "--context", "1"]);
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("/home/dev/app · Concert for harp · 11111111 · "), "{seen}");
    assert!(seen.contains("○@1  answer       the harp is in tune"), "{seen}");
    assert!(seen.contains("11111111:e"), "{seen}");
    assert!(seen.contains("↑ assistant Edit src/harp.rs"), "{seen}");
    let coloured = page(&["tune", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[1;7;33mtune\u{1b}[0m"), "{coloured}");
}

#[test]
fn invalid_searches_are_reported() {
    let home = TestHome::new();
    home.write_session(&format!("{APP}/{ID}.jsonl"), BRANCHED);
    let run = |args: &[&str]| {
        let output = run_ramus(&home.claude_dir(), &[&["find"], args].concat());
        assert!(output.stdout.is_empty(), "{args:?}");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--regex", "harp(s"]);
    assert_eq!(code, Some(2));
    assert!(said.starts_with("  harp(s\n      ^\n"), "{said}");
    assert_eq!(run(&["lute"]).0, Some(1));
    let (code, said) = run(&["volet"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("Did you mean `violet`? Use --fuzzy to search for it"), "{said}");
    assert_eq!(run(&["  "]).0, Some(2));
    assert_eq!(run(&["harp", "nowhere-at-all"]).0, Some(1));
    assert_eq!(run(&["harp", "--in", "nowhere-at-all"]).0, Some(2));
    let (code, said) = run(&["harp", "role:robot"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("     ^^^^^^^^^^") && !said.contains("regular expression"), "{said}");
    let (code, said) = run(&["harp", "in:app", "--project", "other"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("only one project or session can be searched"), "{said}");
    let (_, said) = run(&["harp", "since:2030-01-01"]);
    assert!(said.contains("Only messages that match the filters were searched"), "{said}");
    assert!(!said.contains("all words") && !said.contains("Did you mean"), "{said}");
    let (_, said) = run(&["lute", "samovar", "--fuzzy"]);
    assert!(said.contains("Try fewer words") && !said.contains("--fuzzy"), "{said}");
    let (code, said) = run(&["harp", "-n", "-5"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("invalid value '-5' for '--limit <N>'"), "{said}");
    let (code, said) = run(&["harp", "--since", "-7d"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("invalid time \"-7d\""), "{said}");
    assert_eq!(run(&["harp", "--since", "soon"]).0, Some(2));
    let (code, said) = run(&["tool:Nope"]);
    assert_eq!((code, &*said), (Some(1), "No message matches the filters\n"));
    let (code, said) = run(&["--regex", "(a{1000}){1000}"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the regular expression is too large"), "{said}");
    assert_eq!(run(&["harp", "--project", "nowhere-at-all"]).0, Some(2));
}

#[test]
fn a_line_is_one_phrase() {
    let session = "a user tune the harp\nb < a assistant yes, tune the harp now";
    check_hits(session, &["-x", "tune the harp"], "a prompt active");
    check_hits(session, &["-x", "Tune the"], "");
}

#[test]
fn all_needles_of_generated_corpora_are_found() {
    for (megabytes, seed) in [(2, 21), (3, 22), (5, 23), (8, 24)] {
        let dir = tempfile::tempdir().unwrap();
        let Some(truth) = generate_corpus(dir.path(), megabytes, seed) else { return };
        let claude = dir.path().join("claude");
        for (needle, planted) in truth["needles"].as_object().unwrap() {
            let hits = find_hits(&claude, &[&format!("\"{needle}\"")]);
            compare_planted(needle, &hits, planted["at"].as_array().unwrap());
            for hit in hits.iter().filter(|hit| hit["uuid"].is_string() && hit["agent"].is_null()) {
                check_status(&claude, &truth, hit);
            }
        }
    }
}

fn compare_planted(needle: &str, hits: &[Value], planted: &[Value]) {
    let place = |place: &Value| (place["file"].to_string(), place["line"].as_u64());
    let seen: BTreeSet<_> =
        hits.iter().flat_map(|hit| hit["places"].as_array().unwrap()).map(place).collect();
    assert_eq!(seen, planted.iter().map(place).collect(), "places of {needle}");
    let messages: BTreeSet<String> =
        planted
            .iter()
            .map(|at| {
                if at["uuid"] == "-" { format!("{:?}", place(at)) } else { at["uuid"].to_string() }
            })
            .collect();
    assert_eq!(hits.len(), messages.len(), "messages with {needle}");
    for hit in hits {
        let [from, to] = [0, 1].map(|end| hit["match"][end].as_u64().unwrap() as usize);
        let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
        assert_eq!(snippet[from..to].iter().collect::<String>(), *needle);
    }
}

/// A hit on the way to the session's active leaf is active and resumes; an abandoned one is off it.
fn check_status(claude: &Path, truth: &Value, hit: &Value) {
    let file = hit["file"].as_str().unwrap();
    let sessions = truth["session_list"].as_array().unwrap();
    let Some(session) = sessions.iter().find(|session| session["file"] == hit["file"]) else {
        return;
    };
    let kinds = &session["fork_kinds"];
    if !kinds["orphan"].is_null() || !kinds["copy_mid"].is_null() {
        return;
    }
    let text = std::fs::read(claude.join(file)).unwrap();
    let records = text.split(|byte| *byte == b'\n');
    let records = records.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut parents: BTreeMap<String, Value> = BTreeMap::new();
    for record in records.filter(|record| record["uuid"].is_string()) {
        let parent = [&record["parentUuid"], &record["logicalParentUuid"]];
        let parent = parent.into_iter().find(|parent| parent.is_string());
        let uuid = record["uuid"].as_str().unwrap().to_owned();
        parents.entry(uuid).or_insert_with(|| parent.cloned().unwrap_or_default());
    }
    let mut on_path = BTreeSet::new();
    let mut next = session["active_leaf"].as_str();
    while let Some(uuid) = next.filter(|uuid| on_path.insert(uuid.to_string())) {
        next = parents.get(uuid).and_then(Value::as_str);
    }
    if on_path.contains(hit["uuid"].as_str().unwrap()) {
        assert_eq!((&hit["status"], &hit["resumes"]), (&json!("active"), &json!(true)), "{hit}");
    }
}

#[test]
fn prompts_outlive_their_sessions() {
    let home = testkit::TestHome::new();
    home.write_session("-w/here.jsonl", "a user an osprey nests\nb < a assistant where");
    let note = |session: &str, text: &str, at: u64| {
        format!(
            "{{\"display\":\"{text}\",\"pastedContents\":{{}},\"timestamp\":{at},\"project\":\"/w\",\"sessionId\":\"{session}\"}}\n"
        )
    };
    let notes = note("gone", "the osprey flew away", 1_767_225_600_000)
        + "not json\n"
        + &note("here", "an osprey nests", 1_767_225_600_000);
    std::fs::write(home.claude_dir().join("history.jsonl"), notes).unwrap();
    let rows = |args: &[&str]| -> Vec<serde_json::Value> {
        let output = crate::run_ramus(&home.claude_dir(), &[args, &["--json"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let found = rows(&["find", "osprey"]);
    assert_eq!(found.len(), 2);
    assert_eq!((&found[1]["kind"], &found[1]["session"]), (&"prompt-only".into(), &"gone".into()));
    assert_eq!(rows(&["find", "osprey", "--limit", "1"]).len(), 1);
    assert_eq!(rows(&["find", "flew away"]).len(), 1);
    assert!(rows(&["find", "flew", "--until", "2025-01-01"]).is_empty());
    assert!(rows(&["find", "flew", "--role", "assistant"]).is_empty());
    assert_eq!(found[1]["class"], "prompt-only");
    let output = crate::run_ramus(&home.claude_dir(), &["find", "flew"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("prompt only"));
    let output = crate::run_ramus(&home.claude_dir(), &["sessions"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("1 prompt of deleted sessions. Use --gone"), "{told}");
    let gone = &rows(&["sessions", "--gone"])[0]["sessions"];
    assert_eq!(gone.as_array().unwrap().len(), 1);
    assert_eq!(
        (&gone[0]["id"], &gone[0]["class"], &gone[0]["title"]),
        (&"gone".into(), &"prompt-only".into(), &"the osprey flew away".into())
    );
    assert_eq!(rows(&["sessions", "--gone", "-w"])[0]["sessions"].as_array().unwrap().len(), 1);
    let output =
        crate::run_ramus(&home.claude_dir(), &["sessions", "--gone", "--since", "2027-01-01"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_messages_are_about_is_found_with_a_model_only() {
    let home = TestHome::new();
    let session = "a user an unstable check\nb < a assistant boil a kettle";
    home.write_session(&format!("{APP}/{ID}.jsonl"), session);
    let claude = home.claude_dir();
    let asked = ["--like", "our flaky test"];
    let refused = run_ramus(&claude, &[&["find"], &asked[..]].concat());
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("none is configured") && stderr.contains("like_model"), "{stderr}");
    let model = home.path().join("model");
    let dir = model.to_str().unwrap();
    let with_model = [&asked[..], &["--like-model", dir]].concat();
    let refused = run_ramus(&claude, &[&["find"], &with_model[..]].concat());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("model.safetensors"), "the file");
    testkit::embedding_model::TestModel::default().write_files(&model);
    let hits = find_hits(&claude, &with_model);
    assert_eq!(hit_uuids(&hits), "a prompt active, b answer active");
    assert_eq!(hits[0]["level"], "meaning");
    assert_eq!(hits[0]["snippet"], "an unstable check");
}
