//! Back: what an operation did is undone, or an earlier version of a session brought back (R28).

use std::path::{Path, PathBuf};

use crate::backup::Backup;
use crate::error::PathError;
use crate::journal::{Deed, Journal, Operation};
use crate::plan::{Content, Plan, Step, What};
use crate::stamp::Stamp;

/// Why something cannot be undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("there is nothing to undo")]
    Nothing,
    #[error("there is no operation {0}")]
    Unknown(u64),
    #[error("operation {op} was undone already, by operation {by}")]
    Undone { op: u64, by: u64 },
    #[error("operation {0} was not carried out")]
    NotDone(u64),
    #[error("operation {0} was an undo itself")]
    IsUndo(u64),
    #[error("{} has gone on since operation {op}", .file.display())]
    WentOn { op: u64, file: PathBuf },
    #[error("no version of session {0} was kept")]
    NoVersion(String),
    #[error(transparent)]
    Read(#[from] PathError),
}

/// Plans to undo an operation; without a number the last one below one of the roots.
pub fn undo(journal: &Journal, op: Option<u64>, roots: &[PathBuf]) -> Result<Plan, UndoError> {
    let operation = match op {
        Some(op) => journal.operation(op).ok_or(UndoError::Unknown(op))?,
        None => {
            let open = journal.operations.iter().rev().filter(|operation| is_open(operation));
            let mut here = open.filter(|operation| is_below(operation, roots));
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
    for deed in operation.deeds.iter().rev() {
        steps.extend(reversed(operation, deed)?);
    }
    Ok(Plan {
        what: What::Undo,
        session: operation.session.clone(),
        file: operation.file.clone(),
        root: root_of(&operation.file, roots),
        words: format!("of {op} ({} {})", operation.what.word(), operation.words.trim()),
        steps,
        resume: None,
        undoes: Some(op),
    })
}

/// Whether an operation was carried out and not taken back; what came after it may still forbid that.
pub fn is_open(operation: &Operation) -> bool {
    operation.is_done() && operation.undone_by.is_none() && operation.undoes.is_none()
}

/// Whether a session can be brought back as it was before an operation, and is not so now. Out of
/// the trash it comes by undoing.
pub fn can_restore(operation: &Operation) -> bool {
    match &operation.backup {
        Some(backup) => is_other(operation, backup),
        None => operation.what == What::Trash && is_open(operation),
    }
}

/// Whether a kept version is not what is there now. Histories grow: their length tells.
fn is_other(operation: &Operation, backup: &Backup) -> bool {
    let now = std::fs::metadata(&operation.file).map(|meta| meta.len());
    now.ok() != Some(backup.len)
}

/// Whether an operation was about a file in one of the directories.
pub fn is_below(operation: &Operation, roots: &[PathBuf]) -> bool {
    root_of(&operation.file, roots).is_some()
}

fn root_of(file: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The file itself may be gone; its directory rarely is.
    let place = file.parent().map(real).unwrap_or_default();
    roots.iter().find(|root| place.starts_with(real(root)) || file.starts_with(root)).cloned()
}

/// Returns the step that takes a deed back, if nothing came after it.
fn reversed(operation: &Operation, deed: &Deed) -> Result<Option<Step>, UndoError> {
    let went_on = |file: &Path| UndoError::WentOn { op: operation.op, file: file.to_owned() };
    let as_left = |file: &Path| {
        let made = operation.end.iter().flat_map(|end| &end.made);
        let left = made.into_iter().find(|(path, _)| path == file).map(|(_, stamp)| stamp);
        Stamp::at(file).is_ok_and(|now| left == Some(&now))
    };
    Ok(Some(match deed {
        Deed::Append { file, before, text, modified } => {
            let now = Stamp::at(file).map_err(|source| PathError::new(file, source))?;
            let is_last = now.len == before.len + text.len() as u64
                && before.begins(file).is_ok_and(|same| same)
                && ends_with(file, text.as_bytes());
            if !is_last {
                return Err(went_on(file));
            }
            Step::Cut { file: file.clone(), before: now, to: before.len, modified: *modified }
        }
        Deed::Make { file } if as_left(file) => {
            Step::Move { from: file.clone(), to: None, before: None }
        }
        Deed::Make { file } => return Err(went_on(file)),
        Deed::MakeDir { dir } => Step::Tidy { dir: dir.clone() },
        Deed::Put { file, saved, .. } => {
            if !as_left(file) {
                return Err(went_on(file));
            }
            match saved {
                Some(saved) => Step::Put {
                    file: file.clone(),
                    before: Stamp::at(file).ok(),
                    content: Content::Copy(saved.clone()),
                },
                None => Step::Move { from: file.clone(), to: None, before: None },
            }
        }
        Deed::Move { from, to } => {
            Step::Move { from: to.clone(), to: Some(from.clone()), before: None }
        }
        Deed::Cut { .. } => return Ok(None),
    }))
}

fn ends_with(file: &Path, text: &[u8]) -> bool {
    use std::io::{Read, Seek, SeekFrom};
    let mut end = Vec::new();
    let read = std::fs::File::open(file).and_then(|mut file| {
        file.seek(SeekFrom::End(-(text.len() as i64)))?;
        file.read_to_end(&mut end)
    });
    read.is_ok() && end == text
}

/// Plans to bring back a session as it was before an operation.
///
/// Without a number: the newest version kept that is not what is there now.
pub fn restore(
    journal: &Journal,
    session: &str,
    at: Option<u64>,
    roots: &[PathBuf],
) -> Result<Plan, UndoError> {
    let kept = || {
        let of_session = journal
            .operations
            .iter()
            .rev()
            .filter(|operation| operation.session == session && is_below(operation, roots));
        of_session.filter_map(|operation| Some((operation, operation.backup.as_ref()?)))
    };
    let no_version = || UndoError::NoVersion(session.to_owned());
    let (operation, backup) = match at {
        Some(op) => {
            let mut kept = kept();
            kept.find(|(operation, _)| operation.op == op).ok_or_else(no_version)?
        }
        None => {
            kept().find(|(operation, backup)| is_other(operation, backup)).ok_or_else(no_version)?
        }
    };
    let bytes = backup.bytes().map_err(|source| PathError::new(&backup.copy, source))?;
    let file = operation.file.clone();
    Ok(Plan {
        what: What::Restore,
        session: session.to_owned(),
        root: root_of(&file, roots),
        words: format!("as it was before {}", operation.op),
        steps: vec![Step::Put {
            before: Stamp::at(&file).ok(),
            file: file.clone(),
            content: Content::Bytes(bytes),
        }],
        file,
        resume: None,
        undoes: None,
    })
}
