//! The few calls by which ramus changes files, and by which it looks at files that it is about to change.
//!
//! Everything that writes a history goes through here. So a test can cut the power at any one
//! of these calls, let any one fail, or let another program write to the files just before any one.
//!
//! No call here destroys bytes that ramus did not write: there is no truncation, and every rename
//! either fails when its target exists ([`move_new`]) or leaves both files there ([`exchange`]).
//! Only [`remove`] takes a name away, and its callers prove first that the file is their own.

#[cfg(test)]
pub(crate) mod fault;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::PathError;
use crate::regular;
use crate::stamp::Stamp;

/// A change that the disk refused.
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

pub(crate) type Written<T> = Result<T, WriteError>;

/// Opens an existing file for adding to its end; it is never created.
pub(crate) fn open_to_append(path: &Path) -> Written<File> {
    let open = || regular::open_with(OpenOptions::new().read(true).append(true), path);
    fault::step().and_then(|()| open()).map_err(|source| WriteError::new(path, source))
}

/// Opens a regular file for reading. A link is not followed, a pipe is not waited for.
pub(crate) fn open_regular(path: &Path) -> Result<File, PathError> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
        }
        let file = options.open(path)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    };
    fault::step().and_then(|()| open()).map_err(|source| PathError::new(path, source))
}

/// Returns the length and hash of a regular file.
pub(crate) fn stamp(path: &Path) -> Result<Stamp, PathError> {
    let file = open_regular(path)?;
    let read = || {
        let len = file.metadata()?.len();
        Stamp::of(&file, len)
    };
    read().map_err(|source| PathError::new(path, source))
}

/// Returns the length of a regular file.
pub(crate) fn read_len(path: &Path) -> Result<u64, PathError> {
    let meta = open_regular(path)?.metadata();
    meta.map(|meta| meta.len()).map_err(|source| PathError::new(path, source))
}

/// Reads what a regular file holds from an offset on.
pub(crate) fn read_from(path: &Path, from: u64) -> Result<Vec<u8>, PathError> {
    read_open(path, &open_regular(path)?, from)
}

/// Does the same with a file that is open.
pub(crate) fn read_open(path: &Path, mut file: &File, from: u64) -> Result<Vec<u8>, PathError> {
    let mut bytes = Vec::new();
    let read = file.seek(io::SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|source| PathError::new(path, source))
}

/// Whether something bears a name: a file, a directory, or a link that leads nowhere.
///
/// Only a clear "no" counts as one: what cannot be looked at is an error.
pub(crate) fn exists(path: &Path) -> Result<bool, PathError> {
    match fault::step().and_then(|()| path.symlink_metadata()) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(source) => Err(PathError::new(path, source)),
    }
}

/// Whether an error says that there is nothing at a path.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Creates a file that is not there, for its owner alone.
pub(crate) fn create(path: &Path) -> Written<File> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    };
    fault::step().and_then(|()| open()).map_err(|source| WriteError::new(path, source))
}

/// Writes all bytes, in one call if the system takes them.
pub(crate) fn write(path: &Path, mut file: &File, bytes: &[u8]) -> Written<()> {
    fault::write(file, bytes)
        .and_then(|()| file.write_all(bytes))
        .map_err(|source| WriteError::new(path, source))
}

