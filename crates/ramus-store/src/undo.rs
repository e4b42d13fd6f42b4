//! Plans to undo an operation, or to restore an earlier version of a session (R28).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::apply::can_join;
use crate::backup::SessionBackup;
use crate::error::PathError;
use crate::file_mode::file_mode;
use crate::journal::{Journal, JournalStep, Operation};
use crate::plan::{FileTime, NewContent, OperationKind, PlanStep, WritePlan};
use crate::real_path::real_path_or_given;
use crate::stamp::Stamp;

/// Why something cannot be undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("nothing to undo")]
    Nothing,
    #[error("no operation {0}")]
    Unknown(u64),
    #[error("operation {op} was already undone by operation {by}")]
    Undone { op: u64, by: u64 },
    #[error("operation {0} was not completed")]
    NotDone(u64),
    #[error("operation {0} is an undo and cannot be undone")]
    IsUndo(u64),
    #[error("{} has changed since operation {op}", .file.display())]
    ChangedSince { op: u64, file: PathBuf },
    #[error("{} was created again since operation {op}; the earlier version is {}", .file.display(), .kept.display())]
    Recreated { op: u64, file: PathBuf, kept: PathBuf },
    #[error("the backup of {} from operation {op} no longer exists", .file.display())]
    TrashedFileGone { op: u64, file: PathBuf },
    #[error("no backup of session {0} exists")]
    NoVersion(String),
    #[error(transparent)]
    Read(#[from] PathError),
}

/// Plans to undo an operation. Without a number: the last one below one of the roots.
pub fn plan_undo(
    journal: &Journal,
    op: Option<u64>,
    roots: &[PathBuf],
) -> Result<WritePlan, UndoError> {
    let operation = match op {
        Some(op) => journal.operation(op).ok_or(UndoError::Unknown(op))?,
        None => {
            let open = journal.operations.iter().rev().filter(|operation| is_in_effect(operation));
            let mut here = open.filter(|operation| is_in_roots(operation, roots));
            here.next().ok_or(UndoError::Nothing)?
        }
    };
    let op = operation.op;
    if let Some(by) = operation.undone_by {
        return Err(UndoError::Undone { op, by });
    }
    if operation.undoes.is_some() {
        return Err(UndoError::IsUndo(op));
    }
    if !operation.is_done() {
        return Err(UndoError::NotDone(op));
    }
    let mut steps = Vec::new();
    for (n, change) in operation.changes.iter().enumerate().rev() {
        steps.extend(reverse_steps(operation, n, change)?);
    }
    Ok(WritePlan {
        what: OperationKind::Undo,
        session: operation.session.clone(),
        file: operation.file.clone(),
        root: root_of(&operation.file, roots),
        words: format!("of {op} ({} {})", operation.what.as_str(), operation.words.trim()),
        steps,
        resume: None,
        left_out: 0,
        unreported: 0,
        undoes: Some(op),
    })
}

/// Finds the operation that moved a session to the trash, if the session is still there.
pub fn find_trash_operation(journal: &Journal, session: &str, roots: &[PathBuf]) -> Option<u64> {
    let of_session = |operation: &&Operation| {
        operation.session == session && is_in_roots(operation, roots) && is_in_effect(operation)
    };
    let last = journal.operations.iter().rev().find(of_session)?;
    (last.what == OperationKind::Trash && !last.file.exists()).then_some(last.op)
}

/// Whether an operation was completed and not undone. Later changes may still prevent an undo.
pub fn is_in_effect(operation: &Operation) -> bool {
    operation.is_done() && operation.undone_by.is_none() && operation.undoes.is_none()
}

/// Compares the backups of operations with their files. Each file is read once, and only if a backup has its length.
#[derive(Default)]
pub struct BackupComparison {
    files: HashMap<PathBuf, Option<Stamp>>,
}

