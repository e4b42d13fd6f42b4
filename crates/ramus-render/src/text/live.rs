//! Writes the events of followed sessions as lines.

use ramus_core::branches::ForkKind;
use ramus_core::live::{News, Spending, Switch, SwitchKind, Told};
use ramus_core::turn::{Answer, Call, Command, Compaction, Part, Thought, Turn, TurnKind};

use super::answer::wrapped;
use super::page::{Last, Page};
use super::{TextConfig, amount, note, outcome, tool};
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// The session and agent that a line belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane<'a> {
    /// A tag before each line, if several sessions are followed.
    pub tag: Option<&'a str>,
    pub colour: u8,
    /// The agent's name and colour.
    pub agent: Option<(&'a str, u8)>,
}

/// How many lines of a prompt or a command's output are shown, unless in full.
const MOST: usize = 12;

/// As wide as a time of day.
const NO_TIME: &str = "        ";

/// Returns the lines of an event. Empty: nothing to show.
pub fn lines(news: &News, lane: &Lane<'_>, config: &TextConfig<'_>) -> Vec<Line> {
    let time = news.time.map_or_else(|| NO_TIME.to_owned(), config.time);
    let margin = Margin::new(lane, &time);
    let config = TextConfig { width: margin.room(config.width), ..*config };
    margin.put(told(&news.told, &config))
}

/// Returns a remark about a session.
pub fn remark(text: &Line, lane: &Lane<'_>, width: usize) -> Vec<Line> {
    let margin = Margin::new(lane, NO_TIME);
    margin.put(layout::wrap(text, margin.room(width), 2))
}

/// Returns tokens and cost in a few words.
pub fn spent(spending: &Spending) -> String {
    let tokens = format!("{} tokens", amount::tokens(spending.tokens));
    let and_more = if spending.unpriced { "+" } else { "" };
    if spending.unpriced && spending.cost <= 0.0 {
        tokens
    } else {
        format!("{tokens} · ${:.2}{and_more}", spending.cost)
    }
}

/// Returns a call in one line, without its outcome.
pub fn running(call: &Call, config: &TextConfig<'_>) -> Line {
    let mut line = Line::new(&tool::name(call), Label::ToolName);
    let subject = tool::subject(call, config);
    if !subject.is_empty() {
        line.push(" ", Label::Plain);
        line.push(&subject, Label::Tool);
    }
    line
}

/// Formats a duration.
pub fn duration(millis: u64) -> String {
    amount::duration(millis)
}

/// The margin on the left of a text.
struct Margin {
    first: Line,
    rest: Line,
}

impl Margin {
    fn new(lane: &Lane<'_>, time: &str) -> Self {
        let label = if time == NO_TIME { Label::Plain } else { Label::Time };
        let mut first = Line::new(time, label);
        first.push(" ", Label::Plain);
        let mut rest = Line::plain(&" ".repeat(first.width()));
        if let Some(tag) = lane.tag {
            first.push(tag, Label::Lane(lane.colour));
            rest.push(&" ".repeat(layout::width(tag).saturating_sub(1)), Label::Plain);
            rest.push("▏", Label::Lane(lane.colour));
            for line in [&mut first, &mut rest] {
                line.push(" ", Label::Plain);
            }
        }
        if let Some((name, colour)) = lane.agent {
            first.push("  ▸ ", Label::Lane(colour));
            first.push(name, Label::Lane(colour));
            first.push(" ", Label::Plain);
            rest.push("  │ ", Label::Lane(colour));
        }
        Self { first, rest }
    }

    fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.first.width().max(self.rest.width())).max(20)
    }

    fn put(&self, lines: Vec<Line>) -> Vec<Line> {
        let margined = lines.into_iter().enumerate().map(|(at, line)| {
            let mut whole = if at == 0 { self.first.clone() } else { self.rest.clone() };
            whole.append(&line);
            whole
        });
        margined.collect()
    }
}

fn told(told: &Told, config: &TextConfig<'_>) -> Vec<Line> {
    match told {
        Told::Turn(kind) => turn(kind, config),
        Told::Result { call, millis } => vec![result(call, *millis, config)],
        Told::Switch(switch) => marked("┬ ", Label::Branch, &switched(switch), config),
        Told::Ended { millis, spent } => {
            let took = millis.map(|millis| format!(" after {}", amount::duration(millis)));
            let text = format!("■ done{} · {}", took.unwrap_or_default(), self::spent(spent));
            vec![Line::new(&text, Label::Dim)]
        }
        Told::Waits(question) => {
            marked("? ", Label::Warning, &format!("waiting for you: {question}"), config)
        }
        Told::Title(title) => marked("» ", Label::Note, &format!("renamed to “{title}”"), config),
        Told::Spent(_) => Vec::new(),
    }
}

fn turn(kind: &TurnKind, config: &TextConfig<'_>) -> Vec<Line> {
    match kind {
        TurnKind::Prompt(prompt) => {
            let mut lines = short(wrapped(&prompt.text, Label::Plain, config.width - 2), config);
            let media = prompt.media.iter().map(amount::media);
            lines.extend(media.map(|media| Line::new(&media, Label::Note)));
            let mark = if prompt.queued { "❯ (queued) " } else { "❯ " };
            beside(&Line::new(mark, Label::Prompt), lines)
        }
        TurnKind::Answer(answer) => parts(answer, config),
        TurnKind::Command(command) => self::command(command, config),
        TurnKind::Compaction(compaction) => vec![self::compaction(compaction)],
        TurnKind::Damaged { line, text } => {
            marked("! ", Label::Warning, &format!("line {line} is damaged: {text}"), config)
        }
        other => {
            let turn = Turn {
                nodes: Vec::new(),
                uuid: None,
                short_uuid: None,
                time: None,
                recovered: false,
                kind: other.clone(),
            };
            let mut out = Vec::new();
            note::write(&mut Page { config, out: &mut out, last: Last::Start }, &turn);
            out
        }
    }
}

