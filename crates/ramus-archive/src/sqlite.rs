//! The engine that needs no server: SQLite in one file.
//!
//! The rollback journal is used, not the write-ahead log. An archive is written in large appends: a
//! rollback journal holds only the few pages that they change, a write-ahead log would hold every chunk a
//! second time. It needs no shared memory, so home directories on a network work, and between two
//! commands the archive is one file that can be copied. Readers wait for a commit at most.

mod update;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramus_core::query::GramQuery;
use ramus_core::time::Time;
use ramus_store::derived::{DerivedKind, FilterAnswer};
use ramus_store::owned::OwnedKind;
use ramus_store::plan::FileTime;
use ramus_store::private_file;
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};

use crate::storage::{
    ArchiveError, ArchiveStorage, ChunkRef, ContentHash, ContentKey, FileEntry, FileKey,
    FileUpdate, Forgotten, Generation, GenerationChunks, PackedChunk, Source, Totals,
    UpdateOutcome, path_bytes, path_from_bytes,
};

/// "ramu": distinguishes an archive from other SQLite files.
const APPLICATION: i32 = 0x7261_6d75;
/// The form of the tables; a higher one is of a newer ramus.
const VERSION: i32 = 1;
/// How long to wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(60);

/// An archive in one SQLite file.
#[derive(Debug)]
pub(crate) struct SqliteStorage {
    name: String,
    connection: Mutex<Connection>,
    /// Counts changes by this process: SQLite itself only reports those of others.
    changes: AtomicU64,
}

impl SqliteStorage {
    /// Opens an archive. Creates a missing one, readable by its owner only.
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        private_file(path)?;
        Self::open_existing(path)
    }

    /// Opens an archive that exists; one that cannot be written to can still be read.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, ArchiveError> {
        let name = path.display().to_string();
        let connection = Connection::open(path).map_err(|error| engine_error(&name, error))?;
        let changes = AtomicU64::new(0);
        let storage = Self { name, connection: Mutex::new(connection), changes };
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
                return Err(ArchiveError::Newer(self.name.clone()));
            }
            (0, 0, 0) => {}
            _ => return Err(ArchiveError::NotAnArchive(self.name.clone())),
        }
        let mut create = || {
            // Lets `forget` give space back to the disk. Said to a file with tables it would only write its
            // first page again, and wait for the disk.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
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
        engine_error(&self.name, error)
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
            self.changes.fetch_add(1, Ordering::Relaxed);
            Ok(written)
        };
        run().map_err(|error| self.error(error))
    }
}

impl ArchiveStorage for SqliteStorage {
    fn name(&self) -> &str {
        &self.name
    }

    fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError> {
        const FILES: &str = "SELECT number, bytes, hash, mode, modified_seconds, modified_nanos, added, created_seconds, created_nanos, \
            root, path, session, kind, identity \
            FROM file JOIN generation ON generation.file = file.id AND number = newest \
            WHERE ?1 IS NULL OR root = ?1 ORDER BY root, path";
        self.read(|connection| {
            let mut rows = connection.prepare_cached(FILES)?;
            let rows = rows.query_map([root.map(path_bytes)], |row| {
                let key = FileKey { root: read_path(row, 9)?, path: read_path(row, 10)? };
                Ok(FileEntry {
                    newest: read_generation(row)?,
                    key,
                    session: row.get(11)?,
                    kind: OwnedKind::from_word(&row.get::<_, String>(12)?),
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
            let found = rows.query_map(
                params![path_bytes(&key.root), path_bytes(&key.path)],
                read_generation,
            )?;
            found.collect()
        })
    }

    fn generation_chunks(
        &self,
        key: &FileKey,
        number: Option<u32>,
    ) -> Result<Option<GenerationChunks>, ArchiveError> {
        const GENERATION: &str = "SELECT number, bytes, hash, mode, modified_seconds, modified_nanos, added, created_seconds, created_nanos, \
            generation.id FROM generation JOIN file ON file.id = generation.file \
            WHERE root = ?1 AND path = ?2 AND number = coalesce(?3, newest)";
        const CHUNKS: &str = "SELECT chunk.hash, chunk.bytes FROM piece \
            JOIN chunk ON chunk.id = piece.chunk WHERE piece.generation = ?1 ORDER BY place";
        self.read(|connection| {
            // Both are seen in one state.
            let transaction = connection.unchecked_transaction()?;
            let mut found = transaction.prepare_cached(GENERATION)?;
            let key = params![path_bytes(&key.root), path_bytes(&key.path), number];
            let read = |row: &Row<'_>| Ok((read_generation(row)?, row.get::<_, i64>(9)?));
            let Some((generation, id)) = found.query_row(key, read).optional()? else {
                return Ok(None);
            };
            let mut rows = transaction.prepare_cached(CHUNKS)?;
            let chunks = rows.query_map([id], |row| {
                Ok(ChunkRef { hash: ContentHash(row.get(0)?), bytes: read_length(row, 1)? })
            })?;
            let chunks = chunks.collect::<rusqlite::Result<_>>()?;
            Ok(Some(GenerationChunks { generation, chunks }))
        })
    }

    fn chunk_hashes(&self) -> Result<HashSet<ContentHash>, ArchiveError> {
        self.read(|connection| {
            // The index contains only hashes; reading the table would read all chunks.
            let mut rows = connection.prepare_cached("SELECT hash FROM chunk ORDER BY hash")?;
            rows.query_map([], |row| Ok(ContentHash(row.get(0)?)))?.collect()
        })
    }

    fn packed_chunk(&self, _: &Path, hash: ContentHash) -> Result<Vec<u8>, ArchiveError> {
        let packed = self.read(|connection| {
            let mut rows = connection.prepare_cached("SELECT packed FROM chunk WHERE hash = ?1")?;
            rows.query_row([hash.0], |row| row.get(0)).optional()
        })?;
        let what = || format!("chunk {hash} is missing");
        packed.ok_or_else(|| ArchiveError::Damaged { archive: self.name.clone(), what: what() })
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
        let _ = self.read(|connection| {
            // Each row that it returns is one page.
            let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut pages = statement.query([])?;
            while pages.next()?.is_some() {}
            Ok(())
        });
        Ok(forgotten)
    }

    fn version(&self) -> Result<u64, ArchiveError> {
        let version = self.read(|connection| {
            connection.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0))
        })?;
        Ok(version.cast_unsigned().wrapping_add(self.changes.load(Ordering::Relaxed)))
    }

    fn own_source(&self) -> Option<(&str, &str)> {
        None
    }

    fn other_sources(&self) -> Result<Vec<(PathBuf, Source)>, ArchiveError> {
        // A file belongs to one person on one machine.
        Ok(Vec::new())
    }

    fn files_of_others(&self, _: &[PathBuf]) -> Result<Vec<FileEntry>, ArchiveError> {
        Ok(Vec::new())
    }

    fn underived_files(&self) -> Result<Option<HashSet<FileKey>>, ArchiveError> {
        Ok(None)
    }

    fn derived_values(
        &self,
        _: &DerivedKind,
        _: &[ContentKey],
    ) -> Result<HashMap<usize, Vec<u8>>, ArchiveError> {
        Ok(HashMap::new())
    }

    fn filter_files(
        &self,
        _: &[&GramQuery],
        _: &[ContentKey],
    ) -> Result<HashMap<usize, FilterAnswer>, ArchiveError> {
        Ok(HashMap::new())
    }

    fn set_shared(&self, _: &str, _: bool) -> Result<bool, ArchiveError> {
        Err(ArchiveError::NotShareable(self.name.clone()))
    }

    fn shared_projects(&self) -> Result<Vec<String>, ArchiveError> {
        Ok(Vec::new())
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

fn engine_error(name: &str, error: rusqlite::Error) -> ArchiveError {
    let archive = name.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ArchiveError::Full(archive),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ArchiveError::Locked(archive),
        Some(ErrorCode::NotADatabase) => ArchiveError::NotAnArchive(archive),
        Some(ErrorCode::DatabaseCorrupt) => {
            ArchiveError::Damaged { archive, what: error.to_string() }
        }
        _ => ArchiveError::Engine { archive, source: Box::new(error) },
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
        // It never leaves this machine.
        redacted: false,
    })
}

fn read_path(row: &Row<'_>, column: usize) -> rusqlite::Result<PathBuf> {
    Ok(path_from_bytes(row.get(column)?))
}
