//! Writes a tool call in one line: its subject and its outcome.

use ramus_core::body::{TodoStatus, ToolOutput};
use ramus_core::turn::{Action, Call};
use serde_json::Value;

use super::page::Page;
use super::{TextConfig, open, outcome::outcome};
use crate::highlight::Highlight;
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// Writes a call, with its details if tools are opened.
pub(super) fn write(page: &mut Page<'_, '_>, call: &Call) {
    let row = row(call, page.config);
    page.row(&row);
    if page.config.tools {
        let lines = open::lines(call, page.config, page.room(6));
        page.below(&lines, &Line::new("    │ ", Label::Dim));
    }
}

fn row(call: &Call, config: &TextConfig<'_>) -> Line {
    let failed = call.result.as_ref().is_some_and(|result| result.is_error);
    let mut left = Line::new("  • ", if failed { Label::Error } else { Label::ToolName });
    left.push(&name(call), Label::ToolName);
    let subject = subject(call, config);
    if !subject.is_empty() {
        left.push(" ", Label::Plain);
        left.push(&subject, Label::Tool);
    }
    let right = layout::truncate(&outcome(call), (config.width * 3 / 5).max(12));
    let room = config.width.saturating_sub(right.width() + 2).max(12);
    let mut row = layout::truncate(&left, room);
    if !right.is_empty() {
        row.push("  ", Label::Plain);
        row.append(&right);
    }
    row
}

pub(super) fn name(call: &Call) -> String {
    match call.name.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, tool)) => format!("{server}:{tool}"),
        None if call.name.is_empty() => "result".to_owned(),
        None => call.name.clone(),
    }
}

/// Returns the subject of a call in a few words.
pub(super) fn subject(call: &Call, config: &TextConfig<'_>) -> String {
    let path = |path| ending(below(path, config.cwd), config.width.saturating_sub(32).max(16));
    let quoted = |pattern: &str, place: Option<&str>| match place {
        Some(place) => format!("\"{pattern}\" in {}", below(place, config.cwd)),
        None => format!("\"{pattern}\""),
    };
    match call.action() {
        Action::Run { command, .. } => first_line(command),
        Action::Read { path: file }
        | Action::Write { path: file, .. }
        | Action::Edit { path: file, .. } => path(file),
        Action::Grep { pattern, place } => quoted(pattern, place),
        Action::Glob { pattern, place: Some(place) } => format!("{pattern} in {}", path(place)),
        Action::Glob { pattern, .. } => pattern.to_owned(),
        Action::Delegate { description, prompt, agent_type } => {
            let words = first_line(if description.is_empty() { prompt } else { description });
            match agent_type {
                Some(agent_type) => format!("{agent_type} “{words}”"),
                None => format!("“{words}”"),
            }
        }
        Action::Todos(todos) => {
            let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
            let now = todos.iter().find(|todo| todo.status == TodoStatus::InProgress);
            let now = now.map(|todo| format!(": {}", todo.content)).unwrap_or_default();
            format!("{done} of {} done{now}", todos.len())
        }
        Action::Fetch { url, .. } => url.to_owned(),
        Action::Search { query } => quoted(query, None),
        Action::Ask(questions) => {
            questions.first().map(|first| first_line(&first.question)).unwrap_or_default()
        }
        Action::Plan(plan) => plan_title(plan),
        Action::Skill { name, args } => match args {
            Some(args) => format!("{name} {}", first_line(args)),
            None => name.to_owned(),
        },
        Action::NewTask { subject, .. } => first_line(subject),
        Action::ChangeTask { id, .. } => format!("#{id}"),
        Action::Tell { to, summary, message } => {
            format!("{to}: {}", first_line(summary.unwrap_or(message)))
        }
        Action::Other(pairs) => match call.result.as_ref().map(|result| &result.output) {
            Some(Some(ToolOutput::ExitPlanMode(plan))) => {
                plan.plan.as_deref().map(plan_title).unwrap_or_default()
            }
            _ => inputs(&pairs),
        },
    }
}

/// Returns the first line of a plan without Markdown syntax.
fn plan_title(plan: &str) -> String {
    let first = plan.trim().lines().next().unwrap_or_default();
    let line =
        markdown::lines(first, usize::MAX, Highlight::Off).into_iter().next().unwrap_or_default();
    let more = if plan.trim().lines().nth(1).is_some() { " …" } else { "" };
    format!("{}{more}", line.text().trim_start_matches(['#', ' ']))
}

fn inputs(pairs: &[(&str, &Value)]) -> String {
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
fn ending(path: &str, room: usize) -> String {
    if layout::width(path) <= room {
        return path.to_owned();
    }
    let parts = path.match_indices(['/', '\\']).map(|(at, _)| &path[at..]);
    let fits = |part: &&str| layout::width(part) < room;
    parts.into_iter().find(fits).map_or(path.to_owned(), |part| format!("…{part}"))
}

/// Returns the path relative to a directory.
pub(crate) fn below<'p>(path: &'p str, cwd: &str) -> &'p str {
    let rest = if cwd.is_empty() { None } else { path.strip_prefix(cwd) };
    match rest {
        Some("") => ".",
        Some(rest) => rest.strip_prefix(['/', '\\']).unwrap_or(path),
        None => path,
    }
}
