//! Groups records into messages, before anything counts as a fork (R8).
//!
//! A reply is written as several records, parallel tool calls are linked in odd places, and hooks and
//! progress come in between. This module turns the records into a tree of messages: a message with its
//! tool results, or one other record. In this tree a node with dialogue below two of its children really
//! is a fork point.
//!
//! The parents of messages follow *reading order*: where the links of the file would mislead a reader, a
//! message follows the record before it instead, and its [`Placement`] says why. The links as written stay
//! in [`Tree`], and they alone decide what the client resumes.

use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::branches::Lane;

use crate::kept::Kept;
use crate::name::Key;
use crate::record::{Kind, Record, Voice};
use crate::session::{NodeId, Session};
use crate::steps::step;
use crate::time::Time;
use crate::tree::{Lists, Tree};

/// The index of a message; parents come before their children.
///
/// It counts from one, so that `Option<FoldId>`, which every record has, needs no extra space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldId(NonZeroU32);

impl FoldId {
    fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Default for FoldId {
    fn default() -> Self {
        Self::new(0)
    }
}

/// One message with its tool results, or one other node.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The record it begins with.
    pub head: NodeId,
    pub parent: Option<FoldId>,
    pub voice: Voice,
    pub sidechain: bool,
    /// It continues an earlier message after other dialogue.
    pub again: bool,
    /// Why it has this parent.
    pub placement: Placement,
}

/// Why a message has its parent in reading order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// The file links it there, or it begins a tree.
    #[default]
    Linked,
    /// A compaction that names no record of this file follows the record before it (R7).
    Compaction,
    /// Its parent is not in this file, so it follows the record before it. A guess.
    MissingParent,
    /// It has no parent and cannot begin a conversation, so it follows the record before it. A guess.
    NoParent,
    /// It is below hook, error or progress records that were written late, after their turn had ended: it
    /// continues the end of that turn.
    LateRecords,
    /// A reply whose parent is followed by a guess: it continues after the guess.
    AfterGuess,
    /// A command below a caveat record whose uuid an old client reused: it follows the record
    /// before it.
    ReusedCaveat,
    /// It is below a message that a compaction preserved, and was written after the compaction: it continues
    /// the compaction, because the client puts such messages after it.
    KeptMessage,
}

impl Placement {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::Compaction => "compaction",
            Self::MissingParent => "missing-parent",
            Self::NoParent => "no-parent",
            Self::LateRecords => "late-records",
            Self::AfterGuess => "after-guess",
            Self::ReusedCaveat => "reused-caveat",
            Self::KeptMessage => "kept-message",
        }
    }

    /// Whether only its position in the file suggests this parent.
    pub fn is_guess(self) -> bool {
        matches!(self, Self::MissingParent | Self::NoParent)
    }
}

/// The messages of one session as a tree.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    folds: Vec<Fold>,
    of: Vec<Option<FoldId>>,
    members: Lists<NodeId>,
    children: Lists<FoldId>,
    below: Vec<Below>,
    replays: Vec<NodeId>,
    /// For each fold the first two prompts at or below it in file order, [`NO_PROMPT`] where there is none;
    /// made when somebody asks.
    prompts_below: OnceLock<Vec<[NodeId; 2]>>,
    /// For each message the number of displayable messages up to and including it; computed on first use.
    messages_to: OnceLock<Vec<u32>>,
}

/// A summary of the subtree of a message, including itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below {
    /// It has dialogue.
    pub(crate) speaks: bool,
    /// It has a real reply of the model.
    pub(crate) answered: bool,
    /// It has a user or assistant record of any role.
    pub(crate) has_message: bool,
    pub(crate) nodes: u32,
}

/// Sorts after all prompts.
const NO_PROMPT: NodeId = NodeId(u32::MAX);

impl Folds {
    /// Groups the nodes of a session.
    pub fn new(session: &Session, tree: &Tree) -> Self {
        let (folds, mut of, mut replays) = Folder::new(session, tree).placed();
        replays.sort_unstable();
        let members = Lists::new(folds.len(), || {
            session.nodes().filter_map(|(id, _)| Some((of[id.index()]?.index(), id)))
        });
        for (id, _) in session.nodes() {
            of[id.index()] = of[tree.first(id).index()];
        }
        let mut order: Vec<FoldId> = (0..folds.len()).map(FoldId::new).collect();
        order.sort_unstable_by_key(|fold| folds[fold.index()].head);
        let children = Lists::new(folds.len(), || {
            order.iter().filter_map(|fold| Some((folds[fold.index()].parent?.index(), *fold)))
        });
        let below = below(session, &folds, &members);
        Self { folds, of, members, children, below, replays, ..Self::default() }
    }

