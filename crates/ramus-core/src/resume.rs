//! Which node the client would continue from, and why (R11).
//!
//! The rule changed twice in the client's life, so the newest version that
//! wrote to the file decides which one holds. Every answer names the record
//! that settled it.

use std::fmt;

use crate::name::Name;
use crate::record::{Kind, Record, Voice};
use crate::session::{NodeId, NoteKind, Pointer, Session};
use crate::tree::Tree;

/// How to choose the resume point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// As the client that wrote the file does.
    #[default]
    Client,
    /// The node named by the last summary that names one of this file.
    Summary,
    /// The newest timestamp, as clients up to 2.1.100 do.
    Newest,
    /// The last leaf in file order, as clients 2.1.101 to 2.1.119 do.
    FileOrder,
}

/// The time of the client's life that a version belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2.1.100: the newest timestamp, leaf or not.
    Timestamp,
    /// 2.1.101 to 2.1.119: the last leaf in file order.
    FileOrder,
    /// From 2.1.120: a `last-prompt` record may point to the node.
    Pointer,
}

impl Era {
    /// All eras, oldest first.
    pub const ALL: [Self; 3] = [Self::Timestamp, Self::FileOrder, Self::Pointer];

    /// Returns the era of a file by its newest version; files without versions are old.
    pub fn of(session: &Session) -> Self {
        let numbers = session.facts().version.as_ref().map_or((0, 0, 0), |version| version.numbers);
        if numbers >= (2, 1, 120) {
            Self::Pointer
        } else if numbers >= (2, 1, 101) {
            Self::FileOrder
        } else {
            Self::Timestamp
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timestamp => "clients up to 2.1.100",
            Self::FileOrder => "clients 2.1.101 to 2.1.119",
            Self::Pointer => "clients from 2.1.120",
        })
    }
}

/// The resume point with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The node itself; it can be any kind of node, leaf or not.
    pub point: NodeId,
    /// The point, climbed to the nearest user or assistant record.
    pub leaf: NodeId,
    pub reason: Reason,
    /// The record that decided: the point itself, or what pointed to it.
    pub decided_by: NodeId,
}

/// Why a node is the resume point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    NewestTimestamp,
    /// No node bears a time, so the first one is as new as any.
    NoTimestamps,
    LastLeaf,
    /// There is no pointer.
    NoPointer,
    /// The pointer names a node that is not in the file.
    UnknownPointer,
    /// The conversation was compacted after the pointer was written.
    PointerBeforeCompaction,
    /// The pointer names an ancestor of the last leaf, which has moved on.
    PointerOvertaken,
    /// An explicit pointer, but the conversation went on below it.
    ExplicitOvertaken,
    Pointer,
    ExplicitPointer,
    Summary,
    /// No summary names a node of this file.
    NoSummary,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NewestTimestamp => "it has the newest timestamp",
            Self::NoTimestamps => "no record has a timestamp, so the first one is taken",
            Self::LastLeaf => "it is the last leaf in file order",
            Self::NoPointer => "there is no last-prompt pointer, so the last leaf in file order is taken",
            Self::UnknownPointer => {
                "the last-prompt pointer names no node of this file, so the last leaf in file order is taken"
            }
            Self::PointerBeforeCompaction => {
                "the conversation was compacted after the last-prompt pointer, so the last leaf in file order is taken"
            }
            Self::PointerOvertaken => {
                "the last-prompt pointer names an ancestor of the last leaf in file order, so that leaf is taken"
            }
            Self::ExplicitOvertaken => {
                "the conversation went on below the explicit last-prompt pointer, so the last leaf in file order is taken"
            }
            Self::Pointer => "the last-prompt pointer names it, and it is on another branch than the last leaf",
            Self::ExplicitPointer => "the explicit last-prompt pointer names it",
            Self::Summary => "the last summary that names a node of this file names it",
            Self::NoSummary => "no summary names a node of this file, so the newest timestamp is taken",
        })
    }
}

/// Chooses the resume point of a session.
///
/// `None`: there is nothing to resume, because the session has no node outside
/// of sidechains or was cleared.
pub fn resume(session: &Session, tree: &Tree, rule: Rule) -> Option<Resume> {
    match rule {
        Rule::Client => resume_in(session, tree, Era::of(session)),
        Rule::Summary => by_summary(session, tree),
        Rule::Newest => by_time(session, tree),
        Rule::FileOrder => {
            by_order(session, tree).map(|point| made(session, tree, point, Reason::LastLeaf, point))
        }
    }
}

/// Chooses the resume point as the clients of one era do.
pub fn resume_in(session: &Session, tree: &Tree, era: Era) -> Option<Resume> {
    match era {
        Era::Timestamp => by_time(session, tree),
        Era::FileOrder => {
            by_order(session, tree).map(|point| made(session, tree, point, Reason::LastLeaf, point))
        }
        Era::Pointer => by_pointer(session, tree),
    }
}

fn made(
    session: &Session,
    tree: &Tree,
    point: NodeId,
    reason: Reason,
    decided_by: NodeId,
) -> Resume {
    let leaf = tree
        .ancestors(point)
        .find(|id| matches!(session.record(*id).kind, Kind::User | Kind::Assistant))
        .unwrap_or(point);
    Resume { point, leaf, reason, decided_by }
}

