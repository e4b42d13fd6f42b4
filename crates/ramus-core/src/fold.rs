//! What belongs together, before anything is called a fork (R8).
//!
//! One answer is written as several records, parallel tool calls hang in odd
//! places, hooks and progress stand between. Folding turns the raw forest into
//! one of whole messages: a *fold* is a message with its tool results, or one
//! other record. Folds form a forest of their own, in which a place with two
//! children that say something really is a fork.

use rustc_hash::FxHashMap;

use crate::name::Key;
use crate::record::{Kind, Record, Voice};
use crate::session::{NodeId, Session};
use crate::time::Time;
use crate::tree::{Lists, Tree};

/// A fold's place; parents come before their children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoldId(u32);

impl FoldId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One message with its tool results, or one other node.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The record it begins with.
    pub head: NodeId,
    pub parent: Option<FoldId>,
    pub voice: Voice,
    pub sidechain: bool,
}

/// The folded forest of one session.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    folds: Vec<Fold>,
    of: Vec<Option<FoldId>>,
    members: Lists<NodeId>,
    children: Lists<FoldId>,
    below: Vec<Below>,
    replays: Vec<NodeId>,
}

/// What the subtree of a fold holds, itself included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below {
    /// Anything said at all.
    pub(crate) speaks: bool,
    /// A real answer of the model.
    pub(crate) answered: bool,
    /// A user or assistant record of any voice.
    pub(crate) has_message: bool,
    pub(crate) nodes: u32,
    /// The first two prompts in file order.
    pub(crate) prompts: [Option<NodeId>; 2],
}

impl Folds {
    /// Folds the nodes of a session.
    pub fn new(session: &Session, tree: &Tree) -> Self {
        let mut folder = Folder {
            session,
            tree,
            folds: Vec::with_capacity(session.records().len() / 2),
            of: vec![None; session.records().len()],
            by_message: FxHashMap::default(),
            by_call: FxHashMap::default(),
            by_copy: FxHashMap::default(),
            replays: Vec::new(),
        };
        folder.place_all();
        let Folder { folds, mut of, replays, .. } = folder;
        let members = Lists::new(folds.len(), || {
            session.nodes().filter_map(|(id, _)| Some((of[id.index()]?.index(), id)))
        });
        for (id, _) in session.nodes() {
            of[id.index()] = of[tree.first(id).index()];
        }
        let mut order: Vec<FoldId> = (0..folds.len() as u32).map(FoldId).collect();
        order.sort_unstable_by_key(|fold| folds[fold.index()].head);
        let children = Lists::new(folds.len(), || {
            order.iter().filter_map(|fold| Some((folds[fold.index()].parent?.index(), *fold)))
        });
        let below = below(session, &folds, &members);
        Self { folds, of, members, children, below, replays }
    }

    /// Returns the fold.
    pub fn fold(&self, id: FoldId) -> &Fold {
        &self.folds[id.index()]
    }

    /// Returns the number of folds.
    pub fn len(&self) -> usize {
        self.folds.len()
    }

    /// Whether the session has no node at all.
    pub fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Returns all folds, parents before children.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (FoldId, &Fold)> {
        self.folds.iter().enumerate().map(|(i, fold)| (FoldId(i as u32), fold))
    }

    /// Returns the fold a node belongs to; metadata belongs to none.
    pub fn of(&self, id: NodeId) -> Option<FoldId> {
        self.of[id.index()]
    }

    /// Returns the records of a fold in file order; second copies are left out.
    pub fn members(&self, id: FoldId) -> &[NodeId] {
        self.members.of(id.index())
    }

    /// Returns the children in file order.
    pub fn children(&self, id: FoldId) -> &[FoldId] {
        self.children.of(id.index())
    }

    /// Returns the children in the same lane below which something is said.
    pub fn speaking_children(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        let sidechain = self.fold(id).sidechain;
        self.children(id).iter().copied().filter(move |child| {
            self.below(*child).speaks && self.fold(*child).sidechain == sidechain
        })
    }

    /// Whether anything is said in the fold or below it.
    pub fn speaks(&self, id: FoldId) -> bool {
        self.below(id).speaks
    }

    /// Whether the model really answered in the fold or below it.
    pub fn is_answered(&self, id: FoldId) -> bool {
        self.below(id).answered
    }

    pub(crate) fn below(&self, id: FoldId) -> &Below {
        &self.below[id.index()]
    }

    /// Returns the nodes that only repeat another one (R8d).
    pub fn replays(&self) -> &[NodeId] {
        &self.replays
    }

    /// Walks from a fold up to its root.
    pub fn ancestors(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        std::iter::successors(Some(id), |id| self.fold(*id).parent)
    }
}

struct Folder<'a> {
    session: &'a Session,
    tree: &'a Tree,
    folds: Vec<Fold>,
    of: Vec<Option<FoldId>>,
    by_message: FxHashMap<(Key, bool), FoldId>,
    by_call: FxHashMap<Key, FoldId>,
    by_copy: FxHashMap<(Time, u64, Kind), FoldId>,
    replays: Vec<NodeId>,
}

