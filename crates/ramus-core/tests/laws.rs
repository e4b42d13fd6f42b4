//! Laws that hold for any input.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops when it cannot"
)]

use std::fmt::Write;

use proptest::prelude::*;
use ramus_core::body::RecordBody;
use ramus_core::branches::ForkBranch;
use ramus_core::compare::PathPart;
use ramus_core::defect::DefectKind;
use ramus_core::digest::SessionDigest;
use ramus_core::files::{BackupReader, BackupRef, files_at, path_point_of};
use ramus_core::history::History;
use ramus_core::line::{LONGEST_LINE, LineBuffer};
use ramus_core::live::{BranchSwitch, LiveEventKind, LiveSession, SwitchKind};
use ramus_core::message_tree::{MessageNode, MessageNodeId};
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::{Turn, path_turns};
use ramus_core::unique::unique_paths;

fn read(bytes: &[u8], chunk: usize) -> Session {
    let mut session = Session::default();
    for piece in bytes.chunks(chunk.max(1)) {
        session.push(piece);
    }
    session.finish_last_line();
    session
}

/// Everything that can be seen of a session, as text.
fn seen(session: &Session) -> String {
    format!(
        "{:?} {:?} {:?} {:?} {:?}",
        session.records(),
        session.defects(),
        session.line_counts(),
        session.notes(),
        session.torn_line_defect()
    )
}

/// Sessions made of a few names, so that forks, copies, cycles and orphans are common.
fn short_form() -> impl Strategy<Value = String> {
    let kinds = prop::sample::select(vec![
        "user",
        "assistant",
        "thinking",
        "call:t1",
        "call:t2",
        "result:t1",
        "result:t2",
        "meta",
        "command",
        "interrupt",
        "system",
        "boundary",
        "compacted",
        "progress",
        "attachment",
        "queued",
        "error",
        "side-user",
        "side-assistant",
        "mystery",
        "title",
        "summary:n3",
        "last-prompt:n4",
        "last-prompt:n2:explicit",
        "last-prompt:null:explicit",
    ]);
    let versions = prop::sample::select(vec!["1.0.100", "2.1.50", "2.1.110", "2.1.200"]);
    let row = (0..14u8, prop::option::of(0..16u8), kinds, 0..6u8, 0..20u8, versions);
    prop::collection::vec(row, 0..40).prop_map(|rows| {
        let mut short = String::new();
        for (name, parent, kind, message, time, version) in rows {
            let parent = parent.map(|parent| format!("< n{parent} ")).unwrap_or_default();
            writeln!(short, "n{name} {parent}{kind} #{message} @{time} v={version} words {name}")
                .unwrap();
        }
        short
    })
}

/// Lines as they are, glued, cut, or replaced by rubbish.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    (short_form(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8))
        .prop_map(|(short, cuts)| {
            let mut bytes = testkit::jsonl(&short).into_bytes();
            for (at, byte) in cuts {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    match byte % 3 {
                        0 => bytes[at] = byte,
                        1 => drop(bytes.remove(at)),
                        _ => bytes.insert(at, byte),
                    }
                }
            }
            bytes
        })
}

