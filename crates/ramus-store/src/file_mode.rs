//! Who may read and write a file, as Unix writes it down. Elsewhere there is no such number.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Returns the mode of a file. `None`: the system has none.
#[cfg(unix)]
pub(crate) fn file_mode(meta: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o7777)
}

#[cfg(not(unix))]
pub(crate) fn file_mode(_: &Metadata) -> Option<u32> {
    None
}

/// Sets the mode of an open file, where there are modes.
#[cfg(unix)]
pub(crate) fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_file_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Sets the mode of a directory, where there are modes.
#[cfg(unix)]
pub(crate) fn set_dir_mode(dir: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_dir_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
