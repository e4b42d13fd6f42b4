//! Reads one file and finds its new content.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

use ramus_store::derived::{DerivedData, derive_from_file};
use ramus_store::owned::{OwnedFile, OwnedKind};
use ramus_store::pack::is_plain_name;
use ramus_store::plan::FileTime;
use ramus_store::{FileIdentity, PathError, open_regular};

use super::redacted::{RedactedCopy, redacted_copy};
use super::{AddReport, AddRun};
use crate::chunk::{CHUNK, SHORT, pack};
use crate::storage::{
    ArchiveError, ChunkRef, ContentHash, FileEntry, FileKey, FileUpdate, Generation, PackedChunk,
};

/// What reading a file came to.
pub(super) enum ReadOutcome {
    Update(Box<FileUpdate>, Added),
    /// It was removed after it was listed.
    Gone,
    /// Secrets in it cannot be found.
    NotText,
}

/// What an update adds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Added {
    /// Nothing: the content is the archived one.
    Nothing,
    New(u64),
    Grown(u64),
    Rewritten(u64),
}

impl Added {
    pub(super) fn count(self, report: &mut AddReport) {
        let (counter, bytes) = match self {
            Self::Nothing => (&mut report.unchanged, 0),
            Self::New(bytes) => (&mut report.new, bytes),
            Self::Grown(bytes) => (&mut report.grown, bytes),
            Self::Rewritten(bytes) => (&mut report.rewritten, bytes),
        };
        *counter += 1;
        report.added_bytes += bytes;
    }
}

/// How often a file is read again that was rewritten while it was read.
const ATTEMPTS: usize = 3;

/// Whether a chunk has to be stored; it counts as stored from then on.
type IsNewChunk<'a> = &'a dyn Fn(ContentHash) -> Result<bool, ArchiveError>;

/// Reads the new part of a file; `store` takes its chunks one by one.
pub(super) fn read_file(
    run: &AddRun<'_>,
    file: &OwnedFile,
    entry: Option<&FileEntry>,
    derives: bool,
    is_new: IsNewChunk<'_>,
    store: &mut dyn FnMut(PackedChunk),
) -> Result<ReadOutcome, ArchiveError> {
    let error = |source| PathError::new(&file.path, source);
    for _ in 0..ATTEMPTS {
        let open = match open_regular(&file.path) {
            Ok(open) => open,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ReadOutcome::Gone),
            Err(source) => return Err(error(source).into()),
        };
        let before = open.metadata().map_err(error)?;
        let (mut original, mut copy) = (open, None);
        if run.redact {
            match redacted_copy(&mut original, &file.path, before.len()).map_err(error)? {
                Some(redacted) => copy = Some(redacted),
                None => return Ok(ReadOutcome::NotText),
            }
        }
        let open = match &copy {
            Some(RedactedCopy { file, .. }) => file.reopen().map_err(error)?,
            None => original.try_clone().map_err(error)?,
        };
        let length = open.metadata().map_err(error)?.len();
        let mut reading = Reading { run, file, entry, is_new, store, open };
        let length = if copy.is_some() { length } else { before.len() };
        let Some((generation, kept_chunks, chunks)) = reading.read_new(&before, length)? else {
            continue;
        };
        let after = original.metadata().map_err(error)?;
        let is_settled = FileIdentity::is_same_state(&file.path, &before, &after);
        if !is_settled {
            let is_same = match &copy {
                Some(copy) => copy.is_still_of(&mut original).map_err(error)?,
                None => reading.still_begins_with(&generation)?,
            };
            if !is_same {
                continue;
            }
        }
        let settled = FileIdentity::of_settled(&file.path, &after).filter(|_| is_settled);
        let identity = settled.map(|id| id.to_bytes().to_vec());
        let mut update = reading.update(generation, kept_chunks, chunks, identity)?;
        if derives {
            update.derived = match &copy {
                Some(copy) => derive_from_file(copy.file.path(), file.kind).ok(),
                None => reading.derive_unchanged(&update.generation)?,
            };
        }
        let added = added(entry, &update.generation);
        return Ok(ReadOutcome::Update(Box::new(update), added));
    }
    let changing = io::Error::other("it changes faster than it can be read; run the command again");
    Err(error(changing).into())
}

