//! One path read from top to bottom: blocks, forks to switch at, agents opened in place.
//!
//! Only the starts of a path's blocks are kept. Blocks near the screen are read and
//! rendered on a worker thread. The scroll position is a block and a line in it, so
//! the height of unseen blocks is never needed.

mod agents;

mod blocks;

mod forks;

mod items;

mod position;

mod search;

mod view;

use std::collections::HashMap;
use std::sync::Arc;

use ramus_core::branches::Conversation;
use ramus_core::history::{ConversationPath, History};
use ramus_core::message_tree::MessageNodeId;
use ramus_core::session::NodeId;
use ramus_render::text::RunningCall;

use crate::event::{AgentInfo, Chapter, JumpTarget};
use crate::keys::KeyAction;

use blocks::{BlockCache, MAIN_STAGE};
pub(crate) use blocks::{BlockKey, BlockStyle};
pub(crate) use forks::visible_branches;
pub(crate) use items::{TranscriptItem, TranscriptItemKind};
use position::ScrollAnchor;
pub(crate) use position::ScrollTop;
pub(crate) use search::TranscriptSearch;
pub(crate) use view::{MARGIN, draw_transcript};

/// The part of the transcript that comes from one file.
#[derive(Clone, Debug)]
pub(crate) struct TranscriptStage {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) path: Arc<ConversationPath>,
    pub(crate) part: StageRole,
    /// Distinguishes the blocks of this stage from those of others.
    pub(crate) id: u32,
    /// The agents that it started, if it is an agent itself.
    pub(crate) agents: Vec<AgentInfo>,
}

/// What a stage is to the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StageRole {
    /// Where the conversation began, in another session.
    Earlier,
    Main,
    /// An agent opened in place, below the call of another stage.
    Agent {
        parent_stage: u32,
        call: NodeId,
        label: String,
    },
}

/// A transcript and where one is in it.
#[derive(Debug)]
pub(crate) struct TranscriptPane {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) stages: Vec<TranscriptStage>,
    pub(crate) items: Vec<TranscriptItem>,
    /// Where the blocks of the main path begin on it, and which items they are.
    main_blocks: Vec<(usize, usize)>,
    pub(crate) agents: Vec<AgentInfo>,
    /// Whether they were looked up yet.
    pub(crate) agents_known: bool,
    /// What is to be done with them when they are there.
    pub(crate) asked: Option<KeyAction>,
    pub(crate) cursor: usize,
    pub(crate) top: ScrollTop,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
    /// Show the usage below each reply.
    pub(crate) usage: bool,
    pub(crate) search: Option<TranscriptSearch>,
    /// How many blocks were added below what was seen.
    pub(crate) unseen: usize,
    /// The conversation that is read; 0: none.
    pub(crate) conversation: u32,
    /// The last record of an agent in the session's own file, if that is read.
    pub(crate) aside: Option<NodeId>,
    /// Columns and rows for text.
    size: (u16, u16),
    hold: ScrollAnchor,
    blocks: BlockCache,
    /// The calls that are running while this is followed, and the records of their messages.
    running: Arc<[RunningCall]>,
    running_nodes: Vec<NodeId>,
    /// The conversation that was last read on a branch, to return to it.
    chosen: HashMap<MessageNodeId, u32>,
    next_stage: u32,
}

impl TranscriptPane {
    pub(crate) fn new(chapter: Arc<Chapter>, target: &JumpTarget) -> Self {
        let history = &chapter.history;
        let of_node = |node| history.conversation_of(node);
        let conversation = match target {
            JumpTarget::Conversation(n) => Self::conversation_numbered(&chapter, *n),
            JumpTarget::Node(node) => of_node(*node),
            JumpTarget::Resume => None,
        };
        let is_aside = |node: NodeId| {
            let fold = history.message_tree.message_of(node);
            fold.is_some_and(|fold| history.message_tree.message(fold).sidechain)
                && of_node(node).is_none()
        };
        let aside = match target {
            JumpTarget::Node(node) if is_aside(*node) => Some(history.last_below(*node)),
            _ => None,
        };
        let conversation = match aside {
            Some(_) => None,
            None => conversation
                .or(history.branches.resuming_conversation())
                .or(history.branches.conversations.last()),
        };
        let conversation = conversation.map_or(0, |conversation| conversation.number);
        let mut transcript = Self {
            stages: Vec::new(),
            items: Vec::new(),
            main_blocks: Vec::new(),
            agents: Vec::new(),
            agents_known: false,
            asked: None,
            cursor: 0,
            top: ScrollTop::default(),
            tools: false,
            thinking: false,
            usage: false,
            search: None,
            unseen: 0,
            conversation,
            aside,
            size: (80, 24),
            hold: ScrollAnchor::Top,
            blocks: BlockCache::default(),
            running: Arc::new([]),
            running_nodes: Vec::new(),
            chosen: HashMap::new(),
            next_stage: 1,
            chapter,
        };
        transcript.set_main();
        if let JumpTarget::Node(node) = target {
            transcript.show_node(*node);
        }
        transcript
    }

