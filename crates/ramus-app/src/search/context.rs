//! The messages before and after a hit: its ancestors, and all that follow it.

use ramus_core::history::History;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::query::HitContext;
use ramus_core::session::NodeId;
use ramus_store::{PathError, RecordReader};

use crate::message::message_summary;

/// Returns the messages that are at most `depth` messages away from a node.
pub(super) fn read_context(
    history: &History,
    bodies: &mut RecordReader,
    node: NodeId,
    depth: usize,
) -> Result<HitContext, PathError> {
    let mut context = HitContext::default();
    let Some(fold) = history.message_tree.message_of(node) else { return Ok(context) };
    let folds = &history.message_tree;
    for above in folds.ancestors(fold).skip(1).filter(|fold| folds.has_dialogue(*fold)).take(depth)
    {
        context.before.insert(0, message_summary(history, bodies, above)?);
    }
    let mut open: Vec<(MessageNodeId, usize)> =
        folds.dialogue_children(fold).map(|child| (child, 1)).collect();
    open.reverse();
    while let Some((below, level)) = open.pop() {
        if folds.message(below).role.is_dialogue() {
            context.after.push(message_summary(history, bodies, below)?);
        }
        if level < depth {
            let mut next: Vec<_> =
                folds.dialogue_children(below).map(|child| (child, level + 1)).collect();
            next.reverse();
            open.extend(next);
        }
    }
    Ok(context)
}
