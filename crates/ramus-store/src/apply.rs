//! The only code that writes a history (R24).
//!
//! Lock; finish or take back what a crash left; look whether the file is still
//! what was planned for and nobody is at work in it; keep a copy; write down
//! what will be done; do it; prove by the client's own rule that it worked;
//! write down that it is done. Whatever fails on the way is taken back.

mod deed;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::resume::Rule;
use ramus_core::time::Time;

use self::deed::Broken;
use crate::backup::Backup;
use crate::disk::WriteError;
use crate::error::PathError;
use crate::journal::{Deed, End, Journal, Operation};
use crate::live::{is_growing, open_in};
use crate::plan::{Content, Plan, Step, What};
use crate::read::from_jsonl;
use crate::stamp::Stamp;
use crate::state::State;

/// An operation that was carried out.
#[derive(Clone, Debug)]
pub struct Done {
    pub op: u64,
    pub backup: Option<PathBuf>,
}

/// Why an operation was not carried out; everything is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("session {session} is open in Claude Code (process {pid})")]
    Open { session: String, pid: u32 },
    #[error("{} is being written to", .0.display())]
    Growing(PathBuf),
    #[error("{} has changed since this was planned", .0.display())]
    Changed(PathBuf),
    #[error("{} is a link to a file outside of the Claude directory", .0.display())]
    Outside(PathBuf),
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    #[error("a newer ramus keeps its journal in {}", .0.display())]
    Newer(PathBuf),
    #[error("the session would not go on where it should; the change was taken back")]
    NotProven,
    #[error("the change could not be taken back at once; the next operation will do it")]
    Stuck(#[source] WriteError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] PathError),
}

/// Carries a plan out. With `force` an open or growing session is no obstacle.
pub fn apply(state: &State, plan: &Plan, force: bool, now: Time) -> Result<Done, ApplyError> {
    let _lock = state.lock()?;
    let mut journal = settled(state)?;
    check(plan, &journal, force)?;
    let op = journal.next();
    let deeds = deed::deeds(state, plan, op)?;
    let backup = match &plan.steps[..] {
        [Step::Append { file, .. } | Step::Cut { file, .. }, ..] => {
            Some(Backup::keep(state, file)?)
        }
        [Step::Put { file, before: Some(_), .. }, ..] if plan.what == What::Restore => {
            Some(Backup::keep(state, file)?)
        }
        _ => None,
    };
    let operation = Operation {
        op,
        at: now.to_string(),
        what: plan.what,
        session: plan.session.clone(),
        file: plan.file.clone(),
        words: plan.words.clone(),
        deeds,
        backup,
        undoes: plan.undoes,
        end: None,
        undone_by: None,
    };
    journal.begin(operation.clone())?;
    let all = operation.deeds.len();
    let proven = |()| prove(plan).map_err(|error| Broken { error, deeds: all });
    if let Err(Broken { error, deeds }) = deed::carry_out(plan, &operation).and_then(proven) {
        deed::take_back(&operation, deeds).map_err(ApplyError::Stuck)?;
        journal.end(End { op, done: false, made: Vec::new() }).map_err(ApplyError::Stuck)?;
        return Err(error);
    }
    journal.end(done(&operation))?;
    Ok(Done { op, backup: operation.backup.map(|backup| backup.copy) })
}

/// Finishes or takes back what another process left undone, if there is something.
pub fn recover(state: &State) -> Result<(), ApplyError> {
    if Journal::read(state)?.operations.iter().all(|operation| operation.end.is_some()) {
        return Ok(());
    }
    let _lock = state.lock()?;
    settled(state).map(|_| ())
}

/// Reads the journal, with every operation in it ended.
fn settled(state: &State) -> Result<Journal, ApplyError> {
    let mut journal = Journal::read(state)?;
    if !journal.is_writable() {
        return Err(ApplyError::Newer(state.dir().to_owned()));
    }
    let open: Vec<Operation> =
        journal.operations.iter().filter(|operation| operation.end.is_none()).cloned().collect();
    for operation in open {
        let end = if deed::is_whole(&operation) {
            done(&operation)
        } else {
            deed::take_back(&operation, operation.deeds.len())?;
            End { op: operation.op, done: false, made: Vec::new() }
        };
        deed::clear(&operation)?;
        journal.end(end)?;
    }
    Ok(journal)
}

fn done(operation: &Operation) -> End {
    let made = operation.deeds.iter().filter_map(|deed| match deed {
        Deed::Make { file } => Some((file.clone(), Stamp::at(file).ok()?)),
        Deed::Put { file, .. } => Some((file.clone(), Stamp::at(file).ok()?)),
        _ => None,
    });
    End { op: operation.op, done: true, made: made.collect() }
}

