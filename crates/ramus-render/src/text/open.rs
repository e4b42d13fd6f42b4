//! Writes the details of an opened tool call.

use ramus_core::body::{Todo, TodoStatus};
use ramus_core::turn::Call;
use serde_json::Value;

use super::view::{TAIL, View};
use super::{TextConfig, amount, answer::wrapped};
use crate::layout;
use crate::opened_call::{AnsweredQuestion, Section, sections};
use crate::span::{Label, Line};

/// Returns the details of a call, no line wider than `room`.
pub(super) fn lines(call: &Call, config: &TextConfig<'_>, room: usize) -> Vec<Line> {
    let view = View::new(config, room);
    sections(call, config.full).into_iter().flat_map(|section| view.section(section)).collect()
}

impl View {
    fn section(&self, section: Section<'_>) -> Vec<Line> {
        match section {
            Section::Description(text) => wrapped(text, Label::Note, self.room),
            Section::Command(command) => self.command(command),
            Section::Diff { hunks, numbered } => self.hunks(hunks, numbered),
            Section::File { path, text, first_line } => self.code(path, &text, Some(first_line)),
            Section::Message { heading, markdown } => {
                let heading = heading.map(|heading| Line::new(heading, Label::Dim));
                heading.into_iter().chain(self.markdown(&markdown)).collect()
            }
            Section::Quote(text) => self.cut(text, Label::Quote, 0),
            Section::Todos(todos) => todos.iter().flat_map(|todo| self.todo(todo)).collect(),
            Section::Questions(questions) => {
                questions.iter().flat_map(|question| self.question(question)).collect()
            }
            Section::Inputs(pairs) => {
                pairs.into_iter().flat_map(|(key, value)| self.pair(key, value)).collect()
            }
            Section::Output { text, keep_end } => {
                self.cut(&text, Label::Plain, if keep_end { TAIL } else { 0 })
            }
            Section::Error(text) => self.cut(&text, Label::Error, 0),
            Section::Feedback(text) => wrapped(text, Label::Prompt, self.room),
            Section::Media(media) => vec![Line::new(&amount::media(media), Label::Note)],
        }
    }

    /// A command that does not fit in the call's own line.
    fn command(&self, command: &str) -> Vec<Line> {
        if !command.trim().contains('\n') && layout::width(command) + 12 <= self.room {
            return Vec::new();
        }
        let mut lines = self.code("sh", command, None);
        lines.push(Line::new("─".repeat(self.room.min(24)).as_str(), Label::Dim));
        lines
    }

    /// A key and its value, on one line if the value is short.
    fn pair(&self, key: &str, value: &Value) -> Vec<Line> {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = Line::new(&format!("{key}: "), Label::Dim);
        let value = self.cut(&value, Label::Plain, 0);
        match &value[..] {
            [only] if key.width() + only.width() <= self.room => {
                let mut line = key;
                line.append(only);
                vec![line]
            }
            _ => std::iter::once(layout::truncate(&key, self.room)).chain(value).collect(),
        }
    }

    fn todo(&self, todo: &Todo) -> Vec<Line> {
        let (mark, label) = match todo.status {
            TodoStatus::Completed => ("■ ", Label::Dim),
            TodoStatus::InProgress => ("◐ ", Label::Active),
            TodoStatus::Pending => ("□ ", Label::Plain),
        };
        layout::wrap(&Line::new(mark, label).with(&todo.content, label), self.room, 2)
    }

    fn question(&self, asked: &AnsweredQuestion) -> Vec<Line> {
        let mut lines =
            wrapped(&format!("? {}", asked.question.question), Label::Strong, self.room);
        for option in &asked.question.options {
            let (mark, label) = if asked.is_chosen(option) {
                ("  ● ", Label::Active)
            } else {
                ("  ○ ", Label::Dim)
            };
            let line = Line::new(mark, label).with(option, label);
            lines.extend(layout::wrap(&line, self.room, 4));
        }
        if let Some(answer) = asked.own_words() {
            lines.extend(wrapped(&format!("  ❯ {answer}"), Label::Prompt, self.room));
        }
        lines
    }
}
