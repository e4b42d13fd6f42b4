//! Complete transcripts, colours, and empty answers.

use std::fs;

use serde_json::Value;
use testkit::TestHome;

use crate::run_ramus;

const FILE: &str = "-p/11111111-aaaa-4000-8000-000000000000.jsonl";

/// A command with its body, a coloured output, and thinking without text.
const SESSION: &str = r##"{"parentUuid":null,"type":"user","sessionId":"11111111-aaaa-4000-8000-000000000000","version":"2.1.100","cwd":"/p","timestamp":"2026-01-01T00:00:00.000Z","uuid":"00000000-0000-4000-8000-00000000000a","message":{"content":"<command-name>/review</command-name>\n<command-args>the first line\nthe second line</command-args>"}}
{"parentUuid":"00000000-0000-4000-8000-00000000000a","type":"user","isMeta":true,"timestamp":"2026-01-01T00:00:00.001Z","uuid":"00000000-0000-4000-8000-00000000000b","message":{"content":[{"type":"text","text":"The body of the command"}]}}
{"parentUuid":"00000000-0000-4000-8000-00000000000b","type":"assistant","timestamp":"2026-01-01T00:00:01.000Z","uuid":"00000000-0000-4000-8000-00000000000c","message":{"id":"m1","model":"m","content":[{"type":"thinking","thinking":"","signature":"x"}]}}
{"parentUuid":"00000000-0000-4000-8000-00000000000c","type":"assistant","timestamp":"2026-01-01T00:00:01.000Z","uuid":"00000000-0000-4000-8000-00000000000d","message":{"id":"m1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","description":"List the files"}}]}}
{"parentUuid":"00000000-0000-4000-8000-00000000000d","type":"user","timestamp":"2026-01-01T00:00:02.000Z","uuid":"00000000-0000-4000-8000-00000000000e","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"\u001b[36mone\u001b[0m\n\u001b[38;5;196mtwo\u001b[K\nthree\u001b[0m\u001b[2J"}]}}
{"parentUuid":"00000000-0000-4000-8000-00000000000e","type":"assistant","timestamp":"2026-01-01T00:00:03.000Z","uuid":"00000000-0000-4000-8000-00000000000f","message":{"id":"m2","model":"m","content":[{"type":"thinking","thinking":"","signature":"x"},{"type":"tool_use","id":"t2","name":"Agent","input":{"description":"look","prompt":"Look around","subagent_type":"Explore"}}]}}
{"parentUuid":"00000000-0000-4000-8000-00000000000f","type":"user","timestamp":"2026-01-01T00:00:04.000Z","uuid":"00000000-0000-4000-8000-000000000010","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"found"}]}}
{"parentUuid":"00000000-0000-4000-8000-000000000010","type":"assistant","timestamp":"2026-01-01T00:00:05.000Z","uuid":"00000000-0000-4000-8000-000000000011","message":{"id":"m3","model":"m","content":[{"type":"text","text":"```rust\nfn main() {}\n```"}]}}
"##;

fn test_home() -> TestHome {
    let home = TestHome::new();
    let path = home.claude_dir().join("projects").join(FILE);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, SESSION).unwrap();
    home
}

#[track_caller]
fn run_stdout(home: &TestHome, args: &[&str]) -> String {
    let output = run_ramus(&home.claude_dir(), args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_command_is_whole_and_full_leaves_nothing_out() {
    let home = test_home();
    let brief = run_stdout(&home, &["show", "1111"]);
    assert!(brief.contains("▎ the first line\n▎ the second line\n"), "{brief}");
    assert!(brief.contains("Agent Explore “look”"), "{brief}");
    assert!(!brief.contains("withheld") && !brief.contains("The body"), "{brief}");
    let full = run_stdout(&home, &["show", "1111", "--full"]);
    for expected in ["The body of the command", "List the files", "Look around"] {
        assert!(full.contains(expected), "{expected} in {full}");
    }
    assert_eq!(full.matches("thinking (withheld)").count(), 1, "{full}");
    let told: Value =
        serde_json::from_str(&run_stdout(&home, &["show", "1111", "--full", "--json"])).unwrap();
    let kinds: Vec<&str> = told["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["command", "injected", "answer", "answer", "answer"]);
}

#[test]
fn output_has_its_colours_where_there_are_colours() {
    let home = test_home();
    let coloured = run_stdout(&home, &["show", "1111", "--tools", "--color", "always"]);
    assert!(coloured.contains("\x1b[36mone\x1b[0m\n"), "{coloured}");
    assert!(coloured.contains("\x1b[31mtwo\x1b[0m\n"), "{coloured}");
    assert!(coloured.contains("\x1b[31mthree\x1b[0m␛[2J\n"), "{coloured}");
    assert!(coloured.contains("\x1b[35mfn\x1b[0m"), "{coloured}");
    let plain = run_stdout(&home, &["show", "1111", "--tools", "--color", "never"]);
    assert!(!plain.contains('\x1b') && plain.contains("│ two\n"), "{plain}");
    for (format, expected) in [
        ("md", "one\ntwo\nthree␛[2J\n"),
        ("txt", "│ two\n"),
        ("html", "<span class=\"p6\">one</span>\n<span class=\"p1\">two</span>\n"),
    ] {
        let text = run_stdout(&home, &["export", "1111", "--format", format]);
        assert!(text.contains(expected), "{format}: {text}");
        assert!(!text.contains("␛[3") && !text.contains('\x1b'), "{format}: {text}");
    }
}

#[test]
fn an_export_tells_once_of_thinking_without_text() {
    let home = test_home();
    for format in ["md", "html", "txt"] {
        let text = run_stdout(&home, &["export", "1111", "--format", format, "--thinking"]);
        assert_eq!(text.matches("withheld").count(), 1, "{format}: {text}");
    }
}

#[test]
fn an_empty_answer_ends_alike_for_people_and_scripts() {
    let empty = TestHome::new();
    fs::create_dir_all(empty.claude_dir().join("projects")).unwrap();
    let out = empty.path().join("out");
    let out = out.to_string_lossy();
    let some = test_home();
    let cases: &[(&TestHome, &[&str], i32, Option<&str>)] = &[
        (&empty, &["projects"], 1, Some("projects")),
        (&empty, &["sessions"], 1, Some("sessions")),
        (&empty, &["conversations"], 1, Some("conversations")),
        (&empty, &["log"], 1, Some("operations")),
        (&empty, &["usage"], 1, Some("by_day")),
        (&empty, &["export", "--out", &out], 1, Some("transcripts")),
        (&empty, &["find", "x"], 1, None),
        (&empty, &["stats"], 0, None),
        (&empty, &["check"], 0, Some("defects")),
        (&empty, &["show"], 2, None),
        (&empty, &["tree"], 2, None),
        (&some, &["files", "1111"], 1, Some("files")),
        (&some, &["find", "nowhere"], 1, None),
        (&some, &["usage", "--since", "2100-01-01"], 1, Some("by_day")),
        (&some, &["show", "ffff"], 2, None),
    ];
    for (home, args, code, list) in cases {
        let people = run_ramus(&home.claude_dir(), args);
        let scripts = run_ramus(&home.claude_dir(), &[args, &["--json"][..]].concat());
        assert_eq!(people.status.code(), Some(*code), "{args:?}");
        assert_eq!(scripts.status.code(), Some(*code), "{args:?} --json");
        if let Some(list) = list {
            let answer: Value = serde_json::from_slice(&scripts.stdout).unwrap();
            assert_eq!(answer[list].as_array().map(Vec::len), Some(0), "{args:?}: {answer}");
        }
    }
}

/// The last message of an agent may be at work like that of a session; a call in the middle may not.
#[test]
fn check_judges_calls_of_sessions_and_agents_alike() {
    let fixture = "
a        user          go
b < a    call:t1:Bash  ls
c < b    result:t1     one
d < c    call:t2:Bash  pwd
";
    let middle = "
a        user          go
b < a    call:t1:Bash  ls
c < b    user          never mind
d < c    assistant     fine
";
    let agent = |fixture: &str| {
        testkit::jsonl(fixture).replace("\"isSidechain\":false", "\"isSidechain\":true")
    };
    for (fixture, expected) in [(fixture, 0), (middle, 1)] {
        let home = TestHome::new();
        home.write_session(FILE, fixture);
        let sub = home
            .claude_dir()
            .join("projects")
            .join("-p/11111111-aaaa-4000-8000-000000000000/subagents/agent-abc.jsonl");
        fs::create_dir_all(sub.parent().unwrap()).unwrap();
        fs::write(&sub, agent(fixture)).unwrap();
        assert!(fs::read_to_string(&sub).unwrap().contains("\"isSidechain\":true"));
        let check = crate::run_json(&home.claude_dir(), &["check"]);
        let defects = check["defects"].as_array().unwrap();
        let in_agent = |defect: &&Value| defect["file"].as_str().unwrap().contains("agent-");
        assert_eq!(defects.iter().filter(in_agent).count(), expected, "{check}");
        assert_eq!(defects.len(), 2 * expected, "{check}");
    }
}
