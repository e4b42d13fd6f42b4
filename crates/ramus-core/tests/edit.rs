//! Laws of plans: what is there stays, and the client goes on where it should.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fmt::Write;

use proptest::prelude::*;
use ramus_core::body::RecordBody;
use ramus_core::edit::{
    EditContext, EditRefusal, ForkOptions, NewLine, NewSession, copy_source, end_of_message,
    plan_fork, plan_goto,
};
use ramus_core::history::History;
use ramus_core::resume::{ClientEra, ResumeRule, resume_point_in_era};
use ramus_core::session::{NodeId, Session};
use ramus_core::time::Time;
use testkit::jsonl;

fn history(bytes: &[u8]) -> History {
    let mut session = Session::default();
    session.push(bytes);
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

fn now() -> Time {
    Time::parse(b"2026-03-01T12:00:00.000Z").unwrap()
}

/// Runs `plan` with a writer that makes up the same ids every time.
fn with_writer<T>(plan: impl FnOnce(&mut EditContext<'_>) -> T) -> T {
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("eeeeeeee-0000-4000-8000-{next:012}")
    };
    plan(&mut EditContext { session: "new", now: now(), new_id: &mut new_id })
}

/// Plans a fork at a node, and returns the new file.
fn forked(
    bytes: &[u8],
    history: &History,
    node: NodeId,
) -> Result<(NewSession, Vec<u8>), EditRefusal> {
    let end = end_of_message(history, node).ok_or(EditRefusal::NoNode)?;
    let path = history.path_to(end).unwrap();
    let span = |id: NodeId| {
        let span = history.session.record(id).span;
        &bytes[span.offset as usize..span.end_offset() as usize]
    };
    let mut body = |id: NodeId| RecordBody::parse(span(id)).ok();
    let origins = [copy_source("old", history, &path, &mut body)];
    let new =
        with_writer(|writer| plan_fork(&origins, ForkOptions { title: "t", cwd: None }, writer))?;
    let mut file = Vec::new();
    for line in &new.lines {
        match line {
            NewLine::Made(line) => file.extend_from_slice(line),
            NewLine::Copied(line) => {
                let span = line.span();
                let record = &bytes[span.offset as usize..span.end_offset() as usize];
                file.extend(line.splice.apply_to(record));
                file.push(b'\n');
            }
        }
    }
    Ok((new, file))
}

fn names(history: &History, nodes: &[NodeId]) -> Vec<String> {
    let session = &history.session;
    nodes
        .iter()
        .filter_map(|id| session.record(*id).uuid)
        .map(|name| session.uuid_text(name))
        .collect()
}

/// A session of a few branches with calls, compactions and copies, written by some version.
fn sessions() -> impl Strategy<Value = String> {
    let kinds = prop::sample::select(vec![
        "user",
        "assistant",
        "call:t1",
        "result:t1",
        "call:t2",
        "result:t2",
        "meta",
        "system",
        "boundary",
        "compacted",
        "attachment",
        "side-user",
        "side-assistant",
    ]);
    let versions = prop::sample::select(vec![
        "1.0.113", "2.0.74", "2.1.50", "2.1.105", "2.1.119", "2.1.150", "2.1.325",
    ]);
    let rows = prop::collection::vec((kinds, 0..8usize), 1..12);
    (versions, rows).prop_map(|(version, rows)| {
        let mut short = String::from("n0 user hello\n");
        for (index, (kind, back)) in rows.into_iter().enumerate() {
            let parent = index.saturating_sub(back);
            writeln!(short, "n{} < n{parent} {kind} text {index}", index + 1).unwrap();
        }
        jsonl(&short).replace("2.0.74", version)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn goto_works_for_every_client_or_gives_a_reason(lines in sessions(), pick: prop::sample::Index) {
        let before = history(lines.as_bytes());
        let nodes: Vec<NodeId> = before.session.nodes().map(|(id, _)| id).collect();
        let target = *pick.get(&nodes);
        let planned = with_writer(|writer| plan_goto(&before, target, "t", writer));
        let Ok(addition) = planned else { return Ok(()) };
        let after = history(&[lines.as_bytes(), &addition.bytes].concat());
        let resume = after.branches.resume.unwrap();
        prop_assert_eq!(after.session.record(resume.point).uuid, addition.resume);
        // Other versions that open the file follow as well.
        for era in ClientEra::ALL {
            let resume = resume_point_in_era(&after.session, &after.record_tree, era).unwrap();
            prop_assert_eq!(after.session.record(resume.point).uuid, addition.resume, "{}", era);
        }
        // What was there is told apart as before; only one quiet record came.
        prop_assert_eq!(after.session.records().len(), before.session.records().len() + 3);
        prop_assert!(after.branches.forks.len() == before.branches.forks.len());
    }

    #[test]
    fn a_fork_contains_the_path_and_resumes_at_its_end(lines in sessions(), pick: prop::sample::Index) {
        let before = history(lines.as_bytes());
        let nodes: Vec<NodeId> = before.session.nodes().map(|(id, _)| id).collect();
        let target = *pick.get(&nodes);
        let is_side = before.session.record(target).sidechain;
        let (new, file) = match forked(lines.as_bytes(), &before, target) {
            Ok(forked) => forked,
            Err(refusal) => {
                prop_assert_eq!(refusal, EditRefusal::Empty);
                return Ok(());
            }
        };
        let after = history(&file);
        prop_assert!(after.branches.resume.is_some(), "{}", String::from_utf8_lossy(&file));
        let resume = after.branches.resume.unwrap();
        prop_assert_eq!(after.session.record(resume.point).uuid, Some(new.resume));
        // Link by link the same way to the root, and every message on it whole.
        let end = end_of_message(&before, target).unwrap();
        let leaf = after.node_by_uuid(ramus_core::ids::RecordUuid::new(new.leaf.as_bytes())).unwrap();
        let way = |history: &History, node: NodeId| {
            let main_chain = history.session.record(node).sidechain;
            let up = history.record_tree.ancestors(node);
            let up = up.take_while(|id| history.session.record(*id).sidechain == main_chain);
            names(history, &up.collect::<Vec<_>>())
        };
        prop_assert_eq!(way(&after, leaf), way(&before, end));
        let path = before.path_to(end).unwrap();
        let members = path.messages.iter().flat_map(|message| before.message_tree.records_of(*message)).copied();
        let taken = names(&after, &after.session.nodes().map(|(id, _)| id).collect::<Vec<_>>());
        for name in names(&before, &members.collect::<Vec<_>>()) {
            prop_assert!(taken.contains(&name), "{}", name);
        }
        // Nothing of an agent is left in a fork of its conversation.
        if is_side {
            prop_assert!(after.session.nodes().all(|(_, record)| !record.sidechain));
        }
    }
}

const COMPACTED: &str = "
    a      user       first
    b < a  assistant  answer
    c < b  boundary   compacted
    d < c  compacted  the summary
    e < d  user       second
    f < e  assistant  answer two
";

#[track_caller]
fn refused(lines: &str, target: &str) -> Result<(), EditRefusal> {
    let history = history(lines.as_bytes());
    let target = history.node_by_uuid(ramus_core::ids::RecordUuid::new(target.as_bytes())).unwrap();
    with_writer(|writer| plan_goto(&history, target, "t", writer)).map(|_| ())
}

#[test]
fn before_a_compaction_depends_on_what_it_keeps_and_on_the_size() {
    let lines = jsonl(COMPACTED).replace("2.0.74", "2.1.325");
    assert_eq!(refused(&lines, "b"), Ok(()));
    let keeps = lines.replace(
        r#""preTokens":1000"#,
        r#""preTokens":1000,"preservedMessages":{"anchorUuid":"d","uuids":["b"],"allUuids":["b"]}"#,
    );
    assert_ne!(keeps, lines);
    assert_eq!(refused(&keeps, "a"), Err(EditRefusal::HiddenByCompaction { line: 3 }));
    assert_eq!(refused(&keeps, "b"), Err(EditRefusal::HiddenByCompaction { line: 3 }));
    assert_eq!(refused(&keeps, "e"), Ok(()));
    let large = format!("{lines}{{\"type\":\"x\",\"text\":\"{}\"}}\n", "a".repeat(6_000_000));
    assert!(matches!(refused(&large, "b"), Err(EditRefusal::BeforeCompaction { line: 3, .. })));
    assert_eq!(refused(&large, "f"), Ok(()));
}

#[test]
fn an_agent_that_ended_late_does_not_hold_the_fork() {
    let lines = jsonl(
        "
        a      user            first
        b < a  call:t1         look
        s < b  side-user       look
        t < s  side-assistant  @50 seen
        c < b  result:t1       done
        d < c  assistant       answer
        ",
    );
    let before = history(lines.as_bytes());
    let target = before.node_by_uuid(ramus_core::ids::RecordUuid::new(b"d")).unwrap();
    let (new, file) = forked(lines.as_bytes(), &before, target).unwrap();
    let after = history(&file);
    let newest = after.session.nodes().max_by_key(|(_, record)| record.time).unwrap();
    assert_eq!(newest.1.uuid, Some(new.resume));
    assert!(
        names(&after, &after.session.nodes().map(|(id, _)| id).collect::<Vec<_>>())
            .contains(&"t".to_owned())
    );
}

#[test]
fn what_a_compaction_keeps_comes_along() {
    let lines = jsonl(
        "
        a      user       first
        b < a  assistant  answer
        x < a  system     kept beside the path
        c < b  boundary   compacted
        d < c  compacted  the summary
        ",
    )
    .replace(
        r#""preTokens":1000"#,
        r#""preTokens":1000,"preservedMessages":{"anchorUuid":"d","uuids":["x"],"allUuids":["x"]}"#,
    );
    let before = history(lines.as_bytes());
    let target = before.node_by_uuid(ramus_core::ids::RecordUuid::new(b"d")).unwrap();
    let (_, file) = forked(lines.as_bytes(), &before, target).unwrap();
    assert!(String::from_utf8(file).unwrap().contains("kept beside the path"));
}

#[test]
fn times_in_the_future_are_set_back_in_a_copy() {
    let lines = jsonl(COMPACTED).replace("00:00:01.000Z", "00:00:01.500Z");
    let lines = lines.replace("2026-01-01T00:00:04", "2031-01-01T00:00:04");
    let before = history(lines.as_bytes());
    let target = before.node_by_uuid(ramus_core::ids::RecordUuid::new(b"f")).unwrap();
    let (new, file) = forked(lines.as_bytes(), &before, target).unwrap();
    assert_eq!(new.set_back, 1);
    let after = history(&file);
    let times: Vec<Time> = after.session.nodes().filter_map(|(_, record)| record.time).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.iter().all(|time| *time <= now()));
}
