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
    let Some(message_id) = history.message_tree.message_of(node) else { return Ok(context) };
    let messages = &history.message_tree;
    for above in messages.ancestors(message_id).skip(1).filter(|it| messages.has_dialogue(*it)) {
        if context.before.len() == depth {
            break;
        }
        let summary = message_summary(history, bodies, above)?;
        // A message without text explains nothing about the hit.
        if !summary.text.trim().is_empty() {
            context.before.insert(0, summary);
        }
    }
    let mut open: Vec<(MessageNodeId, usize)> =
        messages.dialogue_children(message_id).map(|child| (child, 1)).collect();
    open.reverse();
    while let Some((below, level)) = open.pop() {
        // What is not shown is no distance.
        let mut next_level = level;
        if messages.message(below).role.is_dialogue() {
            let summary = message_summary(history, bodies, below)?;
            if !summary.text.trim().is_empty() {
                context.after.push(summary);
                next_level += 1;
            }
        }
        if next_level <= depth {
            let mut next: Vec<_> =
                messages.dialogue_children(below).map(|child| (child, next_level)).collect();
            next.reverse();
            open.extend(next);
        }
    }
    Ok(context)
}
