//! Finds the node that the client would continue from, and why (R11).
//!
//! The rule changed several times, so the newest version that wrote to the file decides which rule
//! applies. Every result names the record that decided. What each version does was measured with the
//! client itself; the results are in `tests/fixtures/client`.

use bitcode::{Decode, Encode};
use std::fmt;

use crate::client_view::ClientView;
use crate::record::{RecordKind, RecordRole};
use crate::record_tree::RecordTree;
use crate::session::{NodeId, Session, SessionNoteKind};

/// How to choose the resume point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum ResumeRule {
    /// As the client that wrote the file does.
    #[default]
    Client,
    /// The node named by the last summary that names a node of this file.
    Summary,
    /// The newest timestamp, as clients up to 2.1.100 do.
    Newest,
    /// The last record in file order, as clients 2.1.115 to 2.1.119 do (2.1.101 to 2.1.114 if there are several leaves).
    FileOrder,
}

/// The client versions that share a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ClientEra {
    /// Up to 2.1.100: the newest timestamp, leaf or not.
    Timestamp,
    /// 2.1.101 to 2.1.114: the only leaf, else the last record; 2.1.115 to 2.1.119: the last record.
    FileOrder,
    /// From 2.1.120: a `last-prompt` record may point to the node.
    Pointer,
}

impl ClientEra {
    /// All eras, oldest first.
    pub const ALL: [Self; 3] = [Self::Timestamp, Self::FileOrder, Self::Pointer];

    /// Returns the era of a file by its newest version; files without versions are old.
    pub fn of_session(session: &Session) -> Self {
        match version_numbers(session) {
            (2, 1, 101..=119) => Self::FileOrder,
            numbers if numbers < (2, 1, 101) => Self::Timestamp,
            _ => Self::Pointer,
        }
    }

    /// Returns the newest version of the era.
    fn newest_version(self) -> (u32, u32, u32) {
        match self {
            Self::Timestamp => (2, 1, 100),
            Self::FileOrder => (2, 1, 119),
            Self::Pointer => (u32::MAX, 0, 0),
        }
    }
}

impl fmt::Display for ClientEra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timestamp => "clients up to 2.1.100",
            Self::FileOrder => "clients 2.1.101 to 2.1.119",
            Self::Pointer => "clients from 2.1.120",
        })
    }
}

/// The newest version in a file as numbers; zeros if no record has one.
pub(crate) fn version_numbers(session: &Session) -> (u32, u32, u32) {
    session.facts().version.as_ref().map_or((0, 0, 0), |version| version.numbers)
}

/// The resume point with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The node itself; it can be any kind of node, leaf or not.
    pub point: NodeId,
    /// The point, climbed to the nearest user or assistant record.
    pub leaf: NodeId,
    pub reason: ResumeReason,
    /// The record that decided: the point itself, or what pointed to it.
    pub decided_by: NodeId,
}

/// Why a node is the resume point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ResumeReason {
    NewestTimestamp,
    /// No node has a time, so the first one is as new as any.
    NoTimestamps,
    LastRecord,
    /// All other leaves were continued.
    OnlyLeaf,
    /// There is no pointer.
    NoPointer,
    /// The pointer names a node that is not in the file.
    UnknownPointer,
    /// The pointer names a node that a later compaction hides.
    HiddenPointer,
    /// The conversation was compacted after the pointer was written.
    PointerBeforeCompaction,
    /// The pointer names an ancestor of the last record: the conversation continued.
    PointerOvertaken,
    /// An explicit pointer, but the conversation continued below it.
    ExplicitOvertaken,
    Pointer,
    ExplicitPointer,
    /// The last record has no message above it, as after a compaction that broke off.
    NothingAbove,
    Summary,
    /// No summary names a node of this file.
    NoSummary,
}

impl fmt::Display for ResumeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = "so the last record in file order is taken";
        match self {
            Self::NewestTimestamp => f.write_str("it has the newest timestamp"),
            Self::NoTimestamps => {
                f.write_str("no record has a timestamp, so the first one is taken")
            }
            Self::LastRecord => f.write_str("it is the last record in file order"),
            Self::OnlyLeaf => f.write_str("it is the only leaf"),
            Self::NoPointer => write!(f, "there is no last-prompt pointer, {last}"),
            Self::UnknownPointer => {
                write!(f, "the last-prompt pointer names no node of this file, {last}")
            }
            Self::HiddenPointer => {
                write!(f, "the last-prompt pointer names a node that a compaction hides, {last}")
            }
            Self::PointerBeforeCompaction => {
                write!(f, "the conversation was compacted after the last-prompt pointer, {last}")
            }
            Self::PointerOvertaken => {
                write!(
                    f,
                    "the conversation continued below the message that the last-prompt pointer names, {last}"
                )
            }
            Self::ExplicitOvertaken => {
                write!(
                    f,
                    "the conversation continued after the explicit last-prompt pointer, {last}"
                )
            }
            Self::Pointer => f.write_str(
                "the last-prompt pointer names it, and the last record is on another branch",
            ),
            Self::ExplicitPointer => f.write_str("the explicit last-prompt pointer names it"),
            Self::NothingAbove => f.write_str(
                "the last record has no message above it, so the newest leaf of the file is taken",
            ),
            Self::Summary => {
                f.write_str("the last summary that names a node of this file names it")
            }
            Self::NoSummary => f.write_str(
                "no summary names a node of this file, so the newest timestamp is taken",
            ),
        }
    }
}

