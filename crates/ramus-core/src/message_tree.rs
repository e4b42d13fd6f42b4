//! Groups records into messages, before anything counts as a fork (R8).
//!
//! A reply is written as several records, parallel tool calls are linked in odd places, and hooks and
//! progress come in between. This module turns the records into a tree of messages: a message with its
//! tool results, or one other record. In this tree a node with dialogue below two of its children really
//! is a fork point.
//!
//! The parents of messages follow *reading order*: where the links of the file would mislead a reader, a
//! message follows the record before it instead, and its [`Placement`] says why. The links as written stay
//! in [`RecordTree`], and they alone decide what the client resumes.

use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::branches::MainChain;

use crate::ids::{IdHash, RecordUuid};
use crate::preserved::PreservedNodes;
use crate::record::{Record, RecordKind, RecordRole};
use crate::record_tree::{IndexedLists, RecordTree};
use crate::session::{NodeId, Session};
use crate::steps::count_step;
use crate::time::Time;

/// The index of a message; parents come before their children.
///
/// It counts from one, so that `Option<MessageNodeId>`, which every record has, needs no extra space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageNodeId(NonZeroU32);

impl MessageNodeId {
    fn new(index: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Default for MessageNodeId {
    fn default() -> Self {
        Self::new(0)
    }
}

/// One message with its tool results, or one other node.
#[derive(Clone, Debug)]
pub struct MessageNode {
    /// The record it begins with.
    pub head: NodeId,
    pub parent: Option<MessageNodeId>,
    pub role: RecordRole,
    pub sidechain: bool,
    /// It continues an earlier message after other dialogue.
    pub continues_earlier: bool,
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
    /// It is below a record of a sub-agent, where clients up to 2.0.22 resumed: it follows the record before it.
    AgentRecord,
    /// It is below a message that a compaction preserved, and was written after the compaction: it continues
    /// the compaction, because the client puts such messages after it.
    PreservedMessage,
}

impl Placement {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::Compaction => "compaction",
            Self::MissingParent => "missing-parent",
            Self::NoParent => "no-parent",
            Self::LateRecords => "late-records",
            Self::AfterGuess => "after-guess",
            Self::ReusedCaveat => "reused-caveat",
            Self::AgentRecord => "agent-record",
            Self::PreservedMessage => "kept-message",
        }
    }

    /// Whether only its position in the file suggests this parent.
    pub fn is_guess(self) -> bool {
        matches!(self, Self::MissingParent | Self::NoParent)
    }
}

/// The messages of one session as a tree.
#[derive(Clone, Debug, Default)]
pub struct MessageTree {
    messages: Vec<MessageNode>,
    message_ids: Vec<Option<MessageNodeId>>,
    records: IndexedLists<NodeId>,
    children: IndexedLists<MessageNodeId>,
    subtrees: Vec<SubtreeSummary>,
    replays: Vec<NodeId>,
    /// Replies that were split by other dialogue: the first part and a later one, sorted. Usually empty.
    continuations: Vec<(MessageNodeId, MessageNodeId)>,
    /// For each message the first two prompts at or below it in file order, [`NO_PROMPT`] where there is none;
    /// computed on demand.
    subtree_prompts: OnceLock<Vec<[NodeId; 2]>>,
    /// For each message the number of displayable messages up to and including it; computed on first use.
    messages_up_to: OnceLock<Vec<u32>>,
}

/// A summary of the subtree of a message, including itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubtreeSummary {
    /// It has dialogue.
    pub(crate) has_dialogue: bool,
    /// It has a real reply of the model.
    pub(crate) has_reply: bool,
    /// It has a user or assistant record of any role.
    pub(crate) has_message: bool,
    pub(crate) nodes: u32,
}

/// Sorts after all prompts.
const NO_PROMPT: NodeId = NodeId(u32::MAX);

impl MessageTree {
    /// Groups the nodes of a session.
    pub fn new(session: &Session, tree: &RecordTree) -> Self {
        let BuiltMessages { messages, mut message_ids, mut replays, mut continuations } =
            MessageTreeBuilder::new(session, tree).build();
        replays.sort_unstable();
        continuations.sort_unstable();
        let records = IndexedLists::new(messages.len(), || {
            session.nodes().filter_map(|(id, _)| Some((message_ids[id.index()]?.index(), id)))
        });
        for (id, _) in session.nodes() {
            message_ids[id.index()] = message_ids[tree.first_copy(id).index()];
        }
        let mut order: Vec<MessageNodeId> = (0..messages.len()).map(MessageNodeId::new).collect();
        order.sort_unstable_by_key(|message_id| messages[message_id.index()].head);
        let children = IndexedLists::new(messages.len(), || {
            order.iter().filter_map(|message_id| {
                Some((messages[message_id.index()].parent?.index(), *message_id))
            })
        });
        let subtrees = summarize_subtrees(session, &messages, &records);
        Self {
            messages,
            message_ids,
            records,
            children,
            subtrees,
            replays,
            continuations,
            ..Self::default()
        }
    }

