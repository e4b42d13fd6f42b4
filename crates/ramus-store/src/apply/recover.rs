//! Finishes or rolls back the operations of killed processes, and carries over late writes.
//!
//! An operation that cannot be finished now (its directory is unreachable, the disk is full) stays
//! unfinished and is reported. It blocks only its own files, and [`set_aside_unfinished`] gives it up.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::carry_over::carry_over;
use super::file_change::{is_ramus_path, resolve_links};
use super::move_file::move_to_first;
use super::own_lines::has_lines;
use super::prepare::temporary_path;
use super::rollback::{Rollback, close_gap, roll_back, was_moved};
use super::swap::{FileSwap, is_new_content};
use super::{ApplyError, error_chain};
use crate::disk;
use crate::journal::{Journal, JournalStep, Operation, OperationEnd, TrashedFile};
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// How long a replaced file is checked for late writes.
const LATE_WRITE_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// The journal after recovery, and what the recovery did.
#[derive(Debug)]
pub struct RecoveredJournal {
    pub journal: Journal,
    /// What was finished, rolled back or carried over, as sentences.
    pub notes: Vec<String>,
    pub unfinished: Vec<UnfinishedOperation>,
}

/// An operation that could neither be finished nor rolled back.
#[derive(Clone, Debug)]
pub struct UnfinishedOperation {
    pub op: u64,
    pub why: String,
}

/// Finishes or rolls back what other processes left unfinished, and carries over late writes.
///
/// Returns the journal even if the recovery fails; the result then says why.
pub fn recover_operations(state: &StateDir) -> Result<RecoveredJournal, ApplyError> {
    let journal = Journal::read(state)?;
    let is_quiet =
        |operation: &Operation| operation.end.as_ref().is_some_and(|end| end.kept.is_empty());
    if journal.operations.iter().all(is_quiet) || !journal.is_writable() {
        return Ok(RecoveredJournal { journal, notes: Vec::new(), unfinished: Vec::new() });
    }
    let settled = match state.lock() {
        Ok(_lock) => recover_locked(state),
        Err(error) => Err(error.into()),
    };
    settled.or_else(|error| {
        let note = format!("earlier operations could not be checked: {}", error_chain(&error));
        let open = journal.operations.iter().filter(|operation| operation.end.is_none());
        let unfinished = open
            .map(|operation| UnfinishedOperation { op: operation.op, why: error_chain(&error) });
        Ok(RecoveredJournal { unfinished: unfinished.collect(), journal, notes: vec![note] })
    })
}

/// Gives up operations that cannot be finished, and returns them. Their files stay where they are.
pub fn set_aside_unfinished(state: &StateDir) -> Result<Vec<UnfinishedOperation>, ApplyError> {
    let _lock = state.lock()?;
    let RecoveredJournal { mut journal, unfinished, .. } = recover_locked(state)?;
    for UnfinishedOperation { op, why } in &unfinished {
        let notes = vec![why.clone()];
        journal.write_end(OperationEnd {
            op: *op,
            notes,
            set_aside: true,
            ..OperationEnd::default()
        })?;
    }
    Ok(unfinished)
}

/// Like [`recover_operations`], for a caller that already holds the lock.
pub(super) fn recover_locked(state: &StateDir) -> Result<RecoveredJournal, ApplyError> {
    let mut journal = Journal::read(state)?;
    if !journal.is_writable() {
        return Err(ApplyError::NewerJournal(state.path().to_owned()));
    }
    let mut notes = Vec::new();
    let mut unfinished = Vec::new();
    let open: Vec<Operation> =
        journal.operations.iter().filter(|operation| operation.end.is_none()).cloned().collect();
    for operation in open {
        let op = operation.op;
        match recover_operation(state, &mut journal, &operation) {
            Ok(end) => {
                let became = if end.done { "finished" } else { "rolled back" };
                let left = end.notes.iter().map(|note| format!("; {note}")).collect::<String>();
                notes.push(format!("operation {op} was interrupted and has been {became}{left}"));
            }
            Err(error) => unfinished.push(UnfinishedOperation { op, why: error_chain(&error) }),
        }
    }
    check_trashed_files(state, &mut journal, &mut notes);
    Ok(RecoveredJournal { journal, notes, unfinished })
}

