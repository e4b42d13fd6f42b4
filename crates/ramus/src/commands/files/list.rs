//! The list of files at a moment.

use ramus_core::files::place::below;
use ramus_core::files::{Doubt, FileState, Held, Source};
use ramus_core::name::short_id;
use ramus_render::{Label, Line};

use super::point::Point;
use crate::env::Clock;
use crate::table::{Table, bytes, cell};

/// Returns the moment in a line, and a table of its files.
pub(super) fn lines(point: &mut Point, width: usize, clock: &Clock) -> Vec<Line> {
    let mut table = Table::new(&["*FILE", "STATE", ">SIZE", "SOURCE", ">?VERSION", "?NOTE"]);
    for file in point.files.clone() {
        let (state, label) = match file.held {
            Held::Backup(_) | Held::Bytes(_) => ("file", Label::Plain),
            Held::Absent => ("not there", Label::Dim),
            Held::Unknown => ("unknown", Label::Warning),
        };
        let version = match &file.held {
            Held::Backup(backup) => format!("v{}", backup.version),
            _ => String::new(),
        };
        let source = if file.source == Source::Nothing { "·" } else { file.source.word() };
        let size = point.size(&file).map(bytes).unwrap_or_else(|| "·".to_owned());
        table.row(vec![
            cell(shown(&file.path, &point.cwd), label),
            cell(state, label),
            cell(size, Label::Dim),
            cell(source, Label::Plain),
            cell(version, Label::Dim),
            cell(note(&file), Label::Note),
        ]);
    }
    let mut lines = vec![heading(point, clock), Line::default()];
    lines.extend(table.lines(width));
    lines
}

/// Returns a path from the project on, if it lies in it.
pub(super) fn shown<'p>(path: &'p str, cwd: &str) -> &'p str {
    below(path, cwd).unwrap_or(path)
}

/// Says which moment is meant.
pub(super) fn heading(point: &Point, clock: &Clock) -> Line {
    let id = point.node.as_deref().unwrap_or("?");
    let mut line = Line::new(if point.is_before { "Before " } else { "After " }, Label::Strong);
    line.push(short_id(id), Label::Id);
    if let Some(time) = point.time {
        line.push(&format!("  {}", clock.short(time)), Label::Time);
    }
    if let Some(words) = &point.words {
        let first = words.lines().next().unwrap_or_default();
        line.push(&format!("  {first}"), Label::Prompt);
    }
    line
}

/// Says what keeps an answer from being sure; empty if nothing does.
pub(super) fn note(file: &FileState) -> String {
    match &file.doubt {
        None if file.source == Source::Next => "as the next prompt found it".to_owned(),
        Some(Doubt::Ran(_)) if file.source == Source::Next => {
            "commands ran; as the next prompt found it".to_owned()
        }
        None => String::new(),
        Some(Doubt::Ran(1)) => "a command ran in between".to_owned(),
        Some(Doubt::Ran(n)) => format!("{n} commands ran in between"),
        Some(Doubt::Outside) => "changed by someone else".to_owned(),
        Some(Doubt::LateBackup(_)) => "its backup holds the first edit".to_owned(),
        Some(Doubt::BackupGone) => "its backup is gone".to_owned(),
        Some(Doubt::Unseen) => "edited, but never shown whole".to_owned(),
    }
}
