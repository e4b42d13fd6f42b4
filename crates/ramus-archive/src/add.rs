//! Adds new content of files to the archive.
//!
//! A file with unchanged metadata is skipped. Any other is read once: if it still begins with what is
//! archived, it grew and only its new part is stored; if not, it becomes a new generation. Several
//! threads read and compress, one writes. What was written before an interruption is found by the next
//! run: chunks are known by their hash.

mod read;
mod redacted;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use ramus_core::time::Time;
use ramus_store::PathError;
use ramus_store::derived::DerivedData;
use ramus_store::owned::OwnedFile;

use self::read::{Added, ReadOutcome};
use crate::archive::is_archived;
use crate::storage::{
    ArchiveError, ArchiveStorage, ContentHash, FileEntry, FileKey, FileUpdate, PackedChunk,
    UpdateOutcome,
};

/// What run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddReport {
    /// Files that were examined.
    pub files: u64,
    pub unchanged: u64,
    /// Files that were not archived before.
    pub new: u64,
    /// Files that became longer.
    pub grown: u64,
    /// Files that were rewritten, each with a new generation now.
    pub rewritten: u64,
    /// Files that could not be read, or that changed faster than they could be read.
    pub skipped: u64,
    /// The bytes of new files, of new parts and of new generations.
    pub added_bytes: u64,
    /// What was stored for them, compressed.
    pub stored_bytes: u64,
    /// Files that are not text, of which nothing was sent because secrets in them cannot be found.
    pub left_out: u64,
}

/// How often to retry a file that another process archived in the meantime.
const ROUNDS: usize = 4;
/// Chunks are written once they are this long together: large enough that waiting for the disk does not
/// count, small enough that readers do not wait long.
const BATCH: usize = 8 * 1024 * 1024;
/// How many chunks may wait to be written.
const QUEUE: usize = 4;

/// Everything one run needs.
pub(crate) struct AddRun<'a> {
    pub(crate) storage: &'a dyn ArchiveStorage,
    pub(crate) now: Time,
    /// Removes secrets and personal data before anything is stored.
    pub(crate) redact: bool,
    /// Hears how many bytes were read.
    pub(crate) on_read: &'a (dyn Fn(u64) + Sync),
    /// Hears what could not be read.
    pub(crate) on_problem: &'a (dyn Fn(&PathError) + Sync),
}

/// Adds files. Files that another process archives at the same time are examined again.
pub(crate) fn add_files(run: &AddRun<'_>, files: &[OwnedFile]) -> Result<AddReport, ArchiveError> {
    let mut report = AddReport { files: files.len() as u64, ..AddReport::default() };
    let mut left: Vec<&OwnedFile> = files.iter().collect();
    let underived = run.storage.underived_files()?;
    let is_derived =
        |key: &FileKey| underived.as_ref().is_none_or(|lacking| !lacking.contains(key));
    for round in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        let entries = entries_by_key(run.storage, &left)?;
        left.retain(|file| {
            let key = key_of(file);
            let is_unchanged = entries.get(&key).is_some_and(|entry| {
                is_archived(entry, file.identity)
                    && entry.newest.redacted == run.redact
                    && (round > 0 || is_derived(&key))
            });
            if is_unchanged {
                (run.on_read)(file.bytes);
                report.unchanged += 1;
            }
            !is_unchanged
        });
        left = add_round(run, &left, &entries, underived.is_some(), &mut report)?;
    }
    report.skipped += left.len() as u64;
    Ok(report)
}

fn key_of(file: &OwnedFile) -> FileKey {
    FileKey { root: file.root.clone(), path: file.relative.clone() }
}

fn entries_by_key(
    storage: &dyn ArchiveStorage,
    files: &[&OwnedFile],
) -> Result<HashMap<FileKey, FileEntry>, ArchiveError> {
    let mut roots: Vec<_> = files.iter().map(|file| &file.root).collect();
    roots.sort();
    roots.dedup();
    let mut entries = HashMap::new();
    for root in roots {
        let listed = storage.files(Some(root))?;
        entries.extend(listed.into_iter().map(|entry| (entry.key.clone(), entry)));
    }
    Ok(entries)
}

/// Chunks that are stored, or about to be.
struct KnownChunks<'a> {
    storage: &'a dyn ArchiveStorage,
    /// What is derived from files is stored, too.
    derives: bool,
    hashes: OnceLock<Mutex<HashSet<ContentHash>>>,
}

impl KnownChunks<'_> {
    /// Notes a chunk; `false` if it was known. The hashes are only loaded if there is something new.
    fn insert(&self, hash: ContentHash) -> Result<bool, ArchiveError> {
        let hashes = match self.hashes.get() {
            Some(hashes) => hashes,
            None => {
                let stored = self.storage.chunk_hashes()?;
                self.hashes.get_or_init(|| Mutex::new(stored))
            }
        };
        Ok(hashes.lock().unwrap_or_else(PoisonError::into_inner).insert(hash))
    }
}

