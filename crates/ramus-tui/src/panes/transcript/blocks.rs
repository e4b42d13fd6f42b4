//! Which blocks are rendered, how they are to look, and which are kept.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ramus_core::fold::FoldId;
use ramus_render::Line;

use super::{ItemKind, Stage, Transcript};
use crate::event::Rendered;
use crate::work::render::Want;

/// Which block, whatever path it is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    stage: u32,
    first: FoldId,
    place: Place,
}

/// Whether it is a block or a fork, which looks different on each of its ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Block,
    Fork { taken: Option<FoldId> },
}

impl Key {
    /// Returns the block of the same stage that begins at another fold.
    pub(crate) fn at(self, first: FoldId) -> Self {
        Self { first, place: Place::Block, ..self }
    }

    /// Whether it is not of the main stage, so that something stands above it.
    pub(crate) fn is_inside(self) -> bool {
        self.stage != MAIN
    }
}

/// The main stage goes by this number on all of its paths.
pub(super) const MAIN: u32 = 0;

/// How a block is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) width: u16,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
}

/// What is known of blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Those that were opened where all are folded, or the other way round.
    toggled: HashSet<Key>,
    /// The lines of each, and the look they have. `None`: the file has grown since.
    rendered: HashMap<Key, (Option<Look>, Vec<Line>)>,
    /// Those of the last request.
    asked: HashMap<Key, Look>,
}

/// How many blocks beside the screen are rendered ahead, and how many are kept.
const AHEAD: usize = 24;
const KEPT: usize = 400;

impl Transcript {
    /// Opens or closes the block at the cursor.
    pub(crate) fn toggle(&mut self) {
        if let Some(key) = self.key(self.cursor)
            && !self.blocks.toggled.remove(&key)
        {
            self.blocks.toggled.insert(key);
        }
    }

    /// Opens the block of an item, so that all of it can be seen.
    pub(super) fn unfold(&mut self, item: usize) {
        if let Some(key) = self.key(item).filter(|_| !self.tools) {
            self.blocks.toggled.insert(key);
        }
    }

    /// Returns what names the block of an item.
    pub(crate) fn key(&self, item: usize) -> Option<Key> {
        let item = self.items.get(item)?;
        let stage = &self.stages[item.stage];
        let folds = &stage.path.folds;
        let (at, place) = match &item.kind {
            ItemKind::Block(range) => (range.start, Place::Block),
            ItemKind::Fork(at) => (*at, Place::Fork { taken: folds.get(at + 1).copied() }),
            ItemKind::Resume | ItemKind::Agent => return None,
        };
        Some(Key { stage: stage.id, first: *folds.get(at)?, place })
    }

    fn look(&self, item: usize, key: Key) -> Look {
        let toggled = self.blocks.toggled.contains(&key);
        let width = self.size.0.saturating_sub(u16::from(self.items[item].depth) * 2);
        Look { width, tools: self.tools != toggled, thinking: self.thinking != toggled }
    }

    /// Returns the lines of an item, if they have been rendered; they may be of another look or of
    /// a moment ago, which is better than none.
    pub(crate) fn lines(&self, item: usize) -> Option<&[Line]> {
        self.key(item).and_then(|key| self.blocks.rendered.get(&key)).map(|(_, lines)| &**lines)
    }

    /// Takes the lines of a block.
    pub(crate) fn take(&mut self, rendered: Rendered) {
        let Rendered { key, look, chapter, lines } = rendered;
        let is_current =
            |stage: &Stage| stage.id == key.stage && Arc::ptr_eq(&stage.chapter, &chapter);
        let look = Some(look).filter(|_| self.stages.iter().any(is_current));
        self.blocks.rendered.insert(key, (look, lines));
        self.settle();
    }

    /// Returns what should be rendered, what is seen first; far ones are forgotten.
    pub(crate) fn wanted(&mut self) -> Vec<Want> {
        let seen: Vec<usize> = self.seen().into_iter().map(|(item, _)| item).collect();
        let (Some(first), Some(last)) = (seen.first().copied(), seen.last().copied()) else {
            return Vec::new();
        };
        self.forget(first..last + 1);
        let after = last + 1..(last + 1 + AHEAD).min(self.items.len());
        let before = first.saturating_sub(AHEAD)..first;
        let order = seen.into_iter().chain(after).chain(before.rev());
        order.filter_map(|item| self.want(item)).collect()
    }

    pub(crate) fn ask_for(&mut self, wanted: &[Want]) {
        self.blocks.asked = wanted.iter().map(|want| (want.key, want.look)).collect();
    }

    /// Whether all of it was part of the last request.
    pub(crate) fn has_asked_for(&self, wanted: &[Want]) -> bool {
        wanted.iter().all(|want| self.blocks.asked.get(&want.key) == Some(&want.look))
    }

    /// Whether everything that is seen has been rendered.
    pub(crate) fn is_ready(&self) -> bool {
        self.seen().into_iter().all(|(item, _)| self.want(item).is_none())
    }

    /// Returns what it takes to render an item. `None`: it is there already, or needs nothing.
    fn want(&self, item: usize) -> Option<Want> {
        let key = self.key(item)?;
        let look = self.look(item, key);
        let is_there = self.blocks.rendered.get(&key).is_some_and(|(held, _)| *held == Some(look));
        if is_there { None } else { self.want_anyway(item) }
    }

    /// Returns what it takes to render an item, even if it has been.
    pub(crate) fn want_anyway(&self, item: usize) -> Option<Want> {
        let key = self.key(item)?;
        let place = &self.items[item];
        let stage = &self.stages[place.stage];
        let previous = self.items[..item].iter().rev().find_map(|other| match &other.kind {
            ItemKind::Block(range) => Some(range.clone()).filter(|_| other.stage == place.stage),
            _ => None,
        });
        let directly =
            item.checked_sub(1).is_some_and(|before| self.items[before].stage == place.stage);
        Some(Want {
            key,
            look: self.look(item, key),
            chapter: stage.chapter.clone(),
            path: stage.path.clone(),
            kind: place.kind.clone(),
            previous: previous.filter(|_| directly),
        })
    }

    fn forget(&mut self, seen: Range<usize>) {
        if self.blocks.rendered.len() <= KEPT {
            return;
        }
        let near = seen.start.saturating_sub(KEPT / 4)..(seen.end + KEPT / 4).min(self.items.len());
        let near: HashSet<Key> = near.filter_map(|item| self.key(item)).collect();
        self.blocks.rendered.retain(|key, _| near.contains(key));
    }

    /// Has the last blocks rendered again: they may have gone on, with results or output.
    pub(super) fn renew_end(&mut self) {
        for item in self.items.len().saturating_sub(AHEAD)..self.items.len() {
            let key = self.key(item);
            if let Some((look, _)) = key.and_then(|key| self.blocks.rendered.get_mut(&key)) {
                *look = None;
            }
        }
    }
}
