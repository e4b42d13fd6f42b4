//! Activity of a session for charts: hours, tool calls and context size.
//!
//! Only charts need this, so it is collected only by a session made with `Session::with_activity`.

use std::collections::BTreeMap;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::body::json;
use crate::envelope::Envelope;
use crate::history::History;
use crate::ids::IdHash;
use crate::record::{RecordKind, RecordRole};
use crate::session::NodeId;
use crate::time::Time;
use crate::usage::UsageLog;

/// The tool calls and results of one file, in file order.
#[derive(Clone, Debug, Default)]
pub struct ToolLog {
    names: Vec<Box<str>>,
    calls: Vec<(IdHash, u16, NodeId)>,
    results: Vec<(IdHash, bool, NodeId)>,
}

impl ToolLog {
    pub(crate) fn add_record(&mut self, record: NodeId, found: &Envelope<'_>, kind: RecordKind) {
        for (at, id) in found.tool_ids.iter().enumerate() {
            let key = IdHash::new(id);
            match found.tool_names.get(at) {
                Some(name) if kind == RecordKind::Assistant => {
                    let name = self.tool_number(name);
                    self.calls.push((key, name, record));
                }
                _ if kind == RecordKind::User => {
                    let failed = at < 64 && found.failed_tools & (1 << at) != 0;
                    self.results.push((key, failed, record));
                }
                _ => {}
            }
        }
    }

    fn tool_number(&mut self, raw: &[u8]) -> u16 {
        if let Some(at) = self.names.iter().position(|name| name.as_bytes() == raw) {
            return at as u16;
        }
        if self.names.len() <= usize::from(u16::MAX) {
            self.names.push(json::unescape(raw).into());
        }
        (self.names.len() - 1) as u16
    }
}

/// What was done in one file.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Activity {
    /// Messages of people and models, by the hour since 1970.
    pub hours: BTreeMap<i64, u32>,
    pub calls: Vec<ToolCallTiming>,
    /// The tools, by the numbers that the calls give.
    pub tools: Vec<Box<str>>,
    /// The context size of each reply in tokens, in file order.
    pub context: Vec<u64>,
    /// The replies (by index) that come right after a compaction.
    pub compactions: Vec<usize>,
}

/// One use of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ToolCallTiming {
    pub id: IdHash,
    pub tool: u16,
    /// `None`: there is no result.
    pub failed: Option<bool>,
    /// How long it took, by the times of call and result.
    pub millis: Option<u64>,
}

impl Activity {
    /// Sums up a session that was read with its activity.
    pub fn new(history: &History) -> Self {
        let History { session, message_tree, .. } = history;
        let mut activity = Self::default();
        let dialogue = message_tree.iter().filter(|(_, message)| {
            matches!(message.role, RecordRole::Prompt | RecordRole::Reply)
                && !message.continues_earlier
        });
        for time in dialogue.filter_map(|(_, message)| session.record(message.head).time) {
            *activity.hours.entry(time.as_millis().div_euclid(3_600_000)).or_default() += 1;
        }
        if let Some(log) = session.tool_log() {
            activity.take_calls(history, log);
        }
        activity.take_context(history);
        activity
    }

    fn take_calls(&mut self, history: &History, log: &ToolLog) {
        let time = |node: NodeId| history.session.record(node).time;
        let mut results: FxHashMap<IdHash, (bool, Option<Time>)> = FxHashMap::default();
        for (id, failed, node) in &log.results {
            results.entry(*id).or_insert((*failed, time(*node)));
        }
        for (id, tool, node) in &log.calls {
            let result = results.get(id);
            let end = result.and_then(|(_, time)| *time);
            let millis =
                time(*node).zip(end).map(|(start, end)| end.as_millis() - start.as_millis());
            self.calls.push(ToolCallTiming {
                id: *id,
                tool: *tool,
                failed: result.map(|(failed, _)| *failed),
                millis: millis.and_then(|millis| u64::try_from(millis).ok()),
            });
        }
        self.tools.clone_from(&log.names);
    }

    fn take_context(&mut self, history: &History) {
        let session = &history.session;
        let boundaries: Vec<NodeId> = session
            .system_records()
            .filter(|(_, record)| record.role == RecordRole::CompactBoundary)
            .map(|(id, _)| id)
            .collect();
        let mut passed = 0;
        let main_chain = history.main_chain();
        for (node, context) in session.usage_log().into_iter().flat_map(UsageLog::context_sizes) {
            if !main_chain.includes(session.record(node).sidechain) || context == 0 {
                continue;
            }
            while boundaries.get(passed).is_some_and(|boundary| *boundary < node) {
                passed += 1;
                self.compactions.push(self.context.len());
            }
            self.context.push(context);
        }
        self.compactions.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::Activity;
    use crate::history::History;
    use crate::resume::ResumeRule;
    use crate::session::Session;

    fn read(short: &str) -> Activity {
        let mut session = Session::with_activity();
        session.push(testkit::jsonl(short).as_bytes());
        Activity::new(&History::new(session, ResumeRule::Client))
    }

    #[test]
    fn calls_are_paired_with_their_results() {
        let activity = read(
            "a user hello
             b < a call:t1:Bash #m @10 ls
             c < b result:t1 @13 Cargo.toml
             d < c call:t2:Read #n @20 x
             e < d assistant #o @30 done",
        );
        let calls: Vec<_> = activity
            .calls
            .iter()
            .map(|call| (&*activity.tools[usize::from(call.tool)], call.failed, call.millis))
            .collect();
        assert_eq!(calls, [("Bash", Some(false), Some(3000)), ("Read", None, None)]);
        assert_eq!(activity.hours.values().sum::<u32>(), 4);
    }

    #[test]
    fn compactions_stand_between_answers() {
        let activity = read(
            "a user hello
             b < a assistant hi
             c < b boundary
             d < c compacted what was said
             e < d user go on
             f < e assistant yes",
        );
        assert_eq!(activity.context, [10, 10]);
        assert_eq!(activity.compactions, [1]);
    }
}
