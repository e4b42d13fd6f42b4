//! Opens files that other programs created.
//!
//! A path may lead to a pipe, which would block for ever, or to an endless device. So every file is
//! opened without blocking and checked: only regular files are read or written.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The size limit for settings and for small files next to a session.
pub(crate) const SMALL_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Opens a regular file for reading.
pub fn open_for_reading(path: &Path) -> io::Result<File> {
    open_with_options(OpenOptions::new().read(true), path)
}

/// Opens a regular file with the given options.
pub(crate) fn open_with_options(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits().cast_signed(),
    );
    let file = options.open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Returns an error unless it is a regular file.
pub(crate) fn require_regular(meta: &Metadata) -> io::Result<()> {
    if meta.is_file() {
        return Ok(());
    }
    let kind =
        if meta.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
    Err(io::Error::new(kind, "not a regular file"))
}

/// Reads a whole file. A file larger than `limit` is an error.
pub(crate) fn read_limited(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(open_for_reading(path)?, limit)
}

/// Does the same with a file that is open.
pub(crate) fn read_open(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn pipes_devices_and_directories_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [pipe.as_path(), Path::new("/dev/zero"), dir.path()] {
            assert!(open_for_reading(path).is_err(), "{}", path.display());
            assert!(read_limited(path, SMALL_FILE_BYTES).is_err(), "{}", path.display());
            let write = open_with_options(OpenOptions::new().write(true), path);
            assert!(write.is_err(), "{}", path.display());
            let append = open_with_options(OpenOptions::new().read(true).append(true), path);
            assert!(append.is_err(), "{}", path.display());
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read_limited(&path, 4).unwrap(), b"four");
        assert_eq!(read_limited(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
