//! A tool call opened: its input, its output, as what they are.

use std::borrow::Cow;

use ramus_core::body::{
    Block, Question, ReadContent, Todo, TodoStatus, ToolOutput, human_text, plain_text,
};
use ramus_core::turn::{Action, Call, Outcome};

use super::view::{TAIL, View};
use super::{TextConfig, amount, answer::wrapped};
use crate::span::{Label, Line};
use crate::{diff, layout};

/// Returns the lines of a call, none wider than `room`.
pub(super) fn lines(call: &Call, config: &TextConfig<'_>, room: usize) -> Vec<Line> {
    let view = View::new(config, room);
    let mut lines = Vec::new();
    let input_tells_all = view.input(call, &mut lines);
    if config.full {
        view.other_inputs(call, &mut lines);
    }
    let Some(result) = &call.result else { return lines };
    if result.is_error {
        lines.extend(view.cut(&result_text(result), Label::Error, 0));
    } else if !input_tells_all {
        view.output(call, result, &mut lines);
    }
    if let Some(feedback) = &result.feedback {
        lines.extend(wrapped(feedback, Label::Prompt, room));
    }
    let media = result.content.iter().filter_map(|block| match block {
        Block::Image(media) | Block::Document(media) => Some(media),
        _ => None,
    });
    lines.extend(media.map(|media| Line::new(&amount::media(media), Label::Note)));
    lines
}

/// Returns the text of a result: the whole file it was spilled to, what the
/// client kept, or what the model saw.
pub(crate) fn result_text(result: &Outcome) -> Cow<'_, str> {
    if let Some(whole) = &result.whole {
        return Cow::Borrowed(whole);
    }
    let text = match &result.output {
        Some(ToolOutput::Bash(bash)) if !result.is_error && result.spilled.is_none() => {
            match [bash.stdout.trim_end(), bash.stderr.trim_end()] {
                [stdout, ""] => Cow::Borrowed(stdout),
                ["", stderr] => Cow::Borrowed(stderr),
                both => Cow::Owned(both.join("\n")),
            }
        }
        Some(ToolOutput::Shell(shell)) => Cow::Owned(format!("{}{}", shell.stdout, shell.stderr)),
        kept => match (seen(&result.content), kept) {
            (seen, Some(ToolOutput::Text(text))) if seen.is_empty() => Cow::Borrowed(&**text),
            (seen, Some(ToolOutput::Blocks(blocks))) if seen.is_empty() => self::seen(blocks),
            (seen, _) => seen,
        },
    };
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_tag(text, "tool_use_error")),
        Cow::Owned(text) => Cow::Owned(without_tag(&text, "tool_use_error").to_owned()),
    };
    if text.contains("<system-reminder>") {
        let own = human_text(&text);
        if !own.is_empty() {
            return Cow::Owned(own.into_owned());
        }
    }
    text
}

/// Returns the text of blocks, most often of the only one.
fn seen(blocks: &[Block]) -> Cow<'_, str> {
    let mut texts = blocks.iter().filter_map(Block::text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        _ => Cow::Owned(plain_text(blocks)),
    }
}

/// Whether a file is one in which the client keeps a plan.
fn is_plan_file(path: &str) -> bool {
    path.contains("/.claude/plans/") && path.ends_with(".md")
}

fn without_tag<'t>(text: &'t str, tag: &str) -> &'t str {
    let inside =
        text.trim().strip_prefix('<').and_then(|text| text.strip_prefix(tag)?.strip_prefix('>'));
    inside.map_or(text, |inside| inside.strip_suffix(&format!("</{tag}>")).unwrap_or(inside))
}

