//! What an address comes down to: a moment, and the files at it.

use std::io::Write;

use ramus_app::{Address, NodeSelector, Workspace};
use ramus_core::files::{FileState, Held};
use ramus_core::history::{History, Path};
use ramus_core::session::NodeId;
use ramus_render::json::FilesPoint;
pub(super) use ramus_store::files_at::FilesAt as Point;

use crate::error::CommandError;

/// Reads the files at an address.
pub(super) fn open(workspace: &Workspace, address: &str) -> Result<Point, CommandError> {
    let Address { file: found, node: spot } = workspace.address(address)?;
    let history = workspace.read(&found.file)?;
    let meant = meant(&history, &spot)?;
    let beside = found.files_beside();
    let (roots, file) = (workspace.roots(), found.file.clone());
    Point::open(roots, beside, file, history.into(), meant, workspace.rule())?.ok_or_else(nothing)
}

/// Finds the node and the conversation that a spot means.
fn meant(history: &History, spot: &NodeSelector) -> Result<(Option<Path>, NodeId), CommandError> {
    let branches = &history.branches;
    let resuming = branches.main();
    let wanted = match (spot.node(&history)?, branches.resume, resuming) {
        (Some(node), ..) => node,
        (None, Some(resume), _) => resume.leaf,
        (None, None, Some(resuming)) => resuming.leaf,
        (None, None, None) => return Err(nothing()),
    };
    let conversation = match spot {
        NodeSelector::Nth(_) => branches.conversations.iter().find(|way| way.leaf == wanted),
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