    /// Returns the message.
    pub fn message(&self, id: MessageNodeId) -> &MessageNode {
        count_step();
        &self.messages[id.index()]
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether the session has no node at all.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns all messages, parents before children.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (MessageNodeId, &MessageNode)> {
        self.messages.iter().enumerate().map(|(i, message_id)| (MessageNodeId::new(i), message_id))
    }

    /// Returns the message that a node belongs to; metadata belongs to none.
    pub fn message_of(&self, id: NodeId) -> Option<MessageNodeId> {
        self.message_ids.get(id.index()).copied().flatten()
    }

    /// Returns the records of a message in file order, without second copies.
    pub fn records_of(&self, id: MessageNodeId) -> &[NodeId] {
        self.records.list_at(id.index())
    }

    /// Returns the children in file order.
    pub fn children(&self, id: MessageNodeId) -> &[MessageNodeId] {
        self.children.list_at(id.index())
    }

    /// Returns the children on the same chain that have dialogue.
    pub fn dialogue_children(&self, id: MessageNodeId) -> impl Iterator<Item = MessageNodeId> {
        let sidechain = self.message(id).sidechain;
        self.children(id).iter().copied().filter(move |child| {
            self.subtree(*child).has_dialogue && self.message(*child).sidechain == sidechain
        })
    }

    /// Returns the children on the same chain without dialogue: decoration.
    pub fn decoration_children(&self, id: MessageNodeId) -> impl Iterator<Item = MessageNodeId> {
        let sidechain = self.message(id).sidechain;
        let children = self.children(id).iter().copied();
        children.filter(move |child| {
            !self.has_dialogue(*child) && self.message(*child).sidechain == sidechain
        })
    }

    /// Whether there is dialogue in the message or below it.
    pub fn has_dialogue(&self, id: MessageNodeId) -> bool {
        self.subtree(id).has_dialogue
    }

    /// Whether there is a real reply in the message or below it.
    pub fn has_reply(&self, id: MessageNodeId) -> bool {
        self.subtree(id).has_reply
    }

    /// Whether a compaction begins with a message: its boundary or, from clients that wrote none, its summary (R7).
    pub fn begins_compaction(&self, id: MessageNodeId) -> bool {
        let role = |id: &MessageNodeId| self.message(*id).role;
        match role(&id) {
            RecordRole::CompactBoundary => true,
            RecordRole::CompactSummary => {
                // Hook records may come between the two.
                let above = self.ancestors(id).skip(1).take(MAX_BELOW_BOUNDARY).map(|id| role(&id));
                let mut above = above.skip_while(|role| *role == RecordRole::Decoration);
                above.next() != Some(RecordRole::CompactBoundary)
            }
            _ => false,
        }
    }

    pub(crate) fn subtree(&self, id: MessageNodeId) -> &SubtreeSummary {
        count_step();
        &self.subtrees[id.index()]
    }

    /// Returns the first prompt at or below a message in file order, or the second.
    pub(crate) fn nth_prompt_below(&self, id: MessageNodeId, index: usize) -> Option<NodeId> {
        let prompts = self.subtree_prompts.get_or_init(|| find_subtree_prompts(&self.messages));
        prompts[id.index()].get(index).copied().filter(|prompt| *prompt != NO_PROMPT)
    }

    /// Whether a node only repeats another one (R8d).
    pub fn is_replay(&self, node: NodeId) -> bool {
        self.replays.binary_search(&node).is_ok()
    }

    /// Returns the later parts of a reply that other dialogue split.
    pub(crate) fn continuations_of(
        &self,
        first: MessageNodeId,
    ) -> impl Iterator<Item = MessageNodeId> {
        let at = self.continuations.partition_point(|(of, _)| *of < first);
        let own = self.continuations[at..].iter().take_while(move |(of, _)| *of == first);
        own.map(|(_, later)| *later)
    }

    /// Counts the displayable messages below one message, up to another further down.
    pub(crate) fn messages_between(&self, above: MessageNodeId, below: MessageNodeId) -> u32 {
        let counts = self.messages_up_to.get_or_init(|| {
            let mut counts: Vec<u32> = Vec::with_capacity(self.messages.len());
            // Parents come before their children.
            for message_id in &self.messages {
                let before = message_id.parent.map_or(0, |parent| counts[parent.index()]);
                counts.push(before + u32::from(message_id.role.is_displayable()));
            }
            counts
        });
        counts[below.index()].saturating_sub(counts[above.index()])
    }

    /// Walks from a message up to its root.
    pub fn ancestors(&self, id: MessageNodeId) -> impl Iterator<Item = MessageNodeId> {
        std::iter::successors(Some(id), |id| self.message(*id).parent)
    }
}

struct MessageTreeBuilder<'a> {
    session: &'a Session,
    tree: &'a RecordTree,
    main_chain: MainChain,
    preserved: PreservedNodes,
    messages: Vec<MessageNode>,
    message_ids: Vec<Option<MessageNodeId>>,
    by_message: FxHashMap<(IdHash, bool), MessageNodeId>,
    by_call: FxHashMap<IdHash, MessageNodeId>,
    /// Hashes of contents that occur more than once: only they can be copies.
    repeated: FxHashSet<u64>,
    by_content: FxHashMap<ContentKey, MessageNodeId>,
    /// For each message its position in the tree.
    jumps: Vec<AncestorJump>,
    /// The last new record of the main chain in file order that is not decoration.
    last: Option<LastMessage>,
    /// Records that were written after their turn had ended.
    late_records: FxHashMap<NodeId, LateRecord>,
    /// For the uuids of lost parents what the first prompt below them follows.
    lost_parents: FxHashMap<RecordUuid, MessageNodeId>,
    /// Caveats below which a command was placed elsewhere.
    reused_caveats: FxHashSet<MessageNodeId>,
    replays: Vec<NodeId>,
    /// Records that repeat earlier ones, with the decoration below them.
    copies: FxHashSet<NodeId>,
    /// See [`MessageTree::continuations`]; sorted by the later part.
    continuations: Vec<(MessageNodeId, MessageNodeId)>,
}

