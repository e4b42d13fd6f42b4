//! The messages before and after a hit: its ancestors, and all that follow it.

use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::query::HitContext;
use ramus_core::session::NodeId;
use ramus_store::{Bodies, PathError};

use crate::message::message_summary;

/// Returns the messages that are at most `depth` messages away from a node.
pub(super) fn read_context(
    history: &History,
    bodies: &mut Bodies,
    node: NodeId,
    depth: usize,
) -> Result<HitContext, PathError> {
    let mut context = HitContext::default();
    let Some(fold) = history.folds.of(node) else { return Ok(context) };
    let folds = &history.folds;
    for above in folds.ancestors(fold).skip(1).filter(|fold| folds.speaks(*fold)).take(depth) {
        context.before.insert(0, message_summary(history, bodies, above)?);
    }
    let mut open: Vec<(FoldId, usize)> =
        folds.speaking_children(fold).map(|child| (child, 1)).collect();
    open.reverse();
    while let Some((below, level)) = open.pop() {
        if folds.fold(below).voice.speaks() {
            context.after.push(message_summary(history, bodies, below)?);
        }
        if level < depth {
            let mut next: Vec<_> =
                folds.speaking_children(below).map(|child| (child, level + 1)).collect();
            next.reverse();
            open.extend(next);
        }
    }
    Ok(context)
}