fn parts(answer: &Answer, config: &TextConfig<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for part in &answer.parts {
        match part {
            Part::Text(text) => {
                let text = markdown::lines(text, config.width.saturating_sub(2), config.highlight);
                lines.extend(beside(&Line::new("● ", Label::Active), text));
            }
            Part::Thinking(thought) => lines.extend(self::thought(thought, config)),
            Part::Media(media) => lines.push(Line::new(&amount::media(media), Label::Note)),
            Part::Fallback { to, .. } => {
                let name = to.as_deref().map_or("another model", super::model_name);
                lines.push(Line::new(&format!("↪ switched to {name}"), Label::Warning));
            }
            // A call is shown when its result arrives.
            Part::Call(_) => {}
            Part::Unknown(value) => lines.push(Line::new(&format!("? {value}"), Label::Dim)),
        }
    }
    lines
}

fn thought(thought: &Thought, config: &TextConfig<'_>) -> Vec<Line> {
    match thought {
        Thought::Text(text) => {
            let lines = markdown::lines(text, config.width.saturating_sub(2), config.highlight);
            let lines = lines.into_iter().map(|line| line.within(Label::Thinking)).collect();
            beside(&Line::new("∴ ", Label::Thinking), lines)
        }
        Thought::Withheld { signature } => {
            let size = amount::bytes(*signature as u64);
            vec![Line::new(&format!("∴ thinking (withheld, {size} signature)"), Label::Thinking)]
        }
        Thought::Redacted { .. } => vec![Line::new("∴ thinking (encrypted)", Label::Thinking)],
    }
}

fn result(call: &Call, millis: Option<u64>, config: &TextConfig<'_>) -> Line {
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    let mut left =
        if failed { Line::new("× ", Label::Error) } else { Line::new("✓ ", Label::Added) };
    left.append(&running(call, config));
    let mut right = layout::truncate(&outcome::outcome(call), (config.width * 3 / 5).max(12));
    if let Some(millis) = millis {
        right.push("  ", Label::Plain);
        right.push(&amount::duration(millis), Label::Time);
    }
    let room = config.width.saturating_sub(right.width() + 2).max(12);
    let mut row = layout::truncate(&left, room);
    row.push("  ", Label::Plain);
    row.append(&right);
    row
}

fn command(command: &Command, config: &TextConfig<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    if !command.name.is_empty() {
        let mut mark = Line::new(&format!("❯ {}", command.name), Label::Prompt);
        mark.push(" ", Label::Plain);
        let room = config.width.saturating_sub(mark.width()).max(12);
        let args = short(wrapped(&command.args, Label::Plain, room), config);
        lines.extend(if args.is_empty() { vec![mark] } else { beside(&mark, args) });
    }
    for (text, label) in [(&command.stdout, Label::Dim), (&command.stderr, Label::Error)] {
        let text = short(wrapped(text, label, config.width.saturating_sub(2)), config);
        lines.extend(beside(&Line::plain("  "), text));
    }
    lines
}

fn compaction(compaction: &Compaction) -> Line {
    let mut words = Vec::new();
    if let Some(trigger) = &compaction.trigger {
        words.push(format!("compacted ({trigger})"));
    }
    words.extend(compaction.pre_tokens.map(|tokens| format!("{} tokens", amount::grouped(tokens))));
    words.extend(compaction.post_tokens.map(|tokens| format!("→ {}", amount::grouped(tokens))));
    words.extend(compaction.summary.as_ref().map(|summary| {
        format!(
            "continues from a summary of {}",
            amount::count(summary.chars().count(), "character")
        )
    }));
    Line::new(&format!("── {} ──", words.join(" ")), Label::Branch)
}

fn switched(switch: &Switch) -> String {
    let words = switch.words.as_deref().map(|words| format!("“{}”", tool::first_line(words)));
    let to = words.as_deref().unwrap_or("an earlier message");
    let mut text = match switch.kind {
        SwitchKind::New(ForkKind::Rewind) | SwitchKind::Beyond => {
            format!("rewound to {to}: new branch")
        }
        SwitchKind::New(ForkKind::Edit) => format!("the prompt after {to} was edited: new branch"),
        SwitchKind::New(ForkKind::Retry) => format!("retry of {to}: new branch"),
        SwitchKind::New(ForkKind::Interrupt) => {
            format!("the reply to {to} was interrupted: new branch")
        }
        SwitchKind::Back => format!("switched back to the branch of {to}"),
        SwitchKind::Root => "started a new tree: new branch".to_owned(),
    };
    if switch.leaves {
        text.push_str("; it left the conversation you follow");
    }
    if switch.returns {
        text.push_str("; it returned to the conversation you follow");
    }
    text
}

/// Adds a mark before the first line and an indent before the others.
fn beside(mark: &Line, lines: Vec<Line>) -> Vec<Line> {
    let lines = lines.into_iter().enumerate().map(|(at, line)| {
        let mut whole = if at == 0 { mark.clone() } else { Line::plain("  ") };
        whole.append(&line);
        whole
    });
    lines.collect()
}

fn marked(mark: &str, label: Label, text: &str, config: &TextConfig<'_>) -> Vec<Line> {
    beside(&Line::new(mark, label), wrapped(text, label, config.width.saturating_sub(2)))
}

fn short(mut lines: Vec<Line>, config: &TextConfig<'_>) -> Vec<Line> {
    if !config.full && lines.len() > MOST + 1 {
        let more = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(Line::new(&format!("… {more} more lines"), Label::Dim));
    }
    lines
}
