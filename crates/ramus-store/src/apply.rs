//! The only code that writes a history (R24).
//!
//! An operation runs in these steps:
//!
//! 1. Take the lock, and finish or roll back what a crash left (`recover`).
//! 2. Check that each file is what the plan was made for and that no client uses it.
//! 3. Back up the session and write the operation to the journal.
//! 4. Write the new contents to temporary files and journal their hashes (`prepare`).
//! 5. Give the new contents their names (`publish`, `swap`).
//! 6. Verify by the client's own rule that the session resumes where it should.
//! 7. Write to the journal that the operation is done.
//!
//! Whatever fails on the way is rolled back (`rollback`). If the process is killed,
//! the next ramus command finishes the operation or rolls it back.
//!
//! Other programs may write at the same time, without locks. Nothing they write is
//! lost; `swap` explains how.

mod carry_over;
mod file_change;
mod move_file;
mod own_lines;
mod prepare;
mod publish;
mod recover;
mod rollback;
mod swap;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::resume::ResumeRule;
use ramus_core::time::Time;

use self::file_change::{PreparedChange, plan_file_changes};
use self::publish::ApplyProgress;
pub use self::recover::{
    RecoveredJournal, UnfinishedOperation, recover_operations, set_aside_unfinished,
};
pub(crate) use self::rollback::can_join;
use self::rollback::roll_back;
use self::swap::Leftovers;
use crate::backup::SessionBackup;
use crate::disk::WriteError;
use crate::error::PathError;
use crate::journal::{Journal, JournalStep, Operation, OperationEnd};
use crate::plan::{NewContent, OperationKind, PlanStep, WritePlan, new_id};
use crate::read::from_jsonl;
use crate::real_path::real_path;
use crate::session_in_use::{find_open_client, is_growing};
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// An operation that was carried out.
#[derive(Clone, Debug)]
pub struct AppliedOperation {
    pub op: u64,
    pub backup: Option<PathBuf>,
    /// What else happened, such as lines of other programs that were carried over.
    pub notes: Vec<String>,
}

/// Why an operation was not applied. All files are unchanged unless the error says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("session {session} is open in Claude Code (process {pid})")]
    OpenInClient { session: String, pid: u32 },
    #[error("{} is being written to", .0.display())]
    Growing(PathBuf),
    #[error("{} changed after the plan was made", .0.display())]
    Changed(PathBuf),
    #[error("another program has {} open", .0.display())]
    InUse(PathBuf),
    #[error("{} is outside of the Claude directory, behind a symbolic link", .0.display())]
    OutsideClaudeDir(PathBuf),
    #[error("{} belongs to another user, so it could not be restored exactly", .0.display())]
    NotOwner(PathBuf),
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    #[error("operation {op} was interrupted and could not be finished: {why}")]
    Unfinished { op: u64, why: String },
    #[error("a newer ramus keeps its journal in {}", .0.display())]
    NewerJournal(PathBuf),
    #[error("the new content of {} could not be written; the change was rolled back", .0.display())]
    NotPrepared(PathBuf),
    #[error("Claude Code would not resume where planned; the change was rolled back")]
    NotVerified,
    /// It was rolled back except for what other programs changed in the meantime.
    #[error("{cause}; {}", .left.join("; "))]
    PartlyRolledBack { cause: Box<Self>, left: Vec<String> },
    /// Rolling it back failed too. The next command tries again.
    #[error("{}; rolling back failed too ({}), the next ramus command tries again", error_chain(.cause), error_chain(.error))]
    RollbackFailed { cause: Box<Self>, error: Box<Self> },
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] PathError),
}

/// Returns an error with its causes on one line.
fn error_chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", error_chain(source)),
        None => error.to_string(),
    }
}

impl ApplyError {
    fn partly_rolled_back(cause: Self, left: String) -> Self {
        Self::PartlyRolledBack { cause: Box::new(cause), left: vec![left] }
    }

    fn rollback_failed(cause: Self, error: Self) -> Self {
        Self::RollbackFailed { cause: Box::new(cause), error: Box::new(error) }
    }
}