impl BackupComparison {
    /// Whether a session can be restored to its state before an operation and differs from it now. A session
    /// in the trash is restored by undoing.
    pub fn can_restore(&mut self, operation: &Operation) -> bool {
        match &operation.backup {
            Some(backup) => self.differs(operation, backup),
            None => operation.what == OperationKind::Trash && is_in_effect(operation),
        }
    }

    /// Whether a backup differs from the current file. A file that cannot be read differs.
    fn differs(&mut self, operation: &Operation, backup: &SessionBackup) -> bool {
        let file = &operation.file;
        if std::fs::metadata(file).map(|meta| meta.len()).ok() != Some(backup.len) {
            return true;
        }
        let now = self.files.entry(file.clone()).or_insert_with(|| Stamp::of_file(file).ok());
        now.as_ref() != Some(&backup.stamp())
    }
}

/// Whether an operation changed a file in one of the directories.
pub fn is_in_roots(operation: &Operation, roots: &[PathBuf]) -> bool {
    root_of(&operation.file, roots).is_some()
}

fn root_of(file: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    // The file may no longer exist; its directory usually does.
    let place = file.parent().map(real_path_or_given).unwrap_or_default();
    roots
        .iter()
        .find(|root| place.starts_with(real_path_or_given(root)) || file.starts_with(root))
        .cloned()
}

/// Returns the steps that reverse a journal step, if the file has not changed since.
fn reverse_steps(
    operation: &Operation,
    n: usize,
    change: &JournalStep,
) -> Result<Vec<PlanStep>, UndoError> {
    let op = operation.op;
    let went_on = |file: &Path| UndoError::ChangedSince { op, file: file.to_owned() };
    let gone = |file: &Path| UndoError::TrashedFileGone { op, file: file.to_owned() };
    let as_left = |file: &Path| {
        let made = operation.end.iter().flat_map(|end| &end.made);
        let left = made.into_iter().find(|(path, _)| path == file).map(|(_, stamp)| stamp);
        let now = Stamp::of_file(file).map_err(|source| PathError::new(file, source))?;
        if left == Some(&now) { Ok(now) } else { Err(went_on(file)) }
    };
    Ok(match change {
        JournalStep::Append { file, before, text, modified } => {
            let now = Stamp::of_file(file).map_err(|source| PathError::new(file, source))?;
            let is_last = now.len == before.len + text.len() as u64
                && before.is_prefix_of(file).is_ok_and(|same| same)
                && file_ends_with(file, text.as_bytes());
            if !is_last {
                return Err(went_on(file));
            }
            let (wanted, modified) = (before.clone(), *modified);
            vec![PlanStep::RemoveLines { file: file.clone(), before: now, wanted, modified }]
        }
        JournalStep::Make { file } | JournalStep::Put { file, before: None, .. } => {
            let before = Some(as_left(file)?);
            vec![PlanStep::MoveFile { from: file.clone(), to: None, before }]
        }
        JournalStep::MakeDir { dir } => vec![PlanStep::RemoveEmptyDir { dir: dir.clone() }],
        JournalStep::Put { file, saved, near, before: Some(before), .. } => {
            let now = as_left(file)?;
            // It stays beside the new file while another program has it open.
            let beside = operation.prepared_for(n).map(|prepared| &prepared.beside);
            let places = saved.iter().chain(near).chain(beside);
            let saved = first_existing(places).ok_or_else(|| gone(file))?;
            let content = earlier_content(saved, before)?;
            vec![PlanStep::ReplaceFile { file: file.clone(), before: Some(now), content }]
        }
        JournalStep::Move { from, to, near, .. } => {
            let kept = first_existing(std::iter::once(to).chain(near)).ok_or_else(|| gone(from))?;
            let mut steps = Vec::new();
            plan_move_back(operation, kept, from, &mut steps)?;
            steps
        }
        // Only an undo has these steps, and an undo cannot be undone.
        JournalStep::Cut { .. } | JournalStep::Join { .. } | JournalStep::Tidy { .. } => Vec::new(),
    })
}

/// Returns the first path that exists.
fn first_existing<'a>(mut places: impl Iterator<Item = &'a PathBuf>) -> Option<&'a Path> {
    places.find(|place| place.symlink_metadata().is_ok()).map(|place| &**place)
}

