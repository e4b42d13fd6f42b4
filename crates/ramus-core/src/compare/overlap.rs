//! Finds the records that two paths share.

use std::cell::LazyCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::{ConversationPath, History};
use crate::ids::RecordUuid;
use crate::message_tree::{MessageNodeId, MessageTree};
use crate::record::{RecordKind, RecordRole};
use crate::session::NodeId;
use crate::time::Time;

/// A part of a path that is in one file.
#[derive(Clone, Copy, Debug)]
pub struct PathPart<'a> {
    pub history: &'a History,
    pub path: &'a ConversationPath,
}

/// Records of a part of a path that the other path does not have.
pub type OwnRecords = FxHashSet<NodeId>;

/// What two paths have in common, and what only one of them has.
#[derive(Clone, Debug, Default)]
pub struct PathOverlap {
    /// Displayable messages that both begin with (R16).
    pub messages: u32,
    /// The uuid of the last of them.
    pub node: Option<String>,
    /// The start of its uuid that means no other record of its session.
    pub short_node: Option<String>,
    /// When it was written.
    pub time: Option<Time>,
    /// The records that only one side has, by part of the path.
    pub own: [Vec<OwnRecords>; 2],
    /// The displayable messages among them.
    pub own_messages: [u32; 2],
    /// When the first and the last of them were written.
    pub own_time: [Option<(Time, Time)>; 2],
}

impl PathOverlap {
    /// Whether neither side has records that the other lacks.
    pub fn covers_both(&self) -> bool {
        self.own.iter().flatten().all(FxHashSet::is_empty)
    }
}

/// Compares two paths, each given from its beginning on.
pub fn compare_paths(a: &[PathPart<'_>], b: &[PathPart<'_>]) -> PathOverlap {
    let sides = [PathSteps::new(a), PathSteps::new(b)];
    let shared = [shared_steps(&sides[0], &sides[1]), shared_steps(&sides[1], &sides[0])];
    let ends = shared.each_ref().map(|shared| shared.last().map_or(0, |at| at + 1));
    let mut common = PathOverlap::default();
    for &at in &shared[0] {
        let step = sides[0].step(at);
        let head = step.path_part.history.message_tree.message(step.message);
        if head.role.is_displayable() {
            let record = step.path_part.history.session.record(head.head);
            common.messages += 1;
            let history = step.path_part.history;
            common.node = record.uuid.map(|name| history.session.uuid_text(name));
            common.short_node =
                common.node.as_deref().map(|node| history.short_uuid(node).to_owned());
            common.time = record.time;
        }
    }
    let [mine, theirs] = &sides;
    let ends = [
        mine.extend_over_decoration(ends[0], theirs),
        theirs.extend_over_decoration(ends[1], mine),
    ];
    common.own = [mine.own_records(ends[0]), theirs.own_records(ends[1])];
    common.own_time = [time_span(a, &common.own[0]), time_span(b, &common.own[1])];
    common.own_messages = [sides[0].count_messages(ends[0]), sides[1].count_messages(ends[1])];
    common
}

/// One message of a path that may run through several files.
struct PathStep<'a> {
    path_part: PathPart<'a>,
    part: usize,
    message: MessageNodeId,
    uuid: Option<RecordUuid>,
}

/// Identifies a message in another path: by its uuid, else by content and time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MessageIdentity {
    Named(RecordUuid),
    Unnamed(RecordKind, Option<Time>, u64),
}

impl PathStep<'_> {
    fn message_identity(&self) -> MessageIdentity {
        let history = self.path_part.history;
        let head = history.session.record(history.message_tree.message(self.message).head);
        self.uuid.map_or(
            MessageIdentity::Unnamed(head.kind, head.time, head.content_hash),
            MessageIdentity::Named,
        )
    }
}

/// A path as a list of messages.
struct PathSteps<'a> {
    path_parts: &'a [PathPart<'a>],
    /// The part and the message of each step. A path may have a million of them.
    message_tree: Vec<(u32, MessageNodeId)>,
    /// Uuids that several versions of a record share (R4), by file.
    versions: Vec<FxHashSet<RecordUuid>>,
}

