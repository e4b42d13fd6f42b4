//! The engine for a team: any server that speaks the PostgreSQL protocol.
//!
//! A person is the role that logs in, and owns what it archives. Everything is plain SQL that managed and distributed
//! servers know: rows are offered in batches, a row that is there already stays, and no lock outlives a transaction.

mod address;
mod connection;
mod derived;
mod schema;
mod tls;
mod update;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ramus_core::query::GramQuery;
use ramus_core::time::Time;
use ramus_store::derived::{DerivedKind, FilterAnswer};
use ramus_store::owned::OwnedKind;
use ramus_store::plan::FileTime;
use tokio_postgres::Row;

use self::address::ServerAddress;
pub(crate) use self::address::has_password;
use self::connection::Server;
use crate::storage::{
    ArchiveError, ArchiveStorage, ChunkRef, ContentHash, ContentKey, FileEntry, FileKey,
    FileUpdate, Forgotten, Generation, GenerationChunks, PackedChunk, Source, Totals,
    UpdateOutcome, path_bytes, path_from_bytes,
};

/// An archive on a server.
#[derive(Debug)]
pub(crate) struct PostgresStorage {
    server: Server,
    /// The role that logged in.
    owner: String,
    machine: String,
    /// What the Claude directories of other people and machines are called here.
    others: Mutex<HashMap<PathBuf, Source>>,
}

/// A row of `files` with its newest generation begins with these columns.
const GENERATION: &str = "g.number, g.bytes, g.hash, g.mode, g.modified_seconds, g.modified_nanos, g.added, \
    g.created_seconds, g.created_nanos, g.redacted";

impl PostgresStorage {
    /// Connects to a server. The tables must be there.
    pub(crate) fn open(url: &str, machine: &str) -> Result<Self, ArchiveError> {
        let server = connect(url)?;
        schema::require_tables(&server)?;
        let owner = server.read(async |client| {
            Ok(client.query_one("SELECT current_user::text", &[]).await?.get(0))
        })?;
        Ok(Self { server, owner, machine: machine.to_owned(), others: Mutex::default() })
    }

    /// Makes the tables; with `is_team` also the roles and the row security.
    pub(crate) fn create(url: &str, is_team: bool) -> Result<(), ArchiveError> {
        schema::create_tables(&connect(url)?, is_team)
    }

    /// Returns whose directory a key's root means.
    fn source_of(&self, root: &Path) -> Source {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.get(root).cloned().unwrap_or_else(|| Source {
            owner: self.owner.clone(),
            machine: self.machine.clone(),
            root: root.to_owned(),
        })
    }

    /// Returns what a directory is called here, and remembers whose it is.
    fn root_label(&self, source: Source) -> PathBuf {
        if source.owner == self.owner && source.machine == self.machine {
            return source.root;
        }
        let label = label_of(&source);
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.entry(label.clone()).or_insert(source);
        label
    }

    fn file_entry(&self, row: &Row) -> FileEntry {
        let source = Source {
            owner: row.get("owner"),
            machine: row.get("machine"),
            root: path_from_bytes(row.get("root")),
        };
        FileEntry {
            newest: read_generation(row),
            key: FileKey { root: self.root_label(source), path: path_from_bytes(row.get("path")) },
            session: row.get("session"),
            kind: OwnedKind::from_word(row.get("kind")),
            identity: row.get("identity"),
        }
    }
}

fn connect(url: &str) -> Result<Server, ArchiveError> {
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let address = ServerAddress::parse(url, &environment)
        .map_err(|what| ArchiveError::Server { archive: "on the server".to_owned(), what })?;
    Server::new(address)
}

/// Returns what a directory of somebody else is called here. Nothing is there on disk: the path only has to be
/// different from all others, whatever system it comes from.
fn label_of(source: &Source) -> PathBuf {
    let whose = format!("{}@{}", label_part(&source.owner), label_part(&source.machine));
    let mut label = Path::new("/").join(whose);
    for component in source.root.components() {
        match component {
            Component::Normal(name) => label.push(name),
            Component::Prefix(drive) => {
                label.push(label_part(&drive.as_os_str().to_string_lossy()));
            }
            Component::ParentDir => label.push("%2E%2E"),
            Component::RootDir | Component::CurDir => {}
        }
    }
    label
}

/// Writes a name so that it is one part of a path, and cannot be taken for two names.
fn label_part(name: &str) -> String {
    let parts = name.chars().map(|letter| match letter {
        '%' | '@' | '/' | '\\' | ':' => format!("%{:02X}", u32::from(letter)),
        other => other.to_string(),
    });
    parts.collect()
}