/// Returns the earlier content of a replaced file, with its mode and date.
fn earlier_content(saved: &Path, before: &Stamp) -> Result<NewContent, PathError> {
    let error = |source| PathError::new(saved, source);
    let meta = saved.metadata().map_err(error)?;
    let mode = file_mode(&meta).unwrap_or(0);
    let modified = Some(FileTime::from(meta.modified().map_err(error)?));
    let content = NewContent::Beginning { path: saved.to_owned(), stamp: before.clone() };
    Ok(NewContent::WithMode { content: Box::new(content), mode, modified })
}

/// Plans to move something back out of the trash. If it has been created again, session lines are joined and
/// directories are merged.
fn plan_move_back(
    operation: &Operation,
    kept: &Path,
    to: &Path,
    steps: &mut Vec<PlanStep>,
) -> Result<(), UndoError> {
    let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    if to.symlink_metadata().is_err() {
        let (from, to) = (kept.to_owned(), Some(to.to_owned()));
        steps.push(PlanStep::MoveFile { from, to, before: None });
    } else if is_dir(kept) && is_dir(to) {
        let entries = kept.read_dir().map_err(|source| PathError::new(kept, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| PathError::new(kept, source))?;
            plan_move_back(operation, &entry.path(), &to.join(entry.file_name()), steps)?;
        }
        steps.push(PlanStep::RemoveEmptyDir { dir: kept.to_owned() });
    } else if operation.what != OperationKind::RestoreFiles && can_join(kept, to) {
        steps.push(PlanStep::RejoinTrashed { from: kept.to_owned(), file: to.to_owned() });
    } else {
        let (file, kept) = (to.to_owned(), kept.to_owned());
        return Err(UndoError::Recreated { op: operation.op, file, kept });
    }
    Ok(())
}

fn file_ends_with(file: &Path, text: &[u8]) -> bool {
    use std::io::{Read, Seek, SeekFrom};
    let mut end = Vec::new();
    let read = std::fs::File::open(file).and_then(|mut file| {
        file.seek(SeekFrom::End(-(text.len() as i64)))?;
        file.read_to_end(&mut end)
    });
    read.is_ok() && end == text
}

/// Plans to restore a session to its state before an operation.
///
/// Without a number: the newest backup that differs from the current file.
pub fn plan_restore(
    journal: &Journal,
    session: &str,
    at: Option<u64>,
    roots: &[PathBuf],
) -> Result<WritePlan, UndoError> {
    let kept = || {
        let of_session = journal
            .operations
            .iter()
            .rev()
            .filter(|operation| operation.session == session && is_in_roots(operation, roots));
        of_session.filter_map(|operation| Some((operation, operation.backup.as_ref()?)))
    };
    let no_version = || UndoError::NoVersion(session.to_owned());
    let (operation, backup) = match at {
        Some(op) => {
            let mut kept = kept();
            kept.find(|(operation, _)| operation.op == op).ok_or_else(no_version)?
        }
        None => {
            let mut comparison = BackupComparison::default();
            let mut kept = kept();
            kept.find(|(operation, backup)| comparison.differs(operation, backup))
                .ok_or_else(no_version)?
        }
    };
    let content = NewContent::Beginning { path: backup.copy.clone(), stamp: backup.stamp() };
    let file = operation.file.clone();
    Ok(WritePlan {
        what: OperationKind::Restore,
        session: session.to_owned(),
        root: root_of(&file, roots),
        words: format!("as it was before operation {}", operation.op),
        steps: vec![PlanStep::ReplaceFile {
            before: match file.symlink_metadata() {
                Ok(_) => {
                    Some(Stamp::of_file(&file).map_err(|source| PathError::new(&file, source))?)
                }
                Err(_) => None,
            },
            file: file.clone(),
            content,
        }],
        file,
        resume: None,
        left_out: 0,
        unreported: 0,
        undoes: None,
    })
}
