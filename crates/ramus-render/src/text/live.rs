//! Writes the events of followed sessions as lines.

use ramus_core::branches::ForkKind;
use ramus_core::live::{BranchSwitch, LiveEvent, LiveEventKind, Spending, SwitchKind};
use ramus_core::turn::{
    CommandTurn, Compaction, Reply, ReplyPart, Thought, ToolCall, Turn, TurnKind,
};

use super::line_writer::{LastWritten, LineWriter};
use super::reply::wrap_text;
use super::{TextConfig, amounts, notes, outcome, tool_call};
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// The session and agent that a line belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineOwner<'a> {
    /// A tag before each line, if several sessions are followed.
    pub tag: Option<&'a str>,
    pub colour: u8,
    /// The agent's name and colour.
    pub agent: Option<(&'a str, u8)>,
}

/// How many lines of a prompt or a command's output are shown, unless in full.
const MAX_LINES: usize = 12;

/// As wide as a time of day.
const NO_TIME: &str = "        ";

/// Returns the lines of an event. Empty: nothing to show.
pub fn event_lines(news: &LiveEvent, lane: &LineOwner<'_>, config: &TextConfig<'_>) -> Vec<Line> {
    let time = news.time.map_or_else(|| NO_TIME.to_owned(), config.time);
    let margin = Margin::new(lane, &time);
    let config = TextConfig { width: margin.text_width(config.width), ..*config };
    margin.add_margin(event_body(&news.kind, &config))
}

/// Returns a remark about a session.
pub fn remark_lines(text: &Line, lane: &LineOwner<'_>, width: usize) -> Vec<Line> {
    let margin = Margin::new(lane, NO_TIME);
    margin.add_margin(layout::wrap_line(text, margin.text_width(width), 2))
}

/// Returns tokens and cost in a few words.
pub fn spending_text(spending: &Spending) -> String {
    let tokens = format!("{} tokens", amounts::format_tokens(spending.tokens));
    let and_more = if spending.unpriced { "+" } else { "" };
    if spending.unpriced && spending.cost <= 0.0 {
        tokens
    } else {
        format!("{tokens} · {}{and_more}", amounts::format_dollars(spending.cost))
    }
}

/// Returns a call in one line, without its outcome.
pub fn call_line(call: &ToolCall, config: &TextConfig<'_>) -> Line {
    let mut line = Line::new(&tool_call::tool_name(call), Label::ToolName);
    let subject = tool_call::call_subject(call, config);
    if !subject.is_empty() {
        line.push(" ", Label::Plain);
        line.push(&subject, Label::Tool);
    }
    line
}

/// Formats a duration.
pub fn duration_text(millis: u64) -> String {
    amounts::format_duration(millis)
}

/// The margin on the left of a text.
struct Margin {
    first: Line,
    rest: Line,
}

impl Margin {
    fn new(lane: &LineOwner<'_>, time: &str) -> Self {
        let label = if time == NO_TIME { Label::Plain } else { Label::Time };
        let mut first = Line::new(time, label);
        first.push(" ", Label::Plain);
        let mut rest = Line::plain(&" ".repeat(first.width()));
        if let Some(tag) = lane.tag {
            first.push(tag, Label::Speaker(lane.colour));
            rest.push(&" ".repeat(layout::display_width(tag).saturating_sub(1)), Label::Plain);
            rest.push("▏", Label::Speaker(lane.colour));
            for line in [&mut first, &mut rest] {
                line.push(" ", Label::Plain);
            }
        }
        if let Some((name, colour)) = lane.agent {
            first.push("  ▸ ", Label::Speaker(colour));
            first.push(name, Label::Speaker(colour));
            first.push(" ", Label::Plain);
            rest.push("  │ ", Label::Speaker(colour));
        }
        Self { first, rest }
    }

    fn text_width(&self, width: usize) -> usize {
        width.saturating_sub(self.first.width().max(self.rest.width())).max(20)
    }

    fn add_margin(&self, lines: Vec<Line>) -> Vec<Line> {
        let margined = lines.into_iter().enumerate().map(|(at, line)| {
            let mut whole = if at == 0 { self.first.clone() } else { self.rest.clone() };
            whole.append(&line);
            whole
        });
        margined.collect()
    }
}

fn event_body(event: &LiveEventKind, config: &TextConfig<'_>) -> Vec<Line> {
    match event {
        LiveEventKind::Turn(kind) => turn_lines(kind, config),
        LiveEventKind::Result { call, millis } => vec![result_line(call, *millis, config)],
        LiveEventKind::Switch(switch) => {
            marked_lines("┬ ", Label::Branch, &switch_text(switch), config)
        }
        LiveEventKind::Ended { millis, spent } => {
            let took = millis.map(|millis| format!(" after {}", amounts::format_duration(millis)));
            let text =
                format!("■ done{} · {}", took.unwrap_or_default(), self::spending_text(spent));
            vec![Line::new(&text, Label::Dim)]
        }
        LiveEventKind::WaitsForUser(question) => {
            marked_lines("? ", Label::Warning, &format!("waiting for you: {question}"), config)
        }
        LiveEventKind::Title(title) => {
            marked_lines("» ", Label::Note, &format!("renamed to “{title}”"), config)
        }
        LiveEventKind::Spent(_) => Vec::new(),
    }
}

