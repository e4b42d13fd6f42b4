//! Doing what a plan says, and taking it back.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::ApplyError;
use crate::disk::{self, WriteError, Written};
use crate::journal::{Deed, Operation};
use crate::plan::{Content, Moment, Plan, Step, What};
use crate::stamp::Stamp;
use crate::state::State;

/// Says beforehand what the steps of a plan come down to.
pub(super) fn deeds(state: &State, plan: &Plan, op: u64) -> Result<Vec<Deed>, ApplyError> {
    let mut deeds = Vec::new();
    let mut dirs: Vec<PathBuf> = Vec::new();
    let mut taken = 0;
    let mut trash = |name: &Path| {
        taken += 1;
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        state.trash(op).join(format!("{taken}-{name}"))
    };
    for step in &plan.steps {
        let deed = match step {
            Step::Append { file, before, bytes } => Deed::Append {
                file: file.clone(),
                before: before.clone(),
                text: String::from_utf8_lossy(bytes).into_owned(),
                modified: modified(file)?,
            },
            Step::Make { file, .. } | Step::Link { to: file, .. } => {
                new_dirs(file, &mut dirs, &mut deeds);
                Deed::Make { file: file.clone() }
            }
            Step::Put { file, before, .. } => {
                new_dirs(file, &mut dirs, &mut deeds);
                let saved = before.as_ref().map(|_| trash(file));
                Deed::Put { file: file.clone(), before: before.clone(), saved }
            }
            Step::Move { from, to, .. } => {
                let to = to.clone().unwrap_or_else(|| trash(from));
                Deed::Move { from: from.clone(), to }
            }
            Step::Cut { file, before, to, .. } => {
                Deed::Cut { file: file.clone(), before: before.clone(), to: *to }
            }
            Step::Tidy { .. } => continue,
        };
        deeds.push(deed);
    }
    Ok(deeds)
}

/// Notes the directories that have to be made for a file.
fn new_dirs(file: &Path, dirs: &mut Vec<PathBuf>, deeds: &mut Vec<Deed>) {
    let missing = file.ancestors().skip(1).take_while(|dir| !dir.exists());
    let missing: Vec<PathBuf> =
        missing.filter(|dir| !dirs.iter().any(|known| known == dir)).map(Path::to_owned).collect();
    for dir in missing.into_iter().rev() {
        dirs.push(dir.clone());
        deeds.push(Deed::MakeDir { dir });
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

/// Why an operation broke off, and how many of its deeds may have left something.
pub(super) struct Broken {
    pub(super) error: ApplyError,
    pub(super) deeds: usize,
}

/// Does what was planned, step by step.
pub(super) fn carry_out(plan: &Plan, operation: &Operation) -> Result<(), Broken> {
    let mut begun = 0;
    let done = carry_out_steps(plan, operation, &mut begun);
    done.map_err(|error| {
        // What bears the name already is somebody else's.
        let deeds = begun - usize::from(matches!(error, ApplyError::Exists(_)));
        Broken { error, deeds }
    })
}

fn carry_out_steps(
    plan: &Plan,
    operation: &Operation,
    begun: &mut usize,
) -> Result<(), ApplyError> {
    let mut deeds = operation.deeds.iter().inspect(|_| *begun += 1);
    for step in &plan.steps {
        if let Step::Tidy { dir } = step {
            disk::remove_empty_dir(dir);
            continue;
        }
        let mut deed = deeds.next();
        while let Some(Deed::MakeDir { dir }) = deed {
            disk::create_dirs(dir)?;
            if plan.what == What::RestoreFiles {
                allow(dir, 0o755)?;
            }
            deed = deeds.next();
        }
        if let Some(deed) = deed {
            carry_out_one(step, deed, operation.op)?;
        }
    }
    Ok(())
}

fn carry_out_one(step: &Step, deed: &Deed, op: u64) -> Result<(), ApplyError> {
    match (step, deed) {
        (Step::Append { file, before, bytes }, _) => append(file, before, bytes),
        (Step::Make { file, content }, _) => {
            write_beside(file, content, op)?;
            give_name(file, op)
        }
        (Step::Link { from, to }, _) => link(from, to, op),
        (Step::Put { file, content, .. }, Deed::Put { saved, .. }) => {
            if let Some(saved) = saved {
                keep(file, saved)?;
            }
            write_beside(file, content, op)?;
            match saved {
                Some(_) => take_over(file, content, op),
                None => give_name(file, op),
            }
        }
        (_, Deed::Move { from, to }) => move_away(from, to),
        (Step::Cut { file, before, to, modified }, _) => cut(file, before, *to, *modified),
        _ => Ok(()),
    }
}

/// Adds lines in one write, to the very file that was looked at.
fn append(path: &Path, before: &Stamp, bytes: &[u8]) -> Result<(), ApplyError> {
    let file = disk::open_to_append(path)?;
    same(path, &file, before)?;
    disk::write(path, &file, bytes)?;
    disk::sync(path, &file)?;
    let mut written = Vec::new();
    let mut reader = &file;
    reader
        .seek(SeekFrom::Start(before.len))
        .and_then(|_| reader.read_to_end(&mut written))
        .map_err(|source| WriteError::new(path, source))?;
    // Somebody else may have been quicker; then ours follows theirs, on a line of its own.
    let at = memchr::memmem::find(&written, bytes);
    let is_whole = at.is_some_and(|at| at == 0 || bytes[0] == b'\n' || written[at - 1] == b'\n');
    if is_whole { Ok(()) } else { Err(ApplyError::Changed(path.to_owned())) }
}

fn same(path: &Path, file: &File, before: &Stamp) -> Result<(), ApplyError> {
    let is_same = file.metadata().is_ok_and(|meta| meta.len() == before.len)
        && Stamp::of(file, before.len).is_ok_and(|now| now == *before);
    if is_same { Ok(()) } else { Err(ApplyError::Changed(path.to_owned())) }
}

fn cut(path: &Path, before: &Stamp, to: u64, time: Moment) -> Result<(), ApplyError> {
    let file = disk::open_to_append(path)?;
    same(path, &file, before)?;
    disk::cut(path, &file, to)?;
    disk::set_modified(path, &file, time.into())?;
    disk::sync(path, &file)?;
    Ok(())
}

/// Returns the name of a file while it is being written.
fn beside(file: &Path, op: u64) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".ramus-{op}-{name}.tmp"))
}

