//! The files of a moment, written out as a tree of their own.

use std::io;
use std::path::Path;

use ramus_core::files::place::{OUTSIDE, in_tree};
use ramus_core::files::{FileState, Held};
use ramus_render::json::{self, Answer};
use ramus_render::{Label, Line};
use ramus_store::tree::TreeFolder;

use super::{FilesArgs, Point, one, point};
use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

pub(super) fn write(
    ui: &mut Ui,
    args: &FilesArgs,
    point: &mut Point,
    dir: &Path,
) -> Result<(), CommandError> {
    let files: Vec<FileState> = match &args.path {
        Some(path) => vec![one(point, path)?],
        None => point.files.iter().filter(|file| !file.only_read).cloned().collect(),
    };
    let folder = TreeFolder::open(dir, args.force)?;
    let mut written = Vec::new();
    let mut unknown = Vec::new();
    for file in &files {
        match file.held {
            Held::Absent => continue,
            Held::Unknown => {
                unknown.push(file.path.clone());
                continue;
            }
            Held::Backup(_) | Held::Bytes(_) => {}
        }
        let place = in_tree(&file.path, &point.moment.cwd);
        let mut copy = |out: &mut dyn io::Write| {
            point::copy(point, file, out)
                .map_err(|error| io::Error::other(format!("{:#}", error.error)))
        };
        match folder.write(&place, point.mode(file), &mut copy) {
            Ok(_) => written.push(json::FileWritten {
                path: file.path.clone(),
                file: place,
                size: point.size(file).unwrap_or(0),
            }),
            Err(problem) => ui.warn(&problem),
        }
    }
    if ui.json {
        let dir = dir.to_string_lossy().into_owned();
        let body = json::FilesWritten {
            point: json::files_point(&point.session, &point.moment),
            dir,
            written,
            unknown,
        };
        return ui.json(&Answer::new("ramus.files.into/1", body));
    }
    for path in &unknown {
        let line = Line::new("Left out: ", Label::Warning);
        ui.say(&line.with(path, Label::Plain).with(", its content is not known", Label::Note));
    }
    let count = match written.len() {
        1 => "1 file".to_owned(),
        n => format!("{} files", number(n as u64)),
    };
    let mut line = Line::plain(&format!("{count} written to {}", dir.display()));
    if written.iter().any(|file| file.file.starts_with(OUTSIDE)) {
        line.push(&format!("; those from outside the project in {OUTSIDE}/"), Label::Note);
    }
    ui.say(&line);
    Ok(())
}
