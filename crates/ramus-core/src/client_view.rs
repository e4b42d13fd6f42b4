//! A session as the client's own loader sees it, for choosing the resume point.
//!
//! The client identifies nodes by uuid, so of two records with the same uuid the later one wins and gets
//! the children of both. Compactions end its chains.

use rustc_hash::FxHashMap;

use crate::ids::RecordUuid;
use crate::preserved::{PreservedNodes, hiding_compaction};
use crate::record::{Record, RecordKind, RecordRole};
use crate::record_tree::RecordTree;
use crate::session::{NodeId, ResumePointer, Session, SessionNoteKind};

pub(crate) struct ClientView<'a> {
    pub(crate) session: &'a Session,
    pub(crate) tree: &'a RecordTree,
    /// The client version.
    pub(crate) version: (u32, u32, u32),
    pub(crate) preserved: PreservedNodes,
    hiding_compaction: Option<(NodeId, &'a [RecordUuid])>,
}

/// The state after scanning all pointers.
#[derive(Default)]
pub(crate) struct PointerState {
    pub(crate) last: Option<NodeId>,
    pub(crate) active: Option<ActivePointer>,
    /// The pointer record that a later compaction cancelled.
    pub(crate) voided: Option<NodeId>,
    pub(crate) cleared: bool,
}

/// A pointer, and whether it is still explicit.
pub(crate) struct ActivePointer {
    pub(crate) record: NodeId,
    pub(crate) uuid: RecordUuid,
    pub(crate) explicit: bool,
    pub(crate) was_explicit: bool,
}

impl<'a> ClientView<'a> {
    pub(crate) fn new(
        session: &'a Session,
        tree: &'a RecordTree,
        version: (u32, u32, u32),
    ) -> Self {
        let (preserved, hiding_compaction) =
            (PreservedNodes::new(session, tree), hiding_compaction(session));
        Self { session, tree, version, preserved, hiding_compaction }
    }

    /// Whether a record is a node of the main conversation to this client.
    pub(crate) fn is_node(&self, id: NodeId, record: &Record) -> bool {
        !record.sidechain && self.is_loaded(id, record)
    }

    fn is_loaded(&self, id: NodeId, record: &Record) -> bool {
        let known = match record.kind {
            // Progress was part of the chain for a while only.
            RecordKind::Progress => ((2, 1, 9)..=(2, 1, 84)).contains(&self.version),
            RecordKind::Attachment => self.version < (2, 1, 253) || !self.session.is_briefing(id),
            RecordKind::UnknownNode => false,
            kind => kind.is_node(),
        };
        known && !record.recovered && record.uuid.is_some()
    }

