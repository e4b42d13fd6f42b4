//! What changes a team's archive, inside of one transaction: a fixed number of statements, however many files.

use std::collections::HashSet;

use tokio_postgres::Transaction;

use crate::storage::{FileUpdate, Forgotten, PackedChunk, Source, path_bytes};

/// An update and the file that it is about.
pub(super) struct FileChange<'a> {
    pub(super) file: Vec<u8>,
    pub(super) source: Source,
    pub(super) update: &'a FileUpdate,
}

/// One transaction of one person.
pub(super) struct Batch<'a, 'b> {
    pub(super) transaction: &'a Transaction<'b>,
    pub(super) owner: &'a str,
    pub(super) machine: &'a str,
}

pub(super) type Done<T> = Result<T, tokio_postgres::Error>;

impl Batch<'_, '_> {
    /// Stores chunks; existing ones are not changed.
    pub(super) async fn store_chunks(&self, chunks: &[PackedChunk]) -> Done<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        let hashes: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk.chunk.hash.0[..]).collect();
        let bytes: Vec<i64> = chunks.iter().map(|chunk| chunk.chunk.bytes.cast_signed()).collect();
        let packed: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk.packed[..]).collect();
        let insert = "INSERT INTO ramus.chunks (owner, hash, bytes, packed) \
            SELECT $1::text, * FROM unnest($2::bytea[], $3::bigint[], $4::bytea[]) \
            ON CONFLICT (owner, hash) DO NOTHING";
        self.transaction.execute(insert, &[&self.owner, &hashes, &bytes, &packed]).await?;
        Ok(())
    }

    /// Updates files; returns those that were still in the state on which the update was based.
    pub(super) async fn note_files(&self, changes: &[FileChange<'_>]) -> Done<HashSet<Vec<u8>>> {
        // A statement cannot change a row twice.
        let mut files = HashSet::new();
        let is_first = |change: &&FileChange<'_>| files.insert(change.file.clone());
        let mine = |change: &&FileChange<'_>| change.source.owner == self.owner;
        let mine = changes.iter().filter(mine).filter(is_first).collect();
        let whole = self.with_all_chunks(mine).await?;
        let (known, new): (Vec<_>, Vec<_>) =
            whole.into_iter().partition(|change| change.update.expected.is_some());
        let mut noted = self.insert_files(&new).await?;
        noted.extend(self.update_files(&known).await?);
        let changed: Vec<&FileChange<'_>> =
            new.into_iter().chain(known).filter(|change| noted.contains(&change.file)).collect();
        if !changed.is_empty() {
            self.note_generations(&changed).await?;
            self.replace_pieces(&changed).await?;
            self.store_derived(&changed).await?;
            self.count_change().await?;
        }
        Ok(noted)
    }

    /// Leaves out files of which a chunk is missing, because another process removed it.
    async fn with_all_chunks<'c>(
        &self,
        changes: Vec<&'c FileChange<'c>>,
    ) -> Done<Vec<&'c FileChange<'c>>> {
        let needed: Vec<&[u8]> = changes
            .iter()
            .flat_map(|change| &change.update.chunks)
            .map(|chunk| &chunk.hash.0[..])
            .collect();
        if needed.is_empty() {
            return Ok(changes);
        }
        let query = "SELECT hash FROM ramus.chunks WHERE owner = $1 AND hash = ANY ($2)";
        let rows = self.transaction.query(query, &[&self.owner, &needed]).await?;
        let stored: HashSet<&[u8]> = rows.iter().map(|row| row.get(0)).collect();
        let is_whole = |change: &&FileChange<'_>| {
            change.update.chunks.iter().all(|chunk| stored.contains(&chunk.hash.0[..]))
        };
        Ok(changes.into_iter().filter(is_whole).collect())
    }

    async fn insert_files(&self, changes: &[&FileChange<'_>]) -> Done<HashSet<Vec<u8>>> {
        if changes.is_empty() {
            return Ok(HashSet::new());
        }
        let files: Vec<&[u8]> = changes.iter().map(|change| &change.file[..]).collect();
        let machines: Vec<&str> = changes.iter().map(|change| &*change.source.machine).collect();
        let roots: Vec<&[u8]> =
            changes.iter().map(|change| path_bytes(&change.source.root)).collect();
        let paths: Vec<&[u8]> =
            changes.iter().map(|change| path_bytes(&change.update.key.path)).collect();
        let projects: Vec<String> =
            changes.iter().map(|change| change.update.key.project().unwrap_or_default()).collect();
        let sessions: Vec<&str> = changes.iter().map(|change| &*change.update.session).collect();
        let kinds: Vec<&str> = changes.iter().map(|change| change.update.kind.word()).collect();
        let identities: Vec<Option<&[u8]>> =
            changes.iter().map(|change| change.update.identity.as_deref()).collect();
        let numbers: Vec<i32> =
            changes.iter().map(|change| change.update.generation.number.cast_signed()).collect();
        let hashes: Vec<&[u8]> =
            changes.iter().map(|change| &change.update.generation.hash.0[..]).collect();
        let insert = "INSERT INTO ramus.files \
            (owner, file, machine, root, path, project, session, kind, identity, newest, hash) \
            SELECT $1::text, * FROM unnest($2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::text[], \
            $7::text[], $8::text[], $9::bytea[], $10::integer[], $11::bytea[]) \
            ON CONFLICT (owner, file) DO NOTHING RETURNING file";
        let rows = self
            .transaction
            .query(
                insert,
                &[
                    &self.owner,
                    &files,
                    &machines,
                    &roots,
                    &paths,
                    &projects,
                    &sessions,
                    &kinds,
                    &identities,
                    &numbers,
                    &hashes,
                ],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Updates files that still have the generation that the update was decided on.
    async fn update_files(&self, changes: &[&FileChange<'_>]) -> Done<HashSet<Vec<u8>>> {
        if changes.is_empty() {
            return Ok(HashSet::new());
        }
        let files: Vec<&[u8]> = changes.iter().map(|change| &change.file[..]).collect();
        let expected = changes.iter().filter_map(|change| change.update.expected);
        let (old_numbers, old_hashes): (Vec<i32>, Vec<Vec<u8>>) =
            expected.map(|(number, hash)| (number.cast_signed(), hash.0.to_vec())).unzip();
        let identities: Vec<Option<&[u8]>> =
            changes.iter().map(|change| change.update.identity.as_deref()).collect();
        let numbers: Vec<i32> =
            changes.iter().map(|change| change.update.generation.number.cast_signed()).collect();
        let hashes: Vec<&[u8]> =
            changes.iter().map(|change| &change.update.generation.hash.0[..]).collect();
        let update = "UPDATE ramus.files f SET identity = u.identity, newest = u.number, hash = u.hash \
            FROM unnest($2::bytea[], $3::integer[], $4::bytea[], $5::bytea[], $6::integer[], $7::bytea[]) \
            AS u (file, old_number, old_hash, identity, number, hash) \
            WHERE f.owner = $1 AND f.file = u.file AND f.newest = u.old_number AND f.hash = u.old_hash \
            RETURNING f.file";
        let rows = self
            .transaction
            .query(
                update,
                &[&self.owner, &files, &old_numbers, &old_hashes, &identities, &numbers, &hashes],
            )
            .await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    async fn note_generations(&self, changes: &[&FileChange<'_>]) -> Done<()> {
        let files: Vec<&[u8]> = changes.iter().map(|change| &change.file[..]).collect();
        let generations: Vec<_> = changes.iter().map(|change| &change.update.generation).collect();
        let numbers: Vec<i32> = generations.iter().map(|one| one.number.cast_signed()).collect();
        let bytes: Vec<i64> = generations.iter().map(|one| one.bytes.cast_signed()).collect();
        let hashes: Vec<&[u8]> = generations.iter().map(|one| &one.hash.0[..]).collect();
        let modes: Vec<i32> = generations.iter().map(|one| one.mode.cast_signed()).collect();
        let seconds: Vec<i64> =
            generations.iter().map(|one| one.modified.0.cast_signed()).collect();
        let nanos: Vec<i32> = generations.iter().map(|one| one.modified.1.cast_signed()).collect();
        let added: Vec<i64> = generations.iter().map(|one| one.added.as_millis()).collect();
        let born: Vec<Option<i64>> = generations
            .iter()
            .map(|one| one.created.map(|created| created.0.cast_signed()))
            .collect();
        let born_nanos: Vec<Option<i32>> = generations
            .iter()
            .map(|one| one.created.map(|created| created.1.cast_signed()))
            .collect();
        let redacted: Vec<bool> = generations.iter().map(|one| one.redacted).collect();
        let upsert = "INSERT INTO ramus.generations (owner, file, number, bytes, hash, mode, \
            modified_seconds, modified_nanos, added, created_seconds, created_nanos, redacted) \
            SELECT $1::text, * FROM unnest($2::bytea[], $3::integer[], $4::bigint[], $5::bytea[], $6::integer[], \
            $7::bigint[], $8::integer[], $9::bigint[], $10::bigint[], $11::integer[], $12::boolean[]) \
            ON CONFLICT (owner, file, number) DO UPDATE SET bytes = excluded.bytes, hash = excluded.hash, \
            mode = excluded.mode, modified_seconds = excluded.modified_seconds, \
            modified_nanos = excluded.modified_nanos, added = excluded.added, redacted = excluded.redacted";
        self.transaction
            .execute(
                upsert,
                &[
                    &self.owner,
                    &files,
                    &numbers,
                    &bytes,
                    &hashes,
                    &modes,
                    &seconds,
                    &nanos,
                    &added,
                    &born,
                    &born_nanos,
                    &redacted,
                ],
            )
            .await?;
        Ok(())
    }

    /// Puts chunks behind those that stay. A chunk that nothing needs any more is removed: the same bytes are in a
    /// longer one now.
    async fn replace_pieces(&self, changes: &[&FileChange<'_>]) -> Done<()> {
        let files: Vec<&[u8]> = changes.iter().map(|change| &change.file[..]).collect();
        let numbers: Vec<i32> =
            changes.iter().map(|change| change.update.generation.number.cast_signed()).collect();
        let kept: Vec<i32> =
            changes.iter().map(|change| change.update.kept_chunks as i32).collect();
        let remove = "DELETE FROM ramus.pieces p \
            USING unnest($2::bytea[], $3::integer[], $4::integer[]) AS u (file, number, kept) \
            WHERE p.owner = $1 AND p.file = u.file AND p.number = u.number AND p.place >= u.kept RETURNING p.hash";
        let rows = self.transaction.query(remove, &[&self.owner, &files, &numbers, &kept]).await?;
        let replaced: Vec<Vec<u8>> = rows.iter().map(|row| row.get(0)).collect();
        let pieces = changes.iter().flat_map(|change| {
            let update = change.update;
            let places = update.kept_chunks as i32..;
            places.zip(&update.chunks).map(move |(place, chunk)| {
                (&change.file[..], update.generation.number.cast_signed(), place, &chunk.hash.0[..])
            })
        });
        let (mut piece_files, mut piece_numbers, mut places, mut hashes) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (file, number, place, hash) in pieces {
            piece_files.push(file);
            piece_numbers.push(number);
            places.push(place);
            hashes.push(hash);
        }
        let insert = "INSERT INTO ramus.pieces (owner, file, number, place, hash) \
            SELECT $1::text, * FROM unnest($2::bytea[], $3::integer[], $4::integer[], $5::bytea[])";
        self.transaction
            .execute(insert, &[&self.owner, &piece_files, &piece_numbers, &places, &hashes])
            .await?;
        self.remove_unused_chunks(&replaced).await
    }

    async fn remove_unused_chunks(&self, hashes: &[Vec<u8>]) -> Done<()> {
        if hashes.is_empty() {
            return Ok(());
        }
        let remove = "DELETE FROM ramus.chunks c WHERE c.owner = $1 AND c.hash = ANY ($2) \
            AND NOT EXISTS (SELECT 1 FROM ramus.pieces p WHERE p.owner = c.owner AND p.hash = c.hash)";
        self.transaction.execute(remove, &[&self.owner, &hashes]).await?;
        Ok(())
    }

    pub(super) async fn count_change(&self) -> Done<()> {
        let count = "INSERT INTO ramus.machines (owner, machine, changes) VALUES ($1, $2, 1) \
            ON CONFLICT (owner, machine) DO UPDATE SET changes = machines.changes + 1";
        self.transaction.execute(count, &[&self.owner, &self.machine]).await?;
        Ok(())
    }

    /// Removes files of this person with all their generations.
    pub(super) async fn forget_files(&self, files: &[Vec<u8>]) -> Done<Forgotten> {
        let own: &[&(dyn tokio_postgres::types::ToSql + Sync)] = &[&self.owner, &files];
        for table in ["derived", "filters"] {
            let remove = format!("DELETE FROM ramus.{table} WHERE owner = $1 AND file = ANY ($2)");
            self.transaction.execute(&remove, own).await?;
        }
        let removed = self
            .transaction
            .query(
                "DELETE FROM ramus.pieces WHERE owner = $1 AND file = ANY ($2) RETURNING hash",
                own,
            )
            .await?;
        let hashes: Vec<Vec<u8>> = removed.iter().map(|row| row.get(0)).collect();
        let generations = self
            .transaction
            .query("DELETE FROM ramus.generations WHERE owner = $1 AND file = ANY ($2) RETURNING bytes", own)
            .await?;
        let forgotten_files = self
            .transaction
            .query(
                "DELETE FROM ramus.files WHERE owner = $1 AND file = ANY ($2) RETURNING file",
                own,
            )
            .await?;
        self.remove_unused_chunks(&hashes).await?;
        self.count_change().await?;
        Ok(Forgotten {
            files: forgotten_files.len() as u64,
            generations: generations.len() as u64,
            bytes: generations.iter().map(|row| row.get::<_, i64>(0).cast_unsigned()).sum(),
        })
    }
}
