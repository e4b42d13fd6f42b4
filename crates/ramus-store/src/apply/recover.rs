//! Finishes or rolls back the operations of killed processes, and carries over late writes.
//!
//! An operation that cannot be finished now (its directory is unreachable, the disk is full) stays
//! unfinished and is reported. It blocks only its own files, and [`set_aside_unfinished`] gives it up.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::carry_over::{NewLines, carried_note};
use super::file_change::{is_ramus_path, resolve_links, unused_path};
use super::move_file::move_to_first;
use super::own_lines::has_lines;
use super::prepare::temporary_path;
use super::rollback::{roll_back, was_moved};
use super::swap::{FileSwap, Leftovers, begins_with, is_new_content};
use super::{ApplyError, error_chain};
use crate::disk;
use crate::journal::{
    Journal, JournalStep, LateLines, Operation, OperationEnd, PreparedFile, TrashedFile,
};
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
    // Before anything else changes the files that a killed process was carrying lines to.
    check_trashed_files(state, &mut journal, &mut notes, |kept| kept.carrying.is_some());
    let open: Vec<Operation> =
        journal.operations.iter().filter(|operation| operation.end.is_none()).cloned().collect();
    for operation in open {
        let op = operation.op;
        let mut left = Leftovers::default();
        match recover_operation(state, &mut journal, &operation, &mut left) {
            Ok(end) => {
                let became = if end.done { "finished" } else { "rolled back" };
                let left = end.notes.iter().map(|note| format!("; {note}")).collect::<String>();
                notes.push(format!("operation {op} was interrupted and has been {became}{left}"));
            }
            Err(error) => {
                notes.extend(left.notes);
                unfinished.push(UnfinishedOperation { op, why: error_chain(&error) });
            }
        }
    }
    check_trashed_files(state, &mut journal, &mut notes, |_| true);
    Ok(RecoveredJournal { journal, notes, unfinished })
}