    /// Returns the message.
    pub fn fold(&self, id: FoldId) -> &Fold {
        step();
        &self.folds[id.index()]
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.folds.len()
    }

    /// Whether the session has no node at all.
    pub fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Returns all messages, parents before children.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (FoldId, &Fold)> {
        self.folds.iter().enumerate().map(|(i, fold)| (FoldId::new(i), fold))
    }

    /// Returns the message that a node belongs to; metadata belongs to none.
    pub fn of(&self, id: NodeId) -> Option<FoldId> {
        self.of.get(id.index()).copied().flatten()
    }

    /// Returns the records of a message in file order, without second copies.
    pub fn members(&self, id: FoldId) -> &[NodeId] {
        self.members.of(id.index())
    }

    /// Returns the children in file order.
    pub fn children(&self, id: FoldId) -> &[FoldId] {
        self.children.of(id.index())
    }

    /// Returns the children on the same chain that have dialogue.
    pub fn speaking_children(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        let sidechain = self.fold(id).sidechain;
        self.children(id).iter().copied().filter(move |child| {
            self.below(*child).speaks && self.fold(*child).sidechain == sidechain
        })
    }

    /// Returns the children on the same chain without dialogue: decoration.
    pub fn quiet_children(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        let sidechain = self.fold(id).sidechain;
        let children = self.children(id).iter().copied();
        children
            .filter(move |child| !self.speaks(*child) && self.fold(*child).sidechain == sidechain)
    }

    /// Whether there is dialogue in the message or below it.
    pub fn speaks(&self, id: FoldId) -> bool {
        self.below(id).speaks
    }

    /// Whether there is a real reply in the message or below it.
    pub fn is_answered(&self, id: FoldId) -> bool {
        self.below(id).answered
    }

    pub(crate) fn below(&self, id: FoldId) -> &Below {
        step();
        &self.below[id.index()]
    }

    /// Returns the first prompt at or below a fold in file order, or the second.
    pub(crate) fn prompt_below(&self, id: FoldId, index: usize) -> Option<NodeId> {
        let prompts = self.prompts_below.get_or_init(|| prompts_below(&self.folds));
        prompts[id.index()].get(index).copied().filter(|prompt| *prompt != NO_PROMPT)
    }

    /// Whether a node only repeats another one (R8d).
    pub fn is_replay(&self, node: NodeId) -> bool {
        self.replays.binary_search(&node).is_ok()
    }

    /// Counts the displayable messages below one message, up to another further down.
    pub(crate) fn messages_between(&self, above: FoldId, below: FoldId) -> u32 {
        let counts = self.messages_to.get_or_init(|| {
            let mut counts: Vec<u32> = Vec::with_capacity(self.folds.len());
            // Parents come before their children.
            for fold in &self.folds {
                let before = fold.parent.map_or(0, |parent| counts[parent.index()]);
                counts.push(before + u32::from(fold.voice.is_displayable()));
            }
            counts
        });
        counts[below.index()].saturating_sub(counts[above.index()])
    }

    /// Walks from a message up to its root.
    pub fn ancestors(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        std::iter::successors(Some(id), |id| self.fold(*id).parent)
    }
}

struct Folder<'a> {
    session: &'a Session,
    tree: &'a Tree,
    lane: Lane,
    kept: Kept,
    folds: Vec<Fold>,
    of: Vec<Option<FoldId>>,
    by_message: FxHashMap<(Key, bool), FoldId>,
    by_call: FxHashMap<Key, FoldId>,
    /// Hashes of contents that occur more than once: only they can be copies.
    repeated: FxHashSet<u64>,
    by_copy: FxHashMap<Content, FoldId>,
    /// For each message its position in the tree.
    jumps: Vec<Jump>,
    /// The last new record of the main chain in file order that is not decoration.
    last: Option<Last>,
    /// Late decoration, and the end of the turn that was over by then.
    late: FxHashMap<FoldId, FoldId>,
    replays: Vec<NodeId>,
}

