//! Everything that can be done before anybody sees a change: what will be done to which file, and the
//! new contents, written and synced beside their places.
//!
//! Whatever fails here fails beforehand. Until the journal says that all contents are ready, nothing but
//! new files with names of ours and empty directories came into being.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::swap::inode;
use super::{ApplyError, begins, is_history};
use crate::disk::{self, WriteError, Written};
use crate::journal::{Change, Operation, Prepared};
use crate::plan::{Content, Moment, Plan, Step, What};
use crate::stamp::{Stamp, Stamper};
use crate::state::State;

/// The directory for kept files where ramus's own one lies on another file system.
const NEAR: &str = ".ramus-trash";

/// A change, and the step of the plan that it comes from; directories come from none.
pub(super) type Planned<'a> = (Option<&'a Step>, Change);

/// Says beforehand what the steps of a plan come down to.
pub(super) fn changes<'a>(
    state: &State,
    plan: &'a Plan,
    op: u64,
) -> Result<Vec<Planned<'a>>, ApplyError> {
    let mut changes: Vec<Planned<'a>> = Vec::new();
    for step in &plan.steps {
        let n = changes.len() + 1;
        let kept = |file: &Path| places(state, plan, op, n, file);
        let change = match step {
            Step::Append { file, before, bytes } => Change::Append {
                file: file.clone(),
                before: before.clone(),
                text: String::from_utf8_lossy(bytes).into_owned(),
                modified: modified(file)?,
            },
            Step::Make { file, .. } | Step::Link { to: file, .. } => {
                new_dirs(file, &mut changes);
                Change::Make { file: file.clone() }
            }
            Step::Put { file, before: None, .. } => {
                new_dirs(file, &mut changes);
                Change::Make { file: file.clone() }
            }
            Step::Put { file, before: Some(before), .. } | Step::Cut { file, before, .. } => {
                // The file is replaced, not a link to it.
                let file = file.canonicalize().map_err(|source| WriteError::new(file, source))?;
                let (saved, near) = kept(&file);
                let carries = is_history(plan, &file);
                let before = Some(before.clone());
                Change::Put { file, before, saved: Some(saved), near, carries }
            }
            Step::Move { from, to: Some(to), before } => {
                new_dirs(to, &mut changes);
                let (from, to) = (from.clone(), to.clone());
                Change::Move { from, to, near: Vec::new(), before: before.clone() }
            }
            Step::Move { from, to: None, before } => {
                let (to, near) = kept(from);
                Change::Move { from: from.clone(), to, near, before: before.clone() }
            }
            Step::Join { from, file } => {
                let (saved, near) = kept(file);
                Change::Join { from: from.clone(), file: file.clone(), saved, near }
            }
            Step::Tidy { .. } => continue,
        };
        changes.push((Some(step), change));
    }
    // Last, so that what has to go back finds its directory.
    changes.extend(plan.steps.iter().filter_map(|step| match step {
        Step::Tidy { dir } => Some((Some(step), Change::Tidy { dir: dir.clone() })),
        _ => None,
    }));
    Ok(changes)
}

/// Returns where a file is kept that is replaced or moved away: in ramus's own directory, else on the
/// file system of the file. Files of a project are copied then, to leave nothing among them.
fn places(state: &State, plan: &Plan, op: u64, n: usize, file: &Path) -> (PathBuf, Vec<PathBuf>) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // Names can be as long as the file system allows already.
    let start = name.char_indices().rev().nth(199).map_or(0, |(at, _)| at);
    let name = format!("{n}-{}", &name[start..]);
    let root = plan.root.as_deref().filter(|root| file.starts_with(root));
    let is_ours = plan.what != What::RestoreFiles && (root.is_some() || plan.root.is_none());
    let dirs = root.into_iter().chain(file.parent());
    let near = dirs.map(|dir| dir.join(NEAR).join(op.to_string()).join(&name));
    let near = if is_ours { near.map(unused).collect() } else { Vec::new() };
    (unused(state.trash(op).join(name)), near)
}

/// Whether a path lies where only ramus puts files.
pub(super) fn is_private(state: &State, path: &Path) -> bool {
    path.starts_with(state.dir()) || path.iter().any(|part| part == NEAR)
}

/// Returns a name that nothing bears.
fn unused(path: PathBuf) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = std::iter::once(path.clone())
        .chain((2..).map(|n: u32| path.with_file_name(format!("{name}~{n}"))));
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or(path)
}

/// Notes the directories that have to be made for a file.
fn new_dirs(file: &Path, changes: &mut Vec<Planned<'_>>) {
    let missing: Vec<PathBuf> =
        file.ancestors().skip(1).take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    for dir in missing.into_iter().rev() {
        let change = Change::MakeDir { dir };
        if !changes.iter().any(|(_, known)| *known == change) {
            changes.push((None, change));
        }
    }
}

