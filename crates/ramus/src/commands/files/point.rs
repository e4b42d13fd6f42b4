//! The files at a moment, written out.

use std::io::Write;

use ramus_core::files::{FileState, Held};
use ramus_render::Line;
use ramus_render::files::file_list;
pub(super) use ramus_store::files_at::FilesAt as Point;

use crate::env::Clock;
use crate::error::CommandError;

/// Copies the bytes of a file of any size.
pub(super) fn copy(
    point: &Point,
    file: &FileState,
    out: &mut dyn Write,
) -> Result<(), CommandError> {
    match &file.held {
        Held::Backup(backup) => drop(point.backups.copy(backup, out)?),
        Held::Bytes(bytes) => out.write_all(bytes)?,
        Held::Absent | Held::Unknown => {}
    }
    Ok(())
}

/// Returns the moment in a line, and a table of its files.
pub(super) fn lines(point: &mut Point, width: usize) -> Vec<Line> {
    let (files, clock) = (point.sized_files(), Clock::new());
    file_list(&point.moment, &files, width, &|time| clock.short(time))
}
