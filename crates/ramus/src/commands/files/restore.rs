//! The files of a moment, put back where they were.

use std::fmt::Write;
use std::path::Path;

use ramus_core::files::FileState;
use ramus_core::files::restore::{Change, How, Why};
use ramus_render::diff::{DiffConfig, diff, stat};
use ramus_render::{Label, Line};
use ramus_store::on_disk::text_at;

use super::list::{note, shown};
use super::{FilesArgs, Point, one};
use crate::error::CommandError;
use crate::perform::{Proposal, WriteArgs, perform};
use crate::ui::Ui;

pub(super) fn put_back(
    ui: &mut Ui,
    args: &FilesArgs,
    point: &mut Point,
) -> Result<(), CommandError> {
    if !Path::new(&point.cwd).is_dir() {
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
    let (wanted, plan) = point.put_back(&files, args.outside)?;
    let mut lines = Vec::new();
    for change in &wanted.changes {
        lines.extend(described(point, change));
    }
    for (file, why) in &wanted.left {
        let line =
            Line::new("leave   ", Label::Dim).with(shown(&file.path, &point.cwd), Label::Plain);
        lines.push(line.with(&format!("  {}", reason(*why)), Label::Note));
    }
    let Some(plan) = plan else {
        lines.iter().for_each(|line| ui.say(line));
        ui.say(&Line::plain("Nothing to put back: the files are as they were then."));
        return Ok(());
    };
    let question = match plan.steps.len() {
        1 => "Put this file back?".to_owned(),
        n => format!("Put these {n} files back?"),
    };
    let proposal = Proposal { change: &plan.into(), lines, question: &question };
    let write = WriteArgs { dry_run: args.dry_run, yes: args.yes, force: false };
    perform(ui, "ramus.files.restore/1", &write, &proposal)
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