fn recover_operation(
    state: &StateDir,
    journal: &mut Journal,
    operation: &Operation,
) -> Result<OperationEnd, ApplyError> {
    let is_whole = operation.version > 1 || operation.changes.iter().all(is_append);
    let end = if !is_whole {
        let words = "an older ramus was interrupted; its files are not changed";
        OperationEnd { op: operation.op, notes: vec![words.to_owned()], ..OperationEnd::default() }
    } else if is_fully_applied(state, operation)? {
        let (kept, notes) = finish_operation(operation)?;
        OperationEnd { notes, ..successful_end(operation, kept) }
    } else {
        let all = operation.changes.len();
        let Rollback { left, kept } = roll_back(state, journal, operation, all, None)?;
        OperationEnd { op: operation.op, notes: left, kept, ..OperationEnd::default() }
    };
    journal.write_end(end.clone())?;
    Ok(end)
}

fn is_append(change: &JournalStep) -> bool {
    matches!(change, JournalStep::Append { .. })
}

/// Returns the journal entry of a completed operation, with the new files as they were written. They may
/// have changed since.
pub(super) fn successful_end(operation: &Operation, kept: Vec<TrashedFile>) -> OperationEnd {
    let made = operation.changes.iter().enumerate().filter_map(|(n, change)| match change {
        JournalStep::Make { file } | JournalStep::Put { file, .. } => {
            Some((file.clone(), operation.prepared_for(n)?.stamp.clone()))
        }
        _ => None,
    });
    OperationEnd {
        op: operation.op,
        done: true,
        made: made.collect(),
        kept,
        ..OperationEnd::default()
    }
}

