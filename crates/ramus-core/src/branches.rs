//! Finds the fork points and conversations of a session, and which of them are active.

use bitcode::{Decode, Encode};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::message_tree::{MessageNodeId, MessageTree, Placement};
use crate::record::{RecordKind, RecordRole};
use crate::record_tree::RecordTree;
use crate::resume::{ResumePoint, ResumeRule, find_resume_point};
use crate::session::{NodeId, Session};

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
    pub fn as_str(self) -> &'static str {
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
        f.write_str(self.as_str())
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
    pub fn as_str(self) -> &'static str {
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
pub struct ForkPoint {
    pub message: MessageNodeId,
    /// The parent of the branch that was written last.
    pub node: NodeId,
    pub kind: ForkKind,
    /// In file order.
    pub branches: Vec<ForkBranch>,
}

/// One alternative of a fork.
#[derive(Clone, Copy, Debug)]
pub struct ForkBranch {
    pub message: MessageNodeId,
    /// Its first dialogue message.
    pub first_message: MessageNodeId,
    /// The model never replied on it.
    pub draft: bool,
    /// It leads to the resume point, or was written last.
    pub current: bool,
}

/// Whether a conversation is the one that counts at all its forks (R12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchStatus {
    Active,
    Abandoned,
}

impl BranchStatus {
    /// Reads the stable word for it.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Abandoned].into_iter().find(|status| status.as_str() == word)
    }

    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Abandoned => "abandoned",
        }
    }
}

impl fmt::Display for BranchStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One path through a session, from a root to a leaf (R10).
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Its number in the session, from 1, in file order of the leaves.
    pub number: u32,
    /// The last user or assistant record.
    pub leaf: NodeId,
    /// The last dialogue message.
    pub end: MessageNodeId,
    pub status: BranchStatus,
    /// The client would continue this one.
    pub resumes: bool,
    /// For an abandoned one: the fork (by index) at which it was left.
    pub fork_index: Option<usize>,
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
pub struct SessionBranches {
    pub forks: Vec<ForkPoint>,
    pub artefacts: FxHashMap<Artefact, u32>,
    pub conversations: Vec<Conversation>,
    pub resume: Option<ResumePoint>,
    /// The rule that chose it.
    pub rule: ResumeRule,
    fork_at: FxHashMap<MessageNodeId, usize>,
    /// For each message the index of its conversation, or [`NO_CONVERSATION`]; computed on first use.
    conversation_at: OnceLock<Vec<u32>>,
}

const NO_CONVERSATION: u32 = u32::MAX;

/// The roles whose text can introduce a conversation, best first.
const OPENINGS: [RecordRole; 5] = [
    RecordRole::Prompt,
    RecordRole::QueuedPrompt,
    RecordRole::Command,
    RecordRole::CompactSummary,
    RecordRole::Notification,
];

impl SessionBranches {
    /// Analyses a session; in a sub-agent's file its sidechain is the main chain.
    pub fn new(
        session: &Session,
        tree: &RecordTree,
        message_tree: &MessageTree,
        rule: ResumeRule,
    ) -> Self {
        let main_chain = MainChain::of_session(session);
        let mut branches =
            Self { resume: find_resume_point(session, tree, rule), rule, ..Self::default() };
        branches.find_fork_points(session, tree, message_tree, main_chain);
        branches.find_artefacts(session, tree, message_tree, main_chain);
        branches.find_conversations(session, tree, message_tree, main_chain);
        branches
    }

    /// Returns the fork point at a message.
    pub fn fork_at(&self, message: MessageNodeId) -> Option<&ForkPoint> {
        self.fork_at.get(&message).map(|index| &self.forks[*index])
    }

