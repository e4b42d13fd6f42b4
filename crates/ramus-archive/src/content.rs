//! One generation of a file, read back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_store::{PathError, StoredBytes};

use crate::chunk;
use crate::storage::{
    ArchiveError, ArchiveStorage, ChunkRef, FileKey, Generation, GenerationChunks,
};

/// The content of an archived file. Every chunk is checked against its hash when it is read.
#[derive(Clone, Debug)]
pub struct ArchivedContent {
    storage: Arc<dyn ArchiveStorage>,
    /// The Claude directory of the file.
    root: PathBuf,
    /// Where the file was.
    path: PathBuf,
    pub generation: Generation,
    chunks: Vec<ChunkRef>,
    /// Whether the chunks together are as long as the file was.
    is_whole: bool,
}

impl ArchivedContent {
    pub(crate) fn new(
        storage: Arc<dyn ArchiveStorage>,
        key: &FileKey,
        GenerationChunks { generation, chunks }: GenerationChunks,
    ) -> Self {
        let length = chunks.iter().try_fold(0u64, |sum, chunk| sum.checked_add(chunk.bytes));
        let is_whole = length == Some(generation.bytes);
        let (root, path) = (key.root.clone(), key.full_path());
        Self { storage, root, path, generation, chunks, is_whole }
    }

    /// Returns where the file was.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole content.
    pub fn read_all(&self) -> Result<Vec<u8>, PathError> {
        let mut bytes = Vec::new();
        let mut n = 0;
        while let Some(piece) = self.piece(n)? {
            bytes.extend(piece);
            n += 1;
        }
        Ok(bytes)
    }

    fn chunk_bytes(&self, n: usize) -> Result<Option<Vec<u8>>, ArchiveError> {
        let damaged =
            |what| ArchiveError::Damaged { archive: self.storage.name().to_owned(), what };
        // A part of a file would look like the whole of it, and another person may have listed a chunk any number of times.
        if !self.is_whole {
            return Err(damaged("the length of a file differs from that of its chunks".to_owned()));
        }
        let Some(chunk) = self.chunks.get(n) else { return Ok(None) };
        let packed = self.storage.packed_chunk(&self.root, chunk.hash)?;
        let bytes = chunk::unpack(*chunk, &packed);
        bytes.map(Some).ok_or_else(|| damaged(format!("chunk {} is damaged", chunk.hash)))
    }
}

impl StoredBytes for ArchivedContent {
    fn byte_count(&self) -> u64 {
        self.generation.bytes
    }

    fn piece(&self, n: usize) -> Result<Option<Vec<u8>>, PathError> {
        self.chunk_bytes(n).map_err(|error| error.reading(&self.path))
    }
}
