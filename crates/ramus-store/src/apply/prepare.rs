//! Writes the new contents to temporary files next to their targets, before any change is visible.
//!
//! A failure here harms nothing: until the journal says that all contents are ready, only temporary
//! files and empty directories have been created.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::file_change::{NewFileSource, PreparedChange, mode_of, modified_time};
use super::swap::inode_number;
use super::{ApplyError, require_sources_unchanged};
use crate::disk::{self, WriteError};
use crate::file_mode::set_dir_mode;
use crate::journal::{Operation, PreparedFile};
use crate::plan::{NewContent, OperationKind, WritePlan};
use crate::stamp::{Stamp, StampHasher};

/// Returns the temporary path of a new content, until it gets its final name.
pub(super) fn temporary_path(operation: &Operation, change: usize, file: &Path) -> PathBuf {
    file.with_file_name(format!(".ramus-{}-{}-{change}.tmp", operation.op, operation.mark))
}

/// Writes all new contents to temporary files.
pub(super) fn prepare_contents(
    plan: &WritePlan,
    changes: &[PreparedChange<'_>],
    operation: &Operation,
) -> Result<Vec<PreparedFile>, ApplyError> {
    let mut prepared = Vec::new();
    for (n, change) in changes.iter().enumerate() {
        let beside = |file: &Path| temporary_path(operation, n, file);
        let written = match change {
            PreparedChange::MakeDir { dir } => {
                disk::create_dirs(dir)?;
                if plan.what == OperationKind::RestoreFiles {
                    // Project directories are readable for others, as is usual; ours are private.
                    set_dir_mode(dir, 0o755).map_err(|source| WriteError::new(dir, source))?;
                }
                continue;
            }
            PreparedChange::Make { file, new: NewFileSource::Link(from) } => {
                link_temporary(from, &beside(file))?
            }
            PreparedChange::Make { file, new: NewFileSource::Content(content) } => {
                let written = write_temporary(&beside(file), content, None)?;
                // The sources must not have changed while they were copied.
                require_sources_unchanged(content)?;
                written
            }
            PreparedChange::Replace { file, content, .. } => {
                write_temporary(&beside(file), content, Some(file))?
            }
            // The original file itself comes back; nothing is written.
            PreparedChange::Join { from, .. } => prepare_existing(from)?,
            PreparedChange::Append { .. }
            | PreparedChange::Move { .. }
            | PreparedChange::Tidy { .. } => {
                continue;
            }
        };
        prepared.push(PreparedFile { change: n, ..written });
    }
    Ok(prepared)
}

/// Uses an existing file as the new content.
pub(super) fn prepare_existing(path: &Path) -> Result<PreparedFile, ApplyError> {
    let stamp = disk::stamp_file(path)?;
    let (inode, beside) = (inode_number(path).unwrap_or(0), path.to_owned());
    Ok(PreparedFile { change: 0, beside, inode, stamp, old: None })
}

/// Pieces are collected up to this size before they are written.
const WRITE_BUFFER_BYTES: usize = 1024 * 1024;

/// Writes a content. It gets the owner of the file it will replace, and that file's mode unless it has its own.
pub(super) fn write_temporary(
    path: &Path,
    content: &NewContent,
    replaced: Option<&Path>,
) -> Result<PreparedFile, ApplyError> {
    let out = disk::create_file(path)?;
    let mut gathered = Vec::new();
    let mut stamper = StampHasher::default();
    content.for_each_piece::<ApplyError>(&mut |bytes| {
        stamper.update(bytes);
        gathered.extend_from_slice(bytes);
        if gathered.len() >= WRITE_BUFFER_BYTES {
            disk::write_bytes(path, &out, &gathered)?;
            gathered.clear();
        }
        Ok(())
    })?;
    disk::write_bytes(path, &out, &gathered)?;
    let like = match replaced {
        Some(file) => Some(fs::metadata(file).map_err(|source| WriteError::new(file, source))?),
        None => None,
    };
    if let Some(like) = &like {
        copy_owner(path, &out, replaced.unwrap_or(path), like)?;
    }
    match (content, like) {
        (NewContent::WithMode { mode, modified, .. }, _) => {
            disk::set_mode(path, &out, *mode)?;
            if let Some(time) = modified {
                disk::set_modified(path, &out, (*time).into())?;
            }
        }
        (_, Some(like)) => disk::set_permissions(path, &out, like.permissions())?,
        (_, None) => {}
    }
    disk::sync_file(path, &out)?;
    let stamp = stamper.finish();
    let (inode, beside) = (inode_number(path).unwrap_or(0), path.to_owned());
    Ok(PreparedFile { change: 0, beside, inode, stamp, old: None })
}

/// Gives a new file the owner of the old one. If that is not permitted, the file cannot be replaced.
fn copy_owner(path: &Path, out: &File, file: &Path, like: &fs::Metadata) -> Result<(), ApplyError> {
    disk::set_owner(path, out, like).map_err(|error| match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => ApplyError::NotOwner(file.to_owned()),
        _ => error.into(),
    })
}

/// Makes a hard link to a file that never changes, or a copy where links are not supported.
fn link_temporary(from: &Path, beside: &Path) -> Result<PreparedFile, ApplyError> {
    if disk::hard_link(from, beside).is_ok() {
        return prepare_existing(beside);
    }
    let (mode, modified) = (mode_of(from)?, Some(modified_time(from)?));
    let content = Box::new(NewContent::Copy(from.to_owned()));
    write_temporary(beside, &NewContent::WithMode { content, mode, modified }, None)
}

/// Returns the stamp of empty content, which every file begins with.
pub(super) fn empty_stamp() -> Stamp {
    StampHasher::default().finish()
}
