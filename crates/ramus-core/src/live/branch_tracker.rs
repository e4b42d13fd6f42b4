//! Determines which branch a followed session is on, record by record.
//!
//! The last records of the file are kept as a small session. Each new record is placed by the same rules
//! that read a whole file ([`message_tree`](crate::message_tree), R8; [`branches`](crate::branches), R9), with what is known at
//! that time. So a watcher sees the same fork points as a reader, and the cost depends only on the size of
//! the window.

use rustc_hash::FxHashSet;

use crate::branches::{ForkKind, classify_fork_point};
use crate::ids::RecordUuid;
use crate::message_tree::{MessageNodeId, MessageTree};
use crate::record::{Record, RecordRole};
use crate::record_tree::RecordTree;
use crate::session::{NodeId, Session};

/// The number of records remembered; the client attaches new ones to the last few.
pub(super) const WINDOW: usize = 512;

/// The effect of a record on the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TrackedRecord {
    /// It is a copy (R4, R8d).
    Copy,
    /// The conversation continues, possibly on another branch.
    Continues { followed: bool, switch: Option<BranchSwitch> },
}

/// The conversation switched to another branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchSwitch {
    pub kind: SwitchKind,
    /// The uuid of the record after which the branch begins; the parent, if nothing else is known.
    /// `None`: it is a new root.
    pub after: Option<String>,
    /// The text of the last prompt before that.
    pub prompt_text: Option<String>,
    /// The followed conversation was left, or continues again.
    pub leaves: bool,
    pub returns: bool,
}

/// The kind of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A new branch.
    New(ForkKind),
    /// An earlier branch continues.
    Back,
    /// A new root.
    Root,
    /// A new branch at a record outside the window.
    Beyond,
}

impl SwitchKind {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New(kind) => kind.as_str(),
            Self::Back => "back",
            Self::Root => "root",
            Self::Beyond => "beyond",
        }
    }
}

/// The most records kept: the oldest are dropped several at a time.
pub(super) const MAX_RECORDS: usize = WINDOW + 64;

#[derive(Clone, Debug, Default)]
pub(super) struct BranchTracker {
    /// The last records of the file, including those of sub-agents in the session's file.
    window: Session,
    /// The number of records dropped.
    forgotten: u64,
    /// The first record of the last dialogue message, by its number in the file.
    tip: Option<u64>,
    /// The end of the followed conversation; `None` inside: it has no message yet.
    followed: Option<Option<u64>>,
    /// The records before the file was rewritten, by uuid and content.
    shown: FxHashSet<(RecordUuid, u64)>,
}

/// The window, analysed.
struct ReadWindow<'a> {
    tracker: &'a BranchTracker,
    tree: RecordTree,
    message_tree: MessageTree,
}

impl BranchTracker {
    pub(super) fn follow_branch(&mut self, uuid: &str) -> bool {
        let read = self.read_window();
        let Some(node) = read.tree.node_by_uuid(&self.window, RecordUuid::new(uuid.as_bytes()))
        else {
            return false;
        };
        let mut end = read
            .message_tree
            .message_of(node)
            .and_then(|message| read.dialogue_at_or_above(message));
        // To the end of the conversation, along the first branches.
        while let Some(next) = end.and_then(|end| read.next_dialogue(end)) {
            end = Some(next);
        }
        self.followed = Some(end.map(|end| read.record_number(end)));
        true
    }

    pub(super) fn follow_latest(&mut self) {
        self.followed = Some(self.tip);
    }

    /// Whether the last message is not the end of the followed conversation.
    pub(super) fn has_left(&self) -> bool {
        self.followed.is_some_and(|end| end != self.tip)
    }

