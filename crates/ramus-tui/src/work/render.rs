//! Blocks of a transcript into lines.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ramus_core::body::Body;
use ramus_core::history::Path;
use ramus_core::price::PriceList;
use ramus_core::session::NodeId;
use ramus_core::turn::{Fork, ForkWay, Part, Turn, TurnKind, fork_turn, turns};
use ramus_render::highlight::Highlight;
use ramus_render::layout::{self, pad, truncate};
use ramus_render::text::{Flow, TextConfig, Transcript, count};
use ramus_render::{Label, Line};
use ramus_store::Bodies;

use crate::event::{Chapter, Event, Rendered};
use crate::panes::transcript::{ItemKind, Key, Look, shown_ways};
use crate::state::Clock;
use crate::work::Desk;

/// What it takes to render a block.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) key: Key,
    pub(crate) look: Look,
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) path: Arc<Path>,
    pub(crate) kind: ItemKind,
    /// The block right before it: who goes on speaking is not announced again.
    pub(crate) previous: Option<Range<usize>>,
}

/// How long nothing must be asked for until something is prepared: who scrolls on needs the time.
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the thread that renders what is seen.
pub(crate) fn desk(events: Sender<Event>, clock: Clock, prices: Arc<PriceList>) -> Desk<Vec<Want>> {
    painting(events, Painter::new(clock, prices), Duration::ZERO)
}

/// Starts the thread that renders what may be seen next, when there is time for it.
pub(crate) fn preparing_desk(
    events: Sender<Event>,
    clock: Clock,
    prices: Arc<PriceList>,
) -> Desk<Vec<Want>> {
    painting(events, Painter::new(clock, prices), PAUSE)
}

fn painting(events: Sender<Event>, mut painter: Painter, pause: Duration) -> Desk<Vec<Want>> {
    Desk::open(events, move |wants: Vec<Want>, newer, events| {
        if newer.comes_within(pause) {
            return;
        }
        for want in wants {
            if newer.is_waiting() {
                return;
            }
            let lines = painter.lines(&want);
            let Want { key, look, chapter, .. } = want;
            let rendered = Rendered { key, look, chapter, lines };
            let _ = events.send(Event::Rendered(Box::new(rendered)));
        }
    })
}

/// How many ends of blocks are remembered.
const FLOWS: usize = 4_000;

/// A block by its key and end, and whether tools, thinking and usage are shown in it.
type FlowKey = (Key, usize, bool, bool, bool);

fn flow_key(key: Key, end: usize, look: Look) -> FlowKey {
    (key, end, look.tools, look.thinking, look.usage)
}

pub(crate) struct Painter {
    clock: Clock,
    prices: Arc<PriceList>,
    /// How blocks end, for those that follow them; a block that has grown ends elsewhere.
    flows: HashMap<FlowKey, (Weak<Chapter>, Flow)>,
    open: Option<Open>,
}

/// The file that a chapter was read from. Another chapter of the same name may be another file.
struct Open {
    chapter: Weak<Chapter>,
    bodies: Bodies,
}

impl Painter {
    pub(crate) fn new(clock: Clock, prices: Arc<PriceList>) -> Self {
        Self { clock, prices, flows: HashMap::new(), open: None }
    }

    pub(crate) fn lines(&mut self, want: &Want) -> Vec<Line> {
        match &want.kind {
            ItemKind::Block(range) => self.block(want, range),
            ItemKind::Fork(at) => self.fork(want, *at),
            ItemKind::Resume | ItemKind::Agent => Vec::new(),
        }
    }

    fn block(&mut self, want: &Want, range: &Range<usize>) -> Vec<Line> {
        let flow = match &want.previous {
            Some(previous) => {
                let key = want.key.at(want.path.folds[previous.start]);
                match self.flows.get(&flow_key(key, previous.end, want.look)) {
                    Some((of, flow)) if is_of(of, &want.chapter) => flow.clone(),
                    _ => self.written(want, previous, Flow::default(), key).1,
                }
            }
            None => Flow::default(),
        };
        let begins = want.previous.is_none() && range.start > 0;
        let mut lines = self.written(want, range, flow, want.key).0;
        if begins || (want.previous.is_none() && want.key.is_inside()) {
            lines.insert(0, Line::default());
        }
        lines
    }

    fn written(
        &mut self,
        want: &Want,
        range: &Range<usize>,
        flow: Flow,
        key: Key,
    ) -> (Vec<Line>, Flow) {
        let chapter = &want.chapter;
        let time = |time| self.clock.message(time);
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
            time: &time,
        };
        let mut transcript = Transcript::after(&config, flow);
        let mut lines = Vec::new();
        each_turn(&mut self.open, want, range, |mut turn| {
            if config.tools {
                let file = &chapter.file.path;
                turn.read_spilled(&mut |path| ramus_store::spilled(file, FilePath::new(path)));
            }
            transcript.turn(&turn, &mut lines);
        });
        let flow = transcript.flow().clone();
        if self.flows.len() > FLOWS {
            self.flows.clear();
        }
        let of = Arc::downgrade(&want.chapter);
        self.flows.insert(flow_key(key, range.end, want.look), (of, flow.clone()));
        (lines, flow)
    }

    fn fork(&mut self, want: &Want, at: usize) -> Vec<Line> {
        let history = &want.chapter.history;
        let folds = &want.path.folds;
        let mut body = |node| read(&mut self.open, &want.chapter, node);
        let turn = fork_turn(history, folds[at], &[], usize::MAX, &mut body);
        let Some(Turn { kind: TurnKind::Fork(fork), .. }) = turn else { return Vec::new() };
        let real = history.branches.fork_at(folds[at]);
        let taken = real
            .and_then(|real| real.ways.iter().position(|way| folds.get(at + 1) == Some(&way.fold)));
        fork_lines(&fork, taken, usize::from(want.look.width))
    }
}

