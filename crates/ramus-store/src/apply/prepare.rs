//! Everything that can be done before anybody sees a change: the new contents, written and synced beside
//! their places.
//!
//! Whatever fails here fails beforehand. Until the journal says that all contents are ready, nothing but
//! new files with names of ours and empty directories came into being.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::file_change::{FileChange, New};
use super::swap::inode;
use super::{ApplyError, begins};
use crate::disk::{self, WriteError, Written};
use crate::journal::{Operation, Prepared};
use crate::plan::{Content, Plan, What};
use crate::stamp::{Stamp, Stamper};

/// Returns the name of a new content until it gets its own.
pub(super) fn beside(operation: &Operation, change: usize, file: &Path) -> PathBuf {
    file.with_file_name(format!(".ramus-{}-{}-{change}.tmp", operation.op, operation.mark))
}

/// Writes the new contents beside their places.
pub(super) fn prepare(
    plan: &Plan,
    changes: &[FileChange<'_>],
    operation: &Operation,
) -> Result<Vec<Prepared>, ApplyError> {
    let mut prepared = Vec::new();
    for (n, change) in changes.iter().enumerate() {
        let beside = |file: &Path| beside(operation, n, file);
        let written = match change {
            FileChange::MakeDir { dir } => {
                disk::create_dirs(dir)?;
                if plan.what == What::RestoreFiles {
                    allow(dir, 0o755)?;
                }
                continue;
            }
            FileChange::Make { file, new: New::Link(from) } => link_beside(from, &beside(file))?,
            FileChange::Make { file, new: New::Content(content) } => {
                let written = write_beside(&beside(file), content, None)?;
                // What was copied must not have been written over meanwhile.
                begins(content)?;
                written
            }
            FileChange::Replace { file, content, .. } => {
                write_beside(&beside(file), content, Some(file))?
            }
            // The file itself comes back; there is nothing to write.
            FileChange::Join { from, .. } => existing(from)?,
            FileChange::Append { .. } | FileChange::Move { .. } | FileChange::Tidy { .. } => {
                continue;
            }
        };
        prepared.push(Prepared { change: n, ..written });
    }
    Ok(prepared)
}

/// Takes a file that is there already for a new content.
pub(super) fn existing(path: &Path) -> Result<Prepared, ApplyError> {
    let stamp = disk::stamp(path)?;
    let (inode, beside) = (inode(path).unwrap_or(0), path.to_owned());
    Ok(Prepared { change: 0, beside, inode, stamp, old: None })
}

/// Pieces up to this size are gathered before they are written.
const GATHERED: usize = 1024 * 1024;

/// Writes a content, with the owner of the file that it will replace, and its mode unless it has one.
pub(super) fn write_beside(
    path: &Path,
    content: &Content,
    replaced: Option<&Path>,
) -> Result<Prepared, ApplyError> {
    let out = disk::create(path)?;
    let mut gathered = Vec::new();
    let mut stamper = Stamper::default();
    content.read::<ApplyError>(&mut |bytes| {
        stamper.add(bytes);
        gathered.extend_from_slice(bytes);
        if gathered.len() >= GATHERED {
            disk::write(path, &out, &gathered)?;
            gathered.clear();
        }
        Ok(())
    })?;
    disk::write(path, &out, &gathered)?;
    let like = match replaced {
        Some(file) => Some(fs::metadata(file).map_err(|source| WriteError::new(file, source))?),
        None => None,
    };
    if let Some(like) = &like {
        own(path, &out, replaced.unwrap_or(path), like)?;
    }
    match (content, like) {
        (Content::WithMode { mode, modified, .. }, _) => {
            set_mode(path, &out, *mode)?;
            if let Some(time) = modified {
                disk::set_modified(path, &out, (*time).into())?;
            }
        }
        (_, Some(like)) => disk::set_permissions(path, &out, like.permissions())?,
        (_, None) => {}
    }
    disk::sync(path, &out)?;
    let stamp = stamper.stamp();
    let (inode, beside) = (inode(path).unwrap_or(0), path.to_owned());
    Ok(Prepared { change: 0, beside, inode, stamp, old: None })
}

/// Makes a new file belong to whom the old one belongs; where that may not be, it cannot be replaced.
fn own(path: &Path, out: &File, file: &Path, like: &fs::Metadata) -> Result<(), ApplyError> {
    disk::set_owner(path, out, like).map_err(|error| match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => ApplyError::NotOwner(file.to_owned()),
        _ => error.into(),
    })
}

/// Gives a file that nobody changes a second name; where that cannot be, a copy does.
fn link_beside(from: &Path, beside: &Path) -> Result<Prepared, ApplyError> {
    if disk::link(from, beside).is_ok() {
        return existing(beside);
    }
    write_beside(beside, &Content::Copy(from.to_owned()), None)
}

#[cfg(unix)]
fn set_mode(path: &Path, file: &File, mode: u32) -> Written<()> {
    use std::os::unix::fs::PermissionsExt;
    disk::set_permissions(path, file, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: &File, _: u32) -> Written<()> {
    Ok(())
}

/// Opens a directory of a project to others, as new directories usually are.
#[cfg(unix)]
fn allow(dir: &Path, mode: u32) -> Written<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(dir, permissions).map_err(|source| WriteError::new(dir, source))
}

#[cfg(not(unix))]
fn allow(_: &Path, _: u32) -> Written<()> {
    Ok(())
}

/// What nothing is: everything begins with it.
pub(super) fn nothing() -> Stamp {
    Stamper::default().stamp()
}
