//! Finds the fork points and conversations of a session, and which of them are active.

use bitcode::{Decode, Encode};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::fold::{FoldId, Folds, Placement};
use crate::record::{Kind, Voice};
use crate::resume::{Resume, Rule, resume};
use crate::session::{NodeId, Session};
use crate::tree::Tree;

/// Why a conversation forks (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum ForkKind {
    /// A prompt was edited: prompt | prompt.
    Edit,
    /// A reply was requested again: reply | reply.
    Retry,
    /// The user wrote before the reply was complete: reply | prompt.
    Interrupt,
    /// The user went back although the first branch had already continued.
    Rewind,
}

impl ForkKind {
    /// All kinds, in the order they are listed.
    pub const ALL: [Self; 4] = [Self::Edit, Self::Retry, Self::Interrupt, Self::Rewind];

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Retry => "retry",
            Self::Interrupt => "interrupt",
            Self::Rewind => "rewind",
        }
    }
}

impl fmt::Display for ForkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a node has several children without being a fork (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Artefact {
    /// Parallel tool calls and their results.
    ParallelTools,
    /// Progress, hooks, attachments and commands next to the conversation.
    Decoration,
    /// Something written again.
    Replay,
    /// Records of a sub-agent.
    Sidechain,
}

impl Artefact {
    /// All kinds, in the order they are listed.
    pub const ALL: [Self; 4] =
        [Self::ParallelTools, Self::Decoration, Self::Replay, Self::Sidechain];

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ParallelTools => "parallel-tools",
            Self::Decoration => "decoration",
            Self::Replay => "replay",
            Self::Sidechain => "sidechain",
        }
    }
}

/// A message with several branches below it.
#[derive(Clone, Debug)]
pub struct Fork {
    pub fold: FoldId,
    /// The parent of the branch that was written last.
    pub node: NodeId,
    pub kind: ForkKind,
    /// In file order.
    pub ways: Vec<Way>,
}

/// One alternative of a fork.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub fold: FoldId,
    /// Its first dialogue message.
    pub speech: FoldId,
    /// The model never replied on it.
    pub draft: bool,
    /// It leads to the resume point, or was written last.
    pub current: bool,
}

/// Whether a conversation is the one that counts at all its forks (R12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Active,
    Abandoned,
}

impl Status {
    /// Reads the stable word for it.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Abandoned].into_iter().find(|status| status.word() == word)
    }

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One path through a session, from a root to a leaf (R10).
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its number in the session, from 1, in file order of the leaves.
    pub n: u32,
    /// The last user or assistant record.
    pub leaf: NodeId,
    /// The last dialogue message.
    pub end: FoldId,
    pub status: Status,
    /// The client would continue this one.
    pub resumes: bool,
    /// For an abandoned one: the fork (by index) at which it was left.
    pub fork: Option<usize>,
    /// Displayable messages on the path (R16).
    pub messages: u32,
    /// Records on the path.
    pub records: u32,
    pub compactions: u32,
    /// The model has not replied since the last fork point.
    pub draft: bool,
    /// The first prompt on the whole path, else other text that begins it: a command, the summary of a
    /// compaction, a notification.
    pub opening: Option<NodeId>,
}

/// Forks, artefacts and conversations of one session.
#[derive(Clone, Debug, Default)]
pub struct Branches {
    pub forks: Vec<Fork>,
    pub artefacts: FxHashMap<Artefact, u32>,
    pub conversations: Vec<Conversation>,
    pub resume: Option<Resume>,
    /// The rule that chose it.
    pub rule: Rule,
    fork_at: FxHashMap<FoldId, usize>,
    /// For each message the index of its conversation, or [`NOWHERE`]; computed on first use.
    conversation_at: OnceLock<Vec<u32>>,
}

const NOWHERE: u32 = u32::MAX;

/// The roles whose text can introduce a conversation, best first.
const OPENINGS: [Voice; 5] =
    [Voice::Prompt, Voice::Queued, Voice::Command, Voice::CompactSummary, Voice::Notification];

impl Branches {
    /// Analyses a session; in a sub-agent's file its sidechain is the main chain.
    pub fn new(session: &Session, tree: &Tree, folds: &Folds, rule: Rule) -> Self {
        let lane = Lane::of(session);
        let mut branches = Self { resume: resume(session, tree, rule), rule, ..Self::default() };
        branches.find_forks(session, tree, folds, lane);
        branches.find_artefacts(session, tree, folds, lane);
        branches.find_conversations(session, tree, folds, lane);
        branches
    }

    /// Returns the fork point at a message.
    pub fn fork_at(&self, fold: FoldId) -> Option<&Fork> {
        self.fork_at.get(&fold).map(|index| &self.forks[*index])
    }

