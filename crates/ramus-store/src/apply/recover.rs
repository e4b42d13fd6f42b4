//! Finishes or rolls back the operations of killed processes, and carries over late writes.
//!
//! An operation that cannot be finished now (its directory is unreachable, the disk is full) stays
//! unfinished and is reported. It blocks only its own files, and [`set_aside`] gives it up.

use std::fs;
use std::time::{Duration, SystemTime};

use super::file_change::real;
use super::own_lines::has_lines;
use super::prepare::beside;
use super::swap::{Swap, carry_all, is_new};
use super::take_back::{TakenBack, close_gap, is_moved, take_back};
use super::{ApplyError, chain};
use crate::disk;
use crate::journal::{Change, End, Journal, Kept, Operation};
use crate::live::is_open_elsewhere;
use crate::stamp::Stamp;
use crate::state::State;

/// How long a replaced file is checked for late writes.
const LOOKED_AT: Duration = Duration::from_secs(24 * 60 * 60);

/// The journal after recovery, and what the recovery did.
#[derive(Debug)]
pub struct Recovered {
    pub journal: Journal,
    /// What was finished, rolled back or carried over, as sentences.
    pub notes: Vec<String>,
    pub unfinished: Vec<Unfinished>,
}

/// An operation that could neither be finished nor rolled back.
#[derive(Clone, Debug)]
pub struct Unfinished {
    pub op: u64,
    pub why: String,
}

/// Finishes or rolls back what other processes left unfinished, and carries over late writes.
///
/// Returns the journal even if the recovery fails; the result then says why.
pub fn recover(state: &State) -> Result<Recovered, ApplyError> {
    let journal = Journal::read(state)?;
    let is_quiet =
        |operation: &Operation| operation.end.as_ref().is_some_and(|end| end.kept.is_empty());
    if journal.operations.iter().all(is_quiet) || !journal.is_writable() {
        return Ok(Recovered { journal, notes: Vec::new(), unfinished: Vec::new() });
    }
    let settled = match state.lock() {
        Ok(_lock) => settle(state),
        Err(error) => Err(error.into()),
    };
    settled.or_else(|error| {
        let note = format!("earlier operations could not be looked at: {}", chain(&error));
        let open = journal.operations.iter().filter(|operation| operation.end.is_none());
        let unfinished = open.map(|operation| Unfinished { op: operation.op, why: chain(&error) });
        Ok(Recovered { unfinished: unfinished.collect(), journal, notes: vec![note] })
    })
}

/// Gives up operations that cannot be finished, and returns them. Their files stay where they are.
pub fn set_aside(state: &State) -> Result<Vec<Unfinished>, ApplyError> {
    let _lock = state.lock()?;
    let Recovered { mut journal, unfinished, .. } = settle(state)?;
    for Unfinished { op, why } in &unfinished {
        let notes = vec![why.clone()];
        journal.end(End { op: *op, notes, set_aside: true, ..End::default() })?;
    }
    Ok(unfinished)
}

/// Like [`recover`], for a caller that already holds the lock.
pub(super) fn settle(state: &State) -> Result<Recovered, ApplyError> {
    let mut journal = Journal::read(state)?;
    if !journal.is_writable() {
        return Err(ApplyError::Newer(state.dir().to_owned()));
    }
    let mut notes = Vec::new();
    let mut unfinished = Vec::new();
    let open: Vec<Operation> =
        journal.operations.iter().filter(|operation| operation.end.is_none()).cloned().collect();
    for operation in open {
        let op = operation.op;
        match settle_one(state, &mut journal, &operation) {
            Ok(end) => {
                let became = if end.done { "finished" } else { "taken back" };
                let left = end.notes.iter().map(|note| format!("; {note}")).collect::<String>();
                notes.push(format!("operation {op} was interrupted and has been {became}{left}"));
            }
            Err(error) => unfinished.push(Unfinished { op, why: chain(&error) }),
        }
    }
    look_again(&mut journal, &mut notes);
    Ok(Recovered { journal, notes, unfinished })
}

fn settle_one(
    state: &State,
    journal: &mut Journal,
    operation: &Operation,
) -> Result<End, ApplyError> {
    let is_whole = operation.version > 1 || operation.changes.iter().all(is_append);
    let end = if !is_whole {
        let words = "an older ramus was interrupted in it; its files are left as they are";
        End { op: operation.op, notes: vec![words.to_owned()], ..End::default() }
    } else if is_done(state, operation)? {
        let kept = finish(operation)?;
        done(operation, kept)
    } else {
        let all = operation.changes.len();
        let TakenBack { left, kept } = take_back(state, journal, operation, all, None)?;
        End { op: operation.op, notes: left, kept, ..End::default() }
    };
    journal.end(end.clone())?;
    Ok(end)
}

fn is_append(change: &Change) -> bool {
    matches!(change, Change::Append { .. })
}

/// Returns the journal entry of a completed operation, with the new files as they were written. They may
/// have changed since.
pub(super) fn done(operation: &Operation, kept: Vec<Kept>) -> End {
    let made = operation.changes.iter().enumerate().filter_map(|(n, change)| match change {
        Change::Make { file } | Change::Put { file, .. } => {
            Some((file.clone(), operation.prepared_for(n)?.stamp.clone()))
        }
        _ => None,
    });
    End { op: operation.op, done: true, made: made.collect(), kept, ..End::default() }
}

