//! Reads the client's file backups, only from the directories of their sessions.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ramus_core::files::{BackupReader, BackupRef};
use ramus_core::session::SessionFacts;

use crate::claude_dir::{HistoryFile, containing_claude_dir, file_history_dir};
use crate::disk::is_missing;
use crate::error::PathError;
use crate::overlay::{self, Look};
use crate::trace::LinkedPathPart;

/// Larger backups are not loaded into memory. They can still be copied.
const MAX_BACKUP_BYTES: u64 = 64 * 1024 * 1024;

/// The backups of the sessions that a path runs through.
#[derive(Debug, Default)]
pub struct FileHistory {
    /// For each part of the path: the directories that may contain its backups, its own first.
    dirs: Vec<Vec<PathBuf>>,
    /// The first backup that could not be examined; it may still exist.
    problem: RefCell<Option<PathError>>,
}

impl FileHistory {
    /// Finds the backup directories of each part. `roots` are the Claude directories, for session files
    /// outside of them.
    pub fn open(roots: &[PathBuf], parts: &[LinkedPathPart]) -> Self {
        let dirs =
            |part: &LinkedPathPart| backup_dirs(roots, &part.file, part.history.session.facts());
        Self { dirs: parts.iter().map(dirs).collect(), problem: RefCell::default() }
    }

    /// Returns the path of a backup. `None`: it does not exist, or its name does not look like one of the
    /// client's. A transcript must not make us open other files.
    pub fn backup_path(&self, backup: &BackupRef) -> Option<PathBuf> {
        self.find_backup(backup).map(|(path, _)| path)
    }

    /// Returns the permissions that the file had.
    pub fn backup_mode(&self, backup: &BackupRef) -> Option<u32> {
        self.find_backup(backup).and_then(|(_, look)| look.mode)
    }

    /// Copies a backup of any size.
    pub fn copy_backup(&self, backup: &BackupRef, out: &mut dyn Write) -> Result<u64, PathError> {
        let path = self.backup_path(backup).unwrap_or_else(|| PathBuf::from(&backup.name));
        let error = |source| PathError::new(&path, source);
        let mut file = overlay::open(&path).map_err(error)?;
        io::copy(&mut file, out).map_err(error)
    }

    /// Returns why a backup could not be examined, if that happened.
    pub(crate) fn take_problem(&self) -> Option<PathError> {
        self.problem.take()
    }

    fn note_problem(&self, path: &Path, source: io::Error) {
        self.problem.borrow_mut().get_or_insert_with(|| PathError::new(path, source));
    }

    fn find_backup(&self, backup: &BackupRef) -> Option<(PathBuf, Look)> {
        if !is_backup_name(&backup.name) {
            return None;
        }
        for dir in self.dirs.get(backup.part)? {
            let path = dir.join(&backup.name);
            match overlay::look(&path) {
                Ok(Some(look)) => return Some((path, look)),
                Ok(None) => {}
                Err(error) => self.note_problem(&path, error),
            }
        }
        None
    }
}

impl BackupReader for FileHistory {
    fn backup_size(&mut self, backup: &BackupRef) -> Option<u64> {
        self.find_backup(backup).map(|(_, look)| look.bytes)
    }

    fn read_backup(&mut self, backup: &BackupRef) -> Option<Vec<u8>> {
        let (path, look) = self.find_backup(backup)?;
        if look.bytes > MAX_BACKUP_BYTES {
            return None;
        }
        let mut bytes = Vec::with_capacity(look.bytes as usize);
        let read = overlay::open(&path)
            .and_then(|file| file.take(MAX_BACKUP_BYTES).read_to_end(&mut bytes));
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
pub(crate) fn backup_dirs(
    roots: &[PathBuf],
    file: &HistoryFile,
    facts: &SessionFacts,
) -> Vec<PathBuf> {
    // A fork copies its backups, but copies made by older clients may lack them.
    let forked = facts.forked_from.iter().map(|(session, _)| &**session);
    let named = facts.session_ids.iter().map(|id| &**id);
    let ids: Vec<&str> = std::iter::once(&*file.id).chain(forked).chain(named).collect();
    let own = containing_claude_dir(&file.path).map(Path::to_owned);
    let roots: Vec<PathBuf> = own.into_iter().chain(roots.iter().cloned()).collect();
    let mut dirs: Vec<PathBuf> = roots
        .iter()
        .flat_map(|root| ids.iter().filter_map(|id| file_history_dir(root, id)))
        .collect();
    let mut seen = Vec::new();
    dirs.retain(|dir| {
        !seen.contains(dir) && {
            seen.push(dir.clone());
            true
        }
    });
    // Keep what cannot be examined, so that a later lookup fails with the reason.
    dirs.retain(|dir| match fs::symlink_metadata(dir) {
        Ok(meta) => meta.is_dir(),
        Err(error) => !is_missing(&error) || overlay::is_real_dir(dir),
    });
    dirs
}

/// Whether a name has the form `0123456789abcdef@v12`.
fn is_backup_name(name: &str) -> bool {
    name.split_once("@v").is_some_and(|(hash, version)| {
        let is_word =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        is_word(hash) && is_word(version) && name.len() < 128
    })
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