fn added(entry: Option<&FileEntry>, generation: &Generation) -> Added {
    match entry.map(|entry| &entry.newest) {
        None => Added::New(generation.bytes),
        Some(newest) if newest.number != generation.number => Added::Rewritten(generation.bytes),
        Some(newest) if newest.bytes == generation.bytes => Added::Nothing,
        Some(newest) => Added::Grown(generation.bytes - newest.bytes),
    }
}

/// One attempt to read one file.
struct Reading<'a> {
    run: &'a AddRun<'a>,
    file: &'a OwnedFile,
    entry: Option<&'a FileEntry>,
    is_new: IsNewChunk<'a>,
    store: &'a mut dyn FnMut(PackedChunk),
    open: File,
}

/// The part of a file that is read.
struct Rest {
    start: u64,
    /// So many bytes from the start on are part of the hash already; fewer than a chunk has.
    hashed: u64,
    /// The number of chunks before it.
    kept: usize,
}

/// A generation, how many of its chunks are stored already, and the others.
type NewContent = (Generation, usize, Vec<ChunkRef>);

impl Reading<'_> {
    fn error(&self, source: io::Error) -> ArchiveError {
        PathError::new(&self.file.path, source).into()
    }

    /// Reads the file up to its length at opening. `None` if it has become shorter.
    fn read_new(
        &mut self,
        meta: &Metadata,
        length: u64,
    ) -> Result<Option<NewContent>, ArchiveError> {
        let mut generation = Generation {
            number: 1,
            bytes: length,
            hash: ContentHash([0; 32]),
            mode: mode(meta),
            modified: FileTime::from(meta.modified().unwrap_or(SystemTime::UNIX_EPOCH)),
            created: meta.created().ok().map(FileTime::from),
            added: self.run.now,
            redacted: self.run.redact,
        };
        if let Some(newest) = self.entry.map(|entry| entry.newest.clone()) {
            if let Some(hasher) = self.hash_beginning(newest.bytes, newest.hash)? {
                generation.number = newest.number;
                if newest.bytes == generation.bytes {
                    let (hash, added) = (newest.hash, newest.added);
                    let generation = Generation { hash, added, ..generation };
                    let kept = self.archived_chunks(newest.number)?.len();
                    return Ok(Some((generation, kept, Vec::new())));
                }
                return self.read_grown(generation, newest.bytes, hasher);
            }
            generation.number = newest.number + 1;
        }
        self.read_rest(generation, Rest { start: 0, hashed: 0, kept: 0 }, blake3::Hasher::new())
    }

    /// Reads the part after the archived one. A short last chunk is stored again, in a longer one.
    fn read_grown(
        &mut self,
        generation: Generation,
        archived: u64,
        hasher: blake3::Hasher,
    ) -> Result<Option<NewContent>, ArchiveError> {
        let chunks = self.archived_chunks(generation.number)?;
        let short = chunks.last().map_or(0, |last| last.bytes).min(archived);
        let rest = match short < SHORT && !chunks.is_empty() {
            true => Rest { start: archived - short, hashed: short, kept: chunks.len() - 1 },
            false => Rest { start: archived, hashed: 0, kept: chunks.len() },
        };
        self.read_rest(generation, rest, hasher)
    }

    fn archived_chunks(&self, number: u32) -> Result<Vec<ChunkRef>, ArchiveError> {
        let key = FileKey { root: self.file.root.clone(), path: self.file.relative.clone() };
        let stored = self.run.storage.generation_chunks(&key, Some(number))?;
        Ok(stored.map(|stored| stored.chunks).unwrap_or_default())
    }

    /// Reads from an offset up to the end, chunk by chunk.
    fn read_rest(
        &mut self,
        mut generation: Generation,
        Rest { start, mut hashed, kept }: Rest,
        mut hasher: blake3::Hasher,
    ) -> Result<Option<NewContent>, ArchiveError> {
        self.open.seek(SeekFrom::Start(start)).map_err(|source| self.error(source))?;
        let mut chunks = Vec::new();
        let mut left = generation.bytes - start;
        let mut bytes = Vec::with_capacity(left.min(CHUNK as u64) as usize);
        while left > 0 {
            bytes.clear();
            let wanted = left.min(CHUNK as u64);
            let read = self.open.by_ref().take(wanted).read_to_end(&mut bytes);
            if read.map_err(|source| self.error(source))? as u64 != wanted {
                return Ok(None);
            }
            left -= wanted;
            hasher.update(&bytes[hashed as usize..]);
            hashed = 0;
            let chunk = ChunkRef { hash: ContentHash::of(&bytes), bytes: wanted };
            if (self.is_new)(chunk.hash)? {
                let packed = pack(chunk, &bytes).map_err(|source| self.error(source))?;
                (self.store)(packed);
            }
            (self.run.on_read)(wanted);
            chunks.push(chunk);
        }
        generation.hash = ContentHash(*hasher.finalize().as_bytes());
        Ok(Some((generation, kept, chunks)))
    }

    /// Hashes the beginning of the file; `None`: it differs from the archived content.
    fn hash_beginning(
        &mut self,
        bytes: u64,
        hash: ContentHash,
    ) -> Result<Option<blake3::Hasher>, ArchiveError> {
        let hasher = self.hash_bytes(bytes)?;
        Ok(hasher.filter(|hasher| *hasher.finalize().as_bytes() == hash.0))
    }

    /// Hashes so many bytes from the start; `None`: there are fewer.
    fn hash_bytes(&mut self, bytes: u64) -> Result<Option<blake3::Hasher>, ArchiveError> {
        self.open.seek(SeekFrom::Start(0)).map_err(|source| self.error(source))?;
        let mut hasher = blake3::Hasher::new();
        let mut file = self.open.by_ref().take(bytes);
        let mut buffer = vec![0; bytes.clamp(1, 256 * 1024) as usize];
        let mut hashed = 0;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok((hashed == bytes).then_some(hasher)),
                Ok(read) => {
                    hasher.update(&buffer[..read]);
                    hashed += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(PathError::new(&self.file.path, source).into()),
            }
        }
    }

    /// Whether the file was only appended to while it was read: a file that is overwritten meanwhile would
    /// be archived as a mixture of two states.
    fn still_begins_with(&mut self, generation: &Generation) -> Result<bool, ArchiveError> {
        Ok(self.hash_beginning(generation.bytes, generation.hash)?.is_some())
    }

    /// Derives what there is to derive from a file, if it has the content that was read before and after.
    fn derive_unchanged(
        &mut self,
        generation: &Generation,
    ) -> Result<Option<DerivedData>, ArchiveError> {
        let path = &self.file.path;
        let Ok(derived) = derive_from_file(path, self.file.kind) else { return Ok(None) };
        // The path may mean another file by now.
        self.open = match open_regular(path) {
            Ok(open) => open,
            Err(_) => return Ok(None),
        };
        let length = self.open.metadata().map_err(|source| self.error(source))?.len();
        let is_same = length == generation.bytes && self.still_begins_with(generation)?;
        Ok(is_same.then_some(derived))
    }

    fn update(
        &self,
        generation: Generation,
        kept_chunks: usize,
        chunks: Vec<ChunkRef>,
        identity: Option<Vec<u8>>,
    ) -> Result<FileUpdate, ArchiveError> {
        let newest = self.entry.map(|entry| &entry.newest);
        Ok(FileUpdate {
            key: FileKey { root: self.file.root.clone(), path: self.file.relative.clone() },
            session: self.session()?,
            kind: self.file.kind,
            identity,
            expected: newest.map(|newest| (newest.number, newest.hash)),
            generation,
            kept_chunks,
            chunks,
            derived: None,
        })
    }

    /// Returns the session of the file; agents of old clients name it in their records. What cannot be the name of a
    /// session's file names none, and a server refuses text with a NUL.
    fn session(&self) -> Result<String, ArchiveError> {
        match (&self.file.session, self.entry) {
            (Some(session), _) => Ok(session.clone()),
            (None, Some(entry)) => Ok(entry.session.clone()),
            (None, None) if self.file.kind == OwnedKind::Agent => {
                let session = ramus_store::read_session(&self.file.path)?;
                let id = session.facts().session_ids.first().map(ToString::to_string);
                Ok(id.filter(|id| is_plain_name(id)).unwrap_or_default())
            }
            (None, None) => Ok(String::new()),
        }
    }
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> u32 {
    0o600
}
