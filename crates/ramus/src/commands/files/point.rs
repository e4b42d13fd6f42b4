//! Prints the files as of a message.

use std::io::Write;

use ramus_core::files::{FileContent, FileState};
use ramus_render::Line;
use ramus_render::files::file_list;
pub(super) use ramus_store::files_at::FilesAt as Point;

use crate::env::LocalClock;
use crate::error::CommandError;

/// Copies the bytes of a file of any size.
pub(super) fn copy_content(
    point: &Point,
    file: &FileState,
    out: &mut dyn Write,
) -> Result<(), CommandError> {
    match &file.content {
        FileContent::Backup(backup) => drop(point.backups.copy_backup(backup, out)?),
        FileContent::Bytes(bytes) => out.write_all(bytes)?,
        FileContent::Absent | FileContent::Unknown => {}
    }
    Ok(())
}

/// Returns the moment in a line, and a table of its files.
pub(super) fn point_lines(point: &mut Point, width: usize) -> Vec<Line> {
    let (files, clock) = (point.sized_files(), LocalClock::new());
    file_list(&point.moment, &files, width, &|time| clock.short_time(time))
}
