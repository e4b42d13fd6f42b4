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

/// Returns the path that a file or directory really has, or would have if it existed; the given path if that cannot be
/// found out.
pub fn real_path_or_given(path: &Path) -> PathBuf {
    let missing = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty())?;
        Some(real_path_or_given(parent).join(path.file_name()?))
    };
    real_path(path).ok().or_else(missing).unwrap_or_else(|| path.to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_missing_directory_has_the_path_that_it_had() {
        let home = testkit::TestHome::new();
        let (real, link) = (real_path(home.path()).unwrap(), home.path().join("link"));
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let dir = real.join("gone");
        std::fs::create_dir(&dir).unwrap();
        assert_eq!(real_path_or_given(&link.join("gone")), dir);
        std::fs::remove_dir(&dir).unwrap();
        assert_eq!(real_path_or_given(&link.join("gone")), dir);
        assert_eq!(real_path_or_given(&link.join("gone/deeper")), dir.join("deeper"));
        assert_eq!(real_path_or_given(Path::new("not-here")), Path::new("not-here"));
        assert_eq!(real_path_or_given(Path::new("not-here/..")), Path::new("not-here/.."));
    }
}
