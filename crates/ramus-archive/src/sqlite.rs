//! The engine that needs no server: SQLite in one file.
//!
//! The rollback journal is used, not the write-ahead log. An archive is written in large appends: a
//! rollback journal holds only the few pages that they change, a write-ahead log would hold every chunk a
//! second time. It needs no shared memory, so home directories on a network work, and between two
//! commands the archive is one file that can be copied. Readers wait for a commit at most.

mod update;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramus_core::time::Time;
use ramus_store::owned::OwnedKind;
use ramus_store::plan::FileTime;
use ramus_store::private_file;
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};

use crate::storage::{
    ArchiveError, ArchiveStorage, ChunkRef, ContentHash, FileEntry, FileKey, FileUpdate, Forgotten,
    Generation, PackedChunk, Totals, UpdateOutcome,
};

/// "ramu": tells an archive from any other SQLite file.
const APPLICATION: i32 = 0x7261_6d75;
/// The form of the tables; a higher one is of a newer ramus.
const VERSION: i32 = 1;
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(60);

/// An archive in one SQLite file.
#[derive(Debug)]
pub(crate) struct SqliteStorage {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteStorage {
    /// Opens an archive; one that does not exist is made, for its owner alone.
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        private_file(path)?;
        Self::open_existing(path)
    }

    /// Opens an archive that exists; one that cannot be written to can still be read.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, ArchiveError> {
        let connection = Connection::open(path).map_err(|error| engine_error(path, error))?;
        let storage = Self { path: path.to_owned(), connection: Mutex::new(connection) };
        storage.prepare()?;
        Ok(storage)
    }

    fn prepare(&self) -> Result<(), ArchiveError> {
        let mut connection = self.lock();
        let settings = || {
            connection.busy_timeout(PATIENCE)?;
            // What is forgotten must not stay readable in the file.
            connection.pragma_update(None, "secure_delete", "ON")?;
            connection.pragma_update(None, "foreign_keys", "ON")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            // Takes effect in a new file only: `forget` gives space back to the disk.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
            let application = connection.pragma_query_value(None, "application_id", read_number)?;
            let version = connection.pragma_query_value(None, "user_version", read_number)?;
            let tables: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            Ok((application, version, tables))
        };
        let (application, version, tables) = settings().map_err(|error| self.error(error))?;
        match (application, version, tables) {
            (APPLICATION, VERSION, _) => return Ok(()),
            (APPLICATION, newer, _) if newer > VERSION => {
                return Err(ArchiveError::Newer(self.path.clone()));
            }
            (0, 0, 0) => {}
            _ => return Err(ArchiveError::NotAnArchive(self.path.clone())),
        }
        let mut create = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Two processes may have found an empty file at the same time.
            if transaction.pragma_query_value(None, "user_version", read_number)? == 0 {
                transaction.execute_batch(include_str!("sqlite/schema.sql"))?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()
        };
        create().map_err(|error| self.error(error))
    }

    /// A panic elsewhere leaves no half transaction: it was rolled back when it was dropped.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, error: rusqlite::Error) -> ArchiveError {
        engine_error(&self.path, error)
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        read(&self.lock()).map_err(|error| self.error(error))
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        let mut connection = self.lock();
        let run = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let written = write(&transaction)?;
            transaction.commit()?;
            Ok(written)
        };
        run().map_err(|error| self.error(error))
    }
}

impl ArchiveStorage for SqliteStorage {
    fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError> {
        const FILES: &str = "SELECT number, bytes, hash, mode, modified_seconds, modified_nanos, added, created_seconds, created_nanos, \
            root, path, session, kind, identity \
            FROM file JOIN generation ON generation.file = file.id AND number = newest \
            WHERE ?1 IS NULL OR root = ?1 ORDER BY root, path";
        self.read(|connection| {
            let mut rows = connection.prepare_cached(FILES)?;
            let rows = rows.query_map([root.map(to_blob)], |row| {
                let key = FileKey { root: read_path(row, 9)?, path: read_path(row, 10)? };
                Ok(FileEntry {
                    newest: read_generation(row)?,
                    key,
                    session: row.get(11)?,
                    kind: kind_of(&row.get::<_, String>(12)?),
                    identity: row.get(13)?,
                })
            })?;
            rows.collect()
        })
    }

    fn generations(&self, key: &FileKey) -> Result<Vec<Generation>, ArchiveError> {
        const GENERATIONS: &str = "SELECT number, bytes, hash, mode, modified_seconds, modified_nanos, added, created_seconds, created_nanos \
            FROM generation JOIN file ON file.id = generation.file \
            WHERE root = ?1 AND path = ?2 ORDER BY number";
        self.read(|connection| {
            let mut rows = connection.prepare_cached(GENERATIONS)?;
            let found =
                rows.query_map(params![to_blob(&key.root), to_blob(&key.path)], read_generation)?;
            found.collect()
        })
    }

    fn chunks(&self, key: &FileKey, number: u32) -> Result<Vec<ChunkRef>, ArchiveError> {
        const CHUNKS: &str = "SELECT chunk.hash, chunk.bytes FROM file \
            JOIN generation ON generation.file = file.id JOIN piece ON piece.generation = generation.id \
            JOIN chunk ON chunk.id = piece.chunk \
            WHERE root = ?1 AND path = ?2 AND number = ?3 ORDER BY place";
        self.read(|connection| {
            let mut rows = connection.prepare_cached(CHUNKS)?;
            let key = params![to_blob(&key.root), to_blob(&key.path), number];
            let found = rows.query_map(key, |row| {
                Ok(ChunkRef { hash: ContentHash(row.get(0)?), bytes: read_length(row, 1)? })
            })?;
            found.collect()
        })
    }