    /// Returns the conversation the client would continue.
    pub fn resuming(&self) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.resumes)
    }

    /// Returns the conversation that a session stands for if only the session is named.
    ///
    /// This is the one that the client would continue. If that has a single command or prompt and there
    /// are others, it is the last one with more messages.
    pub fn main(&self) -> Option<&Conversation> {
        let last = |wanted: fn(&Conversation) -> bool| {
            self.conversations.iter().rfind(|conversation| wanted(conversation))
        };
        self.resuming()
            .filter(|conversation| conversation.messages > 1)
            .or_else(|| last(|found| found.messages > 1 && found.status == Status::Active))
            .or_else(|| last(|found| found.messages > 1))
            .or(self.resuming().filter(|conversation| conversation.messages > 0))
            .or_else(|| last(|found| found.messages > 0))
            .or(self.resuming())
            .or(self.conversations.last())
    }

    fn find_forks(&mut self, session: &Session, tree: &Tree, folds: &Folds, lane: Lane) {
        let resume_path: FxHashSet<FoldId> = self
            .resume
            .and_then(|resume| folds.of(resume.point))
            .map(|fold| folds.ancestors(fold).collect())
            .unwrap_or_default();
        for (id, fold) in folds.iter().filter(|(_, fold)| lane.has(fold.sidechain)) {
            let children: Vec<FoldId> = folds.speaking_children(id).collect();
            if children.len() < 2 {
                continue;
            }
            let current = children
                .iter()
                .find(|child| resume_path.contains(child))
                .or(children.last())
                .copied();
            let ways: Vec<Way> = children
                .iter()
                .map(|&child| Way {
                    fold: child,
                    speech: first_speech(folds, child).0,
                    draft: !folds.is_answered(child),
                    current: Some(child) == current,
                })
                .collect();
            let last = folds.fold(children[children.len() - 1]).head;
            self.fork_at.insert(id, self.forks.len());
            self.forks.push(Fork {
                fold: id,
                node: tree.parent(last).unwrap_or(fold.head),
                kind: fork_kind(session, folds, &children),
                ways,
            });
        }
    }

    fn find_artefacts(&mut self, session: &Session, tree: &Tree, folds: &Folds, lane: Lane) {
        for (id, record) in session.nodes() {
            let children = tree.children(id);
            if children.len() < 2 || !lane.has(record.sidechain) {
                continue;
            }
            let Some(home) = folds.of(id) else { continue };
            let mut ways = children.iter().filter_map(|child| folds.of(*child)).filter(|id| {
                let fold = folds.fold(*id);
                let is_read_here = fold.placement == Placement::Linked;
                *id != home && is_read_here && folds.speaks(*id) && lane.has(fold.sidechain)
            });
            if ways.next().is_some_and(|first| ways.any(|other| other != first)) {
                continue;
            }
            let main: Vec<NodeId> = children
                .iter()
                .copied()
                .filter(|child| lane.has(session.record(*child).sidechain))
                .collect();
            let kind = if main.len() < 2 {
                Artefact::Sidechain
            } else if main.iter().any(|child| folds.of(*child) == Some(home)) {
                Artefact::ParallelTools
            } else if main.iter().any(|child| folds.is_replay(*child)) {
                Artefact::Replay
            } else {
                Artefact::Decoration
            };
            *self.artefacts.entry(kind).or_default() += 1;
        }
    }

    fn find_conversations(&mut self, session: &Session, tree: &Tree, folds: &Folds, lane: Lane) {
        let along = self.along(folds, lane);
        let ends = ends(session, folds, lane);
        let resuming = self.resume.and_then(|resume| self.end_from(folds, resume.point));
        let mut conversations: Vec<Conversation> = ends
            .into_iter()
            .map(|end| {
                let sums = &along[end.index()];
                let resumes = Some(end) == resuming;
                let leaf = match self.resume {
                    // The resume point may be a marker or a command after the last message.
                    Some(resume) if resumes && in_tail(folds, end, resume.leaf) => resume.leaf,
                    _ => leaf_record(session, tree, folds, end),
                };
                Conversation {
                    n: 0,
                    leaf,
                    end,
                    status: if sums.left_at.is_some() { Status::Abandoned } else { Status::Active },
                    resumes,
                    fork: sums.left_at.map(|fork| fork.get() as usize - 1),
                    messages: sums.messages,
                    records: sums.records,
                    compactions: sums.compactions,
                    draft: sums.draft && !folds.is_answered(end),
                    opening: (sums.opening_rank < NO_RANK).then_some(sums.opening),
                }
            })
            .collect();
        conversations.sort_unstable_by_key(|conversation| conversation.leaf);
        for (n, conversation) in (1..).zip(&mut conversations) {
            conversation.n = n;
        }
        // The point may be on a root without dialogue, such as a single hook record.
        if self.resume.is_some()
            && !conversations.iter().any(|conversation| conversation.resumes)
            && let Some(last) =
                conversations.iter_mut().rfind(|conversation| conversation.status == Status::Active)
        {
            last.resumes = true;
        }
        self.conversations = conversations;
    }

    /// Returns the end of the conversation that a node is on, along the current branches.
    pub(crate) fn end_from(&self, folds: &Folds, node: NodeId) -> Option<FoldId> {
        let mut fold = folds.of(node)?;
        while !folds.speaks(fold)
            && let Some(parent) = folds.fold(fold).parent
        {
            fold = parent;
        }
        loop {
            let Some(next) = self.next_of(folds, fold) else { return Some(fold) };
            fold = next;
        }
    }

    /// Returns the conversation that a message is on, along the current branches.
    ///
    /// The result for all messages is computed in one pass over the session.
    pub(crate) fn conversation_at(&self, folds: &Folds, fold: FoldId) -> Option<&Conversation> {
        let table = self.conversation_at.get_or_init(|| {
            let mut table = vec![NOWHERE; folds.len()];
            for (index, conversation) in (0..).zip(&self.conversations) {
                table[conversation.end.index()] = index;
            }
            // Children come after their parents.
            for (id, _) in folds.iter().rev().filter(|(id, _)| folds.speaks(*id)) {
                if let Some(next) = self.next_of(folds, id) {
                    table[id.index()] = table[next.index()];
                }
            }
            for (id, fold) in folds.iter().filter(|(id, _)| !folds.speaks(*id)) {
                if let Some(parent) = fold.parent {
                    table[id.index()] = table[parent.index()];
                }
            }
            table
        });
        self.conversations.get(*table.get(fold.index())? as usize)
    }

    /// Returns the next message along the current branch.
    fn next_of(&self, folds: &Folds, fold: FoldId) -> Option<FoldId> {
        match self.fork_at(fold) {
            Some(fork) => fork.ways.iter().find(|way| way.current).map(|way| way.fold),
            None => folds.speaking_children(fold).last(),
        }
    }

    /// Sums up every path from its root, parents before children.
    fn along(&self, folds: &Folds, lane: Lane) -> Vec<Along> {
        let ways: FxHashMap<FoldId, (usize, bool)> = self
            .forks
            .iter()
            .enumerate()
            .flat_map(|(fork, found)| {
                found.ways.iter().map(move |way| (way.fold, (fork, way.current)))
            })
            .collect();
        let mut along: Vec<Along> = Vec::with_capacity(folds.len());
        for (id, fold) in folds.iter() {
            let above =
                fold.parent.filter(|parent| folds.fold(*parent).sidechain == fold.sidechain);
            let mut sums = above.map_or_else(Along::default, |parent| along[parent.index()]);
            if lane.has(fold.sidechain) {
                sums.messages += u32::from(fold.voice.is_displayable() && !fold.again);
                sums.compactions += u32::from(fold.voice == Voice::Boundary);
                let rank = OPENINGS.iter().position(|voice| *voice == fold.voice);
                if let Some(rank) = rank
                    && rank < usize::from(sums.opening_rank)
                {
                    (sums.opening_rank, sums.opening) = (rank as u8, fold.head);
                }
                sums.draft &= fold.voice != Voice::Answer;
                sums.records += folds.members(id).len() as u32;
                sums.records +=
                    folds.quiet_children(id).map(|child| folds.below(child).nodes).sum::<u32>();
                if let Some((fork, current)) = ways.get(&id) {
                    sums.draft = fold.voice != Voice::Answer;
                    if !current {
                        sums.left_at = Some(NonZeroU32::MIN.saturating_add(*fork as u32));
                    }
                }
            }
            along.push(sums);
        }
        along
    }
}

