use std::fmt::Write;

use proptest::prelude::*;
use proptest::strategy::Strategy as Strategy_;
use rustc_hash::FxHashMap;
use serde_json::Value;
use testkit::jsonl;

use super::*;
use crate::body::RecordBody;
use crate::edit::{NewLine, copy_source};
use crate::record::{RecordKind, RecordRole};
use crate::resume::{ClientEra, ResumeRule, resume_point_in_era};
use crate::session::Session;
use crate::time::Time;

const NOW: &str = "2026-03-01T12:00:00.000Z";

fn read(bytes: &[u8]) -> History {
    let mut session = Session::default();
    session.push(bytes);
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

/// A session and the node that is meant of it.
type At<'a> = (&'a str, &'a str);

/// Merges conversations that each lie in one file.
fn merged(
    at: &[At<'_>],
    strategy: MergeStrategy,
    no_base: bool,
    policy: ConflictPolicy,
) -> Result<(PlannedMerge, String), EditRefusal> {
    let files: Vec<String> = at.iter().map(|(short, _)| jsonl(short)).collect();
    let histories: Vec<Arc<History>> =
        files.iter().map(|file| Arc::new(read(file.as_bytes()))).collect();
    let ends = at.iter().zip(&histories).map(|((_, leaf), history)| {
        history.node_by_uuid(RecordUuid::new(leaf.as_bytes())).expect("because the fixture has it")
    });
    let paths: Vec<ConversationPath> =
        ends.zip(&histories).map(|(end, history)| history.path_to(end).unwrap()).collect();
    merge_paths(&files, &histories, &paths, strategy, no_base, policy)
}

fn merge_paths(
    files: &[String],
    histories: &[Arc<History>],
    paths: &[ConversationPath],
    strategy: MergeStrategy,
    no_base: bool,
    policy: ConflictPolicy,
) -> Result<(PlannedMerge, String), EditRefusal> {
    let mut bodies = |source: usize, node: NodeId| {
        let span = histories[source].session.record(node).span;
        let bytes = &files[source].as_bytes()[span.offset as usize..span.end_offset() as usize];
        RecordBody::parse(bytes).ok()
    };
    let names: Vec<String> =
        (0..paths.len()).map(|index| format!("session-{}", index + 1)).collect();
    let mut origins = Vec::new();
    for (index, (history, path)) in histories.iter().zip(paths).enumerate() {
        origins.push(copy_source(&names[index], history, path, &mut |node| bodies(index, node)));
    }
    let sources = MergeSources {
        origins,
        histories: histories.to_vec(),
        paths: paths.iter().collect(),
        branches: (0..paths.len()).map(|index| index..index + 1).collect(),
    };
    let request = MergeOptions { strategy, no_base, policy, title: "merged", cwd: None };
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("00000000-0000-4000-8000-{next:012}")
    };
    let mut writer = EditContext {
        session: "new",
        now: Time::parse(NOW.as_bytes()).unwrap(),
        new_id: &mut new_id,
    };
    let merged = plan_merge(&sources, &request, &mut writer, &mut bodies)?;
    let mut text = Vec::new();
    for line in &merged.new.lines {
        match line {
            NewLine::Made(bytes) => text.extend_from_slice(bytes),
            NewLine::Copied(line) => {
                let (file, span) = (files[line.source()].as_bytes(), line.span());
                let bytes = &file[span.offset as usize..span.end_offset() as usize];
                text.extend(line.splice.apply_to(bytes));
                text.push(b'\n');
            }
        }
    }
    Ok((merged, String::from_utf8(text).unwrap()))
}

/// What the client would send: from the last boundary to the resume point.
fn sent(text: &str) -> Vec<String> {
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let by_name: FxHashMap<&str, &Value> =
        records.iter().filter_map(|record| Some((record["uuid"].as_str()?, record))).collect();
    let history = read(text.as_bytes());
    let point = history.branches.resume.unwrap().point;
    let name = history.session.uuid_text(history.session.record(point).uuid.unwrap());
    let mut path = Vec::new();
    let mut at = by_name.get(name.as_str());
    while let Some(record) = at {
        path.push(said(record));
        at = record["parentUuid"].as_str().and_then(|parent| by_name.get(parent));
    }
    path.reverse();
    path.into_iter().flatten().collect()
}

fn said(record: &Value) -> Option<String> {
    let who = match record["type"].as_str()? {
        "user" => "u",
        "assistant" => "a",
        _ => return None,
    };
    let content = &record["message"]["content"];
    if let Some(text) = content.as_str() {
        return Some(format!("{who}:{}", text.replace('\n', "/")));
    }
    let block = &content[0];
    Some(match block["type"].as_str()? {
        "tool_use" => format!("call:{}", block["id"].as_str()?),
        "tool_result" => format!("result:{}", block["tool_use_id"].as_str()?),
        "text" => format!("{who}:{}", block["text"].as_str()?),
        other => other.to_owned(),
    })
}

#[track_caller]
fn check(at: &[At<'_>], strategy: MergeStrategy, expected: &str) {
    let (merged, text) = merged(at, strategy, false, ConflictPolicy::Stop).unwrap();
    assert_eq!(sent(&text).join(" "), expected, "{text}");
    assert_eq!(
        merged.new.messages,
        read(text.as_bytes()).branches.resuming_conversation().unwrap().messages
    );
}

const TWO: &str = "
    p1       user       v=2.1.325 P1
    a1 < p1  assistant  A1
    p2 < a1  user       P2
    a2 < p2  assistant  A2
    p3 < a1  user       P3
    a3 < p3  assistant  A3
    p4 < a2  user       P4
    a4 < p4  assistant  A4
";

/// Returns the conversation and the prompt of everything that is somebody's own.
fn owned(merged: &PlannedMerge) -> Vec<String> {
    let own = merged.exchanges.iter();
    own.map(|one| format!("{} {}", one.branch, one.prompt_text.unwrap_or_default())).collect()
}

#[test]
fn a_compaction_whose_kept_messages_were_moved_behind_it_is_common() {
    let original = "
        a      user       v=2.1.325 first
        b < a  assistant  #m1 one
        c < b  user       second
        d < c  assistant  #m2 two
        e < d  boundary
        f < e  compacted  in short
        g < f  user       third
        h < g  assistant  #m3 three
    ";
    // As the client's own /branch writes it.
    let copy = "
        a      user       v=2.1.325 first
        b < a  assistant  #m1 @1 one
        c < b  user       @2 second
        e < c  boundary   @4
        f < e  compacted  @5 in short
        d < f  assistant  #m2 @3 two
        i < d  user       @20 fourth
        j < i  assistant  #m4 @21 four
    ";
    for (at, expected) in [
        ([(original, "h"), (copy, "j")], ["1 third", "2 fourth"]),
        ([(copy, "j"), (original, "h")], ["1 fourth", "2 third"]),
    ] {
        let (merged, _) = merged(&at, MergeStrategy::Append, false, ConflictPolicy::Stop).unwrap();
        assert_eq!(owned(&merged), expected);
    }
}

#[test]
fn words_in_the_place_of_the_model_make_no_exchange_of_ones_own() {
    let shared = "
        a      user       v=2.1.325 first
        b < a  assistant  #m1 one
        c < b  user       second
        d < c  call:t1    #m2 ls
        e < d  result:t1  broken off
    ";
    let went_on = |name: &str, words: &str| {
        format!(
            "{shared}
            {name}1 < e        error      @10 No response requested.
            {name}2 < {name}1  user       @11 {words}
            {name}3 < {name}2  assistant  #{name} @12 done"
        )
    };
    let (one, two) = (went_on("x", "third"), went_on("y", "fourth"));
    let at = [(&*one, "x3"), (&*two, "y3")];
    let (merged, _) = merged(&at, MergeStrategy::Append, false, ConflictPolicy::Stop).unwrap();
    assert_eq!(owned(&merged), ["1 third", "2 fourth"]);
}

#[test]
fn one_after_the_other() {
    check(
        &[(TWO, "a4"), (TWO, "a3")],
        MergeStrategy::Append,
        "u:P1 a:A1 u:P2 a:A2 u:P4 a:A4 u:P3 a:A3",
    );
    check(
        &[(TWO, "a3"), (TWO, "a4")],
        MergeStrategy::Append,
        "u:P1 a:A1 u:P3 a:A3 u:P2 a:A2 u:P4 a:A4",
    );
}

#[test]
fn by_time() {
    check(
        &[(TWO, "a4"), (TWO, "a3")],
        MergeStrategy::Interleave,
        "u:P1 a:A1 u:P2 a:A2 u:P3 a:A3 u:P4 a:A4",
    );
}

#[test]
fn as_named() {
    let pick = |text: &str| MergeStrategy::Pick(ExchangePick::parse(text).unwrap());
    let at = [(TWO, "a4"), (TWO, "a3")];
    check(&at, pick("2:1,1:2"), "u:P1 a:A1 u:P3 a:A3 u:P4 a:A4");
    check(&at, pick("1"), "u:P1 a:A1 u:P2 a:A2 u:P4 a:A4");
    check(&at, pick("1:1-,1:2"), "u:P1 a:A1 u:P2 a:A2 u:P4 a:A4 u:P4 a:A4");
    let refused = |text: &str| merged(&at, pick(text), false, ConflictPolicy::Stop).err();
    assert_eq!(refused("3:1"), Some(EditRefusal::NoExchange { pick: "3:1".into() }));
    assert_eq!(refused("1:2-3"), Some(EditRefusal::NoExchange { pick: "1:2-3".into() }));
    assert_eq!(refused("zzzz"), Some(EditRefusal::NoExchange { pick: "zzzz".into() }));
}

#[test]
fn in_short() {
    let tools = "
        p1       user          v=2.1.325 P1
        a1 < p1  assistant     A1
        p2 < a1  user          P2
        a2 < p2  assistant     A2
        p3 < a1  user          P3
        c3 < p3  call:t1       ls -la
        r3 < c3  result:t1     files
        e3 < r3  call:t2:Edit  src/app.rs
        s3 < e3  result:t2     done
        a3 < s3  assistant     A3
    ";
    let at = [(tools, "a2"), (tools, "a3")];
    let (_, text) = merged(&at, MergeStrategy::Digest, false, ConflictPolicy::Stop).unwrap();
    let sent = sent(&text);
    assert_eq!(sent[..4], ["u:P1", "a:A1", "u:P2", "a:A2"]);
    let digest = sent[4].replace('/', "\n");
    assert!(digest.contains("> User: P3\n> - Bash ls -la\n> - Edit src"), "{digest}");
    assert!(digest.contains("> Assistant: A3"), "{digest}");
    assert_eq!(sent.len(), 5);
}

const PARTED: &str = "
    p1       user           v=2.1.325 P1
    a1 < p1  assistant      A1
    p2 < a1  user           P2
    a2 < p2  assistant      A2
    p3 < a1  user           P3
    e3 < p3  call:t2:Edit   src/app.rs
    s3 < e3  result:t2      done
    a3 < s3  assistant      A3
";

#[test]
fn an_assisted_digest_replaces_the_quoted_one() {
    let at = [(PARTED, "a2"), (PARTED, "a3")];
    let assisted = MergeStrategy::Assisted("They chose the red one.".to_owned());
    let (plan, text) = merged(&at, assisted, false, ConflictPolicy::Stop).unwrap();
    let said = sent(&text);
    assert_eq!(said[..4], ["u:P1", "a:A1", "u:P2", "a:A2"]);
    assert!(said[4].ends_with("//They chose the red one."), "{}", said[4]);
    assert_eq!(said.len(), 5);
    let (quoted_plan, quoted) =
        merged(&at, MergeStrategy::Digest, false, ConflictPolicy::Stop).unwrap();
    assert!(plan.exchanges.iter().eq(quoted_plan.exchanges.iter()));
    let origin = |text: &str| -> Value {
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| record["mergedFrom"].clone()).find(Value::is_array).unwrap()
    };
    assert_eq!(origin(&text), origin(&quoted));
}

/// The brief of a merge whose conversations each lie in one file.
fn brief(files: &[String], leaves: &[&str]) -> MergeBrief {
    let histories: Vec<Arc<History>> =
        files.iter().map(|file| Arc::new(read(file.as_bytes()))).collect();
    let path = |(leaf, history): (&&str, &Arc<History>)| {
        history.path_to(history.node_by_uuid(RecordUuid::new(leaf.as_bytes())).unwrap()).unwrap()
    };
    let paths: Vec<ConversationPath> = leaves.iter().zip(&histories).map(path).collect();
    let mut bodies = |source: usize, node: NodeId| {
        let span = histories[source].session.record(node).span;
        RecordBody::parse(
            &files[source].as_bytes()[span.offset as usize..span.end_offset() as usize],
        )
        .ok()
    };
    let mut origins = Vec::new();
    for (index, (history, path)) in histories.iter().zip(&paths).enumerate() {
        origins.push(copy_source("session", history, path, &mut |node| bodies(index, node)));
    }
    let branches = (0..paths.len()).map(|index| index..index + 1).collect();
    let paths = paths.iter().collect();
    let sources = MergeSources { origins, histories: histories.clone(), paths, branches };
    merge_brief(&sources, false, &mut bodies).unwrap()
}

#[test]
fn a_brief_holds_both_sides_without_what_they_share() {
    let file = jsonl(PARTED);
    let brief = brief(&[file.clone(), file], &["a2", "a3"]);
    let text = &brief.text;
    assert!(
        text.contains("Conversation 1 (session session):\n>\n> User: P2\n> Assistant: A2"),
        "{text}"
    );
    assert!(text.contains("> User: P3\n> - Edit src/app.rs\n> Assistant: A3"), "{text}");
    assert!(!text.contains("P1"), "{text}");
    assert!(text.contains("Conflicts: none"), "{text}");
}

#[test]
fn a_brief_is_bounded_and_keeps_every_side() {
    let mut short = "p1 user v=2.1.325 P1\na1 < p1 assistant A1\n".to_owned();
    for side in ["x", "y"] {
        let mut parent = "a1".to_owned();
        for n in 0..2000 {
            let words = format!("{side} says {n} ").repeat(20);
            writeln!(
                short,
                "{side}{n} < {parent} user {words}\n{side}a{n} < {side}{n} assistant {words}"
            )
            .unwrap();
            parent = format!("{side}a{n}");
        }
    }
    let file = jsonl(&short);
    let text = brief(&[file.clone(), file], &["xa1999", "ya1999"]).text;
    assert!(text.len() < 125_000, "{}", text.len());
    assert!(text.contains("x says 1 ") && text.contains("y says 1 "));
}

#[test]
fn a_brief_lists_conflicts() {
    let mut file = String::new();
    let short = "
        p1       user           v=2.1.325 P1
        a1 < p1  assistant      A1
        p2 < a1  user           P2
        c2 < p2  call:t1:Write  notes.txt
        r2 < c2  result:t1      done
        p3 < a1  user           P3
        c3 < p3  call:t2:Write  notes.txt
        r3 < c3  result:t2      done
    ";
    for line in jsonl(short).lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let content = match record["message"]["content"][0]["tool_use_id"].as_str() {
            Some("t1") => "gold\n".to_owned(),
            Some("t2") => "long\n".repeat(10_000),
            _ => String::new(),
        };
        if !content.is_empty() {
            record["toolUseResult"] = serde_json::json!({"type": "create", "filePath": "notes.txt",
                "content": content, "structuredPatch": []});
        }
        writeln!(file, "{record}").unwrap();
    }
    let brief = brief(&[file.clone(), file], &["r2", "r3"]);
    assert_eq!(brief.conflicts.len(), 1);
    let text = brief.text;
    assert!(
        text.contains("`notes.txt`\nConversation 1 (1 lines added, 0 removed) left:\n```\ngold"),
        "{text}"
    );
    assert!(text.contains("(10000 lines, left out here)"), "{text}");
}

