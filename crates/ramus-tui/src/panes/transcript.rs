//! One path read from top to bottom: blocks, forks to switch at, agents opened in place.
//!
//! What is kept of a path is where its blocks begin. Only blocks near the screen
//! are read and rendered, by a thread of their own; the place on the screen is a
//! block and a line of it, so blocks that nobody has seen need no height.

mod items;

mod place;

mod search;

mod view;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ramus_core::branches::Conversation;
use ramus_core::fold::FoldId;
use ramus_core::history::Path;
use ramus_core::session::NodeId;
use ramus_render::Line;

use crate::event::{AgentInfo, Chapter, Opening, Rendered, Target};
use crate::keys::Action;
use crate::work::render::Want;

pub(crate) use items::{Item, ItemKind};
use place::Hold;
pub(crate) use place::Top;
pub(crate) use search::Search;
pub(crate) use view::view;

/// A path of one file on its way through the transcript.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) path: Arc<Path>,
    pub(crate) part: Part,
    /// Tells the blocks of this stage from those of others.
    pub(crate) id: u32,
}

/// What a stage is to the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Where the conversation began, in another session.
    Earlier,
    Main,
    /// An agent opened in place.
    Agent {
        of: u32,
        call: NodeId,
        depth: u8,
    },
}

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
const MAIN: u32 = 0;

/// How a block is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) width: u16,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
}

/// A transcript and where one is in it.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) stages: Vec<Stage>,
    pub(crate) items: Vec<Item>,
    pub(crate) agents: Vec<AgentInfo>,
    /// Whether somebody has looked for them yet.
    pub(crate) agents_known: bool,
    /// What is to be done with them when they are there.
    pub(crate) asked: Option<Action>,
    pub(crate) cursor: usize,
    pub(crate) top: Top,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
    pub(crate) search: Option<Search>,
    /// The conversation that is read.
    pub(crate) conversation: u32,
    /// Columns and rows for text.
    size: (u16, u16),
    hold: Hold,
    toggled: HashSet<Key>,
    rendered: HashMap<Key, (Look, Vec<Line>)>,
    /// Which conversation was read last on a way, to come back to it.
    chosen: HashMap<FoldId, u32>,
    next_stage: u32,
}

/// How many blocks beside the screen are rendered ahead, and how many are kept.
const AHEAD: usize = 24;
const KEPT: usize = 400;

impl Transcript {
    pub(crate) fn new(chapter: Arc<Chapter>, target: &Target) -> Self {
        let history = &chapter.history;
        let of_node = |node| history.conversation_of(node);
        let conversation = match target {
            Target::Conversation(n) => Self::numbered(&chapter, *n),
            Target::Node(node) => of_node(*node),
            Target::Resume => None,
        };
        let conversation = conversation
            .or(history.branches.resuming())
            .or(history.branches.conversations.last())
            .map_or(0, |conversation| conversation.n);
        let mut transcript = Self {
            stages: Vec::new(),
            items: Vec::new(),
            agents: Vec::new(),
            agents_known: false,
            asked: None,
            cursor: 0,
            top: Top::default(),
            tools: false,
            thinking: false,
            search: None,
            conversation,
            size: (80, 24),
            hold: Hold::Top,
            toggled: HashSet::new(),
            rendered: HashMap::new(),
            chosen: HashMap::new(),
            next_stage: 1,
            chapter,
        };
        transcript.set_main();
        if let Target::Node(node) = target {
            transcript.show_node(*node);
        }
        transcript
    }

    fn numbered(chapter: &Chapter, n: u32) -> Option<&Conversation> {
        chapter.history.branches.conversations.iter().find(|conversation| conversation.n == n)
    }

    /// Returns the conversation that is read. `None`: the session has none.
    pub(crate) fn current(&self) -> Option<&Conversation> {
        Self::numbered(&self.chapter, self.conversation)
    }