/// Adds bytes to the end of a file that was opened for that, and notes where they went.
///
/// Usually that is one range. Others may write between two calls when the system takes only a part
/// at a time; `ranges` is right after an error as well. It is empty where the system does not say
/// where the bytes went: then they have to be looked for.
pub(crate) fn append(
    path: &Path,
    mut file: &File,
    mut bytes: &[u8],
    ranges: &mut Vec<Range<u64>>,
) -> Written<()> {
    let error = |source| WriteError::new(path, source);
    let (part, broken) = fault::append(bytes.len());
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
pub(crate) fn sync(path: &Path, file: &File) -> Written<()> {
    // Tests cut the power between calls; waiting for a disk would only make them slow.
    let wait = || if cfg!(test) { Ok(()) } else { file.sync_all() };
    fault::step().and_then(|()| wait()).map_err(|source| WriteError::new(path, source))
}

/// Waits until the names in the directory of a file are on the disk.
pub(crate) fn sync_dir_of(path: &Path) -> Written<()> {
    let Some(dir) = path.parent() else { return Ok(()) };
    let synced = fault::step()
        .and_then(|()| File::open(dir))
        .and_then(|dir| if cfg!(test) { Ok(()) } else { dir.sync_all() });
    match synced {
        // Some file systems cannot do it for directories, and a directory that is gone holds no names.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput || is_missing(&error) => Ok(()),
        synced => synced.map_err(|source| WriteError::new(dir, source)),
    }
}

/// Sets the time of the last change.
pub(crate) fn set_modified(path: &Path, file: &File, time: SystemTime) -> Written<()> {
    fault::step()
        .and_then(|()| file.set_modified(time))
        .map_err(|source| WriteError::new(path, source))
}

/// Sets who may read and write a file.
pub(crate) fn set_permissions(
    path: &Path,
    file: &File,
    permissions: fs::Permissions,
) -> Written<()> {
    fault::step()
        .and_then(|()| file.set_permissions(permissions))
        .map_err(|source| WriteError::new(path, source))
}

/// Gives a new file the owner and group of another.
#[cfg(unix)]
pub(crate) fn set_owner(path: &Path, file: &File, like: &fs::Metadata) -> Written<()> {
    use std::os::unix::fs::MetadataExt;
    let own = || {
        let now = file.metadata()?;
        if (now.uid(), now.gid()) == (like.uid(), like.gid()) {
            return Ok(());
        }
        std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()))
    };
    fault::step().and_then(|()| own()).map_err(|source| WriteError::new(path, source))
}

#[cfg(not(unix))]
pub(crate) fn set_owner(_: &Path, _: &File, _: &fs::Metadata) -> Written<()> {
    Ok(())
}

/// Swaps two files in one step: at no time does either name lead nowhere.
///
/// `Unsupported`: the file system or the system cannot do it.
pub(crate) fn exchange(a: &Path, b: &Path) -> Written<()> {
    fault::step()
        .and_then(|()| fault::crosses(a, b))
        .and_then(|()| fault::rename_flags())
        .and_then(|()| swap_names(a, b))
        .map_err(|source| WriteError::new(b, source))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn swap_names(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    supported(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn swap_names(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Moves a file or directory to a name that nothing bears; `AlreadyExists` if something does.
pub(crate) fn move_new(from: &Path, to: &Path) -> Written<()> {
    let rename = || {
        fault::crosses(from, to)?;
        fault::rename_flags().and_then(|()| rename_new(from, to))
    };
    let moved = fault::step().and_then(|()| match rename() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => link_and_remove(from, to),
        moved => moved,
    });
    moved.map_err(|source| WriteError::new(to, source))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    supported(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Tells "this cannot be done here" from "this failed".
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn supported(renamed: rustix::io::Result<()>) -> io::Result<()> {
    use rustix::io::Errno;
    match renamed {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        renamed => Ok(renamed?),
    }
}

/// Moves a file where a rename would replace what is there: a hard link never does.
fn link_and_remove(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata()?.is_file() {
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Not every file system has hard links.
            Err(_) => {}
        }
    }
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> Written<()> {
    fault::step()
        .and_then(|()| fs::hard_link(from, to))
        .map_err(|source| WriteError::new(to, source))
}

/// Removes a file that is our own.
pub(crate) fn remove(path: &Path) -> Written<()> {
    match fault::step().and_then(|()| fs::remove_file(path)) {
        Err(error) if is_missing(&error) => Ok(()),
        removed => removed.map_err(|source| WriteError::new(path, source)),
    }
}

/// Removes a directory that we made ourselves, if it is empty.
pub(crate) fn remove_empty_dir(path: &Path) -> Written<()> {
    match fault::step().and_then(|()| fs::remove_dir(path)) {
        Err(error) if is_missing(&error) => Ok(()),
        // Somebody uses it by now.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.map_err(|source| WriteError::new(path, source)),
    }
}

/// Creates a directory and those above it, for their owner alone.
pub(crate) fn create_dirs(path: &Path) -> Written<()> {
    let missing = missing_dirs(path).map_err(|error| WriteError::new(&error.path, error.source))?;
    for dir in missing.into_iter().rev() {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match fault::step().and_then(|()| builder.create(dir)) {
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
        if exists(dir)? {
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

    pub(super) fn step() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn rename_flags() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn write(_: &File, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn append(len: usize) -> (usize, Option<io::Error>) {
        (len, None)
    }
}
