use std::fmt::Write;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use crate::body::RecordBody;
use crate::history::History;
use crate::ids::RecordUuid;
use crate::record::RecordKind;
use crate::resume::ResumeRule;
use crate::session::{NodeId, Session};
use crate::turn::path_turns;

/// A session in short form, with what the tools left in some of its records.
struct Fixture {
    jsonl: String,
    history: History,
}

impl Fixture {
    fn new(short: &str, outputs: &[(&str, Value)]) -> Self {
        let mut jsonl = String::new();
        for line in testkit::jsonl(short).lines() {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if let Some((_, output)) = outputs.iter().find(|(name, _)| record["uuid"] == *name) {
                record["toolUseResult"] = output.clone();
            }
            writeln!(jsonl, "{record}").unwrap();
        }
        let mut session = Session::default();
        session.push(jsonl.as_bytes());
        Self { jsonl, history: History::new(session, ResumeRule::Client) }
    }

    fn body(&self, node: NodeId) -> Option<RecordBody> {
        let span = self.history.session.record(node).span;
        RecordBody::parse(&self.jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize])
            .ok()
    }
}

/// Compares the paths to two records and draws what was found.
#[track_caller]
fn check(a: (&Fixture, &str), b: (&Fixture, &str)) -> String {
    let paths = [a, b].map(|(fixture, to)| {
        let node = fixture.history.node_by_uuid(RecordUuid::new(to.as_bytes())).unwrap();
        fixture.history.path_to(node).unwrap()
    });
    let stretches = [
        PathPart { history: &a.0.history, path: &paths[0] },
        PathPart { history: &b.0.history, path: &paths[1] },
    ];
    let common = compare_paths(&stretches[..1], &stretches[1..]);
    let sides = [0, 1].map(|index| {
        let (fixture, own) = ([a, b][index].0, &common.own[index][0]);
        let mut side = ComparedSide::default();
        let mut names = Vec::new();
        for turn in path_turns(&fixture.history, &paths[index], &mut |node| fixture.body(node)) {
            match own.contains(&turn.nodes[0]) {
                true => {
                    side.add_own_turn(&turn);
                    names.extend(turn.uuid.clone().filter(|_| is_compared(&turn)));
                }
                false => side.add_shared_turn(&turn),
            }
        }
        for node in own
            .iter()
            .filter(|node| fixture.history.session.record(**node).kind == RecordKind::Assistant)
        {
            if let Some(RecordBody::Assistant(body)) = fixture.body(*node) {
                side.usage.add_reply(&body);
            }
        }
        (side, names)
    });
    draw(&common, &sides)
}

/// Draws two sides, each with the uuids of its turns.
fn draw(common: &PathOverlap, [a, b]: &[(ComparedSide, Vec<String>); 2]) -> String {
    let mut drawing = String::new();
    let node = common.node.as_deref().unwrap_or("nothing");
    let [own_a, own_b] = common.own_messages;
    writeln!(drawing, "{} to {node}, then {own_a} | {own_b}", common.messages).unwrap();
    for (letter, (side, names), time) in
        [("A", a, common.own_time[0]), ("B", b, common.own_time[1])]
    {
        let tools = side
            .tools
            .iter()
            .map(|(name, calls)| format!("{name}×{}!{}", calls.made, calls.failed));
        let ran = side
            .commands
            .iter()
            .map(|ran| format!("`{}`{}", ran.command, if ran.failed { "✗" } else { "" }));
        let list = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join(" ");
        let seconds = time.map_or(0, |(from, to)| (to.as_millis() - from.as_millis()) / 1000);
        let line = [
            format!("{letter}: {}", names.join(" ")),
            list(&mut { tools }),
            list(&mut { ran }),
            format!(
                "{} tokens, {seconds}s",
                side.usage.total_spent(&crate::price::PriceList::default()).sum.tokens.total()
            ),
        ];
        writeln!(drawing, "{}", line.join("; ")).unwrap();
    }
    for file in changed_files(&a.0, &b.0) {
        let side = |change: &SideFileChange| {
            let sign = if change.changed { "changed" } else { "left" };
            format!(
                "{sign} +{} −{} {:?}→{:?}",
                change.added, change.removed, change.before, change.after
            )
        };
        let (a, b, differs) = (side(&file.a), side(&file.b), file.contents_differ());
        writeln!(drawing, "{}\n  {a}\n  {b}\n  differs: {differs:?}", file.path).unwrap();
    }
    drawing
}

