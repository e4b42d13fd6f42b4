//! Compares files as of two messages.

use std::collections::BTreeSet;

use ramus_core::files::file_path::path_in_tree;
use ramus_core::files::{ContentSource, FileContent, FileState};
use ramus_render::diff::{DiffConfig, count_changes, diff_lines, unified_diff};
use ramus_render::files::{moment_line, shown_path};
use ramus_render::json::{self, Answer};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};

use super::{FilesArgs, Point, find_named_file};
use crate::env::LocalClock;
use crate::error::CommandError;
use crate::table::{Table, bytes, cell};
use crate::ui::Ui;

/// One file at two moments.
struct FileComparison {
    path: String,
    files: [FileState; 2],
    contents: [ComparedContent; 2],
}

/// What can be compared.
#[derive(PartialEq)]
enum ComparedContent {
    /// A file that did not exist counts as an empty text.
    Text(String),
    /// Not text, or too large to compare as text.
    Binary(Option<Vec<u8>>, u64),
    Unknown,
}

pub(super) fn show_difference(
    ui: &mut Ui,
    args: &FilesArgs,
    a: &mut Point,
    b: &mut Point,
) -> Result<(), CommandError> {
    let pairs = compare_files(args.path.as_deref(), a, b)?;
    if ui.json {
        let files = pairs.iter().map(|pair| to_json(pair, a, b)).collect();
        let body = json::FilesDiff {
            a: json::files_point(&a.session, &a.moment),
            b: json::files_point(&b.session, &b.moment),
            files,
        };
        return ui.print_json(&Answer::new("ramus.files.diff/1", body));
    }
    let changed: Vec<&FileComparison> =
        pairs.iter().filter(|pair| pair.has_changed() != Some(false)).collect();
    if changed.is_empty() {
        ui.print_message(&Line::plain("No differences."));
        return Ok(());
    }
    if args.stat {
        ui.start_pager();
        for line in stat_table(&changed, &a.moment.cwd).lines(ui.width) {
            ui.print_line(&line)?;
        }
        return Ok(());
    }
    if !ui.terminal {
        return changed
            .iter()
            .try_for_each(|pair| write_patch(ui, pair, [&a.moment.cwd, &b.moment.cwd]));
    }
    ui.start_pager();
    for line in difference_lines(&changed, [a, b], ui.width) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Returns how files changed between two moments, or one of them by its path.
pub(crate) fn changed_lines(
    only: Option<&str>,
    a: &mut Point,
    b: &mut Point,
) -> Result<Vec<Line>, CommandError> {
    let pairs = compare_files(only, a, b)?;
    let changed: Vec<&FileComparison> =
        pairs.iter().filter(|pair| pair.has_changed() != Some(false)).collect();
    if changed.is_empty() {
        return Ok(vec![Line::plain("No differences.")]);
    }
    Ok(difference_lines(&changed, [a, b], usize::MAX))
}

fn difference_lines(changed: &[&FileComparison], [a, b]: [&Point; 2], width: usize) -> Vec<Line> {
    let clock = LocalClock::new();
    let mut lines = Vec::new();
    for (sign, label, point) in [("A  ", Label::Removed, a), ("B  ", Label::Added, b)] {
        let mut line = Line::new(sign, label);
        line.append(&moment_line(&point.moment, &|time| clock.short_time(time)));
        lines.push(truncate_line(&line, width));
    }
    for pair in changed {
        lines.push(Line::default());
        lines.extend(pair.diff_lines(&a.moment.cwd));
    }
    lines
}

/// Pairs the files of both moments; a file that one of them does not know was not changed there.
fn compare_files(
    only: Option<&str>,
    a: &mut Point,
    b: &mut Point,
) -> Result<Vec<FileComparison>, CommandError> {
    let wanted = match only {
        Some(path) => Some(find_named_file(a, path).or_else(|_| find_named_file(b, path))?.path),
        None => None,
    };
    let changed = |file: &&FileState| !file.only_read;
    let own = |point: &Point| {
        point.files.iter().filter(changed).map(|file| file.path.clone()).collect::<BTreeSet<_>>()
    };
    let mut paths: BTreeSet<String> = own(a).union(&own(b)).cloned().collect();
    if let Some(wanted) = wanted {
        paths = BTreeSet::from([wanted]);
    }
    let pair = |path: String| {
        let find = |point: &Point| point.files.iter().find(|file| file.path == path).cloned();
        let unknown = || FileState {
            path: path.clone(),
            content: FileContent::Unknown,
            source: ContentSource::Nothing,
            doubt: None,
            only_read: false,
        };
        let files = [find(a).unwrap_or_else(unknown), find(b).unwrap_or_else(unknown)];
        let contents = [text_content(a, &files[0]), text_content(b, &files[1])];
        FileComparison { path, files, contents }
    };
    Ok(paths.into_iter().map(pair).collect())
}

fn text_content(point: &mut Point, file: &FileState) -> ComparedContent {
    match &file.content {
        FileContent::Unknown => ComparedContent::Unknown,
        FileContent::Absent => ComparedContent::Text(String::new()),
        FileContent::Backup(_) | FileContent::Bytes(_) => {
            let size = point.file_size(file).unwrap_or(0);
            match point.file_bytes(file).map(String::from_utf8) {
                Some(Ok(text)) if !text.contains('\0') => ComparedContent::Text(text),
                Some(Ok(text)) => ComparedContent::Binary(Some(text.into_bytes()), size),
                Some(Err(error)) => ComparedContent::Binary(Some(error.into_bytes()), size),
                None => ComparedContent::Binary(None, size),
            }
        }
    }
}

impl FileComparison {
    /// `None`: one of them is not known.
    fn has_changed(&self) -> Option<bool> {
        let [a, b] = &self.files;
        match &self.contents {
            [ComparedContent::Unknown, _] | [_, ComparedContent::Unknown] => None,
            [ComparedContent::Binary(None, _), _] | [_, ComparedContent::Binary(None, _)] => {
                Some(a.content != b.content)
            }
            [x, y] => Some(
                x != y || (a.content == FileContent::Absent) != (b.content == FileContent::Absent),
            ),
        }
    }

    fn both_texts(&self) -> Option<(&str, &str)> {
        match &self.contents {
            [ComparedContent::Text(a), ComparedContent::Text(b)] => Some((a, b)),
            _ => None,
        }
    }

    /// What happened to the file, in a word or two.
    fn change_label(&self) -> &'static str {
        match [&self.files[0].content, &self.files[1].content] {
            [FileContent::Unknown, FileContent::Unknown] => "unknown on both sides",
            [FileContent::Unknown, _] => "unknown on A",
            [_, FileContent::Unknown] => "unknown on B",
            [FileContent::Absent, _] => "new",
            [_, FileContent::Absent] => "deleted",
            _ if self.both_texts().is_none() => "binary",
            _ => "",
        }
    }

    fn diff_lines(&self, cwd: &str) -> Vec<Line> {
        let mut title = Line::new(shown_path(&self.path, cwd), Label::Strong);
        if !self.change_label().is_empty() {
            title.push(&format!("  {}", self.change_label()), Label::Note);
        }
        for (letter, file) in ["A", "B"].iter().zip(&self.files) {
            let note = file.doubt_note();
            if !note.is_empty() {
                title.push(&format!("  {letter}: {note}"), Label::Note);
            }
        }
        let mut lines = vec![title];
        if let Some((a, b)) = self.both_texts() {
            lines.extend(diff_lines(a, b, &DiffConfig::default()));
        }
        lines
    }
}

