//! What compactions keep of the messages before them, and where the client puts it.
//!
//! A compaction may name messages that go on to be seen. The client puts them behind the summary, so
//! what is written below such a message later continues the compaction, although the links of the file
//! lead to what stood before it.

use rustc_hash::FxHashMap;

use crate::session::{NodeId, Session};
use crate::tree::Tree;

/// A compaction and what it keeps.
#[derive(Debug)]
pub(crate) struct Keeping {
    pub(crate) boundary: NodeId,
    /// The record that the messages are put behind.
    pub(crate) anchor: NodeId,
    /// Records that stand before it in the file, in file order.
    pub(crate) nodes: Vec<NodeId>,
}

/// The compactions of a session that keep messages.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    compactions: Vec<Keeping>,
    /// By what they keep, the first one first.
    by_node: FxHashMap<NodeId, Vec<usize>>,
}

impl Kept {
    pub(crate) fn new(session: &Session, tree: &Tree) -> Self {
        let mut kept = Self::default();
        for (boundary, names) in session.preserved() {
            let named = names.iter().filter_map(|name| tree.find(*name));
            let (mut nodes, behind): (Vec<NodeId>, Vec<NodeId>) =
                named.partition(|node| node < boundary);
            nodes.sort_unstable();
            nodes.dedup();
            let anchor = behind.into_iter().min().unwrap_or(*boundary);
            for &node in &nodes {
                kept.by_node.entry(node).or_default().push(kept.compactions.len());
            }
            kept.compactions.push(Keeping { boundary: *boundary, anchor, nodes });
        }
        kept
    }

    /// Returns the last compaction before `from` that keeps a node.
    pub(crate) fn by(&self, node: NodeId, from: NodeId) -> Option<&Keeping> {
        let compactions = self.by_node.get(&node)?.iter().rev().map(|at| &self.compactions[*at]);
        compactions.into_iter().find(|compaction| compaction.boundary < from)
    }
}
