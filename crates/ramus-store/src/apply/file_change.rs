//! Turns the steps of a plan into changes of single files.
//!
//! `prepare`, `publish` and the journal all work from this one type, so they agree on which change
//! is which.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{ApplyError, is_history_file};
use crate::disk::{self, WriteError, WriteResult};
use crate::file_mode::file_mode;
use crate::journal::JournalStep;
use crate::plan::{FileTime, NewContent, OperationKind, PlanStep, WritePlan};
use crate::real_path::real_path;
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// The trash directory that is used when ramus's own directory is on another file system.
const NEARBY_TRASH_DIR: &str = ".ramus-trash";

/// One change to one file, with everything needed to make it.
pub(super) enum PreparedChange<'a> {
    Append {
        file: &'a Path,
        before: &'a Stamp,
        bytes: &'a [u8],
        modified: FileTime,
    },
    MakeDir {
        dir: PathBuf,
    },
    Make {
        file: &'a Path,
        new: NewFileSource<'a>,
    },
    Replace {
        file: PathBuf,
        before: &'a Stamp,
        content: Cow<'a, NewContent>,
        kept: TrashLocation,
        carries: bool,
    },
    Move {
        from: &'a Path,
        to: TrashLocation,
        before: Option<&'a Stamp>,
    },
    Join {
        from: &'a Path,
        file: &'a Path,
        kept: TrashLocation,
    },
    Tidy {
        dir: &'a Path,
    },
}

/// Where a new file comes from.
pub(super) enum NewFileSource<'a> {
    Content(&'a NewContent),
    /// A hard link to a file that never changes.
    Link(&'a Path),
}

/// Where a replaced or moved file goes: the first of these paths that is on its file system.
pub(super) struct TrashLocation {
    preferred: PathBuf,
    nearby: Vec<PathBuf>,
}

impl TrashLocation {
    pub(super) fn candidate_paths(&self) -> Vec<&Path> {
        std::iter::once(&self.preferred).chain(&self.nearby).map(|path| &**path).collect()
    }
}

/// Decides what will be done to each file. Writes nothing.
pub(super) fn plan_file_changes<'a>(
    state: &StateDir,
    plan: &'a WritePlan,
    op: u64,
) -> Result<Vec<PreparedChange<'a>>, ApplyError> {
    let mut changes: Vec<PreparedChange<'a>> = Vec::new();
    for step in &plan.steps {
        let n = changes.len() + 1;
        let kept = |file: &Path| trash_location(state, plan, op, n, file);
        let change = match step {
            PlanStep::AppendLines { file, before, bytes } => {
                PreparedChange::Append { file, before, bytes, modified: modified_time(file)? }
            }
            PlanStep::CreateFile { file, content }
            | PlanStep::ReplaceFile { file, before: None, content } => {
                add_missing_dirs(file, &mut changes)?;
                PreparedChange::Make { file, new: NewFileSource::Content(content) }
            }
            PlanStep::HardLink { from, to } => {
                add_missing_dirs(to, &mut changes)?;
                PreparedChange::Make { file: to, new: NewFileSource::Link(from) }
            }
            PlanStep::ReplaceFile { file, before: Some(before), content } => {
                let file = resolve_links(file)?;
                let (kept, carries) = (kept(&file), is_history_file(plan, &file));
                let content = Cow::Borrowed(content);
                PreparedChange::Replace { file, before, content, kept, carries }
            }
            PlanStep::RemoveLines { file, before, wanted, modified } => {
                let file = resolve_links(file)?;
                let (kept, carries) = (kept(&file), is_history_file(plan, &file));
                let content = NewContent::WithMode {
                    mode: mode_of(&file)?,
                    content: Box::new(NewContent::Beginning {
                        path: file.clone(),
                        stamp: wanted.clone(),
                    }),
                    modified: Some(*modified),
                };
                let content = Cow::Owned(content);
                PreparedChange::Replace { file, before, content, kept, carries }
            }
            PlanStep::MoveFile { from, to: Some(to), before } => {
                add_missing_dirs(to, &mut changes)?;
                let to = TrashLocation { preferred: to.clone(), nearby: Vec::new() };
                PreparedChange::Move { from, to, before: before.as_ref() }
            }
            PlanStep::MoveFile { from, to: None, before } => {
                PreparedChange::Move { from, to: kept(from), before: before.as_ref() }
            }
            PlanStep::RejoinTrashed { from, file } => {
                PreparedChange::Join { from, file, kept: kept(file) }
            }
            PlanStep::RemoveEmptyDir { .. } => continue,
        };
        changes.push(change);
    }
    // Directories go last: a rollback needs them.
    changes.extend(plan.steps.iter().filter_map(|step| match step {
        PlanStep::RemoveEmptyDir { dir } => Some(PreparedChange::Tidy { dir }),
        _ => None,
    }));
    Ok(changes)
}