/// What the builder makes of the records.
struct BuiltMessages {
    messages: Vec<MessageNode>,
    message_ids: Vec<Option<MessageNodeId>>,
    replays: Vec<NodeId>,
    continuations: Vec<(MessageNodeId, MessageNodeId)>,
}

/// The position of a message in the tree: its depth, and a distant ancestor, so that climbing takes few steps.
#[derive(Clone, Copy)]
struct AncestorJump {
    depth: u32,
    far_ancestor: MessageNodeId,
    /// The nearest message at or above it that is not decoration.
    anchor: MessageNodeId,
    /// The nearest dialogue at or above it.
    dialogue: Option<MessageNodeId>,
    compactions: u32,
}

/// A record that was written after its turn had ended.
#[derive(Clone, Copy)]
struct LateRecord {
    /// The end of that turn.
    end: MessageNodeId,
    /// What the first prompt below it follows: an edited version of that prompt follows the same.
    prompt_parent: Option<MessageNodeId>,
}

#[derive(Clone, Copy)]
struct LastMessage {
    message: MessageNodeId,
    time: Option<Time>,
}

impl<'a> MessageTreeBuilder<'a> {
    fn new(session: &'a Session, tree: &'a RecordTree) -> Self {
        Self {
            session,
            tree,
            main_chain: MainChain::of_session(session),
            preserved: PreservedNodes::new(session, tree),
            messages: Vec::with_capacity(session.records().len() / 2),
            message_ids: vec![None; session.records().len()],
            by_message: FxHashMap::default(),
            by_call: FxHashMap::default(),
            repeated: repeated_contents(session),
            by_content: FxHashMap::default(),
            jumps: Vec::with_capacity(session.records().len() / 2),
            last: None,
            late_records: FxHashMap::default(),
            lost_parents: FxHashMap::default(),
            reused_caveats: FxHashSet::default(),
            replays: Vec::new(),
            copies: FxHashSet::default(),
            continuations: Vec::new(),
        }
    }

    fn build(mut self) -> BuiltMessages {
        self.place_all();
        let Self { messages, message_ids, replays, continuations, .. } = self;
        BuiltMessages { messages, message_ids, replays, continuations }
    }

    /// Places every node, in file order but never before its parent.
    fn place_all(&mut self) {
        let mut waiting = Vec::new();
        for (id, record) in self.session.nodes() {
            let mut next = Some(self.tree.first_copy(id));
            while let Some(node) = next
                && self.message_ids[node.index()].is_none()
            {
                waiting.push(node);
                next = self.tree.parent(node);
            }
            while let Some(node) = waiting.pop() {
                let message_id = self.place_record(node);
                self.message_ids[node.index()] = Some(message_id);
            }
            self.advance_last(id, record);
        }
    }

    /// Records how far the conversation has come; copies and decoration do not count.
    fn advance_last(&mut self, id: NodeId, record: &Record) {
        let Some(message_id) = self.message_ids[id.index()] else { return };
        let is_new = self.tree.is_first_copy(id) && self.replays.last() != Some(&id);
        if !is_new
            || !self.main_chain.includes(record.sidechain)
            || self.effective_role(id, record) == RecordRole::Decoration
            || self.late_records.contains_key(&id)
        {
            return;
        }
        self.last = match self.last {
            Some(last) if last.message == message_id => {
                Some(LastMessage { time: record.time.max(last.time), ..last })
            }
            // A late result goes to its call, although the conversation is further on.
            Some(last) if self.is_ancestor(message_id, last.message) => Some(last),
            _ => Some(LastMessage { message: message_id, time: record.time }),
        };
    }