/// Whether all changes of an operation have been made.
fn is_done(state: &State, operation: &Operation) -> Result<bool, ApplyError> {
    for (n, change) in operation.changes.iter().enumerate() {
        let prepared = operation.prepared_for(n);
        let is_done = match (change, prepared) {
            (Change::Append { file, before, text, .. }, None) => has_lines(file, before, text)?,
            // A rollback that removes the lines had begun.
            (Change::Append { .. }, Some(_)) => false,
            (Change::Make { file }, Some(prepared)) => is_new(prepared, file)?,
            (Change::Put { .. } | Change::Join { .. }, Some(prepared)) => {
                let Some(swap) = Swap::resumed(change, prepared) else { return Ok(false) };
                close_gap(&swap)?;
                match disk::exists(swap.beside)? {
                    true => !is_new(prepared, swap.beside)?,
                    false => swap.places.iter().any(|place| place.symlink_metadata().is_ok()),
                }
            }
            (Change::Move { from, .. }, _) => {
                change.places().iter().any(|place| is_moved(state, place, from))
            }
            (Change::MakeDir { .. } | Change::Tidy { .. } | Change::Cut { .. }, _) => true,
            (Change::Make { .. } | Change::Put { .. } | Change::Join { .. }, None) => false,
        };
        if !is_done {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Completes an operation whose changes have all been made. Returns the files that it moved to the trash.
fn finish(operation: &Operation) -> Result<Vec<Kept>, ApplyError> {
    let mut all = Vec::new();
    for (n, change) in operation.changes.iter().enumerate() {
        if let Change::Move { from, before: Some(before), .. } = change {
            let moved = change.places();
            if let Some(at) = moved.into_iter().find(|place| place.symlink_metadata().is_ok()) {
                let (file, at, known) = (from.clone(), at.to_owned(), before.clone());
                all.push(Kept { file, at, known, carries: false });
            }
        }
        if let Change::Tidy { dir } = change {
            disk::remove_empty_dir(dir)?;
        }
        if let Change::Append { file, .. } = change {
            // Somebody wanted to take the lines off, and could not.
            disk::remove(&beside(operation, n, &real(file)?))?;
        }
        let swap = operation.prepared_for(n).and_then(|prepared| Swap::resumed(change, prepared));
        let Some(mut swap) = swap else { continue };
        let kept = swap.places.iter().find(|place| place.symlink_metadata().is_ok()).copied();
        if !disk::exists(swap.beside)?
            && let Some(kept) = kept
        {
            // It is in the trash already, but lines added at its end may not have been carried over.
            swap.beside = kept;
            swap.places = Vec::new();
        }
        all.push(swap.finish()?.0);
    }
    Ok(all)
}

/// Checks the files in the trash: a program that had one open may have written to it since.
fn look_again(journal: &mut Journal, notes: &mut Vec<String>) {
    let kept: Vec<(u64, bool, Kept)> = journal
        .operations
        .iter()
        .filter_map(|operation| Some((operation, operation.end.as_ref()?)))
        .flat_map(|(operation, end)| {
            // An undo cannot be undone, so nothing will ask for this file again.
            let is_spare = operation.undoes.is_some() || operation.undone_by.is_some() || !end.done;
            end.kept.iter().map(move |kept| (operation.op, is_spare, kept.clone()))
        })
        .collect();
    for (op, is_spare, kept) in kept {
        // A file that cannot be read now is checked again next time.
        let _ = look_at(journal, op, is_spare, &kept, notes);
    }
}

fn look_at(
    journal: &mut Journal,
    op: u64,
    is_spare: bool,
    kept: &Kept,
    notes: &mut Vec<String>,
) -> Result<(), ApplyError> {
    if !disk::exists(&kept.at)? {
        return Ok(journal.looked(op, &kept.at, None)?);
    }
    if kept.carries {
        let len = disk::read_len(&kept.at)?;
        if len > kept.known.len && disk::exists(&kept.file)? {
            let known = carry_all(&kept.at, kept.known.len, &kept.file, None, notes)?;
            if known > kept.known.len {
                let known = Stamp { len: known, ..kept.known.clone() };
                journal.looked(op, &kept.at, Some(known))?;
            }
            return Ok(());
        }
        if len == kept.known.len && rests(kept) {
            if is_spare && !is_open_elsewhere(&kept.at) {
                disk::remove(&kept.at)?;
            }
            journal.looked(op, &kept.at, None)?;
        }
        return Ok(());
    }
    let now = disk::stamp(&kept.at)?;
    if now != kept.known {
        notes.push(format!(
            "another program saved {} after it was moved away; that version is {}",
            kept.file.display(),
            kept.at.display()
        ));
        journal.looked(op, &kept.at, Some(now))?;
    } else if rests(kept) {
        journal.looked(op, &kept.at, None)?;
    }
    Ok(())
}

/// Whether a file has been unchanged for so long that no late write is expected.
fn rests(kept: &Kept) -> bool {
    let age = |time: SystemTime| SystemTime::now().duration_since(time).unwrap_or_default();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // `ctime` counts from the move to the trash, `mtime` would not.
        fs::metadata(&kept.at).is_ok_and(|meta| {
            let changed = Duration::from_secs(u64::try_from(meta.ctime()).unwrap_or(0));
            age(SystemTime::UNIX_EPOCH + changed) > LOOKED_AT
        })
    }
    #[cfg(not(unix))]
    fs::metadata(&kept.at).and_then(|meta| meta.modified()).is_ok_and(|time| age(time) > LOOKED_AT)
}
