//! The error for a file or directory that could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

/// A file or directory that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}", .path.display())]
pub struct PathError {
    verb: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

impl PathError {
    /// A path that could not be read.
    pub fn new(path: &Path, source: io::Error) -> Self {
        Self { verb: "read", path: path.to_owned(), source }
    }

    /// A path that could not be written.
    pub fn on_write(path: &Path, source: io::Error) -> Self {
        Self { verb: "write", ..Self::new(path, source) }
    }
}
