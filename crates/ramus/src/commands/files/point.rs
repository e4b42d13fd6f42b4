//! The files at a moment, written out.

use std::io::Write;

use ramus_core::files::{FileState, Held};
use ramus_render::json::FilesPoint;
pub(super) use ramus_store::files_at::FilesAt as Point;

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

pub(super) fn json(point: &Point) -> FilesPoint {
    FilesPoint {
        session: point.session.clone(),
        node: point.node.clone(),
        moment: if point.is_before { "before" } else { "after" },
        cwd: (!point.cwd.is_empty()).then(|| point.cwd.clone()),
    }
}
