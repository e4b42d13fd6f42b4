use insta::assert_snapshot;
use ramus_core::body::RecordBody;
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::path_turns;

use super::*;

const CLOSED: TextConfig<'static> = TextConfig {
    width: 80,
    thinking: false,
    tools: false,
    full: false,
    branch_notes: true,
    usage: None,
    highlight: Highlight::On,
    show: "ramus show SESSION",
    cwd: "/home/dev/app",
    running: &[],
    time: &|time| time.to_string()[11..19].to_owned(),
};
const OPEN: TextConfig<'static> = TextConfig { thinking: true, tools: true, ..CLOSED };

/// Returns the conversation that resumes as plain text.
#[track_caller]
fn read(jsonl: &str, config: &TextConfig<'_>) -> String {
    let history = history(jsonl.as_bytes());
    let conversation = history.branches.resuming_conversation().unwrap();
    let lines = all_lines(jsonl.as_bytes(), &history, conversation, config);
    lines.iter().map(|line| line.to_text() + "\n").collect()
}

fn history(jsonl: &[u8]) -> History {
    let mut session = Session::default();
    session.push(jsonl);
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

fn all_lines(
    jsonl: &[u8],
    history: &History,
    conversation: &ramus_core::branches::Conversation,
    config: &TextConfig<'_>,
) -> Vec<Line> {
    let path = history.conversation_path(conversation);
    let mut body = |node: NodeId| {
        let span = history.session.record(node).span;
        RecordBody::parse(&jsonl[span.offset as usize..span.end_offset() as usize]).ok()
    };
    let mut transcript = TranscriptWriter::new(config);
    let mut lines = Vec::new();
    for turn in path_turns(history, &path, &mut body) {
        transcript.write_turn(&turn, &mut |line| lines.push(line));
    }
    lines
}

#[track_caller]
fn short(fixture: &str, config: &TextConfig<'_>) -> String {
    read(&testkit::jsonl(fixture), config)
}

/// Returns one call and its result as they read; `result` is the rest of a tool result block.
fn call(name: &str, input: &str, result: &str, output: &str, config: &TextConfig<'_>) -> String {
    let jsonl = format!(
        r#"{{"parentUuid":null,"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"{name}","input":{input}}}]}},"uuid":"a"}}
{{"parentUuid":"a","type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t",{result}}}]}},"toolUseResult":{output},"uuid":"b"}}
"#
    );
    let text = read(&jsonl, config);
    text.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_role_heading_is_printed_once() {
    let fixture = r"
a        user          hello\nthere
b < a    thinking      #m hm, hm
c < b    assistant     #m I **look**
d < c    call:t1:Bash  #m ls
e < d    result:t1     one\ntwo
f < e    thinking      #n
g < f    call:t2:Read  #n /home/dev/app/src/a.rs
h < g    assistant     done
i < h    user          thanks
";
    assert_snapshot!(short(fixture, &CLOSED), @"
    ❯ You  00:00:00  a
    ▎ hello
    ▎ there

    ● Claude  sonnet-4-5  00:00:01  b
      ∴ thinking (6 characters)

      I look

      • Bash ls  → 2 lines
      • Read src/a.rs  no result

      done

    ❯ You  00:00:08  i
    ▎ thanks
    ");
    assert_snapshot!(short(fixture, &OPEN), @"
    ❯ You  00:00:00  a
    ▎ hello
    ▎ there

    ● Claude  sonnet-4-5  00:00:01  b
      ∴ thinking
        hm, hm

      I look

      • Bash ls  → 2 lines
        │ runs it
        │ one
        │ two

      ∴ thinking (withheld)
      • Read src/a.rs  no result

      done

    ❯ You  00:00:08  i
    ▎ thanks
    ");
}

#[test]
fn a_call_that_is_running_says_since_when() {
    let fixture = "a user go\nb < a call:t1:Bash #m sleep 9\nc < b call:t2:Bash #m sleep 8\nd < c call:t3:Bash #m ls";
    let call = |id: &str, millis| RunningCall { id: id.to_owned(), millis };
    let running = [call("t1", Some(72_000)), call("t2", None)];
    let text = short(fixture, &TextConfig { running: &running, ..CLOSED });
    let outcomes: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("• Bash ")).collect();
    assert_eq!(outcomes, ["sleep 9  running 1m 12s", "sleep 8  running", "ls  no result"]);
}

#[test]
fn withheld_thinking_is_mentioned_once_per_reply() {
    let fixture = r"
a        user          hello
b < a    thinking      #m
c < b    call:t1:Bash  #m ls
d < c    result:t1     one
e < d    thinking      #n
f < e    call:t2:Bash  #n pwd
g < f    result:t2     two
h < g    user          go on
i < h    thinking      #o
j < i    assistant     #o done
k < j    user          and?
l < k    thinking      #p
";
    let text = short(fixture, &CLOSED);
    assert!(!text.contains("withheld"), "{text}");
    let open = TextConfig { thinking: true, ..CLOSED };
    assert_eq!(short(fixture, &open).matches("∴ thinking (withheld)").count(), 3);
    // Who says nothing that can be read is not announced.
    assert_eq!(text.matches("● Claude").count(), 2, "{text}");
}

#[test]
fn arguments_of_a_command_are_whole() {
    let jsonl = |args: &str| {
        format!(
            r#"{{"parentUuid":null,"type":"user","message":{{"content":"<command-name>/review</command-name>\n<command-args>{args}</command-args>"}},"uuid":"a","timestamp":"2026-01-01T00:00:00.000Z"}}
{{"parentUuid":"a","type":"user","isMeta":true,"message":{{"content":[{{"type":"text","text":"Review **all** of it.\n\nThen stop."}}]}},"uuid":"b","timestamp":"2026-01-01T00:00:01.000Z"}}
{{"parentUuid":"b","type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"ok"}}]}},"uuid":"c","timestamp":"2026-01-01T00:00:02.000Z"}}
"#
        )
    };
    assert_snapshot!(read(&jsonl("all of it"), &CLOSED), @"
    ❯ /review all of it  00:00:00  a

    ● Claude  00:00:02  c
      ok
    ");
    let long = format!("the first line\\nand {}the last", "a second one that is long, ".repeat(4));
    assert_snapshot!(read(&jsonl(&long), &CLOSED), @"
    ❯ /review  00:00:00  a
    ▎ the first line
    ▎ and a second one that is long, a second one that is long, a second one that is
    ▎ long, a second one that is long, the last

    ● Claude  00:00:02  c
      ok
    ");
}

#[test]
fn full_shows_all_input_of_a_call() {
    let bash = r#"{"command":"make","description":"Build it","timeout":60000}"#;
    let full = TextConfig { full: true, ..OPEN };
    assert_snapshot!(call("Bash", bash, r#""content":"ok""#, "null", &full), @"
    • Bash make  → ok
      │ Build it
      │ timeout: 60000
      │ ok
    ");
    let grep = r#"{"pattern":"fn","path":"src","-A":3,"output_mode":"content"}"#;
    assert_snapshot!(call("Grep", grep, r#""content":"ok""#, "null", &full), @r#"
    • Grep "fn" in src  → ok
      │ -A: 3
      │ output_mode: content
      │ ok
    "#);
}

#[test]
fn output_keeps_its_colours() {
    let jsonl = r#"{"parentUuid":null,"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"uuid":"a"}
{"parentUuid":"a","type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"\u001b[36mone\ntwo\u001b[0m three\u001b[2J"}]},"uuid":"b"}
"#;
    let history = history(jsonl.as_bytes());
    let conversation = history.branches.resuming_conversation().unwrap();
    let lines = all_lines(jsonl.as_bytes(), &history, conversation, &OPEN);
    let printed: Vec<String> = lines[1..]
        .iter()
        .map(|line| crate::ansi::to_ansi(line, &crate::ansi::AnsiTheme::BASE).replace('\x1b', "E"))
        .collect();
    assert_eq!(
        printed,
        [
            "E[1;34m  • BashE[0m lsE[0m  E[2m→ 2 linesE[0m".replace("lsE[0m  ", "ls  "),
            "E[2m    │ E[0mE[36moneE[0m".to_owned(),
            "E[2m    │ E[0mE[36mtwoE[0m three␛[2J".to_owned(),
        ]
    );
}

#[test]
fn notes_between_turns_are_compact() {
    let fixture = r"
m        command               model
n < m    stdout                Set model to opus
a < n    user                  hello
b < a    call:t1:Bash          #m ls
d < b    result:t1             one
q < d    queued                and this
r < q    notification          <task-id>t9</task-id><status>done</status><summary>Agent done</summary>
e < r    assistant             done
s < e    system:away_summary   you were away
u < s    strange               x
x < u    error                 API Error: 500
y < x    interrupt
z < y    boundary
z1 < z   compacted             ## What was\nthis and that
z2 < z1  user                  go on
";
    assert_snapshot!(short(fixture, &CLOSED), @"
    ❯ /model  00:00:00  m
      Set model to opus

    ❯ You  00:00:02  a
    ▎ hello

    ● Claude  sonnet-4-5  00:00:03  b
      • Bash ls  → one

    ❯ You  queued  00:00:05  q
    ▎ and this

    ◆ Agent done

    ● Claude  sonnet-4-5  00:00:07  e
      done

    i you were away
    ? unknown record type “strange”
    × API Error: 500
    ■ interrupted
    ◉ Claude Code resumes without the 4 messages above

    ── compacted (manual)  1,000 tokens  00:00:12 ──────────────────────────────────
    ┊ What was
    ┊ this and that

    ❯ You  00:00:14  z2
    ▎ go on
    ");
}

#[test]
fn a_branch_without_text_is_not_quoted() {
    let fixture = r"
a        user       hello
b < a    thinking   hm
c < a    assistant  yes
";
    let told = short(fixture, &CLOSED);
    assert!(
        told.contains("┬ retry: 2 branches; also: thinking only (1 message, abandoned)"),
        "{told}"
    );
}

#[test]
fn a_fork_point_lists_the_other_branches() {
    let fixture = r"
a        user       hello
b < a    assistant  hi
c < b    user       first way that was taken and then left again for another one
d < c    assistant  one
e < b    user       second
f < e    assistant  two
g < e    assistant  two again
h < e    assistant  two once more
";
    assert_snapshot!(short(fixture, &CLOSED), @"
    ❯ You  00:00:00  a
    ▎ hello

    ● Claude  sonnet-4-5  00:00:01  b
      hi

    ┬ edited prompt: 2 branches; also: “first way that was…” (2 messages, abandoned)
      → ramus show SESSION:d

    ❯ You  00:00:04  e
    ▎ second

    ┬ retry: 3 branches; also:
      “two” (1 message, abandoned) → ramus show SESSION:f
      “two again” (1 message, abandoned) → ramus show SESSION:g

    ● Claude  sonnet-4-5  00:00:07  h
      two once more
    ");
    assert_snapshot!(short(fixture, &TextConfig { width: 40, ..CLOSED }), @"
    ❯ You  00:00:00  a
    ▎ hello

    ● Claude  sonnet-4-5  00:00:01  b
      hi

    ┬ edited prompt: 2 branches; also:
      “first way t…” (2 messages, abandoned)
      → ramus show SESSION:d

    ❯ You  00:00:04  e
    ▎ second

    ┬ retry: 3 branches; also:
      “two” (1 message, abandoned)
      → ramus show SESSION:f
      “two again” (1 message, abandoned)
      → ramus show SESSION:g

    ● Claude  sonnet-4-5  00:00:07  h
      two once more
    ");
    let without = short(fixture, &TextConfig { branch_notes: false, ..CLOSED });
    assert!(!without.contains('┬'), "{without}");
}

#[test]
fn an_edit_is_a_diff() {
    let (input, output) = (
        r#"{"file_path":"/home/dev/app/src/a.rs","old_string":"let a = 1;","new_string":"let a = 2;\nlet b = 3;"}"#,
        r#"{"filePath":"/home/dev/app/src/a.rs","oldString":"let a = 1;","newString":"let a = 2;\nlet b = 3;","structuredPatch":[{"oldStart":7,"oldLines":2,"newStart":7,"newLines":3,"lines":[" // x","-let a = 1;","+let a = 2;","+let b = 3;"]}]}"#,
    );
    assert_snapshot!(call("Edit", input, r#""content":"ok""#, output, &CLOSED), @"
      • Edit src/a.rs  +2 −1
    ");
    assert_snapshot!(call("Edit", input, r#""content":"ok""#, output, &OPEN), @"
    • Edit src/a.rs  +2 −1
      │ @@ -7,2 +7,3 @@
      │ 7 7  // x
      │ 8   -let a = 1;
      │   8 +let a = 2;
      │   9 +let b = 3;
    ");
    assert_snapshot!(call("Edit", input, r#""content":"ok""#, "null", &OPEN), @"
    • Edit src/a.rs  +2 −1
      │ @@ -1,1 +1,2 @@
      │ -let a = 1;
      │ +let a = 2;
      │ +let b = 3;
    ");
}

#[test]
fn files_are_numbered_and_shortened() {
    let content = (5..50).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\\n");
    let output = format!(
        r#"{{"type":"text","file":{{"filePath":"/x/a.py","content":"{content}","numLines":45,"startLine":5,"totalLines":90}}}}"#
    );
    let read =
        |config| call("Read", r#"{"file_path":"/x/a.py"}"#, r#""content":"""#, &output, config);
    assert_snapshot!(read(&CLOSED), @"
      • Read /x/a.py  → 45 of 90 lines
    ");
    let opened = read(&OPEN);
    assert!(opened.contains("│  5 line 5\n"), "{opened}");
    assert!(opened.ends_with("│ 28 line 28\n    │ … 21 lines left out\n"), "{opened}");
    assert!(read(&TextConfig { full: true, ..OPEN }).ends_with("│ 49 line 49\n"));
    let write = r#"{"file_path":"/x/a.py","content":"import os\n"}"#;
    let output =
        r#"{"type":"create","filePath":"/x/a.py","content":"import os\n","structuredPatch":[]}"#;
    assert_snapshot!(call("Write", write, r#""content":"ok""#, output, &OPEN), @"
    • Write /x/a.py  → new, 1 line
      │ 1 import os
    ");
}

#[test]
fn errors_say_why() {
    let failed = r#""content":"Exit code 1\nno such file","is_error":true"#;
    let run = r#"{"command":"cat x\ncat y"}"#;
    assert_snapshot!(call("Bash", run, failed, r#""Error: x""#, &CLOSED), @"
      • Bash cat x …  × Exit code 1: no such file
    ");
    assert_snapshot!(call("Bash", run, failed, r#""Error: x""#, &OPEN), @"
    • Bash cat x …  × Exit code 1: no such file
      │ cat x
      │ cat y
      │ ────────────────────────
      │ Exit code 1
      │ no such file
    ");
    let wrapped = r#""content":"<tool_use_error>File has not been read yet</tool_use_error>","is_error":true"#;
    assert_snapshot!(call("Edit", r#"{"file_path":"/x"}"#, wrapped, "null", &CLOSED), @"
      • Edit /x  × File has not been read yet
    ");
    let refused =
        r#""content":"The user doesn't want to proceed with this tool use.","is_error":true"#;
    assert_snapshot!(call("Bash", run, refused, r#""User rejected tool use""#, &CLOSED), @"
      • Bash cat x …  × rejected
    ");
}

#[test]
fn other_tools_have_their_look() {
    let todos = r#"{"todos":[{"content":"one","status":"completed"},{"content":"two","status":"in_progress"},{"content":"three","status":"pending"}]}"#;
    assert_snapshot!(call("TodoWrite", todos, r#""content":"ok""#, r#"{"oldTodos":[],"newTodos":[]}"#, &OPEN), @"
    • TodoWrite 1 of 3 done: two
      │ ■ one
      │ ◐ two
      │ □ three
    ");
    let ask = r#"{"questions":[{"question":"Which?","header":"H","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":false}]}"#;
    let answers = r#"{"questions":[],"answers":{"Which?":"Blue"}}"#;
    assert_snapshot!(call("AskUserQuestion", ask, r#""content":"ok""#, answers, &OPEN), @"
    • AskUserQuestion Which?  → Blue
      │ ? Which?
      │   ○ Red
      │   ● Blue
    ");
    let task = r##"{"description":"look","prompt":"# Look\nhere","subagent_type":"Explore"}"##;
    let agent = r#"{"status":"completed","agentId":"abc","content":[{"type":"text","text":"found it"}],"totalToolUseCount":12,"totalTokens":30412,"totalDurationMs":130000}"#;
    assert_snapshot!(call("Task", task, r#""content":"found it""#, agent, &OPEN), @"
    • Task Explore “look”  agent-abc → 12 tools, 30k tokens, 2m 10s
      │ prompt
      │ # Look
      │ 
      │ here
      │ reply
      │ found it
    ");
    let grep = r#"{"mode":"files_with_matches","filenames":["a","b"],"numFiles":2}"#;
    assert_snapshot!(call("Grep", r#"{"pattern":"foo","path":"/home/dev/app/src"}"#, r#""content":"a\nb""#, grep, &CLOSED), @r#"
      • Grep "foo" in src  → 2 files
    "#);
    let mcp = r#"[{"type":"text","text":"done"}]"#;
    assert_snapshot!(call("mcp__git__log", r#"{"n":3,"path":"x"}"#, r#""content":[{"type":"text","text":"done"}]"#, mcp, &OPEN), @"
    • git:log n: 3, path: x  → done
      │ n: 3
      │ path: x
      │ done
    ");
    let plan = r##"{"plan":"# Plan\n1. this"}"##;
    assert_snapshot!(call("ExitPlanMode", plan, r#""content":"ok""#, r#"{"plan":"x","isAgent":false}"#, &OPEN), @"
    • ExitPlanMode Plan …  → approved
      │ # Plan
      │ 
      │ 1. this
    ");
    let image = r#""content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJDRA=="}}]"#;
    assert_snapshot!(call("Shot", r#"{"url":"x"}"#, image, "null", &OPEN), @"
    • Shot x  → [image png 6 B]
      │ url: x
      │ [image png 6 B]
    ");
}

/// A plan reads as what it says, wherever the client put it.
#[test]
fn plans_are_rendered() {
    // Recent clients leave the plan out of the call.
    let kept = r##"{"plan":"# Tea\n\nBoil **only** water.","isAgent":false}"##;
    assert_snapshot!(call("ExitPlanMode", "{}", r#""content":"You may start""#, kept, &OPEN), @"
    • ExitPlanMode Tea …  → approved
      │ # Tea
      │ 
      │ Boil only water.
    ");
    let titled = r##"{"plan":"# **Tea** and `milk`\n1. this"}"##;
    let row = call("ExitPlanMode", titled, r#""content":"ok""#, "null", &CLOSED);
    assert!(row.contains("ExitPlanMode Tea and milk …"), "{row}");
    let write =
        r##"{"file_path":"/home/dev/.claude/plans/tea.md","content":"Boil **only** water."}"##;
    let written = call("Write", write, r#""content":"ok""#, "null", &OPEN);
    assert!(written.contains("│ Boil only water."), "{written}");
    let prompt = "a user Implement the following plan:\\n\\n# Tea\\n\\nBoil **only** water.";
    let text = read(&testkit::jsonl(prompt), &CLOSED);
    assert!(text.contains("▎ Implement the following plan:"), "{text}");
    assert!(text.contains("▎ # Tea") && text.contains("▎ Boil only water."), "{text}");
    // What a person typed stays as it was typed.
    let typed = read(&testkit::jsonl("a user Boil **only** water."), &CLOSED);
    assert!(typed.contains("▎ Boil **only** water."), "{typed}");
}

#[test]
fn amounts_read_well() {
    assert_eq!(
        [0, 999, 1203, 1_000_000].map(amounts::grouped_digits),
        ["0", "999", "1,203", "1,000,000"]
    );
    assert_eq!(
        [950, 1500, 30_412, 1_250_000].map(amounts::format_tokens),
        ["950", "1.5k", "30k", "1.2M"]
    );
    assert_eq!(
        [400, 12_000, 130_000, 3_900_000].map(amounts::format_duration),
        ["0.4s", "12s", "2m 10s", "1h 05m"]
    );
    assert_eq!([1, 2].map(|n| amounts::count_noun(n, "line")), ["1 line", "2 lines"]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "samples are read from disk, in this test only")]
fn every_sample_reads() {
    let Some(samples) = testkit::shared_material("samples/projects") else { return };
    let mut open = vec![samples];
    let mut read = 0;
    while let Some(path) = open.pop() {
        for path in std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let bytes = std::fs::read(&path).unwrap();
                let history = history(&bytes);
                for conversation in &history.branches.conversations {
                    for width in [0, 24, 100] {
                        let config = TextConfig { width, full: width == 24, ..OPEN };
                        let lines = all_lines(&bytes, &history, conversation, &config);
                        let widest = lines.iter().map(Line::width).max().unwrap_or(0);
                        assert!(width < 24 || widest <= width, "{}: {widest}", path.display());
                    }
                }
                read += 1;
            }
        }
    }
    assert!(read > 0);
}

#[test]
fn a_call_of_a_live_session_is_running() {
    let jsonl = testkit::jsonl("a user look\nb < a call:t1:Read a.rs");
    let history = history(jsonl.as_bytes());
    let path = history.conversation_path(history.branches.resuming_conversation().unwrap());
    let reply = ramus_core::turn::last_reply(&history, &path).unwrap();
    let mut body = |node: NodeId| {
        let span = history.session.record(node).span;
        let bytes = &jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize];
        RecordBody::parse(bytes).ok()
    };
    let mut lines = Vec::new();
    for mut turn in path_turns(&history, &path, &mut body) {
        turn.mark_running(&history, reply);
        write_single_turn(&turn, &CLOSED, &mut lines);
    }
    assert_eq!(lines.last().unwrap().to_text(), "  • Read a.rs  running");
}