impl View {
    /// Writes what was asked beyond what the row says; `true`: there is no more to tell.
    fn input(&self, call: &Call, lines: &mut Vec<Line>) -> bool {
        match call.action() {
            Action::Run { command, description, .. } => {
                lines.extend(wrapped(description.unwrap_or_default(), Label::Note, self.room));
                if command.trim().contains('\n') || layout::width(command) + 12 > self.room {
                    lines.extend(self.code("sh", command, None));
                    lines.push(Line::new("─".repeat(self.room.min(24)).as_str(), Label::Dim));
                }
                false
            }
            Action::Edit { replacements, .. } => {
                let patch = call.result.as_ref().and_then(|result| match &result.output {
                    Some(ToolOutput::Edit(edit)) => Some(&edit.patch),
                    Some(ToolOutput::MultiEdit(edit)) => Some(&edit.patch),
                    _ => None,
                });
                match patch.filter(|patch| !patch.hunks.is_empty()) {
                    Some(patch) => lines.extend(self.patch(patch)),
                    None => {
                        for edit in replacements {
                            let hunks = diff::hunks(&edit.old, &edit.new, 3);
                            lines.extend(self.hunks(hunks, false));
                        }
                    }
                }
                true
            }
            Action::Write { path, content } => {
                let patch = call.result.as_ref().and_then(|result| match &result.output {
                    Some(ToolOutput::Write(write)) => Some(&write.patch),
                    _ => None,
                });
                match patch.filter(|patch| !patch.hunks.is_empty()) {
                    Some(patch) => lines.extend(self.patch(patch)),
                    None if is_plan_file(path) => {
                        lines.extend(self.markdown(content));
                    }
                    None => lines.extend(self.code(path, content, Some(1))),
                }
                true
            }
            Action::Delegate { prompt, .. } => {
                lines.extend(self.marked("asked", prompt));
                false
            }
            Action::Todos(todos) => {
                lines.extend(todos.iter().flat_map(|todo| self.todo(todo)));
                true
            }
            Action::Ask(questions) => {
                self.questions(&questions, call, lines);
                true
            }
            Action::Plan(plan) => {
                lines.extend(self.markdown(plan));
                true
            }
            Action::NewTask { description: Some(text), .. }
            | Action::Tell { message: text, .. } => {
                lines.extend(self.markdown(text));
                true
            }
            Action::Fetch { prompt: Some(prompt), .. } => {
                lines.extend(self.cut(prompt, Label::Quote, 0));
                false
            }
            Action::Other(pairs) => {
                for (key, value) in pairs {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    lines.extend(self.pair(key, &value));
                }
                false
            }
            _ => false,
        }
    }