/// The position of a message in the tree: its depth, and a distant ancestor, so that climbing takes few steps.
#[derive(Clone, Copy)]
struct Jump {
    depth: u32,
    far: FoldId,
    /// The nearest message at or above it that is not decoration.
    anchor: FoldId,
    /// The nearest dialogue at or above it.
    speaker: Option<FoldId>,
    compactions: u32,
}

#[derive(Clone, Copy)]
struct Last {
    fold: FoldId,
    time: Option<Time>,
}

impl<'a> Folder<'a> {
    fn new(session: &'a Session, tree: &'a Tree) -> Self {
        Self {
            session,
            tree,
            lane: Lane::of(session),
            kept: Kept::new(session, tree),
            folds: Vec::with_capacity(session.records().len() / 2),
            of: vec![None; session.records().len()],
            by_message: FxHashMap::default(),
            by_call: FxHashMap::default(),
            repeated: repeated_contents(session),
            by_copy: FxHashMap::default(),
            jumps: Vec::with_capacity(session.records().len() / 2),
            last: None,
            late: FxHashMap::default(),
            replays: Vec::new(),
        }
    }

    /// Returns the messages, the message of each record, and the replays.
    fn placed(mut self) -> (Vec<Fold>, Vec<Option<FoldId>>, Vec<NodeId>) {
        self.place_all();
        (self.folds, self.of, self.replays)
    }

    /// Places every node, in file order but never before its parent.
    fn place_all(&mut self) {
        let mut waiting = Vec::new();
        for (id, record) in self.session.nodes() {
            let mut next = Some(self.tree.first(id));
            while let Some(node) = next
                && self.of[node.index()].is_none()
            {
                waiting.push(node);
                next = self.tree.parent(node);
            }
            while let Some(node) = waiting.pop() {
                let fold = self.place(node);
                self.of[node.index()] = Some(fold);
            }
            self.move_last(id, record);
        }
    }

    /// Records how far the conversation has come; copies and decoration do not count.
    fn move_last(&mut self, id: NodeId, record: &Record) {
        let Some(fold) = self.of[id.index()] else { return };
        let is_new = self.tree.is_first(id) && self.replays.last() != Some(&id);
        if !is_new
            || !self.lane.has(record.sidechain)
            || self.voice(id, record) == Voice::Decoration
        {
            return;
        }
        self.last = match self.last {
            Some(last) if last.fold == fold => {
                Some(Last { time: record.time.max(last.time), ..last })
            }
            // A late result goes to its call, although the conversation is further on.
            Some(last) if self.is_above(fold, last.fold) => Some(last),
            _ => Some(Last { fold, time: record.time }),
        };
    }

    fn place(&mut self, id: NodeId) -> FoldId {
        let record = self.session.record(id);
        let mut voice = self.voice(id, record);
        let (parent, placement) = self.reading_parent(id, record, voice);
        let message = self.message_of(id, record, voice, parent);
        let linked = self.linked_parent(id);
        let belongs = |message: &FoldId| {
            placement.is_guess()
                || self.belongs(*message, record, parent)
                || parent != linked && self.belongs(*message, record, linked)
        };
        if let Some(fold) = message.filter(belongs) {
            self.remember(id, record, voice, fold);
            return fold;
        }
        match self.copied(id, record, voice, parent) {
            Some(Copied::Beside(fold)) => {
                self.replays.push(id);
                return fold;
            }
            // A copy of an earlier message is not dialogue; the chain passes through it.
            Some(Copied::Below) => {
                self.replays.push(id);
                voice = Voice::Decoration;
            }
            None => {}
        }
        let again = voice.speaks()
            && message.zip(parent).is_some_and(|(message, parent)| self.is_above(message, parent));
        let fold = FoldId::new(self.folds.len());
        let sidechain = record.sidechain;
        self.folds.push(Fold { head: id, parent, voice, sidechain, again, placement });
        self.jumps.push(self.jump(fold, parent, voice));
        self.note_late(fold, record, parent);
        self.remember(id, record, voice, fold);
        fold
    }