impl PreparedChange<'_> {
    /// Returns what the journal records, enough to finish the change or to roll it back.
    pub(super) fn to_journal_step(&self) -> JournalStep {
        match self {
            Self::Append { file, before, bytes, modified } => JournalStep::Append {
                file: (*file).to_owned(),
                before: (*before).clone(),
                text: String::from_utf8_lossy(bytes).into_owned(),
                modified: *modified,
            },
            Self::MakeDir { dir } => JournalStep::MakeDir { dir: dir.clone() },
            Self::Make { file, .. } => JournalStep::Make { file: (*file).to_owned() },
            Self::Replace { file, before, kept, carries, .. } => JournalStep::Put {
                file: file.clone(),
                before: Some((*before).clone()),
                saved: Some(kept.preferred.clone()),
                near: kept.nearby.clone(),
                carries: *carries,
            },
            Self::Move { from, to, before } => JournalStep::Move {
                from: (*from).to_owned(),
                to: to.preferred.clone(),
                near: to.nearby.clone(),
                before: before.cloned(),
            },
            Self::Join { from, file, kept } => JournalStep::Join {
                from: (*from).to_owned(),
                file: (*file).to_owned(),
                saved: kept.preferred.clone(),
                near: kept.nearby.clone(),
            },
            Self::Tidy { dir } => JournalStep::Tidy { dir: (*dir).to_owned() },
        }
    }
}

/// Returns the file itself: it is replaced, not a link to it.
pub(super) fn resolve_links(file: &Path) -> WriteResult<PathBuf> {
    real_path(file).map_err(|source| WriteError::new(file, source))
}

/// Returns where a replaced or removed file goes: into ramus's own directory, or else next to the file.
/// Files of the user's project are never kept next to their originals; they are copied instead.
fn trash_location(
    state: &StateDir,
    plan: &WritePlan,
    op: u64,
    n: usize,
    file: &Path,
) -> TrashLocation {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // The name may already have the maximum length.
    let start = name.char_indices().rev().nth(199).map_or(0, |(at, _)| at);
    let name = format!("{n}-{}", &name[start..]);
    let root = plan.root.as_deref().filter(|root| file.starts_with(root));
    let is_ours =
        plan.what != OperationKind::RestoreFiles && (root.is_some() || plan.root.is_none());
    let dirs = root.into_iter().chain(file.parent());
    let near = dirs.map(|dir| dir.join(NEARBY_TRASH_DIR).join(op.to_string()).join(&name));
    let near = if is_ours { near.map(unused_path).collect() } else { Vec::new() };
    TrashLocation { preferred: unused_path(state.trash_dir(op).join(name)), nearby: near }
}

/// Whether a path is in a directory that only ramus writes to.
pub(super) fn is_ramus_path(state: &StateDir, path: &Path) -> bool {
    path.starts_with(state.path()) || path.iter().any(|part| part == NEARBY_TRASH_DIR)
}

/// Returns a path that does not exist yet, by appending a number if needed.
pub(super) fn unused_path(path: PathBuf) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = std::iter::once(path.clone())
        .chain((2..).map(|n: u32| path.with_file_name(format!("{name}~{n}"))));
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or(path)
}

/// Records the directories to create for a file; a rollback removes them.
fn add_missing_dirs(file: &Path, changes: &mut Vec<PreparedChange<'_>>) -> Result<(), ApplyError> {
    let Some(dir) = file.parent() else { return Ok(()) };
    for new in disk::missing_dirs(dir)?.into_iter().rev() {
        let is_new = |change: &PreparedChange<'_>| matches!(change, PreparedChange::MakeDir { dir } if dir == new);
        if !changes.iter().any(is_new) {
            changes.push(PreparedChange::MakeDir { dir: new.to_owned() });
        }
    }
    Ok(())
}

pub(super) fn modified_time(file: &Path) -> WriteResult<FileTime> {
    let time = fs::metadata(file).and_then(|meta| meta.modified());
    time.map(FileTime::from).map_err(|source| WriteError::new(file, source))
}

/// Returns the mode of a file, or 0 where there are no modes.
pub(super) fn mode_of(path: &Path) -> WriteResult<u32> {
    let meta = fs::metadata(path).map_err(|source| WriteError::new(path, source))?;
    Ok(file_mode(&meta).unwrap_or(0))
}

impl From<SystemTime> for FileTime {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(since.as_secs(), since.subsec_nanos())
    }
}

impl From<FileTime> for SystemTime {
    /// A time that the system cannot represent becomes 1970: it may come from another person's archive.
    fn from(FileTime(seconds, nanos): FileTime) -> Self {
        let since = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos.into()));
        since.and_then(|since| UNIX_EPOCH.checked_add(since)).unwrap_or(UNIX_EPOCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_clock_shows_do_not_panic() {
        for (seconds, nanos) in [(u64::MAX, 0), (u64::MAX, u32::MAX), (1 << 63, 1)] {
            assert_eq!(SystemTime::from(FileTime(seconds, nanos)), UNIX_EPOCH);
        }
        let now = SystemTime::now();
        assert_eq!(SystemTime::from(FileTime::from(now)), now);
    }
}
