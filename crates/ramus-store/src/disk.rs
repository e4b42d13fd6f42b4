//! The few system calls that ramus changes files with, and checks files with before it changes them.
//!
//! Everything that writes a history goes through here. So a test can simulate a power cut at any of
//! these calls, make any of them fail, or let another program write just before any of them.
//!
//! No call here destroys bytes that ramus did not write: nothing truncates, and every rename either
//! fails if its target exists ([`move_without_replacing`]) or keeps both files ([`exchange_files`]). Only [`remove_file`] deletes,
//! and its callers first prove that the file is ours.

#[cfg(test)]
pub(crate) mod fault;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::PathError;
use crate::file_id::FileId;
use crate::file_mode::set_file_mode;
use crate::private_access::{create_private_dir, make_new_files_private};
use crate::regular_file;
use crate::session_in_use;
use crate::stamp::Stamp;

/// A write that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub struct WriteError {
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

impl WriteError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), source }
    }
}

pub(crate) type WriteResult<T> = Result<T, WriteError>;

/// Opens an existing file for appending. It is never created.
pub(crate) fn open_to_append(path: &Path) -> WriteResult<File> {
    let open = || regular_file::open_with_options(OpenOptions::new().read(true).append(true), path);
    fault::inject_fault().and_then(|()| open()).map_err(|source| WriteError::new(path, source))
}

/// Opens a regular file for reading. Links are not followed, and a pipe does not block.
pub(crate) fn open_regular(path: &Path) -> Result<File, PathError> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
        }
        // FILE_FLAG_OPEN_REPARSE_POINT: a link is opened itself, and is no regular file.
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, 0x0020_0000);
        let file = options.open(path)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    };
    fault::inject_fault().and_then(|()| open()).map_err(|source| PathError::new(path, source))
}

/// Returns the length and hash of a regular file.
pub(crate) fn stamp_file(path: &Path) -> Result<Stamp, PathError> {
    let file = open_regular(path)?;
    let read = || {
        let len = file.metadata()?.len();
        Stamp::of_prefix(&file, len)
    };
    read().map_err(|source| PathError::new(path, source))
}

/// Returns the length of a regular file.
pub(crate) fn read_len(path: &Path) -> Result<u64, PathError> {
    let meta = open_regular(path)?.metadata();
    meta.map(|meta| meta.len()).map_err(|source| PathError::new(path, source))
}

/// Reads a regular file from an offset to its end.
pub(crate) fn read_from(path: &Path, from: u64) -> Result<Vec<u8>, PathError> {
    read_open_file(path, &open_regular(path)?, from)
}

/// Reads an open file from an offset to its end.
pub(crate) fn read_open_file(
    path: &Path,
    mut file: &File,
    from: u64,
) -> Result<Vec<u8>, PathError> {
    let mut bytes = Vec::new();
    let read = file.seek(io::SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|source| PathError::new(path, source))
}

/// Whether a path exists: a file, a directory, or even a broken link.
///
/// If it cannot be determined, that is an error, not a "no".
pub(crate) fn path_exists(path: &Path) -> Result<bool, PathError> {
    match fault::inject_fault().and_then(|()| path.symlink_metadata()) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(source) => Err(PathError::new(path, source)),
    }
}

/// Whether an error means that a path does not exist.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Creates a new file that only its owner can access.
pub(crate) fn create_file(path: &Path) -> WriteResult<File> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        make_new_files_private(&mut options).open(path)
    };
    fault::inject_fault().and_then(|()| open()).map_err(|source| WriteError::new(path, source))
}

/// Writes all bytes, in one call if the system allows.
pub(crate) fn write_bytes(path: &Path, mut file: &File, bytes: &[u8]) -> WriteResult<()> {
    fault::write_partly(file, bytes)
        .and_then(|()| file.write_all(bytes))
        .map_err(|source| WriteError::new(path, source))
}

