//! Writes the files as of a message to a directory.

use std::io;
use std::path::Path;

use ramus_core::files::file_path::{OUTSIDE_DIR, path_in_tree};
use ramus_core::files::{FileContent, FileState};
use ramus_render::json::{self, Answer};
use ramus_render::{Label, Line};
use ramus_store::output_tree::OutputTree;

use super::{FilesArgs, Point, find_named_file, point};
use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

pub(super) fn write_files(
    ui: &mut Ui,
    args: &FilesArgs,
    point: &mut Point,
    dir: &Path,
) -> Result<(), CommandError> {
    let files: Vec<FileState> = match &args.path {
        Some(path) => vec![find_named_file(point, path)?],
        None => point.files.iter().filter(|file| !file.only_read).cloned().collect(),
    };
    let folder = OutputTree::open(dir, args.force)?;
    let mut written = Vec::new();
    let mut unknown = Vec::new();
    for file in &files {
        match file.content {
            FileContent::Absent => continue,
            FileContent::Unknown => {
                unknown.push(file.path.clone());
                continue;
            }
            FileContent::Backup(_) | FileContent::Bytes(_) => {}
        }
        let place = path_in_tree(&file.path, &point.moment.cwd);
        let mut copy = |out: &mut dyn io::Write| {
            point::copy_content(point, file, out)
                .map_err(|error| io::Error::other(format!("{:#}", error.error)))
        };
        match folder.write_file(&place, point.file_mode(file), &mut copy) {
            Ok(_) => written.push(json::FileWritten {
                path: file.path.clone(),
                file: place,
                size: point.file_size(file).unwrap_or(0),
            }),
            Err(problem) => ui.warn_unreadable(&problem),
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
        return ui.print_json(&Answer::new("ramus.files.into/1", body));
    }
    for path in &unknown {
        let line = Line::new("Skipped: ", Label::Warning);
        ui.print_message(&line.with(path, Label::Plain).with(", content unknown", Label::Note));
    }
    let count = match written.len() {
        1 => "1 file".to_owned(),
        n => format!("{} files", number(n as u64)),
    };
    let mut line = Line::plain(&format!("{count} written to {}", dir.display()));
    if written.iter().any(|file| file.file.starts_with(OUTSIDE_DIR)) {
        line.push(&format!("; those from outside the project in {OUTSIDE_DIR}/"), Label::Note);
    }
    ui.print_message(&line);
    Ok(())
}
