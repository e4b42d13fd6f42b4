//! Plans another resume point, or another title, by appending lines (R25).

use super::new_line::{self, MarkerRecord};
use super::{AppendedLines, EditContext, EditRefusal, end_of_message};
use crate::history::History;
use crate::ids::RecordUuid;
use crate::preserved::hiding_compaction;
use crate::record::{Record, RecordKind, RecordRole};
use crate::record_tree::RecordTree;
use crate::resume::{ClientEra, ResumeRule, find_resume_point};
use crate::session::{NodeId, Session};
use crate::time::Time;

/// Above this size the client reads only parts of a file.
const LARGE_FILE: u64 = 5 * 1024 * 1024;

/// Plans to make a node the resume point.
///
/// A record without content is attached to the end of the target's message, newer than all others, and an
/// explicit pointer names it: every client version follows one of the two. A summary is added for readers
/// that follow the old rule.
pub fn plan_goto(
    history: &History,
    target: NodeId,
    title: &str,
    writer: &mut EditContext<'_>,
) -> Result<AppendedLines, EditRefusal> {
    let session = &history.session;
    let end = end_of_message(history, target).ok_or(EditRefusal::NoNode)?;
    let record = session.record(end);
    let name = resumable_uuid(history, end, record, writer.now)?;
    let newest = session.nodes().filter_map(|(_, record)| record.time).max();
    let after = newest.map_or(writer.now, |time| Time::from_millis(time.as_millis() + 1));
    let uuid = (writer.new_id)();
    let marker = MarkerRecord {
        parent: &session.uuid_text(name),
        uuid: &uuid,
        session: writer.session,
        time: writer.now.max(after),
        text: "ramus: the conversation goes on from here",
    };
    let mut bytes = marker.to_line(session.facts());
    bytes.extend(new_line::summary_line(title, &uuid));
    let prompt = last_prompt_text(history, end).unwrap_or_default();
    bytes.extend(new_line::last_prompt_line(prompt, &uuid, true, writer.session));
    let resume = RecordUuid::new(uuid.as_bytes());
    if !would_resume_at(session, &bytes, resume) {
        return Err(EditRefusal::WouldNotHold);
    }
    Ok(AppendedLines { bytes, resume: Some(resume) })
}

/// Plans to give a session a title, as the client itself does.
pub fn plan_rename(title: &str, writer: &EditContext<'_>) -> AppendedLines {
    AppendedLines { bytes: new_line::custom_title_line(title, writer.session), resume: None }
}

/// Returns the uuid of a node that a client can be made to continue from.
fn resumable_uuid(
    history: &History,
    node: NodeId,
    record: &Record,
    now: Time,
) -> Result<RecordUuid, EditRefusal> {
    let session = &history.session;
    if record.sidechain {
        return Err(EditRefusal::Sidechain);
    }
    let name = record.uuid.filter(|_| !record.recovered);
    let name = name.ok_or(EditRefusal::Unseen { line: record.line })?;
    if !has_message(history, node) {
        return Err(EditRefusal::Empty);
    }
    let line = |id: NodeId| session.record(id).line;
    if let Some((boundary, _)) = hiding_compaction(session).filter(|(at, _)| node < *at) {
        return Err(EditRefusal::HiddenByCompaction { line: line(boundary) });
    }
    // The compaction rule (R7): the client sends nothing that is above a compaction.
    let sent = |id: &NodeId| session.record(*id).role != RecordRole::CompactBoundary;
    let mut path = history.record_tree.ancestors(node).take_while(sent);
    if let Some(hidden) = path.find(|id| history.is_hidden(*id)) {
        let seen = session.record(hidden).uuid.and_then(|name| history.node_by_uuid(name));
        return Err(EditRefusal::OtherVersion { line: line(hidden), other: seen.map_or(0, line) });
    }
    let bytes = session.facts().bytes;
    if bytes > LARGE_FILE
        && ClientEra::of_session(session) == ClientEra::Pointer
        && let Some((boundary, _)) = session
            .nodes()
            .find(|(id, record)| record.role == RecordRole::CompactBoundary && node < *id)
    {
        return Err(EditRefusal::BeforeCompaction { line: line(boundary), bytes });
    }
    if ClientEra::of_session(session) == ClientEra::Timestamp {
        let future = |record: &Record| record.time.filter(|time| *time > now);
        let found = session.nodes().find_map(|(_, record)| Some((record.line, future(record)?)));
        if let Some((line, time)) = found {
            return Err(EditRefusal::Future { line, time });
        }
        let is_marked = session.records().first().is_some_and(|first| first.span.offset == 3);
        let version = session.facts().version.as_ref().map_or(0, |version| version.numbers.0);
        if is_marked && version == 1 {
            return Err(EditRefusal::ByteOrderMark);
        }
    }
    Ok(name)
}