/// Writes a difference as programs read it.
fn write_patch(ui: &mut Ui, pair: &FileComparison, cwds: [&str; 2]) -> Result<(), CommandError> {
    let name = |side: usize, sign: &str| match pair.files[side].content {
        FileContent::Absent => "/dev/null".to_owned(),
        _ => format!("{sign}/{}", path_in_tree(&pair.path, cwds[side])),
    };
    let (a, b) = (name(0, "a"), name(1, "b"));
    match pair.both_texts() {
        Some(("", "")) => {
            let word = pair.change_label();
            writeln!(
                ui.output_writer(),
                "Empty file {} is {word}",
                path_in_tree(&pair.path, cwds[0])
            )?;
        }
        Some((old, new)) => {
            ui.output_writer().write_all(unified_diff(old, new, (&a, &b)).as_bytes())?;
        }
        None if pair.has_changed().is_none() => {
            let name = path_in_tree(&pair.path, cwds[0]);
            ui.print_message(&Line::plain(&format!("{name} is {}", pair.change_label())));
        }
        None => writeln!(ui.output_writer(), "Binary files {a} and {b} differ")?,
    }
    Ok(())
}

fn stat_table(pairs: &[&FileComparison], cwd: &str) -> Table {
    let mut table = Table::new(&["*FILE", ">ADDED", ">REMOVED", "NOTE"]);
    for pair in pairs {
        let (added, removed) = match pair.both_texts().map(|(a, b)| count_changes(a, b)) {
            Some((added, removed)) => (format!("+{added}"), format!("−{removed}")),
            None => ("·".to_owned(), "·".to_owned()),
        };
        let sizes = match &pair.contents {
            [ComparedContent::Binary(_, a), ComparedContent::Binary(_, b)] => {
                format!("binary, {} → {}", bytes(*a), bytes(*b))
            }
            _ => pair.change_label().to_owned(),
        };
        table.row(vec![
            cell(shown_path(&pair.path, cwd), Label::Plain),
            cell(added, Label::Added),
            cell(removed, Label::Removed),
            cell(sizes, Label::Note),
        ]);
    }
    table
}

fn to_json(pair: &FileComparison, a: &mut Point, b: &mut Point) -> json::FileDiff {
    let name = path_in_tree(&pair.path, &a.moment.cwd);
    let lines = pair.both_texts().map(|(old, new)| count_changes(old, new));
    let names = (format!("a/{name}"), format!("b/{name}"));
    json::FileDiff {
        path: pair.path.clone(),
        a: json::from_file_state(&pair.files[0], a.file_size(&pair.files[0])),
        b: json::from_file_state(&pair.files[1], b.file_size(&pair.files[1])),
        differs: pair.has_changed(),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        diff: pair.both_texts().map(|(old, new)| unified_diff(old, new, (&names.0, &names.1))),
    }
}
