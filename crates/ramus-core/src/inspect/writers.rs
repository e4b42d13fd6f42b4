//! Detects two clients that wrote to one session at the same time.

use crate::defect::{Defect, DefectKind};
use crate::history::History;
use crate::record::RecordRole;
use crate::session::NodeId;

/// How far up a chain is followed; beyond that nothing is claimed.
const MAX_STEPS: usize = 4096;

/// A reply whose turn was in progress while another branch got a message.
#[derive(Clone, Copy)]
struct CrossedTurn {
    /// The record, and the one it continues.
    record: NodeId,
    after: NodeId,
    /// What was written between the two.
    other: NodeId,
}

/// Finds where two turns ran at the same time.
///
/// One client finishes or abandons a turn before it begins another. So each of two branches must have
/// got a new reply after a message of the other one: a turn that crosses a turn that crosses it.
pub(super) fn find_two_clients(history: &History) -> Option<Defect> {
    let mut before: Option<CrossedTurn> = None;
    for crossing in find_crossings(history) {
        if let Some(earlier) = before
            && is_below(history, crossing.after, earlier.other)
            && is_below(history, crossing.other, earlier.record)
        {
            let record = history.session.record(earlier.record);
            let until = history.session.record(crossing.record).line;
            let kind = DefectKind::TwoClients { until };
            return Some(Defect { offset: record.span.offset, line: record.line, kind });
        }
        before = Some(crossing);
    }
    None
}

/// Returns the records that continue a turn after another branch got the last message.
fn find_crossings(history: &History) -> impl Iterator<Item = CrossedTurn> {
    let History { session, record_tree: tree, message_tree, .. } = history;
    let main_chain = history.main_chain();
    let mut last: Option<NodeId> = None;
    let in_dialogue = move |id: NodeId| {
        let record = session.record(id);
        let is_turn =
            matches!(record.role, RecordRole::Prompt | RecordRole::Reply | RecordRole::ToolResult);
        is_turn
            && main_chain.includes(record.sidechain)
            && !record.recovered
            && tree.is_first_copy(id)
    };
    let dialogue = session.nodes().map(|(id, _)| id).filter(move |id| in_dialogue(*id));
    dialogue.filter_map(move |id| {
        let other = last.replace(id)?;
        let message = message_tree.message(message_tree.message_of(id)?);
        // Later records of a message can come after the prompt that interrupted it.
        if message.head != id
            || message.continues_earlier
            || session.record(id).role != RecordRole::Reply
        {
            return None;
        }
        let above = tree.ancestors(id).skip(1).take(MAX_STEPS);
        let after = above.into_iter().find(|above| in_dialogue(*above))?;
        let time = |id: NodeId| session.record(id).time;
        let is_between = time(after)? <= time(other)? && time(other)? <= time(id)?;
        let is_elsewhere =
            after < other && message_tree.message_of(after) != message_tree.message_of(other);
        let crosses = is_between && is_elsewhere && !is_below(history, other, after);
        crosses.then_some(CrossedTurn { record: id, after, other })
    })
}

/// Whether a record is `top` or below it; also `true` if that is too far away to tell.
fn is_below(history: &History, record: NodeId, top: NodeId) -> bool {
    let mut above = history.record_tree.ancestors(record).take(MAX_STEPS);
    let mut steps = 0;
    let met = above.by_ref().inspect(|_| steps += 1).find(|id| *id <= top);
    met == Some(top) || steps == MAX_STEPS
}
