//! Which records the client loads.

use rustc_hash::{FxHashMap, FxHashSet};

use super::sent::Client;
use crate::history::History;
use crate::loader::Loader;
use crate::name::{Key, Name};
use crate::record::{Kind, Record, Voice};
use crate::resume::numbers;
use crate::session::NodeId;

/// Returns the records that the client would load if it resumed at `point`, the first one first.
pub fn client_path(history: &History, point: NodeId) -> Vec<NodeId> {
    let client = Client(numbers(&history.session));
    let chain = Chain { history, client, loader: loader(history, client) };
    let mut path = chain.up(point);
    path.reverse();
    let path = chain.with_preserved(path);
    if !client.joins_parallel_calls() {
        return path;
    }
    chain.with_attachments(&chain.with_parallel_calls(path))
}

fn loader(history: &History, client: Client) -> Loader<'_> {
    Loader::new(&history.session, &history.tree, client.0)
}

struct Chain<'a> {
    history: &'a History,
    client: Client,
    loader: Loader<'a>,
}

impl Chain<'_> {
    /// Walks up to a root or a compaction, by the links that this client follows.
    fn up(&self, point: NodeId) -> Vec<NodeId> {
        let History { session, tree, .. } = self.history;
        let mut path = Vec::new();
        let mut seen = FxHashSet::default();
        let mut at = Some(point);
        while let Some(node) = at.filter(|node| seen.insert(*node)) {
            let record = session.record(node);
            let is_loaded = self.loader.is_node(node, record);
            if is_loaded {
                path.push(node);
            } else if !self.client.passes_unknown_records() {
                break;
            }
            if record.voice == Voice::Boundary {
                break;
            }
            if let Some(keeping) = self.loader.kept.by(node, point) {
                let above = keeping.nodes.iter().rev().filter(|kept| **kept < node);
                path.extend(above.filter(|kept| seen.insert(**kept)));
                at = Some(keeping.anchor);
                continue;
            }
            // What a compaction hides is lost to who resumes behind it.
            let is_lost =
                |above: &NodeId| self.loader.is_hidden(*above) && !self.loader.is_hidden(point);
            let parent = tree.parent(node).filter(|above| !is_lost(above));
            at = parent.or_else(|| self.before(node, record));
        }
        path
    }

    /// Returns the record before one whose parent is lost, if this client version continues there.
    fn before(&self, node: NodeId, record: &Record) -> Option<NodeId> {
        record.parent.filter(|_| self.client.goes_on_before_lost_parents())?;
        let earlier = (0..node.0).rev().map(NodeId);
        let found = earlier
            .map(|id| (id, self.history.session.record(id)))
            .find(|(id, record)| self.loader.is_node(*id, record));
        found.map(|(id, _)| self.history.tree.first(id))
    }

    /// Inserts the messages that a compaction preserves after the record that it names.
    fn with_preserved(&self, path: Vec<NodeId>) -> Vec<NodeId> {
        let History { session, tree, .. } = self.history;
        let Some(boundary) =
            path.first().filter(|id| session.record(**id).voice == Voice::Boundary)
        else {
            return path;
        };
        let kept = session.preserved().iter().find(|(at, _)| at == boundary);
        let Some((_, names)) = kept else { return path };
        let on_path: FxHashSet<NodeId> = path.iter().copied().collect();
        if on_path.iter().any(|node| node < boundary) {
            // The path runs through them.
            return path;
        }
        let mut anchor = *boundary;
        let mut kept: Vec<NodeId> = Vec::new();
        for node in names.iter().filter_map(|name| tree.find(*name)) {
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

    /// Inserts the calls of a message that are beside the path, and their results, next to the message.
    fn with_parallel_calls(&self, path: Vec<NodeId>) -> Vec<NodeId> {
        let session = &self.history.session;
        // A path may have a million records: what nearly all of them have is kept by their number.
        let mut on_path = vec![false; session.records().len()];
        path.iter().for_each(|node| on_path[node.index()] = true);
        // What is beside the path follows the last record of its message on the path.
        let mut last: FxHashMap<Key, NodeId> = FxHashMap::default();
        for &node in &path {
            if let Some(message) = self.message(node) {
                last.insert(message, node);
            }
        }
        let mut calls: FxHashMap<Key, Vec<NodeId>> = FxHashMap::default();
        let mut called: FxHashMap<Name, Key> = FxHashMap::default();
        let mut results: FxHashMap<Key, Vec<NodeId>> = FxHashMap::default();
        for (id, record) in self.loader.nodes() {
            let node = self.history.tree.first(id);
            if record.kind == Kind::Assistant
                && let Some(message) = record.message.filter(|message| last.contains_key(message))
            {
                if let Some(name) = record.name {
                    called.insert(name, message);
                }
                if !on_path[node.index()] && !self.is_named_on_path(record, &on_path) {
                    calls.entry(message).or_default().push(node);
                }
            }
        }
        for (id, record) in self.loader.nodes() {
            let above = record.parent.and_then(|parent| called.get(&parent)).copied();
            let is_beside = self.history.tree.is_first(id) && !on_path[id.index()];
            let is_result = record.voice == Voice::ToolResult || record.kind == Kind::Attachment;
            if is_beside
                && is_result
                && let Some(message) = above
            {
                results.entry(message).or_default().push(id);
                // Hook output about a result is below that result.
                called.extend(record.name.map(|name| (name, message)));
            }
        }
        let mut joined = Vec::with_capacity(path.len());
        for node in path {
            let first = self.message(node).filter(|message| last.get(message) == Some(&node));
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
        let named = record.name.map(|name| self.history.tree.bearers(name)).unwrap_or_default();
        named.iter().any(|node| on_path[node.index()])
    }

    /// Inserts attachments that are beside the path after the prompt or result they belong to.
    fn with_attachments(&self, path: &[NodeId]) -> Vec<NodeId> {
        let History { session, tree, .. } = self.history;
        let mut taken: FxHashSet<NodeId> = path.iter().copied().collect();
        let mut joined = Vec::with_capacity(path.len());
        // What hangs below a summary comes behind the messages that are kept there.
        let mut anchor = None;
        for (at, &node) in path.iter().enumerate() {
            joined.push(node);
            let is_kept = |next: &NodeId, anchor: NodeId| {
                let kept = self.loader.kept.behind(anchor);
                kept.is_some_and(|kept| kept.nodes.binary_search(next).is_ok())
            };
            let next = path.get(at + 1);
            let mut open = Vec::new();
            if session.record(node).kind == Kind::User {
                open.push(node);
            }
            if next.is_some_and(|next| is_kept(next, node)) {
                anchor = open.pop();
            } else if !next.zip(anchor).is_some_and(|(next, anchor)| is_kept(next, anchor)) {
                // The last one of these is the first to be looked at.
                open.extend(anchor.take());
                open.reverse();
            }
            while let Some(above) = open.pop() {
                for &below in tree.children(above) {
                    let record = session.record(below);
                    if record.kind == Kind::Attachment
                        && self.loader.is_node(below, record)
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

    fn message(&self, node: NodeId) -> Option<Key> {
        let record = self.history.session.record(node);
        record.message.filter(|_| record.kind == Kind::Assistant)
    }
}
