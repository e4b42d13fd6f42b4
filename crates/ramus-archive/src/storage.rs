//! What an archive's engine provides: files, their generations, and chunks known by their hash.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ramus_core::time::Time;
use ramus_store::owned::OwnedKind;
use ramus_store::plan::FileTime;
use ramus_store::{PathError, WriteError};

/// The BLAKE3 hash of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Which file is meant: its Claude directory, and its path from there on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    pub root: PathBuf,
    pub path: PathBuf,
}

impl FileKey {
    /// Returns where the file is, or was.
    pub fn full_path(&self) -> PathBuf {
        self.root.join(&self.path)
    }
}

/// An archived file with its newest generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    pub key: FileKey,
    pub session: String,
    pub kind: OwnedKind,
    /// How the file was recognised when it was read last. `None`: it was being written to.
    pub identity: Option<Vec<u8>>,
    pub newest: Generation,
}

/// One content of a file. While the file only grows, its generation grows with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Counted from 1.
    pub number: u32,
    pub bytes: u64,
    /// The hash of the whole content.
    pub hash: ContentHash,
    /// The permissions that the file had.
    pub mode: u32,
    pub modified: FileTime,
    /// When the file was created, if its file system records that.
    pub created: Option<FileTime>,
    /// When bytes were last added to it.
    pub added: Time,
}

/// A chunk of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    pub hash: ContentHash,
    pub bytes: u64,
}

/// A chunk, compressed.
#[derive(Clone, Debug)]
pub struct PackedChunk {
    pub chunk: ChunkRef,
    pub packed: Vec<u8>,
}

/// What is to be noted about one file.
#[derive(Clone, Debug)]
pub struct FileUpdate {
    pub key: FileKey,
    pub session: String,
    pub kind: OwnedKind,
    pub identity: Option<Vec<u8>>,
    /// The generation that this was decided on: number and hash. If it is another one by now, nothing is noted.
    pub expected: Option<(u32, ContentHash)>,
    pub generation: Generation,
    /// So many chunks of the generation stay as they are; `chunks` follow them.
    pub kept_chunks: usize,
    pub chunks: Vec<ChunkRef>,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    Noted,
    /// Another process noted something about the file, or removed a chunk. Look at the file again.
    Outdated,
}

/// How much an archive holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub sessions: u64,
    pub files: u64,
    pub generations: u64,
    pub chunks: u64,
    /// The length of all generations together.
    pub bytes: u64,
    /// The same, compressed, each chunk once.
    pub packed_bytes: u64,
    /// When something was added last.
    pub last_added: Option<Time>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub files: u64,
    pub generations: u64,
    pub bytes: u64,
}

/// Stores files as generations of chunks.
///
/// Several processes use one archive at the same time. Every call is done as a whole or not at all, also if
/// the process is killed meanwhile; what a call returned is on the disk.
pub trait ArchiveStorage: fmt::Debug + Send + Sync {
    /// Lists files by root and path; those of one Claude directory, or all.
    fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError>;

    /// Lists the generations of a file, oldest first.
    fn generations(&self, key: &FileKey) -> Result<Vec<Generation>, ArchiveError>;

    /// Lists the chunks of a generation in order.
    fn chunks(&self, key: &FileKey, number: u32) -> Result<Vec<ChunkRef>, ArchiveError>;

    /// Lists the hashes of all chunks.
    fn chunk_hashes(&self) -> Result<HashSet<ContentHash>, ArchiveError>;

    /// Returns a chunk as it was stored.
    fn packed_chunk(&self, hash: ContentHash) -> Result<Vec<u8>, ArchiveError>;

    /// Stores chunks, then notes updates of files, each with an outcome. A chunk that is there already
    /// stays as it is.
    fn commit(
        &self,
        chunks: &[PackedChunk],
        updates: &[FileUpdate],
    ) -> Result<Vec<UpdateOutcome>, ArchiveError>;

    /// Removes files with all their generations, and the chunks that no other file needs.
    fn forget(&self, keys: &[FileKey]) -> Result<Forgotten, ArchiveError>;

    /// Returns a number that changes whenever another process changed something.
    fn version(&self) -> Result<u64, ArchiveError>;

    fn totals(&self) -> Result<Totals, ArchiveError>;
}

/// Why an archive could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{} is not an archive of ramus", .0.display())]
    NotAnArchive(PathBuf),
    #[error("the archive {} was written by a newer ramus", .0.display())]
    Newer(PathBuf),
    #[error("the disk of the archive {} is full; everything archived so far is kept", .0.display())]
    Full(PathBuf),
    #[error("another program keeps the archive {} locked", .0.display())]
    Locked(PathBuf),
    #[error("the archive {} is damaged: {what}", .path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("no generation {number} of {} is archived", .path.display())]
    NoGeneration { path: PathBuf, number: u32 },
    #[error("cannot use the archive {}", .path.display())]
    Engine {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(transparent)]
    Read(#[from] PathError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ArchiveError {
    /// Turns it into an error about the file whose bytes were wanted.
    pub fn reading(self, path: &Path) -> PathError {
        match self {
            Self::Read(error) => error,
            other => PathError::new(path, io::Error::new(io::ErrorKind::InvalidData, other)),
        }
    }
}
