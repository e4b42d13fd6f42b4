//! Detects two clients that wrote to one session at the same time.

use crate::defect::{Defect, DefectKind};
use crate::history::History;
use crate::record::Voice;
use crate::session::NodeId;

/// How far up a chain is followed; beyond that nothing is claimed.
const FURTHEST: usize = 4096;

/// A reply whose turn was in progress while another branch got a message.
#[derive(Clone, Copy)]
struct Crossing {
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
pub(super) fn two_clients(history: &History) -> Option<Defect> {
    let mut before: Option<Crossing> = None;
    for crossing in crossings(history) {
        if let Some(earlier) = before
            && is_below(history, crossing.after, earlier.other)
            && is_below(history, crossing.other, earlier.record)
        {
            let record = history.session.record(earlier.record);
            let until = history.session.record(crossing.record).line;
            let kind = DefectKind::TwoClients { until };
            return Some(Defect { at: record.span.at, line: record.line, kind });
        }
        before = Some(crossing);
    }
    None
}

/// Returns the records that continue a turn after another branch got the last message.
fn crossings(history: &History) -> impl Iterator<Item = Crossing> {
    let History { session, tree, folds, .. } = history;
    let lane = history.lane();
    let mut last: Option<NodeId> = None;
    let is_said = move |id: NodeId| {
        let record = session.record(id);
        let is_turn = matches!(record.voice, Voice::Prompt | Voice::Answer | Voice::ToolResult);
        is_turn && lane.has(record.sidechain) && !record.recovered && tree.is_first(id)
    };
    let said = session.nodes().map(|(id, _)| id).filter(move |id| is_said(*id));
    said.filter_map(move |id| {
        let other = last.replace(id)?;
        let fold = folds.fold(folds.of(id)?);
        // Later records of a message can come after the prompt that interrupted it.
        if fold.head != id || fold.again || session.record(id).voice != Voice::Answer {
            return None;
        }
        let above = tree.ancestors(id).skip(1).take(FURTHEST);
        let after = above.into_iter().find(|above| is_said(*above))?;
        let time = |id: NodeId| session.record(id).time;
        let is_between = time(after)? <= time(other)? && time(other)? <= time(id)?;
        let is_elsewhere = after < other && folds.of(after) != folds.of(other);
        let crosses = is_between && is_elsewhere && !is_below(history, other, after);
        crosses.then_some(Crossing { record: id, after, other })
    })
}

/// Whether a record is `top` or below it; also `true` if that is too far away to tell.
fn is_below(history: &History, record: NodeId, top: NodeId) -> bool {
    let mut above = history.tree.ancestors(record).take(FURTHEST);
    let mut steps = 0;
    let met = above.by_ref().inspect(|_| steps += 1).find(|id| *id <= top);
    met == Some(top) || steps == FURTHEST
}