/// Whole, unknown and half records, marks, NUL bytes and rubbish, one after the other.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let record = testkit::jsonl("a user hello").trim_end().to_owned();
    let half = record[..record.len() / 2].to_owned();
    let pieces: Vec<Vec<u8>> = vec![
        record.into(),
        half.into(),
        b"{\"type\":\"odd\"}".to_vec(),
        b"{\"no\":\"type\"}".to_vec(),
        MARK.to_vec(),
        vec![0; 2],
        b"\n".to_vec(),
        b"\r\n".to_vec(),
        b" ".to_vec(),
        b"\xff".to_vec(),
        b"[1,".to_vec(),
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

/// A byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

struct NoBackups;

impl BackupReader for NoBackups {
    fn backup_size(&mut self, _: &BackupRef) -> Option<u64> {
        None
    }

    fn read_backup(&mut self, _: &BackupRef) -> Option<Vec<u8>> {
        None
    }
}

/// A fork that somebody hears of or reads: where, of which kind, and with which record its last way begins.
type Forked = (Option<String>, &'static str, u64);

/// Returns where the first record in the file stands that says something in or below a fold.
fn first_said(history: &History, fold: MessageNodeId) -> u64 {
    let message_tree = &history.message_tree;
    let mut open = vec![fold];
    let mut first = u64::MAX;
    while let Some(id) = open.pop() {
        let fold = message_tree.message(id);
        if fold.role.is_dialogue() {
            first = first.min(history.session.record(fold.head).span.offset);
        }
        open.extend(message_tree.dialogue_children(id));
    }
    first
}

/// Returns the ways of a history on which something was said after another way of the same fork had
/// begun, each with the fork's kind.
fn forks_read(bytes: &[u8]) -> Vec<Forked> {
    let history = &History::new(read(bytes, bytes.len()), ResumeRule::Client);
    let message_tree = &history.message_tree;
    let head = |fold| history.session.record(message_tree.message(fold).head);
    let ways = history.branches.forks.iter().flat_map(|fork| {
        let sidechain = message_tree.message(fork.message).sidechain;
        let is_said = |fold: &MessageNode| fold.role.is_dialogue() && fold.sidechain == sidechain;
        let said =
            message_tree.ancestors(fork.message).find(|fold| is_said(message_tree.message(*fold)));
        let point = head(said.unwrap_or(fork.message)).uuid;
        let point = point.map(|name| history.session.uuid_text(name));
        let spoken = move |branch: &ForkBranch| first_said(history, branch.message);
        let first = fork.branches.iter().map(spoken).min();
        let later = fork.branches.iter().map(spoken).filter(move |at| Some(*at) != first);
        later.map(move |at| (point.clone(), fork.kind.as_str(), at))
    });
    ways.filter(|(_, _, at)| {
        // In a session's own file agents are no branches of it.
        let is_main = |record: &&ramus_core::record::Record| !record.sidechain;
        history.session.records().iter().filter(is_main).any(|record| record.span.offset == *at)
    })
    .collect()
}

/// Feeds a file line by line and returns the forks that were reported.
fn forks_heard(bytes: &[u8]) -> Vec<Forked> {
    let mut live = LiveSession::new(false);
    let mut at = 0;
    let mut heard = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        for news in live.push_lines(at, line) {
            if let LiveEventKind::Switch(BranchSwitch {
                kind: SwitchKind::New(kind), after, ..
            }) = news.kind
            {
                heard.push((after, kind.as_str(), news.offset));
            }
        }
        at += line.len() as u64;
    }
    heard
}

/// Whoever watches a file hears of exactly those forks that whoever reads it would find at that moment:
/// a fork is reported with the record that begins a further way of it, of the kind it has then.
///
/// What records that come later change is not reported again: a fork may become one of another kind, turn
/// out to be an artefact, or become one only then.
#[track_caller]
fn watching_agrees_with_reading(bytes: &[u8]) {
    let heard = forks_heard(bytes);
    let mut end = 0;
    let mut expected = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let start = end;
        end += line.len();
        let new = forks_read(&bytes[..end]).into_iter();
        expected.extend(new.filter(|(_, _, at)| (start as u64..end as u64).contains(at)));
    }
    assert_eq!(heard, expected);
}

/// The same for large histories: every fork that was reported is one at that moment, and every fork of the
/// whole history was reported, unless nobody could tell when its way began.
#[track_caller]
fn watching_agrees_at_the_forks(name: &str, bytes: &[u8]) -> usize {
    let until = |at: u64| {
        let line = bytes[at as usize..].iter().position(|byte| *byte == b'\n');
        &bytes[..line.map_or(bytes.len(), |line| at as usize + line + 1)]
    };
    let heard = forks_heard(bytes);
    for fork in &heard {
        assert!(forks_read(until(fork.2)).contains(fork), "{name}: {fork:?} is no fork");
    }
    for fork in forks_read(bytes) {
        let is_same = |other: &Forked| (&other.0, other.2) == (&fork.0, fork.2);
        let is_told = heard.iter().any(is_same) || !forks_read(until(fork.2)).iter().any(is_same);
        assert!(is_told, "{name}: {fork:?} was not reported");
    }
    heard.len()
}