    /// Returns the message that a reader would expect a record to follow, and why.
    fn reading_parent(
        &self,
        id: NodeId,
        record: &Record,
        voice: Voice,
    ) -> (Option<FoldId>, Placement) {
        let linked = self.linked_parent(id);
        let last = self.last.filter(|_| self.lane.has(record.sidechain)).map(|last| last.fold);
        let Some(last) = last else { return (linked, Placement::Linked) };
        let Some(parent) = linked else {
            // No conversation begins with a reply; it begins with a prompt or a command.
            let begins =
                matches!(voice, Voice::Prompt | Voice::Command | Voice::Meta | Voice::Queued);
            // A lost prompt that nothing follows carries no conversation on: it stays by itself.
            let is_alone = begins && self.tree.children(id).is_empty();
            let placement = match voice {
                Voice::Boundary | Voice::CompactSummary => Placement::Compaction,
                _ if record.parent.is_some() && !is_alone => Placement::MissingParent,
                _ if begins => return (None, Placement::Linked),
                _ => Placement::NoParent,
            };
            return (Some(last), placement);
        };
        if let Some(anchor) = self.behind_compaction(id) {
            return (Some(anchor), Placement::KeptMessage);
        }
        if let Some(&end) = self.late.get(&parent).filter(|_| voice != Voice::Decoration) {
            // The turn may have continued since the late records were written.
            let end = if self.is_above(end, last) { last } else { end };
            return (Some(end), Placement::LateRecords);
        }
        let below_caveat =
            voice == Voice::Command && self.folds[parent.index()].voice == Voice::Meta;
        if below_caveat && last != parent {
            return (Some(last), Placement::ReusedCaveat);
        }
        // A reply next to a guess is not a second branch: a guess only means that it came before.
        let is_reply = matches!(voice, Voice::Answer | Voice::Synthetic);
        if is_reply && self.is_guess_between(parent, last) {
            return (Some(last), Placement::AfterGuess);
        }
        (Some(parent), Placement::Linked)
    }

    /// Returns what a record follows if it is below a message that an earlier compaction preserved.
    fn behind_compaction(&self, id: NodeId) -> Option<FoldId> {
        let keeping = self.kept.by(self.tree.parent(id)?, id)?;
        self.of[keeping.anchor.index()]
    }

    fn linked_parent(&self, id: NodeId) -> Option<FoldId> {
        self.tree.parent(id).and_then(|parent| self.of[parent.index()])
    }

    /// Whether the message after `above` on the path to `below` is there by a guess.
    fn is_guess_between(&self, above: FoldId, below: FoldId) -> bool {
        let anchor = self.jumps[above.index()].anchor;
        if anchor == below || !self.is_above(anchor, below) {
            return false;
        }
        let next = self.ancestor_at(below, self.jumps[anchor.index()].depth + 1);
        self.folds[next.index()].placement.is_guess()
    }

    /// Records decoration that was written after its turn had ended: dated before the record before it in
    /// the file, and attached above that.
    fn note_late(&mut self, fold: FoldId, record: &Record, parent: Option<FoldId>) {
        let (Some(parent), Some(last)) = (parent, self.last) else { return };
        if self.folds[fold.index()].voice != Voice::Decoration || !self.lane.has(record.sidechain) {
            return;
        }
        // Hook records chain below each other: the first may have been written in time.
        let turn = self.jumps[parent.index()].anchor;
        let end = match self.late.get(&parent) {
            Some(&end) => end,
            None if turn != last.fold
                && record.time.zip(last.time).is_some_and(|(time, end)| time < end)
                && self.is_above(turn, last.fold) =>
            {
                last.fold
            }
            None => return,
        };
        self.late.insert(fold, end);
    }

    /// A record on a damaged line counts only if other records follow it.
    fn voice(&self, id: NodeId, record: &Record) -> Voice {
        if record.recovered && self.tree.children(id).is_empty() {
            Voice::Decoration
        } else {
            record.voice
        }
    }

    /// Finds the message that a record claims to belong to (R8a, R8b).
    fn message_of(
        &self,
        id: NodeId,
        record: &Record,
        voice: Voice,
        parent: Option<FoldId>,
    ) -> Option<FoldId> {
        match voice {
            Voice::Answer | Voice::Synthetic => {
                self.by_message.get(&(record.message?, record.sidechain)).copied()
            }
            Voice::ToolResult => self.answered_call(id, record, parent),
            _ => None,
        }
    }

    fn answered_call(&self, id: NodeId, record: &Record, parent: Option<FoldId>) -> Option<FoldId> {
        let ids = self.session.tool_ids(record);
        if let Some(fold) = ids.iter().find_map(|id| self.by_call.get(id)) {
            return Some(*fold);
        }
        if let Some(source) = self.session.source(id) {
            return self.of[self.tree.find(source)?.index()];
        }
        // Records of the earliest builds name no call: the result follows it.
        parent.filter(|parent| ids.is_empty() && self.folds[parent.index()].voice == Voice::Answer)
    }

