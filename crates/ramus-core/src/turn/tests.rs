use std::fmt::Write;

use insta::assert_snapshot;

use super::*;
use crate::body::{RecordBody, plain_text};
use crate::history::History;
use crate::resume::ResumeRule;
use crate::session::Session;

/// Reads JSONL and draws the turns of the path to the record named `to`, one a line.
#[track_caller]
fn draw(jsonl: &str, to: &str) -> String {
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    session.finish_last_line();
    let history = History::new(session, ResumeRule::Client);
    let node = history.node_by_uuid(crate::ids::RecordUuid::new(to.as_bytes())).unwrap();
    let path = history.path_to(node).unwrap();
    let mut asked = Vec::new();
    let mut body = |node: NodeId| {
        asked.push(node);
        let span = history.session.record(node).span;
        RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize]).ok()
    };
    let mut drawing = String::new();
    for turn in path_turns(&history, &path, &mut body) {
        let uuid = turn.uuid.clone().unwrap_or_default();
        writeln!(drawing, "{uuid}({}) {}", turn.nodes.len(), said(&turn.kind)).unwrap();
    }
    let all = asked.len();
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), all, "a body was asked for twice");
    drawing
}

fn short(fixture: &str, to: &str) -> String {
    draw(&testkit::jsonl(fixture), to)
}

fn said(kind: &TurnKind) -> String {
    match kind {
        TurnKind::Prompt(PromptTurn { text, media, queued, delegated }) => {
            format!("prompt {text:?} media={} queued={queued} delegated={delegated}", media.len())
        }
        TurnKind::Reply(answer) => {
            format!("answer {}", answer.parts.iter().map(part).collect::<Vec<_>>().join(" | "))
        }
        TurnKind::Result(call) => format!("result {}", drawn_call(call)),
        TurnKind::Fork(fork) => {
            let branch = |branch: &ForkTurnBranch| {
                let marks =
                    [(branch.taken, "taken"), (branch.current, "current"), (branch.draft, "draft")];
                let marks: Vec<_> = marks.iter().filter(|m| m.0).map(|m| m.1).collect();
                let address = branch.address.as_deref().unwrap_or_default();
                format!("{address} {:?} {} {}", branch.label, branch.messages, marks.join(","))
            };
            format!(
                "fork {} {}",
                fork.kind,
                fork.branches.iter().map(branch).collect::<Vec<_>>().join("; ")
            )
        }
        other => format!("{other:?}"),
    }
}

fn part(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Text(text) => text.clone(),
        ReplyPart::Call(call) => drawn_call(call),
        other => format!("{other:?}"),
    }
}

fn drawn_call(call: &ToolCall) -> String {
    let result = call.result.as_ref().map(|result| plain_text(&result.content));
    let agent = call.agent.as_deref().unwrap_or("-");
    format!("{}:{} {agent} -> {result:?}", call.id, call.name)
}

