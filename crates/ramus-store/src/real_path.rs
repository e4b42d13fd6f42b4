//! Paths with their links resolved, in the form that people and the client write.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the path that a file or directory really has.
///
/// On Windows the standard library answers with `\\?\C:\…`, which names the same file but is not what the client
/// records and encodes. Here that prefix is left out wherever the path means the same without it.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Returns the path that a file or directory really has, or the given path if that cannot be found out.
pub fn real_path_or_given(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}