impl<'a> PathSteps<'a> {
    fn new(path_parts: &'a [PathPart<'a>]) -> Self {
        let mut message_tree =
            Vec::with_capacity(path_parts.iter().map(|one| one.path.messages.len()).sum());
        for (part, path_part) in (0..).zip(path_parts) {
            message_tree.extend(path_part.path.messages.iter().map(|&message| (part, message)));
        }
        let versions =
            path_parts.iter().map(|path_part| versioned_uuids(path_part.history)).collect();
        Self { path_parts, message_tree, versions }
    }

    fn step(&self, at: usize) -> PathStep<'a> {
        let (part, message) = self.message_tree[at];
        let part = part as usize;
        let path_part = self.path_parts[part];
        let name = path_part
            .history
            .session
            .record(path_part.history.message_tree.message(message).head)
            .uuid;
        PathStep { path_part, part, message, uuid: name }
    }

    fn role_at(&self, at: usize) -> RecordRole {
        let (part, message) = self.message_tree[at];
        self.path_parts[part as usize].history.message_tree.message(message).role
    }

    /// Returns the indices of the dialogue messages.
    fn dialogue_steps(&self) -> impl Iterator<Item = usize> {
        (0..self.message_tree.len()).filter(|at| self.role_at(*at).is_dialogue())
    }

    fn uuids(&self) -> FxHashSet<RecordUuid> {
        (0..self.message_tree.len()).filter_map(|at| self.step(at).uuid).collect()
    }

    /// Skips commands and notes that the other path has too.
    fn extend_over_decoration(&self, mut end: usize, other: &Self) -> usize {
        // Made when a command or note is met: most paths end with a message.
        let names = LazyCell::new(|| other.uuids());
        while end < self.message_tree.len()
            && !self.role_at(end).is_dialogue()
            && self.step(end).uuid.is_some_and(|name| names.contains(&name))
        {
            end += 1;
        }
        end
    }

    fn count_messages(&self, end: usize) -> u32 {
        let rest = end..self.message_tree.len();
        rest.filter(|at| self.role_at(*at).is_displayable()).count() as u32
    }

    /// Returns the records from a step on, with what decorates them.
    fn own_records(&self, end: usize) -> Vec<OwnRecords> {
        let path_parts = self.path_parts;
        if end >= self.message_tree.len() {
            return vec![FxHashSet::default(); path_parts.len()];
        }
        let mut places: Vec<FxHashMap<MessageNodeId, u32>> =
            vec![FxHashMap::default(); path_parts.len()];
        for (at, (part, message)) in (0..).zip(&self.message_tree) {
            places[*part as usize].insert(*message, at);
        }
        let of = |(path_part, places): (&PathPart<'_>, &mut FxHashMap<MessageNodeId, u32>)| {
            let message_tree = &path_part.history.message_tree;
            let mut is_own = |node: &&NodeId| {
                let message = message_tree.message_of(**node);
                message
                    .and_then(|message| position_above(message_tree, message, places))
                    .is_some_and(|at| at as usize >= end)
            };
            path_part.path.nodes.iter().filter(|node| is_own(node)).copied().collect()
        };
        path_parts.iter().zip(&mut places).map(of).collect()
    }
}

/// Returns the position of the nearest message at or above one that has a position.
///
/// It caches the result for every message it passes, because decoration can be nested to any depth.
fn position_above(
    message_tree: &MessageTree,
    message: MessageNodeId,
    places: &mut FxHashMap<MessageNodeId, u32>,
) -> Option<u32> {
    let mut passed = Vec::new();
    let place = message_tree.ancestors(message).find_map(|above| {
        let place = places.get(&above).copied();
        if place.is_none() {
            passed.push(above);
        }
        place
    })?;
    places.extend(passed.into_iter().map(|message| (message, place)));
    Some(place)
}

fn time_span(path_parts: &[PathPart<'_>], own: &[OwnRecords]) -> Option<(Time, Time)> {
    let mut span: Option<(Time, Time)> = None;
    for (path_part, nodes) in path_parts.iter().zip(own) {
        let times = nodes.iter().filter_map(|node| path_part.history.session.record(*node).time);
        for time in times {
            span = Some(span.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
        }
    }
    span
}

/// Returns the positions of the messages at the beginning of one path that the other path has too.
///
/// The order may differ: the client's own `/branch` puts preserved messages after the summary of a
/// compaction.
fn shared_steps(side: &PathSteps<'_>, other: &PathSteps<'_>) -> Vec<usize> {
    // Made when the order differs for the first time, which it mostly never does.
    let there: LazyCell<FxHashMap<MessageIdentity, usize>, _> = LazyCell::new(|| {
        other.dialogue_steps().map(|at| (other.step(at).message_identity(), at)).collect()
    });
    let is_shared = |(at, beside): &(usize, Option<usize>)| {
        let is_same = |found: usize| is_same_message([side, other], *at, found);
        beside.is_some_and(is_same)
            || there.get(&side.step(*at).message_identity()).is_some_and(|found| is_same(*found))
    };
    let beside = other.dialogue_steps().map(Some).chain(std::iter::repeat(None));
    side.dialogue_steps().zip(beside).take_while(is_shared).map(|(at, _)| at).collect()
}

/// Whether two steps are one message, whole on both sides.
fn is_same_message(sides: [&PathSteps<'_>; 2], at: usize, bt: usize) -> bool {
    let (a, b) = (sides[0].step(at), sides[1].step(bt));
    let [head_a, head_b] = [&a, &b].map(|step| {
        let history = step.path_part.history;
        history.session.record(history.message_tree.message(step.message).head)
    });
    match (a.uuid, b.uuid) {
        (Some(name), Some(other)) => {
            let versions = sides[0].versions[a.part].contains(&name)
                || sides[1].versions[b.part].contains(&name);
            name == other
                && (!versions || head_a.content_hash == head_b.content_hash)
                && dialogue_uuids(&a) == dialogue_uuids(&b)
        }
        (None, None) => {
            (head_a.kind, head_a.time, head_a.content_hash)
                == (head_b.kind, head_b.time, head_b.content_hash)
        }
        _ => false,
    }
}

/// Returns the uuids of the user and assistant records of a message.
fn dialogue_uuids(step: &PathStep<'_>) -> Vec<Option<RecordUuid>> {
    let PathPart { history, .. } = step.path_part;
    let records =
        history.message_tree.records_of(step.message).iter().map(|id| history.session.record(*id));
    let dialogue =
        records.filter(|record| matches!(record.kind, RecordKind::User | RecordKind::Assistant));
    let mut names: Vec<Option<RecordUuid>> = dialogue.map(|record| record.uuid).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn versioned_uuids(history: &History) -> FxHashSet<RecordUuid> {
    let History { session, record_tree: tree, .. } = history;
    let content = |node: NodeId| session.record(node).content_hash;
    let is_version = |node: NodeId, name: RecordUuid| {
        let first = tree.nodes_with(session, name).first();
        first.is_some_and(|first| content(*first) != content(node))
    };
    let named = session.nodes().filter_map(|(node, record)| Some((node, record.uuid?)));
    named.filter(|(node, name)| is_version(*node, *name)).map(|(_, name)| name).collect()
}