    /// Writes the inputs of a known tool that neither its row nor its own look shows.
    fn other_inputs(&self, call: &Call, lines: &mut Vec<Line>) {
        let shown: &[&str] = match call.action() {
            Action::Run { .. } => &["command", "description"],
            Action::Read { .. } => &["file_path", "notebook_path", "path"],
            Action::Edit { .. } => &["file_path", "path", "old_string", "new_string", "edits"],
            Action::Write { .. } => {
                &["file_path", "notebook_path", "path", "content", "new_source"]
            }
            Action::Grep { .. } => &["pattern", "path"],
            Action::Glob { .. } => &["pattern", "path"],
            Action::Delegate { .. } => &["description", "prompt", "subagent_type"],
            Action::Todos(_) => &["todos"],
            Action::Fetch { .. } => &["url", "prompt"],
            Action::Search { .. } => &["query"],
            Action::Ask(_) => &["questions"],
            Action::Plan(_) => &["plan"],
            // Their row has only the first line of these.
            Action::Skill { .. } => &["skill", "command"],
            Action::NewTask { .. } => &["subject", "description"],
            Action::ChangeTask { .. } => &["taskId"],
            Action::Tell { .. } => &["to", "recipient", "message", "content"],
            Action::Other(_) => return,
        };
        let inputs = call.input.as_object().into_iter().flatten();
        for (key, value) in inputs.filter(|(key, _)| !shown.contains(&key.as_str())) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lines.extend(self.pair(key, &value));
        }
    }

    fn output(&self, call: &Call, result: &Outcome, lines: &mut Vec<Line>) {
        match &result.output {
            Some(ToolOutput::Read(read)) => match &read.content {
                ReadContent::Text { content, start_line, .. } => {
                    let path = match call.action() {
                        Action::Read { path } => path,
                        _ => read.file_path.as_deref().unwrap_or_default(),
                    };
                    lines.extend(self.code(path, content, Some(*start_line as usize)));
                }
                ReadContent::Image(media) | ReadContent::Pdf(media) => {
                    lines.push(Line::new(&amount::media(media), Label::Note));
                }
                _ => lines.extend(self.cut(&result_text(result), Label::Plain, 0)),
            },
            Some(ToolOutput::Agent(agent)) => {
                let said = plain_text(&agent.content);
                let said = if said.is_empty() { result_text(result) } else { said.into() };
                lines.extend(self.marked("answered", &said));
            }
            // The call of recent clients has no plan in it; its result has, or names the file.
            Some(ToolOutput::ExitPlanMode(plan)) => {
                let said = plan.plan.as_deref().map_or_else(|| result_text(result), Cow::Borrowed);
                lines.extend(self.markdown(&said));
            }
            Some(ToolOutput::WebFetch(page)) => {
                lines.extend(self.markdown(&page.result));
            }
            Some(ToolOutput::WebSearch(_)) => {
                lines.extend(self.markdown(&result_text(result)));
            }
            Some(ToolOutput::Grep(grep)) if grep.content.is_none() => {
                lines.extend(self.cut(&grep.filenames.join("\n"), Label::Plain, 0));
            }
            Some(ToolOutput::Glob(glob)) => {
                lines.extend(self.cut(&glob.filenames.join("\n"), Label::Plain, 0));
            }
            _ => lines.extend(self.cut(&result_text(result), Label::Plain, TAIL)),
        }
    }

    /// A key with its value, beside it if that is short.
    fn pair(&self, key: &str, value: &str) -> Vec<Line> {
        let key = Line::new(&format!("{key}: "), Label::Dim);
        let value = self.cut(value, Label::Plain, 0);
        match &value[..] {
            [only] if key.width() + only.width() <= self.room => {
                let mut line = key;
                line.append(only);
                vec![line]
            }
            _ => std::iter::once(layout::truncate(&key, self.room)).chain(value).collect(),
        }
    }

    /// Markdown under a small heading.
    fn marked(&self, heading: &str, text: &str) -> Vec<Line> {
        let mut lines = vec![Line::new(heading, Label::Dim)];
        lines.extend(self.markdown(text));
        lines
    }

    fn todo(&self, todo: &Todo) -> Vec<Line> {
        let (mark, label) = match todo.status {
            TodoStatus::Completed => ("■ ", Label::Dim),
            TodoStatus::InProgress => ("◐ ", Label::Active),
            TodoStatus::Pending => ("□ ", Label::Plain),
        };
        layout::wrap(&Line::new(mark, label).with(&todo.content, label), self.room, 2)
    }

    fn questions(&self, questions: &[Question], call: &Call, lines: &mut Vec<Line>) {
        let answers = call.result.as_ref().map(|result| match &result.output {
            Some(ToolOutput::AskUserQuestion(asked)) => asked.answers.as_slice(),
            _ => &[],
        });
        for question in questions {
            lines.extend(wrapped(&format!("? {}", question.question), Label::Strong, self.room));
            let asked = |pair: &&(String, String)| pair.0 == question.question;
            let answer = answers.unwrap_or_default().iter().find(asked);
            for option in &question.options {
                let chosen = answer.is_some_and(|(_, answer)| answer.contains(option.as_str()));
                let (mark, label) =
                    if chosen { ("  ● ", Label::Active) } else { ("  ○ ", Label::Dim) };
                let line = Line::new(mark, label).with(option, label);
                lines.extend(layout::wrap(&line, self.room, 4));
            }
            if let Some((_, answer)) = answer
                && !question.options.iter().any(|option| option == answer)
            {
                lines.extend(wrapped(&format!("  ❯ {answer}"), Label::Prompt, self.room));
            }
        }
    }
}