/// Appends bytes to an open file and records where they went.
///
/// Usually that is one range. Others may write between two calls when the system takes only a part
/// at a time; `ranges` is right after an error as well. It is empty where the system does not say
/// where the bytes went: then they have to be searched for.
pub(crate) fn append_bytes(
    path: &Path,
    mut file: &File,
    mut bytes: &[u8],
    ranges: &mut Vec<Range<u64>>,
) -> WriteResult<()> {
    let error = |source| WriteError::new(path, source);
    let (part, broken) = fault::append_partly(bytes.len());
    bytes = &bytes[..part];
    while !bytes.is_empty() {
        let written = match file.write(bytes) {
            Ok(0) => return Err(error(io::ErrorKind::WriteZero.into())),
            Ok(written) => written,
            Err(broken) if broken.kind() == io::ErrorKind::Interrupted => continue,
            Err(broken) => return Err(error(broken)),
        };
        let end = file.stream_position().map_err(|broken| {
            ranges.clear();
            error(broken)
        })?;
        ranges.push(end - written as u64..end);
        bytes = &bytes[written..];
    }
    broken.map_or(Ok(()), |broken| Err(error(broken)))
}

/// Waits until a file's bytes are on the disk.
pub(crate) fn sync_file(path: &Path, file: &File) -> WriteResult<()> {
    // Tests simulate the power cut, so waiting for the disk would only slow them down.
    let wait = || if cfg!(test) { Ok(()) } else { file.sync_all() };
    fault::inject_fault().and_then(|()| wait()).map_err(|source| WriteError::new(path, source))
}

/// Waits until the directory entries next to a file are on the disk.
pub(crate) fn sync_parent_dir(path: &Path) -> WriteResult<()> {
    let Some(dir) = path.parent() else { return Ok(()) };
    let synced = fault::inject_fault()
        .and_then(|()| open_dir_to_sync(dir))
        .and_then(|dir| if cfg!(test) { Ok(()) } else { dir.sync_all() });
    match synced {
        // Some file systems cannot sync directories, and a missing directory has nothing to sync.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput || is_missing(&error) => Ok(()),
        synced => synced.map_err(|source| WriteError::new(dir, source)),
    }
}

#[cfg(unix)]
fn open_dir_to_sync(dir: &Path) -> io::Result<File> {
    File::open(dir)
}

/// Windows opens directories only for those who ask for it, and syncs only what could be written to.
#[cfg(windows)]
fn open_dir_to_sync(dir: &Path) -> io::Result<File> {
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let mut options = OpenOptions::new();
    options.write(true);
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, FILE_FLAG_BACKUP_SEMANTICS);
    options.open(dir)
}

/// Sets the time of the last change.
pub(crate) fn set_modified(path: &Path, file: &File, time: SystemTime) -> WriteResult<()> {
    fault::inject_fault()
        .and_then(|()| file.set_modified(time))
        .map_err(|source| WriteError::new(path, source))
}

/// Sets the mode of a file.
pub(crate) fn set_permissions(
    path: &Path,
    file: &File,
    permissions: fs::Permissions,
) -> WriteResult<()> {
    fault::inject_fault()
        .and_then(|()| file.set_permissions(permissions))
        .map_err(|source| WriteError::new(path, source))
}

/// Sets the mode of a file, where there are modes.
pub(crate) fn set_mode(path: &Path, file: &File, mode: u32) -> WriteResult<()> {
    fault::inject_fault()
        .and_then(|()| set_file_mode(file, mode))
        .map_err(|source| WriteError::new(path, source))
}

/// Gives a new file the owner and group of another.
#[cfg(unix)]
pub(crate) fn set_owner(path: &Path, file: &File, like: &fs::Metadata) -> WriteResult<()> {
    use std::os::unix::fs::MetadataExt;
    let own = || {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) == (like.uid(), like.gid()) {
            return Ok(());
        }
        std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()))
    };
    fault::inject_fault().and_then(|()| own()).map_err(|source| WriteError::new(path, source))
}

/// On Windows a new file belongs to whoever creates it.
#[cfg(not(unix))]
pub(crate) fn set_owner(_: &Path, _: &File, _: &fs::Metadata) -> WriteResult<()> {
    Ok(())
}

