//! Prepares a tool call for documents: a one-line summary, and its sections as code, Markdown and notes.

use std::borrow::Cow;
use std::fmt::Write as _;

use ramus_core::body::{Todo, TodoStatus, ToolOutput};
use ramus_core::turn::{ToolAction, ToolCall};
use serde_json::{Map, Value};

use super::{ExportConfig, ToolDetail};
use crate::diff::DiffHunk;
use crate::highlight::Highlight;
use crate::opened_call::{self, AnsweredQuestion, result_text};
use crate::text::{self, TextConfig};

/// How many lines and bytes of a text a brief transcript shows.
const MAX_LINES: usize = 40;
const MAX_BYTES: usize = 4_000;

/// A section of an opened call, as documents can draw it.
#[derive(Debug)]
pub enum DocumentSection<'a> {
    /// Verbatim text. The language is a name or a file extension.
    Code {
        language: &'a str,
        text: Cow<'a, str>,
    },
    Diff(CallDiff),
    Markdown(Cow<'a, str>),
    /// What went wrong.
    Error(Cow<'a, str>),
    /// What the user wrote when rejecting the call.
    Feedback(&'a str),
    /// The model's description of a command.
    Description(&'a str),
    /// This many lines were left out.
    LeftOut(usize),
}

/// Changes in a file.
#[derive(Debug)]
pub struct CallDiff {
    pub hunks: Vec<DiffHunk>,
    /// Whether the line numbers are those of the file.
    numbered: bool,
}

impl CallDiff {
    /// Returns the changes in unified format, shortened like every text, and how many lines were left out.
    pub(super) fn unified_text(&self, tools: ToolDetail) -> (String, usize) {
        let mut text = String::new();
        for hunk in &self.hunks {
            if self.numbered {
                let at = (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines);
                let _ = writeln!(text, "@@ -{},{} +{},{} @@", at.0, at.1, at.2, at.3);
            }
            for line in &hunk.lines {
                let _ = writeln!(text, "{line}");
            }
        }
        let (text, hidden) = cut_text(tools, text.into());
        (text.into_owned(), hidden)
    }
}

/// A call in one line: name, subject, outcome.
#[derive(Debug)]
pub struct CallSummary {
    pub name: String,
    pub subject: String,
    pub outcome: String,
    pub failed: bool,
}

/// Summarizes a call.
pub fn summarize_call(call: &ToolCall, config: &ExportConfig<'_>) -> CallSummary {
    let text = TextConfig {
        width: 120,
        thinking: false,
        tools: false,
        full: false,
        branch_notes: false,
        usage: None,
        highlight: Highlight::Off,
        show: "",
        cwd: config.cwd,
        running: &[],
        time: &|_| String::new(),
    };
    let (name, subject, outcome) = text::call_summary(call, &text);
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    CallSummary { name, subject, outcome, failed }
}

/// How many lines of a folded command's output are shown, and their maximum length.
const TAIL_LINES: usize = 3;
const TAIL_CHARS: usize = 160;

/// Returns the last lines of a command's output. `None`: the summary shows all of it.
pub(super) fn output_tail(call: &ToolCall) -> Option<String> {
    let ToolAction::Run { .. } = call.action() else { return None };
    let text = result_text(call.result.as_ref()?);
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

/// Whether a command is known to have ended normally.
pub(super) fn has_succeeded(call: &ToolCall) -> bool {
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
pub fn document_sections<'a>(
    call: &'a ToolCall,
    config: &ExportConfig<'_>,
) -> Vec<DocumentSection<'a>> {
    let mut document = SectionList { tools: config.tools, sections: Vec::new() };
    for section in opened_call::call_sections(call, config.tools == ToolDetail::Full) {
        document.push_section(section);
    }
    document.sections
}

struct SectionList<'a> {
    tools: ToolDetail,
    sections: Vec<DocumentSection<'a>>,
}

impl<'a> SectionList<'a> {
    fn push_section(&mut self, section: opened_call::CallSection<'a>) {
        use opened_call::CallSection as Opened;
        match section {
            Opened::Description(text) => self.sections.push(DocumentSection::Description(text)),
            Opened::Command(command) => self.push_code("sh", command.into()),
            Opened::Diff { hunks, .. } if hunks.is_empty() => {}
            Opened::Diff { hunks, numbered } => {
                self.sections.push(DocumentSection::Diff(CallDiff { hunks, numbered }));
            }
            Opened::File { path, text, .. } => self.push_code(file_extension(path), text),
            Opened::Message { markdown, .. } => self.push_markdown(markdown),
            Opened::Quote(text) => self.push_markdown(text.into()),
            Opened::Todos(todos) => self.push_code("", todo_list(&todos).into()),
            Opened::Questions(questions) => self.push_code("", question_list(&questions).into()),
            Opened::Inputs(pairs) => self.push_code("json", json_object(&pairs).into()),
            Opened::Output { text, .. } => self.push_code("", text),
            Opened::Error(text) => self.push_cut(text, DocumentSection::Error),
            Opened::Feedback(text) => self.sections.push(DocumentSection::Feedback(text)),
            // Documents show images below the sections.
            Opened::Media(_) => {}
        }
    }

    fn push_code(&mut self, language: &'a str, text: Cow<'a, str>) {
        self.push_cut(text, |text| DocumentSection::Code { language, text });
    }

    fn push_markdown(&mut self, text: Cow<'a, str>) {
        self.push_cut(text, DocumentSection::Markdown);
    }

    /// Adds a shortened text, and how many lines were left out.
    fn push_cut(
        &mut self,
        text: Cow<'a, str>,
        section: impl FnOnce(Cow<'a, str>) -> DocumentSection<'a>,
    ) {
        let (text, hidden) = cut_text(self.tools, text);
        if !text.trim().is_empty() {
            self.sections.push(section(text));
        }
        if hidden > 0 {
            self.sections.push(DocumentSection::LeftOut(hidden));
        }
    }
}

/// Returns a shortened text, and how many lines were left out.
fn cut_text(tools: ToolDetail, text: Cow<'_, str>) -> (Cow<'_, str>, usize) {
    if tools == ToolDetail::Full
        || text.len() <= MAX_BYTES && count_newlines(&text) <= MAX_LINES + 2
    {
        return (text, 0);
    }
    let mut end = memchr::memchr_iter(b'\n', text.as_bytes())
        .nth(MAX_LINES - 1)
        .unwrap_or(text.len())
        .min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let hidden = count_newlines(&text[end..]).max(1);
    match text {
        Cow::Borrowed(text) => (Cow::Borrowed(&text[..end]), hidden),
        Cow::Owned(mut text) => {
            text.truncate(end);
            (Cow::Owned(text), hidden)
        }
    }
}

fn count_newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

fn todo_list(todos: &[Todo]) -> String {
    let mark = |status: TodoStatus| match status {
        TodoStatus::Completed => "[x]",
        TodoStatus::InProgress => "[~]",
        TodoStatus::Pending => "[ ]",
    };
    let lines: Vec<String> =
        todos.iter().map(|todo| format!("{} {}", mark(todo.status), todo.content)).collect();
    lines.join("\n")
}

fn question_list(questions: &[AnsweredQuestion]) -> String {
    let mut lines = Vec::new();
    for asked in questions {
        lines.push(asked.question.question.clone());
        for option in &asked.question.options {
            let mark = if asked.is_chosen(option) { "(x)" } else { "( )" };
            lines.push(format!("  {mark} {option}"));
        }
        lines.extend(asked.own_words().map(|answer| format!("  > {answer}")));
    }
    lines.join("\n")
}

fn json_object(pairs: &[(&str, &Value)]) -> String {
    let object: Map<String, Value> =
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect();
    format!("{:#}", Value::Object(object))
}

/// Returns the extension of a file name, which code hosts accept as a language.
fn file_extension(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_word = ending.len() <= 12 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_word { ending } else { "" }
}
