//! Summarizes the outcome of a tool call in a few words.

use ramus_core::body::{
    ContentBlock, ReadContent, StructuredPatch, ToolOutput, WebFinding, WriteKind,
};
use ramus_core::turn::{ToolAction, ToolCall, ToolOutcome};
use ramus_core::usage::agent_usage;

use super::{TextConfig, amounts, tool_call::first_line};
use crate::diff;
use crate::opened_call::result_text;
use crate::span::{Label, Line};

/// Returns the outcome of a call.
pub(super) fn outcome_line(call: &ToolCall, config: &TextConfig<'_>) -> Line {
    let Some(result) = &call.result else { return missing_result_line(call, config) };
    if result.is_error {
        let text = result_text(result);
        let reason = match &result.feedback {
            Some(feedback) => format!("rejected: {}", first_line(feedback)),
            None if text.starts_with("The user doesn't want to") => "rejected".to_owned(),
            None => error_line(&text),
        };
        return Line::new(&format!("× {reason}"), Label::Error);
    }
    if let Some((added, removed)) = line_changes(call, result) {
        return Line::new(&format!("+{added}"), Label::Added)
            .with(" ", Label::Plain)
            .with(&format!("−{removed}"), Label::Removed);
    }
    let mut line = Line::default();
    if let Some(agent) = &call.agent {
        line.push(&format!("agent-{agent} "), Label::Id);
    }
    let words = outcome_words(call, result);
    if !words.is_empty() {
        line.push("→ ", Label::Dim);
        line.push(&words, Label::Dim);
    }
    line
}

fn missing_result_line(call: &ToolCall, config: &TextConfig<'_>) -> Line {
    let running = config.running.iter().find(|running| running.id == call.id);
    if running.is_none() && !call.running {
        return Line::new("no result", Label::Warning);
    }
    let mut line = Line::new("running", Label::Active);
    if let Some(millis) = running.and_then(|running| running.millis) {
        line.push(&format!(" {}", amounts::format_duration(millis)), Label::Time);
    }
    line
}

/// Returns the lines that an edit added and removed.
fn line_changes(call: &ToolCall, result: &ToolOutcome) -> Option<(usize, usize)> {
    let counted = |patch: &StructuredPatch| {
        (!patch.hunks.is_empty()).then(|| (patch.added_lines(), patch.removed_lines()))
    };
    let patched = match &result.output {
        Some(ToolOutput::Edit(edit)) => counted(&edit.patch),
        Some(ToolOutput::MultiEdit(edit)) => counted(&edit.patch),
        Some(ToolOutput::Write(write)) => counted(&write.patch),
        _ => None,
    };
    patched.or_else(|| match call.action() {
        ToolAction::Edit { replacements, .. } => {
            let stats = replacements.iter().map(|edit| diff::count_changes(&edit.old, &edit.new));
            Some(stats.fold((0, 0), |sum, stat| (sum.0 + stat.0, sum.1 + stat.1)))
        }
        _ => None,
    })
}

