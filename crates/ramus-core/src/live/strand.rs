//! Which way a conversation goes, as its records come.
//!
//! The last records of the file are kept as a session of their own. Each new one is placed by the very
//! rules that read a whole file ([`fold`](crate::fold), R8; [`branches`](crate::branches), R9), with
//! what is known when it is written. So whoever watches hears of the forks that whoever reads finds, and
//! the cost depends on the window alone.

use rustc_hash::FxHashSet;

use crate::branches::{ForkKind, fork_kind};
use crate::fold::{FoldId, Folds};
use crate::name::Name;
use crate::record::{Record, Voice};
use crate::session::{NodeId, Session};
use crate::tree::Tree;

/// How many records are remembered; the client hangs new ones at the last few.
pub(super) const WINDOW: usize = 512;

/// What a record does to the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It was there already (R4, R8d).
    Copy,
    /// The conversation goes on, maybe another way.
    Goes { followed: bool, switch: Option<Switch> },
}

/// The conversation goes another way than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub kind: SwitchKind,
    /// The record after which it goes another way, as it is spelled; the parent, where that is all
    /// that is known. `None`: it begins anew.
    pub after: Option<String>,
    /// The words of the last prompt up to there.
    pub words: Option<String>,
    /// The followed conversation was left by this, or taken up again.
    pub leaves: bool,
    pub returns: bool,
}

/// How a conversation changes its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A new branch.
    New(ForkKind),
    /// On with a branch that was left before.
    Back,
    /// A new beginning beside the first.
    Root,
    /// A new branch, at a record that is further back than is remembered.
    Beyond,
}

impl SwitchKind {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::New(kind) => kind.word(),
            Self::Back => "back",
            Self::Root => "root",
            Self::Beyond => "beyond",
        }
    }
}

/// How many are held at most: the oldest are forgotten several at a time.
pub(super) const MOST: usize = WINDOW + 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Strand {
    /// The last records of the file; those of agents in a session's own file, too.
    window: Session,
    /// How many records were forgotten.
    forgotten: u64,
    /// The head of what was said last, by its number in the file.
    tip: Option<u64>,
    /// The end of the followed conversation; `None` inside: nothing of it was said yet.
    followed: Option<Option<u64>>,
    /// What was remembered of the file before it was rewritten, by name and content.
    shown: FxHashSet<(Name, u64)>,
}

/// The window as a reader understands it.
struct Read<'a> {
    strand: &'a Strand,
    tree: Tree,
    folds: Folds,
}

impl Strand {
    pub(super) fn follow(&mut self, uuid: &str) -> bool {
        let read = self.read();
        let Some(node) = read.tree.find(Name::new(uuid.as_bytes())) else {
            return false;
        };
        let mut end = read.folds.of(node).and_then(|fold| read.said(fold));
        // On to the end of the conversation, along what was said first.
        while let Some(next) = end.and_then(|end| read.next_said(end)) {
            end = Some(next);
        }
        self.followed = Some(end.map(|end| read.number(end)));
        true
    }

    pub(super) fn follow_tip(&mut self) {
        self.followed = Some(self.tip);
    }

    /// Whether something else was said last than the end of the followed conversation.
    pub(super) fn has_left(&self) -> bool {
        self.followed.is_some_and(|end| end != self.tip)
    }

