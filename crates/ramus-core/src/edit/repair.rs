//! Makes a copy of a session without what prevents it from being resumed.
//!
//! Nothing is changed in place. The conversation that the client would continue is linearized: records
//! whose parent is lost follow the record before them in the file, every call has a result, and times
//! rise and are not in the future.

use rustc_hash::FxHashSet;

use super::fork::{CopySource, Sidechains, path_nodes};
use super::goto::last_prompt_text;
use super::linearize::{
    self, BodyReader, ChainFixes, FinishedChain, LinearizeConfig, Linearizer, ThinkingPolicy,
    UuidPolicy,
};
use super::splice::ProvenanceField;
use super::{EditContext, EditRefusal, NewSession};
use crate::history::{ConversationPath, History};
use crate::ids::RecordUuid;
use crate::record::{Record, RecordRole};
use crate::resume::{ClientEra, ResumeReason};
use crate::session::NodeId;
use crate::time::Time;

/// A repaired copy.
#[derive(Clone, Debug)]
pub struct RepairedSession {
    pub new: NewSession,
    pub repairs: Repairs,
}

/// The repairs of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Records whose parent does not exist, or that are their own ancestor.
    pub lost_parents: u32,
    /// Records on a damaged line.
    pub recovered: u32,
    /// Records of other sessions.
    pub foreign: u32,
    /// Records, messages and calls with a duplicate id.
    pub reused: u32,
    pub chain_fixes: ChainFixes,
}

/// Records that an inspection found to have wrong ids.
#[derive(Clone, Debug, Default)]
pub struct WrongIds {
    /// Those of other sessions.
    pub foreign: Vec<NodeId>,
    /// Those with the id of another message or call.
    pub reused: Vec<NodeId>,
}

impl WrongIds {
    /// Counts those that a copy of these records would include.
    fn count_in(&self, origin: &CopySource<'_>) -> (u32, u32) {
        let History { session, record_tree: tree, .. } = origin.history;
        let is_version = |node: NodeId| {
            session.record(node).uuid.is_some_and(|name| tree.is_version(session, node, name))
        };
        let nodes: FxHashSet<NodeId> = origin.nodes.iter().copied().collect();
        let taken = |list: &[NodeId]| list.iter().filter(|node| nodes.contains(node)).count();
        let versions = nodes.iter().filter(|node| is_version(**node)).count();
        (taken(&self.foreign) as u32, (taken(&self.reused) + versions) as u32)
    }
}

impl Repairs {
    /// Describes the repairs, one per line.
    pub fn descriptions(&self) -> Vec<String> {
        let ChainFixes { answered, strays, thinking, untimed, set_back } = self.chain_fixes;
        let some = [
            (self.lost_parents, "lost parent", "linked to the record before it"),
            (self.recovered, "record on a damaged line", "moved to its own line"),
            (self.foreign, "record of another session", "belongs to the session of the copy"),
            (self.reused, "duplicate id", "made unique"),
            (answered, "tool call without a result", "gets an \"interrupted\" result"),
            (strays, "tool result without a call", "is left out"),
            (thinking, "thinking block that cannot be sent", "is left out"),
            (untimed, "record without a time", "gets one"),
            (set_back, "record dated in the future", "gets a valid date"),
        ];
        let found = some.into_iter().filter(|(count, ..)| *count > 0);
        found.map(|(count, what, how)| format!("{count} × {what}: {how}")).collect()
    }
}

/// Returns the record whose conversation is to be repaired.
///
/// That is where the client would continue, unless a date in the future or missing dates decided that:
/// then it is the newest of the others, or the last one.
pub fn node_to_repair(history: &History, now: Time) -> Option<NodeId> {
    let History { session, record_tree: tree, branches, .. } = history;
    let is_message = |record: &Record| !record.sidechain && record.role != RecordRole::Decoration;
    let main =
        || session.nodes().filter(|(id, record)| tree.is_first_copy(*id) && is_message(record));
    let last = main().last().map(|(id, _)| id);
    let is_main = |leaf: NodeId| !session.record(leaf).sidechain;
    let Some(resume) = branches.resume.filter(|resume| is_main(resume.leaf)) else { return last };
    match resume.reason {
        ResumeReason::NoTimestamps => last,
        ResumeReason::NewestTimestamp if session.record(resume.point).time > Some(now) => {
            let newest = main()
                .filter(|(_, record)| record.time.is_some_and(|time| time <= now))
                .max_by_key(|(id, record)| (record.time, *id));
            let after = newest.filter(|(id, _)| *id > resume.point).map(|(id, _)| id);
            Some(after.unwrap_or(resume.leaf))
        }
        _ => Some(resume.leaf),
    }
}