fn outcome_words(call: &ToolCall, result: &ToolOutcome) -> String {
    let Some(output) = &result.output else {
        return output_amount(&result_text(result), result);
    };
    match output {
        ToolOutput::Bash(bash) => {
            let mut words = vec![match &bash.background_task_id {
                Some(id) => format!("in the background as {id}"),
                None if bash.is_image => "[image]".to_owned(),
                None => output_amount(&result_text(result), result),
            }];
            words.extend(bash.interrupted.then(|| "interrupted".to_owned()));
            words.extend(
                bash.timed_out_after_ms
                    .map(|ms| format!("timed out after {}", amounts::format_duration(ms))),
            );
            words.extend(bash.return_code_interpretation.clone());
            words.join(", ")
        }
        ToolOutput::Read(read) => match &read.content {
            ReadContent::Text { num_lines, total_lines, .. } if num_lines < total_lines => {
                let lines = amounts::count_noun(*total_lines as usize, "line");
                format!("{} of {lines}", amounts::grouped_digits(*num_lines))
            }
            ReadContent::Text { num_lines, .. } => amounts::count_noun(*num_lines as usize, "line"),
            ReadContent::Image(media) | ReadContent::Pdf(media) => amounts::media_label(media),
            ReadContent::Notebook { cells } => amounts::count_noun(cells.len(), "cell"),
            ReadContent::Unchanged => "unchanged".to_owned(),
            ReadContent::Other { kind, .. } => kind.clone(),
        },
        ToolOutput::Write(write) => {
            let lines = amounts::count_noun(write.content.lines().count(), "line");
            if write.kind == WriteKind::Create { format!("new, {lines}") } else { lines }
        }
        ToolOutput::Glob(glob) => amounts::count_noun(glob.num_files as usize, "file"),
        ToolOutput::Grep(grep) => match (grep.num_matches, grep.num_lines) {
            (Some(matches), _) => amounts::count_noun(matches as usize, "hit"),
            (_, Some(lines)) => amounts::count_noun(lines as usize, "line"),
            _ => amounts::count_noun(grep.num_files as usize, "file"),
        },
        ToolOutput::Agent(agent) => {
            let mut words = Vec::new();
            words.extend(agent.is_async.then(|| "in the background".to_owned()));
            words.extend(agent.was_interrupted.then(|| "interrupted".to_owned()));
            words.extend(
                agent.total_tool_use_count.map(|n| amounts::count_noun(n as usize, "tool")),
            );
            let used = agent_usage(call);
            words
                .extend(used.map(|used| format!("{} tokens", amounts::format_tokens(used.tokens))));
            words.extend(agent.total_duration_ms.map(amounts::format_duration));
            words.join(", ")
        }
        ToolOutput::WebFetch(page) => {
            format!("{} {}, {}", page.code, page.code_text, amounts::format_bytes(page.bytes))
        }
        ToolOutput::WebSearch(found) => {
            let hits = found.results.iter().map(|finding| match finding {
                WebFinding::Hits(hits) => hits.len(),
                WebFinding::Text(_) => 0,
            });
            amounts::count_noun(hits.sum(), "result")
        }
        ToolOutput::ToolSearch(found) => found.matches.join(", "),
        ToolOutput::AskUserQuestion(asked) => {
            asked.answers.iter().map(|(_, answer)| answer.as_str()).collect::<Vec<_>>().join("; ")
        }
        ToolOutput::TodoWrite { .. } => String::new(),
        ToolOutput::ExitPlanMode(_) => "approved".to_owned(),
        ToolOutput::TaskUpdate(update) => match &update.status_change {
            Some(change) => format!("{} → {}", change.from, change.to),
            None => update.updated_fields.join(", "),
        },
        ToolOutput::TaskCreate(task) => format!("#{}", task.id),
        ToolOutput::SendMessage { message, .. } => first_line(message),
        ToolOutput::TaskList(tasks) => amounts::count_noun(tasks.len(), "task"),
        _ => output_amount(&result_text(result), result),
    }
}

/// Returns the text itself if it is one line, otherwise its number of lines.
fn output_amount(text: &str, result: &ToolOutcome) -> String {
    let media = result.content.iter().find_map(|block| match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
        _ => None,
    });
    let spilled = if result.spilled_path.is_some() { " in a separate file" } else { "" };
    // An output of only colour codes counts as empty.
    let text = crate::sanitize::sanitize_text(text);
    let text = text.trim_end();
    match text.lines().count() {
        0 => media.map_or("no output".to_owned(), amounts::media_label),
        1 if spilled.is_empty() => text.trim().to_owned(),
        lines => amounts::count_noun(lines, "line") + spilled,
    }
}

/// Returns the first line of an error, with the next one if the first only has the exit code.
fn error_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    match lines.find(|line| !line.trim().is_empty()) {
        Some(next) if first.starts_with("Exit code") => format!("{first}: {}", next.trim()),
        _ => first.to_owned(),
    }
}
