//! Turns the steps of a plan into changes of single files.
//!
//! `prepare`, `publish` and the journal all work from this one type, so they agree on which change
//! is which.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{ApplyError, is_history};
use crate::disk::{self, WriteError, Written};
use crate::journal::Change;
use crate::plan::{Content, Moment, Plan, Step, What};
use crate::stamp::Stamp;
use crate::state::State;

/// The trash directory that is used when ramus's own directory is on another file system.
const NEAR: &str = ".ramus-trash";

/// One change to one file, with everything needed to make it.
pub(super) enum FileChange<'a> {
    Append {
        file: &'a Path,
        before: &'a Stamp,
        bytes: &'a [u8],
        modified: Moment,
    },
    MakeDir {
        dir: PathBuf,
    },
    Make {
        file: &'a Path,
        new: New<'a>,
    },
    Replace {
        file: PathBuf,
        before: &'a Stamp,
        content: Cow<'a, Content>,
        kept: Kept,
        carries: bool,
    },
    Move {
        from: &'a Path,
        to: Kept,
        before: Option<&'a Stamp>,
    },
    Join {
        from: &'a Path,
        file: &'a Path,
        kept: Kept,
    },
    Tidy {
        dir: &'a Path,
    },
}

/// Where a new file comes from.
pub(super) enum New<'a> {
    Content(&'a Content),
    /// A hard link to a file that never changes.
    Link(&'a Path),
}

/// Where a replaced or moved file goes: the first of these paths that is on its file system.
pub(super) struct Kept {
    at: PathBuf,
    near: Vec<PathBuf>,
}

impl Kept {
    pub(super) fn places(&self) -> Vec<&Path> {
        std::iter::once(&self.at).chain(&self.near).map(|path| &**path).collect()
    }
}

/// Decides what will be done to each file. Writes nothing.
pub(super) fn file_changes<'a>(
    state: &State,
    plan: &'a Plan,
    op: u64,
) -> Result<Vec<FileChange<'a>>, ApplyError> {
    let mut changes: Vec<FileChange<'a>> = Vec::new();
    for step in &plan.steps {
        let n = changes.len() + 1;
        let kept = |file: &Path| kept(state, plan, op, n, file);
        let change = match step {
            Step::Append { file, before, bytes } => {
                FileChange::Append { file, before, bytes, modified: modified(file)? }
            }
            Step::Make { file, content } | Step::Put { file, before: None, content } => {
                new_dirs(file, &mut changes)?;
                FileChange::Make { file, new: New::Content(content) }
            }
            Step::Link { from, to } => {
                new_dirs(to, &mut changes)?;
                FileChange::Make { file: to, new: New::Link(from) }
            }
            Step::Put { file, before: Some(before), content } => {
                let file = real(file)?;
                let (kept, carries) = (kept(&file), is_history(plan, &file));
                let content = Cow::Borrowed(content);
                FileChange::Replace { file, before, content, kept, carries }
            }
            Step::Cut { file, before, wanted, modified } => {
                let file = real(file)?;
                let (kept, carries) = (kept(&file), is_history(plan, &file));
                let content = Content::WithMode {
                    mode: mode(&file)?,
                    content: Box::new(Content::Beginning {
                        path: file.clone(),
                        stamp: wanted.clone(),
                    }),
                    modified: Some(*modified),
                };
                let content = Cow::Owned(content);
                FileChange::Replace { file, before, content, kept, carries }
            }
            Step::Move { from, to: Some(to), before } => {
                new_dirs(to, &mut changes)?;
                let to = Kept { at: to.clone(), near: Vec::new() };
                FileChange::Move { from, to, before: before.as_ref() }
            }
            Step::Move { from, to: None, before } => {
                FileChange::Move { from, to: kept(from), before: before.as_ref() }
            }
            Step::Join { from, file } => FileChange::Join { from, file, kept: kept(file) },
            Step::Tidy { .. } => continue,
        };
        changes.push(change);
    }
    // Directories go last: a rollback needs them.
    changes.extend(plan.steps.iter().filter_map(|step| match step {
        Step::Tidy { dir } => Some(FileChange::Tidy { dir }),
        _ => None,
    }));
    Ok(changes)
}