    /// Puts the path of the current conversation in the place of the one that was read.
    fn set_main(&mut self) {
        let history = &self.chapter.history;
        let path = match self.current() {
            Some(conversation) => history.path(conversation),
            None => Path { folds: Vec::new(), nodes: Vec::new() },
        };
        let stage = Stage {
            chapter: self.chapter.clone(),
            path: Arc::new(path),
            part: Part::Main,
            id: MAIN,
        };
        match self.stages.iter_mut().find(|stage| stage.part == Part::Main) {
            Some(main) => *main = stage,
            None => self.stages.push(stage),
        }
        self.rebuild();
    }

    pub(crate) fn main(&self) -> &Stage {
        let main = self.stages.iter().find(|stage| stage.part == Part::Main);
        main.expect("because a transcript is made with a main stage")
    }

    fn rebuild(&mut self) {
        self.items = items::items(&self.stages);
        self.cursor = self.cursor.min(self.items.len().saturating_sub(1));
        self.top.item = self.top.item.min(self.items.len().saturating_sub(1));
    }

    /// Returns the root of the path if what it continues is in another session.
    pub(crate) fn missing_root(&self) -> Option<NodeId> {
        let history = &self.chapter.history;
        let root = history.folds.fold(*self.main().path.folds.first()?).head;
        history.tree.missing().iter().any(|(node, _)| *node == root).then_some(root)
    }

    /// Takes where the conversation began, if it is still read.
    pub(crate) fn set_earlier(&mut self, root: NodeId, stages: Vec<Stage>) {
        if self.missing_root() != Some(root) {
            return;
        }
        self.stages.retain(|stage| stage.part != Part::Earlier);
        let anchor = self.items.len() - self.cursor;
        let top = self.items.len() - self.top.item;
        for mut stage in stages.into_iter().rev() {
            stage.id = self.new_stage();
            self.stages.insert(0, stage);
        }
        self.rebuild();
        let at_start = self.top == Top::default() && self.hold == Hold::Top;
        if !at_start {
            self.cursor = self.items.len().saturating_sub(anchor);
            self.top.item = self.items.len().saturating_sub(top);
        }
    }

    fn new_stage(&mut self) -> u32 {
        self.next_stage += 1;
        self.next_stage - 1
    }

    /// Reads another conversation of the session.
    pub(crate) fn read_conversation(&mut self, n: u32) {
        if Self::numbered(&self.chapter, n).is_none() {
            return;
        }
        self.conversation = n;
        self.stages.retain(|stage| stage.part != Part::Earlier);
        self.set_main();
    }

    /// Shows a node, on another branch if need be.
    pub(crate) fn show_node(&mut self, node: NodeId) {
        let node = self.chapter.history.tree.first(node);
        if self.item_of(node).is_none()
            && let Some(conversation) = self.chapter.history.conversation_of(node)
        {
            self.read_conversation(conversation.n);
        }
        if let Some(item) = self.item_of(node) {
            self.jump(item);
        }
    }

    /// Shows a node of the path that is read.
    pub(crate) fn show_node_here(&mut self, node: NodeId) {
        if let Some(item) = self.item_of(node) {
            let fork = item + 1;
            let is_fork = |item: &Item| matches!(item.kind, ItemKind::Fork(_));
            self.jump(if self.items.get(fork).is_some_and(is_fork) { fork } else { item });
        }
    }

    /// Finds the item of the main path that a node is part of.
    pub(crate) fn item_of(&self, node: NodeId) -> Option<usize> {
        let main = self.main();
        let folds = &self.chapter.history.folds;
        let own = folds.of(node)?;
        // What says nothing itself is shown with what it decorates.
        let climbs = !folds.fold(own).voice.speaks();
        let index = folds
            .ancestors(own)
            .take(if climbs { usize::MAX } else { 1 })
            .find_map(|fold| main.path.folds.iter().position(|other| *other == fold))?;
        self.items.iter().position(|item| match &item.kind {
            ItemKind::Block(range) => {
                self.stages[item.stage].part == Part::Main && range.contains(&index)
            }
            _ => false,
        })
    }

    /// Returns the node that stands for an item.
    pub(crate) fn node(&self, item: usize) -> Option<(&Stage, NodeId)> {
        let item = self.items.get(item)?;
        let stage = &self.stages[item.stage];
        let fold = match &item.kind {
            ItemKind::Block(range) => stage.path.folds.get(range.start)?,
            ItemKind::Fork(at) => stage.path.folds.get(*at)?,
            ItemKind::Resume | ItemKind::Agent => stage.path.folds.first()?,
        };
        Some((stage, stage.chapter.history.folds.fold(*fold).head))
    }