    /// Returns the nodes in file order, second copies of a record too.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (NodeId, &'a Record)> {
        self.session.nodes().filter(|(id, record)| self.is_node(*id, record))
    }

    pub(crate) fn last_node(&self) -> Option<NodeId> {
        self.nodes().last().map(|(id, _)| self.tree.first_copy(id))
    }

    /// Returns the one with the newest time, the first of equals.
    pub(crate) fn newest_of(&self, nodes: impl Iterator<Item = NodeId>) -> Option<NodeId> {
        let mut newest: Option<NodeId> = None;
        for id in nodes {
            let time = |id: NodeId| self.session.record(id).time;
            if newest.is_none_or(|newest| time(id) > time(newest)) {
                newest = Some(id);
            }
        }
        newest.map(|id| self.tree.first_copy(id))
    }

    /// Returns the nearest user or assistant record at or above a node.
    pub(crate) fn nearest_message(&self, node: NodeId) -> Option<NodeId> {
        self.chain_up(node).find(|id| {
            matches!(self.session.record(*id).kind, RecordKind::User | RecordKind::Assistant)
        })
    }

    /// Walks up to a root or a compaction, where the client stops (the compaction rule, R7).
    pub(crate) fn chain_up(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(node), move |id| {
            if self.session.record(*id).role == RecordRole::CompactBoundary {
                return None;
            }
            match self.preserved.compaction_keeping(*id, node) {
                Some(keeping) => {
                    let above = keeping.nodes.partition_point(|kept| kept < id).checked_sub(1);
                    Some(above.map_or(keeping.anchor, |above| keeping.nodes[above]))
                }
                None => self.tree.parent(*id),
            }
        })
    }

    /// Whether `below` is below `above`.
    pub(crate) fn is_below(&self, above: NodeId, below: NodeId) -> bool {
        self.chain_up(below).skip(1).any(|id| id == above)
    }

    /// Whether a compaction that preserves only some records hides this one.
    pub(crate) fn is_hidden(&self, node: NodeId) -> bool {
        let name = self.session.record(node).uuid;
        self.hiding_compaction.is_some_and(|(boundary, kept)| {
            node < boundary && !name.is_some_and(|name| kept.contains(&name))
        })
    }

    fn parent_uuid(record: &Record) -> Option<RecordUuid> {
        record.parent_uuid.filter(|_| record.role != RecordRole::CompactBoundary)
    }

    /// Returns the loaded nodes without children, one per uuid.
    pub(crate) fn leaves(&self) -> Vec<NodeId> {
        let mut by_name: FxHashMap<RecordUuid, NodeId> = FxHashMap::default();
        let loaded = || self.session.nodes().filter(|(id, record)| self.is_loaded(*id, record));
        for (id, record) in loaded() {
            if let Some(name) = record.uuid {
                by_name.entry(name).or_insert(id);
            }
        }
        for (_, record) in loaded() {
            if let Some(parent) = Self::parent_uuid(record) {
                by_name.remove(&parent);
            }
        }
        let mut leaves: Vec<NodeId> = by_name.into_values().collect();
        leaves.sort_unstable();
        leaves
    }

    /// Returns the newest node at or below a node, leaf or not.
    pub(crate) fn newest_below(&self, node: NodeId) -> NodeId {
        let name = self.session.record(node).uuid;
        if !self.nodes().any(|(_, record)| Self::parent_uuid(record) == name) {
            return node;
        }
        let mut children: FxHashMap<RecordUuid, Vec<NodeId>> = FxHashMap::default();
        for (id, record) in self.nodes() {
            if let Some(parent) = Self::parent_uuid(record) {
                children.entry(parent).or_default().push(id);
            }
        }
        let mut below = vec![node];
        let mut open: Vec<RecordUuid> = name.into_iter().collect();
        while let Some(name) = open.pop() {
            // Removed, so that a cycle of uuids ends.
            for child in children.remove(&name).unwrap_or_default() {
                below.push(child);
                open.extend(self.session.record(child).uuid);
            }
        }
        below.sort_unstable();
        self.newest_of(below.into_iter()).unwrap_or(node)
    }

    /// Scans the file as the client does and keeps the pointer that is in effect at its end.
    pub(crate) fn scan_pointers(&self) -> PointerState {
        let mut state = PointerState::default();
        let mut notes = self.session.notes().iter().peekable();
        for (id, record) in (0..).map(NodeId).zip(self.session.records()) {
            if self.is_node(id, record) {
                state.last = Some(self.tree.first_copy(id));
                state.cleared = false;
                if let Some(held) = &mut state.active {
                    held.explicit = false;
                }
                if record.role == RecordRole::CompactBoundary {
                    state.voided = state.active.take().map(|held| held.record).or(state.voided);
                }
            }
            while let Some(note) = notes.next_if(|note| note.record <= id) {
                if let SessionNoteKind::LastPrompt { pointer, explicit, .. } = note.kind {
                    state.apply_pointer(note.record, pointer, explicit);
                }
            }
        }
        state
    }
}

impl PointerState {
    fn apply_pointer(&mut self, record: NodeId, pointer: ResumePointer, explicit: bool) {
        match pointer {
            ResumePointer::Absent => {}
            ResumePointer::Cleared => self.cleared |= explicit,
            ResumePointer::At(name) => {
                // A plain pointer that repeats an explicit one leaves it explicit.
                let repeats =
                    self.active.as_ref().is_some_and(|held| held.explicit && held.uuid == name);
                let explicit = explicit || repeats;
                self.active =
                    Some(ActivePointer { record, uuid: name, explicit, was_explicit: explicit });
                self.cleared = false;
            }
        }
    }
}