impl FileChange<'_> {
    /// Returns what the journal records, enough to finish the change or to roll it back.
    pub(super) fn noted(&self) -> Change {
        match self {
            Self::Append { file, before, bytes, modified } => Change::Append {
                file: (*file).to_owned(),
                before: (*before).clone(),
                text: String::from_utf8_lossy(bytes).into_owned(),
                modified: *modified,
            },
            Self::MakeDir { dir } => Change::MakeDir { dir: dir.clone() },
            Self::Make { file, .. } => Change::Make { file: (*file).to_owned() },
            Self::Replace { file, before, kept, carries, .. } => Change::Put {
                file: file.clone(),
                before: Some((*before).clone()),
                saved: Some(kept.at.clone()),
                near: kept.near.clone(),
                carries: *carries,
            },
            Self::Move { from, to, before } => Change::Move {
                from: (*from).to_owned(),
                to: to.at.clone(),
                near: to.near.clone(),
                before: before.cloned(),
            },
            Self::Join { from, file, kept } => Change::Join {
                from: (*from).to_owned(),
                file: (*file).to_owned(),
                saved: kept.at.clone(),
                near: kept.near.clone(),
            },
            Self::Tidy { dir } => Change::Tidy { dir: (*dir).to_owned() },
        }
    }
}

/// Returns the file itself: it is replaced, not a link to it.
pub(super) fn real(file: &Path) -> Written<PathBuf> {
    file.canonicalize().map_err(|source| WriteError::new(file, source))
}

/// Returns where a replaced or removed file goes: into ramus's own directory, or else next to the file.
/// Files of the user's project are never kept next to their originals; they are copied instead.
fn kept(state: &State, plan: &Plan, op: u64, n: usize, file: &Path) -> Kept {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // The name may already have the maximum length.
    let start = name.char_indices().rev().nth(199).map_or(0, |(at, _)| at);
    let name = format!("{n}-{}", &name[start..]);
    let root = plan.root.as_deref().filter(|root| file.starts_with(root));
    let is_ours = plan.what != What::RestoreFiles && (root.is_some() || plan.root.is_none());
    let dirs = root.into_iter().chain(file.parent());
    let near = dirs.map(|dir| dir.join(NEAR).join(op.to_string()).join(&name));
    let near = if is_ours { near.map(unused).collect() } else { Vec::new() };
    Kept { at: unused(state.trash(op).join(name)), near }
}

/// Whether a path is in a directory that only ramus writes to.
pub(super) fn is_private(state: &State, path: &Path) -> bool {
    path.starts_with(state.dir()) || path.iter().any(|part| part == NEAR)
}

/// Returns a path that does not exist yet, by appending a number if needed.
fn unused(path: PathBuf) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = std::iter::once(path.clone())
        .chain((2..).map(|n: u32| path.with_file_name(format!("{name}~{n}"))));
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or(path)
}

/// Notes the directories that have to be made for a file; they are removed when it is taken back.
fn new_dirs(file: &Path, changes: &mut Vec<FileChange<'_>>) -> Result<(), ApplyError> {
    let Some(dir) = file.parent() else { return Ok(()) };
    for new in disk::missing_dirs(dir)?.into_iter().rev() {
        let is_new =
            |change: &FileChange<'_>| matches!(change, FileChange::MakeDir { dir } if dir == new);
        if !changes.iter().any(is_new) {
            changes.push(FileChange::MakeDir { dir: new.to_owned() });
        }
    }
    Ok(())
}

pub(super) fn modified(file: &Path) -> Written<Moment> {
    let time = fs::metadata(file).and_then(|meta| meta.modified());
    time.map(Moment::from).map_err(|source| WriteError::new(file, source))
}

#[cfg(unix)]
pub(super) fn mode(path: &Path) -> Written<u32> {
    use std::os::unix::fs::PermissionsExt;
    let meta = fs::metadata(path).map_err(|source| WriteError::new(path, source))?;
    Ok(meta.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Path) -> Written<u32> {
    Ok(0)
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(since.as_secs(), since.subsec_nanos())
    }
}

impl From<Moment> for SystemTime {
    fn from(Moment(seconds, nanos): Moment) -> Self {
        UNIX_EPOCH + Duration::new(seconds, nanos)
    }
}