    /// Adds the next record of the main conversation, or of the sub-agent in its own file.
    pub(super) fn push_record(&mut self, session: &Session, id: NodeId) -> TrackedRecord {
        self.remember_record(session, id);
        let read = self.read_window();
        let node = NodeId(self.window.records().len() as u32 - 1);
        if read.is_copy(node) {
            return TrackedRecord::Copy;
        }
        let Some(message) = read.message_tree.message_of(node) else { return TrackedRecord::Copy };
        let above = read
            .message_tree
            .message(message)
            .parent
            .and_then(|parent| read.dialogue_at_or_above(parent));
        let above = above.filter(|_| !read.is_beyond(message));
        let says = read.message_tree.message(message).head == node
            && read.message_tree.message(message).role.is_dialogue();
        let number = read.record_number(message);
        let record_above = above.map(|above| read.record_number(above));
        let kind = if says { read.switch_kind(message, above) } else { None };
        // Without dialogue above, the branch begins at the fork point itself.
        let point = above.or_else(|| read.fork_above(message).map(|(point, _)| point));
        let after = point.and_then(|point| self.uuid_text(read.message_tree.message(point).head));
        let words = above.and_then(|above| read.prompt_text(above));
        let mut switch = None;
        if says {
            let was_followed = self.followed.is_some_and(|end| end == self.tip);
            let continues = self.followed.is_some_and(|end| end == record_above);
            if continues && kind.is_none_or(|kind| kind == SwitchKind::Back) {
                self.followed = Some(Some(number));
            }
            self.tip = Some(number);
            let parent =
                self.window.record(node).parent_uuid.map(|name| self.window.uuid_text(name));
            switch = kind.map(|kind| BranchSwitch {
                kind,
                after: after.or(parent),
                prompt_text: words,
                leaves: was_followed && !continues,
                returns: continues && !was_followed,
            });
        }
        let followed = match self.followed {
            None => true,
            Some(end) => end == Some(number) || end.is_some() && end == record_above,
        };
        let record = self.window.record(node);
        if record.uuid.is_some_and(|name| self.shown.contains(&(name, record.content_hash))) {
            return TrackedRecord::Copy;
        }
        TrackedRecord::Continues { followed, switch }
    }

    /// Restarts with a file that was rewritten; records that it already had are known by their uuid.
    pub(super) fn restart_rewritten(&mut self) {
        let window = std::mem::take(&mut self.window);
        if !window.records().is_empty() {
            let named = |record: &Record| Some((record.uuid?, record.content_hash));
            self.shown = window.records().iter().filter_map(named).collect();
        }
        (self.forgotten, self.tip) = (0, None);
        self.followed = self.followed.map(|_| None);
    }

    /// Adds records without reporting them. Returns for each whether it is a copy.
    pub(super) fn push_silently(&mut self, session: &Session, ids: &[NodeId]) -> Vec<bool> {
        for id in ids {
            self.remember_record(session, *id);
        }
        let read = self.read_window();
        let held = self.window.records().len();
        // Nothing depends on records that were dropped right away.
        let unknown = ids.len().saturating_sub(held);
        let start = held - (ids.len() - unknown);
        let mut copies = vec![false; unknown];
        let mut tip = self.tip;
        for node in (start as u32..held as u32).map(NodeId) {
            copies.push(read.is_copy(node));
            let message = read.message_tree.message_of(node).filter(|_| !read.is_copy(node));
            let Some(message) = message else { continue };
            let record = self.window.record(node);
            let is_main = !record.sidechain || read.is_agent();
            if is_main
                && read.message_tree.message(message).head == node
                && record.role.is_dialogue()
            {
                tip = Some(read.record_number(message));
            }
        }
        self.tip = tip;
        copies
    }

    /// Adds a record of a sub-agent in the session's file: others may be below it.
    pub(super) fn remember_record(&mut self, session: &Session, id: NodeId) {
        self.window.append_record(session, id);
        let held = self.window.records().len();
        if held > MAX_RECORDS {
            self.window = self.window.last_records(WINDOW);
            self.forgotten += (held - WINDOW) as u64;
        }
    }

    fn read_window(&self) -> ReadWindow<'_> {
        let tree = RecordTree::new(&self.window);
        let message_tree = MessageTree::new(&self.window, &tree);
        ReadWindow { tracker: self, tree, message_tree }
    }

    fn uuid_text(&self, node: NodeId) -> Option<String> {
        self.window.record(node).uuid.map(|name| self.window.uuid_text(name))
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.window.records().len()
    }
}

