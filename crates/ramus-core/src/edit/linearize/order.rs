//! Orders records for a single chain.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::History;
use crate::ids::IdHash;
use crate::message_tree::{MessageNodeId, MessageTree};
use crate::record::{RecordKind, RecordRole};
use crate::session::NodeId;

/// What is put on the line, or next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderedRecord {
    Chain(NodeId),
    /// Beside the chain: not every client knows such records.
    Beside(NodeId),
    /// A record of a sidechain.
    Sidechain(NodeId),
    /// A result for a call that has none.
    InterruptedCall(NodeId, IdHash),
}

impl OrderedRecord {
    pub(super) fn node(self) -> NodeId {
        match self {
            Self::Chain(node)
            | Self::Beside(node)
            | Self::Sidechain(node)
            | Self::InterruptedCall(node, _) => node,
        }
    }
}

/// Records in the order in which they are linearized.
#[derive(Debug, Default)]
pub(super) struct ChainOrder {
    pub(super) rows: Vec<OrderedRecord>,
    /// Results without a call.
    pub(super) strays: u32,
}

/// Orders records of a path: message by message, calls before their results, nothing twice.
pub(super) fn order_records(history: &History, nodes: &[NodeId]) -> ChainOrder {
    let History { session, message_tree, .. } = history;
    let mut sides: FxHashMap<Option<NodeId>, Vec<NodeId>> = FxHashMap::default();
    let mut main: Vec<NodeId> = Vec::new();
    for &node in nodes {
        if session.record(node).sidechain {
            sides.entry(main.last().copied()).or_default().push(node);
        } else if !message_tree.is_replay(node) {
            main.push(node);
        }
    }
    let mut order = ChainOrder::default();
    order.rows.extend(sides.remove(&None).into_iter().flatten().map(OrderedRecord::Sidechain));
    for message in group_by_message(message_tree, &main) {
        order.add_message(history, &message);
    }
    let rows = std::mem::take(&mut order.rows);
    for row in rows {
        order.rows.push(row);
        if let OrderedRecord::Chain(node) = row {
            order.rows.extend(
                sides.remove(&Some(node)).into_iter().flatten().map(OrderedRecord::Sidechain),
            );
        }
    }
    order
}

/// Groups records by message; a chain may leave a message and return to it.
fn group_by_message(message_tree: &MessageTree, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut places: FxHashMap<Option<MessageNodeId>, usize> = FxHashMap::default();
    let mut messages: Vec<Vec<NodeId>> = Vec::new();
    for &node in nodes {
        let place = *places.entry(message_tree.message_of(node)).or_insert(messages.len());
        match messages.get_mut(place) {
            Some(message) => message.push(node),
            None => messages.push(vec![node]),
        }
    }
    // The end of a message may come first in the file.
    messages.iter_mut().for_each(|message| message.sort_unstable());
    messages
}

impl ChainOrder {
    /// Adds the records of one message with its results, or of one other node.
    fn add_message(&mut self, history: &History, nodes: &[NodeId]) {
        let session = &history.session;
        let is_result = |node: &&NodeId| session.record(**node).role == RecordRole::ToolResult;
        let mut contents = FxHashSet::default();
        let mut open: Vec<(IdHash, NodeId)> = Vec::new();
        for &node in nodes.iter().filter(|node| !is_result(node)) {
            let record = session.record(node);
            if matches!(
                record.kind,
                RecordKind::Progress | RecordKind::UnknownNode | RecordKind::ToolUse
            ) {
                self.rows.push(OrderedRecord::Beside(node));
                continue;
            }
            // Records of one message with the same content or the same call are one.
            if record.kind == RecordKind::Assistant
                && (!contents.insert(record.content_hash)
                    || session.tool_ids(record).iter().any(|call| is_open(&open, call)))
            {
                continue;
            }
            self.rows.push(OrderedRecord::Chain(node));
            if record.kind == RecordKind::Assistant {
                open.extend(session.tool_ids(record).iter().map(|call| (*call, node)));
            }
        }
        for &node in nodes.iter().filter(is_result) {
            let record = session.record(node);
            if record.kind == RecordKind::ToolResult {
                self.rows.push(OrderedRecord::Beside(node));
                continue;
            }
            let answered = session.tool_ids(record);
            if !answered.iter().any(|call| is_open(&open, call)) {
                self.strays += 1;
                continue;
            }
            open.retain(|(call, _)| !answered.contains(call));
            self.rows.push(OrderedRecord::Chain(node));
        }
        self.rows.extend(
            open.into_iter().map(|(call, node)| OrderedRecord::InterruptedCall(node, call)),
        );
    }
}

fn is_open(open: &[(IdHash, NodeId)], call: &IdHash) -> bool {
    open.iter().any(|(open, _)| open == call)
}
