//! Describes a fork point for a reader of the path (R9, R12).

use std::ops::Range;

use super::{ForkTurn, ForkTurnBranch, Turn, TurnKind, label};
use crate::body::{RecordBody, label_text};
use crate::branches::{ForkBranch, ForkPoint};
use crate::history::History;
use crate::ids::RecordUuid;
use crate::message_tree::MessageNodeId;
use crate::record::RecordRole;
use crate::session::NodeId;

/// Returns the turn that describes the fork point at a message; `rest` is the path after it.
///
/// It has at most `limit` branches, those nearest to the one taken: a caller that describes the fork
/// point once per branch would otherwise need quadratic time.
/// `None`: the path does not fork there.
pub fn fork_turn(
    history: &History,
    at: MessageNodeId,
    rest: &[MessageNodeId],
    limit: usize,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> Option<Turn> {
    let kind = fork_turn_kind(history, at, rest, limit, bodies)?;
    let nodes = vec![history.message_tree.message(at).head];
    let uuid = uuid_text(history, nodes[0]);
    let short_uuid = uuid.as_deref().map(|uuid| history.short_uuid(uuid).to_owned());
    Some(Turn { nodes, uuid, short_uuid, time: None, recovered: false, kind })
}

/// Describes the fork point at a message; `rest` is the path after it.
fn fork_turn_kind(
    history: &History,
    at: MessageNodeId,
    rest: &[MessageNodeId],
    limit: usize,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> Option<TurnKind> {
    let (fork, place) = fork_on_path(history, at, rest)?;
    let taken = rest.first().copied();
    let shown = nearest_range(fork.branches.len(), place.unwrap_or(0), limit);
    let branch = |branch: &ForkBranch| {
        let taken = Some(branch.message) == taken;
        let (end, messages) =
            if taken { path_end(history, at, rest) } else { branch_end(history, branch.message) };
        let speech = history.message_tree.message(branch.first_message).head;
        let leaf = leaf_of(history, end);
        // The text of the branch taken is read anyway.
        let (words, from_text) = if taken {
            (String::new(), false)
        } else {
            branch_label(history, branch.first_message, bodies)
        };
        ForkTurnBranch {
            node: speech,
            leaf,
            address: leaf_address(history, leaf),
            label: words,
            is_quote: from_text,
            time: history.session.record(speech).time,
            messages,
            draft: branch.draft,
            current: branch.current,
            taken,
        }
    };
    let more = fork.branches.len() - shown.len();
    Some(TurnKind::Fork(ForkTurn {
        kind: fork.kind,
        branches: fork.branches[shown].iter().map(branch).collect(),
        more,
    }))
}

/// Returns the fork point at a message, and which of its branches `rest` takes.
///
/// `None`: the path does not fork there.
pub(super) fn fork_on_path<'a>(
    history: &'a History,
    at: MessageNodeId,
    rest: &[MessageNodeId],
) -> Option<(&'a ForkPoint, Option<usize>)> {
    let fork = history.branches.fork_at(at)?;
    let Some(&taken) = rest.first() else { return Some((fork, None)) };
    // Branches are in file order, and so are the first records of their messages.
    let head = history.message_tree.message(taken).head;
    let place = fork
        .branches
        .partition_point(|branch| history.message_tree.message(branch.message).head < head);
    let is_branch = fork.branches.get(place).is_some_and(|branch| branch.message == taken);
    is_branch.then_some((fork, Some(place)))
}

/// Returns the range of at most `limit` items around a position in a list of `all` items.
fn nearest_range(all: usize, place: usize, limit: usize) -> Range<usize> {
    let length = all.min(limit);
    let start = place.saturating_sub(length / 2).min(all - length);
    start..start + length
}

/// Returns the uuid of a record as text.
pub(super) fn uuid_text(history: &History, node: NodeId) -> Option<String> {
    history.session.record(node).uuid.map(|name| history.session.uuid_text(name))
}

/// Returns the end of the path and the number of messages up to it. No walk: every fork point calls this.
fn path_end(history: &History, at: MessageNodeId, rest: &[MessageNodeId]) -> (MessageNodeId, u32) {
    let end = rest.last().copied().unwrap_or(at);
    (end, history.message_tree.messages_between(at, end))
}

/// Returns the end of the conversation that a message leads to, and the number of messages up to it.
///
/// The branches not taken along one path have no message in common, so all these walks together are no
/// longer than the session.
fn branch_end(history: &History, from: MessageNodeId) -> (MessageNodeId, u32) {
    let (mut message, mut messages) = (from, 0);
    loop {
        messages += u32::from(history.message_tree.message(message).role.is_displayable());
        let next = match history.branches.fork_at(message) {
            Some(fork) => {
                fork.branches.iter().find(|branch| branch.current).map(|branch| branch.message)
            }
            None => history.message_tree.dialogue_children(message).last(),
        };
        match next {
            Some(next) => message = next,
            None => return (message, messages),
        }
    }
}

fn leaf_of(history: &History, end: MessageNodeId) -> NodeId {
    let found = history.branches.conversation_at(&history.message_tree, end);
    found
        .filter(|found| found.end == end)
        .map_or(history.message_tree.message(end).head, |found| found.leaf)
}

/// Returns the address of a node within its session: the first eight letters of its uuid if they are
/// unique, or the number of its conversation if another version has the same uuid.
fn leaf_address(history: &History, node: NodeId) -> Option<String> {
    let name = history.session.record(node).uuid?;
    if history.is_hidden(node) {
        return Some(history.node_address(node));
    }
    let mut spelling = history.session.uuid_text(name);
    let is_uuid = RecordUuid::parse_canonical(spelling.as_bytes()).is_some();
    if is_uuid && history.record_tree.has_unique_prefix(&history.session, name) {
        spelling.truncate(8);
    }
    Some(format!(":{spelling}"))
}

/// Returns the first text of a branch, or what it has instead, and whether it is text of the conversation.
fn branch_label(
    history: &History,
    speech: MessageNodeId,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> (String, bool) {
    let message = history.message_tree.message(speech);
    if !matches!(message.role, RecordRole::Reply | RecordRole::Synthetic) {
        let words = history.session.preview_text(message.head).unwrap_or_default();
        let own = label_text(words);
        let own = if own.is_empty() { words.to_owned() } else { own.into_owned() };
        if !own.trim().is_empty() {
            return (own, true);
        }
    }
    match label::message_label(history.message_tree.records_of(speech), bodies) {
        Some(label) => (label.text, label.is_quote),
        None => ("no text".to_owned(), false),
    }
}
