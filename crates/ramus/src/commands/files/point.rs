//! What an address comes down to: a moment, and the files at it.

use std::io::Write;

use ramus_core::files::{FileState, Held};
use ramus_core::history::{History, Path};
use ramus_core::session::NodeId;
use ramus_render::json::FilesPoint;
pub(super) use ramus_store::files_at::FilesAt as Point;

use crate::error::CommandError;
use crate::select::{Library, Spot, node};
use crate::ui::Ui;

/// Reads the files at an address.
pub(super) fn open(ui: &mut Ui, library: &Library, address: &str) -> Result<Point, CommandError> {
    let (found, spot) = library.address(ui, address)?;
    let history = library.read(&found)?;
    let meant = meant(&history, &spot)?;
    let beside = library.files_beside(&found);
    let (roots, file) = (library.roots(), found.file.clone());
    Point::open(roots, beside, file, history.into(), meant, library.rule)?.ok_or_else(nothing)
}

/// Finds the node and the conversation that a spot means.
fn meant(history: &History, spot: &Spot) -> Result<(Option<Path>, NodeId), CommandError> {
    let branches = &history.branches;
    let resuming = branches.main();
    let wanted = match (node(history, spot)?, branches.resume, resuming) {
        (Some(node), ..) => node,
        (None, Some(resume), _) => resume.leaf,
        (None, None, Some(resuming)) => resuming.leaf,
        (None, None, None) => return Err(nothing()),
    };
    let conversation = match spot {
        Spot::Nth(_) => branches.conversations.iter().find(|way| way.leaf == wanted),
        _ => history.conversation_of(wanted),
    };
    Ok((conversation.map(|way| history.path(way)), wanted))
}

fn nothing() -> CommandError {
    CommandError::nothing("there is no conversation in this session")
}

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
