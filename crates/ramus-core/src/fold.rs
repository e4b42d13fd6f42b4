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
    /// It goes on with a message that is further up, with something else said between.
    pub again: bool,
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
            jumps: Vec::new(),
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
        self.of.get(id.index()).copied().flatten()
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

    /// Returns the children in the same lane with nothing said in or below them: decoration.
    pub fn quiet_children(&self, id: FoldId) -> impl Iterator<Item = FoldId> {
        let sidechain = self.fold(id).sidechain;
        let children = self.children(id).iter().copied();
        children
            .filter(move |child| !self.speaks(*child) && self.fold(*child).sidechain == sidechain)
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
    /// For each fold its depth and an ancestor far up, so that climbing takes few steps.
    jumps: Vec<(u32, FoldId)>,
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
        let message = self.message_of(record, voice, parent);
        if let Some(fold) = message.filter(|message| self.belongs(*message, record, parent)) {
            self.remember(record, voice, fold);
            return fold;
        }
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
        let again = voice.speaks()
            && message.zip(parent).is_some_and(|(message, parent)| self.is_above(message, parent));
        let fold = FoldId(self.folds.len() as u32);
        self.folds.push(Fold { head: id, parent, voice, sidechain: record.sidechain, again });
        self.jumps.push(self.jump(fold, parent));
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

    /// Finds the message that a record names as its own (R8a, R8b).
    fn message_of(&self, record: &Record, voice: Voice, parent: Option<FoldId>) -> Option<FoldId> {
        match voice {
            Voice::Answer | Voice::Synthetic => {
                self.by_message.get(&(record.message?, record.sidechain)).copied()
            }
            Voice::ToolResult => self.answered_call(record, parent),
            _ => None,
        }
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

    /// Whether a record below `parent` is part of `message`.
    ///
    /// It is if nothing else was said between, or if it hangs further up on the
    /// way to the message, as results of parallel calls do. One that stands on
    /// another branch only repeats the id: taking it over would tear that branch
    /// apart. A result that hangs nowhere goes to its call.
    fn belongs(&self, message: FoldId, record: &Record, parent: Option<FoldId>) -> bool {
        if self.folds[message.index()].sidechain != record.sidechain {
            return false;
        }
        let mut at = parent;
        while let Some(fold) = at {
            if fold == message {
                return true;
            }
            if self.folds[fold.index()].voice.speaks() {
                return self.is_above(fold, message);
            }
            at = self.folds[fold.index()].parent;
        }
        parent.is_some() || record.voice == Voice::ToolResult
    }

    /// Returns a fold's depth and how far up its shortcut leads.
    fn jump(&self, fold: FoldId, parent: Option<FoldId>) -> (u32, FoldId) {
        let Some(parent) = parent else { return (0, fold) };
        let (depth, far) = self.jumps[parent.index()];
        let (far_depth, further) = self.jumps[far.index()];
        let further_depth = self.jumps[further.index()].0;
        // Shortcuts double in length, so any ancestor is a logarithm of steps away.
        let target = if depth - far_depth == far_depth - further_depth { further } else { parent };
        (depth + 1, target)
    }

    /// Whether `above` lies on the way from `below` to its root, or is it.
    fn is_above(&self, above: FoldId, below: FoldId) -> bool {
        let depth = self.jumps[above.index()].0;
        let mut at = below;
        while self.jumps[at.index()].0 > depth {
            let far = self.jumps[at.index()].1;
            let next = if self.jumps[far.index()].0 >= depth {
                Some(far)
            } else {
                self.folds[at.index()].parent
            };
            let Some(next) = next else { return false };
            at = next;
        }
        at == above
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
            _ if parent == fold.parent => Some(Copied::Beside(original)),
            Some(parent) if self.is_above(original, parent) => Some(Copied::Below),
            _ => None,
        }
    }

    /// Keeps what later records may refer to; ids that repeat mean the latest bearer.
    fn remember(&mut self, record: &Record, voice: Voice, fold: FoldId) {
        if let Some(message) = record.message {
            self.by_message.insert((message, record.sidechain), fold);
        }
        if voice == Voice::Answer {
            for id in self.session.tool_ids(record) {
                self.by_call.insert(*id, fold);
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
    /// In the same place: the two are one.
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
