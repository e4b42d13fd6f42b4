//! Compares a file on disk with the content it should get back.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use ramus_core::files::restore::OnDisk;
use ramus_core::files::{FileState, Held};

use crate::disk::is_missing;
use crate::error::PathError;
use crate::file_history::FileHistory;
use crate::regular;

/// Looks at the place of a file. Below `cwd` no directory on the way may be a link.
///
/// Only a clear "no" means that nothing is there: what cannot be looked at is an error.
pub fn on_disk(file: &FileState, cwd: &Path, history: &FileHistory) -> Result<OnDisk, PathError> {
    let path = Path::new(&file.path);
    let way = path.ancestors().take_while(|dir| *dir != cwd && dir.starts_with(cwd));
    for step in std::iter::once(path).chain(way) {
        match fs::symlink_metadata(step) {
            Ok(meta) if meta.is_symlink() => return Ok(OnDisk::Link),
            Ok(_) => {}
            Err(missing) if is_missing(&missing) => {}
            Err(source) => return Err(PathError::new(step, source)),
        }
    }
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        // A file stands where a directory of the way should be.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(OnDisk::NotAFile),
        Err(missing) if is_missing(&missing) => return Ok(OnDisk::Absent),
        Err(source) => return Err(PathError::new(path, source)),
    };
    if !meta.is_file() {
        return Ok(OnDisk::NotAFile);
    }
    let is_same = match &file.held {
        Held::Bytes(bytes) => {
            meta.len() == bytes.len() as u64
                && regular::read(path, meta.len()).is_ok_and(|now| now == *bytes)
        }
        Held::Backup(backup) => {
            history.path(backup).is_some_and(|copy| same(&copy, path).unwrap_or(false))
        }
        Held::Absent | Held::Unknown => false,
    };
    Ok(if is_same { OnDisk::Same } else { OnDisk::Other })
}

/// The size limit for files that are shown.
const SHOWN: u64 = 16 * 1024 * 1024;

/// Returns the text of a file, empty if there is none. `None`: it is not text, or too large.
pub fn text_at(path: &Path) -> Option<String> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => String::from_utf8(regular::read(path, SHOWN).ok()?).ok(),
        Ok(_) => None,
        Err(_) => Some(String::new()),
    }
}

/// Whether two files have the same bytes.
pub(crate) fn same(a: &Path, b: &Path) -> io::Result<bool> {
    let (mut a, mut b) = (regular::open(a)?, regular::open(b)?);
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
    use ramus_core::files::Source;

    use super::*;

    #[test]
    fn links_and_directories_are_told_from_files() {
        let home = testkit::Home::new();
        let cwd = home.path();
        fs::create_dir(cwd.join("dir")).unwrap();
        fs::write(cwd.join("dir/a"), "a").unwrap();
        let look = |path: &str, text: &str| {
            let path = cwd.join(path).to_string_lossy().into_owned();
            let held = Held::Bytes(text.as_bytes().to_vec());
            let file =
                FileState { path, held, source: Source::Write, doubt: None, only_read: false };
            on_disk(&file, cwd, &FileHistory::default()).unwrap()
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