/// Returns the files below a directory that hold records.
fn histories_below(dir: std::path::PathBuf) -> Vec<(String, Vec<u8>)> {
    let mut open = vec![dir];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn every_fork_of_made_histories_is_heard() {
    let home = testkit::TestHome::new();
    testkit::write_corpus(&home, 7, 40);
    let demo = testkit::demo::sample_files().into_iter().map(|file| (file.path, file.bytes));
    let demo = demo.filter(|(path, _)| path.ends_with(".jsonl") && !path.contains("agent-"));
    let mut all = histories_below(home.claude_dir().join("projects"));
    all.extend(demo);
    let forks: usize =
        all.iter().map(|(name, bytes)| watching_agrees_at_the_forks(name, bytes)).sum();
    assert!(forks > 20, "{forks}");
}

#[test]
fn every_fork_of_the_samples_is_heard() {
    let Some(samples) = testkit::shared_material("samples/projects") else { return };
    let mut forks = 0;
    for (name, bytes) in histories_below(samples) {
        if !name.contains("agent-") {
            forks += watching_agrees_at_the_forks(&name, &bytes);
        }
    }
    assert!(forks > 0);
}

proptest! {
    #[test]
    fn live_events_report_the_same_forks_as_reading(short in short_form()) {
        watching_agrees_with_reading(testkit::jsonl(&short).as_bytes());
    }

    #[test]
    fn any_bytes_never_panic(bytes: Vec<u8>, chunk in 1usize..64) {
        SessionDigest::new(&History::new(read(&bytes, chunk), ResumeRule::Client));
    }

    #[test]
    fn mangled_sessions_never_panic_and_every_line_is_accounted_for(bytes in mangled(), chunk in 1usize..400) {
        let session = read(&bytes, chunk);
        let blank = |line: &[u8]| line.trim_ascii().is_empty();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !blank(line)).count() as u64;
        let counts = session.line_counts();
        prop_assert_eq!(counts.known + counts.unknown + counts.damaged, lines);
        for rule in [ResumeRule::Client, ResumeRule::Summary, ResumeRule::Newest, ResumeRule::FileOrder] {
            SessionDigest::new(&History::new(session.clone(), rule));
        }
    }

    #[test]
    fn every_line_of_pieces_is_accounted_for(bytes in pieces(), chunk in 1usize..400) {
        let session = read(&bytes, chunk);
        let counts = session.line_counts();
        let bare = bytes.strip_prefix(MARK).unwrap_or(&bytes);
        let lines = bare.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        prop_assert_eq!(counts.known + counts.unknown + counts.damaged, lines.count() as u64);
        // Each damaged line has one defect, each other one is one record.
        let defects = session.defects().len() + usize::from(session.torn_line_defect().is_some());
        prop_assert_eq!(counts.damaged, defects as u64);
        let whole = session.records().iter().filter(|record| !record.recovered).count();
        prop_assert_eq!(counts.known + counts.unknown, whole as u64);
        // What was read of a damaged line is a record too, and stands where it says.
        for record in session.records() {
            let text = &bytes[record.span.offset as usize..][..record.span.len as usize];
            prop_assert!(record.recovered || serde_json::from_slice::<serde_json::Value>(text).is_ok());
        }
        prop_assert_eq!(seen(&session), seen(&read(&bytes, usize::MAX)));
    }

    #[test]
    fn chunking_does_not_matter(bytes in mangled(), chunk in 1usize..400) {
        prop_assert_eq!(seen(&read(&bytes, chunk)), seen(&read(&bytes, usize::MAX)));
    }

    #[test]
    fn lines_join_back_to_the_bytes(bytes: Vec<u8>, chunk in 1usize..50) {
        let mut buffer = LineBuffer::default();
        let mut joined = Vec::new();
        for piece in bytes.chunks(chunk) {
            buffer.push(piece, |line| {
                let start = line.offset as usize;
                // What is left out is a byte order mark, a carriage return and the newline.
                joined.extend_from_slice(&bytes[joined.len()..start]);
                joined.extend_from_slice(line.bytes);
                let rest = &bytes[joined.len()..];
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
                joined.extend_from_slice(&rest[..=end]);
            });
        }
        if let Some(torn) = buffer.torn_line() {
            joined.extend_from_slice(&bytes[joined.len()..torn.offset as usize]);
            joined.extend_from_slice(torn.bytes);
        }
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn the_conversation_of_a_node_is_where_the_current_ways_lead(short in short_form()) {
        let history = History::new(read(testkit::jsonl(&short).as_bytes(), usize::MAX), ResumeRule::Client);
        let History { message_tree, branches, .. } = &history;
        for (id, _) in history.session.nodes() {
            let mut fold = message_tree.message_of(id).unwrap();
            while !message_tree.has_dialogue(fold) && let Some(parent) = message_tree.message(fold).parent {
                fold = parent;
            }
            let next = |fold| match branches.fork_at(fold) {
                Some(fork) => fork.branches.iter().find(|branch| branch.current).map(|branch| branch.message),
                None => message_tree.dialogue_children(fold).last(),
            };
            let end = std::iter::successors(Some(fold), |fold| next(*fold)).last();
            let walked = branches.conversations.iter().find(|found| Some(found.end) == end);
            let told = history.conversation_of(id);
            prop_assert_eq!(told.map(|found| found.number), walked.map(|found| found.number), "{:?} in\n{}", id, short);
        }
    }

    #[test]
    fn every_node_lies_on_a_path(short in short_form()) {
        let history = History::new(read(testkit::jsonl(&short).as_bytes(), usize::MAX), ResumeRule::Client);
        for (id, _) in history.session.nodes() {
            let path = history.path_to(id).unwrap();
            prop_assert!(path.nodes.contains(&history.record_tree.first_copy(id)), "{:?} in\n{}", id, short);
        }
        let mut on_paths = std::collections::HashSet::new();
        for conversation in &history.branches.conversations {
            let path = history.conversation_path(conversation);
            prop_assert!(path.nodes.contains(&conversation.leaf), "leaf {:?} in\n{}", conversation.leaf, short);
            prop_assert_eq!(path.nodes.len() as u32, conversation.records, "{}", short);
            on_paths.extend(path.nodes);
        }
        let main_only = history.session.nodes().all(|(_, record)| !record.sidechain);
        for (id, record) in history.session.nodes() {
            let talks = record.role.is_dialogue();
            prop_assert!(
                !main_only || !talks || on_paths.contains(&history.record_tree.first_copy(id)),
                "{:?} on no conversation in\n{}", id, short
            );
        }
    }

    #[test]
    fn files_can_be_asked_for_at_every_node(short in short_form()) {
        let jsonl = testkit::jsonl(&short);
        let history = History::new(read(jsonl.as_bytes(), usize::MAX), ResumeRule::Client);
        for (id, _) in history.session.nodes() {
            let path = history.path_to(id).unwrap();
            let moment = path_point_of(&history, &path, id);
            prop_assert!(moment.is_some_and(|moment| moment.cut <= path.nodes.len()), "{:?} in\n{}", id, short);
            let mut body = |_, id: NodeId| {
                let span = history.session.record(id).span;
                RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize]).ok()
            };
            let stretch = PathPart { history: &history, path: &path };
            files_at(&[stretch], moment.unwrap(), &mut body, &mut NoBackups);
        }
    }

    #[test]
    fn at_most_one_conversation_resumes_and_it_is_active(short in short_form()) {
        let history = History::new(read(testkit::jsonl(&short).as_bytes(), usize::MAX), ResumeRule::Client);
        let branches = &history.branches;
        let resuming: Vec<_> = branches.conversations.iter().filter(|conversation| conversation.resumes).collect();
        let expected = usize::from(branches.resume.is_some() && !branches.conversations.is_empty());
        prop_assert_eq!(resuming.len(), expected, "{}", short);
        for fork in &branches.forks {
            prop_assert_eq!(fork.branches.iter().filter(|branch| branch.current).count(), 1);
            prop_assert!(fork.branches.len() > 1);
        }
    }

    #[test]
    fn a_session_and_its_copies_hold_the_paths_of_one(short in short_form()) {
        let digest = SessionDigest::new(&History::new(read(testkit::jsonl(&short).as_bytes(), usize::MAX), ResumeRule::Client));
        let once = unique_paths(&[&digest]).len();
        prop_assert_eq!(once == 0, digest.conversations.is_empty());
        prop_assert_eq!(unique_paths(&[&digest, &digest, &digest]).len(), once, "{}", short);
    }
}