/// Collects the records of a path, and counts those whose parent was lost.
///
/// Such a record follows the one before it in the file, so the copy has both.
pub fn reattached_nodes(history: &History, path: &ConversationPath) -> (Vec<NodeId>, u32) {
    let placements =
        path.messages.iter().map(|message| history.message_tree.message(*message).placement);
    let lost = placements.filter(|placement| placement.is_guess()).count() as u32;
    (path_nodes(history, path, &Sidechains::new(history)), lost)
}

/// Plans a copy of a conversation without what prevents it from being resumed; `None`: nothing does.
///
/// `lost` parents were counted by [`reattached_nodes`]; parts in other files come first.
pub fn plan_repair(
    origins: &[CopySource<'_>],
    lost: u32,
    misnamed: &WrongIds,
    title: &str,
    thinking: ThinkingPolicy,
    writer: &mut EditContext<'_>,
    bodies: &mut BodyReader<'_>,
) -> Result<Option<RepairedSession>, EditRefusal> {
    let config = LinearizeConfig { provenance: ProvenanceField::ForkedFrom, cwd: None, thinking };
    let mut linearizer = Linearizer::new(origins, config, writer);
    for (source, origin) in origins.iter().enumerate() {
        linearizer.copy_records(source, &origin.nodes, UuidPolicy::Keep, bodies);
    }
    let last = origins.last().ok_or(EditRefusal::Empty)?;
    let mut finished = linearizer.into_finished().ok_or(EditRefusal::Empty)?;
    let is_recovered = |origin: &CopySource<'_>| {
        let records = origin.nodes.iter().map(|node| origin.history.session.record(*node));
        records.filter(|record| record.recovered).count() as u32
    };
    let (foreign, reused) = misnamed.count_in(last);
    let mut repairs = Repairs {
        lost_parents: lost,
        foreign,
        reused,
        recovered: origins.iter().map(is_recovered).sum(),
        chain_fixes: finished.fixes,
    };
    // The last message may still be at work, and a late date harms only where dates decide.
    repairs.chain_fixes.answered -=
        linearize::open_calls_at_end(last).min(repairs.chain_fixes.answered);
    if ClientEra::of_session(&last.history.session) != ClientEra::Timestamp {
        repairs.chain_fixes.set_back = 0;
    }
    if repairs == Repairs::default() {
        return Ok(None);
    }
    let prompt = last.nodes.last().and_then(|node| last_prompt_text(last.history, *node));
    finished.add_title_and_pointer(title, prompt.unwrap_or_default(), writer.session);
    let FinishedChain { lines, resume, messages, fixes: repaired } = finished;
    let new = NewSession {
        id: writer.session.to_owned(),
        title: title.to_owned(),
        lines,
        resume: RecordUuid::new(resume.as_bytes()),
        leaf: resume,
        messages,
        left_out: 0,
        set_back: repaired.set_back,
    };
    Ok(Some(RepairedSession { new, repairs }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::RecordBody;
    use crate::edit::{NewLine, copy_source};
    use crate::inspect::{Inspection, RecordFlaw};
    use crate::resume::ResumeRule;
    use crate::session::Session;
    use proptest::prelude::*;
    use testkit::jsonl;

    const NOW: &str = "2026-03-01T12:00:00.000Z";

    fn read(bytes: &[u8]) -> History {
        let mut session = Session::with_inspection();
        session.push(bytes);
        session.finish_last_line();
        History::new(session, ResumeRule::Client)
    }

    /// Repairs a session; returns the copy's path and the repairs.
    fn fixed(bytes: &[u8], thinking: ThinkingPolicy) -> Option<(String, Vec<String>)> {
        let (_, names, words) = fixed_copy(bytes, thinking)?;
        Some((names, words))
    }

    fn fixed_copy(
        bytes: &[u8],
        thinking: ThinkingPolicy,
    ) -> Option<(Vec<u8>, String, Vec<String>)> {
        let now = Time::parse(NOW.as_bytes()).unwrap();
        let history = read(bytes);
        let found = Inspection::new(&history, Some("session"));
        let nodes =
            |flaws: &mut dyn Iterator<Item = &RecordFlaw>| flaws.map(|flaw| flaw.record).collect();
        let misnamed = WrongIds {
            foreign: nodes(&mut found.foreign.iter().map(|foreign| &foreign.flaw)),
            reused: nodes(&mut found.reused.iter()),
        };
        let target = node_to_repair(&history, now)?;
        let path = history.path_to(target).unwrap();
        let (nodes, lost) = reattached_nodes(&history, &path);
        let body = |node: NodeId| {
            let span = history.session.record(node).span;
            RecordBody::parse(&bytes[span.offset as usize..span.end_offset() as usize]).ok()
        };
        let mut origin = copy_source("old", &history, &path, &mut { body });
        origin.nodes = nodes;
        let mut next = 0;
        let mut new_id = || {
            next += 1;
            format!("new-{next}")
        };
        let mut writer = EditContext { session: "new", now, new_id: &mut new_id };
        let mut bodies = |_, node| body(node);
        let fixed =
            plan_repair(&[origin], lost, &misnamed, "fixed", thinking, &mut writer, &mut bodies)
                .ok()??;
        let mut copy = Vec::new();
        for line in &fixed.new.lines {
            match line {
                NewLine::Made(line) => copy.extend_from_slice(line),
                NewLine::Copied(line) => {
                    let span = line.span();
                    let line = &line.splice;
                    copy.extend(
                        line.apply_to(&bytes[span.offset as usize..span.end_offset() as usize]),
                    );
                    copy.push(b'\n');
                }
            }
        }
        let after = read(&copy);
        assert!(
            after.record_tree.missing_parents().is_empty() && after.session.defects().is_empty()
        );
        let point = after.branches.resume.unwrap().point;
        assert_eq!(after.session.record(point).uuid, Some(fixed.new.resume));
        let mut names: Vec<String> = after
            .record_tree
            .ancestors(point)
            .map(|node| after.session.uuid_text(after.session.record(node).uuid.unwrap()))
            .collect();
        names.reverse();
        Some((copy, names.join(" "), fixed.repairs.descriptions()))
    }

    /// Sessions in which much is wrong.
    fn sessions() -> impl Strategy<Value = String> {
        let kinds = prop::sample::select(vec![
            "user",
            "assistant",
            "thinking",
            "call:t1",
            "call:t2",
            "result:t1",
            "result:t2",
            "system",
            "progress",
            "mystery",
            "boundary",
            "compacted",
            "side-user",
        ]);
        let times = prop::sample::select(vec!["", "@none", "@5", "@50"]);
        let versions = prop::sample::select(vec!["1.0.113", "2.1.50", "2.1.110", "2.1.325"]);
        let rows = prop::collection::vec((kinds, 0..9usize, times), 1..24);
        (versions, rows, any::<bool>()).prop_map(|(version, rows, is_late)| {
            let mut short = format!("n0 user v={version} hello\n");
            for (index, (kind, back, time)) in rows.into_iter().enumerate() {
                let parent = (index + 3).checked_sub(back).unwrap_or(99);
                let row = format!("n{} < n{parent} {kind} {time} text {index}\n", index + 1);
                short.push_str(&row);
            }
            let late = if is_late { "2031-01-01T00:00:50" } else { "2026-01-01T00:00:50" };
            jsonl(&short).replace("2026-01-01T00:00:50", late).replace("2.0.74", version)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_repaired_needs_no_repair(lines in sessions()) {
            if let Some((copy, ..)) = fixed_copy(lines.as_bytes(), ThinkingPolicy::Withheld) {
                let again = fixed_copy(&copy, ThinkingPolicy::Withheld);
                prop_assert_eq!(again, None, "{}\n{}", lines, String::from_utf8_lossy(&copy));
            }
        }
    }

    #[track_caller]
    fn check(short: &str, path: &str, words: &[&str]) {
        let (names, repairs) = fixed(jsonl(short).as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(names, path);
        assert_eq!(repairs, words);
        let whole = "a user hi\nb < a assistant hello\nc < b call:t1 ls";
        assert_eq!(fixed(jsonl(whole).as_bytes(), ThinkingPolicy::Unsigned), None);
    }

    #[test]
    fn a_record_with_a_lost_parent_follows_the_one_before_it() {
        check(
            "
            a      user       one
            b < a  assistant  two
            c < x  user       three
            d < c  assistant  four
            ",
            "a b c d",
            &["1 × lost parent: linked to the record before it"],
        );
        check(
            "
            a      user       one
            b < a  assistant  two
            c < c  user       three
            d < c  assistant  four
            ",
            "a b c d",
            &["1 × lost parent: linked to the record before it"],
        );
    }

    #[test]
    fn calls_and_results_find_each_other() {
        check(
            "
            a      user       one
            b < a  call:t1    ls
            c < b  result:t9  stray
            d < c  assistant  three
            ",
            "a b new-1 d",
            &[
                "1 × tool call without a result: gets an \"interrupted\" result",
                "1 × tool result without a call: is left out",
            ],
        );
    }

    #[test]
    fn times_are_set_back_and_the_newest_turn_is_kept() {
        let pinned = "
            a      user       v=2.0.74 one
            b < a  assistant  two
            c < b  user       three
            d < c  assistant  four
        ";
        let late = jsonl(pinned).replace("2026-01-01T00:00:01", "2031-01-01T00:00:01");
        let (names, words) = fixed(late.as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(names, "a b c d");
        assert_eq!(words, ["1 × record dated in the future: gets a valid date"]);
        let new = late.replace("2.0.74", "2.1.325");
        assert_eq!(fixed(new.as_bytes(), ThinkingPolicy::Unsigned), None);
        let untimed = "a user @none one\nb < a assistant @none two";
        check(untimed, "a b", &["2 × record without a time: gets one"]);
    }

    #[test]
    fn thinking_that_no_server_takes_is_left_out() {
        let short = "
            a      user       one
            b < a  thinking   #m
            c < b  assistant  #m two
        ";
        let signed = jsonl(short);
        assert_eq!(fixed(signed.as_bytes(), ThinkingPolicy::Unsigned), None);
        let words = ["1 × thinking block that cannot be sent: is left out".to_owned()];
        let (names, repairs) = fixed(signed.as_bytes(), ThinkingPolicy::Withheld).unwrap();
        assert_eq!((names.as_str(), &repairs[..]), ("a c", &words[..]));
        let unsigned = signed.replace("c2lnbmF0dXJl", "");
        let (names, repairs) = fixed(unsigned.as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!((names.as_str(), &repairs[..]), ("a c", &words[..]));
    }

    #[test]
    fn records_of_another_session_belong_to_the_copy() {
        let lines =
            jsonl("a user one\nb < a assistant two\nc < b user three\nd < c assistant four");
        let third = lines.lines().nth(2).unwrap();
        let mixed = lines.replace(third, &third.replace("\"session\"", "\"other\""));
        let (copy, names, words) = fixed_copy(mixed.as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(names, "a b c d");
        assert_eq!(words, ["1 × record of another session: belongs to the session of the copy"]);
        let copy = String::from_utf8(copy).unwrap();
        assert!(!copy.contains("\"sessionId\":\"other\""), "{copy}");
    }

    #[test]
    fn ids_that_were_used_before_are_made_unique() {
        let words = ["1 × duplicate id: made unique"];
        let calls = "a user one\nb < a call:t1 ls\nc < b result:t1 x\nd < c call:t1 pwd\ne < d result:t1 y\nf < e assistant done";
        let (copy, _, repairs) =
            fixed_copy(jsonl(calls).as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(repairs, words);
        let copy = String::from_utf8(copy).unwrap();
        assert_eq!(copy.matches("\"t1\"").count(), 2, "{copy}");
        let messages =
            jsonl("a user one\nb < a assistant #m two\nc < b user three\nd < c assistant #m four")
                .replacen("req_m", "req_n", 1);
        let (copy, _, repairs) = fixed_copy(messages.as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(repairs, words);
        assert_eq!(String::from_utf8(copy).unwrap().matches("\"msg_m\"").count(), 1);
    }

    #[test]
    fn glued_records_get_separate_lines() {
        let lines =
            jsonl("a user one\nb < a assistant two\nc < b user three\nd < c assistant four");
        let glued = lines.replacen("}\n{\"parentUuid\":\"b\"", "}{\"parentUuid\":\"b\"", 1);
        assert_ne!(lines, glued);
        let (names, words) = fixed(glued.as_bytes(), ThinkingPolicy::Unsigned).unwrap();
        assert_eq!(names, "a b c d");
        assert_eq!(words, ["2 × record on a damaged line: moved to its own line"]);
    }
}