#[test]
fn what_a_command_prints_is_taken_only_as_a_text() {
    assert_eq!(parse_digest_text(b"\n short \n"), Ok("short".to_owned()));
    assert_eq!(parse_digest_text(b" \n"), Err(DigestTextError::Empty));
    assert_eq!(parse_digest_text(b"a\xff"), Err(DigestTextError::NotUtf8));
    assert_eq!(parse_digest_text(&vec![b'a'; MAX_DIGEST_BYTES + 1]), Err(DigestTextError::TooLong));
}

#[test]
fn a_retry_brings_its_prompt_along() {
    let retry = "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        b1 < p1  assistant  B1
    ";
    check(&[(retry, "a1"), (retry, "b1")], MergeStrategy::Append, "u:P1 a:A1 u:P1 a:B1");
    check(&[(retry, "a1"), (retry, "b1")], MergeStrategy::Interleave, "u:P1 a:A1 u:P1 a:B1");
}

#[test]
fn three_share_what_two_share() {
    let three = "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        p2 < a1  user       P2
        a2 < p2  assistant  A2
        p3 < a2  user       P3
        a3 < p3  assistant  A3
        p4 < a2  user       P4
        a4 < p4  assistant  A4
        p5 < a1  user       P5
        a5 < p5  assistant  A5
    ";
    check(
        &[(three, "a5"), (three, "a3"), (three, "a4")],
        MergeStrategy::Append,
        "u:P1 a:A1 u:P5 a:A5 u:P2 a:A2 u:P3 a:A3 u:P4 a:A4",
    );
}