    fn conversation_numbered(chapter: &Chapter, n: u32) -> Option<&Conversation> {
        chapter.history.branches.conversations.iter().find(|conversation| conversation.number == n)
    }

    /// Returns the conversation that is read. `None`: the session has none.
    pub(crate) fn current_conversation(&self) -> Option<&Conversation> {
        Self::conversation_numbered(&self.chapter, self.conversation)
    }

    /// Puts the path of the current conversation in the place of the one that was read.
    fn set_main(&mut self) {
        let history = &self.chapter.history;
        let path = match self.current_conversation() {
            Some(conversation) => Some(history.conversation_path(conversation)),
            None => self.aside.and_then(|last| history.path_to(last)),
        };
        let path = path.unwrap_or(ConversationPath { messages: Vec::new(), nodes: Vec::new() });
        let stage = TranscriptStage {
            chapter: self.chapter.clone(),
            path: Arc::new(path),
            part: StageRole::Main,
            id: MAIN_STAGE,
            agents: Vec::new(),
        };
        match self.stages.iter_mut().find(|stage| stage.part == StageRole::Main) {
            Some(main) => *main = stage,
            None => self.stages.push(stage),
        }
        self.rebuild_items();
    }

    pub(crate) fn main(&self) -> &TranscriptStage {
        let main = self.stages.iter().find(|stage| stage.part == StageRole::Main);
        main.expect("because a transcript is made with a main stage")
    }

    fn rebuild_items(&mut self) {
        self.items = items::list_items(&self.stages);
        let block = |(at, item): (usize, &TranscriptItem)| match &item.kind {
            TranscriptItemKind::Block(range) if self.stages[item.stage].part == StageRole::Main => {
                Some((range.start, at))
            }
            _ => None,
        };
        self.main_blocks = self.items.iter().enumerate().filter_map(block).collect();
        self.cursor = self.cursor.min(self.items.len().saturating_sub(1));
        self.top.item = self.top.item.min(self.items.len().saturating_sub(1));
    }

    /// Forgets what was new once the end is on the screen.
    pub(crate) fn note_seen(&mut self) {
        let end = self.last_block();
        if self.cursor >= end || self.visible_items().iter().any(|(item, _)| *item >= end) {
            self.unseen = 0;
        }
    }

    /// Whether a part of it comes from a chapter's file.
    pub(crate) fn has_file(&self, chapter: &Chapter) -> bool {
        self.stages.iter().any(|stage| stage.chapter.file.path == chapter.file.path)
    }

    /// Returns the root of the path if what it continues is in another session.
    pub(crate) fn missing_root(&self) -> Option<NodeId> {
        let history = &self.chapter.history;
        let root = history.message_tree.message(*self.main().path.messages.first()?).head;
        history.record_tree.missing_parents().iter().any(|(node, _)| *node == root).then_some(root)
    }

    /// Takes where the conversation began, if it is still read.
    pub(crate) fn set_earlier(&mut self, root: NodeId, stages: Vec<TranscriptStage>) {
        if self.missing_root() != Some(root) {
            return;
        }
        self.stages.retain(|stage| stage.part != StageRole::Earlier);
        let anchor = self.items.len() - self.cursor;
        let top = self.items.len() - self.top.item;
        for mut stage in stages.into_iter().rev() {
            stage.id = self.new_stage();
            self.stages.insert(0, stage);
        }
        self.rebuild_items();
        let at_start = self.top == ScrollTop::default() && self.hold == ScrollAnchor::Top;
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
        if Self::conversation_numbered(&self.chapter, n).is_none() {
            return;
        }
        (self.conversation, self.aside) = (n, None);
        self.stages.retain(|stage| stage.part != StageRole::Earlier);
        self.set_main();
    }

    /// Shows a node, on another branch if need be.
    pub(crate) fn show_node(&mut self, node: NodeId) {
        if self.chapter.history.message_tree.message_of(node).is_none() {
            return;
        }
        let node = self.chapter.history.record_tree.first_copy(node);
        if self.item_of(node).is_none()
            && let Some(conversation) = self.chapter.history.conversation_of(node)
        {
            self.read_conversation(conversation.number);
        }
        if let Some(item) = self.item_of(node) {
            self.jump_to(item);
        }
    }