    /// Switches to the alternative before or after at the fork that is meant; `false`: there is none.
    pub(crate) fn switch(&mut self, by: isize) -> bool {
        let Some(item) = self.fork_near() else { return false };
        let ItemKind::Fork(at) = self.items[item].kind else { return false };
        let history = &self.chapter.history;
        let path = self.main().path.clone();
        let Some(fork) = history.branches.fork_at(path.folds[at]) else { return false };
        let taken = path.folds.get(at + 1).copied();
        let ways = fork.ways.len() as isize;
        let now = fork.ways.iter().position(|way| Some(way.fold) == taken);
        let next = now.map_or(0, |now| (now as isize + by).rem_euclid(ways));
        let way = fork.ways[next as usize].fold;
        let kept = self.chosen.get(&way).copied();
        let head = history.folds.fold(way).head;
        let Some(n) = kept.or_else(|| history.conversation_of(head).map(|found| found.n)) else {
            return false;
        };
        if let Some(taken) = taken {
            self.chosen.insert(taken, self.conversation);
        }
        let (row, fold) = (self.row_of(item), path.folds[at]);
        self.read_conversation(n);
        let is_it = |other: &Item| {
            let stage = &self.stages[other.stage];
            stage.part == Part::Main
                && matches!(other.kind, ItemKind::Fork(at) if stage.path.folds.get(at) == Some(&fold))
        };
        if let Some(item) = self.items.iter().position(is_it) {
            self.cursor = item;
            self.put_at_row(item, row.unwrap_or(0));
        }
        true
    }

    /// Finds the fork that a switch means: the one at the cursor or right before it, else the
    /// nearest one that is seen.
    fn fork_near(&self) -> Option<usize> {
        let is_fork = |item: &usize| {
            let item = &self.items[*item];
            matches!(item.kind, ItemKind::Fork(_)) && self.stages[item.stage].part == Part::Main
        };
        let seen: Vec<usize> = self.seen().into_iter().map(|(item, _)| item).collect();
        let before = self.cursor.checked_sub(1).filter(|item| *item < self.items.len());
        let here = Some(self.cursor).filter(|item| *item < self.items.len());
        here.filter(is_fork).or(before.filter(is_fork)).or_else(|| {
            seen.into_iter().filter(is_fork).min_by_key(|item| item.abs_diff(self.cursor))
        })
    }

    /// Whether the cursor is where left and right switch.
    pub(crate) fn at_fork(&self) -> bool {
        self.fork_near().is_some()
    }

    /// Opens or closes the block at the cursor.
    pub(crate) fn toggle(&mut self) {
        if let Some(key) = self.key(self.cursor)
            && !self.toggled.remove(&key)
        {
            self.toggled.insert(key);
        }
    }

    /// Opens the block of an item, so that all of it can be seen.
    fn unfold(&mut self, item: usize) {
        if let Some(key) = self.key(item).filter(|_| !self.tools) {
            self.toggled.insert(key);
        }
    }

    /// Returns the agents that the block at the cursor started.
    pub(crate) fn agents_here(&self) -> Vec<&AgentInfo> {
        let Some(item) = self.items.get(self.cursor) else { return Vec::new() };
        let stage = &self.stages[item.stage];
        let ItemKind::Block(range) = &item.kind else { return Vec::new() };
        if stage.part != Part::Main {
            return Vec::new();
        }
        let folds = &stage.chapter.history.folds;
        let is_here = |agent: &&AgentInfo| {
            let fold = agent.call.and_then(|call| folds.of(call));
            fold.is_some_and(|fold| stage.path.folds[range.clone()].contains(&fold))
        };
        self.agents.iter().filter(is_here).collect()
    }