/// Pieces up to this size are gathered before they are written.
const GATHERED: usize = 1024 * 1024;

fn write_beside(file: &Path, content: &Content, op: u64) -> Result<(), ApplyError> {
    let path = beside(file, op);
    let out = disk::create(&path)?;
    let mut gathered = Vec::new();
    content.read::<ApplyError>(&mut |bytes| {
        gathered.extend_from_slice(bytes);
        if gathered.len() >= GATHERED {
            disk::write(&path, &out, &gathered)?;
            gathered.clear();
        }
        Ok(())
    })?;
    disk::write(&path, &out, &gathered)?;
    if let Content::WithMode { mode, .. } = content {
        allow(&path, *mode)?;
    }
    disk::sync(&path, &out)?;
    Ok(())
}

/// Sets the permissions of what is not for its owner alone: the files of a project.
#[cfg(unix)]
fn allow(path: &Path, mode: u32) -> Written<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).map_err(|source| WriteError::new(path, source))
}

#[cfg(not(unix))]
fn allow(_: &Path, _: u32) -> Written<()> {
    Ok(())
}

/// Gives a written file its name, unless something bears it.
fn give_name(file: &Path, op: u64) -> Result<(), ApplyError> {
    let temporary = beside(file, op);
    if let Err(error) = disk::link(&temporary, file) {
        if file.symlink_metadata().is_ok() {
            return Err(ApplyError::Exists(file.to_owned()));
        }
        // Not every file system knows second names.
        disk::rename(&temporary, file).map_err(|_| error)?;
    }
    disk::remove(&temporary)?;
    Ok(disk::sync_dir_of(file)?)
}

/// Gives a file a second name; where that cannot be, a copy does.
fn link(from: &Path, to: &Path, op: u64) -> Result<(), ApplyError> {
    if disk::link(from, to).is_ok() {
        return Ok(());
    }
    write_beside(to, &Content::Copy(from.to_owned()), op)?;
    give_name(to, op)
}

/// Keeps a copy of a file, with its mode and time.
fn keep(file: &Path, saved: &Path) -> Result<(), ApplyError> {
    if let Some(dir) = saved.parent() {
        disk::create_dirs(dir)?;
    }
    disk::remove(saved)?;
    let out = disk::create(saved)?;
    let bytes = fs::read(file).map_err(|source| WriteError::new(file, source))?;
    disk::write(saved, &out, &bytes)?;
    looks_like(saved, &out, file)?;
    disk::sync(saved, &out)?;
    disk::sync_dir_of(saved)?;
    Ok(())
}

/// Gives a file the mode and time of another.
fn looks_like(path: &Path, file: &File, like: &Path) -> Written<()> {
    let error = |source| WriteError::new(path, source);
    let meta = fs::metadata(like).map_err(error)?;
    file.set_permissions(meta.permissions()).map_err(error)?;
    let time = meta.modified().map_err(error)?;
    disk::set_modified(path, file, time)
}

/// Puts a written file in the place of another, whose mode it takes over.
fn take_over(file: &Path, content: &Content, op: u64) -> Result<(), ApplyError> {
    let temporary = beside(file, op);
    let error = |source| WriteError::new(file, source);
    let out = File::options().write(true).open(&temporary).map_err(error)?;
    if let Content::Copy(like) = content {
        looks_like(&temporary, &out, like)?;
    } else if matches!(content, Content::WithMode { .. }) {
        // It has its own.
    } else if let Ok(meta) = fs::metadata(file) {
        out.set_permissions(meta.permissions()).map_err(error)?;
    }
    disk::rename(&temporary, file)?;
    Ok(disk::sync_dir_of(file)?)
}

