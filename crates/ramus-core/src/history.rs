//! One session, fully analysed: records, links, messages and branches.

use bitcode::{Decode, Encode};
use std::ops::Range;
use std::sync::OnceLock;

use crate::branches::{Branches, Conversation, Lane};
use crate::client_path::{ResumeNote, ResumeNotes, resume_notes};
use crate::fold::{FoldId, Folds};
use crate::name::{Name, ShortUuids};
use crate::record::{Kind, Voice};
use crate::resume::Rule;
use crate::session::{NodeId, NoteKind, Session};
use crate::tree::Tree;

/// A session with everything that follows from its records.
#[derive(Clone, Debug)]
pub struct History {
    pub session: Session,
    pub tree: Tree,
    pub folds: Folds,
    pub branches: Branches,
    /// Computed when the session is read.
    resume_notes: OnceLock<ResumeNotes>,
    /// Made when the first uuid is shortened.
    short_uuids: OnceLock<ShortUuids>,
}

impl History {
    /// Analyses a session; `rule` says how to choose its resume point (R11).
    pub fn new(session: Session, rule: Rule) -> Self {
        let tree = Tree::new(&session);
        let folds = Folds::new(&session, &tree);
        let branches = Branches::new(&session, &tree, &folds, rule);
        Self {
            session,
            tree,
            folds,
            branches,
            resume_notes: OnceLock::new(),
            short_uuids: OnceLock::new(),
        }
    }

    /// Returns the note before a message at which the client resumes with fewer messages.
    pub fn resume_note(&self, before: FoldId) -> Option<ResumeNote> {
        self.resume_notes.get_or_init(|| resume_notes(self)).before.get(&before).copied()
    }

    /// Returns the note after the last message of a path in the same case.
    pub fn resume_note_after(&self, last: FoldId) -> Option<ResumeNote> {
        let note = self.resume_notes.get_or_init(|| resume_notes(self)).after;
        note.filter(|(fold, _)| *fold == last).map(|(_, note)| note)
    }

    /// Returns the path of a conversation, including the records after its last message (R13).
    pub fn path(&self, conversation: &Conversation) -> Path {
        self.path_to_fold(conversation.end)
    }

    /// Returns the path from the root to a node, with its complete message.
    ///
    /// `None`: the record is metadata and is on no path.
    pub fn path_to(&self, node: NodeId) -> Option<Path> {
        self.folds.of(node).map(|fold| self.path_to_fold(fold))
    }

    fn path_to_fold(&self, end: FoldId) -> Path {
        let lane = self.folds.fold(end).sidechain;
        let mut folds: Vec<FoldId> = self
            .folds
            .ancestors(end)
            .take_while(|fold| self.folds.fold(*fold).sidechain == lane)
            .collect();
        folds.reverse();
        let nodes = self.nodes_along(&folds, 0..folds.len());
        Path { folds, nodes }
    }

    /// Returns a slice of a path: a range of its messages with their records.
    ///
    /// A reader who sees one screen of a long path needs no more of it.
    pub fn stretch(&self, path: &Path, range: Range<usize>) -> Path {
        Path {
            folds: path.folds[range.clone()].to_vec(),
            nodes: self.nodes_along(&path.folds, range),
        }
    }