    /// Whether a record below `parent` is part of `message`.
    ///
    /// It is if there is no other dialogue in between, or if it is attached further up on the path to the
    /// message, as results of parallel calls are. A record on another branch only repeats the id: including it
    /// would break that branch. A result without a parent goes to its call.
    fn belongs(&self, message: FoldId, record: &Record, parent: Option<FoldId>) -> bool {
        if self.folds[message.index()].sidechain != record.sidechain {
            return false;
        }
        let speaker = parent.and_then(|parent| self.jumps[parent.index()].speaker);
        let depth = |fold: FoldId| self.jumps[fold.index()].depth;
        let is_reached = |parent| {
            speaker.is_none_or(|speaker| depth(message) >= depth(speaker))
                && self.is_above(message, parent)
        };
        if parent.is_some_and(is_reached) {
            return true;
        }
        match speaker {
            Some(speaker) => self.is_above(speaker, message),
            None => parent.is_some() || record.voice == Voice::ToolResult,
        }
    }

    /// Returns the position of a message in the tree.
    fn jump(&self, fold: FoldId, parent: Option<FoldId>, voice: Voice) -> Jump {
        let own = u32::from(matches!(voice, Voice::Boundary | Voice::CompactSummary));
        let Some(parent) = parent else {
            let speaker = voice.speaks().then_some(fold);
            return Jump { depth: 0, far: fold, anchor: fold, speaker, compactions: own };
        };
        let above = self.jumps[parent.index()];
        let further = self.jumps[above.far.index()];
        let furthest = self.jumps[further.far.index()];
        // Shortcuts double in length, so any ancestor is a logarithm of steps away.
        let is_double = above.depth - further.depth == further.depth - furthest.depth;
        Jump {
            depth: above.depth + 1,
            far: if is_double { further.far } else { parent },
            anchor: if voice == Voice::Decoration { above.anchor } else { fold },
            speaker: if voice.speaks() { Some(fold) } else { above.speaker },
            compactions: above.compactions + own,
        }
    }

    /// Whether `above` is `below` or one of its ancestors.
    fn is_above(&self, above: FoldId, below: FoldId) -> bool {
        self.ancestor_at(below, self.jumps[above.index()].depth) == above
    }

    /// Returns the ancestor at a depth; the message itself if it is not deeper.
    fn ancestor_at(&self, fold: FoldId, depth: u32) -> FoldId {
        let mut at = fold;
        while self.jumps[at.index()].depth > depth {
            step();
            let far = self.jumps[at.index()].far;
            let next = if self.jumps[far.index()].depth >= depth {
                Some(far)
            } else {
                self.folds[at.index()].parent
            };
            let Some(next) = next else { break };
            at = next;
        }
        at
    }

    /// Finds the earlier record that this one repeats (R8d).
    fn copied(
        &self,
        id: NodeId,
        record: &Record,
        voice: Voice,
        parent: Option<FoldId>,
    ) -> Option<Copied> {
        if !matches!(record.kind, Kind::User | Kind::Assistant) || voice == Voice::Decoration {
            return None;
        }
        let time = record.time?;
        let original = *self.by_copy.get(&(time, record.content, record.kind))?;
        let fold = &self.folds[original.index()];
        if fold.sidechain != record.sidechain {
            return None;
        }
        // A copy may be below copies of hook records.
        let anchor = |fold: FoldId| self.jumps[fold.index()].anchor;
        if parent.map(anchor) == fold.parent.map(anchor) {
            return Some(Copied::Beside(original));
        }
        let parent = parent?;
        // The parts of a prompt that was split in the copy are below each other.
        let is_piece = self.session.record(fold.head).content != record.content;
        if parent == original {
            return Some(if is_piece { Copied::Beside(original) } else { Copied::Below });
        }
        let is_below = self.is_above(original, parent)
            && (voice != Voice::Prompt || self.is_replay(id, original, parent));
        is_below.then_some(Copied::Below)
    }

    /// Whether a prompt repeats one further up its own path, rather than being typed again.
    ///
    /// Imported sessions give many records the same time, so time and text are not enough. A copy made by the
    /// client comes after a compaction, or its reply already exists.
    fn is_replay(&self, id: NodeId, original: FoldId, parent: FoldId) -> bool {
        let compactions = |fold: FoldId| self.jumps[fold.index()].compactions;
        let mut below = id;
        compactions(original) < compactions(parent)
            || (0..REPLAY_LOOKAHEAD).any(|_| {
                let Some(&child) = self.tree.children(below).first() else { return false };
                below = child;
                let record = self.session.record(child);
                let message = record.message.map(|message| (message, record.sidechain));
                message.is_some_and(|message| self.by_message.contains_key(&message))
            })
    }

