//! How to tell that a file is still the one that was planned for (R24).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// How much of a file's end is hashed.
const TAIL: u64 = 64 * 1024;

/// A file's length and the hash of its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub len: u64,
    tail: String,
}

impl Stamp {
    /// Takes the stamp of a whole file.
    pub fn at(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Self::of(&file, len)
    }

    /// Takes the stamp of the first `len` bytes of a file.
    pub(crate) fn of(mut file: &File, len: u64) -> io::Result<Self> {
        let from = len.saturating_sub(TAIL);
        let mut bytes = vec![0; (len - from) as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut bytes)?;
        Ok(Self { len, tail: format!("{:032x}", xxh3_128(&bytes)) })
    }

    /// Whether a file still begins with what was stamped, as far as its stamp can tell.
    pub(crate) fn begins(&self, path: &Path) -> io::Result<bool> {
        let file = File::open(path)?;
        Ok(file.metadata()?.len() >= self.len && Self::of(&file, self.len)? == *self)
    }
}