/// Whether the client's loader would take a record as a node of the main conversation.
fn is_candidate(record: &Record) -> bool {
    !record.sidechain
        && !record.recovered
        && record.name.is_some()
        && record.kind != Kind::UnknownNode
}

fn candidates<'a>(
    session: &'a Session,
    tree: &'a Tree,
) -> impl Iterator<Item = (NodeId, &'a Record)> {
    session.nodes().filter(|(id, record)| tree.is_first(*id) && is_candidate(record))
}

fn by_time(session: &Session, tree: &Tree) -> Option<Resume> {
    let mut newest: Option<(NodeId, &Record)> = None;
    for (id, record) in candidates(session, tree) {
        if newest.is_none_or(|(_, best)| record.time > best.time) {
            newest = Some((id, record));
        }
    }
    let (point, record) = newest?;
    let reason = if record.time.is_some() { Reason::NewestTimestamp } else { Reason::NoTimestamps };
    Some(made(session, tree, point, reason, point))
}

fn by_order(session: &Session, tree: &Tree) -> Option<NodeId> {
    let mut last_leaf = None;
    let mut last = None;
    for (id, _) in candidates(session, tree) {
        last = Some(id);
        if !tree.children(id).iter().any(|child| is_candidate(session.record(*child))) {
            last_leaf = last;
        }
    }
    last_leaf.or(last)
}

fn by_summary(session: &Session, tree: &Tree) -> Option<Resume> {
    let named = session.notes().iter().rev().find_map(|note| match note.kind {
        NoteKind::Summary { leaf: Some(leaf), .. } => Some((note.record, tree.find(leaf)?)),
        _ => None,
    });
    match named {
        Some((note, point)) => Some(made(session, tree, point, Reason::Summary, note)),
        None => by_time(session, tree).map(|resume| Resume { reason: Reason::NoSummary, ..resume }),
    }
}

/// The pointer that holds at the end of the file.
struct LastPointer {
    record: NodeId,
    name: Name,
    explicit: bool,
}

enum PointerState {
    None,
    BeforeCompaction(NodeId),
    Cleared(NodeId),
    At(LastPointer),
}

fn last_pointer(session: &Session) -> PointerState {
    let mut state = PointerState::None;
    for note in session.notes() {
        let NoteKind::LastPrompt { pointer, explicit, .. } = note.kind else { continue };
        let record = note.record;
        state = match (pointer, state) {
            (Pointer::Absent, state) => state,
            (Pointer::Cleared, _) if explicit => PointerState::Cleared(record),
            (Pointer::Cleared, _) => PointerState::None,
            (Pointer::At(name), PointerState::At(held)) => {
                // A plain pointer that repeats an explicit one leaves it explicit.
                let explicit = explicit || held.explicit && held.name == name;
                PointerState::At(LastPointer { record, name, explicit })
            }
            (Pointer::At(name), _) => PointerState::At(LastPointer { record, name, explicit }),
        };
    }
    let boundary = session
        .nodes()
        .filter(|(_, record)| record.voice == Voice::Boundary && !record.sidechain)
        .last();
    match (state, boundary) {
        (PointerState::At(held), Some((boundary, _))) if held.record < boundary => {
            PointerState::BeforeCompaction(held.record)
        }
        (state, _) => state,
    }
}

fn by_pointer(session: &Session, tree: &Tree) -> Option<Resume> {
    let last = by_order(session, tree);
    let at_last = |reason, decided_by: Option<NodeId>| {
        let last = last?;
        Some(made(session, tree, last, reason, decided_by.unwrap_or(last)))
    };
    let held = match last_pointer(session) {
        PointerState::None => return at_last(Reason::NoPointer, None),
        PointerState::BeforeCompaction(record) => {
            return at_last(Reason::PointerBeforeCompaction, Some(record));
        }
        PointerState::Cleared(record) => {
            let went_on = session.nodes().any(|(id, node)| id > record && is_candidate(node));
            return if went_on { at_last(Reason::NoPointer, None) } else { None };
        }
        PointerState::At(held) => held,
    };
    let Some(point) = tree.find(held.name).filter(|point| is_candidate(session.record(*point)))
    else {
        return at_last(Reason::UnknownPointer, Some(held.record));
    };
    let by = Some(held.record);
    if held.explicit {
        if went_on_after(session, tree, point, held.record) {
            return at_last(Reason::ExplicitOvertaken, by);
        }
        return Some(made(session, tree, point, Reason::ExplicitPointer, held.record));
    }
    match last {
        Some(last) if last == point || follows(session, tree, point, last) => {
            at_last(Reason::PointerOvertaken, by)
        }
        _ => Some(made(session, tree, point, Reason::Pointer, held.record)),
    }
}

/// Whether anything below `point` was written after `record`.
fn went_on_after(session: &Session, tree: &Tree, point: NodeId, record: NodeId) -> bool {
    let mut open = vec![point];
    while let Some(node) = open.pop() {
        for &child in tree.children(node) {
            let child_record = session.record(child);
            if !is_candidate(child_record) || child_record.voice == Voice::Boundary {
                continue;
            }
            if child > record {
                return true;
            }
            open.push(child);
        }
    }
    false
}

/// Whether `below` hangs below `above` by parent links; the client's walk stops at a compaction.
fn follows(session: &Session, tree: &Tree, above: NodeId, below: NodeId) -> bool {
    tree.ancestors(below)
        .take_while(|id| session.record(*id).voice != Voice::Boundary)
        .skip(1)
        .any(|id| id == above)
}