/// Applies a plan. `force` allows it while the session is open or growing.
pub fn apply_plan(
    state: &StateDir,
    plan: &WritePlan,
    force: bool,
    now: Time,
) -> Result<AppliedOperation, ApplyError> {
    let _lock = state.lock()?;
    let RecoveredJournal { mut journal, mut notes, unfinished } = recover::recover_locked(state)?;
    refuse_unfinished_files(plan, &journal, &unfinished)?;
    check_preconditions(plan, &journal, force)?;
    let op = journal.next_number(state);
    let changes = plan_file_changes(state, plan, op)?;
    let backup = match &plan.steps[..] {
        [PlanStep::AppendLines { file, .. } | PlanStep::RemoveLines { file, .. }, ..] => {
            Some(SessionBackup::save_version(state, file)?)
        }
        [PlanStep::ReplaceFile { file, before: Some(_), .. }, ..]
            if plan.what == OperationKind::Restore =>
        {
            Some(SessionBackup::save_version(state, file)?)
        }
        _ => None,
    };
    let mut operation = Operation {
        op,
        at: now.to_string(),
        what: plan.what,
        session: plan.session.clone(),
        file: plan.file.clone(),
        words: plan.words.clone(),
        changes: changes.iter().map(PreparedChange::to_journal_step).collect(),
        backup,
        undoes: plan.undoes,
        mark: new_id()[..8].to_owned(),
        prepared: Vec::new(),
        end: None,
        undone_by: None,
        version: 0,
    };
    journal.write_begin(&operation)?;
    let mut progress = ApplyProgress::default();
    if let Err(error) = carry_out_plan(plan, &changes, &mut journal, &mut operation, &mut progress)
    {
        return Err(roll_back_and_report(state, &mut journal, &operation, &progress, error));
    }
    notes.extend(progress.left.notes);
    if let Err(error) = journal.write_end(recover::successful_end(&operation, progress.left.kept)) {
        // The changes are complete. The next command notices that and completes the journal.
        notes.push(format!(
            "the operation is done, but the log is not complete yet: {}",
            error_chain(&error)
        ));
    }
    Ok(AppliedOperation { op, backup: operation.backup.map(|backup| backup.copy), notes })
}