/// Exchanges two files in one step, so that both names always lead to a file.
///
/// `Unsupported`: the operating system or the file system cannot do it.
pub(crate) fn exchange_files(a: &Path, b: &Path) -> WriteResult<()> {
    fault::inject_fault()
        .and_then(|()| fault::crosses(a, b))
        .and_then(|()| fault::check_rename_flags())
        .and_then(|()| exchange_names(a, b))
        .map_err(|source| WriteError::new(b, source))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange_names(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    check_supported(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange_names(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Moves a file or directory to a path that does not exist, or fails with `AlreadyExists`.
pub(crate) fn move_without_replacing(from: &Path, to: &Path) -> WriteResult<()> {
    let rename = || {
        fault::crosses(from, to)?;
        fault::check_rename_flags().and_then(|()| rename_without_replacing(from, to))
    };
    let moved = fault::inject_fault().and_then(|()| match rename() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => link_and_remove(from, to),
        moved => moved,
    });
    moved.map_err(|source| WriteError::new(to, source))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    check_supported(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_replacing(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Separates "not supported here" from other failures.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn check_supported(renamed: rustix::io::Result<()>) -> io::Result<()> {
    use rustix::io::Errno;
    match renamed {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        renamed => Ok(renamed?),
    }
}

/// Moves a file by hard link, which never replaces an existing file as a plain rename would.
///
/// A process that is killed in between leaves both names; doing it again completes it.
fn link_and_remove(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata()?.is_file() {
        match fs::hard_link(from, to) {
            Ok(()) => {
                let removed = fault::inject_fault().and_then(|()| fs::remove_file(from));
                return removed.inspect_err(|_| {
                    // Another program holds the name. If this fails as well, the next try completes the move.
                    let _ = fault::inject_fault().and_then(|()| fs::remove_file(to));
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return if is_same_file(from, to) { fs::remove_file(from) } else { Err(error) };
            }
            // Not every file system supports hard links.
            Err(_) => {}
        }
    }
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Whether another process has a file open. If it cannot be determined, the answer is yes.
pub(crate) fn is_open_elsewhere(path: &Path) -> bool {
    fault::inject_fault().is_err() || fault::looks_open() || session_in_use::is_open_elsewhere(path)
}

/// Whether two names lead to one file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    let id = |path| FileId::without_following(path).ok();
    id(a).is_some_and(|a| Some(a) == id(b))
}

/// Removes a name of a file that has another one: a move by hard link that was interrupted leaves both.
pub(crate) fn remove_second_name(second: &Path, first: &Path) -> WriteResult<()> {
    if is_same_file(second, first) { remove_file(second) } else { Ok(()) }
}

/// Creates a hard link.
pub(crate) fn hard_link(from: &Path, to: &Path) -> WriteResult<()> {
    fault::inject_fault()
        .and_then(|()| fs::hard_link(from, to))
        .map_err(|source| WriteError::new(to, source))
}

/// Removes a file of ours. It is no error if it does not exist.
pub(crate) fn remove_file(path: &Path) -> WriteResult<()> {
    match fault::inject_fault().and_then(|()| fs::remove_file(path)) {
        Err(error) if is_missing(&error) => Ok(()),
        removed => removed.map_err(|source| WriteError::new(path, source)),
    }
}

/// Removes a directory that we created, if it is empty.
pub(crate) fn remove_empty_dir(path: &Path) -> WriteResult<()> {
    match fault::inject_fault().and_then(|()| fs::remove_dir(path)) {
        Err(error) if is_missing(&error) => Ok(()),
        // Another program uses it by now.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.map_err(|source| WriteError::new(path, source)),
    }
}

/// Creates a directory and its parents, accessible only to their owner.
pub(crate) fn create_dirs(path: &Path) -> WriteResult<()> {
    let missing = missing_dirs(path).map_err(|error| WriteError::new(&error.path, error.source))?;
    for dir in missing.into_iter().rev() {
        match fault::inject_fault().and_then(|()| create_private_dir(dir)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| WriteError::new(dir, source))?,
        }
    }
    Ok(())
}

/// Returns a directory and those above it that are not there, the highest one last.
pub(crate) fn missing_dirs(path: &Path) -> Result<Vec<&Path>, PathError> {
    let mut missing = Vec::new();
    for dir in path.ancestors().filter(|dir| !dir.as_os_str().is_empty()) {
        if path_exists(dir)? {
            break;
        }
        missing.push(dir);
    }
    Ok(missing)
}

#[cfg(not(test))]
mod fault {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn crosses(_: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn inject_fault() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn check_rename_flags() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn looks_open() -> bool {
        false
    }

    pub(super) fn write_partly(_: &File, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn append_partly(len: usize) -> (usize, Option<io::Error>) {
        (len, None)
    }
}