#[test]
fn a_split_message_is_one_answer_with_its_results() {
    let fixture = r"
a        user          hello
b < a    thinking      #m
c < b    assistant     #m I look
d < c    call:t1:Bash  #m ls
e < d    call:t2:Read  #m a.rs
p < e    progress
f < d    result:t1     one
g < e    result:t2     two
h < g    assistant     done
";
    assert_snapshot!(short(fixture, "h"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(6) answer Thinking(Withheld { signature: 12 }) | I look | t1:Bash - -> Some("one") | t2:Read - -> Some("two")
    h(1) answer done
    "#);
}

#[test]
fn an_agent_is_named_and_a_missing_result_is_missing() {
    let fixture = r"
a        user              hello
b < a    call:t1:Task      #m look
c < b    call:t2:Bash      #m ls
d < b    result:t1:abc     found
x        side-user         look
y < x    side-assistant    hm
e < d    assistant         done
";
    assert_snapshot!(short(fixture, "e"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(3) answer t1:Task abc -> Some("found") | t2:Bash - -> None
    e(1) answer done
    "#);
    assert_snapshot!(short(fixture, "y"), @r#"
    x(1) prompt "look" media=0 queued=false delegated=true
    y(1) answer hm
    "#);
}

#[test]
fn a_late_result_still_knows_its_call() {
    let fixture = r"
a        user          hello
b < a    call:t1:Bash  #m ls
c < b    user          never mind
d < c    result:t1     files
e < d    assistant     done
";
    assert_snapshot!(short(fixture, "e"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(1) answer t1:Bash - -> None
    c(1) prompt "never mind" media=0 queued=false delegated=false
    d(1) result t1:Bash - -> Some("files")
    e(1) answer done
    "#);
}

#[test]
fn two_records_of_one_thing_are_one_turn() {
    let fixture = r"
m        meta       Caveat: x
a < m    command    compact
b < a    stdout     Compacted
c < b    user       hello
d < c    boundary
e < d    compacted  what was
f < e    user       go on
g < f    interrupt
";
    assert_snapshot!(short(fixture, "g"), @r#"
    a(2) Command(CommandTurn { name: "/compact", args: "", stdout: "Compacted", stderr: "" })
    c(1) prompt "hello" media=0 queued=false delegated=false
    (1) Resume(ResumeNote { without: 1, below: None })
    d(2) Compaction(Compaction { trigger: Some("manual"), pre_tokens: Some(1000), post_tokens: None, summary: Some("what was") })
    f(1) prompt "go on" media=0 queued=false delegated=false
    g(1) Interrupt { for_tool_use: false }
    "#);
}

#[test]
fn records_beside_the_path_come_after_it() {
    let fixture = r"
a        user                  hello
b < a    call:t1:Bash          #m ls
h < b    attachment:hook_blocking_error
d < b    result:t1             one
q < d    queued                and this
n < q    notification          <task-id>t9</task-id><status>done</status><summary>all well</summary>
e < n    assistant             done
s < e    system:away_summary   you were away
u < s    strange               x
x < u    error                 API Error: 500
t < x    system:turn_duration
";
    assert_snapshot!(short(fixture, "t"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(2) answer t1:Bash - -> Some("one")
    h(1) Hook(Hook { name: "", effect: Blocked, command: None, text: "" })
    q(1) prompt "and this" media=0 queued=true delegated=false
    n(1) Notification(Notification { from: Some("t9"), status: Some("done"), summary: Some("all well"), text: "" })
    e(1) answer done
    s(1) Note(ClientNote { kind: "away_summary", level: None, text: "you were away" })
    u(1) Unknown { kind: "strange", value: Object {"parentUuid": String("s"), "isSidechain": Bool(false), "cwd": String("/home/dev/app"), "sessionId": String("session"), "version": String("2.0.74"), "type": String("strange"), "text": String("x"), "uuid": String("u"), "timestamp": String("2026-01-01T00:00:08.000Z")} }
    (1) Resume(ResumeNote { without: 3, below: None })
    x(1) Synthetic(Synthetic { text: "API Error: 500", is_api_error: true, status: None, details: None })
    "#);
}

#[test]
fn a_fork_point_comes_before_its_branch() {
    let fixture = r"
a        user       hello
b < a    assistant  hi
c < b    user       first
d < c    assistant  one
e < b    user       second
f < e    assistant  two
g < e    assistant  two again
";
    assert_snapshot!(short(fixture, "d"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(1) answer hi
    b(1) fork edit :d "" 2 taken; :g "second" 2 current
    c(1) prompt "first" media=0 queued=false delegated=false
    d(1) answer one
    "#);
    assert_snapshot!(short(fixture, "g"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(1) answer hi
    b(1) fork edit :d "first" 2 ; :g "" 2 taken,current
    e(1) prompt "second" media=0 queued=false delegated=false
    e(1) fork retry :f "two" 1 ; :g "" 1 taken,current
    g(1) answer two again
    "#);
    assert_snapshot!(short(fixture, "b"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(1) answer hi
    b(1) fork edit :d "first" 2 ; :g "second" 2 current
    "#);
}

#[test]
fn a_branch_without_text_is_labelled_by_its_content() {
    let fixture = r"
a        user               hello
b < a    thinking           hm
c < a    call:t1:WebSearch  #m2 x
t < a    thinking           #m3 hm
d < t    call:t2:Read       #m3 x
e < a    assistant          \n
f < a    assistant          last
g < f    user:only-picture
h < f    user               other
";
    let told = short(fixture, "h");
    let retry = "fork retry :b \"thinking only\" 1 ; :c \"WebSearch\" 1 ; :d \"Read\" 1 ; :e \"no text\" 1 ; ";
    assert!(told.contains(retry), "{told}");
    assert!(told.contains("fork edit :g \"a picture\" 1 draft; "), "{told}");
}

#[test]
fn a_version_that_its_name_does_not_lead_to_goes_by_its_number() {
    let versions = "a user hello\nb < a assistant #m1 one\nb < a assistant #m2 two";
    let told = short(versions, "b");
    assert!(told.contains(r#"fork retry @1 "one" 1 ; :b "" 1 taken,current"#), "{told}");
}

#[test]
fn a_message_written_twice_is_shown_once() {
    let fixture = r"
a        user          @1 hello
b < a    assistant     @2 #m hi
c < b    call:t1:Bash  @3 #m ls
d < c    result:t1     @4 one
b2 < a   assistant     @2 #m hi
c2 < b2  call:t1:Bash  @3 #m ls
d2 < c2  result:t1     @4 one
e < d2   user          @5 more
k < e    boundary      @6
s < k    compacted     @6 in short
a2 < s   user          @1 hello
f < a2   assistant     @7 yes
";
    assert_snapshot!(short(fixture, "f"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(4) answer hi | t1:Bash - -> Some("one")
    e(1) prompt "more" media=0 queued=false delegated=false
    (1) Resume(ResumeNote { without: 3, below: None })
    k(2) Compaction(Compaction { trigger: Some("manual"), pre_tokens: Some(1000), post_tokens: None, summary: Some("in short") })
    f(1) answer yes
    "#);
}

#[test]
fn a_recovered_record_without_children_is_damaged() {
    let whole =
        testkit::jsonl("a user hello\nb < a assistant hi\nc < b user lost\nd < b user more\n");
    let glued = whole.replacen("\n{\"parentUuid\":\"b\"", "{\"parentUuid\":\"b\"", 1);
    assert_ne!(whole, glued);
    assert_snapshot!(draw(&glued, "d"), @r#"
    a(1) prompt "hello" media=0 queued=false delegated=false
    b(1) answer hi
    c(1) Damaged { line: 2, text: "lost" }
    (1) Resume(ResumeNote { without: 2, below: None })
    d(1) prompt "more" media=0 queued=false delegated=false
    "#);
}

#[test]
fn an_output_too_large_names_its_file() {
    let fixture = r"
a        user          hello
b < a    call:t1:Bash  ls
c < b    result:t1     <persisted-output>\nOutput too large (45KB). Full output saved to: /x/tool-results/y.txt\n\nPreview:\nz
";
    let jsonl = testkit::jsonl(fixture);
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    let history = History::new(session, ResumeRule::Client);
    let path = history.conversation_path(&history.branches.conversations[0]);
    let mut body = |node: NodeId| {
        let span = history.session.record(node).span;
        RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize]).ok()
    };
    let mut turn = path_turns(&history, &path, &mut body).last().unwrap();
    turn.read_spilled(&mut |path| Some(format!("text of {path}")));
    let whole = turn.tool_calls().next().unwrap().result.as_ref().unwrap().spilled_text.as_deref();
    assert_eq!(whole, Some("text of /x/tool-results/y.txt"));
}

#[test]
fn a_reply_in_two_turns_has_its_usage_in_the_first() {
    let fixture = r"
a        user          hello
b < a    assistant #m  first part
c < b    user          wait
d < c    assistant #m  second part
e < d    assistant #n  another
";
    let jsonl = testkit::jsonl(fixture);
    // The record that was written last states the most.
    let (before, after) = jsonl.split_at(jsonl.find("second part").unwrap());
    let jsonl =
        format!("{before}{}", after.replacen("\"output_tokens\":5", "\"output_tokens\":70", 1));
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    let history = History::new(session, ResumeRule::Client);
    let path = history.conversation_path(&history.branches.conversations[0]);
    let mut body = |node: NodeId| {
        let span = history.session.record(node).span;
        RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize]).ok()
    };
    let outputs = |turn: Turn| match turn.kind {
        TurnKind::Reply(reply) => {
            Some(reply.requests.iter().map(|used| used.usage.output_tokens).collect::<Vec<_>>())
        }
        _ => None,
    };
    let found: Vec<Vec<u64>> = path_turns(&history, &path, &mut body).filter_map(outputs).collect();
    assert_eq!(found, [vec![70], vec![], vec![5]]);
    // A part of the path alone has the same answer.
    let late = history.slice_path(&path, 3..path.messages.len());
    let late: Vec<Vec<u64>> = path_turns(&history, &late, &mut body).filter_map(outputs).collect();
    assert_eq!(late, [vec![], vec![5]]);
}
