//! Writes turns as labelled lines for a terminal of a given width.

mod line_writer;

pub(crate) mod reply;

mod stat_names;
pub(crate) mod tool_call;

mod outcome;

mod call_details;

mod text_view;

mod notes;

pub mod live;

mod withheld_thoughts;

pub(crate) mod amounts;

mod usage;

use ramus_core::price::PriceList;
use ramus_core::time::Time;
use ramus_core::turn::{PromptTurn, ToolCall, Turn, TurnKind};

use crate::highlight::Highlight;
use crate::span::{Label, Line};
use crate::{layout, markdown};
use line_writer::{LastWritten, LineWriter};

pub(crate) use amounts::media_label;
pub use amounts::{
    count_noun, format_dollars, format_reply_dollars, format_tokens, grouped_digits,
};
pub use notes::{fork_kind_phrase, fork_summary, guess_note, resume_note};
pub(crate) use reply::model_name;
pub use stat_names::{agent_class_name, artefact_name, shape_name, source_name};
pub use usage::{reply_usage_line, usage_line};
pub use withheld_thoughts::{WithheldThoughts, is_withheld};

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
    /// Calls that are running, with the time since their start. Those of [`ToolCall::running`] run too.
    pub running: &'a [RunningCall],
    pub time: &'a dyn Fn(Time) -> String,
}

/// A call that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCall {
    pub id: String,
    /// `None`: its start is unknown.
    pub millis: Option<u64>,
}

impl std::fmt::Debug for TextConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextConfig").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Appends the lines of one turn, as if it were the first.
pub fn write_single_turn(turn: &Turn, config: &TextConfig<'_>, out: &mut Vec<Line>) {
    TranscriptWriter::new(config).write_turn(turn, &mut |line| out.push(line));
}

/// Writes turns one after the other. The header is not repeated while the same model continues.
#[derive(Debug)]
pub struct TranscriptWriter<'a> {
    config: &'a TextConfig<'a>,
    state: TranscriptState,
}

/// The state after the turns so far: who spoke last, and whether an empty line is due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptState {
    last: LastWritten,
    /// The model of the last reply, if nothing else followed.
    speaker: Option<String>,
    withheld: WithheldThoughts,
}

impl<'a> TranscriptWriter<'a> {
    pub fn new(config: &'a TextConfig<'a>) -> Self {
        Self::resume_from(config, TranscriptState::default())
    }

    /// Continues after turns that were written before.
    pub fn resume_from(config: &'a TextConfig<'a>, state: TranscriptState) -> Self {
        Self { config, state }
    }

    /// Returns the state after the turns so far.
    pub fn state(&self) -> &TranscriptState {
        &self.state
    }

    /// Passes the lines of a turn on one by one, with an empty line before them where one is due.
    pub fn write_turn(&mut self, turn: &Turn, out: &mut dyn FnMut(Line)) {
        self.state.withheld.enter_turn(turn);
        let mut page = LineWriter { config: self.config, out, last: self.state.last };
        match &turn.kind {
            TurnKind::Reply(answer) => {
                let goes_on = self.state.speaker.is_some() && self.state.speaker == answer.model;
                let withheld = &mut self.state.withheld;
                if reply::write_reply(&mut page, turn, answer, goes_on, withheld) {
                    self.state.speaker = Some(answer.model.clone().unwrap_or_default());
                }
            }
            TurnKind::Prompt(prompt) => {
                self.state.speaker = None;
                write_prompt(&mut page, turn, prompt);
            }
            TurnKind::Result(call) => tool_call::write_call(&mut page, call),
            TurnKind::Command(command) => {
                self.state.speaker = None;
                notes::write_command(&mut page, turn, command);
            }
            TurnKind::Compaction(compaction) => {
                self.state.speaker = None;
                notes::write_compaction(&mut page, turn, compaction);
            }
            TurnKind::Fork(fork) => notes::write_fork(&mut page, fork),
            _ => notes::write_note(&mut page, turn),
        }
        self.state.last = page.last;
    }
}

/// Returns the tool name, the subject and the outcome of a call, each in a few words.
pub(crate) fn call_summary(call: &ToolCall, config: &TextConfig<'_>) -> (String, String, String) {
    (
        tool_call::tool_name(call),
        tool_call::call_subject(call, config),
        outcome::outcome_line(call, config).to_text(),
    )
}

/// The beginning of the prompt that the client sends for an approved plan.
const PLAN_PREFIX: &str = "Implement the following plan:";

fn write_prompt(page: &mut LineWriter<'_, '_>, turn: &Turn, prompt: &PromptTurn) {
    let speaker = if prompt.delegated { "Task" } else { "You" };
    let mut header = Line::new(&format!("❯ {speaker}"), Label::Prompt);
    if prompt.queued {
        header.push("  queued", Label::Dim);
    }
    page.write_header(header, turn);
    let room = page.text_width(2);
    // The client sends an approved plan as a prompt, in Markdown.
    let (typed, plan) = match prompt.text.strip_prefix(PLAN_PREFIX) {
        Some(plan) => (PLAN_PREFIX, plan),
        None => (&*prompt.text, ""),
    };
    let mut lines: Vec<Line> = crate::sanitize::sanitize_text(typed)
        .trim_end()
        .lines()
        .flat_map(|line| layout::wrap_line(&Line::plain(line), room, 0))
        .collect();
    if !plan.trim().is_empty() {
        lines.push(Line::default());
        lines.extend(markdown::markdown_lines(plan, room, page.config.highlight));
    }
    lines.extend(
        prompt.media.iter().map(|media| Line::new(&amounts::media_label(media), Label::Note)),
    );
    page.write_block(&lines, &Line::new("▎ ", Label::Prompt));
}

#[cfg(test)]
mod tests;