/// Returns the key of a file: paths can be longer than a key may be.
fn file_id(source: &Source, path: &Path) -> Vec<u8> {
    let mut hasher = blake3::Hasher::new();
    for part in [source.machine.as_bytes(), path_bytes(&source.root), path_bytes(path)] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().as_bytes().to_vec()
}

impl ArchiveStorage for PostgresStorage {
    fn name(&self) -> &str {
        &self.server.name
    }

    fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError> {
        let query = format!(
            "SELECT {GENERATION}, f.owner, f.machine, f.root, f.path, f.session, f.kind, f.identity \
             FROM ramus.files f JOIN ramus.generations g \
             ON g.owner = f.owner AND g.file = f.file AND g.number = f.newest \
             WHERE f.owner = $1 AND f.machine = $2 AND ($3::bytea IS NULL OR f.root = $3) \
             ORDER BY f.root, f.path"
        );
        let source = self.source_of(root.unwrap_or(Path::new("")));
        let root = root.map(|_| path_bytes(&source.root));
        let rows = self.server.read(async |client| {
            client.query(&query, &[&source.owner, &source.machine, &root]).await
        })?;
        Ok(rows.iter().map(|row| self.file_entry(row)).collect())
    }

    fn generations(&self, key: &FileKey) -> Result<Vec<Generation>, ArchiveError> {
        let source = self.source_of(&key.root);
        let file = file_id(&source, &key.path);
        let query = format!(
            "SELECT {GENERATION} FROM ramus.generations g WHERE g.owner = $1 AND g.file = $2 ORDER BY g.number"
        );
        let rows =
            self.server.read(async |client| client.query(&query, &[&source.owner, &file]).await)?;
        Ok(rows.iter().map(read_generation).collect())
    }

    fn generation_chunks(
        &self,
        key: &FileKey,
        number: Option<u32>,
    ) -> Result<Option<GenerationChunks>, ArchiveError> {
        let source = self.source_of(&key.root);
        let file = file_id(&source, &key.path);
        let number = number.map(u32::cast_signed);
        // One statement sees one state: the generation and its chunks belong together.
        let query = format!(
            "SELECT {GENERATION}, c.hash AS chunk, c.bytes AS chunk_bytes FROM ramus.files f \
             JOIN ramus.generations g ON g.owner = f.owner AND g.file = f.file \
             AND g.number = coalesce($3, f.newest) \
             LEFT JOIN ramus.pieces p ON p.owner = g.owner AND p.file = g.file AND p.number = g.number \
             LEFT JOIN ramus.chunks c ON c.owner = p.owner AND c.hash = p.hash \
             WHERE f.owner = $1 AND f.file = $2 ORDER BY p.place"
        );
        let rows = self
            .server
            .read(async |client| client.query(&query, &[&source.owner, &file, &number]).await)?;
        let Some(first) = rows.first() else { return Ok(None) };
        let chunk = |row: &Row| {
            let hash = row.get::<_, Option<Vec<u8>>>("chunk")?;
            Some(ChunkRef { hash: content_hash(&hash), bytes: file_length(row.get("chunk_bytes")) })
        };
        let chunks = rows.iter().filter_map(chunk).collect();
        Ok(Some(GenerationChunks { generation: read_generation(first), chunks }))
    }

    fn chunk_hashes(&self) -> Result<HashSet<ContentHash>, ArchiveError> {
        let rows = self.server.read(async |client| {
            client.query("SELECT hash FROM ramus.chunks WHERE owner = $1", &[&self.owner]).await
        })?;
        Ok(rows.iter().map(|row| content_hash(row.get(0))).collect())
    }

    fn packed_chunk(&self, root: &Path, hash: ContentHash) -> Result<Vec<u8>, ArchiveError> {
        let key = &hash.0[..];
        let owner = self.source_of(root).owner;
        let row = self.server.read(async |client| {
            let query = "SELECT packed FROM ramus.chunks WHERE owner = $1 AND hash = $2";
            client.query_opt(query, &[&owner, &key]).await
        })?;
        let missing = || ArchiveError::Damaged {
            archive: self.server.name.clone(),
            what: format!("chunk {hash} is missing"),
        };
        Ok(row.ok_or_else(missing)?.get(0))
    }

