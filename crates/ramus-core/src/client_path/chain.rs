//! Which records the client loads.

use rustc_hash::{FxHashMap, FxHashSet};

use super::behavior::ClientBehavior;
use crate::client_view::ClientView;
use crate::history::History;
use crate::ids::{IdHash, RecordUuid};
use crate::record::{Record, RecordKind, RecordRole};
use crate::resume::version_numbers;
use crate::session::NodeId;

/// Returns the records that the client would load if it resumed at `point`, the first one first.
pub fn client_path(history: &History, point: NodeId) -> Vec<NodeId> {
    let client = ClientBehavior(version_numbers(&history.session));
    let chain = ClientChain { history, client, view: client_view(history, client) };
    let mut path = chain.walk_up(point);
    path.reverse();
    let path = chain.with_preserved(path);
    if !client.joins_parallel_calls() {
        return path;
    }
    chain.with_attachments(&chain.with_parallel_calls(path))
}

fn client_view(history: &History, client: ClientBehavior) -> ClientView<'_> {
    ClientView::new(&history.session, &history.record_tree, client.0)
}

struct ClientChain<'a> {
    history: &'a History,
    client: ClientBehavior,
    view: ClientView<'a>,
}

impl ClientChain<'_> {
    /// Walks up to a root or a compaction (the compaction rule, R7), by the links that this client follows.
    fn walk_up(&self, point: NodeId) -> Vec<NodeId> {
        let History { session, record_tree: tree, .. } = self.history;
        let mut path = Vec::new();
        let mut seen = FxHashSet::default();
        let mut at = Some(point);
        while let Some(node) = at.filter(|node| seen.insert(*node)) {
            let record = session.record(node);
            let is_loaded = self.view.is_node(node, record);
            if is_loaded {
                path.push(node);
            } else if !self.client.passes_unknown_records() {
                break;
            }
            if record.role == RecordRole::CompactBoundary {
                break;
            }
            if let Some(keeping) = self.view.preserved.compaction_keeping(node, point) {
                let above = keeping.nodes.iter().rev().filter(|kept| **kept < node);
                path.extend(above.filter(|kept| seen.insert(**kept)));
                at = Some(keeping.anchor);
                continue;
            }
            // What a compaction hides is not loaded on resume.
            let is_lost =
                |above: &NodeId| self.view.is_hidden(*above) && !self.view.is_hidden(point);
            let parent = tree.parent(node).filter(|above| !is_lost(above));
            at = parent.or_else(|| self.record_before(node, record));
        }
        path
    }

    /// Returns the record before one whose parent is lost, if this client version continues there.
    fn record_before(&self, node: NodeId, record: &Record) -> Option<NodeId> {
        record.parent_uuid.filter(|_| self.client.goes_on_before_lost_parents())?;
        let earlier = (0..node.0).rev().map(NodeId);
        let found = earlier
            .map(|id| (id, self.history.session.record(id)))
            .find(|(id, record)| self.view.is_node(*id, record));
        found.map(|(id, _)| self.history.record_tree.first_copy(id))
    }

    /// Inserts the messages that a compaction preserves after the record that it names.
    fn with_preserved(&self, path: Vec<NodeId>) -> Vec<NodeId> {
        let History { session, record_tree: tree, .. } = self.history;
        let Some(boundary) =
            path.first().filter(|id| session.record(**id).role == RecordRole::CompactBoundary)
        else {
            return path;
        };
        let kept = session.preserved_uuids().iter().find(|(at, _)| at == boundary);
        let Some((_, names)) = kept else { return path };
        let on_path: FxHashSet<NodeId> = path.iter().copied().collect();
        if on_path.iter().any(|node| node < boundary) {
            // The path runs through them.
            return path;
        }
        let mut anchor = *boundary;
        let mut kept: Vec<NodeId> = Vec::new();
        for node in names.iter().filter_map(|name| tree.node_by_uuid(session, *name)) {
            if on_path.contains(&node) {
                anchor = node;
            } else if !kept.contains(&node) {
                kept.push(node);
            }
        }
        kept.sort_unstable();
        let mut spliced = Vec::with_capacity(path.len() + kept.len());
        for node in path {
            spliced.push(node);
            if node == anchor {
                spliced.append(&mut kept);
            }
        }
        spliced
    }

    /// Inserts the calls of a message that are not on the path, and their results, next to the message.
    fn with_parallel_calls(&self, path: Vec<NodeId>) -> Vec<NodeId> {
        let session = &self.history.session;
        // A path may have a million records: what nearly all of them have is kept by their number.
        let mut on_path = vec![false; session.records().len()];
        path.iter().for_each(|node| on_path[node.index()] = true);
        // Records that are not on the path follow the last record of their message on the path.
        let mut last: FxHashMap<IdHash, NodeId> = FxHashMap::default();
        for &node in &path {
            if let Some(message) = self.message_id(node) {
                last.insert(message, node);
            }
        }
        let mut calls: FxHashMap<IdHash, Vec<NodeId>> = FxHashMap::default();
        let mut called: FxHashMap<RecordUuid, IdHash> = FxHashMap::default();
        let mut results: FxHashMap<IdHash, Vec<NodeId>> = FxHashMap::default();
        for (id, record) in self.view.nodes() {
            let node = self.history.record_tree.first_copy(id);
            if record.kind == RecordKind::Assistant
                && let Some(message) =
                    record.message_id.filter(|message| last.contains_key(message))
            {
                if let Some(name) = record.uuid {
                    called.insert(name, message);
                }
                if !on_path[node.index()] && !self.is_named_on_path(record, &on_path) {
                    calls.entry(message).or_default().push(node);
                }
            }
        }
        for (id, record) in self.view.nodes() {
            let above = record.parent_uuid.and_then(|parent| called.get(&parent)).copied();
            let is_beside = self.history.record_tree.is_first_copy(id) && !on_path[id.index()];
            let is_result =
                record.role == RecordRole::ToolResult || record.kind == RecordKind::Attachment;
            if is_beside
                && is_result
                && let Some(message) = above
            {
                results.entry(message).or_default().push(id);
                // Hook output about a result is below that result.
                called.extend(record.uuid.map(|name| (name, message)));
            }
        }
        let mut joined = Vec::with_capacity(path.len());
        for node in path {
            let first = self.message_id(node).filter(|message| last.get(message) == Some(&node));
            if let Some(message) = first {
                let mut whole = calls.remove(&message).unwrap_or_default();
                whole.push(node);
                whole.sort_unstable();
                joined.extend(whole);
                joined.extend(results.remove(&message).unwrap_or_default());
            } else {
                joined.push(node);
            }
        }
        joined
    }

    /// Whether a record on the path has the same name.
    fn is_named_on_path(&self, record: &Record, on_path: &[bool]) -> bool {
        let named = record
            .uuid
            .map(|name| self.history.record_tree.nodes_with(&self.history.session, name))
            .unwrap_or_default();
        named.iter().any(|node| on_path[node.index()])
    }

    /// Inserts attachments that are not on the path after the prompt or result they belong to.
    fn with_attachments(&self, path: &[NodeId]) -> Vec<NodeId> {
        let History { session, record_tree: tree, .. } = self.history;
        let mut taken: FxHashSet<NodeId> = path.iter().copied().collect();
        let mut joined = Vec::with_capacity(path.len());
        // What hangs below a summary comes behind the messages that are kept there.
        let mut anchor = None;
        for (at, &node) in path.iter().enumerate() {
            joined.push(node);
            let is_kept = |next: &NodeId, anchor: NodeId| {
                let kept = self.view.preserved.compaction_at(anchor);
                kept.is_some_and(|kept| kept.nodes.binary_search(next).is_ok())
            };
            let next = path.get(at + 1);
            let mut open = Vec::new();
            if session.record(node).kind == RecordKind::User {
                open.push(node);
            }
            if next.is_some_and(|next| is_kept(next, node)) {
                anchor = open.pop();
            } else if !next.zip(anchor).is_some_and(|(next, anchor)| is_kept(next, anchor)) {
                // The last one is examined first.
                open.extend(anchor.take());
                open.reverse();
            }
            while let Some(above) = open.pop() {
                for &below in tree.children(above) {
                    let record = session.record(below);
                    if record.kind == RecordKind::Attachment
                        && self.view.is_node(below, record)
                        && taken.insert(below)
                    {
                        joined.push(below);
                        open.push(below);
                    }
                }
            }
        }
        joined
    }

    fn message_id(&self, node: NodeId) -> Option<IdHash> {
        let record = self.history.session.record(node);
        record.message_id.filter(|_| record.kind == RecordKind::Assistant)
    }
}
