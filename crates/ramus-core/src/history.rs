//! One session, fully analysed: records, links, messages and branches.

use bitcode::{Decode, Encode};
use std::ops::Range;
use std::sync::OnceLock;

use crate::body::RecordBody;
use crate::branches::{Conversation, MainChain, SessionBranches};
use crate::characters::is_visible;
use crate::client_path::{ResumeNote, ResumeNotes, resume_notes};
use crate::files::CheckpointHistory;
use crate::ids::{RecordUuid, ShortUuids};
use crate::message_tree::{MessageNodeId, MessageTree};
use crate::record::{RecordKind, RecordRole};
use crate::record_tree::RecordTree;
use crate::resume::ResumeRule;
use crate::session::{NodeId, Session, SessionNoteKind};

/// A session with everything that follows from its records.
#[derive(Clone, Debug)]
pub struct History {
    pub session: Session,
    pub record_tree: RecordTree,
    pub message_tree: MessageTree,
    pub branches: SessionBranches,
    /// Computed when the session is read.
    resume_notes: OnceLock<ResumeNotes>,
    /// Made when the first uuid is shortened.
    short_uuids: OnceLock<ShortUuids>,
    /// Read when files are first asked for.
    checkpoints: OnceLock<CheckpointHistory>,
}

impl History {
    /// Analyses a session; `rule` determines how to choose its resume point (R11).
    pub fn new(session: Session, rule: ResumeRule) -> Self {
        let record_tree = RecordTree::new(&session);
        let message_tree = MessageTree::new(&session, &record_tree);
        let branches = SessionBranches::new(&session, &record_tree, &message_tree, rule);
        Self {
            session,
            record_tree,
            message_tree,
            branches,
            resume_notes: OnceLock::new(),
            short_uuids: OnceLock::new(),
            checkpoints: OnceLock::new(),
        }
    }

    /// Returns the note before a message at which the client resumes with fewer messages.
    pub fn resume_note(&self, before: MessageNodeId) -> Option<ResumeNote> {
        self.resume_notes.get_or_init(|| resume_notes(self)).before.get(&before).copied()
    }

    /// Returns the note after the last message of a path in the same case.
    pub fn resume_note_after(&self, last: MessageNodeId) -> Option<ResumeNote> {
        let note = self.resume_notes.get_or_init(|| resume_notes(self)).after;
        note.filter(|(message, _)| *message == last).map(|(_, note)| note)
    }

    /// Returns the checkpoints of the session; `bodies` reads their records the first time.
    pub(crate) fn checkpoints(
        &self,
        bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    ) -> &CheckpointHistory {
        self.checkpoints.get_or_init(|| CheckpointHistory::from_records(&self.session, bodies))
    }

    /// Returns the path of a conversation, including the records after its last message (R13).
    pub fn conversation_path(&self, conversation: &Conversation) -> ConversationPath {
        self.path_to_message(conversation.end)
    }

    /// Returns the path from the root to a node, with its complete message.
    ///
    /// `None`: the record is metadata and is on no path.
    pub fn path_to(&self, node: NodeId) -> Option<ConversationPath> {
        self.message_tree.message_of(node).map(|message| self.path_to_message(message))
    }

    fn path_to_message(&self, end: MessageNodeId) -> ConversationPath {
        let lane = self.message_tree.message(end).sidechain;
        let mut messages: Vec<MessageNodeId> = self
            .message_tree
            .ancestors(end)
            .take_while(|message| self.message_tree.message(*message).sidechain == lane)
            .collect();
        messages.reverse();
        let nodes = self.nodes_along(&messages, 0..messages.len());
        ConversationPath { messages, nodes }
    }

    /// Returns a slice of a path: a range of its messages with their records.
    ///
    /// Showing one screen of a long path needs no more of it.
    pub fn slice_path(&self, path: &ConversationPath, range: Range<usize>) -> ConversationPath {
        ConversationPath {
            messages: path.messages[range.clone()].to_vec(),
            nodes: self.nodes_along(&path.messages, range),
        }
    }