    fn place_record(&mut self, id: NodeId) -> MessageNodeId {
        let record = self.session.record(id);
        let mut role = self.effective_role(id, record);
        let (parent, placement) = self.reading_parent(id, record, role);
        let message = self.claimed_message(id, record, role, parent);
        let linked = self.linked_parent(id);
        let belongs = |message: &MessageNodeId| {
            placement.is_guess()
                || self.belongs_to(*message, record, parent)
                || parent != linked && self.belongs_to(*message, record, linked)
        };
        if let Some(message_id) = message.filter(belongs) {
            if self.known_content(record).is_some() {
                self.copies.insert(id);
            }
            self.note_late_result(id, record, message_id);
            self.remember_ids(id, record, role, message_id);
            return message_id;
        }
        if let Some(original) = self.find_original(id, record, role, parent) {
            self.replays.push(id);
            self.copies.insert(id);
            match original {
                CopyPlacement::Beside(message_id) => return message_id,
                // A copy of an earlier message is not dialogue; the chain passes through it.
                CopyPlacement::Below => role = RecordRole::Decoration,
            }
        }
        let again = role.is_dialogue()
            && message
                .zip(parent)
                .is_some_and(|(message, parent)| self.is_ancestor(message, parent));
        let message_id = MessageNodeId::new(self.messages.len());
        if let Some(earlier) = message.filter(|_| again && role == RecordRole::Reply) {
            self.continuations.push((self.first_part(earlier), message_id));
        }
        let sidechain = record.sidechain;
        self.messages.push(MessageNode {
            head: id,
            parent,
            role,
            sidechain,
            continues_earlier: again,
            placement,
        });
        self.jumps.push(self.compute_jump(message_id, parent, role));
        self.note_late(id, role, record, parent);
        self.remember_placement(id, record, role, parent, placement);
        self.remember_ids(id, record, role, message_id);
        message_id
    }

    /// Returns the first part of a reply that other dialogue split.
    fn first_part(&self, part: MessageNodeId) -> MessageNodeId {
        let at = self.continuations.binary_search_by_key(&part, |(_, later)| *later);
        at.map_or(part, |at| self.continuations[at].0)
    }

    /// Returns the message that a reader would expect a record to follow, and why.
    fn reading_parent(
        &self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
    ) -> (Option<MessageNodeId>, Placement) {
        let linked = self.linked_parent(id);
        let last = self
            .last
            .filter(|_| self.main_chain.includes(record.sidechain))
            .map(|last| last.message);
        let Some(last) = last else { return (linked, Placement::Linked) };
        let Some(parent) = linked else {
            // No conversation begins with a reply; it begins with a prompt or a command.
            let begins = matches!(
                role,
                RecordRole::Prompt
                    | RecordRole::Command
                    | RecordRole::Meta
                    | RecordRole::QueuedPrompt
            );
            // A lost prompt that nothing follows does not continue a conversation: it stays separate. If the
            // next record lost its parent as well, what followed the prompt may be lost too.
            let is_alone = begins
                && self.tree.children(id).is_empty()
                && self.next_record(id).is_none_or(|next| !self.has_lost_parent(next));
            let placement = match role {
                RecordRole::CompactBoundary | RecordRole::CompactSummary => Placement::Compaction,
                _ if record.parent_uuid.is_some() && !is_alone => {
                    return (Some(self.guess_parent(record, role, last)), Placement::MissingParent);
                }
                // Where the record before names no parent either, the file has no links to follow.
                _ if begins && !self.has_no_parent(last) => return (None, Placement::Linked),
                _ => Placement::NoParent,
            };
            return (Some(last), placement);
        };
        if role == RecordRole::CompactBoundary && self.is_compacted_again(parent, last) {
            return (Some(last), Placement::Compaction);
        }
        if let Some(anchor) = self.compaction_anchor(id) {
            return (Some(anchor), Placement::PreservedMessage);
        }
        if self.messages[parent.index()].sidechain != record.sidechain {
            return (Some(last), Placement::AgentRecord);
        }
        if let Some(late) = self.late_record_above(id).filter(|_| role != RecordRole::Decoration) {
            return (Some(self.parent_after_late(late, role, last)), Placement::LateRecords);
        }
        if last != parent
            && self.is_below_reused_caveat(parent, role)
            && !self.is_known_below(parent, record)
        {
            return (Some(last), Placement::ReusedCaveat);
        }
        // A reply next to a guess is not a second branch: a guess only means that it came before.
        let is_reply = matches!(role, RecordRole::Reply | RecordRole::Synthetic);
        if is_reply && self.is_guess_between(parent, last) {
            return (Some(last), Placement::AfterGuess);
        }
        (Some(parent), Placement::Linked)
    }

    fn has_no_parent(&self, message: MessageNodeId) -> bool {
        self.messages[message.index()].placement == Placement::NoParent
    }

    /// Whether a compaction names the record that the compaction before it named, and nothing was said in
    /// between: the first was repeated, and nobody went back.
    fn is_compacted_again(&self, parent: MessageNodeId, last: MessageNodeId) -> bool {
        let dialogue = |message: MessageNodeId| self.jumps[message.index()].dialogue;
        let Some(summary) = dialogue(last).map(|summary| &self.messages[summary.index()]) else {
            return false;
        };
        summary.role == RecordRole::CompactSummary
            && summary.parent.is_some_and(|above| dialogue(above) == dialogue(parent))
            && self.is_ancestor(parent, last)
    }