fn turn_lines(kind: &TurnKind, config: &TextConfig<'_>) -> Vec<Line> {
    match kind {
        TurnKind::Prompt(prompt) => {
            let mut lines =
                shorten_lines(wrap_text(&prompt.text, Label::Plain, config.width - 2), config);
            let media = prompt.media.iter().map(amounts::media_label);
            lines.extend(media.map(|media| Line::new(&media, Label::Note)));
            let mark = if prompt.queued { "❯ (queued) " } else { "❯ " };
            with_mark(&Line::new(mark, Label::Prompt), lines)
        }
        TurnKind::Reply(answer) => reply_lines(answer, config),
        TurnKind::Command(command) => self::command_lines(command, config),
        TurnKind::Compaction(compaction) => vec![self::compaction_line(compaction)],
        TurnKind::Damaged { line, text } => {
            marked_lines("! ", Label::Warning, &format!("line {line} is damaged: {text}"), config)
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
            let mut push = |line| out.push(line);
            notes::write_note(
                &mut LineWriter { config, out: &mut push, last: LastWritten::Start },
                &turn,
            );
            out
        }
    }
}

fn reply_lines(answer: &Reply, config: &TextConfig<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for part in &answer.parts {
        match part {
            ReplyPart::Text(text) => {
                let text = markdown::markdown_lines(
                    text,
                    config.width.saturating_sub(2),
                    config.highlight,
                );
                lines.extend(with_mark(&Line::new("● ", Label::Active), text));
            }
            ReplyPart::Thinking(thought) => lines.extend(self::thought_lines(thought, config)),
            ReplyPart::Media(media) => {
                lines.push(Line::new(&amounts::media_label(media), Label::Note));
            }
            ReplyPart::Fallback { to, .. } => {
                let name = to.as_deref().map_or("another model", super::model_name);
                lines.push(Line::new(&format!("↪ switched to {name}"), Label::Warning));
            }
            // A call is shown when its result arrives.
            ReplyPart::Call(_) => {}
            ReplyPart::Unknown(value) => lines.push(Line::new(&format!("? {value}"), Label::Dim)),
        }
    }
    lines
}

fn thought_lines(thought: &Thought, config: &TextConfig<'_>) -> Vec<Line> {
    match thought {
        Thought::Text(text) => {
            let lines =
                markdown::markdown_lines(text, config.width.saturating_sub(2), config.highlight);
            let lines =
                lines.into_iter().map(|line| line.with_default_label(Label::Thinking)).collect();
            with_mark(&Line::new("∴ ", Label::Thinking), lines)
        }
        Thought::Withheld { signature } => {
            let size = amounts::format_bytes(*signature as u64);
            vec![Line::new(&format!("∴ thinking (withheld, {size} signature)"), Label::Thinking)]
        }
        Thought::Redacted { .. } => vec![Line::new("∴ thinking (encrypted)", Label::Thinking)],
    }
}

fn result_line(call: &ToolCall, millis: Option<u64>, config: &TextConfig<'_>) -> Line {
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    let mut left =
        if failed { Line::new("× ", Label::Error) } else { Line::new("✓ ", Label::Added) };
    left.append(&call_line(call, config));
    let mut right =
        layout::truncate_line(&outcome::outcome_line(call, config), (config.width * 3 / 5).max(12));
    if let Some(millis) = millis {
        right.push("  ", Label::Plain);
        right.push(&amounts::format_duration(millis), Label::Time);
    }
    let room = config.width.saturating_sub(right.width() + 2).max(12);
    let mut row = layout::truncate_line(&left, room);
    row.push("  ", Label::Plain);
    row.append(&right);
    row
}

fn command_lines(command: &CommandTurn, config: &TextConfig<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    if !command.name.is_empty() {
        let mut mark = Line::new(&format!("❯ {}", command.name), Label::Prompt);
        mark.push(" ", Label::Plain);
        let room = config.width.saturating_sub(mark.width()).max(12);
        let args = shorten_lines(wrap_text(&command.args, Label::Plain, room), config);
        lines.extend(if args.is_empty() { vec![mark] } else { with_mark(&mark, args) });
    }
    for (text, label) in [(&command.stdout, Label::Dim), (&command.stderr, Label::Error)] {
        let text = shorten_lines(wrap_text(text, label, config.width.saturating_sub(2)), config);
        lines.extend(with_mark(&Line::plain("  "), text));
    }
    lines
}

fn compaction_line(compaction: &Compaction) -> Line {
    let mut words = Vec::new();
    if let Some(trigger) = &compaction.trigger {
        words.push(format!("compacted ({trigger})"));
    }
    words.extend(
        compaction.pre_tokens.map(|tokens| format!("{} tokens", amounts::grouped_digits(tokens))),
    );
    words.extend(
        compaction.post_tokens.map(|tokens| format!("→ {}", amounts::grouped_digits(tokens))),
    );
    words.extend(compaction.summary.as_ref().map(|summary| {
        format!(
            "continues from a summary of {}",
            amounts::count_noun(summary.chars().count(), "character")
        )
    }));
    Line::new(&format!("── {} ──", words.join(" ")), Label::Branch)
}

fn switch_text(switch: &BranchSwitch) -> String {
    let words =
        switch.prompt_text.as_deref().map(|words| format!("“{}”", tool_call::first_line(words)));
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
fn with_mark(mark: &Line, lines: Vec<Line>) -> Vec<Line> {
    let lines = lines.into_iter().enumerate().map(|(at, line)| {
        let mut whole = if at == 0 { mark.clone() } else { Line::plain("  ") };
        whole.append(&line);
        whole
    });
    lines.collect()
}

fn marked_lines(mark: &str, label: Label, text: &str, config: &TextConfig<'_>) -> Vec<Line> {
    with_mark(&Line::new(mark, label), wrap_text(text, label, config.width.saturating_sub(2)))
}

fn shorten_lines(mut lines: Vec<Line>, config: &TextConfig<'_>) -> Vec<Line> {
    if !config.full && lines.len() > MAX_LINES + 1 {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(Line::new(&format!("… {more} more lines"), Label::Dim));
    }
    lines
}
