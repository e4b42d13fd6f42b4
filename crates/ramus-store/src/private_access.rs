//! Files and directories that only their owner can use.
//!
//! On Unix the mode says so. On Windows a file inherits the access list of its directory: below the user's profile
//! that list names the user and the system alone, and elsewhere a new directory gets one like it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a file private if these options create it.
pub(crate) fn make_new_files_private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Creates one private directory.
#[cfg(unix)]
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(dir)
}

/// Creates one private directory.
#[cfg(windows)]
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir(dir)?;
    access_list::restrict_to_user(dir);
    Ok(())
}

/// Creates a private directory, and those above it that are missing.
pub(crate) fn create_private_dirs(dir: &Path) -> io::Result<()> {
    match create_private_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
            create_private_dirs(above.ok_or(error)?)?;
            create_private_dirs(dir)
        }
        created => created,
    }
}

/// Whether only its owner can read or write a file.
#[cfg(unix)]
pub(crate) fn is_private(_: &Path, meta: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o077 == 0
}

/// Whether a file is where only its owner can read or write. Elsewhere the answer is no, to be safe.
#[cfg(windows)]
pub(crate) fn is_private(path: &Path, _: &fs::Metadata) -> bool {
    access_list::is_below_profile(path)
}

/// Takes the rights of others from an existing file.
#[cfg(unix)]
pub(crate) fn make_private(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o600))
}

/// The file keeps the access list of its directory.
#[cfg(windows)]
pub(crate) fn make_private(_: &fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(windows)]
mod access_list {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use crate::real_path::{real_path, real_path_or_given};

    pub(super) fn is_below_profile(path: &Path) -> bool {
        let profile = std::env::home_dir().and_then(|home| real_path(&home).ok());
        profile.is_some_and(|profile| real_path_or_given(path).starts_with(profile))
    }

    /// Lets only the user and the system into a directory and what will be in it.
    ///
    /// File systems without access lists (FAT) stay open, as they do on Unix.
    pub(super) fn restrict_to_user(dir: &Path) {
        let Some(user) = std::env::var_os("USERNAME").filter(|_| !is_below_profile(dir)) else {
            return;
        };
        let mut rule = std::env::var_os("USERDOMAIN").unwrap_or_default();
        if !rule.is_empty() {
            rule.push("\\");
        }
        rule.push(user);
        rule.push(":(OI)(CI)F");
        let mut icacls = Command::new("icacls");
        icacls.arg(dir).args(["/inheritance:r", "/grant:r"]).arg(rule);
        // The system itself: backups and virus scanners run as it.
        icacls.arg("*S-1-5-18:(OI)(CI)F");
        icacls.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = icacls.status();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_those_above_them() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("a/b/c");
        create_private_dirs(&dir).unwrap();
        create_private_dirs(&dir).unwrap();
        assert!(dir.is_dir());
        #[cfg(unix)]
        for dir in [&dir, &top.path().join("a")] {
            assert!(is_private(dir, &dir.metadata().unwrap()), "{}", dir.display());
        }
        fs::write(top.path().join("file"), "").unwrap();
        assert!(create_private_dirs(&top.path().join("file")).is_err());
        assert!(create_private_dirs(&top.path().join("file/x")).is_err());
    }
}