    fn chunk_hashes(&self) -> Result<HashSet<ContentHash>, ArchiveError> {
        self.read(|connection| {
            // The index holds the hashes alone; the table would be read with all chunks.
            let mut rows = connection.prepare_cached("SELECT hash FROM chunk ORDER BY hash")?;
            rows.query_map([], |row| Ok(ContentHash(row.get(0)?)))?.collect()
        })
    }

    fn packed_chunk(&self, hash: ContentHash) -> Result<Vec<u8>, ArchiveError> {
        let packed = self.read(|connection| {
            let mut rows = connection.prepare_cached("SELECT packed FROM chunk WHERE hash = ?1")?;
            rows.query_row([hash.0], |row| row.get(0)).optional()
        })?;
        let what = || format!("chunk {hash} is missing");
        packed.ok_or_else(|| ArchiveError::Damaged { path: self.path.clone(), what: what() })
    }

    fn commit(
        &self,
        chunks: &[PackedChunk],
        updates: &[FileUpdate],
    ) -> Result<Vec<UpdateOutcome>, ArchiveError> {
        self.write(|transaction| {
            for chunk in chunks {
                update::store_chunk(transaction, chunk)?;
            }
            updates.iter().map(|update| update::note_file(transaction, update)).collect()
        })
    }

    fn forget(&self, keys: &[FileKey]) -> Result<Forgotten, ArchiveError> {
        let forgotten = self.write(|transaction| {
            let mut forgotten = Forgotten::default();
            for key in keys {
                update::forget_file(transaction, key, &mut forgotten)?;
            }
            Ok(forgotten)
        })?;
        // Only gives pages back to the disk that are empty already; if it fails, nothing is lost.
        self.read(|connection| connection.execute_batch("PRAGMA incremental_vacuum"))?;
        Ok(forgotten)
    }

    fn version(&self) -> Result<u64, ArchiveError> {
        let version = self.read(|connection| {
            connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))
        })?;
        Ok(version.cast_unsigned())
    }

    fn totals(&self) -> Result<Totals, ArchiveError> {
        const TOTALS: &str = "SELECT (SELECT count(*) FROM (SELECT DISTINCT root, session FROM file)), \
            (SELECT count(*) FROM file), count(*), coalesce(sum(bytes), 0), max(added), \
            (SELECT count(*) FROM chunk), (SELECT coalesce(sum(length(packed)), 0) FROM chunk) \
            FROM generation";
        self.read(|connection| {
            connection.query_row(TOTALS, [], |row| {
                Ok(Totals {
                    sessions: read_length(row, 0)?,
                    files: read_length(row, 1)?,
                    generations: read_length(row, 2)?,
                    bytes: read_length(row, 3)?,
                    last_added: row.get::<_, Option<i64>>(4)?.map(Time::from_millis),
                    chunks: read_length(row, 5)?,
                    packed_bytes: read_length(row, 6)?,
                })
            })
        })
    }
}

fn engine_error(path: &Path, error: rusqlite::Error) -> ArchiveError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ArchiveError::Full(path),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ArchiveError::Locked(path),
        Some(ErrorCode::NotADatabase) => ArchiveError::NotAnArchive(path),
        Some(ErrorCode::DatabaseCorrupt) => ArchiveError::Damaged { path, what: error.to_string() },
        _ => ArchiveError::Engine { path, source: Box::new(error) },
    }
}

fn read_number(row: &Row<'_>) -> rusqlite::Result<i32> {
    row.get(0)
}

fn read_length(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

/// Reads a generation from the first nine columns.
fn read_generation(row: &Row<'_>) -> rusqlite::Result<Generation> {
    Ok(Generation {
        number: row.get(0)?,
        bytes: read_length(row, 1)?,
        hash: ContentHash(row.get(2)?),
        mode: row.get(3)?,
        modified: FileTime(read_length(row, 4)?, row.get(5)?),
        added: Time::from_millis(row.get(6)?),
        created: match (row.get::<_, Option<i64>>(7)?, row.get(8)?) {
            (Some(seconds), Some(nanos)) => Some(FileTime(seconds.cast_unsigned(), nanos)),
            _ => None,
        },
    })
}

fn kind_of(word: &str) -> OwnedKind {
    let kinds =
        [OwnedKind::Session, OwnedKind::Agent, OwnedKind::SpilledOutput, OwnedKind::FileBackup];
    kinds.into_iter().find(|kind| kind.word() == word).unwrap_or(OwnedKind::Other)
}

/// Names of files need not be text.
fn to_blob(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

fn read_path(row: &Row<'_>, column: usize) -> rusqlite::Result<PathBuf> {
    let bytes: Vec<u8> = row.get(column)?;
    #[cfg(unix)]
    let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&bytes);
    #[cfg(not(unix))]
    let text = String::from_utf8_lossy(&bytes);
    #[cfg(not(unix))]
    let name = OsStr::new(&*text);
    Ok(PathBuf::from(name))
}
