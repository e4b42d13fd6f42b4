//! Compares a file on disk with the content it should get back.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use ramus_core::files::restore::OnDisk;
use ramus_core::files::{FileContent, FileState};

use crate::disk::is_missing;
use crate::error::PathError;
use crate::file_history::FileHistory;
use crate::overlay;
use crate::regular_file;

/// Examines the path of a file. Below `cwd` no parent directory may be a symbolic link.
///
/// Only a definite "not found" means absence: any other failure is an error.
pub fn state_on_disk(
    file: &FileState,
    cwd: &Path,
    history: &FileHistory,
) -> Result<OnDisk, PathError> {
    let path = Path::new(&file.path);
    let branch = path.ancestors().take_while(|dir| *dir != cwd && dir.starts_with(cwd));
    for step in std::iter::once(path).chain(branch) {
        match fs::symlink_metadata(step) {
            Ok(meta) if meta.is_symlink() => return Ok(OnDisk::Link),
            Ok(_) => {}
            Err(missing) if is_missing(&missing) => {}
            Err(source) => return Err(PathError::new(step, source)),
        }
    }
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        // A parent directory of the path is a file.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(OnDisk::NotAFile),
        Err(missing) if is_missing(&missing) => return Ok(OnDisk::Absent),
        Err(source) => return Err(PathError::new(path, source)),
    };
    if !meta.is_file() {
        return Ok(OnDisk::NotAFile);
    }
    let is_same = match &file.content {
        FileContent::Bytes(bytes) => {
            meta.len() == bytes.len() as u64
                && regular_file::read_limited(path, meta.len()).is_ok_and(|now| now == *bytes)
        }
        FileContent::Backup(backup) => history
            .backup_path(backup)
            .is_some_and(|copy| has_same_bytes(&copy, path).unwrap_or(false)),
        FileContent::Absent | FileContent::Unknown => false,
    };
    Ok(if is_same { OnDisk::Same } else { OnDisk::Other })
}

/// The size limit for files that are shown.
const MAX_SHOWN_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the text of a file, empty if there is none. `None`: it is not text, or too large.
pub fn read_text(path: &Path) -> Option<String> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {
            String::from_utf8(regular_file::read_limited(path, MAX_SHOWN_BYTES).ok()?).ok()
        }
        Ok(_) => None,
        Err(_) => Some(String::new()),
    }
}

/// Whether two files have the same bytes.
pub(crate) fn has_same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (overlay::open(a)?, regular_file::open_for_reading(b)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let read = a.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        b.read_exact(&mut right[..read])?;
        if left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::files::ContentSource;

    use super::*;

    #[test]
    fn links_and_directories_are_distinguished_from_files() {
        let home = testkit::TestHome::new();
        let cwd = home.path();
        fs::create_dir(cwd.join("dir")).unwrap();
        fs::write(cwd.join("dir/a"), "a").unwrap();
        let look = |path: &str, text: &str| {
            let path = cwd.join(path).to_string_lossy().into_owned();
            let held = FileContent::Bytes(text.as_bytes().to_vec());
            let file = FileState {
                path,
                content: held,
                source: ContentSource::Write,
                doubt: None,
                only_read: false,
            };
            state_on_disk(&file, cwd, &FileHistory::default()).unwrap()
        };
        assert_eq!(look("dir/a", "a"), OnDisk::Same);
        assert_eq!(look("dir/a", "b"), OnDisk::Other);
        assert_eq!(look("dir/none", "b"), OnDisk::Absent);
        assert_eq!(look("none/none", "b"), OnDisk::Absent);
        assert_eq!(look("dir", "b"), OnDisk::NotAFile);
        assert_eq!(look("dir/a/b", "b"), OnDisk::NotAFile);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(cwd.join("dir"), cwd.join("link")).unwrap();
            std::os::unix::fs::symlink(cwd.join("dir/a"), cwd.join("leaf")).unwrap();
            assert_eq!(look("link/a", "a"), OnDisk::Link);
            assert_eq!(look("link/none", "a"), OnDisk::Link);
            assert_eq!(look("leaf", "a"), OnDisk::Link);
        }
    }
}