impl Folder<'_> {
    /// Places every node, in file order but never before its parent.
    fn place_all(&mut self) {
        let mut waiting = Vec::new();
        for (id, _) in self.session.nodes() {
            let mut next = Some(self.tree.first(id));
            while let Some(node) = next
                && self.of[node.index()].is_none()
            {
                waiting.push(node);
                next = self.tree.parent(node);
            }
            while let Some(node) = waiting.pop() {
                let fold = self.place(node);
                self.of[node.index()] = Some(fold);
            }
        }
    }

    fn place(&mut self, id: NodeId) -> FoldId {
        let record = self.session.record(id);
        let parent = self.tree.parent(id).and_then(|parent| self.of[parent.index()]);
        let mut voice = self.voice(id, record);
        let fold = match self.home(record, voice, parent) {
            Some(fold) => fold,
            None => {
                match self.copied(record, voice, parent) {
                    Some(Copied::Beside(fold)) => {
                        self.replays.push(id);
                        return fold;
                    }
                    // What was said further up is not said again here; the chain runs through.
                    Some(Copied::Below) => {
                        self.replays.push(id);
                        voice = Voice::Decoration;
                    }
                    None => {}
                }
                self.folds.push(Fold { head: id, parent, voice, sidechain: record.sidechain });
                FoldId(self.folds.len() as u32 - 1)
            }
        };
        self.remember(record, voice, fold);
        fold
    }

    /// What a record read out of a damaged line says counts only where others build on it.
    fn voice(&self, id: NodeId, record: &Record) -> Voice {
        if record.recovered && self.tree.children(id).is_empty() {
            Voice::Decoration
        } else {
            record.voice
        }
    }

    /// Finds the message that a record belongs to (R8a, R8b).
    fn home(&self, record: &Record, voice: Voice, parent: Option<FoldId>) -> Option<FoldId> {
        let candidate = match voice {
            Voice::Answer | Voice::Synthetic => {
                *self.by_message.get(&(record.message?, record.sidechain))?
            }
            Voice::ToolResult => self.answered_call(record, parent)?,
            _ => return None,
        };
        let same_lane = self.folds[candidate.index()].sidechain == record.sidechain;
        (same_lane && self.continues(candidate, parent)).then_some(candidate)
    }

    fn answered_call(&self, record: &Record, parent: Option<FoldId>) -> Option<FoldId> {
        let ids = self.session.tool_ids(record);
        if let Some(fold) = ids.iter().find_map(|id| self.by_call.get(id)) {
            return Some(*fold);
        }
        if let Some(source) = record.source {
            return self.of[self.tree.find(source)?.index()];
        }
        // Records of the earliest builds name no call: the result follows it.
        parent.filter(|parent| ids.is_empty() && self.folds[parent.index()].voice == Voice::Answer)
    }

    /// Whether a record below `parent` still belongs to `message`.
    ///
    /// It does, wherever it hangs, unless something else was said between: then
    /// taking it out of its place would tear the conversation apart.
    fn continues(&self, message: FoldId, parent: Option<FoldId>) -> bool {
        let mut at = parent;
        while let Some(fold) = at {
            if fold == message {
                return true;
            }
            if self.folds[fold.index()].voice.speaks() {
                return !self.is_above(message, fold);
            }
            at = self.folds[fold.index()].parent;
        }
        true
    }

    fn is_above(&self, above: FoldId, below: FoldId) -> bool {
        // Parents have smaller places, so the walk can stop early.
        let mut at = Some(below);
        while let Some(fold) = at
            && fold >= above
        {
            if fold == above {
                return true;
            }
            at = self.folds[fold.index()].parent;
        }
        false
    }

    /// Finds an earlier record with the same time and content (R8d).
    fn copied(&self, record: &Record, voice: Voice, parent: Option<FoldId>) -> Option<Copied> {
        if !matches!(record.kind, Kind::User | Kind::Assistant) || voice == Voice::Decoration {
            return None;
        }
        let original = *self.by_copy.get(&(record.time?, record.content, record.kind))?;
        let fold = &self.folds[original.index()];
        if fold.sidechain != record.sidechain {
            return None;
        }
        match parent {
            Some(parent) if self.is_above(original, parent) => Some(Copied::Below),
            _ => Some(Copied::Beside(original)),
        }
    }

    fn remember(&mut self, record: &Record, voice: Voice, fold: FoldId) {
        if let Some(message) = record.message {
            self.by_message.entry((message, record.sidechain)).or_insert(fold);
        }
        if voice == Voice::Answer {
            for id in self.session.tool_ids(record) {
                self.by_call.entry(*id).or_insert(fold);
            }
        }
        if let Some(time) = record.time
            && matches!(record.kind, Kind::User | Kind::Assistant)
        {
            self.by_copy.entry((time, record.content, record.kind)).or_insert(fold);
        }
    }
}

/// How a copy stands to its original.
enum Copied {
    /// In another place: the two are one.
    Beside(FoldId),
    /// Further down the same path.
    Below,
}

/// Sums up every subtree, children before parents.
fn below(session: &Session, folds: &[Fold], members: &Lists<NodeId>) -> Vec<Below> {
    let mut below: Vec<Below> = folds
        .iter()
        .enumerate()
        .map(|(i, fold)| Below {
            speaks: fold.voice.speaks(),
            answered: fold.voice == Voice::Answer,
            has_message: matches!(session.record(fold.head).kind, Kind::User | Kind::Assistant),
            nodes: members.of(i).len() as u32,
            prompts: [(fold.voice == Voice::Prompt).then_some(fold.head), None],
        })
        .collect();
    for (i, fold) in folds.iter().enumerate().rev() {
        let Some(parent) = fold.parent else { continue };
        if folds[parent.index()].sidechain != fold.sidechain {
            continue;
        }
        let child = below[i];
        let own = &mut below[parent.index()];
        own.speaks |= child.speaks;
        own.answered |= child.answered;
        own.has_message |= child.has_message;
        own.nodes += child.nodes;
        own.prompts = first_two(own.prompts, child.prompts);
    }
    below
}

fn first_two(a: [Option<NodeId>; 2], b: [Option<NodeId>; 2]) -> [Option<NodeId>; 2] {
    let mut all = [a[0], a[1], b[0], b[1]];
    all.sort_unstable_by_key(|id| id.map_or(u32::MAX, |id| id.0));
    [all[0], all[1]]
}
