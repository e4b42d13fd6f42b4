//! Numbers by which the file system knows a file, whatever its name.

use std::fs::File;
use std::io;
use std::path::Path;

/// The number of a file and of the device that it is on.
///
/// A moved file keeps it. It proves nothing alone: the number of a deleted file is given to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) number: u64,
}

impl FileId {
    /// Returns the number of the file at a path. The last link of the path is followed.
    pub(crate) fn from_path(path: &Path) -> io::Result<Self> {
        system::from_path(path)
    }

    /// Does the same for a link itself.
    pub(crate) fn without_following(path: &Path) -> io::Result<Self> {
        system::without_following(path)
    }

    pub(crate) fn from_file(file: &File) -> io::Result<Self> {
        system::from_file(file)
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::FileId;

    fn from_metadata(meta: &Metadata) -> FileId {
        FileId { device: meta.dev(), number: meta.ino() }
    }

    pub(super) fn from_path(path: &Path) -> io::Result<FileId> {
        fs::metadata(path).map(|meta| from_metadata(&meta))
    }

    pub(super) fn without_following(path: &Path) -> io::Result<FileId> {
        fs::symlink_metadata(path).map(|meta| from_metadata(&meta))
    }

    pub(super) fn from_file(file: &File) -> io::Result<FileId> {
        file.metadata().map(|meta| from_metadata(&meta))
    }
}

#[cfg(windows)]
mod system {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::windows::fs::OpenOptionsExt;
    use std::path::Path;

    use super::FileId;

    /// `FILE_FLAG_BACKUP_SEMANTICS`: directories can be opened, too.
    const OPEN_DIRECTORIES: u32 = 0x0200_0000;
    /// `FILE_FLAG_OPEN_REPARSE_POINT`: a link is opened itself.
    const OPEN_LINKS: u32 = 0x0020_0000;

    /// Opens a file only to query it, which works even if another program has it open exclusively.
    fn open_to_ask(path: &Path, flags: u32) -> io::Result<File> {
        OpenOptions::new().access_mode(0).custom_flags(OPEN_DIRECTORIES | flags).open(path)
    }

    pub(super) fn from_path(path: &Path) -> io::Result<FileId> {
        from_file(&open_to_ask(path, 0)?)
    }

    pub(super) fn without_following(path: &Path) -> io::Result<FileId> {
        from_file(&open_to_ask(path, OPEN_LINKS)?)
    }

    pub(super) fn from_file(file: &File) -> io::Result<FileId> {
        let facts = winapi_util::file::information(file)?;
        Ok(FileId { device: facts.volume_serial_number(), number: facts.file_index() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_file_keeps_its_number_and_a_copy_has_another() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| dir.path().join(name));
        std::fs::write(&a, "one").unwrap();
        let id = FileId::from_path(&a).unwrap();
        assert_eq!(FileId::from_file(&File::open(&a).unwrap()).unwrap(), id);
        assert_eq!(FileId::without_following(&a).unwrap(), id);
        std::fs::copy(&a, &b).unwrap();
        assert_ne!(FileId::from_path(&b).unwrap(), id);
        std::fs::rename(&a, &c).unwrap();
        assert_eq!(FileId::from_path(&c).unwrap(), id);
        assert!(FileId::from_path(&a).is_err());
        assert!(FileId::from_path(dir.path()).is_ok());
    }
}