#[test]
fn long_chains_cost_no_stack() {
    let mut session = Session::default();
    let mut parent = "null".to_owned();
    for i in 0..100_000 {
        let kind = if i % 2 == 0 { "user" } else { "assistant" };
        let line = format!(
            "{{\"parentUuid\":{parent},\"type\":\"{kind}\",\"message\":{{\"id\":\"m{i}\",\"content\":\"{i}\"}},\"uuid\":\"n{i}\"}}\n"
        );
        session.push(line.as_bytes());
        parent = format!("\"n{i}\"");
    }
    let history = History::new(session, ResumeRule::Client);
    assert_eq!(history.branches.conversations.len(), 1);
    assert_eq!(history.path_to(NodeId(99_999)).unwrap().nodes.len(), 100_000);
}

/// All ways to put a few pieces one after the other: every line is known, unknown or damaged (R2).
#[test]
fn marks_nul_bytes_and_glued_records_are_accounted_for() {
    let record = testkit::jsonl("a user hello");
    let pieces: [&[u8]; 6] =
        [b"\0\0", MARK, b"\n", record.trim_end().as_bytes(), b"{\"type\":\"odd\"}", b" "];
    for n in 0..pieces.len().pow(5) {
        let digits = (0..5).map(|place| n / pieces.len().pow(place) % pieces.len());
        let bytes: Vec<u8> = digits.flat_map(|digit| pieces[digit]).copied().collect();
        let counts = read(&bytes, 7).line_counts();
        let bare = bytes.strip_prefix(MARK).unwrap_or(&bytes);
        let lines = bare.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let sum = counts.known + counts.unknown + counts.damaged;
        assert_eq!(sum, lines.count() as u64, "{:?}", String::from_utf8_lossy(&bytes));
    }
    // A mark before a whole record does no harm, with or without a newline.
    let marked = [MARK, record.trim_end().as_bytes()].concat();
    assert_eq!(read(&marked, 7).line_counts().known, 1);
}