    /// Closes the agents opened at the block at the cursor; `false`: there are none.
    pub(crate) fn close_agents(&mut self) -> bool {
        let calls: Vec<NodeId> = self.agents_here().iter().filter_map(|agent| agent.call).collect();
        let before = self.stages.len();
        self.stages.retain(
            |stage| !matches!(&stage.part, Part::Agent { call, .. } if calls.contains(call)),
        );
        let closed = self.stages.len() < before;
        if closed {
            let key = self.key(self.cursor);
            self.rebuild();
            self.go_to_key(key);
        }
        closed
    }

    /// Puts an agent's records below the call that started it.
    pub(crate) fn open_agent(&mut self, chapter: &Arc<Chapter>, target: &Target, at: &Opening) {
        let Opening::Here { call, depth } = at else { return };
        let history = &chapter.history;
        let path = match target {
            Target::Node(last) => history.path_to(*last),
            _ => history
                .branches
                .resuming()
                .or(history.branches.conversations.last())
                .map(|c| history.path(c)),
        };
        let Some(path) = path else { return };
        let of = self.main().id;
        let id = self.new_stage();
        let part = Part::Agent { of, call: *call, depth: *depth };
        let key = self.key(self.cursor);
        self.stages.push(Stage { chapter: chapter.clone(), path: Arc::new(path), part, id });
        self.rebuild();
        self.go_to_key(key);
    }

    fn go_to_key(&mut self, key: Option<Key>) {
        let found = (0..self.items.len()).find(|item| self.key(*item) == key);
        if let Some(item) = found {
            self.cursor = item;
            self.reveal();
        }
    }

    /// Takes a file that has grown; the place stays, or the end if that is followed.
    pub(crate) fn grew(&mut self, chapter: Arc<Chapter>, follow: bool) {
        let was_end = self.items.len().saturating_sub(1) <= self.cursor;
        let fold = self.main().path.folds.last().copied();
        self.chapter = chapter;
        let history = &self.chapter.history;
        let next = match history.branches.resuming() {
            Some(resuming) if follow => Some(resuming.n),
            // The conversation that was read goes on under another leaf, maybe another number.
            _ => fold
                .map(|fold| history.folds.fold(fold).head)
                .and_then(|head| history.conversation_of(head))
                .map(|found| found.n),
        };
        let next = next.or(history.branches.conversations.last().map(|last| last.n));
        self.conversation = next.unwrap_or(0);
        // What was last may have gone on: its results, its output.
        let from = self.items.len().saturating_sub(AHEAD);
        for item in from..self.items.len() {
            if let Some(key) = self.key(item) {
                self.rendered.remove(&key);
            }
        }
        for stage in self.stages.iter_mut().filter(|stage| stage.part == Part::Main) {
            stage.chapter = self.chapter.clone();
        }
        self.set_main();
        if follow && was_end {
            self.go_to_end();
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
        let toggled = self.toggled.contains(&key);
        let width = self.size.0.saturating_sub(u16::from(self.items[item].depth) * 2);
        Look { width, tools: self.tools != toggled, thinking: self.thinking != toggled }
    }

    /// Returns the lines of an item, if they have been rendered; they may be of another look,
    /// which is better than none.
    pub(crate) fn lines(&self, item: usize) -> Option<&[Line]> {
        self.key(item).and_then(|key| self.rendered.get(&key)).map(|(_, lines)| &**lines)
    }

    /// Takes the lines of a block.
    pub(crate) fn take(&mut self, rendered: Rendered) {
        let Rendered { key, look, lines } = rendered;
        self.rendered.insert(key, (look, lines));
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

    /// Whether everything that is seen has been rendered.
    pub(crate) fn is_ready(&self) -> bool {
        self.seen().into_iter().all(|(item, _)| self.want(item).is_none())
    }

    /// Returns what it takes to render an item. `None`: it is there already, or needs nothing.
    fn want(&self, item: usize) -> Option<Want> {
        let key = self.key(item)?;
        let look = self.look(item, key);
        let is_there = self.rendered.get(&key).is_some_and(|(held, _)| *held == look);
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
        if self.rendered.len() <= KEPT {
            return;
        }
        let near = seen.start.saturating_sub(KEPT / 4)..(seen.end + KEPT / 4).min(self.items.len());
        let near: HashSet<Key> = near.filter_map(|item| self.key(item)).collect();
        self.rendered.retain(|key, _| near.contains(key));
    }
}
