//! What a reader is told where the path forks (R9, R12).

use std::ops::Range;

use super::{Fork, ForkWay, Turn, TurnKind, label};
use crate::body::{Body, label_text};
use crate::branches::Way;
use crate::fold::FoldId;
use crate::history::History;
use crate::name::Name;
use crate::record::Voice;
use crate::session::NodeId;

/// Returns the turn that tells of the fork at a fold; `rest` is how the path goes on from it.
///
/// At most `limit` of its ways are told, those nearest to the one taken: who tells of the fork once
/// for each of its ways would else need the square of their number.
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

/// Tells of the fork at a fold; `rest` is how the path goes on from it.
fn kind(
    history: &History,
    at: FoldId,
    rest: &[FoldId],
    limit: usize,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> Option<TurnKind> {
    let fork = history.branches.fork_at(at)?;
    let taken = rest.first().copied();
    // Ways stand in file order, as do the heads of their folds.
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
        // The words of the way taken are read anyway.
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

/// Returns the part of a list of `all` things around a place that has no more than `limit` of them.
fn nearest(all: usize, place: usize, limit: usize) -> Range<usize> {
    let length = all.min(limit);
    let start = place.saturating_sub(length / 2).min(all - length);
    start..start + length
}

/// Returns the name of a record as it is spelled.
pub(super) fn spelled(history: &History, node: NodeId) -> Option<String> {
    history.session.record(node).name.map(|name| history.session.spell(name))
}

/// Returns the end of the path, and the messages up to it. Each fork on the path asks, so it must not be walked.
fn along(history: &History, at: FoldId, rest: &[FoldId]) -> (FoldId, u32) {
    let end = rest.last().copied().unwrap_or(at);
    (end, history.folds.messages_between(at, end))
}

/// Returns the end of the conversation that a fold leads to, and the messages on the way.
///
/// The ways not taken along one path have no fold in common, so all these walks
/// together are no longer than the session.
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

/// Returns what leads to a node within its session: the first eight letters of its uuid if no other record
/// has the same, or, where another version of it goes by its name, the number of its conversation.
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

/// Returns the first words of a branch, or what it holds instead, and whether somebody said them.
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
