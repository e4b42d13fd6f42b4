//! Blocks of a transcript into lines.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ramus_app::live::running_reply;
use ramus_core::body::{ContentBlock, Media, ReadContent, RecordBody, ToolOutput};
use ramus_core::history::ConversationPath;
use ramus_core::price::PriceList;
use ramus_core::session::NodeId;
use ramus_core::turn::{
    ForkTurn, ForkTurnBranch, ReplyPart, ToolCall, Turn, TurnKind, fork_turn, path_turns,
};
use ramus_render::highlight::Highlight;
use ramus_render::layout::{self, pad_line, truncate_line};
use ramus_render::text::{
    RunningCall, TextConfig, TranscriptState, TranscriptWriter, count_noun, fork_kind_phrase,
};
use ramus_render::{Label, Line};
use ramus_store::RecordReader;

use crate::event::{Chapter, RenderedBlock, ScreenEvent};
use crate::panes::transcript::{BlockKey, BlockStyle, TranscriptItemKind, visible_branches};
use crate::state::ScreenClock;
use crate::work::LatestWorker;

/// What it takes to render a block.
#[derive(Clone, Debug)]
pub(crate) struct RenderRequest {
    pub(crate) key: BlockKey,
    pub(crate) look: BlockStyle,
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) path: Arc<ConversationPath>,
    pub(crate) kind: TranscriptItemKind,
    /// The block before it: a speaker that continues gets no second heading.
    pub(crate) previous: Option<Range<usize>>,
    /// The calls that are running at this moment.
    pub(crate) running: Arc<[RunningCall]>,
}

/// Idle time before preparing blocks, so that scrolling is not delayed.
const PREPARE_DELAY: Duration = Duration::from_millis(20);

/// Starts the thread that renders visible blocks.
pub(crate) fn start_render_worker(
    events: Sender<ScreenEvent>,
    clock: ScreenClock,
    prices: Arc<PriceList>,
) -> LatestWorker<Vec<RenderRequest>> {
    start_painter(events, BlockPainter::new(clock, prices), Duration::ZERO)
}

/// Starts the thread that renders what may be seen next, when there is time for it.
pub(crate) fn start_prepare_worker(
    events: Sender<ScreenEvent>,
    clock: ScreenClock,
    prices: Arc<PriceList>,
) -> LatestWorker<Vec<RenderRequest>> {
    start_painter(events, BlockPainter::new(clock, prices), PREPARE_DELAY)
}

fn start_painter(
    events: Sender<ScreenEvent>,
    mut painter: BlockPainter,
    pause: Duration,
) -> LatestWorker<Vec<RenderRequest>> {
    LatestWorker::start_worker(events, move |wants: Vec<RenderRequest>, newer, events| {
        if newer.comes_within(pause) {
            return;
        }
        for want in wants {
            if newer.is_waiting() {
                return;
            }
            let lines = painter.paint_lines(&want);
            let RenderRequest { key, look, chapter, running, .. } = want;
            let rendered = RenderedBlock { key, look, chapter, running, lines };
            let _ = events.send(ScreenEvent::Rendered(Box::new(rendered)));
        }
    })
}

/// How many ends of blocks are remembered.
const MAX_FLOWS: usize = 4_000;

/// A block by its key and end, and whether tools, thinking and usage are shown in it.
type FlowKey = (BlockKey, usize, bool, bool, bool);

fn flow_key(key: BlockKey, end: usize, look: BlockStyle) -> FlowKey {
    (key, end, look.tools, look.thinking, look.usage)
}

pub(crate) struct BlockPainter {
    clock: ScreenClock,
    prices: Arc<PriceList>,
    /// How blocks end, for those that follow them; a block that has grown ends elsewhere.
    flows: HashMap<FlowKey, (Weak<Chapter>, TranscriptState)>,
    open: Option<OpenBodies>,
}

/// The file that a chapter was read from. Another chapter of the same name may be another file.
pub(super) struct OpenBodies {
    chapter: Weak<Chapter>,
    bodies: RecordReader,
}

impl BlockPainter {
    pub(crate) fn new(clock: ScreenClock, prices: Arc<PriceList>) -> Self {
        Self { clock, prices, flows: HashMap::new(), open: None }
    }

    pub(crate) fn paint_lines(&mut self, want: &RenderRequest) -> Vec<Line> {
        match &want.kind {
            TranscriptItemKind::Block(range) => self.paint_block(want, range),
            TranscriptItemKind::Fork(at) => self.paint_fork(want, *at),
            TranscriptItemKind::Resume | TranscriptItemKind::Agent => Vec::new(),
        }
    }