    /// Returns the records of a range of messages with their decoration, message by message.
    fn nodes_along(&self, path: &[FoldId], range: Range<usize>) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for index in range {
            let (fold, next) = (path[index], path.get(index + 1));
            let start = nodes.len();
            nodes.extend_from_slice(self.folds.members(fold));
            // Of all children only the next message can be on the path.
            let mut open: Vec<FoldId> =
                self.folds.quiet_children(fold).filter(|child| Some(child) != next).collect();
            while let Some(quiet) = open.pop() {
                nodes.extend_from_slice(self.folds.members(quiet));
                open.extend(self.folds.quiet_children(quiet));
            }
            nodes[start..].sort_unstable();
        }
        nodes
    }

    /// Splits a path after each fork point, for [`stretch`](Self::stretch).
    ///
    /// Paths of one session with the same beginning share these slices, so what is computed for a slice can
    /// be reused for another path.
    pub fn pieces(&self, path: &Path) -> Vec<Range<usize>> {
        let pieces = path.folds.split_inclusive(|fold| self.branches.fork_at(*fold).is_some());
        let mut start = 0;
        let piece = |folds: &[FoldId]| {
            let range = start..start + folds.len();
            start = range.end;
            range
        };
        pieces.map(piece).collect()
    }

    /// Splits a path into blocks of about `size` messages that can be rendered independently.
    ///
    /// A block ends after a fork point, or before a prompt or a reply, so that what belongs together, such as
    /// a command and its output, stays together.
    pub fn blocks(&self, path: &Path, size: usize) -> Vec<Path> {
        let mut blocks = Vec::new();
        let mut from = 0;
        for (at, fold) in path.folds.iter().enumerate() {
            let opens = matches!(self.folds.fold(*fold).voice, Voice::Prompt | Voice::Answer);
            let forks = at > from && self.branches.fork_at(path.folds[at - 1]).is_some();
            if forks || opens && at - from >= size.max(1) {
                blocks.push(self.stretch(path, from..at));
                from = at;
            }
        }
        if from < path.folds.len() {
            blocks.push(self.stretch(path, from..path.folds.len()));
        }
        blocks
    }

    /// Returns the conversation that a node lies on: the active one if there are several.
    pub fn conversation_of(&self, node: NodeId) -> Option<&Conversation> {
        self.branches.conversation_at(&self.folds, self.folds.of(node)?)
    }

    /// Whether the uuid of a node leads to another version of it, which is another message (R4).
    pub fn is_hidden(&self, node: NodeId) -> bool {
        let named = self.session.record(node).name.and_then(|name| self.tree.find(name));
        named.is_some_and(|named| self.folds.of(named) != self.folds.of(node))
    }

    /// Returns the address of a node within its session: its uuid, or `@` and the number of its conversation
    /// if the uuid leads elsewhere. Empty: it has no address.
    pub fn place_of(&self, node: NodeId) -> String {
        if self.is_hidden(node)
            && let Some(conversation) = self.conversation_of(node)
        {
            return format!("@{}", conversation.n);
        }
        let name = self.session.record(node).name;
        name.map_or_else(String::new, |name| self.session.spell(name))
    }

    /// Returns the start of a record's uuid that means no other record of the session.
    pub fn short_uuid<'a>(&self, uuid: &'a str) -> &'a str {
        let names = || self.session.nodes().filter_map(|(_, record)| record.name);
        self.short_uuids.get_or_init(|| ShortUuids::new(names())).short(uuid)
    }

    /// Finds the node at such an address.
    pub fn node_at(&self, place: &str) -> Option<NodeId> {
        match place.strip_prefix('@').and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => self
                .branches
                .conversations
                .iter()
                .find(|found| found.n == n)
                .map(|found| found.leaf),
            None => self.tree.find(Name::new(place.as_bytes())),
        }
    }

    /// Returns the last dialogue below a node.
    pub fn last_below(&self, node: NodeId) -> NodeId {
        let folds = &self.folds;
        let down =
            std::iter::successors(folds.of(node), |fold| folds.speaking_children(*fold).last());
        down.last().map_or(node, |fold| folds.fold(fold).head)
    }

    /// Returns the first prompt of a conversation since the fork it was left at.
    pub fn first_prompt(&self, conversation: &Conversation) -> Option<NodeId> {
        let from = conversation.fork.map(|fork| self.branches.forks[fork].fold);
        let own = self.up(conversation).take_while(|fold| Some(*fold) != from);
        own.filter(|fold| self.folds.fold(*fold).voice == Voice::Prompt)
            .last()
            .map(|fold| self.folds.fold(fold).head)
    }

    /// Returns the prompt that a conversation replies to, if it has no prompt since the fork it was left at.
    pub fn answered_prompt(&self, conversation: &Conversation) -> Option<NodeId> {
        let fork = &self.branches.forks[conversation.fork?];
        if self.first_prompt(conversation).is_some() {
            return None;
        }
        let mut above = self.folds.ancestors(fork.fold).map(|fold| self.folds.fold(fold));
        above.find(|fold| fold.voice == Voice::Prompt).map(|fold| fold.head)
    }

    /// Walks from the end of a conversation up to its root, on the same chain.
    fn up(&self, conversation: &Conversation) -> impl Iterator<Item = FoldId> {
        let lane = self.folds.fold(conversation.end).sidechain;
        self.folds
            .ancestors(conversation.end)
            .take_while(move |fold| self.folds.fold(*fold).sidechain == lane)
    }

    /// Returns the last record of a conversation, with the system records that trail its leaf.
    pub fn tip(&self, conversation: &Conversation) -> NodeId {
        let trails = |id: &NodeId| {
            let record = self.session.record(*id);
            let quiet = self.folds.of(*id).is_some_and(|fold| !self.folds.speaks(fold));
            quiet && matches!(record.kind, Kind::System | Kind::Attachment) && !record.sidechain
        };
        let mut tip = conversation.leaf;
        while let Some(next) = self.tree.children(tip).iter().copied().rfind(trails) {
            tip = next;
        }
        tip
    }

    /// Returns the title a person or the client gave the session (R15).
    pub fn given_title(&self) -> Option<&str> {
        let last = |pick: fn(&NoteKind) -> Option<&str>| {
            self.session
                .notes()
                .iter()
                .rev()
                .find_map(|note| pick(&note.kind))
                .filter(|title| !title.trim().is_empty())
        };
        last(|note| match note {
            NoteKind::CustomTitle(title) => Some(title),
            _ => None,
        })
        .or_else(|| {
            last(|note| match note {
                NoteKind::AiTitle(title) => Some(title),
                _ => None,
            })
        })
    }

    /// Returns the text of the newest `last-prompt` record.
    pub fn last_prompt(&self) -> Option<&str> {
        self.session.notes().iter().rev().find_map(|note| match &note.kind {
            NoteKind::LastPrompt { text: Some(text), .. } if !text.trim().is_empty() => {
                Some(&**text)
            }
            _ => None,
        })
    }

    /// Returns the class of the session file (R18).
    pub fn class(&self) -> Class {
        Class::of(&self.session)
    }

    pub(crate) fn lane(&self) -> Lane {
        Lane::of(&self.session)
    }
}

