//! The storage interface of an archive: files, their generations, and chunks identified by their hash.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ramus_core::query::GramQuery;
use ramus_core::time::Time;
use ramus_store::derived::{DerivedData, DerivedKind, FilterAnswer};
use ramus_store::owned::OwnedKind;
use ramus_store::plan::FileTime;
use ramus_store::{FileIdentity, PathError, WriteError};

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

/// Identifies a file: its Claude directory, and its path below it.
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

    /// Returns the name of the project's directory. `None`: the file lies outside of the projects.
    pub fn project(&self) -> Option<String> {
        let mut parts = self.path.iter();
        let is_project = parts.next()? == "projects";
        parts.next().filter(|_| is_project).map(|name| name.to_string_lossy().into_owned())
    }
}

/// Whose Claude directory it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    pub owner: String,
    pub machine: String,
    pub root: PathBuf,
}

/// Returns a path as an engine stores it: names of files need not be text.
pub(crate) fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Returns the path that an engine stored.
pub(crate) fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    let name: OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    #[cfg(not(unix))]
    let name = OsString::from(String::from_utf8_lossy(&bytes).into_owned());
    PathBuf::from(name)
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
    /// Secrets and personal data were removed before it was sent: these are not the bytes of the file.
    pub redacted: bool,
}

/// A file with its content at some time, whose derived values are asked for.
#[derive(Clone, Debug)]
pub struct ContentKey {
    pub key: FileKey,
    pub identity: FileIdentity,
}

/// A chunk of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    pub hash: ContentHash,
    pub bytes: u64,
}

/// One content of a file with the chunks that it consists of, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationChunks {
    pub generation: Generation,
    pub chunks: Vec<ChunkRef>,
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
    /// The first chunks of the generation are kept, in this number; `chunks` follow them.
    pub kept_chunks: usize,
    pub chunks: Vec<ChunkRef>,
    /// What was derived from the content. `None`: nothing can be, or the engine keeps nothing of the kind.
    pub derived: Option<DerivedData>,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    Noted,
    /// Another process updated the file or removed a chunk. Examine the file again.
    Outdated,
}

/// The size of an archive.
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
/// Several processes use one archive at the same time, and several threads one storage. Every call is done
/// as a whole or not at all, also if the process is killed meanwhile; what a call returned is on the disk.
///
/// No call is made more often than once for each file or each chunk of up to 4 MB that is read, and writing
/// takes one call for many of them: an engine may be at the other end of a network.
pub trait ArchiveStorage: fmt::Debug + Send + Sync {
    /// Returns what the archive is called in messages; it must not hold a password.
    fn name(&self) -> &str;

    /// Lists files by root and path; those of one Claude directory, or all of this person on this machine.
    fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError>;

    /// Lists the generations of a file, oldest first.
    fn generations(&self, key: &FileKey) -> Result<Vec<Generation>, ArchiveError>;

    /// Returns a generation of a file, or its newest one. `None`: it is not archived.
    fn generation_chunks(
        &self,
        key: &FileKey,
        number: Option<u32>,
    ) -> Result<Option<GenerationChunks>, ArchiveError>;

    /// Lists the hashes of all chunks.
    fn chunk_hashes(&self) -> Result<HashSet<ContentHash>, ArchiveError>;

    /// Returns a chunk as it was stored by whoever owns the files of a Claude directory: another person may have stored
    /// anything under its hash.
    fn packed_chunk(&self, root: &Path, hash: ContentHash) -> Result<Vec<u8>, ArchiveError>;

    /// Stores chunks, then notes updates of files, each with an outcome. A chunk that is there already
    /// stays as it is.
    fn commit(
        &self,
        chunks: &[PackedChunk],
        updates: &[FileUpdate],
    ) -> Result<Vec<UpdateOutcome>, ArchiveError>;

    /// Removes files with all their generations, and the chunks that no other file needs.
    fn forget(&self, keys: &[FileKey]) -> Result<Forgotten, ArchiveError>;

    /// Returns a number that changes whenever something changed, here or in another process.
    fn version(&self) -> Result<u64, ArchiveError>;

    fn totals(&self) -> Result<Totals, ArchiveError>;

    /// Returns the person and the machine that add files. `None`: only one of each uses the archive.
    fn own_source(&self) -> Option<(&str, &str)>;

    /// Lists the archived Claude directories of other people and machines, each with the root that its files have
    /// in a [`FileKey`].
    fn other_sources(&self) -> Result<Vec<(PathBuf, Source)>, ArchiveError>;

    /// Lists the files of some Claude directories of other people and machines, by their roots.
    fn files_of_others(&self, roots: &[PathBuf]) -> Result<Vec<FileEntry>, ArchiveError>;

    /// Lists the own files from whose newest content nothing was derived yet by this version of ramus. `None`: the
    /// engine keeps nothing of the kind, because its files are read faster.
    fn underived_files(&self) -> Result<Option<HashSet<FileKey>>, ArchiveError>;

    /// Returns derived values of some files, by their place in the list.
    fn derived_values(
        &self,
        kind: &DerivedKind,
        files: &[ContentKey],
    ) -> Result<HashMap<usize, Vec<u8>>, ArchiveError>;

    /// Returns what the filters of some files say, by the place in the list.
    fn filter_files(
        &self,
        queries: &[&GramQuery],
        files: &[ContentKey],
    ) -> Result<HashMap<usize, FilterAnswer>, ArchiveError>;

    /// Lets the team read a project of this person, or no longer. Returns whether that was a change.
    fn set_shared(&self, project: &str, is_shared: bool) -> Result<bool, ArchiveError>;

    /// Lists the projects that this person shares.
    fn shared_projects(&self) -> Result<Vec<String>, ArchiveError>;
}

/// Why an archive could not be used. The first field is its [name](ArchiveStorage::name).
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error("{0} is not a ramus archive")]
    NotAnArchive(String),
    #[error("the archive {0} was written by a newer ramus")]
    Newer(String),
    #[error("the archive {0} was made by an older ramus")]
    Older(String),
    #[error("no space left for the archive {0}; everything archived so far is kept")]
    Full(String),
    #[error("another program has locked the archive {0}")]
    Locked(String),
    #[error("the archive {archive} is damaged: {what}")]
    Damaged { archive: String, what: String },
    #[error("the database {0} contains no archive yet")]
    NotInitialized(String),
    #[error("the archive {0} is a file on this machine; only an archive on a server can be shared")]
    NotShareable(String),
    /// What the user allows to be sent.
    #[error("nothing was sent: {0}")]
    Policy(String),
    #[error("cannot use the archive {archive}: {what}")]
    Server { archive: String, what: String },
    #[error("no generation {number} of {} is archived", .path.display())]
    NoGeneration { path: PathBuf, number: u32 },
    #[error("cannot use the archive {archive}")]
    Engine {
        archive: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(transparent)]
    Read(#[from] PathError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ArchiveError {
    /// Converts it to an error about the file that was being read.
    pub fn reading(self, path: &Path) -> PathError {
        match self {
            Self::Read(error) => error,
            other => PathError::new(path, io::Error::new(io::ErrorKind::InvalidData, other)),
        }
    }
}

/// Whether something could not be read because the archive is damaged, and not because it cannot be reached.
pub fn is_damage(problem: &PathError) -> bool {
    let error = problem.source.get_ref().and_then(|error| error.downcast_ref::<ArchiveError>());
    matches!(error, Some(ArchiveError::Damaged { .. }))
}
