//! Writes a directory tree: each file through a temporary file, and none outside of the directory.

use crate::file_mode::set_file_mode;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Why a tree or one of its files was not written.
#[derive(Debug, thiserror::Error)]
pub enum OutputTreeError {
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("{} leads out of the directory through a symbolic link", .0.display())]
    Link(PathBuf),
    #[error("invalid path {0:?}")]
    InvalidPath(String),
    #[error("cannot write {}", .path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A directory that files are written into.
#[derive(Clone, Debug)]
pub struct OutputTree {
    dir: PathBuf,
}

impl OutputTree {
    /// Opens a new or empty directory. `force` allows any other.
    pub fn open(dir: &Path, force: bool) -> Result<Self, OutputTreeError> {
        let error = |source| OutputTreeError::Write { path: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(error)?;
        let is_empty = fs::read_dir(dir).map_err(error)?.next().is_none();
        if !is_empty && !force {
            return Err(OutputTreeError::NotEmpty(dir.to_owned()));
        }
        Ok(Self { dir: dir.to_owned() })
    }

    /// Writes one file. `place` is its path relative to the directory, with `/`. Returns its path.
    pub fn write_file(
        &self,
        place: &str,
        mode: Option<u32>,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, OutputTreeError> {
        let path = self.path_inside(place)?;
        let parent = path.parent().unwrap_or(&self.dir).to_owned();
        let mut write = || {
            fs::create_dir_all(&parent)?;
            let mut file = tempfile::Builder::new().prefix(".ramus-").tempfile_in(&parent)?;
            content(file.as_file_mut())?;
            // Temporary files are private by default.
            set_file_mode(file.as_file(), mode.unwrap_or(0o644))?;
            file.persist(&path).map(|_| ()).map_err(|error| error.error)
        };
        write().map_err(|source| OutputTreeError::Write { path: path.clone(), source })?;
        Ok(path)
    }

    /// Returns the full path, if it stays inside the directory.
    fn path_inside(&self, place: &str) -> Result<PathBuf, OutputTreeError> {
        let odd = || OutputTreeError::InvalidPath(place.to_owned());
        let mut path = self.dir.clone();
        let mut parts = Path::new(place).components().peekable();
        if parts.peek().is_none() {
            return Err(odd());
        }
        for part in parts {
            let Component::Normal(part) = part else { return Err(odd()) };
            // A link as the last component is replaced. One before it would be followed.
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink()) && path != self.dir {
                return Err(OutputTreeError::Link(path));
            }
            path.push(part);
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_outside() {
        let home = testkit::TestHome::new();
        let dir = home.path().join("out");
        let folder = OutputTree::open(&dir, false).unwrap();
        let write = |place: &str| folder.write_file(place, None, &mut |out| out.write_all(b"x"));
        for place in ["", "/etc/x", "../x", "a/../../x", ".", "a/.."] {
            assert!(matches!(write(place), Err(OutputTreeError::InvalidPath(_))), "{place}");
        }
        assert_eq!(write("a/b").unwrap(), dir.join("a/b"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.path(), dir.join("link")).unwrap();
            assert!(matches!(write("link/x"), Err(OutputTreeError::Link(_))));
            std::os::unix::fs::symlink(home.path().join("y"), dir.join("end")).unwrap();
            write("end").unwrap();
            assert!(!home.path().join("y").exists());
        }
        assert!(matches!(OutputTree::open(&dir, false), Err(OutputTreeError::NotEmpty(_))));
        assert!(OutputTree::open(&dir, true).is_ok());
    }
}
