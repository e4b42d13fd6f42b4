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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    pub(crate) width: u16,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
    pub(crate) usage: bool,
    /// Nothing is left out for being long.
    pub(crate) full: bool,
}

/// What is known of blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Those that were opened where all are folded, or the other way round.
    toggled: HashSet<Key>,
    /// Those that are shown whole, because something in them was looked for.
    whole: HashSet<Key>,
    /// What each looks like, the last one rendered last; all are as wide as each other.
    rendered: HashMap<Key, Vec<Face>>,
    /// Those of the last request, and of the last one for what may be asked for next.
    asked: HashSet<(Key, Look)>,
    prepared: HashSet<(Key, Look)>,
}

/// A block in one of its looks: opened, folded, with or without what was thought.
#[derive(Debug)]
struct Face {
    look: Look,
    /// The file has not grown since.
    is_current: bool,
    lines: Vec<Line>,
}

/// How many blocks beside the screen are rendered ahead, and how many are kept.
const AHEAD: usize = 24;
const KEPT: usize = 400;

impl Transcript {
    /// Opens or closes the block at the cursor.
    pub(crate) fn toggle(&mut self) {
        let Some(key) = self.key(self.cursor) else { return };
        let toggled = &mut self.blocks.toggled;
        let was_toggled = toggled.remove(&key);
        // A block that is shown whole is folded, whatever it was before.
        let is_toggled = if self.blocks.whole.remove(&key) { self.tools } else { !was_toggled };
        if is_toggled {
            toggled.insert(key);
        }
    }

    /// Opens the block of an item, so that all of it can be seen.
    pub(super) fn unfold(&mut self, item: usize) {
        if let Some(key) = self.key(item) {
            self.blocks.whole.insert(key);
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
        match key.place {
            Place::Block if self.blocks.whole.contains(&key) => {
                Look { width, tools: true, thinking: true, usage: self.usage, full: true }
            }
            Place::Block => {
                let (tools, thinking) = (self.tools != toggled, self.thinking != toggled);
                Look { width, tools, thinking, usage: self.usage, full: false }
            }
            // There is nothing to open.
            Place::Fork { .. } => {
                Look { width, tools: false, thinking: false, usage: false, full: false }
            }
        }
    }

    /// Returns the lines of an item, if they have been rendered; they may be of another look or of
    /// a moment ago, which is better than none.
    pub(crate) fn lines(&self, item: usize) -> Option<&[Line]> {
        let key = self.key(item)?;
        let faces = self.blocks.rendered.get(&key)?;
        let look = self.look(item, key);
        let face = faces.iter().find(|face| face.look == look).or(faces.last())?;
        Some(&face.lines)
    }

    /// Takes the lines of a block; `false`: nothing of it is seen.
    pub(crate) fn take(&mut self, rendered: Rendered) -> bool {
        let Rendered { key, look, chapter, lines } = rendered;
        let is_current =
            |stage: &Stage| stage.id == key.stage && Arc::ptr_eq(&stage.chapter, &chapter);
        let is_current = self.stages.iter().any(is_current);
        if !is_current && self.is_there(key, look) {
            return false;
        }
        let before = self.sight();
        let faces = self.blocks.rendered.entry(key).or_default();
        // Nobody comes back to another width soon.
        faces.retain(|face| face.look != look && face.look.width == look.width);
        faces.push(Face { look, is_current, lines });
        self.settle();
        let after = self.sight();
        before != after || after.seen.iter().any(|(item, _)| self.key(*item) == Some(key))
    }

    /// Returns what is to be rendered now. `None`: nothing, or all of it is being rendered already.
    ///
    /// What is seen comes first, then what is near; what is far is forgotten.
    pub(crate) fn wanted(&mut self, is_rendered: bool) -> Option<Vec<Want>> {
        let (seen, near) = self.near();
        self.forget(seen);
        let wanted: Vec<Want> = near.into_iter().filter_map(|item| self.want(item)).collect();
        asked(wanted, is_rendered, &mut self.blocks.asked)
    }

    /// Returns what is to be rendered beside that: what would be seen if all tool calls were opened,
    /// or folded again. One key asks for it, and then it would be late to read them.
    ///
    /// While something is missing on the screen that is nothing.
    pub(crate) fn wanted_next(&mut self, is_rendered: bool) -> Option<Vec<Want>> {
        if !self.is_ready() {
            let had_work = !std::mem::take(&mut self.blocks.prepared).is_empty();
            return had_work.then(Vec::new);
        }
        let (_, near) = self.near();
        let wanted: Vec<Want> = near.into_iter().filter_map(|item| self.want_other(item)).collect();
        asked(wanted, is_rendered, &mut self.blocks.prepared)
    }

    /// Returns what is seen, and with it what is near, in the order in which it is wanted.
    fn near(&self) -> (Range<usize>, Vec<usize>) {
        let seen: Vec<usize> = self.seen().into_iter().map(|(item, _)| item).collect();
        let (Some(first), Some(last)) = (seen.first().copied(), seen.last().copied()) else {
            return (0..0, Vec::new());
        };
        let after = last + 1..(last + 1 + AHEAD).min(self.items.len());
        let before = first.saturating_sub(AHEAD)..first;
        (first..last + 1, seen.into_iter().chain(after).chain(before.rev()).collect())
    }

    /// Whether everything that is seen has been rendered.
    pub(crate) fn is_ready(&self) -> bool {
        self.seen().into_iter().all(|(item, _)| self.want(item).is_none())
    }

    /// Returns what it takes to render an item. `None`: it is there already, or needs nothing.
    fn want(&self, item: usize) -> Option<Want> {
        let key = self.key(item)?;
        let is_there = self.is_there(key, self.look(item, key));
        if is_there { None } else { self.want_anyway(item) }
    }

    /// Returns what it takes to render an item with its tool calls opened if they are folded, folded
    /// if they are opened. `None`: it is there already, or has none.
    fn want_other(&self, item: usize) -> Option<Want> {
        let key = self.key(item).filter(|key| key.place == Place::Block)?;
        let now = self.look(item, key);
        let look = Look { tools: !now.tools, ..now };
        let is_there = self.is_there(key, look);
        if is_there { None } else { Some(Want { look, ..self.want_anyway(item)? }) }
    }

    fn is_there(&self, key: Key, look: Look) -> bool {
        let faces = self.blocks.rendered.get(&key).map(Vec::as_slice).unwrap_or_default();
        faces.iter().any(|face| face.is_current && face.look == look)
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
            for face in key.and_then(|key| self.blocks.rendered.get_mut(&key)).into_iter().flatten()
            {
                face.is_current = false;
            }
        }
    }
}

/// Notes what is wanted as asked for. What is being rendered already would be begun again: after a
/// block has come, only what was not part of the last request is worth another one.
fn asked(
    wanted: Vec<Want>,
    is_rendered: bool,
    asked: &mut HashSet<(Key, Look)>,
) -> Option<Vec<Want>> {
    let is_coming = |want: &Want| is_rendered && asked.contains(&(want.key, want.look));
    if wanted.iter().all(is_coming) {
        if wanted.is_empty() {
            asked.clear();
        }
        return None;
    }
    *asked = wanted.iter().map(|want| (want.key, want.look)).collect();
    Some(wanted)
}