    /// Remembers what later records may refer to; a repeated id means its latest record.
    fn remember(&mut self, id: NodeId, record: &Record, voice: Voice, fold: FoldId) {
        if let Some(message) = record.message {
            self.by_message.insert((message, record.sidechain), fold);
        }
        if voice == Voice::Answer {
            for id in self.session.tool_ids(record) {
                self.by_call.insert(*id, fold);
            }
        }
        if let Some(time) = record.time
            && matches!(record.kind, Kind::User | Kind::Assistant)
        {
            for content in contents(self.session, id, record, time) {
                if self.repeated.contains(&hash_of(&content)) {
                    self.by_copy.entry(content).or_insert(fold);
                }
            }
        }
    }
}

/// What identifies a copy: time, fingerprint and kind.
type Content = (Time, u64, Kind);

/// Returns the contents of a message: the whole, and its blocks if it has several.
fn contents<'a>(
    session: &'a Session,
    id: NodeId,
    record: &Record,
    time: Time,
) -> impl Iterator<Item = Content> + 'a {
    let (whole, kind) = (record.content, record.kind);
    std::iter::once(whole)
        .chain(session.parts(id).iter().copied())
        .map(move |part| (time, part, kind))
}

fn hash_of(content: &Content) -> u64 {
    FxBuildHasher.hash_one(content)
}

/// Finds contents that occur more than once. There are few, and a table of all contents would be among
/// the largest structures of a session.
fn repeated_contents(session: &Session) -> FxHashSet<u64> {
    let messages = session.of(|record| matches!(record.kind, Kind::User | Kind::Assistant));
    let timed = messages.filter_map(|(id, record)| Some((id, record, record.time?)));
    let all = timed.flat_map(|(id, record, time)| contents(session, id, record, time));
    let mut hashes: Vec<u64> = all.map(|content| hash_of(&content)).collect();
    hashes.sort_unstable();
    hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

/// How many records below a prompt are looked at for its reply.
const REPLAY_LOOKAHEAD: usize = 4;

/// Where a copy is, relative to its original.
enum Copied {
    /// At the same parent: the two are one.
    Beside(FoldId),
    /// Further down the same path.
    Below,
}

/// Sums up every subtree, children before parents.
fn below(session: &Session, folds: &[Fold], members: &Lists<NodeId>) -> Vec<Below> {
    let mut below: Vec<Below> = folds
        .iter()
        .enumerate()
        .map(|(i, fold)| Below {
            speaks: fold.voice.speaks(),
            answered: fold.voice == Voice::Answer,
            has_message: matches!(session.record(fold.head).kind, Kind::User | Kind::Assistant),
            nodes: members.of(i).len() as u32,
        })
        .collect();
    for (i, fold) in folds.iter().enumerate().rev() {
        let Some(parent) = fold.parent else { continue };
        if folds[parent.index()].sidechain != fold.sidechain {
            continue;
        }
        let child = below[i];
        let own = &mut below[parent.index()];
        own.speaks |= child.speaks;
        own.answered |= child.answered;
        own.has_message |= child.has_message;
        own.nodes += child.nodes;
    }
    below
}

/// Finds the first two prompts of every subtree, children before parents.
fn prompts_below(folds: &[Fold]) -> Vec<[NodeId; 2]> {
    let own = |fold: &Fold| if fold.voice == Voice::Prompt { fold.head } else { NO_PROMPT };
    let mut prompts: Vec<[NodeId; 2]> = folds.iter().map(|fold| [own(fold), NO_PROMPT]).collect();
    for (i, fold) in folds.iter().enumerate().rev() {
        let Some(parent) = fold.parent else { continue };
        if folds[parent.index()].sidechain == fold.sidechain {
            prompts[parent.index()] = first_two(prompts[parent.index()], prompts[i]);
        }
    }
    prompts
}

fn first_two(a: [NodeId; 2], b: [NodeId; 2]) -> [NodeId; 2] {
    let mut all = [a[0], a[1], b[0], b[1]];
    all.sort_unstable();
    [all[0], all[1]]
}