/// Moves a file or a directory; to another file system by copying it first.
fn move_away(from: &Path, to: &Path) -> Result<(), ApplyError> {
    if let Some(dir) = to.parent() {
        disk::create_dirs(dir)?;
    }
    match disk::rename(from, to) {
        Err(error) if error.source.kind() == std::io::ErrorKind::CrossesDevices => {
            copy_tree(from, to)?;
            remove_tree(from)?;
        }
        moved => moved?,
    }
    disk::sync_dir_of(from)?;
    Ok(disk::sync_dir_of(to)?)
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), ApplyError> {
    let error = |source| WriteError::new(from, source);
    if !from.symlink_metadata().map_err(error)?.is_dir() {
        return keep(from, to);
    }
    disk::create_dirs(to)?;
    for entry in fs::read_dir(from).map_err(error)? {
        let entry = entry.map_err(error)?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn remove_tree(path: &Path) -> Written<()> {
    let error = |source| WriteError::new(path, source);
    if !path.symlink_metadata().map_err(error)?.is_dir() {
        return disk::remove(path);
    }
    for entry in fs::read_dir(path).map_err(error)? {
        remove_tree(&entry.map_err(error)?.path())?;
    }
    disk::remove_empty_dir(path);
    Ok(())
}

/// Whether everything that an operation was to do is there.
pub(super) fn is_whole(operation: &Operation) -> bool {
    operation.deeds.iter().all(is_done)
}

fn is_done(deed: &Deed) -> bool {
    match deed {
        Deed::Append { file, before, text, .. } => {
            rest(file, before.len).is_some_and(|rest| holds(&rest, text.as_bytes()))
        }
        Deed::Make { file } => file.symlink_metadata().is_ok(),
        Deed::MakeDir { dir } => dir.is_dir(),
        Deed::Put { file, before, .. } => Stamp::at(file).ok() != *before,
        Deed::Move { from, to } => {
            from.symlink_metadata().is_err() && to.symlink_metadata().is_ok()
        }
        Deed::Cut { file, to, .. } => fs::metadata(file).is_ok_and(|meta| meta.len() == *to),
    }
}

fn holds(rest: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(rest, text).is_some()
}

fn rest(file: &Path, from: u64) -> Option<Vec<u8>> {
    let mut rest = Vec::new();
    let mut file = File::open(file).ok()?;
    file.seek(SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut rest)).ok()?;
    Some(rest)
}

/// Takes back the first deeds of an operation, the last thing first.
pub(super) fn take_back(operation: &Operation, deeds: usize) -> Written<()> {
    for deed in operation.deeds.iter().take(deeds).rev() {
        reverse(deed, operation.op)?;
    }
    clear(operation)
}

fn reverse(deed: &Deed, op: u64) -> Written<()> {
    match deed {
        Deed::Append { file, before, text, modified } => {
            let Some(rest) = rest(file, before.len) else { return Ok(()) };
            // Whole or broken off: ours, and nothing after it.
            if rest.is_empty() || !text.as_bytes().starts_with(&rest) {
                return Ok(());
            }
            let open = disk::open_to_append(file)?;
            disk::cut(file, &open, before.len)?;
            disk::set_modified(file, &open, (*modified).into())?;
            disk::sync(file, &open)
        }
        Deed::Make { file } => disk::remove(file),
        Deed::MakeDir { dir } => {
            disk::remove_empty_dir(dir);
            Ok(())
        }
        Deed::Put { file, before, saved } => match saved {
            Some(saved) if saved.is_file() && Stamp::at(file).ok() != *before => {
                let back = Content::Copy(saved.clone());
                disk::remove(&beside(file, op))?;
                write_beside(file, &back, op)
                    .and_then(|()| take_over(file, &back, op))
                    .map_err(|error| into_write(file, error))
            }
            Some(_) => Ok(()),
            None => disk::remove(file),
        },
        Deed::Move { from, to } => {
            if from.symlink_metadata().is_ok() || to.symlink_metadata().is_err() {
                return Ok(());
            }
            move_away(to, from).map_err(|error| into_write(from, error))
        }
        // Cutting is one call: it was done or not.
        Deed::Cut { .. } => Ok(()),
    }
}

fn into_write(path: &Path, error: ApplyError) -> WriteError {
    match error {
        ApplyError::Write(error) => error,
        other => WriteError::new(path, std::io::Error::other(other)),
    }
}

/// Takes away the files that were being written.
pub(super) fn clear(operation: &Operation) -> Written<()> {
    for deed in &operation.deeds {
        if let Deed::Make { file } | Deed::Put { file, .. } = deed {
            let temporary = beside(file, operation.op);
            if temporary.symlink_metadata().is_ok() {
                disk::remove(&temporary)?;
            }
        }
    }
    Ok(())
}