fn modified(file: &Path) -> Written<Moment> {
    let time = fs::metadata(file).and_then(|meta| meta.modified());
    time.map(Moment::from).map_err(|source| WriteError::new(file, source))
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

/// Returns the name of a new content until it gets its own.
pub(super) fn beside(operation: &Operation, change: usize, file: &Path) -> PathBuf {
    file.with_file_name(format!(".ramus-{}-{}-{change}.tmp", operation.op, operation.mark))
}

/// Writes the new contents beside their places.
pub(super) fn prepare(
    plan: &Plan,
    planned: &[Planned<'_>],
    operation: &Operation,
) -> Result<Vec<Prepared>, ApplyError> {
    let mut prepared = Vec::new();
    for (n, (step, change)) in planned.iter().enumerate() {
        let done = match (step, change) {
            (_, Change::MakeDir { dir }) => {
                disk::create_dirs(dir)?;
                if plan.what == What::RestoreFiles {
                    allow(dir, 0o755)?;
                }
                continue;
            }
            (Some(Step::Link { from, .. }), Change::Make { file }) => {
                link_beside(from, &beside(operation, n, file))?
            }
            (
                Some(Step::Make { content, .. } | Step::Put { content, .. }),
                Change::Make { file },
            ) => {
                let written = write_beside(&beside(operation, n, file), content, None)?;
                // What was copied must not have been written over meanwhile.
                begins(content)?;
                written
            }
            (Some(Step::Put { content, .. }), Change::Put { file, .. }) => {
                write_beside(&beside(operation, n, file), content, Some(file))?
            }
            (Some(Step::Cut { wanted, modified, .. }), Change::Put { file, .. }) => {
                let content = Content::Beginning { path: file.clone(), stamp: wanted.clone() };
                let mode = mode(file)?;
                let content = Content::WithMode {
                    content: Box::new(content),
                    mode,
                    modified: Some(*modified),
                };
                write_beside(&beside(operation, n, file), &content, Some(file))?
            }
            // The file itself comes back; there is nothing to write.
            (_, Change::Join { from, .. }) => existing(from)?,
            _ => continue,
        };
        prepared.push(Prepared { change: n, ..done });
    }
    Ok(prepared)
}

/// Takes a file that is there already for a new content.
pub(super) fn existing(path: &Path) -> Result<Prepared, ApplyError> {
    let stamp = disk::stamp(path)?;
    let (inode, beside) = (inode(path).unwrap_or(0), path.to_owned());
    Ok(Prepared { change: 0, beside, inode, stamp, old: None })
}

/// Pieces up to this size are gathered before they are written.
const GATHERED: usize = 1024 * 1024;

/// Writes a content, with the owner of the file that it will replace, and its mode unless it has one.
pub(super) fn write_beside(
    path: &Path,
    content: &Content,
    replaced: Option<&Path>,
) -> Result<Prepared, ApplyError> {
    let out = disk::create(path)?;
    let mut gathered = Vec::new();
    let mut stamper = Stamper::default();
    content.read::<ApplyError>(&mut |bytes| {
        stamper.add(bytes);
        gathered.extend_from_slice(bytes);
        if gathered.len() >= GATHERED {
            disk::write(path, &out, &gathered)?;
            gathered.clear();
        }
        Ok(())
    })?;
    disk::write(path, &out, &gathered)?;
    let like = match replaced {
        Some(file) => Some(fs::metadata(file).map_err(|source| WriteError::new(file, source))?),
        None => None,
    };
    if let Some(like) = &like {
        own(path, &out, replaced.unwrap_or(path), like)?;
    }
    match (content, like) {
        (Content::WithMode { mode, modified, .. }, _) => {
            set_mode(path, &out, *mode)?;
            if let Some(time) = modified {
                disk::set_modified(path, &out, (*time).into())?;
            }
        }
        (_, Some(like)) => disk::set_permissions(path, &out, like.permissions())?,
        (_, None) => {}
    }
    disk::sync(path, &out)?;
    let stamp = stamper.stamp();
    let (inode, beside) = (inode(path).unwrap_or(0), path.to_owned());
    Ok(Prepared { change: 0, beside, inode, stamp, old: None })
}

/// Makes a new file belong to whom the old one belongs; where that may not be, it cannot be replaced.
fn own(path: &Path, out: &File, file: &Path, like: &fs::Metadata) -> Result<(), ApplyError> {
    disk::set_owner(path, out, like).map_err(|error| match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => ApplyError::NotOwner(file.to_owned()),
        _ => error.into(),
    })
}

/// Gives a file that nobody changes a second name; where that cannot be, a copy does.
fn link_beside(from: &Path, beside: &Path) -> Result<Prepared, ApplyError> {
    if disk::link(from, beside).is_ok() {
        return existing(beside);
    }
    write_beside(beside, &Content::Copy(from.to_owned()), None)
}

#[cfg(unix)]
fn mode(path: &Path) -> Written<u32> {
    use std::os::unix::fs::PermissionsExt;
    let meta = fs::metadata(path).map_err(|source| WriteError::new(path, source))?;
    Ok(meta.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Written<u32> {
    Ok(0)
}

#[cfg(unix)]
fn set_mode(path: &Path, file: &File, mode: u32) -> Written<()> {
    use std::os::unix::fs::PermissionsExt;
    disk::set_permissions(path, file, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: &File, _: u32) -> Written<()> {
    Ok(())
}

/// Opens a directory of a project to others, as new directories usually are.
#[cfg(unix)]
fn allow(dir: &Path, mode: u32) -> Written<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(dir, permissions).map_err(|source| WriteError::new(dir, source))
}

#[cfg(not(unix))]
fn allow(_: &Path, _: u32) -> Written<()> {
    Ok(())
}

/// What nothing is: everything begins with it.
pub(super) fn nothing() -> Stamp {
    Stamper::default().stamp()
}
