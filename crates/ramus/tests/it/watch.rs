//! `ramus watch` while others write. No test sleeps: each step waits for its event.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use testkit::{TestHome, jsonl};

const APP: &str = "-home-dev-app";
const ONE: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "22222222-0000-4000-8000-000000000002";

/// Long enough that only something lost can exceed it.
const LONG: Duration = Duration::from_secs(60);

/// A running `ramus watch`, ended when dropped.
struct WatchProcess {
    child: Child,
    lines: Receiver<String>,
}

impl WatchProcess {
    fn start_watch(claude: &Path, args: &[&str]) -> Self {
        let mut child = watch_command(claude, args).spawn().unwrap();
        let lines = read_lines(child.stdout.take().unwrap());
        let watch = Self { child, lines };
        if args.contains(&"--json") {
            watch.wait_until(|line| event_name(line) == "ready");
        }
        watch
    }

    /// Waits for a line, and returns all up to it.
    #[track_caller]
    fn wait_until(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|line: &String| !wanted(line)) {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => seen.push(line),
                Err(_) => panic!("nothing more after {seen:#?}"),
            }
        }
        seen
    }

    #[cfg(unix)]
    fn interrupt_and_wait(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for WatchProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watch_command(claude: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramus"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", claude.parent().unwrap_or(claude))
        .env("TZ", "UTC")
        .env("COLUMNS", "100")
        .args(["--claude-dir", &claude.to_string_lossy(), "watch"])
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn read_lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            if sender.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn event_name(line: &str) -> String {
    let object: Value = serde_json::from_str(line).unwrap();
    assert_eq!(object["schema"], "ramus.watch/1");
    object["event"].as_str().unwrap().to_owned()
}

/// Summarizes a JSON line: the event and its subject.
fn event_text(line: &str) -> String {
    let object: Value = serde_json::from_str(line).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut words = vec![text(&object["event"]), text(&object["uuid"])];
    for part in object["parts"].as_array().into_iter().flatten() {
        words.push(text(&part["type"]));
        words.push(text(if part["name"].is_null() { &part["text"] } else { &part["name"] }));
    }
    if let Some(text) = object["text"].as_str() {
        words.push(text.to_owned());
    }
    words.extend(object["duration_ms"].as_u64().map(|ms| format!("{ms} ms")));
    if object["event"] == "branch" {
        words.push(text(&object["detail"]["kind"]));
    }
    words.join(" ")
}

fn write_session(home: &TestHome, id: &str, short: &str) {
    home.write_session(&format!("{APP}/{id}.jsonl"), short);
}

fn append_records(home: &TestHome, id: &str, short: &str) {
    append_bytes(home, id, jsonl(short).as_bytes());
}

fn append_bytes(home: &TestHome, id: &str, bytes: &[u8]) {
    let path = home.claude_dir().join("projects").join(APP).join(format!("{id}.jsonl"));
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// A session of one exchange, so that news has something to hang at.
const BEGUN: &str = "a user one\nb < a assistant 1";

const NEWS: &str = "
    c < b  user             @10 look around
    d < c  thinking         @11 hm
    e < d  call:t1:Bash     @12 ls
    f < e  result:t1        @14 Cargo.toml
    g < f  assistant        @15 done
    h < g  boundary         @16
    i < h  compacted        @17 in short
    j < b  user             @18 another way
    k < j  error            @19 overloaded
    l < k  system:turn_duration @20
";

#[test]
fn events_arrive_in_order_by_notification_and_by_polling() {
    let expected = [
        "prompt c look around",
        "answer d thinking hm",
        "usage d",
        "answer e call Bash",
        "usage e",
        "result f call Bash 2000 ms",
        "answer g text done",
        "usage g",
        "compaction h",
        "compaction i in short",
        "branch j edit",
        "prompt j another way",
        "synthetic k overloaded",
        "turn_ended l 2000 ms",
    ];
    for more in [&[][..], &["--poll", "5"]] {
        let home = TestHome::new();
        write_session(&home, ONE, BEGUN);
        let watch = WatchProcess::start_watch(&home.claude_dir(), &[&["--json"], more].concat());
        append_records(&home, ONE, NEWS);
        let seen = watch.wait_until(|line| event_name(line) == "turn_ended");
        assert_eq!(seen.iter().map(|line| event_text(line)).collect::<Vec<_>>(), expected);
        let first: Value = serde_json::from_str(&seen[0]).unwrap();
        let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
        let stable = [
            "schema",
            "event",
            "session",
            "agent",
            "project",
            "file",
            "offset",
            "uuid",
            "timestamp",
            "text",
            "detail",
        ];
        assert_eq!(keys, stable);
        assert_eq!(first["session"], ONE);
        assert_eq!(first["file"], format!("projects/{APP}/{ONE}.jsonl"));
        assert_eq!(first["offset"], jsonl(BEGUN).len());
    }
}

#[test]
fn a_person_reads_one_line_a_call() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    write_session(&home, TWO, BEGUN);
    let watch = WatchProcess::start_watch(&home.claude_dir(), &["--poll", "5"]);
    // The first line is `ready`; lines before it are not new.
    let mut ready = String::new();
    let mut child = watch;
    let mut stderr = BufReader::new(child.child.stderr.take().unwrap());
    stderr.read_line(&mut ready).unwrap();
    assert_eq!(ready, "watching 2 session files; press Ctrl-C to stop\n");
    append_records(&home, ONE, NEWS);
    let seen = child.wait_until(|line| line.contains("■ done"));
    insta::assert_snapshot!(seen.join("\n"), @"
             11111111 /home/dev/app one
    00:00:10 11111111 ❯ look around
    00:00:11 11111111 ∴ hm
    00:00:14 11111111 ✓ Bash ls  → Cargo.toml  2.0s
    00:00:15 11111111 ● done
    00:00:16 11111111 ── compacted (manual) 1,000 tokens ──
    00:00:17 11111111 ── continues from a summary of 8 characters ──
    00:00:18 11111111 ┬ the prompt after “one” was edited: new branch
    00:00:18 11111111 ❯ another way
    00:00:19 11111111 × overloaded
    00:00:20 11111111 ■ done after 2.0s · 45 tokens · $0.0003
    ");
    append_records(&home, TWO, "c < b user @30 me too");
    let seen = child.wait_until(|line| line.contains("me too"));
    assert!(seen[0].contains("22222222 /home/dev/app"), "{seen:?}");
    #[cfg(unix)]
    assert_eq!(child.interrupt_and_wait(), Some(0));
}

#[test]
fn each_turn_ends_with_what_was_spent_till_then() {
    let home = TestHome::new();
    let turns = "
        a user @1 go
        b < a assistant @2 yes
        c < b system:turn_duration @3
        d < c user @4 go on
        e < d assistant @5 yes
        f < e system:turn_duration @6
    ";
    write_session(&home, ONE, turns);
    for args in [&["--since", "2020-01-01"][..], &[ONE, "--since", "2020-01-01"]] {
        let watch = WatchProcess::start_watch(&home.claude_dir(), args);
        for tokens in ["15 tokens", "30 tokens"] {
            let seen = watch.wait_until(|line| line.contains("■ done"));
            assert!(seen.last().unwrap().contains(tokens), "{args:?}: {seen:?}");
        }
    }
}

#[test]
fn half_a_line_waits_and_controls_are_shown_not_obeyed() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let watch = WatchProcess::start_watch(
        &home.claude_dir(),
        &[ONE, "--since", "2026-01-01", "--color", "always"],
    );
    watch.wait_until(|line| line.contains('●'));
    let line = jsonl("c < b user @10 x");
    let line = line.replace("\"x\"", r#""bad \u001b]0;title\u0007 \u001b[2J \u0007 words""#);
    append_bytes(&home, ONE, &line.as_bytes()[..50]);
    append_records(&home, TWO, "z user elsewhere");
    append_bytes(&home, ONE, &line.as_bytes()[50..]);
    let seen = watch.wait_until(|line| line.contains("words"));
    let shown = seen.last().unwrap();
    assert!(
        shown.contains('␇') && !shown.contains("\x1b]") && !shown.contains('\x07'),
        "{shown:?}"
    );
    assert!(!shown.contains("\x1b[2J") && shown.contains("\x1b[1;36m"), "{shown:?}");
}

#[test]
fn only_selected_events_are_shown() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    write_session(&home, TWO, BEGUN);
    let only = |args: &[&str], last: &str, expected: &[&str]| {
        let args = [&["--json", "--since", "2020-01-01"], args].concat();
        let mut watch = WatchProcess::start_watch(&home.claude_dir(), &args);
        let seen = watch.wait_until(|line| event_text(line) == last);
        assert_eq!(
            seen.iter().map(|line| event_text(line)).collect::<Vec<_>>(),
            expected,
            "{args:?}"
        );
        let _ = watch.child.kill();
    };
    append_records(&home, ONE, NEWS);
    only(&[ONE, "--only", "branches"], "branch j edit", &["branch j edit"]);
    only(
        &[ONE, "--only", "thinking,errors,tools"],
        "synthetic k overloaded",
        &[
            "answer d thinking hm",
            "answer e call Bash",
            "result f call Bash 2000 ms",
            "synthetic k overloaded",
        ],
    );
    only(&["2222", "--only", "prompts"], "prompt a one", &["prompt a one"]);
}

#[test]
fn a_conversation_is_followed_until_it_is_left_and_when_it_is_taken_up_again() {
    let home = TestHome::new();
    write_session(
        &home,
        ONE,
        "a user one\nb < a assistant 1\nc < b user two\nd < b user two, better\ne < d assistant 2",
    );
    let watch = WatchProcess::start_watch(
        &home.claude_dir(),
        &["--json", &format!("{ONE}:c"), "--only", "prompts,answers,branches"],
    );
    append_records(
        &home,
        ONE,
        "f < e user @10 not here\ng < c assistant @11 2 at last\nh < g user @12 three",
    );
    let seen = watch.wait_until(|line| event_text(line) == "prompt h three");
    let seen: Vec<String> = seen.iter().map(|line| event_text(line)).collect();
    assert_eq!(seen, ["branch g back", "answer g text 2 at last", "prompt h three"]);
    append_records(
        &home,
        ONE,
        "i < e user @13 away\nj < i assistant @14 not here\nk < h assistant @15 3",
    );
    let seen = watch.wait_until(|line| event_text(line) == "answer k text 3");
    let left: Value = serde_json::from_str(&seen[0]).unwrap();
    assert_eq!(left["detail"]["leaves"], true, "{seen:?}");
    let seen: Vec<String> = seen.iter().map(|line| event_text(line)).collect();
    assert_eq!(seen[1..], ["branch k back", "answer k text 3"]);
}

#[test]
fn agents_of_other_conversations_are_not_shown() {
    let home = TestHome::new();
    write_session(&home, ONE, "a user one\nb < a assistant 1\nc < b user two");
    let watch = WatchProcess::start_watch(
        &home.claude_dir(),
        &["--json", ONE, "--branch", "--only", "prompts,branches", "--since", "2020-01-01"],
    );
    let agent = |id: &str, words: &str| {
        append_records(
            &home,
            &format!("{ONE}/subagents/agent-{id}"),
            &format!("{id} side-user @20 {words}"),
        );
    };
    std::fs::create_dir_all(
        home.claude_dir().join("projects").join(APP).join(ONE).join("subagents"),
    )
    .unwrap();
    append_records(&home, ONE, "d < c call:t1:Task @10 look");
    agent("a1", "look");
    watch.wait_until(|line| event_text(line) == "prompt a1 look");
    append_records(&home, ONE, "e < a user @11 away\nf < e call:t2:Task @12 look elsewhere");
    watch.wait_until(|line| event_name(line) == "branch");
    agent("a2", "look elsewhere");
    append_records(&home, &format!("{ONE}/subagents/agent-a1"), "a1b < a1 side-user @21 more");
    let seen = watch.wait_until(|line| event_text(line) == "prompt a1b more");
    assert_eq!(seen.len(), 1, "{seen:?}");
    append_records(&home, ONE, "g < d user @30 back");
    let seen = watch.wait_until(|line| event_text(line) == "prompt g back");
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn agents_that_were_there_go_with_the_conversation_of_their_call() {
    let home = TestHome::new();
    write_session(
        &home,
        ONE,
        "a user one\nb < a call:t1:Task look\nc < a user @10 two\nd < c call:t2:Task @11 listen",
    );
    for (id, words) in [("a1", "look"), ("a2", "listen")] {
        let file = format!("{APP}/{ONE}/subagents/agent-{id}.jsonl");
        home.write_session(&file, &format!("{id} side-user @20 {words}"));
    }
    for (n, expected) in [
        (1, ["prompt a one", "prompt a1 look", "prompt z1 mark"].as_slice()),
        (2, &["prompt a one", "prompt c two", "prompt a2 listen", "prompt z2 mark"]),
    ] {
        let scope = format!("{ONE}@{n}");
        let args = ["--json", &scope, "--since", "2020-01-01", "--only", "prompts"];
        let mut watch = WatchProcess::start_watch(&home.claude_dir(), &args);
        let file = format!("{ONE}/subagents/agent-a{n}");
        append_records(&home, &file, &format!("z{n} < a{n} side-user @30 mark"));
        let seen = watch.wait_until(|line| line.contains("mark"));
        assert_eq!(seen.iter().map(|line| event_text(line)).collect::<Vec<_>>(), expected);
        let _ = watch.child.kill();
    }
}

#[test]
fn a_damaged_line_has_its_number_and_a_new_session_its_line() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let watch = WatchProcess::start_watch(&home.claude_dir(), &["--json"]);
    append_bytes(&home, ONE, b"no record\n");
    let seen = watch.wait_until(|line| event_name(line) == "damaged");
    let damaged: Value = serde_json::from_str(seen.last().unwrap()).unwrap();
    assert_eq!(damaged["detail"]["line"], BEGUN.trim().lines().count() + 1);
    let watch = WatchProcess::start_watch(
        &home.claude_dir(),
        &["--only", "files", "--since", "2020-01-01"],
    );
    append_records(&home, TWO, "z user elsewhere");
    // A watcher that is not ready yet gets it with the next one.
    for n in 3..9 {
        append_records(
            &home,
            &format!("{n}2222222-0000-4000-8000-000000000002"),
            "z user elsewhere",
        );
        thread::sleep(Duration::from_millis(200));
    }
    watch.wait_until(|line| line.contains("new session"));
}

#[test]
fn other_prices_count_as_they_do_for_usage() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let file = home.path().join("prices.json");
    std::fs::write(&file, r#"{"models":{"claude-sonnet-4-5":{"input":0,"output":1000000}}}"#)
        .unwrap();
    let watch = WatchProcess::start_watch(
        &home.claude_dir(),
        &["--json", "--prices", file.to_str().unwrap()],
    );
    append_records(&home, ONE, "c < b assistant @10 two");
    let seen = watch.wait_until(|line| event_name(line) == "usage");
    let usage: Value = serde_json::from_str(seen.last().unwrap()).unwrap();
    assert_eq!(usage["detail"]["cost_usd"], 5.0);
}

#[test]
fn rewritten_moved_and_deleted_files_are_reported() {
    for more in [&[][..], &["--poll", "5"]] {
        let home = TestHome::new();
        write_session(&home, ONE, BEGUN);
        let watch = WatchProcess::start_watch(
            &home.claude_dir(),
            &[&["--json", "--since", "2020-01-01"], more].concat(),
        );
        append_records(&home, ONE, "c < b user @10 two");
        watch.wait_until(|line| event_text(line) == "prompt c two");
        // What was shown is not shown again.
        write_session(&home, ONE, "c user @10 two\nd < c assistant @11 2");
        let seen = watch.wait_until(|line| event_name(line) == "usage");
        let seen: Vec<String> = seen.iter().map(|line| event_text(line)).collect();
        assert_eq!(seen, ["rewritten -", "answer d text 2", "usage d"]);
        let place = home.claude_dir().join("projects").join(APP);
        std::fs::rename(place.join(format!("{ONE}.jsonl")), place.join(format!("{TWO}.jsonl")))
            .unwrap();
        watch.wait_until(|line| event_name(line) == "moved");
        append_records(&home, TWO, "e < d user @12 three");
        watch.wait_until(|line| event_text(line) == "prompt e three");
        std::fs::remove_file(place.join(format!("{TWO}.jsonl"))).unwrap();
        watch.wait_until(|line| event_name(line) == "gone");
    }
}

#[test]
fn agents_and_places_that_do_not_exist_yet_appear() {
    let home = TestHome::new();
    let claude = home.path().join("later");
    let watch = WatchProcess::start_watch(&claude, &["--json", "--since", "2020-01-01"]);
    let file = format!("projects/{APP}/{ONE}.jsonl");
    std::fs::create_dir_all(claude.join("projects").join(APP)).unwrap();
    std::fs::write(claude.join(file), jsonl("a user go\nb < a call:t1:Task look")).unwrap();
    watch.wait_until(|line| event_text(line) == "answer b call Task");
    let agents = claude.join("projects").join(APP).join(ONE).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("agent-a1.jsonl"), jsonl("x side-user look")).unwrap();
    std::fs::write(agents.join("agent-a2.jsonl"), jsonl("y side-user Warmup")).unwrap();
    std::fs::write(agents.join("agent-a3.jsonl"), jsonl("z side-user look again")).unwrap();
    let seen = watch.wait_until(|line| event_text(line) == "prompt z look again");
    assert!(seen.iter().any(|line| event_text(line) == "prompt x look"), "{seen:?}");
    assert!(!seen.iter().any(|line| line.contains("Warmup")), "{seen:?}");
    let agent: Value = serde_json::from_str(seen.last().unwrap()).unwrap();
    assert_eq!((&agent["agent"], &agent["session"]), (&"a3".into(), &ONE.into()));
}

