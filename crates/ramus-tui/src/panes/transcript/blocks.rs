//! Which blocks are rendered, how they are to look, and which are kept.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ramus_core::message_tree::MessageNodeId;
use ramus_core::session::NodeId;
use ramus_render::{Label, Line, Span};

use super::{TranscriptItemKind, TranscriptPane, TranscriptStage};
use crate::event::RenderedBlock;
use crate::work::live::LiveCall;
use crate::work::render::RenderRequest;

/// Which block, whatever path it is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlockKey {
    stage: u32,
    first: MessageNodeId,
    place: BlockPlace,
}

/// Whether it is a block or a fork point, which is drawn differently on each branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum BlockPlace {
    Block,
    Fork { taken: Option<MessageNodeId> },
}

impl BlockKey {
    /// Returns the block of the same stage that begins at another fold.
    pub(crate) fn starting_at(self, first: MessageNodeId) -> Self {
        Self { first, place: BlockPlace::Block, ..self }
    }

    /// Whether it is not of the main stage, so that something is above it.
    pub(crate) fn is_inside(self) -> bool {
        self.stage != MAIN_STAGE
    }
}

/// The main stage goes by this number on all of its paths.
pub(super) const MAIN_STAGE: u32 = 0;

/// How a block is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlockStyle {
    pub(crate) width: u16,
    pub(crate) tools: bool,
    pub(crate) thinking: bool,
    pub(crate) usage: bool,
    /// Nothing is left out for being long.
    pub(crate) full: bool,
}

/// What is known of blocks.
#[derive(Debug, Default)]
pub(super) struct BlockCache {
    /// Blocks that differ from the default: opened where all are folded, or folded where all are open.
    toggled: HashSet<BlockKey>,
    /// Blocks that are shown in full because they contain a search match.
    whole: HashSet<BlockKey>,
    /// The rendered forms of each block, the latest last; all have the same width.
    rendered: HashMap<BlockKey, Vec<RenderedVersion>>,
    /// The blocks of the last request, and of the last request for what may come next.
    asked: HashSet<(BlockKey, BlockStyle)>,
    prepared: HashSet<(BlockKey, BlockStyle)>,
}

/// A form of a block: expanded or collapsed, with or without thinking.
#[derive(Debug)]
struct RenderedVersion {
    look: BlockStyle,
    /// The file has not grown since.
    is_current: bool,
    lines: Vec<Line>,
}

/// How many blocks around the screen are rendered ahead, and how many are kept.
const ITEMS_AHEAD: usize = 24;
const MAX_RENDERED: usize = 400;

impl TranscriptPane {
    /// Opens or closes the block at the cursor.
    pub(crate) fn toggle_block(&mut self) {
        let Some(key) = self.block_key(self.cursor) else { return };
        let toggled = &mut self.blocks.toggled;
        let was_toggled = toggled.remove(&key);
        // A block that is shown whole is folded, whatever it was before.
        let is_toggled = if self.blocks.whole.remove(&key) { self.tools } else { !was_toggled };
        if is_toggled {
            toggled.insert(key);
        }
    }

    /// Opens the block of an item, so that all of it can be seen.
    pub(super) fn open_block(&mut self, item: usize) {
        if let Some(key) = self.block_key(item) {
            self.blocks.whole.insert(key);
        }
    }

    /// Returns what names the block of an item.
    pub(crate) fn block_key(&self, item: usize) -> Option<BlockKey> {
        let item = self.items.get(item)?;
        let stage = &self.stages[item.stage];
        let folds = &stage.path.messages;
        let (at, place) = match &item.kind {
            TranscriptItemKind::Block(range) => (range.start, BlockPlace::Block),
            TranscriptItemKind::Fork(at) => {
                (*at, BlockPlace::Fork { taken: folds.get(at + 1).copied() })
            }
            TranscriptItemKind::Resume | TranscriptItemKind::Agent => return None,
        };
        Some(BlockKey { stage: stage.id, first: *folds.get(at)?, place })
    }

    fn block_style(&self, item: usize, key: BlockKey) -> BlockStyle {
        let toggled = self.blocks.toggled.contains(&key);
        let width = self.size.0.saturating_sub(u16::from(self.items[item].depth) * 2);
        match key.place {
            BlockPlace::Block if self.blocks.whole.contains(&key) => {
                BlockStyle { width, tools: true, thinking: true, usage: self.usage, full: true }
            }
            BlockPlace::Block => {
                let (tools, thinking) = (self.tools != toggled, self.thinking != toggled);
                BlockStyle { width, tools, thinking, usage: self.usage, full: false }
            }
            // There is nothing to open.
            BlockPlace::Fork { .. } => {
                BlockStyle { width, tools: false, thinking: false, usage: false, full: false }
            }
        }
    }

