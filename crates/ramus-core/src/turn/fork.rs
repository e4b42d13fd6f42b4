//! Describes a fork point for a reader of the path (R9, R12).

use std::ops::Range;

use super::{Fork, ForkWay, Turn, TurnKind, label};
use crate::body::{Body, label_text};
use crate::branches::Way;
use crate::fold::FoldId;
use crate::history::History;
use crate::name::Name;
use crate::record::Voice;
use crate::session::NodeId;

/// Returns the turn that describes the fork point at a message; `rest` is the path after it.
///
/// It has at most `limit` branches, those nearest to the one taken: a caller that describes the fork
/// point once per branch would otherwise need quadratic time.
/// `None`: the path does not fork there.
pub fn fork_turn(
    history: &History,
    at: FoldId,
    rest: &[FoldId],
    limit: usize,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> Option<Turn> {
    let kind = kind(history, at, rest, limit, bodies)?;
    let nodes = vec![history.folds.fold(at).head];
    let uuid = spelled(history, nodes[0]);
    let short_uuid = uuid.as_deref().map(|uuid| history.short_uuid(uuid).to_owned());
    Some(Turn { nodes, uuid, short_uuid, time: None, recovered: false, kind })
}

/// Describes the fork point at a message; `rest` is the path after it.
fn kind(
    history: &History,
    at: FoldId,
    rest: &[FoldId],
    limit: usize,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> Option<TurnKind> {
    let fork = history.branches.fork_at(at)?;
    let taken = rest.first().copied();
    // Branches are in file order, and so are the first records of their messages.
    let place = taken.map(|taken| {
        let head = history.folds.fold(taken).head;
        fork.ways.partition_point(|way| history.folds.fold(way.fold).head < head)
    });
    if place.is_some_and(|at| fork.ways.get(at).map(|way| way.fold) != taken) {
        return None;
    }
    let told = nearest(fork.ways.len(), place.unwrap_or(0), limit);
    let way = |way: &Way| {
        let taken = Some(way.fold) == taken;
        let (end, messages) =
            if taken { along(history, at, rest) } else { line(history, way.fold) };
        let speech = history.folds.fold(way.speech).head;
        let leaf = leaf(history, end);
        // The text of the branch taken is read anyway.
        let (words, said) =
            if taken { (String::new(), false) } else { words(history, way.speech, bodies) };
        ForkWay {
            node: speech,
            leaf,
            address: address(history, leaf),
            words,
            said,
            time: history.session.record(speech).time,
            messages,
            draft: way.draft,
            current: way.current,
            taken,
        }
    };
    let more = fork.ways.len() - told.len();
    Some(TurnKind::Fork(Fork {
        kind: fork.kind,
        ways: fork.ways[told].iter().map(way).collect(),
        more,
    }))
}

/// Returns the range of at most `limit` items around a position in a list of `all` items.
fn nearest(all: usize, place: usize, limit: usize) -> Range<usize> {
    let length = all.min(limit);
    let start = place.saturating_sub(length / 2).min(all - length);
    start..start + length
}

/// Returns the uuid of a record as text.
pub(super) fn spelled(history: &History, node: NodeId) -> Option<String> {
    history.session.record(node).name.map(|name| history.session.spell(name))
}

/// Returns the end of the path and the number of messages up to it. No walk: every fork point calls this.
fn along(history: &History, at: FoldId, rest: &[FoldId]) -> (FoldId, u32) {
    let end = rest.last().copied().unwrap_or(at);
    (end, history.folds.messages_between(at, end))
}

/// Returns the end of the conversation that a message leads to, and the number of messages up to it.
///
/// The branches not taken along one path have no message in common, so all these walks together are no
/// longer than the session.
fn line(history: &History, from: FoldId) -> (FoldId, u32) {
    let (mut fold, mut messages) = (from, 0);
    loop {
        messages += u32::from(history.folds.fold(fold).voice.is_displayable());
        let next = match history.branches.fork_at(fold) {
            Some(fork) => fork.ways.iter().find(|way| way.current).map(|way| way.fold),
            None => history.folds.speaking_children(fold).last(),
        };
        match next {
            Some(next) => fold = next,
            None => return (fold, messages),
        }
    }
}

fn leaf(history: &History, end: FoldId) -> NodeId {
    let found = history.branches.conversation_at(&history.folds, end);
    found.filter(|found| found.end == end).map_or(history.folds.fold(end).head, |found| found.leaf)
}

/// Returns the address of a node within its session: the first eight letters of its uuid if they are
/// unique, or the number of its conversation if another version has the same uuid.
fn address(history: &History, node: NodeId) -> Option<String> {
    let name = history.session.record(node).name?;
    if history.is_hidden(node) {
        return Some(history.place_of(node));
    }
    let mut spelling = history.session.spell(name);
    let is_uuid = Name::canonical(spelling.as_bytes()).is_some();
    if is_uuid && history.tree.is_told_by_start(name) {
        spelling.truncate(8);
    }
    Some(format!(":{spelling}"))
}

/// Returns the first text of a branch, or what it has instead, and whether it is text of the conversation.
fn words(
    history: &History,
    speech: FoldId,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> (String, bool) {
    let fold = history.folds.fold(speech);
    if !matches!(fold.voice, Voice::Answer | Voice::Synthetic) {
        let words = history.session.words(fold.head).unwrap_or_default();
        let own = label_text(words);
        let own = if own.is_empty() { words.to_owned() } else { own.into_owned() };
        if !own.trim().is_empty() {
            return (own, true);
        }
    }
    match label::message_label(history.folds.members(speech), bodies) {
        Some(label) => (label.text, label.said),
        None => ("no text".to_owned(), false),
    }
}