/// Looks whether everything is as it was planned for.
fn check(plan: &Plan, journal: &Journal, force: bool) -> Result<(), ApplyError> {
    // The client repeats a title that it finds, so titles are safe at any time.
    let is_shared = plan.what == What::Rename || plan.what == What::RestoreFiles || force;
    // A project may hold files that are called alike.
    let is_here = |path: &Path| match &plan.root {
        Some(root) => path.starts_with(root),
        None => plan.what != What::RestoreFiles,
    };
    let is_history = |path: &Path| {
        path.extension().is_some_and(|extension| extension == "jsonl") && is_here(path)
    };
    for step in &plan.steps {
        match step {
            Step::Append { file, before, .. } | Step::Cut { file, before, .. } => {
                alone(plan, file, journal, is_shared)?;
                unchanged(file, Some(before))?;
            }
            Step::Put { file, before, .. } => {
                if is_history(file) && before.is_some() {
                    alone(plan, file, journal, is_shared)?;
                }
                unchanged(file, before.as_ref())?;
            }
            Step::Move { from, to, before } => {
                if is_history(from) && to.is_none() {
                    alone(plan, from, journal, is_shared)?;
                }
                if before.is_some() {
                    unchanged(from, before.as_ref())?;
                }
                let taken = to.as_ref().filter(|to| to.symlink_metadata().is_ok());
                if let Some(to) = taken {
                    return Err(ApplyError::Exists(to.clone()));
                }
            }
            Step::Make { file, content } => {
                free(file)?;
                begins(content)?;
            }
            Step::Link { to, .. } => free(to)?,
            Step::Tidy { .. } => {}
        }
    }
    Ok(())
}

/// Refuses what somebody else may be writing to.
fn alone(plan: &Plan, file: &Path, journal: &Journal, is_shared: bool) -> Result<(), ApplyError> {
    inside(plan.root.as_deref(), file)?;
    if is_shared {
        return Ok(());
    }
    if let Some(pid) = plan.root.as_deref().and_then(|root| open_in(root, &plan.session)) {
        return Err(ApplyError::Open { session: plan.session.clone(), pid });
    }
    if !is_ours(journal, file) && is_growing(file) {
        return Err(ApplyError::Growing(file.to_owned()));
    }
    Ok(())
}

/// Whether the last one that wrote to a file was an operation of ours.
fn is_ours(journal: &Journal, file: &Path) -> bool {
    let Ok(len) = fs::metadata(file).map(|meta| meta.len()) else { return false };
    let left = |operation: &Operation| {
        operation.deeds.iter().find_map(|deed| match deed {
            Deed::Append { file: at, before, text, .. } if at == file => {
                Some(before.len + text.len() as u64)
            }
            Deed::Cut { file: at, to, .. } if at == file => Some(*to),
            Deed::Make { file: at } | Deed::Put { file: at, .. } if at == file => {
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

/// Refuses a link that leads out of the Claude directory.
fn inside(root: Option<&Path>, file: &Path) -> Result<(), ApplyError> {
    let read = |path: &Path| {
        path.canonicalize().map_err(|source| ApplyError::Read(PathError::new(path, source)))
    };
    let real = read(file)?;
    let is_inside = match root {
        Some(root) => real.starts_with(read(root)?),
        None => file.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()),
    };
    if is_inside { Ok(()) } else { Err(ApplyError::Outside(file.to_owned())) }
}

fn unchanged(file: &Path, before: Option<&Stamp>) -> Result<(), ApplyError> {
    let is_same = match before {
        Some(before) => Stamp::at(file).is_ok_and(|now| now == *before),
        None => file.symlink_metadata().is_err(),
    };
    if is_same { Ok(()) } else { Err(ApplyError::Changed(file.to_owned())) }
}

fn free(file: &Path) -> Result<(), ApplyError> {
    match file.symlink_metadata() {
        Ok(_) => Err(ApplyError::Exists(file.to_owned())),
        Err(_) => Ok(()),
    }
}

/// Looks whether the sources of a copy still begin with what was read.
fn begins(content: &Content) -> Result<(), ApplyError> {
    let Content::Lines { sources, .. } = content else { return Ok(()) };
    for (path, stamp) in sources {
        if !stamp.begins(path).map_err(|source| PathError::new(path, source))? {
            return Err(ApplyError::Changed(path.clone()));
        }
    }
    Ok(())
}

/// Reads the session again: would the client go on where it should? (R11)
fn prove(plan: &Plan) -> Result<(), ApplyError> {
    let Some(wanted) = plan.resume else { return Ok(()) };
    let history = from_jsonl(&plan.file, Rule::Client)?;
    let point = history.branches.resume.map(|resume| resume.point);
    if point.and_then(|point| history.session.record(point).name) == Some(wanted) {
        Ok(())
    } else {
        Err(ApplyError::NotProven)
    }
}
