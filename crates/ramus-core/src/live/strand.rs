//! Determines which branch a followed session is on, record by record.
//!
//! The last records of the file are kept as a small session. Each new record is placed by the same rules
//! that read a whole file ([`fold`](crate::fold), R8; [`branches`](crate::branches), R9), with what is known at
//! that time. So a watcher sees the same fork points as a reader, and the cost depends only on the size of
//! the window.

use rustc_hash::FxHashSet;

use crate::branches::{ForkKind, fork_kind};
use crate::fold::{FoldId, Folds};
use crate::name::Name;
use crate::record::{Record, Voice};
use crate::session::{NodeId, Session};
use crate::tree::Tree;

/// The number of records remembered; the client attaches new ones to the last few.
pub(super) const WINDOW: usize = 512;

/// The effect of a record on the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It is a copy (R4, R8d).
    Copy,
    /// The conversation continues, possibly on another branch.
    Goes { followed: bool, switch: Option<Switch> },
}

/// The conversation switched to another branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub kind: SwitchKind,
    /// The uuid of the record after which the branch begins; the parent, if nothing else is known.
    /// `None`: it is a new root.
    pub after: Option<String>,
    /// The text of the last prompt before that.
    pub words: Option<String>,
    /// The followed conversation was left, or continues again.
    pub leaves: bool,
    pub returns: bool,
}

/// The kind of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A new branch.
    New(ForkKind),
    /// An earlier branch continues.
    Back,
    /// A new root.
    Root,
    /// A new branch at a record outside the window.
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

/// The most records kept: the oldest are dropped several at a time.
pub(super) const MOST: usize = WINDOW + 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Strand {
    /// The last records of the file, including those of sub-agents in the session's file.
    window: Session,
    /// The number of records dropped.
    forgotten: u64,
    /// The first record of the last dialogue message, by its number in the file.
    tip: Option<u64>,
    /// The end of the followed conversation; `None` inside: it has no message yet.
    followed: Option<Option<u64>>,
    /// The records before the file was rewritten, by uuid and content.
    shown: FxHashSet<(Name, u64)>,
}

/// The window, analysed.
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
        // To the end of the conversation, along the first branches.
        while let Some(next) = end.and_then(|end| read.next_said(end)) {
            end = Some(next);
        }
        self.followed = Some(end.map(|end| read.number(end)));
        true
    }

    pub(super) fn follow_tip(&mut self) {
        self.followed = Some(self.tip);
    }

    /// Whether the last message is not the end of the followed conversation.
    pub(super) fn has_left(&self) -> bool {
        self.followed.is_some_and(|end| end != self.tip)
    }

    /// Adds the next record of the main conversation, or of the sub-agent in its own file.
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
        // Without dialogue above, the branch begins at the fork point itself.
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

    /// Restarts with a file that was rewritten; records that it already had are known by their uuid.
    pub(super) fn rewritten(&mut self) {
        let window = std::mem::take(&mut self.window);
        if !window.records().is_empty() {
            let named = |record: &Record| Some((record.name?, record.content));
            self.shown = window.records().iter().filter_map(named).collect();
        }
        (self.forgotten, self.tip) = (0, None);
        self.followed = self.followed.map(|_| None);
    }

    /// Adds records without reporting them. Returns for each whether it is a copy.
    pub(super) fn take_quietly(&mut self, session: &Session, ids: &[NodeId]) -> Vec<bool> {
        for id in ids {
            self.remember(session, *id);
        }
        let read = self.read();
        let held = self.window.records().len();
        // Nothing depends on records that were dropped right away.
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

    /// Adds a record of a sub-agent in the session's file: others may be below it.
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
    /// Whether the record is a copy (R4, R8d).
    fn is_copy(&self, node: NodeId) -> bool {
        !self.tree.is_first(node) || self.folds.is_replay(node)
    }

    /// Whether all records belong to one sub-agent.
    fn is_agent(&self) -> bool {
        self.strand.window.records().iter().all(|record| record.sidechain)
    }

    /// Returns the number of a message's first record in the file.
    fn number(&self, fold: FoldId) -> u64 {
        self.strand.forgotten + u64::from(self.folds.fold(fold).head.0)
    }

    /// Returns the last dialogue message at or above a message, on the same chain.
    fn said(&self, fold: FoldId) -> Option<FoldId> {
        let sidechain = self.folds.fold(fold).sidechain;
        let mut above = self.folds.ancestors(fold).map(|id| (id, self.folds.fold(id)));
        above.find(|(_, fold)| fold.sidechain == sidechain && fold.voice.speaks()).map(|(id, _)| id)
    }

    /// Returns the first dialogue message right after a message.
    fn next_said(&self, fold: FoldId) -> Option<FoldId> {
        let mut at = self.folds.speaking_children(fold).next()?;
        while !self.folds.fold(at).voice.speaks() {
            at = self.folds.speaking_children(at).next()?;
        }
        Some(at)
    }

    /// Returns how the branch changes with a new message; `None`: it continues.
    fn switch_kind(&self, fold: FoldId, above: Option<FoldId>) -> Option<SwitchKind> {
        // Its child was written first and already began the branch.
        if self.folds.speaking_children(fold).next().is_some() {
            return None;
        }
        if self.is_beyond(fold) {
            // It follows the last message, which is no longer in the window.
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
        // The last message may have been grouped differently since.
        let last = tip.checked_sub(self.strand.forgotten);
        let last = last.and_then(|last| self.folds.of(NodeId(u32::try_from(last).ok()?)));
        let continues = self.number(above) == tip || last == Some(above);
        (!continues).then_some(SwitchKind::Back)
    }

    /// Returns the fork point above a message and its branches; `None`: there is none.
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

    /// Returns the kind of a message without dialogue above it.
    fn beginning(&self, fold: FoldId) -> SwitchKind {
        let root = self.folds.ancestors(fold).last().unwrap_or(fold);
        let head = self.folds.fold(root).head;
        let record = self.strand.window.record(head);
        if record.parent.is_some() { SwitchKind::Beyond } else { SwitchKind::Root }
    }

    /// Whether the chain of a message leads to a dropped record without dialogue in between. The window alone
    /// would treat that parent as missing from the file.
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

    /// Returns the text of the last prompt at or above a message.
    fn words(&self, from: FoldId) -> Option<String> {
        let mut above = self.folds.ancestors(from).map(|id| self.folds.fold(id));
        let prompt = above.find(|fold| fold.voice == Voice::Prompt)?;
        self.strand.window.words(prompt.head).map(str::to_owned)
    }
}