/// Whether all changes of an operation have been made.
fn is_fully_applied(state: &StateDir, operation: &Operation) -> Result<bool, ApplyError> {
    for (n, change) in operation.changes.iter().enumerate() {
        let prepared = operation.prepared_for(n);
        let is_done = match (change, prepared) {
            (JournalStep::Append { file, before, text, .. }, None) => {
                has_lines(file, before, text)?
            }
            // A rollback that removes the lines had begun.
            (JournalStep::Append { .. }, Some(_)) => false,
            (JournalStep::Make { file }, Some(prepared)) => is_new_content(prepared, file)?,
            (JournalStep::Put { .. } | JournalStep::Join { .. }, Some(prepared)) => {
                let Some(swap) = FileSwap::from_journal(change, prepared) else { return Ok(false) };
                close_gap(&swap)?;
                match disk::path_exists(swap.temporary)? {
                    true => !is_new_content(prepared, swap.temporary)?,
                    false => swap.trash_paths.iter().any(|place| place.symlink_metadata().is_ok()),
                }
            }
            (JournalStep::Move { from, .. }, _) => {
                !disk::path_exists(&temporary_path(operation, n, from))?
                    && change.trash_paths().iter().any(|place| was_moved(state, place, from))
            }
            (
                JournalStep::MakeDir { .. } | JournalStep::Tidy { .. } | JournalStep::Cut { .. },
                _,
            ) => true,
            (
                JournalStep::Make { .. } | JournalStep::Put { .. } | JournalStep::Join { .. },
                None,
            ) => false,
        };
        if !is_done {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Completes an operation whose changes have all been made. Returns the files that it moved to the trash,
/// and notes for the user.
fn finish_operation(operation: &Operation) -> Result<(Vec<TrashedFile>, Vec<String>), ApplyError> {
    let (mut all, mut notes) = (Vec::new(), Vec::new());
    for (n, change) in operation.changes.iter().enumerate() {
        if let JournalStep::Move { from, before, .. } = change {
            let mut moved = change.trash_paths().into_iter();
            if let Some(at) = moved.find(|place| place.symlink_metadata().is_ok()) {
                disk::remove_second_name(from, at)?;
                all.extend(before.clone().map(|known| {
                    let (file, at) = (from.clone(), at.to_owned());
                    TrashedFile { file, at, known, carries: false }
                }));
            }
        }
        if let JournalStep::Make { file } = change
            && let Some(prepared) = operation.prepared_for(n)
        {
            disk::remove_second_name(&prepared.beside, file)?;
        }
        if let JournalStep::Tidy { dir } = change {
            disk::remove_empty_dir(dir)?;
        }
        if let JournalStep::Append { file, .. } = change {
            // An earlier attempt to remove the lines failed.
            disk::remove_file(&temporary_path(operation, n, &resolve_links(file)?))?;
        }
        let swap =
            operation.prepared_for(n).and_then(|prepared| FileSwap::from_journal(change, prepared));
        let Some(mut swap) = swap else { continue };
        let kept = swap.trash_paths.iter().find(|place| place.symlink_metadata().is_ok()).copied();
        if !disk::path_exists(swap.temporary)?
            && let Some(kept) = kept
        {
            // It is in the trash already, but lines added at its end may not have been carried over.
            swap.temporary = kept;
            swap.trash_paths = Vec::new();
        }
        let finished = swap.finish_swap()?;
        all.push(finished.kept);
        notes.extend(finished.notes);
    }
    Ok((all, notes))
}

/// A file in the trash that is still checked for late writes.
struct WatchedFile {
    op: u64,
    /// Nothing will ask for it again.
    is_spare: bool,
    /// Where it should be, if it stayed beside the file that replaced it because it was open.
    trash: Option<PathBuf>,
    kept: TrashedFile,
}

/// Checks the files in the trash: a program that had one open may have written to it since.
fn check_trashed_files(state: &StateDir, journal: &mut Journal, notes: &mut Vec<String>) {
    let mut watched = Vec::new();
    for operation in &journal.operations {
        let Some(end) = &operation.end else { continue };
        // An undo cannot be undone.
        let is_spare = operation.undoes.is_some() || operation.undone_by.is_some() || !end.done;
        for kept in &end.kept {
            let is_beside = !is_ramus_path(state, &kept.at);
            let trash = operation.changes.iter().find_map(|change| match change {
                JournalStep::Put { file, saved, .. } if is_beside && *file == kept.file => {
                    saved.clone()
                }
                _ => None,
            });
            watched.push(WatchedFile { op: operation.op, is_spare, trash, kept: kept.clone() });
        }
    }
    for watched in watched {
        // A file that cannot be read now is checked again next time.
        let _ = check_trashed_file(journal, &watched, notes);
    }
}

fn check_trashed_file(
    journal: &mut Journal,
    watched: &WatchedFile,
    notes: &mut Vec<String>,
) -> Result<(), ApplyError> {
    let WatchedFile { op, kept, .. } = watched;
    if !disk::path_exists(&kept.at)? {
        return Ok(journal.write_trashed(*op, &kept.at, None)?);
    }
    if kept.carries {
        let len = disk::read_len(&kept.at)?;
        if len > kept.known.len && disk::path_exists(&kept.file)? {
            let known = carry_over(&kept.at, kept.known.len, &kept.file, None, notes)?;
            if known > kept.known.len {
                let known = Stamp { len: known, ..kept.known.clone() };
                journal.write_trashed(*op, &kept.at, Some(known))?;
            }
            return Ok(());
        }
        if len != kept.known.len {
            return Ok(());
        }
    } else {
        let now = disk::stamp_file(&kept.at)?;
        if now != kept.known {
            notes.push(format!(
                "another program saved {} after it was moved to the trash; that version is {}",
                kept.file.display(),
                kept.at.display()
            ));
            return Ok(journal.write_trashed(*op, &kept.at, Some(now))?);
        }
    }
    stop_watching(journal, watched, notes)
}

/// Stops checking a file that nobody has open and that has not changed for long. If it stayed beside the
/// file that replaced it, it goes to the trash at once.
fn stop_watching(
    journal: &mut Journal,
    watched: &WatchedFile,
    notes: &mut Vec<String>,
) -> Result<(), ApplyError> {
    let WatchedFile { op, is_spare, trash, kept } = watched;
    let is_due = is_quiet(kept);
    // Who has it open can write to it even after a day.
    if !is_due && trash.is_none() || disk::is_open_elsewhere(&kept.at) {
        return Ok(());
    }
    if disk::read_len(&kept.at)? != kept.known.len {
        return Ok(());
    }
    if *is_spare && kept.carries && is_due {
        disk::remove_file(&kept.at)?;
    } else if let Some(trash) = trash {
        let at = move_to_first(&kept.at, &[trash])?;
        if at == kept.at {
            return Ok(());
        }
        notes.push(format!(
            "the earlier version of {} is no longer open and now at {}",
            kept.file.display(),
            at.display()
        ));
    }
    Ok(journal.write_trashed(*op, &kept.at, None)?)
}

/// Whether a file has been unchanged for so long that no late write is expected.
fn is_quiet(kept: &TrashedFile) -> bool {
    let age = |time: SystemTime| SystemTime::now().duration_since(time).unwrap_or_default();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // `ctime` counts from the move to the trash, `mtime` would not.
        fs::metadata(&kept.at).is_ok_and(|meta| {
            let changed = Duration::from_secs(u64::try_from(meta.ctime()).unwrap_or(0));
            age(SystemTime::UNIX_EPOCH + changed) > LATE_WRITE_WINDOW
        })
    }
    #[cfg(not(unix))]
    fs::metadata(&kept.at)
        .and_then(|meta| meta.modified())
        .is_ok_and(|time| age(time) > LATE_WRITE_WINDOW)
}