fn carry_out_plan(
    plan: &WritePlan,
    changes: &[PreparedChange<'_>],
    journal: &mut Journal,
    operation: &mut Operation,
    progress: &mut ApplyProgress,
) -> Result<(), ApplyError> {
    let prepared = prepare::prepare_contents(plan, changes, operation)?;
    journal.write_prepared(operation.op, prepared.clone())?;
    operation.prepared = prepared;
    publish::publish_changes(changes, operation, progress)?;
    verify_resume_point(plan)
}

/// Rolls back the completed steps, and returns an error that describes the result.
fn roll_back_and_report(
    state: &StateDir,
    journal: &mut Journal,
    operation: &Operation,
    progress: &ApplyProgress,
    cause: ApplyError,
) -> ApplyError {
    // If it is unknown whether lines were written, search for them.
    let appended = Some(&progress.appended[..]).filter(|ranges| !ranges.is_empty());
    let back = roll_back(state, journal, operation, progress.begun, appended);
    let ended = back.and_then(|Leftovers { kept, notes }| {
        let op = operation.op;
        journal.write_end(OperationEnd {
            op,
            notes: notes.clone(),
            kept,
            ..OperationEnd::default()
        })?;
        Ok(notes)
    });
    match ended {
        Ok(left) if left.is_empty() => cause,
        Ok(left) => ApplyError::PartlyRolledBack { cause: Box::new(cause), left },
        Err(error) => {
            let bytes: u64 = progress.appended.iter().map(|range| range.end - range.start).sum();
            let stuck = ApplyError::rollback_failed(cause, error);
            if bytes == 0 {
                return stuck;
            }
            let words =
                format!("{bytes} bytes written by ramus may be in {}", operation.file.display());
            ApplyError::partly_rolled_back(stuck, words)
        }
    }
}

/// Refuses files that an unfinished operation left in an unknown state.
fn refuse_unfinished_files(
    plan: &WritePlan,
    journal: &Journal,
    unfinished: &[UnfinishedOperation],
) -> Result<(), ApplyError> {
    let touched = |step: &PlanStep| match step {
        PlanStep::AppendLines { file, .. }
        | PlanStep::CreateFile { file, .. }
        | PlanStep::HardLink { to: file, .. }
        | PlanStep::ReplaceFile { file, .. }
        | PlanStep::RemoveLines { file, .. }
        | PlanStep::RejoinTrashed { file, .. }
        | PlanStep::MoveFile { from: file, to: None, .. }
        | PlanStep::MoveFile { to: Some(file), .. } => Some(file.clone()),
        PlanStep::RemoveEmptyDir { .. } => None,
    };
    for UnfinishedOperation { op, why } in unfinished {
        let Some(operation) = journal.operation(*op) else { continue };
        let is_same = |file: &PathBuf| operation.touched_files().any(|other| other == file);
        if plan.steps.iter().filter_map(touched).any(|file| is_same(&file)) {
            return Err(ApplyError::Unfinished { op: *op, why: why.clone() });
        }
    }
    Ok(())
}

/// Whether a file is a history that clients append to. A project may contain other `.jsonl` files.
fn is_history_file(plan: &WritePlan, file: &Path) -> bool {
    let is_here = match &plan.root {
        Some(root) => {
            file.starts_with(root) || real_path(root).is_ok_and(|root| file.starts_with(root))
        }
        None => plan.what != OperationKind::RestoreFiles,
    };
    file.extension().is_some_and(|extension| extension == "jsonl") && is_here
}

/// Checks that every file is unchanged since the plan was made.
fn check_preconditions(plan: &WritePlan, journal: &Journal, force: bool) -> Result<(), ApplyError> {
    // A client that has the session open repeats the title when it ends, so a title can be added any time.
    let is_shared =
        plan.what == OperationKind::Rename || plan.what == OperationKind::RestoreFiles || force;
    for step in &plan.steps {
        match step {
            PlanStep::AppendLines { file, before, .. } => {
                require_exclusive_access(plan, file, journal, is_shared)?;
                require_unchanged(file, Some(before))?;
            }
            PlanStep::RemoveLines { file, before, .. } => {
                require_exclusive_access(plan, file, journal, is_shared)?;
                require_ownership(file)?;
                require_unchanged(file, Some(before))?;
            }
            PlanStep::ReplaceFile { file, before, .. } => {
                if is_history_file(plan, file) && before.is_some() {
                    require_exclusive_access(plan, file, journal, is_shared)?;
                }
                if before.is_some() {
                    require_ownership(file)?;
                }
                require_unchanged(file, before.as_ref())?;
            }
            PlanStep::MoveFile { from, to, before } => {
                if is_history_file(plan, from) && to.is_none() {
                    require_exclusive_access(plan, from, journal, is_shared)?;
                }
                if before.is_some() {
                    require_unchanged(from, before.as_ref())?;
                }
                if let Some(to) = to {
                    require_absent(to)?;
                }
            }
            PlanStep::RejoinTrashed { file, .. } => {
                require_exclusive_access(plan, file, journal, is_shared)?;
                require_ownership(file)?;
            }
            PlanStep::CreateFile { file, content } => {
                require_parent_inside(plan, file)?;
                require_absent(file)?;
                require_sources_unchanged(content)?;
            }
            PlanStep::HardLink { to, .. } => {
                require_parent_inside(plan, to)?;
                require_absent(to)?;
            }
            PlanStep::RemoveEmptyDir { .. } => {}
        }
    }
    Ok(())
}

/// Refuses a new file if a symbolic link on its path leads out of the Claude directory.
fn require_parent_inside(plan: &WritePlan, file: &Path) -> Result<(), ApplyError> {
    let Some(root) = plan.root.as_deref().filter(|root| file.starts_with(root)) else {
        return Ok(());
    };
    match file.ancestors().skip(1).find(|dir| dir.symlink_metadata().is_ok()) {
        Some(dir) if dir.starts_with(root) => require_inside(Some(root), dir),
        // The Claude directory itself is made, so there is no link in it.
        _ => Ok(()),
    }
}

/// Refuses to replace another user's file, because its owner and date could not be preserved.
#[cfg(unix)]
fn require_ownership(file: &Path) -> Result<(), ApplyError> {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = fs::metadata(file) else { return Ok(()) };
    let user = rustix::process::geteuid();
    match user.is_root() || meta.uid() == user.as_raw() {
        true => Ok(()),
        false => Err(ApplyError::NotOwner(file.to_owned())),
    }
}

/// Windows keeps the owner apart from what a user may change, and a file that cannot be replaced is reported then.
#[cfg(not(unix))]
fn require_ownership(_: &Path) -> Result<(), ApplyError> {
    Ok(())
}

/// Refuses a file that another program may be writing to.
fn require_exclusive_access(
    plan: &WritePlan,
    file: &Path,
    journal: &Journal,
    is_shared: bool,
) -> Result<(), ApplyError> {
    require_inside(plan.root.as_deref(), file)?;
    if is_shared {
        return Ok(());
    }
    if let Some(pid) = plan.root.as_deref().and_then(|root| find_open_client(root, &plan.session)) {
        return Err(ApplyError::OpenInClient { session: plan.session.clone(), pid });
    }
    if !was_last_written_by_ramus(journal, file) && is_growing(file) {
        return Err(ApplyError::Growing(file.to_owned()));
    }
    Ok(())
}

/// Whether the last write to a file was one of our operations. Then its recent date is no reason to wait.
fn was_last_written_by_ramus(journal: &Journal, file: &Path) -> bool {
    let Ok(len) = fs::metadata(file).map(|meta| meta.len()) else { return false };
    let left = |operation: &Operation| {
        operation.changes.iter().find_map(|change| match change {
            JournalStep::Append { file: at, before, text, .. } if at == file => {
                Some(before.len + text.len() as u64)
            }
            JournalStep::Cut { file: at, to, .. } if at == file => Some(*to),
            JournalStep::Make { file: at } | JournalStep::Put { file: at, .. } if at == file => {
                let made = &operation.end.as_ref()?.made;
                made.iter().find(|(made, _)| made == file).map(|(_, stamp)| stamp.len)
            }
            _ => None,
        })
    };
    let last =
        journal.operations.iter().rev().filter(|operation| operation.is_done()).find_map(left);
    last == Some(len)
}

/// Refuses a symbolic link that leads out of the Claude directory.
fn require_inside(root: Option<&Path>, file: &Path) -> Result<(), ApplyError> {
    let read = |path: &Path| {
        real_path(path).map_err(|source| ApplyError::Read(PathError::new(path, source)))
    };
    let real = read(file)?;
    let is_inside = match root {
        Some(root) => real.starts_with(read(root)?),
        None => file.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()),
    };
    if is_inside { Ok(()) } else { Err(ApplyError::OutsideClaudeDir(file.to_owned())) }
}