    /// Returns the records of a range of messages with their decoration, message by message.
    fn nodes_along(&self, path: &[MessageNodeId], range: Range<usize>) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for index in range {
            let (message, next) = (path[index], path.get(index + 1));
            let start = nodes.len();
            nodes.extend_from_slice(self.message_tree.records_of(message));
            // Of all children only the next message can be on the path.
            let mut open: Vec<MessageNodeId> = self
                .message_tree
                .decoration_children(message)
                .filter(|child| Some(child) != next)
                .collect();
            while let Some(quiet) = open.pop() {
                nodes.extend_from_slice(self.message_tree.records_of(quiet));
                open.extend(self.message_tree.decoration_children(quiet));
            }
            nodes[start..].sort_unstable();
        }
        nodes
    }

    /// Splits a path after each fork point, for [`slice_path`](Self::slice_path).
    ///
    /// Paths of one session with the same beginning share these slices, so what is computed for a slice can
    /// be reused for another path.
    pub fn split_at_forks(&self, path: &ConversationPath) -> Vec<Range<usize>> {
        let pieces =
            path.messages.split_inclusive(|message| self.branches.fork_at(*message).is_some());
        let mut start = 0;
        let piece = |messages: &[MessageNodeId]| {
            let range = start..start + messages.len();
            start = range.end;
            range
        };
        pieces.map(piece).collect()
    }

    /// Splits a path into blocks of about `size` messages that can be rendered independently.
    ///
    /// A block ends after a fork point, or before a prompt or a reply, so that what belongs together, such as
    /// a command and its output, stays together.
    pub fn split_into_blocks(&self, path: &ConversationPath, size: usize) -> Vec<ConversationPath> {
        let mut blocks = Vec::new();
        let mut from = 0;
        for (at, message) in path.messages.iter().enumerate() {
            let opens = matches!(
                self.message_tree.message(*message).role,
                RecordRole::Prompt | RecordRole::Reply
            );
            let forks = at > from && self.branches.fork_at(path.messages[at - 1]).is_some();
            if forks || opens && at - from >= size.max(1) {
                blocks.push(self.slice_path(path, from..at));
                from = at;
            }
        }
        if from < path.messages.len() {
            blocks.push(self.slice_path(path, from..path.messages.len()));
        }
        blocks
    }

    /// Returns the conversation that contains a node: the active one if there are several.
    pub fn conversation_of(&self, node: NodeId) -> Option<&Conversation> {
        self.branches.conversation_at(&self.message_tree, self.message_tree.message_of(node)?)
    }

    /// Whether the uuid of a node leads to another version of it, which is another message (R4).
    pub fn is_hidden(&self, node: NodeId) -> bool {
        let named = self.session.record(node).uuid.and_then(|name| self.node_by_uuid(name));
        named.is_some_and(|named| {
            self.message_tree.message_of(named) != self.message_tree.message_of(node)
        })
    }

    /// Returns the address of a node within its session: its uuid, or `@` and the number of its conversation
    /// if the uuid leads elsewhere. Empty: it has no address.
    pub fn node_address(&self, node: NodeId) -> String {
        if self.is_hidden(node)
            && let Some(conversation) = self.conversation_of(node)
        {
            return format!("@{}", conversation.number);
        }
        let name = self.session.record(node).uuid;
        name.map_or_else(String::new, |name| self.session.uuid_text(name))
    }

    /// Returns the last node with that uuid, as the client's loader would.
    pub fn node_by_uuid(&self, name: RecordUuid) -> Option<NodeId> {
        self.record_tree.node_by_uuid(&self.session, name)
    }

    /// Returns the start of a record's uuid that means no other record of the session.
    pub fn short_uuid<'a>(&self, uuid: &'a str) -> &'a str {
        let names = || self.session.nodes().filter_map(|(_, record)| record.uuid);
        self.short_uuids.get_or_init(|| ShortUuids::new(names())).short(uuid)
    }

    /// Finds the node at such an address.
    pub fn node_at(&self, place: &str) -> Option<NodeId> {
        match place.strip_prefix('@').and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => self
                .branches
                .conversations
                .iter()
                .find(|found| found.number == n)
                .map(|found| found.leaf),
            None => self.node_by_uuid(RecordUuid::new(place.as_bytes())),
        }
    }

    /// Returns the last dialogue below a node.
    pub fn last_below(&self, node: NodeId) -> NodeId {
        let tree = &self.message_tree;
        let down = std::iter::successors(tree.message_of(node), |message| {
            tree.dialogue_children(*message).last()
        });
        down.last().map_or(node, |message| tree.message(message).head)
    }

    /// Returns the first prompt of a conversation since the fork it was left at.
    pub fn first_prompt(&self, conversation: &Conversation) -> Option<NodeId> {
        let from = conversation.fork_index.map(|fork| self.branches.forks[fork].message);
        let own = self.messages_up(conversation).take_while(|message| Some(*message) != from);
        own.filter(|message| self.message_tree.message(*message).role == RecordRole::Prompt)
            .last()
            .map(|message| self.message_tree.message(message).head)
    }

    /// Returns the prompt that a conversation replies to, if it has no prompt since the fork it was left at.
    pub fn answered_prompt(&self, conversation: &Conversation) -> Option<NodeId> {
        let fork = &self.branches.forks[conversation.fork_index?];
        if self.first_prompt(conversation).is_some() {
            return None;
        }
        let mut above = self
            .message_tree
            .ancestors(fork.message)
            .map(|message| self.message_tree.message(message));
        above.find(|message| message.role == RecordRole::Prompt).map(|message| message.head)
    }

    /// Walks from the end of a conversation up to its root, on the same chain.
    fn messages_up(&self, conversation: &Conversation) -> impl Iterator<Item = MessageNodeId> {
        let lane = self.message_tree.message(conversation.end).sidechain;
        self.message_tree
            .ancestors(conversation.end)
            .take_while(move |message| self.message_tree.message(*message).sidechain == lane)
    }

    /// Returns the last record of a conversation, with the system records that trail its leaf.
    pub fn last_record(&self, conversation: &Conversation) -> NodeId {
        let trails = |id: &NodeId| {
            let record = self.session.record(*id);
            let quiet = self
                .message_tree
                .message_of(*id)
                .is_some_and(|message| !self.message_tree.has_dialogue(message));
            quiet
                && matches!(record.kind, RecordKind::System | RecordKind::Attachment)
                && !record.sidechain
        };
        let mut tip = conversation.leaf;
        while let Some(next) = self.record_tree.children(tip).iter().copied().rfind(trails) {
            tip = next;
        }
        tip
    }

    /// Returns the title a person or the client gave the session (R15).
    pub fn given_title(&self) -> Option<&str> {
        let last = |pick: fn(&SessionNoteKind) -> Option<&str>| {
            self.session
                .notes()
                .iter()
                .rev()
                .find_map(|note| pick(&note.kind))
                .filter(|title| is_visible(title))
        };
        last(|note| match note {
            SessionNoteKind::CustomTitle(title) => Some(title),
            _ => None,
        })
        .or_else(|| {
            last(|note| match note {
                SessionNoteKind::AiTitle(title) => Some(title),
                _ => None,
            })
        })
    }

    /// Returns the text of the newest `last-prompt` record.
    pub fn last_prompt(&self) -> Option<&str> {
        self.session.notes().iter().rev().find_map(|note| match &note.kind {
            SessionNoteKind::LastPrompt { text: Some(text), .. } if !text.trim().is_empty() => {
                Some(&**text)
            }
            _ => None,
        })
    }

    /// Returns the class of the session file (R18).
    pub fn session_class(&self) -> SessionClass {
        SessionClass::of_session(&self.session)
    }

    pub(crate) fn main_chain(&self) -> MainChain {
        MainChain::of_session(&self.session)
    }
}