    fn commit(
        &self,
        chunks: &[PackedChunk],
        updates: &[FileUpdate],
    ) -> Result<Vec<UpdateOutcome>, ArchiveError> {
        let mut changes = Vec::with_capacity(updates.len());
        for update in updates {
            let source = self.source_of(&update.key.root);
            changes.push(update::FileChange {
                file: file_id(&source, &update.key.path),
                source,
                update,
            });
        }
        let noted = self.server.write(async |transaction| {
            let batch = update::Batch { transaction, owner: &self.owner, machine: &self.machine };
            batch.store_chunks(chunks).await?;
            batch.note_files(&changes).await
        })?;
        let outcome = |change: &update::FileChange<'_>| match noted.contains(&change.file) {
            true => UpdateOutcome::Noted,
            false => UpdateOutcome::Outdated,
        };
        Ok(changes.iter().map(outcome).collect())
    }

    fn forget(&self, keys: &[FileKey]) -> Result<Forgotten, ArchiveError> {
        let mut files = Vec::with_capacity(keys.len());
        for key in keys {
            let source = self.source_of(&key.root);
            files.push(file_id(&source, &key.path));
        }
        self.server.write(async |transaction| {
            let batch = update::Batch { transaction, owner: &self.owner, machine: &self.machine };
            batch.forget_files(&files).await
        })
    }

    fn version(&self) -> Result<u64, ArchiveError> {
        let row = self.server.read(async |client| {
            // Shares count too: what one may read changes with them.
            let query = "SELECT sha256(convert_to(concat( \
                (SELECT string_agg(format('%L %L %s', owner, machine, changes), ',' ORDER BY owner, machine) \
                FROM ramus.machines), ';', \
                (SELECT string_agg(format('%L %L', owner, project), ',' ORDER BY owner, project) \
                FROM ramus.shares)), 'UTF8'))";
            client.query_one(query, &[]).await
        })?;
        let hash: &[u8] = row.get(0);
        Ok(hash.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }

    fn totals(&self) -> Result<Totals, ArchiveError> {
        const TOTALS: &str = "SELECT \
            (SELECT count(*) FROM (SELECT DISTINCT machine, root, session FROM ramus.files WHERE owner = $1) s), \
            (SELECT count(*) FROM ramus.files WHERE owner = $1), \
            count(*), coalesce(sum(bytes), 0)::bigint, max(added), \
            (SELECT count(*) FROM ramus.chunks WHERE owner = $1), \
            (SELECT coalesce(sum(octet_length(packed)), 0)::bigint FROM ramus.chunks WHERE owner = $1) \
            FROM ramus.generations WHERE owner = $1";
        let row =
            self.server.read(async |client| client.query_one(TOTALS, &[&self.owner]).await)?;
        let number = |column: usize| row.get::<_, i64>(column).cast_unsigned();
        Ok(Totals {
            sessions: number(0),
            files: number(1),
            generations: number(2),
            bytes: number(3),
            last_added: row.get::<_, Option<i64>>(4).map(Time::from_millis),
            chunks: number(5),
            packed_bytes: number(6),
        })
    }

    fn set_shared(&self, project: &str, is_shared: bool) -> Result<bool, ArchiveError> {
        let change = match is_shared {
            true => {
                "INSERT INTO ramus.shares (owner, project) VALUES ($1, $2) \
                ON CONFLICT (owner, project) DO NOTHING RETURNING project"
            }
            false => "DELETE FROM ramus.shares WHERE owner = $1 AND project = $2 RETURNING project",
        };
        self.server.write(async |transaction| {
            let rows = transaction.query(change, &[&self.owner, &project]).await?;
            if !rows.is_empty() {
                let (owner, machine) = (&*self.owner, &*self.machine);
                update::Batch { transaction, owner, machine }.count_change().await?;
            }
            Ok(!rows.is_empty())
        })
    }

    fn shared_projects(&self) -> Result<Vec<String>, ArchiveError> {
        let rows = self.server.read(async |client| {
            let query = "SELECT project FROM ramus.shares WHERE owner = $1 ORDER BY project";
            client.query(query, &[&self.owner]).await
        })?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn own_source(&self) -> Option<(&str, &str)> {
        Some((&self.owner, &self.machine))
    }

    fn other_sources(&self) -> Result<Vec<(PathBuf, Source)>, ArchiveError> {
        let rows = self.server.read(async |client| {
            let query = "SELECT DISTINCT owner, machine, root FROM ramus.files \
                WHERE NOT (owner = $1 AND machine = $2) ORDER BY owner, machine, root";
            client.query(query, &[&self.owner, &self.machine]).await
        })?;
        let source = |row: &Row| Source {
            owner: row.get(0),
            machine: row.get(1),
            root: path_from_bytes(row.get(2)),
        };
        let label = |source: Source| (self.root_label(source.clone()), source);
        Ok(rows.iter().map(source).map(label).collect())
    }

    fn files_of_others(&self, roots: &[PathBuf]) -> Result<Vec<FileEntry>, ArchiveError> {
        let query = format!(
            "SELECT {GENERATION}, f.owner, f.machine, f.root, f.path, f.session, f.kind, f.identity \
             FROM ramus.files f JOIN unnest($1::text[], $2::text[], $3::bytea[]) AS u (owner, machine, root) \
             ON f.owner = u.owner AND f.machine = u.machine AND f.root = u.root \
             JOIN ramus.generations g ON g.owner = f.owner AND g.file = f.file AND g.number = f.newest"
        );
        let sources: Vec<Source> = roots.iter().map(|root| self.source_of(root)).collect();
        let owners: Vec<&str> = sources.iter().map(|source| &*source.owner).collect();
        let machines: Vec<&str> = sources.iter().map(|source| &*source.machine).collect();
        let roots: Vec<&[u8]> = sources.iter().map(|source| path_bytes(&source.root)).collect();
        let rows = self
            .server
            .read(async |client| client.query(&query, &[&owners, &machines, &roots]).await)?;
        Ok(rows.iter().map(|row| self.file_entry(row)).collect())
    }

    fn underived_files(&self) -> Result<Option<HashSet<FileKey>>, ArchiveError> {
        self.list_underived().map(Some)
    }

    fn derived_values(
        &self,
        kind: &DerivedKind,
        files: &[ContentKey],
    ) -> Result<HashMap<usize, Vec<u8>>, ArchiveError> {
        self.fetch_values(kind, files)
    }

    fn filter_files(
        &self,
        queries: &[&GramQuery],
        files: &[ContentKey],
    ) -> Result<HashMap<usize, FilterAnswer>, ArchiveError> {
        self.ask_filters(queries, files)
    }
}

fn content_hash(bytes: &[u8]) -> ContentHash {
    // A hash of another length names nothing, as zeros do.
    ContentHash(bytes.try_into().unwrap_or([0; 32]))
}

/// No file is longer than this.
const LONGEST_FILE: u64 = 1 << 48;
/// The end of the year 9999, the last one that calendars know.
const LAST_SECOND: u64 = 253_402_300_799;

/// Returns a length. Others write their rows as they like: one that no file can have must not overflow a sum.
fn file_length(bytes: i64) -> u64 {
    u64::try_from(bytes).ok().filter(|length| *length <= LONGEST_FILE).unwrap_or_default()
}

/// Reads a generation by its columns. Numbers that ramus never writes count as 0.
fn read_generation(row: &Row) -> Generation {
    let nanos = |column| {
        let nanos = u32::try_from(row.get::<_, Option<i32>>(column)?).ok();
        Some(nanos.filter(|nanos| *nanos < 1_000_000_000).unwrap_or_default())
    };
    let seconds = |column| {
        let seconds = u64::try_from(row.get::<_, Option<i64>>(column)?).ok();
        Some(seconds.filter(|seconds| *seconds <= LAST_SECOND).unwrap_or_default())
    };
    let created = seconds("created_seconds").zip(nanos("created_nanos"));
    Generation {
        number: u32::try_from(row.get::<_, i32>("number")).unwrap_or_default(),
        bytes: file_length(row.get("bytes")),
        hash: content_hash(row.get("hash")),
        mode: row.get::<_, i32>("mode").cast_unsigned() & 0o7777,
        modified: FileTime(
            seconds("modified_seconds").unwrap_or_default(),
            nanos("modified_nanos").unwrap_or_default(),
        ),
        added: Time::from_millis(row.get("added")),
        created: created.map(|(seconds, nanos)| FileTime(seconds, nanos)),
        redacted: row.get("redacted"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_has_a_name_of_its_own() {
        let label = |owner: &str, machine: &str, root: &str| {
            let (owner, machine, root) = (owner.into(), machine.into(), root.into());
            label_of(&Source { owner, machine, root })
        };
        assert_eq!(label("al", "pc", "/home/al/.claude"), Path::new("/al@pc/home/al/.claude"));
        assert_ne!(label("a@b", "c", "/r"), label("a", "b@c", "/r"));
        assert_ne!(label("a", "b/c", "/d"), label("a", "b", "/c/d"));
        for odd in ["..", "../..", "/", "a/../../b"] {
            let label = label(odd, odd, odd);
            assert!(label.components().all(|part| part != Component::ParentDir), "{label:?}");
        }
        let windows = label("al", "pc", "C:\\Users\\al\\.claude");
        assert!(windows.starts_with("/al@pc"), "{windows:?}");
    }
}