    /// Returns what a record follows whose parent is lost: the record before it. A prompt that names the same
    /// lost parent as an earlier prompt is an edited version of that one.
    fn guess_parent(
        &self,
        record: &Record,
        role: RecordRole,
        last: MessageNodeId,
    ) -> MessageNodeId {
        let first = record.parent_uuid.and_then(|name| self.lost_parents.get(&name));
        first.copied().filter(|_| role == RecordRole::Prompt).unwrap_or(last)
    }

    /// Returns the next record of the main chain in the file.
    fn next_record(&self, id: NodeId) -> Option<NodeId> {
        let later = self.session.records().iter().enumerate().skip(id.index() + 1);
        later
            .map(|(index, record)| (NodeId(index as u32), record))
            .find(|(_, record)| record.is_node() && self.main_chain.includes(record.sidechain))
            .map(|(next, _)| next)
    }

    fn has_lost_parent(&self, id: NodeId) -> bool {
        self.tree.missing_parents().binary_search_by_key(&id, |(node, _)| *node).is_ok()
    }

    fn late_record_above(&self, id: NodeId) -> Option<LateRecord> {
        self.late_records.get(&self.tree.parent(id)?).copied()
    }

    /// Returns what a record follows that is below a late record.
    fn parent_after_late(
        &self,
        late: LateRecord,
        role: RecordRole,
        last: MessageNodeId,
    ) -> MessageNodeId {
        let may_be_edit =
            matches!(role, RecordRole::Prompt | RecordRole::Command | RecordRole::Meta);
        match late.prompt_parent.filter(|_| may_be_edit) {
            Some(parent) => parent,
            // The turn may have continued since the late records were written.
            None if self.is_ancestor(late.end, last) => last,
            None => late.end,
        }
    }

    /// Whether a record only seems to be below a caveat, because an old client reused its uuid. Commands show
    /// it; once one has, anything else below the caveat is out of place as well.
    fn is_below_reused_caveat(&self, parent: MessageNodeId, role: RecordRole) -> bool {
        self.messages[parent.index()].role == RecordRole::Meta
            && match role {
                RecordRole::Command | RecordRole::CommandOutput => true,
                RecordRole::Decoration => false,
                _ => self.reused_caveats.contains(&parent),
            }
    }

    /// Remembers what the placement of a message says about later records with the same parent.
    fn remember_placement(
        &mut self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
        placement: Placement,
    ) {
        let (Some(parent), linked) = (parent, self.tree.parent(id)) else { return };
        match placement {
            Placement::LateRecords
                if matches!(role, RecordRole::Prompt | RecordRole::Command | RecordRole::Meta) =>
            {
                if let Some(late) = linked.and_then(|linked| self.late_records.get_mut(&linked)) {
                    late.prompt_parent.get_or_insert(parent);
                }
            }
            Placement::MissingParent if role == RecordRole::Prompt => {
                if let Some(name) = record.parent_uuid {
                    self.lost_parents.entry(name).or_insert(parent);
                }
            }
            Placement::ReusedCaveat => self.reused_caveats.extend(self.linked_parent(id)),
            _ => {}
        }
    }

    /// Returns what a record follows if it is below a message that an earlier compaction preserved.
    fn compaction_anchor(&self, id: NodeId) -> Option<MessageNodeId> {
        let keeping = self.preserved.compaction_keeping(self.tree.parent(id)?, id)?;
        self.message_ids[keeping.anchor.index()]
    }

    fn linked_parent(&self, id: NodeId) -> Option<MessageNodeId> {
        self.tree.parent(id).and_then(|parent| self.message_ids[parent.index()])
    }

    /// Whether the message after `above` on the path to `below` was placed there by a guess.
    fn is_guess_between(&self, above: MessageNodeId, below: MessageNodeId) -> bool {
        let anchor = self.jumps[above.index()].anchor;
        if anchor == below || !self.is_ancestor(anchor, below) {
            return false;
        }
        let next = self.ancestor_at(below, self.jumps[anchor.index()].depth + 1);
        self.messages[next.index()].placement.is_guess()
    }

    /// Records what was written after its turn had ended: dated before the record before it in the file, and
    /// attached above that.
    fn note_late(
        &mut self,
        id: NodeId,
        role: RecordRole,
        record: &Record,
        parent: Option<MessageNodeId>,
    ) {
        let (Some(parent), Some(last)) = (parent, self.last) else { return };
        let is_decoration = role == RecordRole::Decoration;
        if !(is_decoration || role == RecordRole::QueuedPrompt)
            || !self.main_chain.includes(record.sidechain)
        {
            return;
        }
        // The hook records of a turn that is written again are not late.
        if self.tree.parent(id).is_some_and(|parent| self.copies.contains(&parent)) {
            if is_decoration {
                self.copies.insert(id);
            }
            return;
        }
        let turn = self.jumps[parent.index()].anchor;
        let end = match self.late_record_above(id) {
            // Hook records chain below each other: the first may have been written in time.
            Some(late) if is_decoration => late.end,
            // Copies of sessions give many records the same time.
            None if turn != last.message
                && record
                    .time
                    .zip(last.time)
                    .is_some_and(|(time, end)| time < end || is_decoration && time == end)
                && self.is_ancestor(turn, last.message) =>
            {
                last.message
            }
            _ => return,
        };
        self.late_records.insert(id, LateRecord { end, prompt_parent: None });
    }

