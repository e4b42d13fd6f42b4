//! Writes the new contents to temporary files next to their targets, before any change is visible.
//!
//! A failure here harms nothing: until the journal says that all contents are ready, only temporary
//! files and empty directories have been created.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::file_change::{FileChange, New, mode, modified};
use super::swap::inode;
use super::{ApplyError, begins};
use crate::disk::{self, WriteError, Written};
use crate::journal::{Operation, Prepared};
use crate::plan::{Content, Plan, What};
use crate::stamp::{Stamp, Stamper};

/// Returns the temporary path of a new content, until it gets its final name.
pub(super) fn beside(operation: &Operation, change: usize, file: &Path) -> PathBuf {
    file.with_file_name(format!(".ramus-{}-{}-{change}.tmp", operation.op, operation.mark))
}

/// Writes all new contents to temporary files.
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
                // The sources must not have changed while they were copied.
                begins(content)?;
                written
            }
            FileChange::Replace { file, content, .. } => {
                write_beside(&beside(file), content, Some(file))?
            }
            // The original file itself comes back; nothing is written.
            FileChange::Join { from, .. } => existing(from)?,
            FileChange::Append { .. } | FileChange::Move { .. } | FileChange::Tidy { .. } => {
                continue;
            }
        };
        prepared.push(Prepared { change: n, ..written });
    }
    Ok(prepared)
}

/// Uses an existing file as the new content.
pub(super) fn existing(path: &Path) -> Result<Prepared, ApplyError> {
    let stamp = disk::stamp(path)?;
    let (inode, beside) = (inode(path).unwrap_or(0), path.to_owned());
    Ok(Prepared { change: 0, beside, inode, stamp, old: None })
}

/// Pieces are collected up to this size before they are written.
const GATHERED: usize = 1024 * 1024;

/// Writes a content. It gets the owner of the file it will replace, and that file's mode unless it has its own.
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

/// Gives a new file the owner of the old one. If that is not permitted, the file cannot be replaced.
fn own(path: &Path, out: &File, file: &Path, like: &fs::Metadata) -> Result<(), ApplyError> {
    disk::set_owner(path, out, like).map_err(|error| match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => ApplyError::NotOwner(file.to_owned()),
        _ => error.into(),
    })
}

/// Makes a hard link to a file that never changes, or a copy where links are not supported.
fn link_beside(from: &Path, beside: &Path) -> Result<Prepared, ApplyError> {
    if disk::link(from, beside).is_ok() {
        return existing(beside);
    }
    let (mode, modified) = (mode(from)?, Some(modified(from)?));
    let content = Box::new(Content::Copy(from.to_owned()));
    write_beside(beside, &Content::WithMode { content, mode, modified }, None)
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

/// Makes a new project directory readable for others, as is usual; ours are private.
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

/// Returns the stamp of empty content, which every file begins with.
pub(super) fn nothing() -> Stamp {
    Stamper::default().stamp()
}