/// One path from a root to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The messages on it, root first.
    pub folds: Vec<FoldId>,
    /// All their records and decoration, in path order.
    pub nodes: Vec<NodeId>,
}

/// What a session file contains (R18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Class {
    Conversation,
    SummaryOnly,
    FileHistoryOnly,
    MetadataOnly,
    Empty,
    Unknown,
}

impl Class {
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
    pub fn of(session: &Session) -> Self {
        let mut seen = [false; 4];
        for record in session.records() {
            match record.kind {
                Kind::User | Kind::Assistant => return Self::Conversation,
                Kind::Summary => seen[0] = true,
                Kind::FileHistorySnapshot | Kind::FileHistoryDelta => seen[1] = true,
                kind if kind.is_node() || !kind.is_known() => seen[3] = true,
                _ => seen[2] = true,
            }
        }
        match seen {
            [_, _, _, true] => Self::Unknown,
            [false, false, false, _] if session.counts().damaged > 0 => Self::Unknown,
            [false, false, false, _] => Self::Empty,
            [true, false, false, _] => Self::SummaryOnly,
            [false, true, false, _] => Self::FileHistoryOnly,
            _ => Self::MetadataOnly,
        }
    }

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
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
    pub fn of(session: &Session) -> Self {
        let first = session.user_records().next();
        match first.map(|(id, _)| session.words(id)) {
            None => Self::Incomplete,
            Some(Some("Warmup")) => Self::Warmup,
            Some(_) => Self::Task,
        }
    }

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Warmup => "warmup",
            Self::Incomplete => "incomplete",
        }
    }
}
