//! The changes themselves, one after the other, once everything is prepared.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use super::ApplyError;
use super::prepare::{Planned, nothing};
use super::swap::{Swap, Swapped, keep};
use crate::disk::{self, WriteError};
use crate::journal::{Change, Kept, Operation, Prepared};
use crate::plan::Step;
use crate::stamp::Stamp;

/// How far an operation came.
#[derive(Default)]
pub(super) struct Progress {
    /// How many changes were begun.
    pub(super) begun: usize,
    /// Where our lines stand in the session.
    pub(super) appended: Vec<Range<u64>>,
    pub(super) kept: Vec<Kept>,
    pub(super) notes: Vec<String>,
}

/// Carries the changes out.
pub(super) fn publish(
    planned: &[Planned<'_>],
    operation: &Operation,
    progress: &mut Progress,
) -> Result<(), ApplyError> {
    for (n, (step, change)) in planned.iter().enumerate() {
        progress.begun = n + 1;
        let prepared = operation.prepared_for(n);
        publish_one(*step, change, prepared, progress)?;
    }
    Ok(())
}

fn publish_one(
    step: Option<&Step>,
    change: &Change,
    prepared: Option<&Prepared>,
    progress: &mut Progress,
) -> Result<(), ApplyError> {
    match (change, prepared) {
        (Change::Append { file, before, .. }, _) => {
            let Some(Step::Append { bytes, .. }) = step else { return Ok(()) };
            append(file, before, bytes, &mut progress.appended)
        }
        (Change::Make { file }, Some(prepared)) => {
            disk::move_new(&prepared.beside, file).map_err(|error| taken(file, error))?;
            Ok(disk::sync_dir_of(file)?)
        }
        (Change::Put { .. } | Change::Join { .. }, Some(prepared)) => {
            let Some(swap) = swap(change, prepared, false) else { return Ok(()) };
            let Swapped { kept, notes } = swap.carry_out()?;
            progress.kept.push(kept);
            progress.notes.extend(notes);
            Ok(())
        }
        (Change::Move { from, before, .. }, _) => {
            let at = keep(from, &places(change)).map_err(|error| moved_wrong(change, error))?;
            if at == *from {
                return Err(ApplyError::InUse(from.clone()));
            }
            if let Some(before) = before {
                // Somebody may have saved it a moment ago; then taking back brings that back.
                if disk::stamp(&at)? != *before {
                    return Err(ApplyError::Changed(from.clone()));
                }
                let (file, known) = (from.clone(), before.clone());
                progress.kept.push(Kept { file, at, known, carries: false });
            }
            Ok(())
        }
        (Change::Tidy { dir }, _) => Ok(disk::remove_empty_dir(dir)?),
        _ => Ok(()),
    }
}

fn taken(file: &Path, error: WriteError) -> ApplyError {
    match error.source.kind() {
        ErrorKind::AlreadyExists => ApplyError::Exists(file.to_owned()),
        _ => error.into(),
    }
}

fn moved_wrong(change: &Change, error: ApplyError) -> ApplyError {
    match (change, error) {
        (Change::Move { from, to, .. }, ApplyError::Write(error)) => {
            if disk::is_missing(&error.source) && from.symlink_metadata().is_err() {
                return ApplyError::Changed(from.clone());
            }
            taken(to, error)
        }
        (_, error) => error,
    }
}

/// Returns where the old file of a change goes, the best place first.
pub(super) fn places(change: &Change) -> Vec<&Path> {
    match change {
        Change::Put { saved: Some(saved), near, .. }
        | Change::Join { saved, near, .. }
        | Change::Move { to: saved, near, .. } => {
            std::iter::once(saved).chain(near).map(|path| &**path).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the replacement that a change is. `None`: it is none.
pub(super) fn swap<'a>(
    change: &'a Change,
    prepared: &'a Prepared,
    is_resumed: bool,
) -> Option<Swap<'a>> {
    let places = places(change);
    let new = prepared;
    let beside = &*prepared.beside;
    match change {
        Change::Put { file, before: Some(old), carries, .. } => Some(Swap {
            file,
            beside,
            places,
            old: old.clone(),
            new,
            carries: *carries,
            is_copy: true,
            is_resumed,
        }),
        Change::Join { file, .. } => Some(Swap {
            file,
            beside,
            places,
            old: nothing(),
            new,
            carries: true,
            is_copy: false,
            is_resumed,
        }),
        _ => None,
    }
}

/// Adds lines in one write, to the very file that was looked at.
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
    // Somebody else may have been quicker; then ours follows theirs, on a line of its own.
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