    /// Returns the conversation the client would continue.
    pub fn resuming_conversation(&self) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.resumes)
    }

    /// Returns the conversation that a session's address means.
    ///
    /// This is the one that the client would continue. If that has a single command or prompt and there
    /// are others, it is the last one with more messages.
    pub fn main_conversation(&self) -> Option<&Conversation> {
        let last = |wanted: fn(&Conversation) -> bool| {
            self.conversations.iter().rfind(|conversation| wanted(conversation))
        };
        self.resuming_conversation()
            .filter(|conversation| conversation.messages > 1)
            .or_else(|| last(|found| found.messages > 1 && found.status == BranchStatus::Active))
            .or_else(|| last(|found| found.messages > 1))
            .or(self.resuming_conversation().filter(|conversation| conversation.messages > 0))
            .or_else(|| last(|found| found.messages > 0))
            .or(self.resuming_conversation())
            .or(self.conversations.last())
    }

    fn find_fork_points(
        &mut self,
        session: &Session,
        tree: &RecordTree,
        message_tree: &MessageTree,
        main_chain: MainChain,
    ) {
        let resume_path: FxHashSet<MessageNodeId> = self
            .resume
            .and_then(|resume| message_tree.message_of(resume.point))
            .map(|message| message_tree.ancestors(message).collect())
            .unwrap_or_default();
        for (id, message) in
            message_tree.iter().filter(|(_, message)| main_chain.includes(message.sidechain))
        {
            let children: Vec<MessageNodeId> = message_tree.dialogue_children(id).collect();
            if children.len() < 2 {
                continue;
            }
            let current = children
                .iter()
                .find(|child| resume_path.contains(child))
                .or(children.last())
                .copied();
            let branches: Vec<ForkBranch> = children
                .iter()
                .map(|&child| ForkBranch {
                    message: child,
                    first_message: first_dialogue(message_tree, child).0,
                    draft: !message_tree.has_reply(child),
                    current: Some(child) == current,
                })
                .collect();
            let last = message_tree.message(children[children.len() - 1]).head;
            self.fork_at.insert(id, self.forks.len());
            self.forks.push(ForkPoint {
                message: id,
                node: tree.parent(last).unwrap_or(message.head),
                kind: classify_fork_point(session, message_tree, &children),
                branches,
            });
        }
    }

    fn find_artefacts(
        &mut self,
        session: &Session,
        tree: &RecordTree,
        message_tree: &MessageTree,
        main_chain: MainChain,
    ) {
        for (id, record) in session.nodes() {
            let children = tree.children(id);
            if children.len() < 2 || !main_chain.includes(record.sidechain) {
                continue;
            }
            let Some(home) = message_tree.message_of(id) else { continue };
            let mut branches =
                children.iter().filter_map(|child| message_tree.message_of(*child)).filter(|id| {
                    let message = message_tree.message(*id);
                    let is_read_here = message.placement == Placement::Linked;
                    *id != home
                        && is_read_here
                        && message_tree.has_dialogue(*id)
                        && main_chain.includes(message.sidechain)
                });
            if branches.next().is_some_and(|first| branches.any(|other| other != first)) {
                continue;
            }
            let main: Vec<NodeId> = children
                .iter()
                .copied()
                .filter(|child| main_chain.includes(session.record(*child).sidechain))
                .collect();
            let kind = if main.len() < 2 {
                Artefact::Sidechain
            } else if main.iter().any(|child| message_tree.message_of(*child) == Some(home)) {
                Artefact::ParallelTools
            } else if main.iter().any(|child| message_tree.is_replay(*child)) {
                Artefact::Replay
            } else {
                Artefact::Decoration
            };
            *self.artefacts.entry(kind).or_default() += 1;
        }
    }

    fn find_conversations(
        &mut self,
        session: &Session,
        tree: &RecordTree,
        message_tree: &MessageTree,
        main_chain: MainChain,
    ) {
        let along = self.sum_paths(message_tree, main_chain);
        let ends = conversation_ends(session, message_tree, main_chain);
        let resuming = self.resume.and_then(|resume| self.end_from(message_tree, resume.point));
        let mut conversations: Vec<Conversation> = ends
            .into_iter()
            .map(|end| {
                let sums = &along[end.index()];
                let resumes = Some(end) == resuming;
                let leaf = match self.resume {
                    // The resume point may be a marker or a command after the last message.
                    Some(resume) if resumes && is_in_tail(message_tree, end, resume.leaf) => {
                        resume.leaf
                    }
                    _ => leaf_record(session, tree, message_tree, end),
                };
                Conversation {
                    number: 0,
                    leaf,
                    end,
                    status: if sums.left_at.is_some() {
                        BranchStatus::Abandoned
                    } else {
                        BranchStatus::Active
                    },
                    resumes,
                    fork_index: sums.left_at.map(|fork| fork.get() as usize - 1),
                    messages: sums.messages,
                    records: sums.records,
                    compactions: sums.compactions,
                    draft: sums.draft && !message_tree.has_reply(end),
                    opening: (sums.opening_rank < NO_RANK)
                        .then_some(sums.opening)
                        .or_else(|| opening_of_silent(message_tree, end)),
                }
            })
            .collect();
        conversations.sort_unstable_by_key(|conversation| conversation.leaf);
        for (n, conversation) in (1..).zip(&mut conversations) {
            conversation.number = n;
        }
        // The point may be on a root without dialogue, such as a single hook record.
        if self.resume.is_some()
            && !conversations.iter().any(|conversation| conversation.resumes)
            && let Some(last) = conversations
                .iter_mut()
                .rfind(|conversation| conversation.status == BranchStatus::Active)
        {
            last.resumes = true;
        }
        self.conversations = conversations;
    }

    /// Returns the end of the conversation that a node is on, along the current branches.
    pub(crate) fn end_from(
        &self,
        message_tree: &MessageTree,
        node: NodeId,
    ) -> Option<MessageNodeId> {
        let mut message = message_tree.message_of(node)?;
        while !message_tree.has_dialogue(message)
            && let Some(parent) = message_tree.message(message).parent
        {
            message = parent;
        }
        loop {
            let Some(next) = self.next_message(message_tree, message) else { return Some(message) };
            message = next;
        }
    }

    /// Returns the conversation that a message is on, along the current branches.
    ///
    /// The result for all messages is computed in one pass over the session.
    pub(crate) fn conversation_at(
        &self,
        message_tree: &MessageTree,
        message: MessageNodeId,
    ) -> Option<&Conversation> {
        let table = self.conversation_at.get_or_init(|| {
            let mut table = vec![NO_CONVERSATION; message_tree.len()];
            for (index, conversation) in (0..).zip(&self.conversations) {
                table[conversation.end.index()] = index;
            }
            // Children come after their parents.
            for (id, _) in
                message_tree.iter().rev().filter(|(id, _)| message_tree.has_dialogue(*id))
            {
                if let Some(next) = self.next_message(message_tree, id) {
                    table[id.index()] = table[next.index()];
                }
            }
            for (id, message) in
                message_tree.iter().filter(|(id, _)| !message_tree.has_dialogue(*id))
            {
                if let Some(parent) = message.parent {
                    table[id.index()] = table[parent.index()];
                }
            }
            table
        });
        self.conversations.get(*table.get(message.index())? as usize)
    }

    /// Returns the next message along the current branch.
    fn next_message(
        &self,
        message_tree: &MessageTree,
        message: MessageNodeId,
    ) -> Option<MessageNodeId> {
        match self.fork_at(message) {
            Some(fork) => {
                fork.branches.iter().find(|branch| branch.current).map(|branch| branch.message)
            }
            None => message_tree.dialogue_children(message).last(),
        }
    }

    /// Sums up every path from its root, parents before children.
    fn sum_paths(&self, message_tree: &MessageTree, main_chain: MainChain) -> Vec<PathSums> {
        let branches: FxHashMap<MessageNodeId, (usize, bool)> = self
            .forks
            .iter()
            .enumerate()
            .flat_map(|(fork, found)| {
                found.branches.iter().map(move |branch| (branch.message, (fork, branch.current)))
            })
            .collect();
        let mut along: Vec<PathSums> = Vec::with_capacity(message_tree.len());
        for (id, message) in message_tree.iter() {
            let above = message
                .parent
                .filter(|parent| message_tree.message(*parent).sidechain == message.sidechain);
            let mut sums = above.map_or_else(PathSums::default, |parent| along[parent.index()]);
            if main_chain.includes(message.sidechain) {
                sums.messages +=
                    u32::from(message.role.is_displayable() && !message.continues_earlier);
                sums.compactions += u32::from(message_tree.begins_compaction(id));
                let rank = OPENINGS.iter().position(|role| *role == message.role);
                if let Some(rank) = rank
                    && rank < usize::from(sums.opening_rank)
                {
                    (sums.opening_rank, sums.opening) = (rank as u8, message.head);
                }
                sums.draft &= message.role != RecordRole::Reply;
                sums.records += message_tree.records_of(id).len() as u32;
                sums.records += message_tree
                    .decoration_children(id)
                    .map(|child| message_tree.subtree(child).nodes)
                    .sum::<u32>();
                if let Some((fork, current)) = branches.get(&id) {
                    sums.draft = message.role != RecordRole::Reply;
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

/// What is on the path from the root to a message. There is one for each message, so it is small.
#[derive(Clone, Copy, Debug)]
struct PathSums {
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

impl Default for PathSums {
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
pub(crate) enum MainChain {
    Session,
    Agent,
}

impl MainChain {
    pub(crate) fn of_session(session: &Session) -> Self {
        let all = session.nodes().all(|(_, record)| record.sidechain);
        if all { Self::Agent } else { Self::Session }
    }

    pub(crate) fn includes(self, sidechain: bool) -> bool {
        match self {
            Self::Session => !sidechain,
            Self::Agent => true,
        }
    }
}

/// Returns the first dialogue message at or below a message, and whether a command comes before it.
fn first_dialogue(message_tree: &MessageTree, message: MessageNodeId) -> (MessageNodeId, bool) {
    let (mut at, mut command) = (message, false);
    while !message_tree.message(at).role.is_dialogue() {
        command |= message_tree.message(at).role == RecordRole::Command;
        let Some(next) = message_tree.dialogue_children(at).next() else { break };
        at = next;
    }
    (at, command)
}

/// Returns the kind of a fork point by its branches, in file order.
pub(crate) fn classify_fork_point(
    session: &Session,
    message_tree: &MessageTree,
    children: &[MessageNodeId],
) -> ForkKind {
    let roles: Vec<RecordRole> = children
        .iter()
        .map(|child| match first_dialogue(message_tree, *child) {
            // A command with a reply counts as a prompt.
            (_, true) => RecordRole::Prompt,
            (speech, false) => message_tree.message(speech).role,
        })
        .collect();
    let versions = {
        let names: Vec<_> = children
            .iter()
            .map(|child| session.record(message_tree.message(*child).head).uuid)
            .collect();
        names[0].is_some() && names.iter().all(|name| *name == names[0])
    };
    let is_answer = |role: &RecordRole| matches!(role, RecordRole::Reply | RecordRole::Synthetic);
    if versions || roles.iter().all(is_answer) {
        return ForkKind::Retry;
    }
    // The prompt with which a branch continued, if it did.
    let continued_at = |branch: usize| match roles[branch] {
        RecordRole::Prompt => message_tree.nth_prompt_below(children[branch], 1),
        // Continued from the beginning, so that any later prompt is a rewind.
        RecordRole::CompactSummary => Some(NodeId(0)),
        _ => message_tree.nth_prompt_below(children[branch], 0),
    };
    let mut earliest: Option<NodeId> = None;
    let went_back = (1..children.len()).any(|later| {
        earliest = [earliest, continued_at(later - 1)].into_iter().flatten().min();
        let head = message_tree.message(children[later]).head;
        match roles[later] {
            RecordRole::Prompt => earliest.is_some_and(|prompt| prompt < head),
            // A compaction is no other version of a prompt.
            role => role == RecordRole::CompactSummary,
        }
    });
    if went_back {
        ForkKind::Rewind
    } else if roles.iter().any(is_answer) {
        ForkKind::Interrupt
    } else {
        ForkKind::Edit
    }
}

/// Returns the messages that conversations end with.
fn conversation_ends(
    session: &Session,
    message_tree: &MessageTree,
    main_chain: MainChain,
) -> Vec<MessageNodeId> {
    let mut ends: Vec<MessageNodeId> = message_tree
        .iter()
        .filter(|(id, message)| {
            main_chain.includes(message.sidechain)
                && message.role.is_dialogue()
                && message_tree.dialogue_children(*id).next().is_none()
        })
        .map(|(id, _)| id)
        .collect();
    // A root without dialogue below it is a conversation only if a person or the model left
    // something there, such as a command, or if the session has nothing else.
    let silent = |id: &MessageNodeId| {
        let message = message_tree.message(*id);
        let is_root = message.parent.is_none_or(|parent| {
            main_chain == MainChain::Session && message_tree.message(parent).sidechain
        });
        is_root
            && main_chain.includes(message.sidechain)
            && !message_tree.has_dialogue(*id)
            && !session.record(message.head).recovered
    };
    let mut silent_roots: Vec<MessageNodeId> =
        message_tree.iter().map(|(id, _)| id).filter(silent).collect();
    if ends.is_empty() && silent_roots.iter().all(|id| !message_tree.subtree(*id).has_message) {
        silent_roots.truncate(1);
    } else {
        silent_roots.retain(|id| message_tree.subtree(*id).has_message);
    }
    ends.append(&mut silent_roots);
    ends
}

/// Returns the text that introduces a conversation without dialogue: the first command, a notification.
fn opening_of_silent(message_tree: &MessageTree, end: MessageNodeId) -> Option<NodeId> {
    let mut open = if message_tree.has_dialogue(end) { Vec::new() } else { vec![end] };
    let mut best = None;
    while let Some(id) = open.pop() {
        let message = message_tree.message(id);
        if let Some(rank) = OPENINGS.iter().position(|role| *role == message.role) {
            let found = (rank, message.head);
            best = Some(best.map_or(found, |best: (usize, NodeId)| best.min(found)));
        }
        open.extend(message_tree.decoration_children(id));
    }
    best.map(|(_, head)| head)
}

/// Whether a record belongs to the end of a conversation or to what trails it.
fn is_in_tail(message_tree: &MessageTree, end: MessageNodeId, record: NodeId) -> bool {
    message_tree.message_of(record).is_some_and(|message| {
        message_tree
            .ancestors(message)
            .take_while(|above| *above == end || !message_tree.has_dialogue(*above))
            .any(|above| above == end)
    })
}

/// Returns the last user or assistant record of a conversation.
fn leaf_record(
    session: &Session,
    tree: &RecordTree,
    message_tree: &MessageTree,
    end: MessageNodeId,
) -> NodeId {
    let mut open = vec![end];
    let mut leaf: Option<NodeId> = None;
    let mut last = message_tree.message(end).head;
    while let Some(message) = open.pop() {
        for &member in message_tree.records_of(message) {
            last = last.max(member);
            if matches!(session.record(member).kind, RecordKind::User | RecordKind::Assistant)
                && tree.is_first_copy(member)
            {
                leaf = leaf.max(Some(member));
            }
        }
        open.extend(message_tree.decoration_children(message));
    }
    leaf.unwrap_or(last)
}
