//! Writes turns as labelled lines for a terminal of a given width.

mod page;

pub(crate) mod answer;

pub(crate) mod tool;

mod outcome;

mod open;

mod view;

mod note;

pub mod live;

mod thoughts;

pub(crate) mod amount;

mod usage;

use ramus_core::price::PriceList;
use ramus_core::time::Time;
use ramus_core::turn::{Call, Prompt, Turn, TurnKind};

use crate::highlight::Highlight;
use crate::span::{Label, Line};
use crate::{layout, markdown};
use page::{Last, Page};

pub(crate) use amount::media;
pub use amount::{count, grouped, tokens};
pub(crate) use answer::model_name;
pub use note::{fork_summary, guess_note, resume_note};
pub use thoughts::{WithheldThoughts, is_withheld};
pub use usage::{cost_text, reply_usage_line, usage_line};

/// How a transcript is written.
#[derive(Clone, Copy)]
pub struct TextConfig<'a> {
    pub width: usize,
    /// Show the text of thinking, not only that there was some.
    pub thinking: bool,
    /// Open the tool calls: inputs, outputs, diffs.
    pub tools: bool,
    /// Show long texts in full.
    pub full: bool,
    /// Show notes about other branches.
    pub branch_notes: bool,
    /// Show tokens and cost below each reply, by this price list.
    pub usage: Option<&'a PriceList>,
    pub highlight: Highlight,
    /// The command before `:UUID` in the address of another branch: `ramus show 3f9a2b1c`.
    pub show: &'a str,
    /// Paths below this directory are shown relative to it. Empty: all paths are absolute.
    pub cwd: &'a str,
    pub time: &'a dyn Fn(Time) -> String,
}

impl std::fmt::Debug for TextConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextConfig").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Appends the lines of one turn, as if it were the first.
pub fn transcript(turn: &Turn, config: &TextConfig<'_>, out: &mut Vec<Line>) {
    Transcript::new(config).turn(turn, out);
}

/// Writes turns one after the other. The header is not repeated while the same model continues.
#[derive(Debug)]
pub struct Transcript<'a> {
    config: &'a TextConfig<'a>,
    flow: Flow,
}

/// The state after the turns so far: who spoke last, and whether an empty line is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    last: Last,
    /// The model of the last reply, if nothing else followed.
    speaker: Option<String>,
    withheld: WithheldThoughts,
}

impl<'a> Transcript<'a> {
    pub fn new(config: &'a TextConfig<'a>) -> Self {
        Self::after(config, Flow::default())
    }

    /// Continues after turns that were written before.
    pub fn after(config: &'a TextConfig<'a>, flow: Flow) -> Self {
        Self { config, flow }
    }

    /// Returns the state after the turns so far.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Appends the lines of a turn, with an empty line before them where one is due.
    pub fn turn(&mut self, turn: &Turn, out: &mut Vec<Line>) {
        self.flow.withheld.enter(turn);
        let mut page = Page { config: self.config, out, last: self.flow.last };
        match &turn.kind {
            TurnKind::Answer(answer) => {
                let goes_on = self.flow.speaker.is_some() && self.flow.speaker == answer.model;
                let withheld = &mut self.flow.withheld;
                if answer::write(&mut page, turn, answer, goes_on, withheld) {
                    self.flow.speaker = Some(answer.model.clone().unwrap_or_default());
                }
            }
            TurnKind::Prompt(prompt) => {
                self.flow.speaker = None;
                write_prompt(&mut page, turn, prompt);
            }
            TurnKind::Result(call) => tool::write(&mut page, call),
            TurnKind::Command(command) => {
                self.flow.speaker = None;
                note::command(&mut page, turn, command);
            }
            TurnKind::Compaction(compaction) => {
                self.flow.speaker = None;
                note::compaction(&mut page, turn, compaction);
            }
            TurnKind::Fork(fork) => note::fork(&mut page, fork),
            _ => note::write(&mut page, turn),
        }
        self.flow.last = page.last;
    }
}

/// Returns the tool name, the subject and the outcome of a call, each in a few words.
pub(crate) fn summary(call: &Call, config: &TextConfig<'_>) -> (String, String, String) {
    (tool::name(call), tool::subject(call, config), outcome::outcome(call).text())
}

/// The beginning of the prompt that the client sends for an approved plan.
const PLAN: &str = "Implement the following plan:";

fn write_prompt(page: &mut Page<'_, '_>, turn: &Turn, prompt: &Prompt) {
    let speaker = if prompt.delegated { "Task" } else { "You" };
    let mut header = Line::new(&format!("❯ {speaker}"), Label::Prompt);
    if prompt.queued {
        header.push("  queued", Label::Dim);
    }
    page.header(header, turn);
    let room = page.room(2);
    // The client sends an approved plan as a prompt, in Markdown.
    let (typed, plan) = match prompt.text.strip_prefix(PLAN) {
        Some(plan) => (PLAN, plan),
        None => (&*prompt.text, ""),
    };
    let mut lines: Vec<Line> = crate::sanitize::sanitize(typed)
        .trim_end()
        .lines()
        .flat_map(|line| layout::wrap(&Line::plain(line), room, 0))
        .collect();
    if !plan.trim().is_empty() {
        lines.push(Line::default());
        lines.extend(markdown::lines(plan, room, page.config.highlight));
    }
    lines.extend(prompt.media.iter().map(|media| Line::new(&amount::media(media), Label::Note)));
    page.block(&lines, &Line::new("▎ ", Label::Prompt));
}

#[cfg(test)]
mod tests;