/// What lies on the path from the root to a fold. There is one for each fold, so it is kept small.
#[derive(Clone, Copy, Debug)]
struct Along {
    messages: u32,
    records: u32,
    compactions: u32,
    /// The fork at which the path was left, counted from one.
    left_at: Option<NonZeroU32>,
    /// What begins the path in words, if there is a place for it among [`OPENINGS`].
    opening: NodeId,
    opening_rank: u8,
    draft: bool,
}

/// Comes after all places among [`OPENINGS`].
const NO_RANK: u8 = u8::MAX;

impl Default for Along {
    fn default() -> Self {
        Self {
            messages: 0,
            records: 0,
            compactions: 0,
            left_at: None,
            opening: NodeId(0),
            opening_rank: NO_RANK,
            draft: false,
        }
    }
}

/// Which records are the main conversation: all but sidechains, or in a sub-agent's file all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Main,
    Agent,
}

impl Lane {
    pub(crate) fn of(session: &Session) -> Self {
        let all = session.nodes().all(|(_, record)| record.sidechain);
        if all { Self::Agent } else { Self::Main }
    }

    pub(crate) fn has(self, sidechain: bool) -> bool {
        match self {
            Self::Main => !sidechain,
            Self::Agent => true,
        }
    }
}

/// Returns the first dialogue message at or below a message, and whether a command comes before it.
fn first_speech(folds: &Folds, fold: FoldId) -> (FoldId, bool) {
    let (mut at, mut command) = (fold, false);
    while !folds.fold(at).voice.speaks() {
        command |= folds.fold(at).voice == Voice::Command;
        let Some(next) = folds.speaking_children(at).next() else { break };
        at = next;
    }
    (at, command)
}

