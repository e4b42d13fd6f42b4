//! Writes a tool call in one line: its subject and its outcome.

use ramus_core::body::{TodoStatus, ToolOutput};
use ramus_core::turn::{ToolAction, ToolCall};
use serde_json::Value;

use super::line_writer::LineWriter;
use super::{TextConfig, call_details, outcome::outcome_line};
use crate::highlight::Highlight;
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// Writes a call, with its details if tools are opened.
pub(super) fn write_call(page: &mut LineWriter<'_, '_>, call: &ToolCall) {
    let row = call_row(call, page.config);
    page.write_row(&row);
    if page.config.tools {
        let (config, width) = (page.config, page.text_width(6));
        let margin = Line::new("    │ ", Label::Dim);
        call_details::write_details(call, config, width, &mut |line| {
            page.write_line_below(&line, &margin);
        });
    }
}

fn call_row(call: &ToolCall, config: &TextConfig<'_>) -> Line {
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    let mut left = Line::new("  • ", if failed { Label::Error } else { Label::ToolName });
    left.push(&tool_name(call), Label::ToolName);
    let subject = call_subject(call, config);
    if !subject.is_empty() {
        left.push(" ", Label::Plain);
        left.push(&subject, Label::Tool);
    }
    let right = layout::truncate_line(&outcome_line(call, config), (config.width * 3 / 5).max(12));
    let room = config.width.saturating_sub(right.width() + 2).max(12);
    let mut row = layout::truncate_line(&left, room);
    if !right.is_empty() {
        row.push("  ", Label::Plain);
        row.append(&right);
    }
    row
}

pub(super) fn tool_name(call: &ToolCall) -> String {
    match call.name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => format!("{server}:{tool}"),
        None if call.name.is_empty() => "result".to_owned(),
        None => call.name.clone(),
    }
}

/// Returns the subject of a call in a few words.
pub(super) fn call_subject(call: &ToolCall, config: &TextConfig<'_>) -> String {
    let path = |path| {
        path_ending(relative_path(path, config.cwd), config.width.saturating_sub(32).max(16))
    };
    let quoted = |pattern: &str, place: Option<&str>| match place {
        Some(place) => format!("\"{pattern}\" in {}", relative_path(place, config.cwd)),
        None => format!("\"{pattern}\""),
    };
    match call.action() {
        ToolAction::Run { command, .. } => first_line(command),
        ToolAction::Read { path: file }
        | ToolAction::Write { path: file, .. }
        | ToolAction::Edit { path: file, .. } => path(file),
        ToolAction::Grep { pattern, scope: place } => quoted(pattern, place),
        ToolAction::Glob { pattern, scope: Some(place) } => format!("{pattern} in {}", path(place)),
        ToolAction::Glob { pattern, .. } => pattern.to_owned(),
        ToolAction::Delegate { description, prompt, agent_type } => {
            let words = first_line(if description.is_empty() { prompt } else { description });
            match agent_type {
                Some(agent_type) => format!("{agent_type} “{words}”"),
                None => format!("“{words}”"),
            }
        }
        ToolAction::Todos(todos) => {
            let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
            let now = todos.iter().find(|todo| todo.status == TodoStatus::InProgress);
            let now = now.map(|todo| format!(": {}", todo.content)).unwrap_or_default();
            format!("{done} of {} done{now}", todos.len())
        }
        ToolAction::Fetch { url, .. } => url.to_owned(),
        ToolAction::Search { query } => quoted(query, None),
        ToolAction::Ask(questions) => {
            questions.first().map(|first| first_line(&first.question)).unwrap_or_default()
        }
        ToolAction::Plan(plan) => plan_title(plan),
        ToolAction::Skill { name, args } => match args {
            Some(args) => format!("{name} {}", first_line(args)),
            None => name.to_owned(),
        },
        ToolAction::NewTask { subject, .. } => first_line(subject),
        ToolAction::ChangeTask { id, .. } => format!("#{id}"),
        ToolAction::SendMessage { to, summary, message } => {
            format!("{to}: {}", first_line(summary.unwrap_or(message)))
        }
        ToolAction::Other(pairs) => match call.result.as_ref().map(|result| &result.output) {
            Some(Some(ToolOutput::ExitPlanMode(plan))) => {
                plan.plan.as_deref().map(plan_title).unwrap_or_default()
            }
            _ => input_words(&pairs),
        },
    }
}

/// Returns the first line of a plan without Markdown syntax.
fn plan_title(plan: &str) -> String {
    let first = plan.trim().lines().next().unwrap_or_default();
    let line = markdown::markdown_lines(first, usize::MAX, Highlight::Off)
        .into_iter()
        .next()
        .unwrap_or_default();
    let more = if plan.trim().lines().nth(1).is_some() { " …" } else { "" };
    format!("{}{more}", line.to_text().trim_start_matches(['#', ' ']))
}

fn input_words(pairs: &[(&str, &Value)]) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => first_line(text),
        other => other.to_string(),
    };
    match pairs {
        [(_, value)] => text(value),
        _ => {
            let pair = |(key, value): &(&str, &Value)| format!("{key}: {}", text(value));
            pairs.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Returns the first line, with `…` if there are more.
pub(crate) fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { first + " …" } else { first }
}

/// Returns the end of a path, which is more useful than its start, in at most `room` columns.
fn path_ending(path: &str, room: usize) -> String {
    if layout::display_width(path) <= room {
        return path.to_owned();
    }
    let parts = path.match_indices(['/', '\\']).map(|(at, _)| &path[at..]);
    let fits = |part: &&str| layout::display_width(part) < room;
    parts.into_iter().find(fits).map_or(path.to_owned(), |part| format!("…{part}"))
}

/// Returns the path relative to a directory.
pub(crate) fn relative_path<'p>(path: &'p str, cwd: &str) -> &'p str {
    let rest = if cwd.is_empty() { None } else { path.strip_prefix(cwd) };
    match rest {
        Some("") => ".",
        Some(rest) => rest.strip_prefix(['/', '\\']).unwrap_or(path),
        None => path,
    }
}