#[test]
fn a_line_that_is_too_long_is_damaged_and_the_next_one_is_read() {
    let record = testkit::jsonl("a user hello");
    let long = vec![b'x'; 1 << 20];
    let times = LONGEST_LINE as usize / long.len() + 1;
    let mut session = Session::default();
    for _ in 0..times {
        session.push(&long);
    }
    session.finish_last_line();
    assert_eq!((session.line_counts().damaged, session.torn_line_defect().unwrap().line), (1, 1));
    session.push(b"\n");
    session.push(record.as_bytes());
    let bytes = (times * long.len()) as u64 + 1;
    assert_eq!(session.defects()[0].kind, DefectKind::TooLong { bytes });
    let counts = session.line_counts();
    assert_eq!((counts.known, counts.damaged), (1, 1));
    assert_eq!((session.records()[0].span.offset, session.records()[0].line), (bytes, 2));
}

/// Work that grows with the square of these numbers would not end.
#[test]
fn many_calls_of_one_message_are_paired() {
    const CALLS: usize = 60_000;
    let block =
        |n: usize| format!(r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{}}}}"#);
    let calls: Vec<String> = (0..CALLS).map(block).collect();
    let result =
        |n: usize| format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"x"}}"#);
    let results: Vec<String> = (0..CALLS).rev().map(result).collect();
    let (calls, results) = (calls.join(","), results.join(","));
    let lines = [
        r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"go"}}"#.to_owned(),
        format!(
            r#"{{"type":"assistant","uuid":"b","parentUuid":"a","message":{{"id":"m","content":[{calls}]}}}}"#
        ),
        format!(
            r#"{{"type":"user","uuid":"c","parentUuid":"b","message":{{"content":[{results}]}}}}"#
        ),
    ];
    let history = History::new(read(lines.join("\n").as_bytes(), usize::MAX), ResumeRule::Client);
    let path = history.conversation_path(history.branches.resuming_conversation().unwrap());
    let mut bodies = |id: NodeId| RecordBody::parse(lines[id.0 as usize].as_bytes()).ok();
    let told: Vec<_> = path_turns(&history, &path, &mut bodies).collect();
    let paired = told.iter().flat_map(Turn::tool_calls).filter(|call| call.result.is_some());
    assert_eq!(paired.count(), CALLS);
}

/// Work that grows with the square of these numbers would not end.
#[test]
fn every_node_of_a_long_session_finds_its_conversation() {
    let mut short = String::new();
    for n in 0..30_000 {
        let parent = if n == 0 { String::new() } else { format!("< u{}", n - 1) };
        writeln!(short, "u{n} {parent} user go\nx{n} < u{n} assistant left behind").unwrap();
    }
    let history =
        History::new(read(testkit::jsonl(&short).as_bytes(), usize::MAX), ResumeRule::Client);
    let found = history.session.nodes().filter(|(id, _)| history.conversation_of(*id).is_some());
    assert_eq!(found.count(), 60_000);
    SessionDigest::new(&history);
}
