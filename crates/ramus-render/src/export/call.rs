//! A tool call taken apart: what it is called, what was asked, what came of it.

use std::borrow::Cow;
use std::fmt::Write as _;

use ramus_core::body::{ReadContent, StructuredPatch, TodoStatus, ToolOutput, plain_text};
use ramus_core::turn::{Action, Call, Outcome};

use super::{Config, Tools};
use crate::diff::{self, Hunk};
use crate::highlight::Highlight;
use crate::text::{self, TextConfig};

/// Lines and bytes of one piece that a brief transcript shows.
const LINES: usize = 40;
const BYTES: usize = 4_000;

/// A piece of an opened call.
#[derive(Debug)]
pub enum Section<'a> {
    /// Text to be shown as it is; the language is a name or the end of a file's name.
    Code {
        language: &'a str,
        text: Cow<'a, str>,
    },
    Markdown(Cow<'a, str>),
    /// What went wrong.
    Error(Cow<'a, str>),
    /// What a person said when refusing.
    Feedback(&'a str),
    /// What the model said a command is for.
    Description(&'a str),
    /// Something was left out.
    Cut(usize),
}

/// A call in one line: name, subject, outcome.
#[derive(Debug)]
pub struct Summary {
    pub name: String,
    pub subject: String,
    pub outcome: String,
    pub failed: bool,
}

/// Sums up a call.
pub fn summary(call: &Call, config: &Config<'_>) -> Summary {
    let text = TextConfig {
        width: 120,
        thinking: false,
        tools: false,
        full: false,
        branch_notes: false,
        highlight: Highlight::Off,
        show: "",
        cwd: config.cwd,
        time: &|_| String::new(),
    };
    let (name, subject, outcome) = text::summary(call, &text);
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    Summary { name, subject, outcome, failed }
}

/// Lines that are shown of a command's output while it is folded, and how long they may be.
const TAIL_LINES: usize = 3;
const TAIL_CHARS: usize = 160;

/// Returns the last lines of a command's output. `None`: its outcome tells all of it.
pub(super) fn tail(call: &Call) -> Option<String> {
    let Action::Run { .. } = call.action() else { return None };
    let text = text::result_text(call.result.as_ref()?);
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    let mut last: Vec<String> = lines
        .by_ref()
        .take(TAIL_LINES)
        .map(|line| match line.char_indices().nth(TAIL_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        })
        .collect();
    if last.len() < 2 {
        return None;
    }
    last.reverse();
    Some(last.join("\n"))
}

/// Whether a command is known to have ended by itself and well.
pub(super) fn succeeded(call: &Call) -> bool {
    let output =
        call.result.as_ref().filter(|result| !result.is_error).map(|result| &result.output);
    match output {
        Some(Some(ToolOutput::Bash(bash))) => {
            !bash.interrupted
                && bash.timed_out_after_ms.is_none()
                && bash.background_task_id.is_none()
                && bash.return_code_interpretation.is_none()
        }
        _ => false,
    }
}

/// Opens a call.
pub fn sections<'a>(call: &'a Call, config: &Config<'_>) -> Vec<Section<'a>> {
    let mut sections = Sections { config, list: Vec::new() };
    let input_tells_all = sections.input(call);
    if let Some(result) = &call.result {
        if result.is_error {
            let (text, hidden) = sections.cut(text::result_text(result));
            sections.list.push(Section::Error(text));
            sections.hidden(hidden);
        } else if !input_tells_all {
            sections.output(call, result);
        }
        sections.list.extend(result.feedback.as_deref().map(Section::Feedback));
    }
    sections.list
}

/// Returns what a call changed in a file; `None`: it is no edit.
pub fn hunks(call: &Call) -> Option<Vec<Hunk>> {
    let made = patch(call).map(|patch| {
        let hunk = |hunk: &ramus_core::body::Hunk| Hunk {
            old_start: hunk.old_start as usize,
            old_lines: hunk.old_lines as usize,
            new_start: hunk.new_start as usize,
            new_lines: hunk.new_lines as usize,
            lines: hunk.lines.clone(),
        };
        patch.hunks.iter().map(hunk).collect()
    });
    made.or_else(|| match call.action() {
        Action::Edit { replacements, .. } => Some(
            replacements.iter().flat_map(|edit| diff::hunks(&edit.old, &edit.new, 3)).collect(),
        ),
        _ => None,
    })
}

struct Sections<'a, 'c> {
    config: &'c Config<'c>,
    list: Vec<Section<'a>>,
}

impl<'a> Sections<'a, '_> {
    /// Adds what was asked; `true`: there is no more to tell.
    fn input(&mut self, call: &'a Call) -> bool {
        match call.action() {
            Action::Run { command, description, .. } => {
                self.list.extend(description.map(Section::Description));
                self.code("sh", Cow::Borrowed(command));
                false
            }
            Action::Edit { replacements, .. } => {
                match patch(call) {
                    Some(patch) => self.code("diff", Cow::Owned(unified(patch))),
                    None => {
                        for edit in replacements {
                            let hunks = diff::hunks(&edit.old, &edit.new, 3);
                            self.code("diff", Cow::Owned(drawn(&hunks)));
                        }
                    }
                }
                true
            }
            Action::Write { path, content } => {
                match patch(call) {
                    Some(patch) => self.code("diff", Cow::Owned(unified(patch))),
                    None => self.code(language(path), Cow::Borrowed(content)),
                }
                true
            }
            Action::Delegate { prompt, .. } => {
                self.markdown(Cow::Borrowed(prompt));
                false
            }
            Action::Todos(todos) => {
                let mark = |status: TodoStatus| match status {
                    TodoStatus::Completed => "[x]",
                    TodoStatus::InProgress => "[~]",
                    TodoStatus::Pending => "[ ]",
                };
                let lines: Vec<String> = todos
                    .iter()
                    .map(|todo| format!("{} {}", mark(todo.status), todo.content))
                    .collect();
                self.code("", Cow::Owned(lines.join("\n")));
                true
            }
            Action::Ask(questions) => {
                let mut lines = Vec::new();
                for question in &questions {
                    lines.push(question.question.clone());
                    lines.extend(question.options.iter().map(|option| format!("  - {option}")));
                }
                self.code("", Cow::Owned(lines.join("\n")));
                false
            }
            Action::Plan(text) => {
                self.markdown(Cow::Borrowed(text));
                true
            }
            Action::NewTask { description: Some(text), .. }
            | Action::Tell { message: text, .. } => {
                self.markdown(Cow::Borrowed(text));
                true
            }
            Action::Fetch { prompt: Some(prompt), .. } => {
                self.markdown(Cow::Borrowed(prompt));
                false
            }
            Action::Other(pairs) if !pairs.is_empty() => {
                self.code("json", Cow::Owned(format!("{:#}", call.input)));
                false
            }
            _ => false,
        }
    }

    fn output(&mut self, call: &'a Call, result: &'a Outcome) {
        match &result.output {
            Some(ToolOutput::Read(read)) if result.whole.is_none() => match &read.content {
                ReadContent::Text { content, .. } => {
                    let path = match call.action() {
                        Action::Read { path } => path,
                        _ => read.file_path.as_deref().unwrap_or_default(),
                    };
                    self.code(language(path), Cow::Borrowed(content));
                }
                ReadContent::Image(_) | ReadContent::Pdf(_) => {}
                _ => self.code("", text::result_text(result)),
            },
            Some(ToolOutput::Agent(agent)) => {
                let said = plain_text(&agent.content);
                self.markdown(if said.is_empty() {
                    text::result_text(result)
                } else {
                    Cow::Owned(said)
                });
            }
            Some(ToolOutput::WebFetch(page)) => self.markdown(Cow::Borrowed(&page.result)),
            Some(ToolOutput::WebSearch(_)) => self.markdown(text::result_text(result)),
            Some(ToolOutput::Grep(grep)) if grep.content.is_none() => {
                self.code("", Cow::Owned(grep.filenames.join("\n")));
            }
            Some(ToolOutput::Glob(glob)) => self.code("", Cow::Owned(glob.filenames.join("\n"))),
            _ => self.code("", text::result_text(result)),
        }
    }

    fn code(&mut self, language: &'a str, text: Cow<'a, str>) {
        let (text, hidden) = self.cut(text);
        if !text.trim().is_empty() {
            self.list.push(Section::Code { language, text });
        }
        self.hidden(hidden);
    }

    fn markdown(&mut self, text: Cow<'a, str>) {
        let (text, hidden) = self.cut(text);
        if !text.trim().is_empty() {
            self.list.push(Section::Markdown(text));
        }
        self.hidden(hidden);
    }

    fn hidden(&mut self, lines: usize) {
        if lines > 0 {
            self.list.push(Section::Cut(lines));
        }
    }

    /// Keeps as much of a text as is shown; tells how many lines are not.
    fn cut(&self, text: Cow<'a, str>) -> (Cow<'a, str>, usize) {
        if self.config.tools == Tools::Full || text.len() <= BYTES && lines(&text) <= LINES + 2 {
            return (text, 0);
        }
        let mut end = memchr::memchr_iter(b'\n', text.as_bytes())
            .nth(LINES - 1)
            .unwrap_or(text.len())
            .min(BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let hidden = lines(&text[end..]).max(1);
        match text {
            Cow::Borrowed(text) => (Cow::Borrowed(&text[..end]), hidden),
            Cow::Owned(mut text) => {
                text.truncate(end);
                (Cow::Owned(text), hidden)
            }
        }
    }
}

fn lines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

fn patch(call: &Call) -> Option<&StructuredPatch> {
    let patch = match &call.result.as_ref()?.output {
        Some(ToolOutput::Edit(edit)) => &edit.patch,
        Some(ToolOutput::MultiEdit(edit)) => &edit.patch,
        Some(ToolOutput::Write(write)) => &write.patch,
        _ => return None,
    };
    (!patch.hunks.is_empty()).then_some(patch)
}

fn unified(patch: &StructuredPatch) -> String {
    let mut text = String::new();
    for hunk in &patch.hunks {
        let at = (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
        let _ = writeln!(text, "@@ -{},{} +{},{} @@", at.0, at.1, at.2, at.3);
        push_lines(&hunk.lines, &mut text);
    }
    text
}

fn drawn(hunks: &[Hunk]) -> String {
    let mut text = String::new();
    for hunk in hunks {
        push_lines(&hunk.lines, &mut text);
    }
    text
}

/// Adds lines, which have their signs.
fn push_lines(lines: &[String], text: &mut String) {
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns the end of a file's name, which forges take for a language.
fn language(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_word = ending.len() <= 12 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_word { ending } else { "" }
}