    /// Returns the lines of an item, if they have been rendered; they may be of another look or of
    /// a moment ago, which is better than none.
    pub(crate) fn rendered_lines(&self, item: usize) -> Option<&[Line]> {
        let key = self.block_key(item)?;
        let faces = self.blocks.rendered.get(&key)?;
        let look = self.block_style(item, key);
        let face = faces.iter().find(|face| face.look == look).or(faces.last())?;
        Some(&face.lines)
    }

    /// Whether the block at the cursor mentions an image or a document.
    pub(crate) fn shows_images(&self) -> bool {
        let is_image = |span: &Span| {
            let text = span.text().trim_start();
            matches!(span.label, Label::Note | Label::Dim)
                && (text.starts_with("[image ") || text.starts_with("[document "))
        };
        let lines = self.rendered_lines(self.cursor).unwrap_or_default();
        lines.iter().any(|line| line.0.iter().any(is_image))
    }

    /// Takes the lines of a block; `false`: nothing of it is seen.
    pub(crate) fn take_rendered(&mut self, rendered: RenderedBlock) -> bool {
        let RenderedBlock { key, look, chapter, running, lines } = rendered;
        let is_current = |stage: &TranscriptStage| {
            stage.id == key.stage && Arc::ptr_eq(&stage.chapter, &chapter)
        };
        let is_current = self.stages.iter().any(is_current) && Arc::ptr_eq(&self.running, &running);
        if !is_current && self.is_there(key, look) {
            return false;
        }
        let before = self.visible_range();
        let faces = self.blocks.rendered.entry(key).or_default();
        // Returning to an earlier width soon is unlikely.
        faces.retain(|face| face.look != look && face.look.width == look.width);
        faces.push(RenderedVersion { look, is_current, lines });
        self.restore_position();
        let after = self.visible_range();
        before != after || after.items.iter().any(|(item, _)| self.block_key(*item) == Some(key))
    }

    /// Returns the blocks to render now. `None`: nothing, or all of them are being rendered already.
    ///
    /// Visible blocks come first, then those nearby; distant ones are dropped.
    pub(crate) fn blocks_to_render(&mut self, is_rendered: bool) -> Option<Vec<RenderRequest>> {
        let (seen, near) = self.items_near();
        self.forget_distant(seen);
        let wanted: Vec<RenderRequest> =
            near.into_iter().filter_map(|item| self.render_request(item)).collect();
        note_requested(wanted, is_rendered, &mut self.blocks.asked)
    }

    /// Returns what is to be rendered beside that: what would be seen if all tool calls were opened,
    /// or folded again. One key asks for it, and then it would be late to read them.
    ///
    /// While something is missing on the screen that is nothing.
    pub(crate) fn blocks_to_prepare(&mut self, is_rendered: bool) -> Option<Vec<RenderRequest>> {
        if !self.is_ready() {
            let had_work = !std::mem::take(&mut self.blocks.prepared).is_empty();
            return had_work.then(Vec::new);
        }
        let (_, near) = self.items_near();
        let wanted: Vec<RenderRequest> =
            near.into_iter().filter_map(|item| self.other_render_request(item)).collect();
        note_requested(wanted, is_rendered, &mut self.blocks.prepared)
    }

    /// Returns the visible blocks and those nearby, most urgent first.
    fn items_near(&self) -> (Range<usize>, Vec<usize>) {
        let seen: Vec<usize> = self.visible_items().into_iter().map(|(item, _)| item).collect();
        let (Some(first), Some(last)) = (seen.first().copied(), seen.last().copied()) else {
            return (0..0, Vec::new());
        };
        let after = last + 1..(last + 1 + ITEMS_AHEAD).min(self.items.len());
        let before = first.saturating_sub(ITEMS_AHEAD)..first;
        (first..last + 1, seen.into_iter().chain(after).chain(before.rev()).collect())
    }

    /// Whether everything that is seen has been rendered.
    pub(crate) fn is_ready(&self) -> bool {
        self.visible_items().into_iter().all(|(item, _)| self.render_request(item).is_none())
    }

