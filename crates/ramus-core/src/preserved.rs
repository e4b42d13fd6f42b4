//! The messages that compactions preserve, and where the client puts them (the compaction rule, R7).
//!
//! A compaction may name messages that stay visible. The client puts them after the summary, so what
//! is later written below such a message continues the compaction, although the links of the file lead
//! to the records before it.

use rustc_hash::FxHashMap;

use crate::ids::RecordUuid;
use crate::record::RecordRole;
use crate::record_tree::RecordTree;
use crate::session::{NodeId, Session};

/// A compaction and the messages that it preserves.
#[derive(Debug)]
pub(crate) struct PreservingCompaction {
    pub(crate) boundary: NodeId,
    /// The record after which the messages are put.
    pub(crate) anchor: NodeId,
    /// Records before it in the file, in file order.
    pub(crate) nodes: Vec<NodeId>,
}

/// Returns the compaction before which the client sees nothing but the messages it names.
///
/// Without one that keeps messages, everything stays within reach. With one, the client forgets what
/// stands before the last compaction of any kind; if that one keeps nothing, so does it.
pub(crate) fn hiding_compaction(session: &Session) -> Option<(NodeId, &[RecordUuid])> {
    let (keeping, names) = session.preserved_uuids().last()?;
    let boundaries =
        session.nodes().filter(|(_, record)| record.role == RecordRole::CompactBoundary);
    let last = boundaries.map(|(id, _)| id).last()?;
    Some((last, if last == *keeping { names } else { &[] }))
}

/// The compactions of a session that preserve messages.
#[derive(Debug, Default)]
pub(crate) struct PreservedNodes {
    compactions: Vec<PreservingCompaction>,
    /// By preserved node, in file order.
    by_node: FxHashMap<NodeId, Vec<usize>>,
    /// By the record that they put messages behind.
    by_anchor: FxHashMap<NodeId, usize>,
}

impl PreservedNodes {
    pub(crate) fn new(session: &Session, tree: &RecordTree) -> Self {
        let mut kept = Self::default();
        for (boundary, names) in session.preserved_uuids() {
            let named = names.iter().filter_map(|name| tree.node_by_uuid(session, *name));
            let (mut nodes, behind): (Vec<NodeId>, Vec<NodeId>) =
                named.partition(|node| node < boundary);
            nodes.sort_unstable();
            nodes.dedup();
            let anchor = behind.into_iter().min().unwrap_or(*boundary);
            for &node in &nodes {
                kept.by_node.entry(node).or_default().push(kept.compactions.len());
            }
            kept.by_anchor.insert(anchor, kept.compactions.len());
            kept.compactions.push(PreservingCompaction { boundary: *boundary, anchor, nodes });
        }
        kept
    }

    /// Returns the compaction that puts messages behind a record.
    pub(crate) fn compaction_at(&self, anchor: NodeId) -> Option<&PreservingCompaction> {
        self.by_anchor.get(&anchor).map(|at| &self.compactions[*at])
    }

    /// Returns the last compaction before `from` that preserves a node.
    pub(crate) fn compaction_keeping(
        &self,
        node: NodeId,
        from: NodeId,
    ) -> Option<&PreservingCompaction> {
        let compactions = self.by_node.get(&node)?.iter().rev().map(|at| &self.compactions[*at]);
        compactions.into_iter().find(|compaction| compaction.boundary < from)
    }
}