/// Chooses the resume point of a session.
///
/// `None`: there is nothing to resume, because the session has no node outside
/// of sidechains, was cleared, or the client would not find it.
pub fn find_resume_point(
    session: &Session,
    tree: &RecordTree,
    rule: ResumeRule,
) -> Option<ResumePoint> {
    match rule {
        ResumeRule::Client => resume_point_for_version(session, tree, version_numbers(session)),
        ResumeRule::Summary => resume_by_summary(session, tree),
        ResumeRule::Newest => resume_point_in_era(session, tree, ClientEra::Timestamp),
        ResumeRule::FileOrder => resume_point_in_era(session, tree, ClientEra::FileOrder),
    }
}

/// Chooses the resume point as the newest clients of an era do.
pub fn resume_point_in_era(
    session: &Session,
    tree: &RecordTree,
    era: ClientEra,
) -> Option<ResumePoint> {
    resume_point_for_version(session, tree, era.newest_version())
}

/// Chooses the resume point as the client of one version does.
fn resume_point_for_version(
    session: &Session,
    tree: &RecordTree,
    version: (u32, u32, u32),
) -> Option<ResumePoint> {
    let view = ClientView::new(session, tree, version);
    if version < (2, 1, 101) {
        resume_by_time(&view)
    } else if version < (2, 1, 115) {
        resume_by_leaf(&view)
    } else if version < (2, 1, 120) {
        let last = view.last_node()?;
        resume_at_last(&view, ResumeReason::LastRecord, last, last)
    } else {
        resume_by_pointer(&view)
    }
}

fn resume_by_time(view: &ClientView<'_>) -> Option<ResumePoint> {
    let point = view.newest_of(view.nodes().map(|(id, _)| id))?;
    let record = view.session.record(point);
    let reason = if record.time.is_some() {
        ResumeReason::NewestTimestamp
    } else {
        ResumeReason::NoTimestamps
    };
    match view.nearest_message(point) {
        Some(leaf) => Some(ResumePoint { point, leaf, reason, decided_by: point }),
        // Below a boundary without a summary these clients start a new conversation.
        None if record.role == RecordRole::CompactBoundary => None,
        None => Some(ResumePoint { point, leaf: point, reason, decided_by: point }),
    }
}

/// 2.1.101 to 2.1.114: the only leaf, else the last record.
fn resume_by_leaf(view: &ClientView<'_>) -> Option<ResumePoint> {
    let leaves = view.leaves();
    if let [leaf] = leaves[..] {
        if view.session.record(leaf).sidechain {
            return None;
        }
        return resume_at_last(view, ResumeReason::OnlyLeaf, leaf, leaf);
    }
    let last = view.last_node()?;
    resume_at_last(view, ResumeReason::LastRecord, last, last)
}

fn resume_at_last(
    view: &ClientView<'_>,
    reason: ResumeReason,
    last: NodeId,
    decided_by: NodeId,
) -> Option<ResumePoint> {
    let point = if view.version >= (2, 1, 253) { view.newest_below(last) } else { last };
    if let Some(leaf) = view.nearest_message(point) {
        return Some(ResumePoint { point, leaf, reason, decided_by });
    }
    let leaves =
        view.leaves().into_iter().filter(|leaf| view.is_node(*leaf, view.session.record(*leaf)));
    let newest = view.newest_of(leaves.filter(|leaf| view.nearest_message(*leaf).is_some()))?;
    let leaf = view.nearest_message(newest)?;
    Some(ResumePoint { point: newest, leaf, reason: ResumeReason::NothingAbove, decided_by: last })
}

/// From 2.1.120: the record that the last `last-prompt` names, unless the conversation continued.
fn resume_by_pointer(view: &ClientView<'_>) -> Option<ResumePoint> {
    let state = view.scan_pointers();
    let last = state.last?;
    if state.cleared && view.version >= (2, 1, 191) {
        return None;
    }
    let Some(held) = state.active else {
        let (reason, by) = match state.voided {
            Some(record) => (ResumeReason::PointerBeforeCompaction, record),
            None => (ResumeReason::NoPointer, last),
        };
        return resume_at_last(view, reason, last, by);
    };
    let Some(point) = view.tree.node_by_uuid(view.session, held.uuid) else {
        return resume_at_last(view, ResumeReason::UnknownPointer, last, held.record);
    };
    if view.session.record(point).sidechain {
        return None;
    }
    if view.is_hidden(point) {
        return resume_at_last(view, ResumeReason::HiddenPointer, last, held.record);
    }
    let overtaken = view.is_below(point, last);
    if !held.explicit && (overtaken || point == last) {
        let reason = if held.was_explicit {
            ResumeReason::ExplicitOvertaken
        } else {
            ResumeReason::PointerOvertaken
        };
        return resume_at_last(view, reason, last, held.record);
    }
    let reason = if held.explicit { ResumeReason::ExplicitPointer } else { ResumeReason::Pointer };
    match view.nearest_message(point) {
        Some(leaf) => Some(ResumePoint { point, leaf, reason, decided_by: held.record }),
        None => resume_at_last(view, ResumeReason::UnknownPointer, last, held.record),
    }
}

fn resume_by_summary(session: &Session, tree: &RecordTree) -> Option<ResumePoint> {
    let named = session.notes().iter().rev().find_map(|note| match note.kind {
        SessionNoteKind::Summary { leaf: Some(leaf), .. } => {
            let node =
                tree.node_by_uuid(session, leaf).filter(|node| !session.record(*node).sidechain)?;
            Some((note.record, node))
        }
        _ => None,
    });
    let Some((note, point)) = named else {
        return resume_point_in_era(session, tree, ClientEra::Timestamp)
            .map(|resume| ResumePoint { reason: ResumeReason::NoSummary, ..resume });
    };
    let is_message =
        |id: &NodeId| matches!(session.record(*id).kind, RecordKind::User | RecordKind::Assistant);
    let leaf = tree.ancestors(point).find(is_message).unwrap_or(point);
    Some(ResumePoint { point, leaf, reason: ResumeReason::Summary, decided_by: note })
}
