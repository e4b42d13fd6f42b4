//! The few calls that change something on the disk, each of which may be the last.
//!
//! Everything that writes a history goes through here, so that a test can end
//! the process, as it were, at any one of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::regular;

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

/// Opens a file that is there for adding to its end; it is never made.
pub(crate) fn open_to_append(path: &Path) -> Written<File> {
    regular::open_with(OpenOptions::new().read(true).append(true), path)
        .map_err(|source| WriteError::new(path, source))
}

/// Makes a file that is not there, for its owner alone.
pub(crate) fn create(path: &Path) -> Written<File> {
    fault::step().and_then(|()| new_file(path)).map_err(|source| WriteError::new(path, source))
}

fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes all bytes, in one call if the system takes them.
pub(crate) fn write(path: &Path, mut file: &File, bytes: &[u8]) -> Written<()> {
    fault::write(file, bytes)
        .and_then(|()| file.write_all(bytes))
        .map_err(|source| WriteError::new(path, source))
}

/// Waits until a file's bytes are on the disk.
pub(crate) fn sync(path: &Path, file: &File) -> Written<()> {
    fault::step().and_then(|()| file.sync_all()).map_err(|source| WriteError::new(path, source))
}

/// Waits until the names in the directory of a file are on the disk.
pub(crate) fn sync_dir_of(path: &Path) -> Written<()> {
    let Some(dir) = path.parent() else { return Ok(()) };
    let synced = fault::step().and_then(|()| File::open(dir)).and_then(|dir| dir.sync_all());
    match synced {
        // Some file systems cannot do it for directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced.map_err(|source| WriteError::new(dir, source)),
    }
}

/// Cuts a file.
pub(crate) fn cut(path: &Path, file: &File, len: u64) -> Written<()> {
    fault::step().and_then(|()| file.set_len(len)).map_err(|source| WriteError::new(path, source))
}

/// Sets the time of the last change.
pub(crate) fn set_modified(path: &Path, file: &File, time: SystemTime) -> Written<()> {
    fault::step()
        .and_then(|()| file.set_modified(time))
        .map_err(|source| WriteError::new(path, source))
}

/// Gives a file another name; what bears it is replaced.
pub(crate) fn rename(from: &Path, to: &Path) -> Written<()> {
    fault::step().and_then(|()| fs::rename(from, to)).map_err(|source| WriteError::new(to, source))
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> Written<()> {
    fault::step()
        .and_then(|()| fs::hard_link(from, to))
        .map_err(|source| WriteError::new(to, source))
}

/// Takes away a file that we made ourselves.
pub(crate) fn remove(path: &Path) -> Written<()> {
    match fault::step().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|source| WriteError::new(path, source)),
    }
}

/// Takes away a directory that we made ourselves, if nothing is in it.
pub(crate) fn remove_empty_dir(path: &Path) {
    if fault::step().is_ok() {
        let _ = fs::remove_dir(path);
    }
}

/// Makes a directory and those above it, for their owner alone; tells which are new, outermost first.
pub(crate) fn create_dirs(path: &Path) -> Written<Vec<PathBuf>> {
    let missing: Vec<PathBuf> =
        path.ancestors().take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    for dir in missing.iter().rev() {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match fault::step().and_then(|()| builder.create(dir)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| WriteError::new(dir, source))?,
        }
    }
    Ok(missing.into_iter().rev().collect())
}

#[cfg(not(test))]
mod fault {
    use std::fs::File;
    use std::io;

    pub(super) fn step() -> io::Result<()> {
        Ok(())
    }

    pub(super) fn write(_: &File, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod fault {
    //! A power cut at the n-th call: from then on nothing reaches the disk.

    use std::cell::Cell;
    use std::fs::File;
    use std::io::{self, Write};

    thread_local! {
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    /// Lets `calls` calls pass and none after them.
    pub(crate) fn after(calls: u32) {
        LEFT.set(Some(calls));
    }

    /// Lets everything pass again; tells whether the cut had come.
    pub(crate) fn none() -> bool {
        LEFT.take() == Some(0)
    }

    pub(super) fn step() -> io::Result<()> {
        match LEFT.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the power is off")),
            Some(left) => {
                LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }

    /// The last write before the cut reaches the disk in part.
    pub(super) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
        let was = LEFT.get();
        step()?;
        if was == Some(1) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(io::Error::other("the power is off"));
        }
        Ok(())
    }
}