fn require_unchanged(file: &Path, before: Option<&Stamp>) -> Result<(), ApplyError> {
    let is_same = match before {
        Some(before) => Stamp::of_file(file).is_ok_and(|now| now == *before),
        None => file.symlink_metadata().is_err(),
    };
    if is_same { Ok(()) } else { Err(ApplyError::Changed(file.to_owned())) }
}

fn require_absent(file: &Path) -> Result<(), ApplyError> {
    match file.symlink_metadata() {
        Ok(_) => Err(ApplyError::Exists(file.to_owned())),
        Err(_) => Ok(()),
    }
}

/// Checks that the sources of a copy still begin with the bytes that were read.
fn require_sources_unchanged(content: &NewContent) -> Result<(), ApplyError> {
    let NewContent::Lines { sources, .. } = content else { return Ok(()) };
    for (path, stamp) in sources {
        if !stamp.is_prefix_of(path).map_err(|source| PathError::new(path, source))? {
            return Err(ApplyError::Changed(path.clone()));
        }
    }
    Ok(())
}

/// Reads the session again and checks that the client would resume at the planned message (R11).
fn verify_resume_point(plan: &WritePlan) -> Result<(), ApplyError> {
    let Some(wanted) = plan.resume else { return Ok(()) };
    let history = from_jsonl(&plan.file, ResumeRule::Client)?;
    let point = history.branches.resume.map(|resume| resume.point);
    if point.and_then(|point| history.session.record(point).uuid) == Some(wanted) {
        Ok(())
    } else {
        Err(ApplyError::NotVerified)
    }
}