#[test]
fn sessions_that_share_a_beginning() {
    let copy = "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        p9 < a1  user       P9
        a9 < p9  assistant  A9
    ";
    check(&[(TWO, "a2"), (copy, "a9")], MergeStrategy::Append, "u:P1 a:A1 u:P2 a:A2 u:P9 a:A9");
    let other = copy.replace("p1", "q1");
    let at = [(TWO, "a2"), (other.as_str(), "a9")];
    let refused = merged(&at, MergeStrategy::Append, false, ConflictPolicy::Stop).err();
    assert_eq!(refused, Some(EditRefusal::NoCommonPart { n: 2 }));
    let (_, text) = merged(&at, MergeStrategy::Append, true, ConflictPolicy::Stop).unwrap();
    assert_eq!(sent(&text).join(" "), "u:P1 a:A1 u:P2 a:A2 u:P1 a:A1 u:P9 a:A9");
    let refused =
        merged(&[(TWO, "a4"), (TWO, "a2")], MergeStrategy::Append, false, ConflictPolicy::Stop)
            .err();
    assert_eq!(refused, Some(EditRefusal::NothingOwn { n: 2 }));
}

#[test]
fn parallel_calls_stand_before_their_results_and_all_have_one() {
    let parallel = "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        p2 < a1  user       P2
        a2 < p2  assistant  A2
        p3 < a1  user       P3
        c1 < p3  call:t1    #m one
        c2 < c1  call:t2    #m two
        r2 < c2  result:t2  two
        r1 < c1  result:t1  one
        c3 < r1  call:t3    three
        p4 < c3  user       P4
    ";
    check(
        &[(parallel, "a2"), (parallel, "p4")],
        MergeStrategy::Append,
        "u:P1 a:A1 u:P2 a:A2 u:P3 call:t1 call:t2 result:t2 result:t1 call:t3 result:t3 u:P4",
    );
}

