//! The point on a path that an address refers to.

use crate::history::{History, Path};
use crate::record::Voice;
use crate::session::NodeId;

/// A point on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of nodes of the path before it.
    pub cut: usize,
    /// The prompt that was sent at it. `None`: it is the point after a message.
    pub sent: Option<NodeId>,
}

/// Returns the point of a node on its path: before a prompt, after anything else.
///
/// A message includes the results of its tool calls. `None`: the node is not on the path.
pub fn moment(history: &History, path: &Path, node: NodeId) -> Option<Moment> {
    let record = history.session.record(node);
    let fold = history.folds.of(node)?;
    if matches!(record.voice, Voice::Prompt | Voice::Command | Voice::Queued) {
        let first = history.tree.first(node);
        let cut = path.nodes.iter().position(|on_path| *on_path == first)?;
        return Some(Moment { cut, sent: Some(first) });
    }
    let Some(at) = path.folds.iter().position(|on_path| *on_path == fold) else {
        // Decoration is not a message of the path.
        let first = history.tree.first(node);
        let at = path.nodes.iter().position(|on_path| *on_path == first)?;
        return Some(Moment { cut: at + 1, sent: None });
    };
    let next = path.folds.get(at + 1).map(|next| history.folds.members(*next));
    let cut = next.and_then(|members| path.nodes.iter().position(|node| members.contains(node)));
    Some(Moment { cut: cut.unwrap_or(path.nodes.len()), sent: None })
}
