//! The files of a moment, put back where they were.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ramus_core::files::restore::{Change, How, Why, restore};
use ramus_core::files::{FileState, Held};
use ramus_render::diff::{DiffConfig, diff, stat};
use ramus_render::{Label, Line};
use ramus_store::on_disk::{on_disk, text_at};
use ramus_store::plan::{Content, FileBack, restore_files};

use super::list::{note, shown};
use super::{FilesArgs, Point, one};
use crate::error::CommandError;
use crate::perform::{Proposal, WriteArgs, perform};
use crate::ui::Ui;

/// What a new file may be done with, where no backup tells.
const USUAL: u32 = 0o644;

pub(super) fn put_back(
    ui: &mut Ui,
    args: &FilesArgs,
    point: &mut Point,
) -> Result<(), CommandError> {
    let cwd = PathBuf::from(&point.cwd);
    if !cwd.is_dir() {
        return Err(CommandError::user(format!(
            "the session ran in {}, which is not here",
            point.cwd
        ))
        .hinted("`--into DIR` writes the files out anywhere"));
    }
    let files: Vec<FileState> = match &args.path {
        Some(path) => vec![one(point, path)?],
        None => point.files.iter().filter(|file| !file.only_read).cloned().collect(),
    };
    let backups = point.backups.clone();
    let mut look = |file: &FileState| on_disk(file, &cwd, &backups);
    let wanted = restore(&files, &point.cwd, args.outside, &mut look);
    let mut lines = Vec::new();
    let mut back = Vec::new();
    for change in &wanted.changes {
        lines.extend(described(point, change));
        let content = content(point, change);
        back.push(FileBack { path: PathBuf::from(&change.file.path), content });
    }
    for (file, why) in &wanted.left {
        let line =
            Line::new("leave   ", Label::Dim).with(shown(&file.path, &point.cwd), Label::Plain);
        lines.push(line.with(&format!("  {}", reason(*why)), Label::Note));
    }
    if back.is_empty() {
        lines.iter().for_each(|line| ui.say(line));
        ui.say(&Line::plain("Nothing to put back: the files are as they were then."));
        return Ok(());
    }
    let count = back.len();
    let when = if point.is_before { "before" } else { "after" };
    let node = point.node.as_deref().unwrap_or_default();
    let words = format!("{count} files as {when} {}", node.get(..8).unwrap_or(node));
    let root = point.root.clone();
    let plan = restore_files(&point.session, &point.file, root.as_deref(), words, back)?;
    let question = match count {
        1 => "Put this file back?".to_owned(),
        n => format!("Put these {n} files back?"),
    };
    let proposal =
        Proposal { plan: &plan, lines, question: &question, resume_leaf: None, cwd: None };
    let write = WriteArgs { dry_run: args.dry_run, yes: args.yes, force: false };
    perform(ui, "ramus.files.restore/1", &write, &proposal)
}

fn content(point: &Point, change: &Change<'_>) -> Option<Content> {
    let content = match &change.file.held {
        Held::Backup(backup) => Content::Copy(point.backups.path(backup)?),
        Held::Bytes(bytes) => Content::Bytes(bytes.clone()),
        Held::Absent | Held::Unknown => return None,
    };
    let mode = match (point.mode(change.file), change.how) {
        // The file that is there keeps its own.
        (None, How::Replace) => return Some(content),
        (mode, _) => mode.unwrap_or(USUAL),
    };
    Some(Content::WithMode { content: Box::new(content), mode })
}

/// Tells what would become of a file, and how it differs from what is there.
fn described(point: &mut Point, change: &Change<'_>) -> Vec<Line> {
    let label = match change.how {
        How::Create => Label::Added,
        How::Replace => Label::Branch,
        How::Delete => Label::Removed,
    };
    let path = shown(&change.file.path, &point.cwd).to_owned();
    let mut line =
        Line::new(&format!("{:<8}", change.how.word()), label).with(&path, Label::Strong);
    let now = text_at(Path::new(&change.file.path));
    let then = match change.how {
        How::Delete => Some(String::new()),
        _ => point.bytes(change.file).and_then(|bytes| String::from_utf8(bytes).ok()),
    };
    let mut tail = String::new();
    if let (Some(now), Some(then)) = (&now, &then) {
        let (added, removed) = stat(now, then);
        let _ = write!(tail, "  +{added} −{removed}");
    }
    let note = note(change.file);
    if !note.is_empty() {
        let _ = write!(tail, "  {note}");
    }
    line.push(&tail, Label::Note);
    let mut lines = vec![line];
    match (now, then) {
        (Some(now), Some(then)) if change.how == How::Replace => {
            lines.extend(diff(&now, &then, &DiffConfig::default()));
        }
        (Some(_), Some(_)) => {}
        _ => lines.push(Line::new("        no text", Label::Note)),
    }
    lines
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Unknown => "what it held is not known",
        Why::Outside => "outside of the project (`--outside` puts it back too)",
        Why::Link => "it is a link, or behind one",
        Why::NotAFile => "something else is in its place",
    }
}