    fn paint_block(&mut self, want: &RenderRequest, range: &Range<usize>) -> Vec<Line> {
        let flow = match &want.previous {
            Some(previous) => {
                let key = want.key.starting_at(want.path.messages[previous.start]);
                match self.flows.get(&flow_key(key, previous.end, want.look)) {
                    Some((of, flow)) if is_same_chapter(of, &want.chapter) => flow.clone(),
                    _ => self.rendered_turns(want, previous, TranscriptState::default(), key).1,
                }
            }
            None => TranscriptState::default(),
        };
        let begins = want.previous.is_none() && range.start > 0;
        let mut lines = self.rendered_turns(want, range, flow, want.key).0;
        if begins || (want.previous.is_none() && want.key.is_inside()) {
            lines.insert(0, Line::default());
        }
        lines
    }

    fn rendered_turns(
        &mut self,
        want: &RenderRequest,
        range: &Range<usize>,
        flow: TranscriptState,
        key: BlockKey,
    ) -> (Vec<Line>, TranscriptState) {
        let chapter = &want.chapter;
        let time = |time| self.clock.message_time(time);
        let facts = chapter.history.session.facts();
        let config = TextConfig {
            width: usize::from(want.look.width),
            thinking: want.look.thinking,
            tools: want.look.tools,
            full: want.look.full,
            branch_notes: false,
            usage: want.look.usage.then_some(&*self.prices),
            highlight: Highlight::On,
            show: "",
            cwd: facts.cwd.as_deref().unwrap_or_default(),
            running: &want.running,
            time: &time,
        };
        let running = (range.end == want.path.messages.len())
            .then(|| running_reply(&chapter.file, &chapter.history, &want.path))
            .flatten();
        let mut transcript = TranscriptWriter::resume_from(&config, flow);
        let mut lines = Vec::new();
        each_turn(&mut self.open, want, range, |mut turn| {
            if let Some(running) = running {
                turn.mark_running(&chapter.history, running);
            }
            if config.tools {
                let file = &chapter.file.path;
                turn.read_spilled(&mut |path| {
                    ramus_store::read_spilled_output(file, FilePath::new(path))
                });
            }
            transcript.write_turn(&turn, &mut |line| lines.push(line));
        });
        let flow = transcript.state().clone();
        if self.flows.len() > MAX_FLOWS {
            self.flows.clear();
        }
        let of = Arc::downgrade(&want.chapter);
        self.flows.insert(flow_key(key, range.end, want.look), (of, flow.clone()));
        (lines, flow)
    }

    fn paint_fork(&mut self, want: &RenderRequest, at: usize) -> Vec<Line> {
        let history = &want.chapter.history;
        let folds = &want.path.messages;
        let mut body = |node| read_body(&mut self.open, &want.chapter, node);
        let turn = fork_turn(history, folds[at], &[], usize::MAX, &mut body);
        let Some(Turn { kind: TurnKind::Fork(fork), .. }) = turn else { return Vec::new() };
        let real = history.branches.fork_at(folds[at]);
        let taken = real.and_then(|real| {
            real.branches.iter().position(|branch| folds.get(at + 1) == Some(&branch.message))
        });
        fork_lines(&fork, taken, usize::from(want.look.width))
    }
}

/// Writes a fork point with its branches, the open one marked.
fn fork_lines(fork: &ForkTurn, taken: Option<usize>, width: usize) -> Vec<Line> {
    let all = fork.branches.len();
    let which =
        taken.map_or_else(|| format!("{all} branches"), |at| format!("{} of {all}", at + 1));
    let head = Line::new(&format!("┬ {}  ", fork_kind_phrase(fork.kind)), Label::Branch)
        .with("‹ ", Label::Dim)
        .with(&which, Label::Strong)
        .with(" ›  ", Label::Dim)
        .with("← → switch", Label::Dim);
    let mut lines = vec![Line::default(), truncate_line(&head, width)];
    let shown = visible_branches(taken, all);
    let rows: Vec<(Line, String)> = { shown.clone() }
        .map(|index| branch_line(&fork.branches[index], index, Some(index) == taken))
        .collect();
    let right = rows.iter().map(|(_, right)| layout::display_width(right)).max().unwrap_or(0);
    let left = rows.iter().map(|(left, _)| left.width()).max().unwrap_or(0);
    let left = left.min(width.saturating_sub(right));
    for (words, count) in rows {
        lines.push(pad_line(truncate_line(&words, left), left).with(&count, Label::Dim));
    }
    if shown.len() < all {
        let more = format!("    … {} more in the list of branches", all - shown.len());
        lines.push(truncate_line(&Line::new(&more, Label::Dim), width));
    }
    lines
}