    /// Shows a node of the path that is read.
    pub(crate) fn show_node_here(&mut self, node: NodeId) {
        if let Some(item) = self.item_of(node) {
            let fork = item + 1;
            let is_fork = |item: &TranscriptItem| matches!(item.kind, TranscriptItemKind::Fork(_));
            self.jump_to(if self.items.get(fork).is_some_and(is_fork) { fork } else { item });
        }
    }

    /// Finds the item of the main path that a node is part of.
    pub(crate) fn item_of(&self, node: NodeId) -> Option<usize> {
        let main = self.main();
        let folds = &self.chapter.history.message_tree;
        let own = folds.message_of(node)?;
        // Records without content are shown with the message that they decorate.
        let climbs = !folds.message(own).role.is_dialogue();
        let index = folds
            .ancestors(own)
            .take(if climbs { usize::MAX } else { 1 })
            // Parents come before their children.
            .find_map(|fold| main.path.messages.binary_search(&fold).ok())?;
        let block = self.main_blocks.partition_point(|(start, _)| *start <= index);
        Some(self.main_blocks[block.checked_sub(1)?].1)
    }

    /// Returns the node of an item.
    pub(crate) fn node_of(&self, item: usize) -> Option<(&TranscriptStage, NodeId)> {
        let item = self.items.get(item)?;
        let stage = &self.stages[item.stage];
        let fold = match &item.kind {
            TranscriptItemKind::Block(range) => stage.path.messages.get(range.start)?,
            // A note that trails the message before a fork is not the message to act on.
            TranscriptItemKind::Fork(at) => {
                let folds = stage.path.messages.get(..=*at)?;
                let speaks =
                    |fold: &&MessageNodeId| stage.chapter.history.message_tree.has_dialogue(**fold);
                folds.iter().rev().find(speaks).or(folds.last())?
            }
            // What is done there is done to the message that Claude Code resumes from.
            TranscriptItemKind::Resume => {
                let resume = stage.chapter.history.branches.resume?;
                return Some((stage, resume.leaf));
            }
            TranscriptItemKind::Agent => stage.path.messages.first()?,
        };
        Some((stage, stage.chapter.history.message_tree.message(*fold).head))
    }

    /// Takes a file that was rewritten: nothing that was known of its records holds. What is read stays
    /// the same if it is still there.
    fn begin_again(&mut self, chapter: Arc<Chapter>) {
        let name = self
            .node_of(self.cursor)
            .and_then(|(stage, node)| stage.chapter.history.session.record(node).uuid);
        let node = name.and_then(|name| chapter.history.node_by_uuid(name));
        *self = Self {
            tools: self.tools,
            thinking: self.thinking,
            usage: self.usage,
            size: self.size,
            next_stage: self.next_stage,
            ..Self::new(chapter, &node.map_or(JumpTarget::Resume, JumpTarget::Node))
        };
        self.restore_position();
    }

    /// Takes a file that has grown; the place stays, or the end if that is followed. `false`: it has
    /// not, and was read anew.
    pub(crate) fn replace_chapter(&mut self, chapter: Arc<Chapter>, follow: bool) -> bool {
        if !goes_on(&self.chapter.history, &chapter.history) {
            self.begin_again(chapter);
            return false;
        }
        let was_end = self.last_block() <= self.cursor;
        let before = self.main_blocks.len();
        let fold = self.main().path.messages.last().copied();
        self.chapter = chapter;
        let history = &self.chapter.history;
        let next = match history.branches.resuming_conversation() {
            Some(resuming) if follow => Some(resuming.number),
            // The conversation continues under another leaf, and possibly another number.
            _ => fold
                .map(|fold| history.message_tree.message(fold).head)
                .and_then(|head| history.conversation_of(head))
                .map(|found| found.number),
        };
        let next = next.or(history.branches.conversations.last().map(|last| last.number));
        match &mut self.aside {
            Some(last) => *last = history.last_below(*last),
            None => self.conversation = next.unwrap_or(0),
        }
        self.renew_end();
        for stage in self.stages.iter_mut().filter(|stage| stage.part == StageRole::Main) {
            stage.chapter = self.chapter.clone();
        }
        self.set_main();
        if follow && was_end {
            self.go_to_end();
        } else {
            self.unseen += self.main_blocks.len().saturating_sub(before);
        }
        true
    }
}

/// Whether a session begins with all that there was of it.
fn goes_on(before: &History, now: &History) -> bool {
    let (before, now) = (before.session.records(), now.session.records());
    let Some(last) = before.last() else { return true };
    let same = now.get(before.len() - 1);
    same.is_some_and(|same| (same.span, same.uuid) == (last.span, last.uuid))
}