/// Returns the kind of a fork point by its branches, in file order.
pub(crate) fn fork_kind(session: &Session, folds: &Folds, children: &[FoldId]) -> ForkKind {
    let voices: Vec<Voice> = children
        .iter()
        .map(|child| match first_speech(folds, *child) {
            // A command that is answered is a person's doing, like a prompt.
            (_, true) => Voice::Prompt,
            (speech, false) => folds.fold(speech).voice,
        })
        .collect();
    let versions = {
        let names: Vec<_> =
            children.iter().map(|child| session.record(folds.fold(*child).head).name).collect();
        names[0].is_some() && names.iter().all(|name| *name == names[0])
    };
    let is_answer = |voice: &Voice| matches!(voice, Voice::Answer | Voice::Synthetic);
    if versions || voices.iter().all(is_answer) {
        return ForkKind::Retry;
    }
    // The prompt with which a branch continued, if it did.
    let went_on = |way: usize| match voices[way] {
        Voice::Prompt => folds.prompt_below(children[way], 1),
        Voice::CompactSummary => Some(NodeId(0)),
        _ => folds.prompt_below(children[way], 0),
    };
    let mut earliest: Option<NodeId> = None;
    let went_back = (1..children.len()).any(|later| {
        earliest = [earliest, went_on(later - 1)].into_iter().flatten().min();
        let head = folds.fold(children[later]).head;
        voices[later] == Voice::Prompt && earliest.is_some_and(|prompt| prompt < head)
    });
    if went_back {
        ForkKind::Rewind
    } else if voices.iter().any(is_answer) {
        ForkKind::Interrupt
    } else {
        ForkKind::Edit
    }
}

/// Returns the messages that conversations end with.
fn ends(session: &Session, folds: &Folds, lane: Lane) -> Vec<FoldId> {
    let mut ends: Vec<FoldId> = folds
        .iter()
        .filter(|(id, fold)| {
            lane.has(fold.sidechain)
                && fold.voice.speaks()
                && folds.speaking_children(*id).next().is_none()
        })
        .map(|(id, _)| id)
        .collect();
    // A root without dialogue below it is a conversation only if a person or the model left
    // something there, such as a command, or if the session has nothing else.
    let silent = |id: &FoldId| {
        let fold = folds.fold(*id);
        let is_root =
            fold.parent.is_none_or(|parent| lane == Lane::Main && folds.fold(parent).sidechain);
        is_root
            && lane.has(fold.sidechain)
            && !folds.speaks(*id)
            && !session.record(fold.head).recovered
    };
    let mut silent_roots: Vec<FoldId> = folds.iter().map(|(id, _)| id).filter(silent).collect();
    if ends.is_empty() && silent_roots.iter().all(|id| !folds.below(*id).has_message) {
        silent_roots.truncate(1);
    } else {
        silent_roots.retain(|id| folds.below(*id).has_message);
    }
    ends.append(&mut silent_roots);
    ends
}

/// Whether a record belongs to the end of a conversation or to what trails it.
fn in_tail(folds: &Folds, end: FoldId, record: NodeId) -> bool {
    folds.of(record).is_some_and(|fold| {
        folds
            .ancestors(fold)
            .take_while(|above| *above == end || !folds.speaks(*above))
            .any(|above| above == end)
    })
}

/// Returns the last user or assistant record of a conversation.
fn leaf_record(session: &Session, tree: &Tree, folds: &Folds, end: FoldId) -> NodeId {
    let mut open = vec![end];
    let mut leaf: Option<NodeId> = None;
    let mut last = folds.fold(end).head;
    while let Some(fold) = open.pop() {
        for &member in folds.members(fold) {
            last = last.max(member);
            if matches!(session.record(member).kind, Kind::User | Kind::Assistant)
                && tree.is_first(member)
            {
                leaf = leaf.max(Some(member));
            }
        }
        open.extend(folds.quiet_children(fold));
    }
    leaf.unwrap_or(last)
}