    /// Records a result that was written after the conversation had gone on without it: what follows the
    /// result continues the end of the conversation, not the call. A result that comes again is not late.
    fn note_late_result(&mut self, id: NodeId, record: &Record, call: MessageNodeId) {
        let Some(last) = self.last.filter(|_| self.main_chain.includes(record.sidechain)) else {
            return;
        };
        let went_on = self.jumps[last.message.index()].dialogue.is_some_and(|said| said != call);
        if record.role == RecordRole::ToolResult
            && went_on
            && self.known_content(record).is_none()
            && last.message != call
            && self.is_ancestor(call, last.message)
        {
            self.late_records.insert(id, LateRecord { end: last.message, prompt_parent: None });
        }
    }

    /// Returns the message with the earlier record of the same time and content.
    fn known_content(&self, record: &Record) -> Option<MessageNodeId> {
        self.by_content.get(&(record.time?, record.content_hash, record.kind)).copied()
    }

    /// Whether a record repeats one below the same message.
    fn is_known_below(&self, parent: MessageNodeId, record: &Record) -> bool {
        let known = self.known_content(record);
        known.is_some_and(|known| self.messages[known.index()].parent == Some(parent))
    }

    /// A record on a damaged line counts only if other records follow it.
    fn effective_role(&self, id: NodeId, record: &Record) -> RecordRole {
        if record.recovered && self.tree.children(id).is_empty() {
            RecordRole::Decoration
        } else {
            record.role
        }
    }

    /// Finds the message that a record claims to belong to (R8a, R8b).
    fn claimed_message(
        &self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
    ) -> Option<MessageNodeId> {
        match role {
            RecordRole::Reply | RecordRole::Synthetic => {
                self.by_message.get(&(record.message_id?, record.sidechain)).copied()
            }
            RecordRole::ToolResult => self.message_of_result(id, record, parent),
            _ => None,
        }
    }

    fn message_of_result(
        &self,
        id: NodeId,
        record: &Record,
        parent: Option<MessageNodeId>,
    ) -> Option<MessageNodeId> {
        let ids = self.session.tool_ids(record);
        if let Some(message_id) = ids.iter().find_map(|id| self.by_call.get(id)) {
            return Some(*message_id);
        }
        if let Some(source) = self.session.source_uuid(id) {
            return self.message_ids[self.tree.node_by_uuid(self.session, source)?.index()];
        }
        // Records of the earliest builds name no call: the result follows it.
        parent.filter(|parent| {
            ids.is_empty() && self.messages[parent.index()].role == RecordRole::Reply
        })
    }

    /// Whether a record below `parent` is part of `message`.
    ///
    /// It is if there is no other dialogue in between, or if it is attached further up on the path to the
    /// message, as results of parallel calls are. A record on another branch only repeats the id: including it
    /// would break that branch. A result without a parent goes to its call.
    fn belongs_to(
        &self,
        message: MessageNodeId,
        record: &Record,
        parent: Option<MessageNodeId>,
    ) -> bool {
        if self.messages[message.index()].sidechain != record.sidechain {
            return false;
        }
        let speaker = parent.and_then(|parent| self.jumps[parent.index()].dialogue);
        let depth = |message_id: MessageNodeId| self.jumps[message_id.index()].depth;
        let is_reached = |parent| {
            speaker.is_none_or(|speaker| depth(message) >= depth(speaker))
                && self.is_ancestor(message, parent)
        };
        if parent.is_some_and(is_reached) {
            return true;
        }
        match speaker {
            Some(speaker) => self.is_ancestor(speaker, message),
            None => parent.is_some() || record.role == RecordRole::ToolResult,
        }
    }

    /// Returns the position of a message in the tree.
    fn compute_jump(
        &self,
        message_id: MessageNodeId,
        parent: Option<MessageNodeId>,
        role: RecordRole,
    ) -> AncestorJump {
        let own =
            u32::from(matches!(role, RecordRole::CompactBoundary | RecordRole::CompactSummary));
        let Some(parent) = parent else {
            let speaker = role.is_dialogue().then_some(message_id);
            return AncestorJump {
                depth: 0,
                far_ancestor: message_id,
                anchor: message_id,
                dialogue: speaker,
                compactions: own,
            };
        };
        let above = self.jumps[parent.index()];
        let further = self.jumps[above.far_ancestor.index()];
        let furthest = self.jumps[further.far_ancestor.index()];
        // Shortcuts double in length, so any ancestor is a logarithm of steps away.
        let is_double = above.depth - further.depth == further.depth - furthest.depth;
        AncestorJump {
            depth: above.depth + 1,
            far_ancestor: if is_double { further.far_ancestor } else { parent },
            anchor: if role == RecordRole::Decoration { above.anchor } else { message_id },
            dialogue: if role.is_dialogue() { Some(message_id) } else { above.dialogue },
            compactions: above.compactions + own,
        }
    }