impl ReadWindow<'_> {
    /// Whether the record is a copy (R4, R8d).
    fn is_copy(&self, node: NodeId) -> bool {
        !self.tree.is_first_copy(node) || self.message_tree.is_replay(node)
    }

    /// Whether all records belong to one sub-agent.
    fn is_agent(&self) -> bool {
        self.tracker.window.records().iter().all(|record| record.sidechain)
    }

    /// Returns the number of a message's first record in the file.
    fn record_number(&self, message: MessageNodeId) -> u64 {
        self.tracker.forgotten + u64::from(self.message_tree.message(message).head.0)
    }

    /// Returns the last dialogue message at or above a message, on the same chain.
    fn dialogue_at_or_above(&self, message: MessageNodeId) -> Option<MessageNodeId> {
        let sidechain = self.message_tree.message(message).sidechain;
        let mut above =
            self.message_tree.ancestors(message).map(|id| (id, self.message_tree.message(id)));
        above
            .find(|(_, message)| message.sidechain == sidechain && message.role.is_dialogue())
            .map(|(id, _)| id)
    }

    /// Returns the first dialogue message right after a message.
    fn next_dialogue(&self, message: MessageNodeId) -> Option<MessageNodeId> {
        let mut at = self.message_tree.dialogue_children(message).next()?;
        while !self.message_tree.message(at).role.is_dialogue() {
            at = self.message_tree.dialogue_children(at).next()?;
        }
        Some(at)
    }

    /// Returns how the branch changes with a new message; `None`: it continues.
    fn switch_kind(
        &self,
        message: MessageNodeId,
        above: Option<MessageNodeId>,
    ) -> Option<SwitchKind> {
        // Its child was written first and already began the branch.
        if self.message_tree.dialogue_children(message).next().is_some() {
            return None;
        }
        if self.is_beyond(message) {
            // It follows the last message, which is no longer in the window.
            return self
                .tracker
                .tip
                .filter(|tip| *tip >= self.tracker.forgotten)
                .map(|_| SwitchKind::Beyond);
        }
        if let Some((_, branches)) = self.fork_above(message) {
            return Some(SwitchKind::New(classify_fork_point(
                &self.tracker.window,
                &self.message_tree,
                &branches,
            )));
        }
        let tip = self.tracker.tip?;
        let Some(above) = above else { return Some(self.root_switch(message)) };
        // The last message may have been grouped differently since.
        let last = tip.checked_sub(self.tracker.forgotten);
        let last =
            last.and_then(|last| self.message_tree.message_of(NodeId(u32::try_from(last).ok()?)));
        let continues = self.record_number(above) == tip || last == Some(above);
        (!continues).then_some(SwitchKind::Back)
    }

    /// Returns the fork point above a message and its branches; `None`: there is none.
    fn fork_above(&self, message: MessageNodeId) -> Option<(MessageNodeId, Vec<MessageNodeId>)> {
        let sidechain = self.message_tree.message(message).sidechain;
        for above in self.message_tree.ancestors(message).skip(1) {
            if self.message_tree.message(above).sidechain != sidechain {
                return None;
            }
            let branches: Vec<MessageNodeId> = self.message_tree.dialogue_children(above).collect();
            if branches.len() > 1 {
                return Some((above, branches));
            }
            if self.message_tree.message(above).role.is_dialogue() {
                return None;
            }
        }
        None
    }

    /// Returns the kind of a message without dialogue above it.
    fn root_switch(&self, message: MessageNodeId) -> SwitchKind {
        let root = self.message_tree.ancestors(message).last().unwrap_or(message);
        let head = self.message_tree.message(root).head;
        let record = self.tracker.window.record(head);
        if record.parent_uuid.is_some() { SwitchKind::Beyond } else { SwitchKind::Root }
    }

    /// Whether the chain of a message leads to a dropped record without dialogue in between. The window alone
    /// would treat that parent as missing from the file.
    fn is_beyond(&self, message: MessageNodeId) -> bool {
        let is_lost = |id: MessageNodeId| {
            let message = self.message_tree.message(id);
            let is_compaction =
                matches!(message.role, RecordRole::CompactBoundary | RecordRole::CompactSummary);
            let has_parent = self.tracker.window.record(message.head).parent_uuid.is_some();
            has_parent && self.tree.parent(message.head).is_none() && !is_compaction
        };
        let speaks = |id: &MessageNodeId| {
            *id != message && self.message_tree.message(*id).role.is_dialogue()
        };
        self.tracker.forgotten > 0
            && self.message_tree.ancestors(message).take_while(|id| !speaks(id)).any(is_lost)
    }

    /// Returns the text of the last prompt at or above a message.
    fn prompt_text(&self, from: MessageNodeId) -> Option<String> {
        let mut above = self.message_tree.ancestors(from).map(|id| self.message_tree.message(id));
        let prompt = above.find(|message| message.role == RecordRole::Prompt)?;
        self.tracker.window.preview_text(prompt.head).map(str::to_owned)
    }
}
