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
}

impl ArchivedContent {
    pub(crate) fn new(
        storage: Arc<dyn ArchiveStorage>,
        key: &FileKey,
        GenerationChunks { generation, chunks }: GenerationChunks,
    ) -> Self {
        Self { storage, root: key.root.clone(), path: key.full_path(), generation, chunks }
    }

    /// Returns where the file was.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the whole content.
    pub fn read_all(&self) -> Result<Vec<u8>, PathError> {
        let mut bytes = Vec::new();
        for n in 0..self.chunks.len() {
            bytes.extend(self.piece(n)?.unwrap_or_default());
        }
        Ok(bytes)
    }

    fn chunk_bytes(&self, chunk: ChunkRef) -> Result<Vec<u8>, ArchiveError> {
        let packed = self.storage.packed_chunk(&self.root, chunk.hash)?;
        let damaged = || ArchiveError::Damaged {
            archive: self.storage.name().to_owned(),
            what: format!("chunk {} is damaged", chunk.hash),
        };
        chunk::unpack(chunk, &packed).ok_or_else(damaged)
    }
}

impl StoredBytes for ArchivedContent {
    fn byte_count(&self) -> u64 {
        self.generation.bytes
    }

    fn piece(&self, n: usize) -> Result<Option<Vec<u8>>, PathError> {
        let Some(chunk) = self.chunks.get(n) else { return Ok(None) };
        self.chunk_bytes(*chunk).map(Some).map_err(|error| error.reading(&self.path))
    }
}
