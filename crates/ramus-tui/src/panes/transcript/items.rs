//! A path cut into what is seen of it.

use std::ops::Range;

use ramus_core::history::{History, Path};
use ramus_core::record::Voice;

use super::{Part, Stage};

/// Something in a transcript that has a place of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Index of the stage it belongs to.
    pub(crate) stage: usize,
    /// How deep inside: agents, and agents of agents.
    pub(crate) depth: u8,
    pub(crate) kind: ItemKind,
}

/// What an item is; numbers are places on the stage's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A message and what goes with it.
    Block(Range<usize>),
    /// The fork after a fold.
    Fork(usize),
    /// The client would continue from here.
    Resume,
    /// The heading of an agent that is opened in place.
    Agent,
}

/// Returns the items of all stages, agents below the calls that started them.
pub(super) fn items(stages: &[Stage]) -> Vec<Item> {
    let mut items = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        if !matches!(stage.part, Part::Agent { .. }) {
            push(stages, index, 0, &mut items);
        }
    }
    items
}

fn push(stages: &[Stage], index: usize, depth: u8, items: &mut Vec<Item>) {
    let stage = &stages[index];
    let history = &stage.chapter.history;
    let path = &stage.path;
    let resume = history.branches.resume.filter(|_| stage.part == Part::Main);
    let resume = resume.and_then(|resume| history.folds.of(resume.leaf));
    let item = |kind| Item { stage: index, depth, kind };
    for range in blocks(history, path) {
        let folds = &path.folds[range.clone()];
        let last = range.end - 1;
        items.push(item(ItemKind::Block(range)));
        for (inner, other) in stages.iter().enumerate() {
            let Part::Agent { of, call, .. } = &other.part else { continue };
            let is_here = *of == stage.id
                && history.folds.of(*call).is_some_and(|fold| folds.contains(&fold));
            if is_here {
                items.push(Item { stage: inner, depth: depth + 1, kind: ItemKind::Agent });
                push(stages, inner, depth + 1, items);
            }
        }
        if resume.is_some_and(|fold| folds.contains(&fold)) {
            items.push(item(ItemKind::Resume));
        }
        if forks(history, path, last) {
            items.push(item(ItemKind::Fork(last)));
        }
    }
}

/// Cuts a path into blocks: a message each, with what trails it. A fork ends a block.
fn blocks(history: &History, path: &Path) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (index, fold) in path.folds.iter().enumerate() {
        let begins = matches!(
            history.folds.fold(*fold).voice,
            Voice::Prompt | Voice::Queued | Voice::Answer | Voice::Boundary | Voice::Command
        );
        let forked = index.checked_sub(1).is_some_and(|before| forks(history, path, before));
        match blocks.last_mut() {
            Some(block) if !begins && !forked => block.end = index + 1,
            _ => blocks.push(index..index + 1),
        }
    }
    blocks
}

/// Whether the path forks after a fold of it.
fn forks(history: &History, path: &Path, at: usize) -> bool {
    let Some(fork) = history.branches.fork_at(path.folds[at]) else { return false };
    let taken = path.folds.get(at + 1);
    taken.is_none_or(|taken| fork.ways.iter().any(|way| way.fold == *taken))
}
