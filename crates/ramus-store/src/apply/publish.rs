//! Makes the prepared changes visible, one after the other.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use super::ApplyError;
use super::file_change::PreparedChange;
use super::move_file::take_away;
use super::prepare::temporary_path;
use super::swap::{FileSwap, Leftovers};
use crate::disk::{self, WriteError};
use crate::journal::{Operation, TrashedFile};
use crate::stamp::Stamp;

/// How far an operation came.
#[derive(Default)]
pub(super) struct ApplyProgress {
    /// How many changes were begun.
    pub(super) begun: usize,
    /// Where our lines are in the session file.
    pub(super) appended: Vec<Range<u64>>,
    pub(super) left: Leftovers,
}

/// Makes all changes.
pub(super) fn publish_changes(
    changes: &[PreparedChange<'_>],
    operation: &Operation,
    progress: &mut ApplyProgress,
) -> Result<(), ApplyError> {
    for (n, change) in changes.iter().enumerate() {
        progress.begun = n + 1;
        publish_change(change, operation, n, progress)?;
    }
    Ok(())
}

fn publish_change(
    change: &PreparedChange<'_>,
    operation: &Operation,
    n: usize,
    progress: &mut ApplyProgress,
) -> Result<(), ApplyError> {
    let prepared = operation.prepared_for(n);
    let new = |file: &Path| prepared.ok_or_else(|| ApplyError::NotPrepared(file.to_owned()));
    match change {
        PreparedChange::Append { file, before, bytes, .. } => {
            append_lines(file, before, bytes, &mut progress.appended)
        }
        PreparedChange::Make { file, .. } => {
            disk::move_without_replacing(&new(file)?.beside, file)
                .map_err(|error| name_taken_error(file, error))?;
            Ok(disk::sync_parent_dir(file)?)
        }
        PreparedChange::Replace { file, before, kept, carries, .. } => {
            let places = kept.candidate_paths();
            FileSwap::for_replacement(file, before, places, *carries, new(file)?)
                .carry_out(&mut progress.left)
        }
        PreparedChange::Join { file, kept, .. } => {
            FileSwap::for_join(file, kept.candidate_paths(), new(file)?)
                .carry_out(&mut progress.left)
        }
        PreparedChange::Move { from, to, before } => {
            let places = to.candidate_paths();
            let aside = temporary_path(operation, n, from);
            let at = take_away(from, &aside, &places)
                .map_err(|error| move_error(from, places[0], error))?;
            if at == aside {
                return Err(ApplyError::InUse((*from).to_owned()));
            }
            if let Some(before) = before {
                // Another program may have saved it a moment ago. The rollback then restores that version.
                if disk::stamp_file(&at)? != **before {
                    return Err(ApplyError::Changed((*from).to_owned()));
                }
                progress.left.kept.push(TrashedFile::new(from, at, (*before).clone(), false));
            }
            Ok(())
        }
        PreparedChange::Tidy { dir } => Ok(disk::remove_empty_dir(dir)?),
        // Created in `prepare`, before the files in it.
        PreparedChange::MakeDir { .. } => Ok(()),
    }
}

fn name_taken_error(file: &Path, error: WriteError) -> ApplyError {
    match error.source.kind() {
        ErrorKind::AlreadyExists => ApplyError::Exists(file.to_owned()),
        _ => error.into(),
    }
}

fn move_error(from: &Path, to: &Path, error: ApplyError) -> ApplyError {
    match error {
        ApplyError::Write(error) => {
            if disk::is_missing(&error.source) && from.symlink_metadata().is_err() {
                return ApplyError::Changed(from.to_owned());
            }
            name_taken_error(to, error)
        }
        error => error,
    }
}

/// Appends lines in one write, to the same open file that is checked.
fn append_lines(
    path: &Path,
    before: &Stamp,
    bytes: &[u8],
    ranges: &mut Vec<Range<u64>>,
) -> Result<(), ApplyError> {
    let file = disk::open_to_append(path)?;
    require_same_content(path, &file, before)?;
    disk::append_bytes(path, &file, bytes, ranges)?;
    disk::sync_file(path, &file)?;
    // Another program may have written first. Then our lines must begin on a new line after theirs.
    let added = disk::read_open_file(path, &file, before.len)?;
    let at = |range: &Range<u64>| usize::try_from(range.start - before.len).ok();
    let is_whole = match &ranges[..] {
        [range] => at(range).is_some_and(|at| {
            added.get(at..).is_some_and(|ours| ours.starts_with(bytes))
                && (at == 0 || bytes.first() == Some(&b'\n') || added[at - 1] == b'\n')
        }),
        _ => false,
    };
    if is_whole { Ok(()) } else { Err(ApplyError::Changed(path.to_owned())) }
}

fn require_same_content(path: &Path, file: &File, before: &Stamp) -> Result<(), ApplyError> {
    let is_same = file.metadata().is_ok_and(|meta| meta.len() == before.len)
        && Stamp::of_prefix(file, before.len).is_ok_and(|now| now == *before);
    if is_same { Ok(()) } else { Err(ApplyError::Changed(path.to_owned())) }
}