    /// Takes the next record of a lane: the main conversation, or the agent's in its own file.
    pub(super) fn take(&mut self, session: &Session, id: NodeId) -> Step {
        self.remember(session, id);
        let read = self.read();
        let node = NodeId(self.window.records().len() as u32 - 1);
        if read.is_copy(node) {
            return Step::Copy;
        }
        let Some(fold) = read.folds.of(node) else { return Step::Copy };
        let above = read.folds.fold(fold).parent.and_then(|parent| read.said(parent));
        let above = above.filter(|_| !read.is_beyond(fold));
        let says = read.folds.fold(fold).head == node && read.folds.fold(fold).voice.speaks();
        let number = read.number(fold);
        let said_above = above.map(|above| read.number(above));
        let kind = if says { read.switch_kind(fold, above) } else { None };
        // Where nothing was said above, the fork itself is where it goes another way.
        let point = above.or_else(|| read.fork(fold).map(|(point, _)| point));
        let after = point.and_then(|point| self.spelled(read.folds.fold(point).head));
        let words = above.and_then(|above| read.words(above));
        let mut switch = None;
        if says {
            let was_followed = self.followed.is_some_and(|end| end == self.tip);
            let continues = self.followed.is_some_and(|end| end == said_above);
            if continues && kind.is_none_or(|kind| kind == SwitchKind::Back) {
                self.followed = Some(Some(number));
            }
            self.tip = Some(number);
            let parent = self.window.record(node).parent.map(|name| self.window.spell(name));
            switch = kind.map(|kind| Switch {
                kind,
                after: after.or(parent),
                words,
                leaves: was_followed && !continues,
                returns: continues && !was_followed,
            });
        }
        let followed = match self.followed {
            None => true,
            Some(end) => end == Some(number) || end.is_some() && end == said_above,
        };
        let record = self.window.record(node);
        if record.name.is_some_and(|name| self.shown.contains(&(name, record.content))) {
            return Step::Copy;
        }
        Step::Goes { followed, switch }
    }

    /// Begins again with a file that was rewritten; what was there before is known by its name.
    pub(super) fn rewritten(&mut self) {
        let window = std::mem::take(&mut self.window);
        if !window.records().is_empty() {
            let named = |record: &Record| Some((record.name?, record.content));
            self.shown = window.records().iter().filter_map(named).collect();
        }
        (self.forgotten, self.tip) = (0, None);
        self.followed = self.followed.map(|_| None);
    }

    /// Takes records that nobody hears of. Returns for each whether it was there already.
    pub(super) fn take_quietly(&mut self, session: &Session, ids: &[NodeId]) -> Vec<bool> {
        for id in ids {
            self.remember(session, *id);
        }
        let read = self.read();
        let held = self.window.records().len();
        // What was forgotten at once cannot be told any more; nothing hangs on it.
        let unknown = ids.len().saturating_sub(held);
        let start = held - (ids.len() - unknown);
        let mut copies = vec![false; unknown];
        let mut tip = self.tip;
        for node in (start as u32..held as u32).map(NodeId) {
            copies.push(read.is_copy(node));
            let fold = read.folds.of(node).filter(|_| !read.is_copy(node));
            let Some(fold) = fold else { continue };
            let record = self.window.record(node);
            let is_main = !record.sidechain || read.is_agent();
            if is_main && read.folds.fold(fold).head == node && record.voice.speaks() {
                tip = Some(read.number(fold));
            }
        }
        self.tip = tip;
        copies
    }

    /// Takes a record of an agent in a session's own file: others may hang below it.
    pub(super) fn remember(&mut self, session: &Session, id: NodeId) {
        self.window.append(session, id);
        let held = self.window.records().len();
        if held > MOST {
            self.window = self.window.last_records(WINDOW);
            self.forgotten += (held - WINDOW) as u64;
        }
    }

    fn read(&self) -> Read<'_> {
        let tree = Tree::new(&self.window);
        let folds = Folds::new(&self.window, &tree);
        Read { strand: self, tree, folds }
    }

    fn spelled(&self, node: NodeId) -> Option<String> {
        self.window.record(node).name.map(|name| self.window.spell(name))
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.window.records().len()
    }
}