/// Whether there is a message at or above a node since the last compaction.
fn has_message(history: &History, node: NodeId) -> bool {
    let mut records = history.record_tree.ancestors(node).map(|id| history.session.record(id));
    let said = records.find(|record| {
        matches!(record.kind, RecordKind::User | RecordKind::Assistant)
            || record.role == RecordRole::CompactBoundary
    });
    said.is_some_and(|record| record.role != RecordRole::CompactBoundary)
}

/// Whether the client would resume from a node if these lines were added.
fn would_resume_at(session: &Session, bytes: &[u8], wanted: RecordUuid) -> bool {
    let mut after = session.copy_for_resume();
    // A line that is not whole ends here; a blank line means nothing.
    after.push(b"\n");
    after.push(bytes);
    let tree = RecordTree::new(&after);
    let resume = find_resume_point(&after, &tree, ResumeRule::Client);
    resume.is_some_and(|resume| after.record(resume.point).uuid == Some(wanted))
}

/// Returns the beginning of the last prompt at or above a node.
pub(super) fn last_prompt_text(history: &History, node: NodeId) -> Option<&str> {
    let prompts = history
        .record_tree
        .ancestors(node)
        .filter(|id| history.session.record(*id).role == RecordRole::Prompt);
    prompts.filter_map(|id| history.session.preview_text(id)).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::jsonl;

    const NOW: &str = "2026-03-01T12:00:00.000Z";

    fn history(bytes: &[u8]) -> History {
        let mut session = Session::default();
        session.push(bytes);
        session.finish_last_line();
        History::new(session, ResumeRule::Client)
    }

    fn plan(history: &History, target: &str) -> Result<String, EditRefusal> {
        plan_at(history, history.node_by_uuid(RecordUuid::new(target.as_bytes())).unwrap())
    }

    fn plan_at(history: &History, target: NodeId) -> Result<String, EditRefusal> {
        let mut next = 0;
        let mut new_id = || {
            next += 1;
            format!("00000000-0000-4000-8000-00000000000{next}")
        };
        let mut writer = EditContext {
            session: "s1",
            now: Time::parse(NOW.as_bytes()).unwrap(),
            new_id: &mut new_id,
        };
        plan_goto(history, target, "A title", &mut writer)
            .map(|addition| String::from_utf8(addition.bytes).unwrap())
    }

    const TWO: &str = "
        a      user       v=2.1.325 first
        b < a  assistant  answer
        c < b  user       second
        d < c  assistant  answer two
        e < b  user       other
        f < e  assistant  other answer
    ";

    fn of_version(version: &str) -> String {
        jsonl(TWO).replace("2.1.325", version).replace("2.0.74", version)
    }

    #[test]
    fn three_lines_make_a_node_the_resume_point() {
        let history = history(jsonl(TWO).as_bytes());
        insta::assert_snapshot!(plan(&history, "d").unwrap(), @r#"
        {"parentUuid":"d","isSidechain":false,"userType":"external","cwd":"/home/dev/app","sessionId":"s1","version":"2.1.325","gitBranch":"","type":"system","subtype":"informational","content":"ramus: the conversation goes on from here","isMeta":false,"level":"info","uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-03-01T12:00:00.000Z"}
        {"type":"summary","summary":"A title","leafUuid":"00000000-0000-4000-8000-000000000001"}
        {"type":"last-prompt","lastPrompt":"second","leafUuid":"00000000-0000-4000-8000-000000000001","explicit":true,"sessionId":"s1"}
        "#);
    }

    #[test]
    fn every_client_version_resumes_at_the_marker() {
        for version in ["1.0.113", "2.0.74", "2.1.50", "2.1.105", "2.1.119", "2.1.150", "2.1.325"] {
            let lines = of_version(version);
            let before = history(lines.as_bytes());
            for target in ["a", "b", "c", "d", "e", "f"] {
                let added = plan(&before, target).unwrap();
                let after = history(format!("{lines}{added}").as_bytes());
                let resume = after.branches.resume.unwrap();
                let name = after.session.record(resume.leaf).uuid.unwrap();
                assert_eq!(after.session.uuid_text(name), target, "{version}");
            }
        }
    }

    #[test]
    fn a_call_keeps_its_result() {
        let history = history(
            jsonl(
                "
                a      user       v=2.1.325 first
                b < a  call:t1    ls
                c < b  result:t1  files
                d < c  assistant  done
                ",
            )
            .as_bytes(),
        );
        let added = plan(&history, "b").unwrap();
        assert!(added.starts_with(r#"{"parentUuid":"c","#), "{added}");
    }

    #[test]
    fn what_a_client_cannot_follow_is_refused() {
        let late = |version: &str| {
            let lines = of_version(version);
            history(lines.replace("2026-01-01T00:00:03", "2031-01-01T00:00:03").as_bytes())
        };
        assert!(matches!(plan(&late("2.0.74"), "f"), Err(EditRefusal::Future { line: 4, .. })));
        assert!(plan(&late("2.1.325"), "f").is_ok());
        let side = TWO.replace("f < e  assistant", "f < e  side-assistant");
        assert_eq!(plan(&history(jsonl(&side).as_bytes()), "f"), Err(EditRefusal::Sidechain));
        let versions =
            "a user hi\nb < a assistant @1 #m1 one\nb < a assistant @2 #m2 two\nc < b user @3 on";
        let versions = history(jsonl(versions).as_bytes());
        let first = plan_at(&versions, NodeId(1));
        assert_eq!(first, Err(EditRefusal::OtherVersion { line: 2, other: 3 }));
        assert_eq!(plan(&versions, "b").map(|_| ()), Ok(()));
        let compacted = "a user hi\nb < a assistant @1 #m1 one\nb < a assistant @2 #m2 two
            c < b boundary @3\nd < c compacted @4 in short\ne < d assistant @5 on";
        let compacted = history(jsonl(compacted).as_bytes());
        assert_eq!(plan(&compacted, "e").map(|_| ()), Ok(()));
        // Once a compaction keeps messages, the last one hides all before it, whether it keeps some or not.
        let twice = "a user v=2.1.325 hi\nb < a assistant @1 #m1 one
            c < b boundary:b:d @2\nd < c compacted @3 in short\ne < d assistant @4 #m2 on
            f < e boundary @5\ng < f compacted @6 shorter\nh < g assistant @7 #m3 end";
        let hidden = Err(EditRefusal::HiddenByCompaction { line: 6 });
        let once =
            history(jsonl(&twice.replace("c < b boundary:b:d", "c < b boundary")).as_bytes());
        let twice = history(jsonl(twice).as_bytes());
        for (target, expected) in [("b", hidden.clone()), ("e", hidden), ("h", Ok(()))] {
            assert_eq!(plan(&twice, target).map(|_| ()), expected, "{target}");
            assert_eq!(plan(&once, target).map(|_| ()), Ok(()), "{target}");
        }
        let grown = "a user hi\nb < a assistant #m1 on\nb < a assistant #m1 one";
        assert!(plan_at(&history(jsonl(grown).as_bytes()), NodeId(1)).is_ok());
        let marked = format!("\u{feff}{}", of_version("1.0.113"));
        assert_eq!(plan(&history(marked.as_bytes()), "d"), Err(EditRefusal::ByteOrderMark));
    }
}
