//! What happened in a session: when, with which tools, and how full the context was.
//!
//! Only charts need this, so it is collected only by a session made with `Session::with_activity`.

use std::collections::BTreeMap;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::body::json;
use crate::envelope::Envelope;
use crate::history::History;
use crate::name::Key;
use crate::record::{Kind, Voice};
use crate::session::NodeId;
use crate::time::Time;
use crate::usage::Uses;

/// The tool calls and results of one file, in file order.
#[derive(Clone, Debug, Default)]
pub struct ToolLog {
    names: Vec<Box<str>>,
    calls: Vec<(Key, u16, NodeId)>,
    results: Vec<(Key, bool, NodeId)>,
}

impl ToolLog {
    pub(crate) fn take(&mut self, record: NodeId, found: &Envelope<'_>, kind: Kind) {
        for (at, id) in found.tool_ids.iter().enumerate() {
            let key = Key::new(id);
            match found.tool_names.get(at) {
                Some(name) if kind == Kind::Assistant => {
                    let name = self.name(name);
                    self.calls.push((key, name, record));
                }
                _ if kind == Kind::User => {
                    let failed = at < 64 && found.failed_tools & (1 << at) != 0;
                    self.results.push((key, failed, record));
                }
                _ => {}
            }
        }
    }

    fn name(&mut self, raw: &[u8]) -> u16 {
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
    pub calls: Vec<ToolCall>,
    /// The tools, by the numbers that the calls give.
    pub tools: Vec<Box<str>>,
    /// The context size of each reply in tokens, in file order.
    pub context: Vec<u64>,
    /// The replies (by index) that come right after a compaction.
    pub compactions: Vec<usize>,
}

/// One use of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ToolCall {
    pub id: Key,
    pub tool: u16,
    /// `None`: there is no result.
    pub failed: Option<bool>,
    /// How long it took, by the times of call and result.
    pub millis: Option<u64>,
}

impl Activity {
    /// Sums up a session that was read with its activity.
    pub fn new(history: &History) -> Self {
        let History { session, folds, .. } = history;
        let mut activity = Self::default();
        let said = folds
            .iter()
            .filter(|(_, fold)| matches!(fold.voice, Voice::Prompt | Voice::Answer) && !fold.again);
        for time in said.filter_map(|(_, fold)| session.record(fold.head).time) {
            *activity.hours.entry(time.millis().div_euclid(3_600_000)).or_default() += 1;
        }
        if let Some(log) = session.tool_log() {
            activity.take_calls(history, log);
        }
        activity.take_context(history);
        activity
    }

    fn take_calls(&mut self, history: &History, log: &ToolLog) {
        let time = |node: NodeId| history.session.record(node).time;
        let mut results: FxHashMap<Key, (bool, Option<Time>)> = FxHashMap::default();
        for (id, failed, node) in &log.results {
            results.entry(*id).or_insert((*failed, time(*node)));
        }
        for (id, tool, node) in &log.calls {
            let result = results.get(id);
            let end = result.and_then(|(_, time)| *time);
            let millis = time(*node).zip(end).map(|(start, end)| end.millis() - start.millis());
            self.calls.push(ToolCall {
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
            .filter(|(_, record)| record.voice == Voice::Boundary)
            .map(|(id, _)| id)
            .collect();
        let mut passed = 0;
        let lane = history.lane();
        for (node, context) in session.uses().into_iter().flat_map(Uses::contexts) {
            if !lane.has(session.record(node).sidechain) || context == 0 {
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
    use crate::resume::Rule;
    use crate::session::Session;

    fn read(short: &str) -> Activity {
        let mut session = Session::with_activity();
        session.push(testkit::jsonl(short).as_bytes());
        Activity::new(&History::new(session, Rule::Client))
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