fn edit(path: &str, original: Option<&str>, old: &str, new: &str) -> Value {
    json!({"filePath": path, "oldString": old, "newString": new, "originalFile": original,
        "structuredPatch": [], "userModified": false, "replaceAll": false})
}

fn write(path: &str, kind: &str, content: &str) -> Value {
    json!({"type": kind, "filePath": path, "content": content, "structuredPatch": []})
}

fn read(path: &str, content: &str) -> Value {
    let lines = content.lines().count();
    json!({"type": "text", "file": {"filePath": path, "content": content, "numLines": lines,
        "startLine": 1, "totalLines": lines}})
}

const TWO_WAYS: &str = r"
a        user          hello
b < a    assistant     hi
c < b    user          first way
d < c    call:t1:Bash  #m cargo test
e < d    result:t1     ok
f < e    assistant     #m done
g < b    user          second way
h < g    assistant     well
";

#[test]
fn common_messages_are_listed_and_the_rest_is_counted() {
    let fixture = Fixture::new(TWO_WAYS, &[]);
    assert_snapshot!(check((&fixture, "f"), (&fixture, "h")), @r"
    2 to b, then 2 | 2
    A: c d; Bash×1!0; `cargo test`; 15 tokens, 3s
    B: g h; ; ; 15 tokens, 1s
    ");
}

#[test]
fn a_conversation_is_the_same_as_itself() {
    let fixture = Fixture::new(TWO_WAYS, &[]);
    assert_snapshot!(check((&fixture, "h"), (&fixture, "h")), @r"
    4 to h, then 0 | 0
    A: ; ; ; 0 tokens, 0s
    B: ; ; ; 0 tokens, 0s
    ");
}

#[test]
fn one_path_may_end_where_the_other_continues() {
    let fixture = Fixture::new(TWO_WAYS, &[]);
    assert_snapshot!(check((&fixture, "b"), (&fixture, "h")), @r"
    2 to b, then 0 | 2
    A: ; ; ; 0 tokens, 0s
    B: g h; ; ; 15 tokens, 1s
    ");
}

#[test]
fn a_fork_shares_the_names_of_its_source() {
    let source = Fixture::new(TWO_WAYS, &[]);
    let fork = Fixture::new(
        r"
a        user       hello
b < a    assistant  hi
x < b    user       third way
y < x    assistant  oh
",
        &[],
    );
    assert_snapshot!(check((&source, "h"), (&fork, "y")), @r"
    2 to b, then 2 | 2
    A: g h; ; ; 15 tokens, 1s
    B: x y; ; ; 15 tokens, 1s
    ");
}

#[test]
fn strangers_have_nothing_in_common() {
    let a = Fixture::new("a  user  hello\nb < a  assistant  hi", &[]);
    let b = Fixture::new("x  user  hello\ny < x  assistant  hi", &[]);
    assert_snapshot!(check((&a, "b"), (&b, "y")), @r"
    0 to nothing, then 2 | 2
    A: a b; ; ; 15 tokens, 1s
    B: x y; ; ; 15 tokens, 1s
    ");
}

#[test]
fn a_message_that_is_whole_on_one_side_only_is_not_common() {
    let cut = Fixture::new("a  user  hello\nb < a  call:t1:Bash  #m ls", &[]);
    let whole = Fixture::new(
        "a  user  hello\nb < a  call:t1:Bash  #m ls\nc < b  result:t1  x\nd < c  assistant  done",
        &[],
    );
    assert_snapshot!(check((&cut, "b"), (&whole, "d")), @r"
    1 to a, then 1 | 2
    A: b; Bash×1!0; `ls`; 15 tokens, 0s
    B: b d; Bash×1!0; `ls`; 30 tokens, 2s
    ");
}

#[test]
fn files_end_as_the_tools_left_them() {
    let fixture = Fixture::new(
        r"
a        user           hello
b < a    call:t1:Read   /f
c < b    result:t1      x
d < c    assistant      read
e < d    user           one
f < e    call:t2:Edit   #m1 /f
g < f    result:t2      x
h < g    call:t3:Write  #m1 /new
i < h    result:t3      x
j < i    assistant      did
k < d    user           two
l < k    call:t4:Edit   #m2 /f
m < l    result:t4      x
n < m    call:t5:Edit   #m2 /f
o < n    result:t5      x
p < o    call:t6:Edit   #m2 /unseen
q < p    result:t6      x
",
        &[
            ("c", read("/f", "one\ntwo\n")),
            ("g", edit("/f", Some("one\ntwo\n"), "two", "2")),
            ("i", write("/new", "create", "fresh\n")),
            ("m", edit("/f", None, "one", "1")),
            ("o", edit("/f", None, "two", "zwei")),
            ("q", edit("/unseen", None, "x", "y")),
        ],
    );
    assert_snapshot!(check((&fixture, "j"), (&fixture, "q")), @r#"
    3 to d, then 3 | 2
    A: e f j; Edit×1!0 Write×1!0; ; 30 tokens, 5s
    B: k l; Edit×3!0; ; 15 tokens, 6s
    /f
      changed +1 −1 Text("one\ntwo\n")→Text("one\n2\n")
      changed +2 −2 Text("one\ntwo\n")→Text("1\nzwei\n")
      differs: Some(true)
    /new
      changed +1 −0 Absent→Text("fresh\n")
      left +0 −0 Absent→Absent
      differs: Some(true)
    /unseen
      left +0 −0 Unknown→Unknown
      changed +1 −1 Unknown→Unknown
      differs: None
    "#);
}

#[test]
fn what_failed_or_was_changed_outside_is_not_taken_for_a_change() {
    let fixture = Fixture::new(
        r"
a        user           hello
b < a    call:t1:Write  #m0 /f
c < b    result:t1      x
d < c    assistant      wrote
e < d    user           one
f < e    call:t2:Read   #m1 /f
g < f    result:t2      x
h < g    call:t3:Edit   #m1 /f
i < d    user           two
j < i    call:t4:Edit   #m2 /f
k < j    result:t4      x
",
        &[
            ("c", write("/f", "create", "one\n")),
            ("g", read("/f", "one, by hand\n")),
            ("k", edit("/f", Some("one\n"), "one", "three")),
        ],
    );
    assert_snapshot!(check((&fixture, "h"), (&fixture, "k")), @r#"
    3 to d, then 2 | 2
    A: e f; Edit×1!0 Read×1!0; ; 15 tokens, 3s
    B: i j; Edit×1!0; ; 15 tokens, 2s
    /f
      left +0 −0 Text("one, by hand\n")→Text("one, by hand\n")
      changed +1 −1 Text("one\n")→Text("three\n")
      differs: Some(true)
    "#);
}

/// Aligns the exchanges of two sessions and draws their prompts.
fn paired_prompts(shorts: [&str; 2]) -> Vec<String> {
    let turns = shorts.map(|short| {
        let fixture = Fixture::new(short, &[]);
        let end = NodeId(fixture.history.session.records().len() as u32 - 1);
        let path = fixture.history.path_to(end).unwrap();
        let turns: Vec<OwnTurn> =
            path_turns(&fixture.history, &path, &mut |node| fixture.body(node))
                .map(|turn| OwnTurn { part: 0, turn })
                .collect();
        turns
    });
    let counts = turns.each_ref().map(|turns| {
        let mut side = ComparedSide::default();
        turns.iter().for_each(|own| side.add_own_turn(&own.turn));
        side.exchanges
    });
    let order = order_exchanges(counts, &mut |side, each| {
        turns[side].iter().for_each(each);
        Ok::<(), ()>(())
    });
    let text = |side: Option<ComparedExchange>| {
        side.as_ref()
            .and_then(ComparedExchange::prompt)
            .map_or("-".to_owned(), |prompt| prompt.text.clone())
    };
    let [mut a, mut b] = turns.map(Vec::into_iter);
    paired_exchanges(&order.unwrap(), [&mut a, &mut b])
        .map(|(a, b)| format!("{} | {}", text(a), text(b)))
        .collect()
}

#[test]
fn exchanges_that_ask_alike_stand_beside_each_other() {
    let a = "a  user  start it\nb < a  user  fix the broken test now\nc < b  assistant  ok";
    let b =
        "x  user  begin here\ny < x  user  something else\nz < y  user  fix the broken test please";
    let expected = [
        "start it | begin here",
        "- | something else",
        "fix the broken test now | fix the broken test please",
    ];
    assert_eq!(paired_prompts([a, b]), expected);
    let swapped = expected.map(|row| {
        let (a, b) = row.split_once(" | ").unwrap();
        format!("{b} | {a}")
    });
    assert_eq!(paired_prompts([b, a]), swapped);
}
