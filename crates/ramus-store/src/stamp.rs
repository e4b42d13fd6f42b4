//! Length and hash of a file, to notice that it changed after a plan was made (R24).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::regular_file;

/// A file's length and the hash of its bytes.
///
/// All bytes are hashed: an edit near the beginning that keeps the length must be noticed too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub len: u64,
    #[serde(alias = "tail")]
    pub(crate) hash: String,
}

impl Stamp {
    /// Returns the stamp of a whole file.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let file = regular_file::open_for_reading(path)?;
        let len = file.metadata()?.len();
        Self::of_prefix(&file, len)
    }

    /// Returns the stamp of a file with this content.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut stamper = StampHasher::default();
        stamper.update(bytes);
        stamper.finish()
    }

    /// Computes the stamp of content that is passed piece by piece; `None` ends it.
    pub fn of_pieces<E>(
        piece: &mut dyn FnMut(usize) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Self, E> {
        let (mut stamper, mut n) = (StampHasher::default(), 0);
        while let Some(bytes) = piece(n)? {
            stamper.update(&bytes);
            n += 1;
        }
        Ok(stamper.finish())
    }

    /// Returns the stamp of the first `len` bytes of a file.
    pub(crate) fn of_prefix(mut file: &File, len: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(0))?;
        let mut hasher = Xxh3::new();
        if io::copy(&mut file.take(len), &mut hasher)? < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self { len, hash: format!("{:032x}", hasher.digest128()) })
    }

    /// Whether a file still begins with the stamped content.
    pub(crate) fn is_prefix_of(&self, path: &Path) -> io::Result<bool> {
        let file = regular_file::open_for_reading(path)?;
        Ok(file.metadata()?.len() >= self.len && Self::of_prefix(&file, self.len)? == *self)
    }
}

/// Computes a stamp from bytes that arrive piece by piece.
#[derive(Default)]
pub(crate) struct StampHasher {
    hasher: Xxh3,
    len: u64,
}

impl StampHasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.len += bytes.len() as u64;
    }

    pub(crate) fn finish(&self) -> Stamp {
        Stamp { len: self.len, hash: format!("{:032x}", self.hasher.digest128()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_byte_counts() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let file = dir.path().join("long.rs");
        let mut text = vec![b'a'; 300_000];
        fs::write(&file, &text)?;
        let before = Stamp::of_file(&file)?;
        assert_eq!(Stamp::of_bytes(&text), before);
        for at in [0, 150_000, 299_999] {
            text[at] = b'b';
            fs::write(&file, &text)?;
            assert_ne!(Stamp::of_file(&file)?, before, "{at}");
            assert!(!before.is_prefix_of(&file)?, "{at}");
            text[at] = b'a';
        }
        text.push(b'c');
        fs::write(&file, &text)?;
        assert!(before.is_prefix_of(&file)?, "it grew");
        assert_ne!(Stamp::of_file(&file)?, before);
        fs::write(&file, &text[..200_000])?;
        assert!(!before.is_prefix_of(&file)?, "it was cut");
        Ok(())
    }
}