/// One path from a root to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationPath {
    /// The messages on it, root first.
    pub messages: Vec<MessageNodeId>,
    /// All their records and decoration, in path order.
    pub nodes: Vec<NodeId>,
}

/// What a session file contains (R18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum SessionClass {
    Conversation,
    SummaryOnly,
    FileHistoryOnly,
    MetadataOnly,
    Empty,
    Unknown,
}

impl SessionClass {
    /// All classes, in the order they are listed.
    pub const ALL: [Self; 6] = [
        Self::Conversation,
        Self::SummaryOnly,
        Self::FileHistoryOnly,
        Self::MetadataOnly,
        Self::Empty,
        Self::Unknown,
    ];

    /// Returns the class of a session.
    pub fn of_session(session: &Session) -> Self {
        let mut seen = [false; 4];
        for record in session.records() {
            match record.kind {
                RecordKind::User | RecordKind::Assistant => return Self::Conversation,
                RecordKind::Summary => seen[0] = true,
                RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta => seen[1] = true,
                kind if kind.is_node() || !kind.is_known() => seen[3] = true,
                _ => seen[2] = true,
            }
        }
        match seen {
            [_, _, _, true] => Self::Unknown,
            [false, false, false, _] if session.line_counts().damaged > 0 => Self::Unknown,
            [false, false, false, _] => Self::Empty,
            [true, false, false, _] => Self::SummaryOnly,
            [false, true, false, _] => Self::FileHistoryOnly,
            _ => Self::MetadataOnly,
        }
    }

    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::SummaryOnly => "summary-only",
            Self::FileHistoryOnly => "file-history-only",
            Self::MetadataOnly => "metadata-only",
            Self::Empty => "empty",
            Self::Unknown => "unknown",
        }
    }

    /// Whether lists omit it by default.
    pub fn is_hidden(self) -> bool {
        !matches!(self, Self::Conversation | Self::Unknown)
    }
}

/// What a sub-agent's file contains (R18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum AgentClass {
    Task,
    Warmup,
    Incomplete,
}

impl AgentClass {
    /// Returns the class of a sub-agent's session by its first user message.
    pub fn of_session(session: &Session) -> Self {
        let first = session.user_records().next();
        match first.map(|(id, _)| session.preview_text(id)) {
            None => Self::Incomplete,
            Some(Some("Warmup")) => Self::Warmup,
            Some(_) => Self::Task,
        }
    }

    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Warmup => "warmup",
            Self::Incomplete => "incomplete",
        }
    }
}