    /// Returns what it takes to render an item. `None`: it is there already, or needs nothing.
    fn render_request(&self, item: usize) -> Option<RenderRequest> {
        let key = self.block_key(item)?;
        let is_there = self.is_there(key, self.block_style(item, key));
        if is_there { None } else { self.new_render_request(item) }
    }

    /// Returns what it takes to render an item with its tool calls opened if they are folded, folded
    /// if they are opened. `None`: it is there already, or has none.
    fn other_render_request(&self, item: usize) -> Option<RenderRequest> {
        let key = self.block_key(item).filter(|key| key.place == BlockPlace::Block)?;
        let now = self.block_style(item, key);
        let look = BlockStyle { tools: !now.tools, ..now };
        let is_there = self.is_there(key, look);
        if is_there { None } else { Some(RenderRequest { look, ..self.new_render_request(item)? }) }
    }

    fn is_there(&self, key: BlockKey, look: BlockStyle) -> bool {
        let faces = self.blocks.rendered.get(&key).map(Vec::as_slice).unwrap_or_default();
        faces.iter().any(|face| face.is_current && face.look == look)
    }

    /// Returns what it takes to render an item, even if it has been.
    pub(crate) fn new_render_request(&self, item: usize) -> Option<RenderRequest> {
        let key = self.block_key(item)?;
        let place = &self.items[item];
        let stage = &self.stages[place.stage];
        let previous = self.items[..item].iter().rev().find_map(|other| match &other.kind {
            TranscriptItemKind::Block(range) => {
                Some(range.clone()).filter(|_| other.stage == place.stage)
            }
            _ => None,
        });
        let directly =
            item.checked_sub(1).is_some_and(|before| self.items[before].stage == place.stage);
        Some(RenderRequest {
            key,
            look: self.block_style(item, key),
            chapter: stage.chapter.clone(),
            path: stage.path.clone(),
            kind: place.kind.clone(),
            previous: previous.filter(|_| directly),
            running: self.running.clone(),
        })
    }

    fn forget_distant(&mut self, seen: Range<usize>) {
        if self.blocks.rendered.len() <= MAX_RENDERED {
            return;
        }
        let near = seen.start.saturating_sub(MAX_RENDERED / 4)
            ..(seen.end + MAX_RENDERED / 4).min(self.items.len());
        let near: HashSet<BlockKey> = near.filter_map(|item| self.block_key(item)).collect();
        self.blocks.rendered.retain(|key, _| near.contains(key));
    }

    /// Requests the last blocks again: they may have grown, with results or output.
    pub(super) fn renew_end(&mut self) {
        self.renew_items(self.items.len().saturating_sub(ITEMS_AHEAD)..self.items.len());
    }

    /// Takes the calls that are running, and requests their blocks again.
    pub(crate) fn set_running(&mut self, calls: &[LiveCall]) {
        if self.running.iter().eq(calls.iter().map(|call| &call.running)) {
            return;
        }
        let nodes: Vec<NodeId> = calls.iter().map(|call| call.node).collect();
        let before = std::mem::replace(&mut self.running_nodes, nodes.clone());
        self.running = calls.iter().map(|call| call.running.clone()).collect();
        let items: BTreeSet<usize> =
            { before }.into_iter().chain(nodes).filter_map(|node| self.item_of(node)).collect();
        self.renew_items(items);
    }

    fn renew_items(&mut self, items: impl IntoIterator<Item = usize>) {
        for item in items {
            let key = self.block_key(item);
            for face in key.and_then(|key| self.blocks.rendered.get_mut(&key)).into_iter().flatten()
            {
                face.is_current = false;
            }
        }
    }
}

/// Notes what is wanted as asked for. What is being rendered already would be begun again: after a
/// block has come, only what was not part of the last request is worth another one.
fn note_requested(
    wanted: Vec<RenderRequest>,
    is_rendered: bool,
    asked: &mut HashSet<(BlockKey, BlockStyle)>,
) -> Option<Vec<RenderRequest>> {
    let is_coming = |want: &RenderRequest| is_rendered && asked.contains(&(want.key, want.look));
    if wanted.iter().all(is_coming) {
        if wanted.is_empty() {
            asked.clear();
        }
        return None;
    }
    *asked = wanted.iter().map(|want| (want.key, want.look)).collect();
    Some(wanted)
}