/// Writes a fork with its ways, the taken one marked.
fn fork_lines(fork: &Fork, taken: Option<usize>, width: usize) -> Vec<Line> {
    let all = fork.ways.len();
    let which = taken.map_or_else(|| format!("{all} ways"), |at| format!("{} of {all}", at + 1));
    let head = Line::new(&format!("┬ {}  ", fork.kind), Label::Branch)
        .with("‹ ", Label::Dim)
        .with(&which, Label::Strong)
        .with(" ›  ", Label::Dim)
        .with("← → switch", Label::Dim);
    let mut lines = vec![Line::default(), truncate(&head, width)];
    let shown = shown_ways(taken, all);
    let ways: Vec<(Line, String)> = { shown.clone() }
        .map(|index| way(&fork.ways[index], index, Some(index) == taken))
        .collect();
    let right = ways.iter().map(|(_, right)| layout::width(right)).max().unwrap_or(0);
    let left = ways.iter().map(|(left, _)| left.width()).max().unwrap_or(0);
    let left = left.min(width.saturating_sub(right));
    for (words, count) in ways {
        lines.push(pad(truncate(&words, left), left).with(&count, Label::Dim));
    }
    if shown.len() < all {
        let more = format!("    … {} more; b lists all branches", all - shown.len());
        lines.push(truncate(&Line::new(&more, Label::Dim), width));
    }
    lines
}

/// Returns what a way says, and how much of it there is.
fn way(way: &ForkWay, index: usize, taken: bool) -> (Line, String) {
    let (sign, state) = match (way.draft, way.current) {
        (true, _) => ("◌", "draft"),
        (_, true) => ("●", "current"),
        _ => ("○", "abandoned"),
    };
    let label = if way.current { Label::Active } else { Label::Abandoned };
    let right = format!("  {}, {state}", count(way.messages as usize, "message"));
    let mut left = Line::new(if taken { "  ❯ " } else { "    " }, Label::Prompt);
    left.push(&format!("{} ", index + 1), Label::Dim);
    left.push(&format!("{sign} "), label);
    let words = way.words.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
    left.push(&words, if taken { Label::Strong } else { Label::Plain });
    (left, right)
}

/// Returns the words of a block as they were written.
pub(crate) fn words(want: &Want) -> String {
    let ItemKind::Block(range) = &want.kind else { return String::new() };
    let mut words: Vec<String> = Vec::new();
    let texts = |part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    };
    each_turn(&mut None, want, range, |turn| match turn.kind {
        TurnKind::Prompt(prompt) => words.push(prompt.text),
        TurnKind::Answer(answer) => words.extend(answer.parts.into_iter().filter_map(texts)),
        TurnKind::Compaction(compaction) => words.extend(compaction.summary),
        TurnKind::Synthetic(said) => words.push(said.text),
        TurnKind::Note(note) => words.push(note.text),
        TurnKind::Command(command) => {
            words.push(format!("{} {}\n{}", command.name, command.args, command.stdout));
        }
        _ => {}
    });
    words.join("\n\n")
}

fn each_turn(open: &mut Option<Open>, want: &Want, range: &Range<usize>, each: impl FnMut(Turn)) {
    let history = &want.chapter.history;
    let stretch = history.stretch(&want.path, range.clone());
    let mut body = |node| read(open, &want.chapter, node);
    let said = turns(history, &stretch, &mut body);
    // Forks and the point at which the client resumes are rows of their own.
    let is_row = |turn: &Turn| match &turn.kind {
        TurnKind::Fork(_) => true,
        TurnKind::Resume(note) => note.below.is_some(),
        _ => false,
    };
    said.filter(|turn| !is_row(turn)).for_each(each);
}

/// Reads the body of a record; a file that cannot be read shows as damaged lines.
fn read(open: &mut Option<Open>, chapter: &Arc<Chapter>, node: NodeId) -> Option<Body> {
    if open.as_ref().is_none_or(|open| !is_of(&open.chapter, chapter)) {
        let bodies = Bodies::open(&chapter.file.path).ok();
        *open = bodies.map(|bodies| Open { chapter: Arc::downgrade(chapter), bodies });
    }
    let bytes = open.as_mut()?.bodies.bytes(chapter.history.session.record(node).span).ok()?;
    Body::parse(&bytes).ok()
}

fn is_of(held: &Weak<Chapter>, chapter: &Arc<Chapter>) -> bool {
    std::ptr::eq(held.as_ptr(), Arc::as_ptr(chapter))
}
