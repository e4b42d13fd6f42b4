//! Orders records for a single chain.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::{FoldId, Folds};
use crate::history::History;
use crate::name::Key;
use crate::record::{Kind, Voice};
use crate::session::NodeId;

/// What is put on the line, or next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woven {
    Line(NodeId),
    /// Beside the chain: not every client knows such records.
    Beside(NodeId),
    /// A record of a sidechain.
    Side(NodeId),
    /// A result for a call that has none.
    Interrupted(NodeId, Key),
}

impl Woven {
    pub(super) fn node(self) -> NodeId {
        match self {
            Self::Line(node)
            | Self::Beside(node)
            | Self::Side(node)
            | Self::Interrupted(node, _) => node,
        }
    }
}

/// Records in the order they are woven in.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) rows: Vec<Woven>,
    /// Results without a call.
    pub(super) strays: u32,
}

/// Orders records of a path: message by message, calls before their results, nothing twice.
pub(super) fn woven(history: &History, nodes: &[NodeId]) -> Order {
    let History { session, folds, .. } = history;
    let mut sides: FxHashMap<Option<NodeId>, Vec<NodeId>> = FxHashMap::default();
    let mut main: Vec<NodeId> = Vec::new();
    for &node in nodes {
        if session.record(node).sidechain {
            sides.entry(main.last().copied()).or_default().push(node);
        } else if !folds.is_replay(node) {
            main.push(node);
        }
    }
    let mut order = Order::default();
    order.rows.extend(sides.remove(&None).into_iter().flatten().map(Woven::Side));
    for message in messages(folds, &main) {
        order.message(history, &message);
    }
    let rows = std::mem::take(&mut order.rows);
    for row in rows {
        order.rows.push(row);
        if let Woven::Line(node) = row {
            order.rows.extend(sides.remove(&Some(node)).into_iter().flatten().map(Woven::Side));
        }
    }
    order
}

/// Groups records by message; a chain may leave a message and return to it.
fn messages(folds: &Folds, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut places: FxHashMap<Option<FoldId>, usize> = FxHashMap::default();
    let mut messages: Vec<Vec<NodeId>> = Vec::new();
    for &node in nodes {
        let place = *places.entry(folds.of(node)).or_insert(messages.len());
        match messages.get_mut(place) {
            Some(message) => message.push(node),
            None => messages.push(vec![node]),
        }
    }
    // The end of a message may come first in the file.
    messages.iter_mut().for_each(|message| message.sort_unstable());
    messages
}

impl Order {
    /// Adds the records of one message with its results, or of one other node.
    fn message(&mut self, history: &History, nodes: &[NodeId]) {
        let session = &history.session;
        let is_result = |node: &&NodeId| session.record(**node).voice == Voice::ToolResult;
        let mut contents = FxHashSet::default();
        let mut open: Vec<(Key, NodeId)> = Vec::new();
        for &node in nodes.iter().filter(|node| !is_result(node)) {
            let record = session.record(node);
            if matches!(record.kind, Kind::Progress | Kind::UnknownNode | Kind::ToolUse) {
                self.rows.push(Woven::Beside(node));
                continue;
            }
            // Records of one message with the same content or the same call are one.
            if record.kind == Kind::Assistant
                && (!contents.insert(record.content)
                    || session.tool_ids(record).iter().any(|call| is_open(&open, call)))
            {
                continue;
            }
            self.rows.push(Woven::Line(node));
            if record.kind == Kind::Assistant {
                open.extend(session.tool_ids(record).iter().map(|call| (*call, node)));
            }
        }
        for &node in nodes.iter().filter(is_result) {
            let record = session.record(node);
            if record.kind == Kind::ToolResult {
                self.rows.push(Woven::Beside(node));
                continue;
            }
            let answered = session.tool_ids(record);
            if !answered.iter().any(|call| is_open(&open, call)) {
                self.strays += 1;
                continue;
            }
            open.retain(|(call, _)| !answered.contains(call));
            self.rows.push(Woven::Line(node));
        }
        self.rows.extend(open.into_iter().map(|(call, node)| Woven::Interrupted(node, call)));
    }
}

fn is_open(open: &[(Key, NodeId)], call: &Key) -> bool {
    open.iter().any(|(open, _)| open == call)
}
