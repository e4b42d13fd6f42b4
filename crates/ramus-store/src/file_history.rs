//! Reads the client's file backups, only from the directories of their sessions.

use std::cell::RefCell;
use std::fs::{self, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ramus_core::files::{Backup, Backups};
use ramus_core::session::Facts;

use crate::disk::is_missing;
use crate::error::PathError;
use crate::place::{HistoryFile, claude_dir, file_history};
use crate::regular;
use crate::trace::Part;

/// Larger backups are not loaded into memory. They can still be copied.
const HELD: u64 = 64 * 1024 * 1024;

/// The backups of the sessions that a path runs through.
#[derive(Debug, Default)]
pub struct FileHistory {
    /// For each part of the path: the directories that may contain its backups, its own first.
    dirs: Vec<Vec<PathBuf>>,
    /// The first backup that could not be looked at: it may be there all the same.
    problem: RefCell<Option<PathError>>,
}

impl FileHistory {
    /// Finds the backup directories of each part. `roots` are the Claude directories, for session files
    /// outside of them.
    pub fn open(roots: &[PathBuf], parts: &[Part]) -> Self {
        let dirs = |part: &Part| backup_dirs(roots, &part.file, part.history.session.facts());
        Self { dirs: parts.iter().map(dirs).collect(), problem: RefCell::default() }
    }

    /// Returns the path of a backup. `None`: it does not exist, or its name does not look like one of the
    /// client's. A transcript must not make us open other files.
    pub fn path(&self, backup: &Backup) -> Option<PathBuf> {
        self.find(backup).map(|(path, _)| path)
    }

    /// Returns the permissions that the file had.
    pub fn mode(&self, backup: &Backup) -> Option<u32> {
        self.find(backup).and_then(|(_, meta)| mode(&meta))
    }

    /// Copies a backup of any size.
    pub fn copy(&self, backup: &Backup, out: &mut dyn Write) -> Result<u64, PathError> {
        let path = self.path(backup).unwrap_or_else(|| PathBuf::from(&backup.name));
        let error = |source| PathError::new(&path, source);
        let mut file = regular::open(&path).map_err(error)?;
        io::copy(&mut file, out).map_err(error)
    }

    /// Returns why a backup could not be looked at, if that happened to one.
    pub(crate) fn take_problem(&self) -> Option<PathError> {
        self.problem.take()
    }

    fn note_problem(&self, path: &Path, source: io::Error) {
        self.problem.borrow_mut().get_or_insert_with(|| PathError::new(path, source));
    }

    fn find(&self, backup: &Backup) -> Option<(PathBuf, Metadata)> {
        if !is_backup_name(&backup.name) {
            return None;
        }
        for dir in self.dirs.get(backup.part)? {
            let path = dir.join(&backup.name);
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_file() => return Some((path, meta)),
                Ok(_) => {}
                Err(missing) if is_missing(&missing) => {}
                Err(error) => self.note_problem(&path, error),
            }
        }
        None
    }
}

impl Backups for FileHistory {
    fn size(&mut self, backup: &Backup) -> Option<u64> {
        self.find(backup).map(|(_, meta)| meta.len())
    }

    fn read(&mut self, backup: &Backup) -> Option<Vec<u8>> {
        let (path, meta) = self.find(backup)?;
        if meta.len() > HELD {
            return None;
        }
        let mut bytes = Vec::with_capacity(meta.len() as usize);
        let read = regular::open(&path).and_then(|file| file.take(HELD).read_to_end(&mut bytes));
        match read {
            Ok(_) => Some(bytes),
            Err(error) => {
                self.note_problem(&path, error);
                None
            }
        }
    }
}

/// Returns the directories that may contain the backups of a session, its own first.
pub(crate) fn backup_dirs(roots: &[PathBuf], file: &HistoryFile, facts: &Facts) -> Vec<PathBuf> {
    // A fork copies its backups, but copies made by older clients may lack them.
    let forked = facts.forked_from.iter().map(|(session, _)| &**session);
    let named = facts.session_ids.iter().map(|id| &**id);
    let ids: Vec<&str> = std::iter::once(&*file.id).chain(forked).chain(named).collect();
    let own = claude_dir(&file.path).map(Path::to_owned);
    let roots: Vec<PathBuf> = own.into_iter().chain(roots.iter().cloned()).collect();
    let mut dirs: Vec<PathBuf> =
        roots.iter().flat_map(|root| ids.iter().filter_map(|id| file_history(root, id))).collect();
    let mut seen = Vec::new();
    dirs.retain(|dir| {
        !seen.contains(dir) && {
            seen.push(dir.clone());
            true
        }
    });
    // What cannot be looked at stays: then looking for a backup in it fails.
    dirs.retain(|dir| match fs::symlink_metadata(dir) {
        Ok(meta) => meta.is_dir(),
        Err(error) => !is_missing(&error),
    });
    dirs
}

/// Whether a name looks like `0123456789abcdef@v12`.
fn is_backup_name(name: &str) -> bool {
    name.split_once("@v").is_some_and(|(hash, version)| {
        let is_word =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        is_word(hash) && is_word(version) && name.len() < 128
    })
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(meta.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::is_backup_name;

    #[test]
    fn only_the_clients_own_names_are_opened() {
        assert!(is_backup_name("0123456789abcdef@v12"));
        for name in [
            "",
            "@v1",
            "abc@v",
            "../../etc/passwd",
            "a/b@v1",
            "..@v1",
            "a@v1/../../x",
            "a\\b@v1",
            "a@v1\0",
            "C:@v1",
            &format!("{}@v1", "a".repeat(200)),
        ] {
            assert!(!is_backup_name(name), "{name}");
        }
    }
}
