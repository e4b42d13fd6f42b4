//! Makes the prepared changes visible, one after the other.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use super::ApplyError;
use super::file_change::FileChange;
use super::swap::{Swap, Swapped, keep};
use crate::disk::{self, WriteError};
use crate::journal::{Kept, Operation, Prepared};
use crate::stamp::Stamp;

/// How far an operation came.
#[derive(Default)]
pub(super) struct Progress {
    /// How many changes were begun.
    pub(super) begun: usize,
    /// Where our lines are in the session file.
    pub(super) appended: Vec<Range<u64>>,
    pub(super) kept: Vec<Kept>,
    pub(super) notes: Vec<String>,
}

/// Makes all changes.
pub(super) fn publish(
    changes: &[FileChange<'_>],
    operation: &Operation,
    progress: &mut Progress,
) -> Result<(), ApplyError> {
    for (n, change) in changes.iter().enumerate() {
        progress.begun = n + 1;
        publish_one(change, operation.prepared_for(n), progress)?;
    }
    Ok(())
}

fn publish_one(
    change: &FileChange<'_>,
    prepared: Option<&Prepared>,
    progress: &mut Progress,
) -> Result<(), ApplyError> {
    let new = |file: &Path| prepared.ok_or_else(|| ApplyError::NotPrepared(file.to_owned()));
    match change {
        FileChange::Append { file, before, bytes, .. } => {
            append(file, before, bytes, &mut progress.appended)
        }
        FileChange::Make { file, .. } => {
            disk::move_new(&new(file)?.beside, file).map_err(|error| taken(file, error))?;
            Ok(disk::sync_dir_of(file)?)
        }
        FileChange::Replace { file, before, kept, carries, .. } => {
            progress.swap(&Swap::replace(file, before, kept.places(), *carries, new(file)?))
        }
        FileChange::Join { file, kept, .. } => {
            progress.swap(&Swap::join(file, kept.places(), new(file)?))
        }
        FileChange::Move { from, to, before } => {
            let places = to.places();
            let at = keep(from, &places).map_err(|error| moved_wrong(from, places[0], error))?;
            if at == *from {
                return Err(ApplyError::InUse((*from).to_owned()));
            }
            if let Some(before) = before {
                // Another program may have saved it a moment ago. The rollback then restores that version.
                if disk::stamp(&at)? != **before {
                    return Err(ApplyError::Changed((*from).to_owned()));
                }
                let (file, known) = ((*from).to_owned(), (*before).clone());
                progress.kept.push(Kept { file, at, known, carries: false });
            }
            Ok(())
        }
        FileChange::Tidy { dir } => Ok(disk::remove_empty_dir(dir)?),
        // Created in `prepare`, before the files in it.
        FileChange::MakeDir { .. } => Ok(()),
    }
}

impl Progress {
    fn swap(&mut self, swap: &Swap<'_>) -> Result<(), ApplyError> {
        let Swapped { kept, notes } = swap.carry_out()?;
        self.kept.push(kept);
        self.notes.extend(notes);
        Ok(())
    }
}

fn taken(file: &Path, error: WriteError) -> ApplyError {
    match error.source.kind() {
        ErrorKind::AlreadyExists => ApplyError::Exists(file.to_owned()),
        _ => error.into(),
    }
}

fn moved_wrong(from: &Path, to: &Path, error: ApplyError) -> ApplyError {
    match error {
        ApplyError::Write(error) => {
            if disk::is_missing(&error.source) && from.symlink_metadata().is_err() {
                return ApplyError::Changed(from.to_owned());
            }
            taken(to, error)
        }
        error => error,
    }
}

/// Appends lines in one write, to the same open file that is checked.
fn append(
    path: &Path,
    before: &Stamp,
    bytes: &[u8],
    ranges: &mut Vec<Range<u64>>,
) -> Result<(), ApplyError> {
    let file = disk::open_to_append(path)?;
    is_still(path, &file, before)?;
    disk::append(path, &file, bytes, ranges)?;
    disk::sync(path, &file)?;
    // Another program may have written first. Then our lines must begin on a new line after theirs.
    let added = disk::read_open(path, &file, before.len)?;
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

fn is_still(path: &Path, file: &File, before: &Stamp) -> Result<(), ApplyError> {
    let is_same = file.metadata().is_ok_and(|meta| meta.len() == before.len)
        && Stamp::of(file, before.len).is_ok_and(|now| now == *before);
    if is_same { Ok(()) } else { Err(ApplyError::Changed(path.to_owned())) }
}
