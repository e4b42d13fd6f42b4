//! The directory for ramus's own data: lock, journal, session backups and trash.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::disk::{self, WriteError, WriteResult};
use crate::private_access::{is_private, make_new_files_private, make_private};
use crate::regular_file;

/// The directory with the journal and everything needed to undo. It is never inside a Claude directory.
#[derive(Clone, Debug)]
pub struct StateDir {
    dir: PathBuf,
}

/// Held by the one process that may write. Released when dropped.
#[derive(Debug)]
pub(crate) struct StateLock {
    _file: File,
}

impl StateDir {
    /// Uses a directory, which is created on the first write.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.dir.join("journal.jsonl")
    }

    /// Returns the directory of session backups.
    pub(crate) fn backups_dir(&self) -> PathBuf {
        self.dir.join("backups")
    }

    /// Returns the directory for files that an operation replaces or removes.
    pub(crate) fn trash_dir(&self, op: u64) -> PathBuf {
        self.dir.join("trash").join(op.to_string())
    }

    /// Returns the highest operation number in the trash.
    pub(crate) fn last_trashed_operation(&self) -> u64 {
        let entries = std::fs::read_dir(self.dir.join("trash")).into_iter().flatten().flatten();
        let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        entries.filter_map(number).max().unwrap_or(0)
    }

    /// Writes a file that only its owner can read, replacing one of that name.
    pub fn write_private(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, WriteError> {
        disk::create_dirs(&self.dir)?;
        let path = self.dir.join(name);
        // An existing file may be readable by others, and writing would not change that.
        disk::remove_file(&path)?;
        let file = disk::create_file(&path)?;
        disk::write_bytes(&path, &file, bytes)?;
        Ok(path)
    }

    /// Reads a private file. `None`: it does not exist, or others can read it too.
    pub fn read_private(&self, name: &str) -> Option<String> {
        let path = self.dir.join(name);
        let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        is_private(&path, &meta).then(|| std::fs::read_to_string(path).ok())?
    }

    /// Removes a private file if it exists.
    pub fn remove_private(&self, name: &str) -> Result<(), WriteError> {
        disk::remove_file(&self.dir.join(name))
    }

    /// Waits until no other ramus process is writing.
    pub(crate) fn lock(&self) -> WriteResult<StateLock> {
        self.lock_file("lock")
    }

    /// Waits for this lock, which another ramus process may have.
    pub(crate) fn lock_file(&self, name: &str) -> WriteResult<StateLock> {
        disk::create_dirs(&self.dir)?;
        let path = self.dir.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = regular_file::open_with_options(make_new_files_private(&mut options), &path)
            .and_then(|file| file.lock().map(|()| file));
        Ok(StateLock { _file: file.map_err(|source| WriteError::new(&path, source))? })
    }
}

/// Makes sure that a file exists which only its owner can read, with the directories above it.
///
/// A file that others could read loses that right.
pub fn private_file(path: &Path) -> Result<(), WriteError> {
    let error = |source| WriteError::new(path, source);
    if let Some(dir) = path.parent() {
        disk::create_dirs(dir)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file = regular_file::open_with_options(make_new_files_private(&mut options), path)
        .map_err(error)?;
    match is_private(path, &file.metadata().map_err(error)?) {
        true => Ok(()),
        false => make_private(&file).map_err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (testkit::TestHome, StateDir) {
        let home = testkit::TestHome::new();
        let state = StateDir::new(home.path().join("a/state"));
        (home, state)
    }

    #[test]
    fn one_process_at_a_time_holds_the_lock() {
        let (_home, state) = state();
        let lock = state.lock().unwrap();
        let other = File::options().write(true).open(state.path().join("lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(lock);
        other.try_lock().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn private_files_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (_home, state) = state();
        let path = state.write_private("token", b"secret").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(state.read_private("token").as_deref(), Some("secret"));
        // A file that others could write to proves nothing, and one that they could read stays theirs.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(state.read_private("token"), None);
        state.write_private("token", b"new").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&path, state.path().join("link")).unwrap();
        assert_eq!(state.read_private("link"), None);
        state.remove_private("token").unwrap();
        assert_eq!(state.read_private("token"), None);
    }

    #[test]
    fn numbers_of_kept_files_are_not_used_again() {
        let (_home, state) = state();
        assert_eq!(state.last_trashed_operation(), 0);
        for op in [2, 11] {
            std::fs::create_dir_all(state.trash_dir(op)).unwrap();
        }
        std::fs::create_dir_all(state.path().join("trash/other")).unwrap();
        assert_eq!(state.last_trashed_operation(), 11);
    }
}