    /// Whether `above` is `below` or one of its ancestors.
    fn is_ancestor(&self, above: MessageNodeId, below: MessageNodeId) -> bool {
        self.ancestor_at(below, self.jumps[above.index()].depth) == above
    }

    /// Returns the ancestor at a depth; the message itself if it is not deeper.
    fn ancestor_at(&self, message_id: MessageNodeId, depth: u32) -> MessageNodeId {
        let mut at = message_id;
        while self.jumps[at.index()].depth > depth {
            count_step();
            let far = self.jumps[at.index()].far_ancestor;
            let next = if self.jumps[far.index()].depth >= depth {
                Some(far)
            } else {
                self.messages[at.index()].parent
            };
            let Some(next) = next else { break };
            at = next;
        }
        at
    }

    /// Finds the earlier record that this one repeats (R8d).
    fn find_original(
        &self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
    ) -> Option<CopyPlacement> {
        if !matches!(record.kind, RecordKind::User | RecordKind::Assistant)
            || role == RecordRole::Decoration
        {
            return None;
        }
        self.find_same_content(record, role, parent)
            .or_else(|| self.find_same_parts(id, record, role, parent))
            .or_else(|| self.find_same_prompt(id, record, role, parent))
    }

    /// Finds an earlier record with the same time and content at the same place or further up the path.
    fn find_same_content(
        &self,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
    ) -> Option<CopyPlacement> {
        let original = self.known_content(record)?;
        let message_id = &self.messages[original.index()];
        if message_id.sidechain != record.sidechain {
            return None;
        }
        // A copy may be below copies of hook records.
        let anchor = |message_id: MessageNodeId| self.jumps[message_id.index()].anchor;
        if parent.map(anchor) == message_id.parent.map(anchor) {
            return Some(CopyPlacement::Beside(original));
        }
        let parent = parent?;
        // The parts of a prompt that was split in the copy are below each other.
        let is_piece = self.session.record(message_id.head).content_hash != record.content_hash;
        if parent == original {
            return Some(if is_piece {
                CopyPlacement::Beside(original)
            } else {
                CopyPlacement::Below
            });
        }
        // Imported sessions give many records the same time, so time and text are not enough for a prompt. A
        // copy made by the client comes after a compaction, or its reply already exists.
        let compactions = |message_id: MessageNodeId| self.jumps[message_id.index()].compactions;
        let is_below = self.is_ancestor(original, parent)
            && (role != RecordRole::Prompt || compactions(original) < compactions(parent));
        match role {
            _ if is_below => Some(CopyPlacement::Below),
            // A boundary that is written again has another uuid, so its summary comes again at another place.
            RecordRole::CompactSummary => Some(CopyPlacement::Beside(original)),
            _ => None,
        }
    }

    /// Finds the last of the earlier records that have the parts of a prompt: what was split into a text and
    /// images may come again as one record.
    fn find_same_parts(
        &self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
    ) -> Option<CopyPlacement> {
        let time = record.time.filter(|_| role == RecordRole::Prompt)?;
        let original_of = |part: &u64| self.by_content.get(&(time, *part, record.kind)).copied();
        let parts = self.session.part_hashes(id);
        let (first, last) = (original_of(parts.first()?)?, original_of(parts.last()?)?);
        let anchor = |message_id: MessageNodeId| self.jumps[message_id.index()].anchor;
        let original = &self.messages[first.index()];
        let is_beside = parts.iter().all(|part| original_of(part).is_some())
            && original.sidechain == record.sidechain
            && original.parent.map(anchor) == parent.map(anchor)
            && self.is_ancestor(first, last);
        is_beside.then_some(CopyPlacement::Beside(last))
    }

    /// Finds the earlier prompt of the same time whose reply comes again below this one, wherever the copy is
    /// and even if its text was stored differently.
    fn find_same_prompt(
        &self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        parent: Option<MessageNodeId>,
    ) -> Option<CopyPlacement> {
        let time = record.time.filter(|_| role == RecordRole::Prompt)?;
        let reply = self.known_reply_below(id, time)?;
        let original = self.jumps[self.messages[reply.index()].parent?.index()].dialogue?;
        let head = self.session.record(self.messages[original.index()].head);
        if head.role != RecordRole::Prompt
            || head.time != Some(time)
            || head.sidechain != record.sidechain
        {
            return None;
        }
        let is_below =
            parent.is_some_and(|parent| parent != original && self.is_ancestor(original, parent));
        Some(if is_below { CopyPlacement::Below } else { CopyPlacement::Beside(original) })
    }

