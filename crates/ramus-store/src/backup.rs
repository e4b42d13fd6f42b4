//! Backups of sessions, made before each operation.
//!
//! Histories grow at the end. So one copy that is extended each time contains every
//! earlier version as a prefix. A new copy is started only if a file was changed in
//! another way.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::disk::{self, WriteError, WriteResult};
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// One version of a session: a prefix of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBackup {
    pub copy: PathBuf,
    pub len: u64,
    hash: String,
}

const CHUNK_BYTES: usize = 256 * 1024;

impl SessionBackup {
    /// Backs a file up as it is now.
    pub(crate) fn save_version(state: &StateDir, path: &Path) -> WriteResult<Self> {
        let dir = state.backups_dir();
        disk::create_dirs(&dir)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = format!("{stem}-{:016x}", xxh3_64(path.as_os_str().as_encoded_bytes()));
        let copy = |n: u32| dir.join(format!("{stem}-{n}.jsonl"));
        let last = (1..).take_while(|n| copy(*n).exists()).last();
        let error = |source| WriteError::new(path, source);
        let mut file = File::open(path).map_err(error)?;
        if let Some(n) = last {
            let copy = copy(n);
            if let Some(shared) = hash_common_prefix(&mut file, &copy).map_err(error)? {
                if shared.1 < fs::metadata(&copy).map_err(error)?.len() {
                    let hash = format!("{:032x}", shared.0.digest128());
                    return Ok(Self { copy, len: shared.1, hash });
                }
                let out = OpenOptions::new()
                    .append(true)
                    .open(&copy)
                    .map_err(|source| WriteError::new(&copy, source))?;
                return Self::copy_rest(file, &out, copy, shared);
            }
        }
        let copy = copy(last.unwrap_or(0) + 1);
        let out = disk::create_file(&copy)?;
        file.seek(SeekFrom::Start(0)).map_err(error)?;
        let kept = Self::copy_rest(file, &out, copy, (Xxh3::new(), 0))?;
        disk::sync_parent_dir(&kept.copy)?;
        Ok(kept)
    }

    /// Appends the rest of a file to a copy.
    fn copy_rest(
        mut file: File,
        out: &File,
        copy: PathBuf,
        (mut hash, mut len): (Xxh3, u64),
    ) -> WriteResult<Self> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match file.read(&mut buffer).map_err(|source| WriteError::new(&copy, source))? {
                0 => break,
                read => {
                    disk::write_bytes(&copy, out, &buffer[..read])?;
                    hash.update(&buffer[..read]);
                    len += read as u64;
                }
            }
        }
        disk::sync_file(&copy, out)?;
        Ok(Self { copy, len, hash: format!("{:032x}", hash.digest128()) })
    }

    /// Returns the stamp of this version.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { len: self.len, hash: self.hash.clone() }
    }

    /// Reads the version back and verifies its hash.
    pub fn read_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.len as usize);
        File::open(&self.copy)?.take(self.len).read_to_end(&mut bytes)?;
        let mut hash = Xxh3::new();
        hash.update(&bytes);
        if format!("{:032x}", hash.digest128()) != self.hash {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the copy was changed"));
        }
        Ok(bytes)
    }
}

/// Reads past what a file has in common with a copy. `None`: neither is a prefix of the other.
fn hash_common_prefix(file: &mut File, copy: &Path) -> io::Result<Option<(Xxh3, u64)>> {
    let len = fs::metadata(copy)?.len().min(file.metadata()?.len());
    let mut copy = File::open(copy)?;
    let mut hash = Xxh3::new();
    let (mut a, mut b) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut left = len;
    while left > 0 {
        let step = left.min(CHUNK_BYTES as u64) as usize;
        copy.read_exact(&mut a[..step])?;
        file.read_exact(&mut b[..step])?;
        if a[..step] != b[..step] {
            return Ok(None);
        }
        hash.update(&a[..step]);
        left -= step as u64;
    }
    Ok(Some((hash, len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_grew_share_a_copy_and_all_come_back() {
        let home = testkit::TestHome::new();
        let state = StateDir::new(home.path().join("state"));
        let path = home.path().join("s.jsonl");
        let keep = |text: &str| {
            fs::write(&path, text).unwrap();
            (SessionBackup::save_version(&state, &path).unwrap(), text.as_bytes().to_vec())
        };
        let kept = [
            keep("one\n"),
            keep("one\ntwo\n"),
            // The file was truncated: the copy begins with that version.
            keep("one\n"),
            keep("one\nother\n"),
            keep(""),
        ];
        for (backup, bytes) in &kept {
            assert_eq!(&backup.read_bytes().unwrap(), bytes);
            assert_eq!(backup.stamp().len, bytes.len() as u64);
        }
        assert_eq!(kept[0].0.copy, kept[1].0.copy);
        assert_eq!(kept[0].0, kept[2].0);
        assert_ne!(kept[1].0.copy, kept[3].0.copy, "neither begins with the other");
        // Files of the same name in two places are not mixed up.
        let other = home.path().join("other/s.jsonl");
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        fs::write(&other, "one\n").unwrap();
        assert_ne!(SessionBackup::save_version(&state, &other).unwrap().copy, kept[0].0.copy);
    }

    #[test]
    fn a_copy_that_was_changed_is_not_given_back() {
        let home = testkit::TestHome::new();
        let state = StateDir::new(home.path().join("state"));
        let path = home.path().join("s.jsonl");
        fs::write(&path, "one\n").unwrap();
        let backup = SessionBackup::save_version(&state, &path).unwrap();
        fs::write(&backup.copy, "two\n").unwrap();
        assert_eq!(backup.read_bytes().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