/// The result of a reader thread, for the writer thread.
enum ReaderMessage<'a> {
    Chunk(PackedChunk),
    /// All chunks of the file came before.
    File(&'a OwnedFile, Box<FileUpdate>, Added),
    Skipped,
    LeftOut,
    Failed(ArchiveError),
}

/// Examines every file once. Returns those that must be examined again.
fn add_round<'a>(
    run: &AddRun<'_>,
    files: &[&'a OwnedFile],
    entries: &HashMap<FileKey, FileEntry>,
    derives: bool,
    report: &mut AddReport,
) -> Result<Vec<&'a OwnedFile>, ArchiveError> {
    let known = KnownChunks { storage: run.storage, derives, hashes: OnceLock::new() };
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        for _ in 0..threads {
            let (sender, known, next) = (sender.clone(), &known, &next);
            scope.spawn(move || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let message =
                        examine_file(run, known, file, entries.get(&key_of(file)), &sender);
                    // The receiver is gone once writing has failed.
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        write_messages(run.storage, receiver, report)
    })
}

fn examine_file<'a>(
    run: &AddRun<'_>,
    known: &KnownChunks<'_>,
    file: &'a OwnedFile,
    entry: Option<&FileEntry>,
    sender: &SyncSender<ReaderMessage<'a>>,
) -> ReaderMessage<'a> {
    let store = &mut |chunk: PackedChunk| drop(sender.send(ReaderMessage::Chunk(chunk)));
    let is_new = &|hash| known.insert(hash);
    match read::read_file(run, file, entry, known.derives, is_new, store) {
        Ok(ReadOutcome::Update(update, added)) => ReaderMessage::File(file, update, added),
        Ok(ReadOutcome::Gone) => ReaderMessage::Skipped,
        Ok(ReadOutcome::NotText) => ReaderMessage::LeftOut,
        Err(ArchiveError::Read(problem)) => {
            (run.on_problem)(&problem);
            ReaderMessage::Skipped
        }
        Err(error) => ReaderMessage::Failed(error),
    }
}

/// Writes what the threads produce. Returns the files to examine again.
fn write_messages<'a>(
    storage: &dyn ArchiveStorage,
    messages: Receiver<ReaderMessage<'a>>,
    report: &mut AddReport,
) -> Result<Vec<&'a OwnedFile>, ArchiveError> {
    let mut batch = Batch::default();
    for message in messages {
        match message {
            ReaderMessage::Chunk(chunk) => batch.push_chunk(chunk),
            ReaderMessage::File(file, update, added) => batch.push_file(file, *update, added),
            ReaderMessage::Skipped => report.skipped += 1,
            ReaderMessage::LeftOut => report.left_out += 1,
            ReaderMessage::Failed(error) => return Err(error),
        }
        if batch.is_full() {
            batch.commit(storage, report)?;
        }
    }
    batch.commit(storage, report)?;
    Ok(batch.outdated)
}

/// How many files are noted in one commit at most.
const FILES: usize = 512;

#[derive(Default)]
struct Batch<'a> {
    chunks: Vec<PackedChunk>,
    packed_bytes: usize,
    derived_bytes: usize,
    files: Vec<(&'a OwnedFile, Added)>,
    updates: Vec<FileUpdate>,
    outdated: Vec<&'a OwnedFile>,
}

impl<'a> Batch<'a> {
    fn push_chunk(&mut self, chunk: PackedChunk) {
        self.packed_bytes += chunk.packed.len();
        self.chunks.push(chunk);
    }

    fn push_file(&mut self, file: &'a OwnedFile, update: FileUpdate, added: Added) {
        self.derived_bytes += update.derived.as_ref().map_or(0, DerivedData::byte_count);
        self.files.push((file, added));
        self.updates.push(update);
    }

    fn is_full(&self) -> bool {
        self.packed_bytes + self.derived_bytes >= BATCH || self.updates.len() >= FILES
    }

    fn commit(
        &mut self,
        storage: &dyn ArchiveStorage,
        report: &mut AddReport,
    ) -> Result<(), ArchiveError> {
        if self.chunks.is_empty() && self.updates.is_empty() {
            return Ok(());
        }
        let outcomes = storage.commit(&self.chunks, &self.updates)?;
        report.stored_bytes += std::mem::take(&mut self.packed_bytes) as u64;
        self.derived_bytes = 0;
        self.chunks.clear();
        self.updates.clear();
        for ((file, added), outcome) in self.files.drain(..).zip(outcomes) {
            match outcome {
                UpdateOutcome::Noted => added.count(report),
                UpdateOutcome::Outdated => self.outdated.push(file),
            }
        }
        Ok(())
    }
}