#[cfg(unix)]
#[test]
fn notify_runs_when_a_turn_ends_or_a_question_waits() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let notify = "echo \"$RAMUS_EVENT $RAMUS_SESSION $RAMUS_TITLE\" >&2";
    let mut watch = WatchProcess::start_watch(&home.claude_dir(), &["--json", "--notify", notify]);
    let mut stderr = BufReader::new(watch.child.stderr.take().unwrap());
    append_records(
        &home,
        ONE,
        "c < b call:t1:ExitPlanMode @10 x\n- title Tea\nd < b system:turn_duration @20",
    );
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, format!("turn_ended {ONE} Tea\n"));
    assert_eq!(watch.interrupt_and_wait(), Some(0));
}

#[test]
fn a_closed_pipe_is_silent() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let mut child = watch_command(&home.claude_dir(), &["--json"]).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    append_records(&home, ONE, NEWS);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn invalid_watch_scopes_are_reported() {
    let home = TestHome::new();
    write_session(&home, ONE, BEGUN);
    let refused = |args: &[&str], expected: &str| {
        let output = watch_command(&home.claude_dir(), args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    };
    refused(&["--branch"], "--branch needs a session");
    refused(&[APP, "--branch"], "is a project");
    refused(&["nobody"], "no session has the id or title");
    refused(&["--since", "soon"], "invalid time");
    refused(&["--only", "cats"], "invalid value");
}