#[test]
fn a_summary_further_down_is_quoted() {
    let compacted = "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        p2 < a1  user       P2
        a2 < p2  assistant  A2
        b2 < a2  boundary   compacted
        s2 < b2  compacted  S2
        p3 < s2  user       P3
        a3 < p3  assistant  A3
        p4 < a1  user       P4
        a4 < p4  assistant  A4
    ";
    let quoted = "u:[Summary of the earlier messages in this part of the conversation:]//S2";
    check(
        &[(compacted, "a4"), (compacted, "a3")],
        MergeStrategy::Append,
        &format!("u:P1 a:A1 u:P4 a:A4 {quoted} u:P3 a:A3"),
    );
    // On the trunk it stays what it is.
    check(
        &[(compacted, "a3"), (compacted, "a4")],
        MergeStrategy::Append,
        "u:S2 u:P3 a:A3 u:P4 a:A4",
    );
    check(
        &[(compacted, "a3"), (compacted, "a4")],
        MergeStrategy::Interleave,
        &format!("u:P1 a:A1 {quoted} u:P3 a:A3 u:P4 a:A4"),
    );
}

#[test]
fn what_a_compaction_kept_follows_its_summary() {
    let compacted = jsonl(
        "
        p1       user       v=2.1.325 P1
        a1 < p1  assistant  A1
        p2 < a1  user       P2
        a2 < p2  assistant  A2
        b2 < a2  boundary   compacted
        s2 < b2  compacted  S2
        p3 < s2  user       P3
        p4 < a1  user       P4
        ",
    );
    let kept = |anchor: &str| {
        let metadata = r#""compactMetadata":{"preservedSegment":{"headUuid":"a2","anchorUuid":"ANCHOR","tailUuid":"a2"},"preservedMessages":{"anchorUuid":"ANCHOR","uuids":["a2"],"allUuids":["a2"]},"#;
        compacted.replace(r#""compactMetadata":{"#, &metadata.replace("ANCHOR", anchor))
    };
    let check = |anchor: &str, expected: &str| {
        let files = [kept(anchor), kept(anchor)];
        let histories = files.each_ref().map(|file| Arc::new(read(file.as_bytes())));
        let path = |history: &History, name: &str| {
            history
                .path_to(history.node_by_uuid(RecordUuid::new(name.as_bytes())).unwrap())
                .unwrap()
        };
        let paths = [path(&histories[0], "p4"), path(&histories[1], "p3")];
        let (_, text) = merge_paths(
            &files,
            &histories,
            &paths,
            MergeStrategy::Append,
            false,
            ConflictPolicy::Stop,
        )
        .unwrap();
        let sent = sent(&text).join(" ");
        assert_eq!(
            sent.replace(
                "[Summary of the earlier messages in this part of the conversation:]//",
                ""
            ),
            expected
        );
    };
    check("s2", "u:P1 a:A1 u:P4 u:S2 a:A2 u:P3");
    check("b2", "u:P1 a:A1 u:P4 a:A2 u:S2 u:P3");
}

#[test]
fn references_follow_and_say_where_they_come_from() {
    let (_, text) =
        merged(&[(TWO, "a4"), (TWO, "a3")], MergeStrategy::Append, false, ConflictPolicy::Stop)
            .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains(r#""uuid":"p1""#), "{}", lines[0]);
    assert!(lines[0].contains(r#""mergedFrom":{"sessionId":"session-1","messageUuid":"p1"}"#));
    assert!(lines[6].contains(r#""mergedFrom":{"sessionId":"session-2","messageUuid":"p3"}"#));
    assert!(lines[6].starts_with(r#"{"parentUuid":"a4""#), "{}", lines[6]);
    assert!(!lines[6].contains(r#""uuid":"p3""#), "{}", lines[6]);
    let tip = format!(r#""leafUuid":"{}""#, "00000000-0000-4000-8000-000000000002");
    assert!(lines.last().unwrap().contains(&tip), "{}", lines.last().unwrap());
}

/// Sessions with several conversations, tools, compactions, odd times and repeated ids.
fn short_form() -> impl Strategy_<Value = String> {
    let kinds = prop::sample::select(vec![
        "user",
        "user",
        "assistant",
        "assistant",
        "thinking",
        "call:t1",
        "call:t2",
        "call:t3",
        "result:t1",
        "result:t2",
        "result:t3",
        "meta",
        "interrupt",
        "system",
        "boundary",
        "compacted",
        "progress",
        "attachment",
        "queued",
        "error",
        "side-user",
        "mystery",
    ]);
    let versions = prop::sample::select(vec!["1.0.100", "2.1.50", "2.1.110", "2.1.118", "2.1.325"]);
    let row = (0..6u8, kinds, 0..8u8, 0..60u8);
    (prop::collection::vec(row, 2..40), versions).prop_map(|(rows, version)| {
        let mut short = String::new();
        for (index, (back, kind, message, time)) in rows.into_iter().enumerate() {
            let parent = index.checked_sub(1 + usize::from(back / 2));
            let parent = parent.map(|parent| format!("< n{parent} ")).unwrap_or_default();
            writeln!(short, "n{index} {parent}{kind} #{message} @{time} v={version} words {index}")
                .unwrap();
        }
        short
    })
}

fn strategies() -> impl Strategy_<Value = MergeStrategy> {
    prop_oneof![
        Just(MergeStrategy::Append),
        Just(MergeStrategy::Interleave),
        Just(MergeStrategy::Digest),
        Just(MergeStrategy::Assisted("in short".to_owned())),
        Just(MergeStrategy::Pick(vec![
            ExchangePick::Own { branch: 2, from: 1, to: None },
            ExchangePick::Own { branch: 1, from: 1, to: Some(1) },
            ExchangePick::Own { branch: 2, from: 1, to: Some(1) },
        ])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_client_can_follow_a_merged_session(
        short in short_form(),
        at in any::<(prop::sample::Index, prop::sample::Index)>(),
        strategy in strategies(),
        no_base: bool,
    ) {
        let file = jsonl(&short);
        let history = read(file.as_bytes());
        let conversations = &history.branches.conversations;
        prop_assume!(!conversations.is_empty());
        let path = |index: prop::sample::Index| {
            history.conversation_path(&conversations[index.index(conversations.len())])
        };
        let paths = [path(at.0), path(at.1)];
        let files = [file.clone(), file];
        let histories = [0, 1].map(|_| Arc::new(history.clone()));
        let made = |strategy: MergeStrategy| {
            merge_paths(&files, &histories, &paths, strategy, no_base, ConflictPolicy::Ours)
        };
        let Ok((merged, text)) = made(strategy.clone()) else { return Ok(()) };
        holds(&merged, &text).map_err(|law| TestCaseError::fail(format!("{law}\n{short}\n{text}")))?;
        prop_assert_eq!(text, made(strategy).unwrap().1, "not the same again");
    }
}

/// Looks whether a merged session is one that clients of all ages follow.
fn holds(merged: &PlannedMerge, text: &str) -> Result<(), String> {
    let history = read(text.as_bytes());
    let session = &history.session;
    let law = |holds: bool, words: &str| if holds { Ok(()) } else { Err(words.to_owned()) };
    law(
        session.defects().is_empty() && session.torn_line_defect().is_none(),
        "every line is whole",
    )?;
    law(history.record_tree.repeated_uuids() == 0, "no uuid stands twice")?;
    for era in ClientEra::ALL {
        let resume = resume_point_in_era(session, &history.record_tree, era);
        let name = resume.and_then(|resume| session.record(resume.point).uuid);
        law(name == Some(merged.new.resume), &format!("{era} go on at the end"))?;
    }
    let end = history.node_by_uuid(merged.new.resume).ok_or("the end is there")?;
    let mut line: Vec<NodeId> = history.record_tree.ancestors(end).collect();
    line.reverse();
    let main = session.nodes().filter(|(_, record)| !record.sidechain);
    let main: Vec<NodeId> = main
        .filter(|(_, record)| {
            !matches!(record.kind, RecordKind::Progress | RecordKind::UnknownNode)
        })
        .map(|(id, _)| id)
        .collect();
    law(line == main, "all is on one line, in file order")?;
    let times: Vec<_> = line.iter().map(|id| session.record(*id).time).collect();
    law(times.iter().all(Option::is_some), "all have a time")?;
    law(times.windows(2).all(|pair| pair[0] < pair[1]), "times rise")?;
    let now = Time::parse(NOW.as_bytes());
    law(session.records().iter().all(|record| record.time <= now), "nothing lies in the future")?;
    paired(&history, &line)?;
    law(history.branches.forks.is_empty(), "there is no fork")
}

/// Looks whether every call is answered once, in the message that follows it, and messages stay together.
fn paired(history: &History, line: &[NodeId]) -> Result<(), String> {
    let session = &history.session;
    let mut seen_messages = FxHashSet::default();
    let mut seen_calls = FxHashSet::default();
    let mut open: FxHashSet<crate::ids::IdHash> = FxHashSet::default();
    let mut current = None;
    for id in line {
        let record = session.record(*id);
        let calls = session.tool_ids(record);
        match record.role {
            RecordRole::ToolResult => {
                for call in calls {
                    if !open.remove(call) {
                        return Err(format!("line {}: a result without a call", record.line));
                    }
                }
            }
            RecordRole::Reply | RecordRole::Synthetic if record.message_id == current => {}
            RecordRole::Decoration | RecordRole::Meta => {}
            _ if !open.is_empty() => {
                return Err(format!("line {}: a call has no result", record.line));
            }
            _ => current = None,
        }
        if record.kind == RecordKind::Assistant {
            for call in calls {
                open.insert(*call);
                if !seen_calls.insert(*call) {
                    return Err(format!("line {}: a call's id stands twice", record.line));
                }
            }
            if record.message_id != current {
                current = record.message_id;
                if !current.is_none_or(|message| seen_messages.insert(message)) {
                    return Err(format!("line {}: a message's id stands twice", record.line));
                }
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err("a call at the end has no result".into()) }
}
