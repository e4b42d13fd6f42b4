//! Splits a path into the items of a transcript.

use std::ops::Range;

use ramus_core::history::{ConversationPath, History};
use ramus_core::record::RecordRole;

use super::{StageRole, TranscriptStage};

/// An item of a transcript, with its own position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TranscriptItem {
    /// Index of the stage it belongs to.
    pub(crate) stage: usize,
    /// How deep inside: agents, and agents of agents.
    pub(crate) depth: u8,
    pub(crate) kind: TranscriptItemKind,
}

/// What an item is; numbers are places on the stage's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TranscriptItemKind {
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
pub(super) fn list_items(stages: &[TranscriptStage]) -> Vec<TranscriptItem> {
    let mut items = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        if !matches!(stage.part, StageRole::Agent { .. }) {
            push_items(stages, index, 0, &mut items);
        }
    }
    items
}

fn push_items(
    stages: &[TranscriptStage],
    index: usize,
    depth: u8,
    items: &mut Vec<TranscriptItem>,
) {
    let stage = &stages[index];
    let history = &stage.chapter.history;
    let path = &stage.path;
    let resume = history.branches.resume.filter(|_| stage.part == StageRole::Main);
    let resume = resume.and_then(|resume| history.message_tree.message_of(resume.leaf));
    let item = |kind| TranscriptItem { stage: index, depth, kind };
    for range in split_blocks(history, path) {
        let folds = &path.messages[range.clone()];
        let last = range.end - 1;
        items.push(item(TranscriptItemKind::Block(range)));
        for (inner, other) in stages.iter().enumerate() {
            let StageRole::Agent { parent_stage: of, call, .. } = &other.part else { continue };
            let is_here = *of == stage.id
                && history.message_tree.message_of(*call).is_some_and(|fold| folds.contains(&fold));
            if is_here {
                items.push(TranscriptItem {
                    stage: inner,
                    depth: depth + 1,
                    kind: TranscriptItemKind::Agent,
                });
                push_items(stages, inner, depth + 1, items);
            }
        }
        if resume.is_some_and(|fold| folds.contains(&fold)) {
            items.push(item(TranscriptItemKind::Resume));
        }
        if is_fork_after(history, path, last) {
            items.push(item(TranscriptItemKind::Fork(last)));
        }
    }
}

/// Cuts a path into blocks: a message each, with what trails it. A fork ends a block.
fn split_blocks(history: &History, path: &ConversationPath) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (index, fold) in path.messages.iter().enumerate() {
        let begins = matches!(
            history.message_tree.message(*fold).role,
            RecordRole::Prompt
                | RecordRole::QueuedPrompt
                | RecordRole::Reply
                | RecordRole::CompactBoundary
                | RecordRole::Command
        );
        let forked =
            index.checked_sub(1).is_some_and(|before| is_fork_after(history, path, before));
        match blocks.last_mut() {
            Some(block) if !begins && !forked => block.end = index + 1,
            _ => blocks.push(index..index + 1),
        }
    }
    blocks
}

/// Whether the path forks after a fold of it.
fn is_fork_after(history: &History, path: &ConversationPath, at: usize) -> bool {
    let Some(fork) = history.branches.fork_at(path.messages[at]) else { return false };
    let taken = path.messages.get(at + 1);
    taken.is_none_or(|taken| fork.branches.iter().any(|branch| branch.message == *taken))
}
