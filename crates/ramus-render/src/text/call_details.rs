//! Writes the details of an opened tool call.

use ramus_core::body::{Todo, TodoStatus};
use ramus_core::turn::ToolCall;
use serde_json::Value;

use super::text_view::{TAIL_LINES, TextView};
use super::{TextConfig, amounts, reply::wrap_text};
use crate::layout;
use crate::opened_call::{AnsweredQuestion, CallSection, call_sections};
use crate::span::{Label, Line};

/// Passes the lines of a call's details on one by one, none wider than `room`.
pub(super) fn write_details(
    call: &ToolCall,
    config: &TextConfig<'_>,
    room: usize,
    out: &mut dyn FnMut(Line),
) {
    let view = TextView::new(config, room);
    for section in call_sections(call, config.full) {
        match section {
            // Only results are so long that their lines would take much memory.
            CallSection::Output { text, .. } if config.full => {
                view.write_whole(&text, Label::Plain, out);
            }
            CallSection::Error(text) if config.full => view.write_whole(&text, Label::Error, out),
            section => view.section_lines(section).into_iter().for_each(&mut *out),
        }
    }
}

impl TextView {
    fn section_lines(&self, section: CallSection<'_>) -> Vec<Line> {
        match section {
            CallSection::Description(text) => wrap_text(text, Label::Note, self.width),
            CallSection::Command(command) => self.command_lines(command),
            CallSection::Diff { hunks, numbered } => self.diff_lines(hunks, numbered),
            CallSection::File { path, text, first_line } => {
                self.code_lines(path, &text, Some(first_line))
            }
            CallSection::Message { heading, markdown } => {
                let heading = heading.map(|heading| Line::new(heading, Label::Dim));
                heading.into_iter().chain(self.markdown_lines(&markdown)).collect()
            }
            CallSection::Quote(text) => self.cut_lines(text, Label::Quote, 0),
            CallSection::Todos(todos) => {
                todos.iter().flat_map(|todo| self.todo_lines(todo)).collect()
            }
            CallSection::Questions(questions) => {
                questions.iter().flat_map(|question| self.question_lines(question)).collect()
            }
            CallSection::Inputs(pairs) => {
                pairs.into_iter().flat_map(|(key, value)| self.pair_lines(key, value)).collect()
            }
            CallSection::Output { text, keep_end } => {
                self.cut_lines(&text, Label::Plain, if keep_end { TAIL_LINES } else { 0 })
            }
            CallSection::Error(text) => self.cut_lines(&text, Label::Error, 0),
            CallSection::Feedback(text) => wrap_text(text, Label::Prompt, self.width),
            CallSection::Media(media) => vec![Line::new(&amounts::media_label(media), Label::Note)],
        }
    }

    /// A command that does not fit in the call's own line.
    fn command_lines(&self, command: &str) -> Vec<Line> {
        if !command.trim().contains('\n') && layout::display_width(command) + 12 <= self.width {
            return Vec::new();
        }
        let mut lines = self.code_lines("sh", command, None);
        lines.push(Line::new("─".repeat(self.width.min(24)).as_str(), Label::Dim));
        lines
    }

    /// A key and its value, on one line if the value is short.
    fn pair_lines(&self, key: &str, value: &Value) -> Vec<Line> {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = Line::new(&format!("{key}: "), Label::Dim);
        let value = self.cut_lines(&value, Label::Plain, 0);
        match &value[..] {
            [only] if key.width() + only.width() <= self.width => {
                let mut line = key;
                line.append(only);
                vec![line]
            }
            _ => std::iter::once(layout::truncate_line(&key, self.width)).chain(value).collect(),
        }
    }

    fn todo_lines(&self, todo: &Todo) -> Vec<Line> {
        let (mark, label) = match todo.status {
            TodoStatus::Completed => ("■ ", Label::Dim),
            TodoStatus::InProgress => ("◐ ", Label::Active),
            TodoStatus::Pending => ("□ ", Label::Plain),
        };
        layout::wrap_line(&Line::new(mark, label).with(&todo.content, label), self.width, 2)
    }

    fn question_lines(&self, asked: &AnsweredQuestion) -> Vec<Line> {
        let mut lines =
            wrap_text(&format!("? {}", asked.question.question), Label::Strong, self.width);
        for option in &asked.question.options {
            let (mark, label) = if asked.is_chosen(option) {
                ("  ● ", Label::Active)
            } else {
                ("  ○ ", Label::Dim)
            };
            let line = Line::new(mark, label).with(option, label);
            lines.extend(layout::wrap_line(&line, self.width, 4));
        }
        if let Some(answer) = asked.own_words() {
            lines.extend(wrap_text(&format!("  ❯ {answer}"), Label::Prompt, self.width));
        }
        lines
    }
}