fn recover_operation(
    state: &StateDir,
    journal: &mut Journal,
    operation: &Operation,
    left: &mut Leftovers,
) -> Result<OperationEnd, ApplyError> {
    let op = operation.op;
    let is_whole = operation.version > 1 || operation.changes.iter().all(is_append);
    let end = if !is_whole {
        let words = "an older ramus was interrupted; its files are not changed";
        OperationEnd { op, notes: vec![words.to_owned()], ..OperationEnd::default() }
    } else if is_fully_applied(state, operation, left)? {
        finish_operation(operation, left)?;
        let Leftovers { kept, notes } = std::mem::take(left);
        OperationEnd { notes, ..successful_end(operation, kept) }
    } else {
        let all = operation.changes.len();
        let back = roll_back(state, journal, operation, all, None)?;
        let Leftovers { mut kept, mut notes } = std::mem::take(left);
        kept.extend(back.kept);
        notes.extend(back.notes);
        OperationEnd { op, notes, kept, ..OperationEnd::default() }
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
fn is_fully_applied(
    state: &StateDir,
    operation: &Operation,
    left: &mut Leftovers,
) -> Result<bool, ApplyError> {
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
                swap.close_gap(left)?;
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

/// Completes an operation whose changes have all been made.
fn finish_operation(operation: &Operation, left: &mut Leftovers) -> Result<(), ApplyError> {
    for (n, change) in operation.changes.iter().enumerate() {
        if let JournalStep::Move { from, before, .. } = change {
            let mut moved = change.trash_paths().into_iter();
            if let Some(at) = moved.find(|place| place.symlink_metadata().is_ok()) {
                disk::remove_second_name(from, at)?;
                let known = before.clone();
                let kept = known.map(|known| TrashedFile::new(from, at.to_owned(), known, false));
                left.kept.extend(kept);
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
        swap.finish_swap(left)?;
    }
    Ok(())
}

/// A file in the trash that is still checked for late writes.
struct WatchedFile {
    op: u64,
    /// Nothing will ask for it again.
    is_spare: bool,
    /// The new content of an operation that was rolled back. It is only kept while another program has it open.
    is_copy: bool,
    /// What it began with when it was replaced or discarded.
    content: Option<Stamp>,
    /// Where it should be, if it stayed beside the file that has its name because it was open.
    trash: Option<PathBuf>,
    kept: TrashedFile,
}

impl WatchedFile {
    fn new(
        state: &StateDir,
        operation: &Operation,
        end: &OperationEnd,
        kept: &TrashedFile,
    ) -> Self {
        let change_of = |prepared: &PreparedFile| operation.changes.get(prepared.change);
        // What came out of the trash is prepared, too, but nobody wrote it anew.
        let is_written = |prepared: &&PreparedFile| {
            let change = change_of(prepared);
            let is_new = |change: &JournalStep| {
                !matches!(change, JournalStep::Join { .. } | JournalStep::Move { .. })
            };
            change.is_some_and(is_new) && is_new_content(prepared, &kept.at).unwrap_or(false)
        };
        let copy = operation.prepared.iter().find(is_written).filter(|_| !end.done);
        let replaced = operation.changes.iter().find_map(|change| match change {
            JournalStep::Put { file, saved, before, .. } if *file == kept.file => {
                Some((saved.clone(), before.clone()))
            }
            _ => None,
        });
        let (saved, before) = replaced.unwrap_or_default();
        let removed_from = || operation.prepared.iter().find_map(|prepared| prepared.old.clone());
        let unused = || {
            let name = kept.file.file_name().unwrap_or_default().to_string_lossy();
            unused_path(state.trash_dir(operation.op).join(format!("open-{name}")))
        };
        let is_beside = !is_ramus_path(state, &kept.at);
        Self {
            op: operation.op,
            // An undo cannot be undone.
            is_spare: operation.undoes.is_some() || operation.undone_by.is_some() || !end.done,
            is_copy: copy.is_some_and(|copy| copy.stamp == kept.known),
            content: copy.map(|copy| copy.stamp.clone()).or(before).or_else(removed_from),
            // An undo looks for it there.
            trash: is_beside.then(|| saved.filter(|_| end.done).unwrap_or_else(unused)),
            kept: kept.clone(),
        }
    }

    /// Whether the file has the content that is known and nothing that was not carried over.
    fn is_unchanged(&self) -> Result<bool, ApplyError> {
        let begins = self.content.as_ref().map(|content| begins_with(content, &self.kept.at));
        Ok(begins.transpose()?.unwrap_or(false)
            && disk::read_len(&self.kept.at)? == self.kept.known.len)
    }
}

/// Checks the files in the trash: a program that had one open may have written to it since.
fn check_trashed_files(
    state: &StateDir,
    journal: &mut Journal,
    notes: &mut Vec<String>,
    is_asked: impl Fn(&TrashedFile) -> bool,
) {
    let mut watched = Vec::new();
    for operation in &journal.operations {
        let Some(end) = &operation.end else { continue };
        let asked = end.kept.iter().filter(|kept| is_asked(kept));
        watched.extend(asked.map(|kept| WatchedFile::new(state, operation, end, kept)));
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
        let has_more = kept.carrying.is_some() || len > kept.known.len;
        if has_more && disk::path_exists(&kept.file)? {
            return carry_late_lines(journal, *op, kept, notes);
        }
        if has_more || len != kept.known.len {
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

/// Appends the lines that came to a file in the trash to the file that has its name.
///
/// The journal says so before. If the process is killed, the next one finds out which of them were appended.
fn carry_late_lines(
    journal: &mut Journal,
    op: u64,
    kept: &TrashedFile,
    notes: &mut Vec<String>,
) -> Result<(), ApplyError> {
    let known = kept.known.len;
    let (lines, since) = match &kept.carrying {
        Some(begun) => (NewLines::read_range(&kept.at, known, begun.to)?, Some(begun.since)),
        None => {
            let lines = NewLines::read(&kept.at, known)?;
            if lines.bytes.is_empty() {
                return Ok(());
            }
            let since = disk::read_len(&kept.file)?;
            journal.write_carrying(op, &kept.at, &LateLines { to: lines.to, since })?;
            (lines, None)
        }
    };
    let known = Stamp { len: lines.to, ..kept.known.clone() };
    notes.extend(carried_note(lines.append_to(&kept.file, since)?, &kept.file));
    Ok(journal.write_trashed(op, &kept.at, Some(known))?)
}

/// Stops checking a file that nobody has open and that has not changed for long. If it stayed beside the
/// file that has its name, it goes to the trash at once, and a copy that nobody needs is removed.
fn stop_watching(
    journal: &mut Journal,
    watched: &WatchedFile,
    notes: &mut Vec<String>,
) -> Result<(), ApplyError> {
    let WatchedFile { op, is_spare, is_copy, trash, kept, .. } = watched;
    let is_due = is_quiet(kept);
    // Who has it open can write to it even after a day.
    if !is_due && trash.is_none() && !is_copy || disk::is_open_elsewhere(&kept.at) {
        return Ok(());
    }
    if disk::read_len(&kept.at)? != kept.known.len {
        return Ok(());
    }
    let is_needless = *is_copy || *is_spare && kept.carries && is_due;
    if is_needless && watched.is_unchanged()? {
        disk::remove_file(&kept.at)?;
        if trash.is_some() {
            notes.push(format!("{} is no longer open and was removed", kept.at.display()));
        }
    } else if let Some(trash) = trash {
        let at = move_to_first(&kept.at, &[trash])?;
        if at == kept.at {
            return Ok(());
        }
        notes.push(format!("{} is no longer open and now at {}", kept.at.display(), at.display()));
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
