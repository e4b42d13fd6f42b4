//! The files of a project at a message: the list, and how putting them back would change them.

use std::fmt::Write;

use ramus_core::edit::RestoredFile;
use ramus_core::files::file_path::path_below;
use ramus_core::files::restore::{LeftReason, RestoreAction};
use ramus_core::files::{ContentSource, FileContent, FileState, FilesAtMessage};
use ramus_core::time::Time;

use crate::diff::{DiffConfig, count_changes, diff_lines};
use crate::table::{Table, bytes, cell};
use crate::text::source_name;
use crate::{Label, Line};

/// Returns the moment in a line, and a table of its files with their sizes: the last lines, in order.
pub fn file_list(
    moment: &FilesAtMessage,
    files: &[(FileState, Option<u64>)],
    width: usize,
    short_time: &dyn Fn(Time) -> String,
) -> Vec<Line> {
    let mut table = Table::new(&["*FILE", "STATE", ">SIZE", "SOURCE", ">?VERSION", "?NOTE"]);
    for (file, size) in files {
        let (state, label) = match file.content {
            FileContent::Backup(_) | FileContent::Bytes(_) => ("file", Label::Plain),
            FileContent::Absent => ("absent", Label::Dim),
            FileContent::Unknown => ("unknown", Label::Warning),
        };
        let version = match &file.content {
            FileContent::Backup(backup) => format!("v{}", backup.version),
            _ => String::new(),
        };
        let source = match file.source {
            ContentSource::Nothing => "·",
            source => source_name(source.as_str()),
        };
        table.row(vec![
            cell(shown_path(&file.path, &moment.cwd), label),
            cell(state, label),
            cell(size.map(bytes).unwrap_or_else(|| "·".to_owned()), Label::Dim),
            cell(source, Label::Plain),
            cell(version, Label::Dim),
            cell(file.doubt_note(), Label::Note),
        ]);
    }
    let mut lines = vec![moment_line(moment, short_time), Line::default()];
    lines.extend(table.lines(width));
    lines
}

/// Names the message and whether it means before or after.
pub fn moment_line(moment: &FilesAtMessage, short_time: &dyn Fn(Time) -> String) -> Line {
    let mut line = Line::new(if moment.is_before { "Before " } else { "After " }, Label::Strong);
    line.push(moment.short_node.as_deref().unwrap_or("?"), Label::Id);
    if let Some(time) = moment.time {
        line.push(&format!("  {}", short_time(time)), Label::Time);
    }
    if let Some(words) = &moment.prompt_text {
        let first = words.lines().next().unwrap_or_default();
        line.push(&format!("  {first}"), Label::Prompt);
    }
    line
}

/// Returns a path relative to the project, if it is inside of it.
pub fn shown_path<'p>(path: &'p str, cwd: &str) -> &'p str {
    path_below(path, cwd).unwrap_or(path)
}

/// Describes what would happen to a file, and how it differs from the current one.
pub fn restored_lines(change: &RestoredFile, cwd: &str) -> Vec<Line> {
    let label = match change.action {
        RestoreAction::Create => Label::Added,
        RestoreAction::Replace => Label::Branch,
        RestoreAction::Delete => Label::Removed,
    };
    let mut line = Line::new(&format!("{:<8}", change.action.as_str()), label)
        .with(shown_path(&change.file.path, cwd), Label::Strong);
    let mut tail = String::new();
    if let (Some(now), Some(then)) = (&change.current_text, &change.restored_text) {
        let (added, removed) = count_changes(now, then);
        let _ = write!(tail, "  +{added} −{removed}");
    }
    let note = change.file.doubt_note();
    if !note.is_empty() {
        let _ = write!(tail, "  {note}");
    }
    line.push(&tail, Label::Note);
    let mut lines = vec![line];
    match (&change.current_text, &change.restored_text) {
        (Some(now), Some(then)) if change.action == RestoreAction::Replace => {
            lines.extend(diff_lines(now, then, &DiffConfig::default()));
        }
        (Some(_), Some(_)) => {}
        _ => lines.push(Line::new("        no text", Label::Note)),
    }
    lines
}

/// Explains why a file is skipped.
pub fn left_line(file: &FileState, why: LeftReason, cwd: &str) -> Line {
    let reason = match why {
        LeftReason::Unknown => "content unknown",
        LeftReason::Outside => "outside of the project (use --outside to include it)",
        LeftReason::Link => "it is a symbolic link, or behind one",
        LeftReason::NotAFile => "the path is not a regular file",
    };
    Line::new("leave   ", Label::Dim)
        .with(shown_path(&file.path, cwd), Label::Plain)
        .with(&format!("  {reason}"), Label::Note)
}
