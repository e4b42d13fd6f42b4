//! The point on a path that an address refers to.

use crate::history::{ConversationPath, History};
use crate::record::RecordRole;
use crate::session::NodeId;

/// A point on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPoint {
    /// The number of nodes of the path before it.
    pub cut: usize,
    /// The prompt that was sent at it. `None`: it is the point after a message.
    pub sent_prompt: Option<NodeId>,
}

/// Returns the point of a node on its path: before a prompt, after anything else.
///
/// A message includes the results of its tool calls. `None`: the node is not on the path.
pub fn path_point_of(
    history: &History,
    path: &ConversationPath,
    node: NodeId,
) -> Option<PathPoint> {
    let record = history.session.record(node);
    let message = history.message_tree.message_of(node)?;
    if matches!(record.role, RecordRole::Prompt | RecordRole::Command | RecordRole::QueuedPrompt) {
        let first = history.record_tree.first_copy(node);
        let cut = path.nodes.iter().position(|on_path| *on_path == first)?;
        return Some(PathPoint { cut, sent_prompt: Some(first) });
    }
    let Some(at) = path.messages.iter().position(|on_path| *on_path == message) else {
        // Decoration is not a message of the path.
        let first = history.record_tree.first_copy(node);
        let at = path.nodes.iter().position(|on_path| *on_path == first)?;
        return Some(PathPoint { cut: at + 1, sent_prompt: None });
    };
    let next = path.messages.get(at + 1).map(|next| history.message_tree.records_of(*next));
    let cut = next.and_then(|members| path.nodes.iter().position(|node| members.contains(node)));
    Some(PathPoint { cut: cut.unwrap_or(path.nodes.len()), sent_prompt: None })
}