/// Returns the first words of a branch, and its size.
fn branch_line(branch: &ForkTurnBranch, index: usize, taken: bool) -> (Line, String) {
    let (sign, state) = match (branch.draft, branch.current) {
        (true, _) => ("◌", "draft"),
        (_, true) => ("●", "current"),
        _ => ("○", "abandoned"),
    };
    let label = if branch.current { Label::Active } else { Label::Abandoned };
    let right = format!("  {}, {state}", count_noun(branch.messages as usize, "message"));
    let mut left = Line::new(if taken { "  ❯ " } else { "    " }, Label::Prompt);
    left.push(&format!("{} ", index + 1), Label::Dim);
    left.push(&format!("{sign} "), label);
    let words = branch.label.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
    left.push(&words, if taken { Label::Strong } else { Label::Plain });
    (left, right)
}

/// Returns the original text of a block.
pub(crate) fn block_text(want: &RenderRequest) -> String {
    let TranscriptItemKind::Block(range) = &want.kind else { return String::new() };
    let mut words: Vec<String> = Vec::new();
    let texts = |part| match part {
        ReplyPart::Text(text) => Some(text),
        _ => None,
    };
    each_turn(&mut None, want, range, |turn| match turn.kind {
        TurnKind::Prompt(prompt) => words.push(prompt.text),
        TurnKind::Reply(answer) => words.extend(answer.parts.into_iter().filter_map(texts)),
        TurnKind::Compaction(compaction) => words.extend(compaction.summary),
        TurnKind::Synthetic(synthetic) => words.push(synthetic.text),
        TurnKind::Note(note) => words.push(note.text),
        TurnKind::Command(command) => {
            words.push(format!("{} {}\n{}", command.name, command.args, command.stdout));
        }
        _ => {}
    });
    words.join("\n\n")
}

/// Returns the images and documents of a block.
pub(crate) fn block_media(want: &RenderRequest) -> Vec<Media> {
    let TranscriptItemKind::Block(range) = &want.kind else { return Vec::new() };
    let mut found = Vec::new();
    each_turn(&mut None, want, range, |turn| match turn.kind {
        TurnKind::Prompt(prompt) => found.extend(prompt.media),
        TurnKind::Reply(reply) => {
            for part in reply.parts {
                match part {
                    ReplyPart::Media(media) => found.push(media),
                    ReplyPart::Call(call) => found.extend(call_media(*call)),
                    _ => {}
                }
            }
        }
        _ => {}
    });
    found
}

fn call_media(call: ToolCall) -> Vec<Media> {
    let Some(result) = call.result else { return Vec::new() };
    let shown = |block| match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
        _ => None,
    };
    let mut media: Vec<Media> = result.content.into_iter().filter_map(shown).collect();
    if let (true, Some(ToolOutput::Read(read))) = (media.is_empty(), result.output)
        && let ReadContent::Image(one) | ReadContent::Pdf(one) = read.content
    {
        media.push(one);
    }
    media
}

fn each_turn(
    open: &mut Option<OpenBodies>,
    want: &RenderRequest,
    range: &Range<usize>,
    each: impl FnMut(Turn),
) {
    each_turn_of(open, &want.chapter, &want.path, range.clone(), each);
}

/// Reads the turns of a part of a path.
pub(super) fn each_turn_of(
    open: &mut Option<OpenBodies>,
    chapter: &Arc<Chapter>,
    path: &ConversationPath,
    range: Range<usize>,
    each: impl FnMut(Turn),
) {
    let history = &chapter.history;
    let slice = history.slice_path(path, range);
    let mut body = |node| read_body(open, chapter, node);
    let turns = path_turns(history, &slice, &mut body);
    // Fork points and the resume point are separate rows.
    let is_row = |turn: &Turn| match &turn.kind {
        TurnKind::Fork(_) => true,
        TurnKind::Resume(note) => note.below.is_some(),
        _ => false,
    };
    turns.filter(|turn| !is_row(turn)).for_each(each);
}

/// Reads the body of a record; a file that cannot be read shows as damaged lines.
fn read_body(
    open: &mut Option<OpenBodies>,
    chapter: &Arc<Chapter>,
    node: NodeId,
) -> Option<RecordBody> {
    if open.as_ref().is_none_or(|open| !is_same_chapter(&open.chapter, chapter)) {
        let bodies = RecordReader::open(&chapter.file.path).ok();
        *open = bodies.map(|bodies| OpenBodies { chapter: Arc::downgrade(chapter), bodies });
    }
    let bytes =
        open.as_mut()?.bodies.read_record(chapter.history.session.record(node).span).ok()?;
    RecordBody::parse(&bytes).ok()
}

fn is_same_chapter(held: &Weak<Chapter>, chapter: &Arc<Chapter>) -> bool {
    std::ptr::eq(held.as_ptr(), Arc::as_ptr(chapter))
}