impl Read<'_> {
    /// Whether the record was there already (R4, R8d).
    fn is_copy(&self, node: NodeId) -> bool {
        !self.tree.is_first(node) || self.folds.is_replay(node)
    }

    /// Whether all records are of one agent.
    fn is_agent(&self) -> bool {
        self.strand.window.records().iter().all(|record| record.sidechain)
    }

    /// Returns the number of a fold's first record in the file.
    fn number(&self, fold: FoldId) -> u64 {
        self.strand.forgotten + u64::from(self.folds.fold(fold).head.0)
    }

    /// Returns the last thing said at or above a fold, in its lane.
    fn said(&self, fold: FoldId) -> Option<FoldId> {
        let sidechain = self.folds.fold(fold).sidechain;
        let mut above = self.folds.ancestors(fold).map(|id| (id, self.folds.fold(id)));
        above.find(|(_, fold)| fold.sidechain == sidechain && fold.voice.speaks()).map(|(id, _)| id)
    }

    /// Returns what was said first right after a fold.
    fn next_said(&self, fold: FoldId) -> Option<FoldId> {
        let mut at = self.folds.speaking_children(fold).next()?;
        while !self.folds.fold(at).voice.speaks() {
            at = self.folds.speaking_children(at).next()?;
        }
        Some(at)
    }

    /// Returns how the conversation changes its way with a fold that was just said; `None`: it goes on.
    fn switch_kind(&self, fold: FoldId, above: Option<FoldId>) -> Option<SwitchKind> {
        // Its child was written first, and began the way then.
        if self.folds.speaking_children(fold).next().is_some() {
            return None;
        }
        if self.is_beyond(fold) {
            // Nothing was said after what was said last, even if it is not remembered any more.
            return self
                .strand
                .tip
                .filter(|tip| *tip >= self.strand.forgotten)
                .map(|_| SwitchKind::Beyond);
        }
        if let Some((_, ways)) = self.fork(fold) {
            return Some(SwitchKind::New(fork_kind(&self.strand.window, &self.folds, &ways)));
        }
        let tip = self.strand.tip?;
        let Some(above) = above else { return Some(self.beginning(fold)) };
        // What was said last may have become a part of something else since.
        let last = tip.checked_sub(self.strand.forgotten);
        let last = last.and_then(|last| self.folds.of(NodeId(u32::try_from(last).ok()?)));
        let continues = self.number(above) == tip || last == Some(above);
        (!continues).then_some(SwitchKind::Back)
    }

    /// Returns the fork that a fold begins a way of, with its ways; `None`: there is none.
    fn fork(&self, fold: FoldId) -> Option<(FoldId, Vec<FoldId>)> {
        let sidechain = self.folds.fold(fold).sidechain;
        for above in self.folds.ancestors(fold).skip(1) {
            if self.folds.fold(above).sidechain != sidechain {
                return None;
            }
            let ways: Vec<FoldId> = self.folds.speaking_children(above).collect();
            if ways.len() > 1 {
                return Some((above, ways));
            }
            if self.folds.fold(above).voice.speaks() {
                return None;
            }
        }
        None
    }

    /// Returns what something is that was said with nothing said above it.
    fn beginning(&self, fold: FoldId) -> SwitchKind {
        let root = self.folds.ancestors(fold).last().unwrap_or(fold);
        let head = self.folds.fold(root).head;
        let record = self.strand.window.record(head);
        if record.parent.is_some() { SwitchKind::Beyond } else { SwitchKind::Root }
    }

    /// Whether something hangs, with nothing said between, at a record that is forgotten. The window
    /// alone would take that parent for one that the file lacks.
    fn is_beyond(&self, fold: FoldId) -> bool {
        let is_lost = |id: FoldId| {
            let fold = self.folds.fold(id);
            let is_compaction = matches!(fold.voice, Voice::Boundary | Voice::CompactSummary);
            let has_parent = self.strand.window.record(fold.head).parent.is_some();
            has_parent && self.tree.parent(fold.head).is_none() && !is_compaction
        };
        let speaks = |id: &FoldId| *id != fold && self.folds.fold(*id).voice.speaks();
        self.strand.forgotten > 0
            && self.folds.ancestors(fold).take_while(|id| !speaks(id)).any(is_lost)
    }

    /// Returns the words of the last prompt up to a fold.
    fn words(&self, from: FoldId) -> Option<String> {
        let mut above = self.folds.ancestors(from).map(|id| self.folds.fold(id));
        let prompt = above.find(|fold| fold.voice == Voice::Prompt)?;
        self.strand.window.words(prompt.head).map(str::to_owned)
    }
}