    /// Returns the earlier message whose id the reply to a prompt repeats.
    fn known_reply_below(&self, prompt: NodeId, time: Time) -> Option<MessageNodeId> {
        let mut below = prompt;
        for _ in 0..REPLAY_LOOKAHEAD {
            below = *self.tree.children(below).first()?;
            let record = self.session.record(below);
            let name = record.message_id.map(|message| (message, record.sidechain));
            if let Some(known) = name.and_then(|name| self.by_message.get(&name)) {
                return Some(*known);
            }
            // The images of the prompt may be records of their own.
            let is_other = record.role == RecordRole::Prompt && record.time != Some(time);
            if is_other || record.role == RecordRole::Reply {
                return None;
            }
        }
        None
    }

    /// Remembers what later records may refer to; a repeated id means its latest record.
    fn remember_ids(
        &mut self,
        id: NodeId,
        record: &Record,
        role: RecordRole,
        message_id: MessageNodeId,
    ) {
        if let Some(message) = record.message_id {
            self.by_message.insert((message, record.sidechain), message_id);
        }
        if role == RecordRole::Reply {
            for id in self.session.tool_ids(record) {
                self.by_call.insert(*id, message_id);
            }
        }
        if let Some(time) = record.time
            && matches!(record.kind, RecordKind::User | RecordKind::Assistant)
        {
            for content in content_keys(self.session, id, record, time) {
                if self.repeated.contains(&hash_content(&content)) {
                    self.by_content.entry(content).or_insert(message_id);
                }
            }
        }
    }
}

/// What identifies a copy: time, fingerprint and kind.
type ContentKey = (Time, u64, RecordKind);

/// Returns the contents of a message: the whole, and its blocks if it has several.
fn content_keys<'a>(
    session: &'a Session,
    id: NodeId,
    record: &Record,
    time: Time,
) -> impl Iterator<Item = ContentKey> + 'a {
    let (whole, kind) = (record.content_hash, record.kind);
    std::iter::once(whole)
        .chain(session.part_hashes(id).iter().copied())
        .map(move |part| (time, part, kind))
}

fn hash_content(content: &ContentKey) -> u64 {
    FxBuildHasher.hash_one(content)
}

/// Finds contents that occur more than once. There are few, and a table of all contents would be among
/// the largest structures of a session.
fn repeated_contents(session: &Session) -> FxHashSet<u64> {
    let messages = session
        .records_where(|record| matches!(record.kind, RecordKind::User | RecordKind::Assistant));
    let timed = messages.filter_map(|(id, record)| Some((id, record, record.time?)));
    let all = timed.flat_map(|(id, record, time)| content_keys(session, id, record, time));
    let mut hashes: Vec<u64> = all.map(|content| hash_content(&content)).collect();
    hashes.sort_unstable();
    hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect()
}

/// How many records above a summary are searched for its boundary.
const MAX_BELOW_BOUNDARY: usize = 8;

/// How many records below a prompt are searched for its reply; pictures and attachments may come first.
const REPLAY_LOOKAHEAD: usize = 32;

/// Where a copy is, relative to its original.
enum CopyPlacement {
    /// Not further down: the two are one.
    Beside(MessageNodeId),
    /// Further down the same path.
    Below,
}

/// Sums up every subtree, children before parents.
fn summarize_subtrees(
    session: &Session,
    message_tree: &[MessageNode],
    members: &IndexedLists<NodeId>,
) -> Vec<SubtreeSummary> {
    let mut below: Vec<SubtreeSummary> = message_tree
        .iter()
        .enumerate()
        .map(|(i, message_id)| SubtreeSummary {
            has_dialogue: message_id.role.is_dialogue(),
            has_reply: message_id.role == RecordRole::Reply,
            has_message: matches!(
                session.record(message_id.head).kind,
                RecordKind::User | RecordKind::Assistant
            ),
            nodes: members.list_at(i).len() as u32,
        })
        .collect();
    for (i, message_id) in message_tree.iter().enumerate().rev() {
        let Some(parent) = message_id.parent else { continue };
        if message_tree[parent.index()].sidechain != message_id.sidechain {
            continue;
        }
        let child = below[i];
        let own = &mut below[parent.index()];
        own.has_dialogue |= child.has_dialogue;
        own.has_reply |= child.has_reply;
        own.has_message |= child.has_message;
        own.nodes += child.nodes;
    }
    below
}

/// Finds the first two prompts of every subtree, children before parents.
fn find_subtree_prompts(message_tree: &[MessageNode]) -> Vec<[NodeId; 2]> {
    let own = |message_id: &MessageNode| {
        if message_id.role == RecordRole::Prompt { message_id.head } else { NO_PROMPT }
    };
    let mut prompts: Vec<[NodeId; 2]> =
        message_tree.iter().map(|message_id| [own(message_id), NO_PROMPT]).collect();
    for (i, message_id) in message_tree.iter().enumerate().rev() {
        let Some(parent) = message_id.parent else { continue };
        if message_tree[parent.index()].sidechain == message_id.sidechain {
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
