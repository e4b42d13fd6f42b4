//! Changes to an archive within one transaction.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::storage::{
    ContentHash, FileKey, FileUpdate, Forgotten, Generation, PackedChunk, UpdateOutcome, path_bytes,
};

/// Stores a chunk; an existing one is not changed.
pub(super) fn store_chunk(
    transaction: &Transaction<'_>,
    PackedChunk { chunk, packed }: &PackedChunk,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO chunk (hash, bytes, packed) VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING",
    )?;
    insert.execute(params![chunk.hash.0, chunk.bytes.cast_signed(), packed])?;
    Ok(())
}

/// Updates a file, unless it was changed since the update was computed.
pub(super) fn note_file(
    transaction: &Transaction<'_>,
    update: &FileUpdate,
) -> rusqlite::Result<UpdateOutcome> {
    let found = newest(transaction, &update.key)?;
    let known = found.as_ref().map(|(_, number, hash)| (*number, *hash));
    if known != update.expected {
        return Ok(UpdateOutcome::Outdated);
    }
    let mut chunks = Vec::with_capacity(update.chunks.len());
    for chunk in &update.chunks {
        match chunk_id(transaction, chunk.hash)? {
            Some(id) => chunks.push(id),
            None => return Ok(UpdateOutcome::Outdated),
        }
    }
    let generation = &update.generation;
    let file = match found {
        Some((file, ..)) => update_file(transaction, file, update)?,
        None => insert_file(transaction, update)?,
    };
    let is_same = known.is_some_and(|(number, _)| number == generation.number);
    let id = if is_same {
        grow_generation(transaction, file, generation)?
    } else {
        insert_generation(transaction, file, generation)?
    };
    replace_pieces(transaction, id, update.kept_chunks, &chunks)?;
    Ok(UpdateOutcome::Noted)
}

fn newest(
    transaction: &Transaction<'_>,
    key: &FileKey,
) -> rusqlite::Result<Option<(i64, u32, ContentHash)>> {
    let mut rows = transaction.prepare_cached(
        "SELECT file.id, number, hash FROM file JOIN generation ON generation.file = file.id \
         AND number = newest WHERE root = ?1 AND path = ?2",
    )?;
    let key = params![path_bytes(&key.root), path_bytes(&key.path)];
    rows.query_row(key, |row| Ok((row.get(0)?, row.get(1)?, ContentHash(row.get(2)?)))).optional()
}

fn chunk_id(transaction: &Transaction<'_>, hash: ContentHash) -> rusqlite::Result<Option<i64>> {
    let mut rows = transaction.prepare_cached("SELECT id FROM chunk WHERE hash = ?1")?;
    rows.query_row([hash.0], |row| row.get(0)).optional()
}

fn insert_file(transaction: &Transaction<'_>, update: &FileUpdate) -> rusqlite::Result<i64> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO file (root, path, session, kind, identity, newest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.insert(params![
        path_bytes(&update.key.root),
        path_bytes(&update.key.path),
        update.session,
        update.kind.word(),
        update.identity,
        update.generation.number
    ])
}

fn update_file(
    transaction: &Transaction<'_>,
    file: i64,
    update: &FileUpdate,
) -> rusqlite::Result<i64> {
    let mut statement =
        transaction.prepare_cached("UPDATE file SET identity = ?2, newest = ?3 WHERE id = ?1")?;
    statement.execute(params![file, update.identity, update.generation.number])?;
    Ok(file)
}

fn insert_generation(
    transaction: &Transaction<'_>,
    file: i64,
    generation: &Generation,
) -> rusqlite::Result<i64> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO generation \
         (file, number, bytes, hash, mode, modified_seconds, modified_nanos, added, \
         created_seconds, created_nanos) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    insert.insert(params![
        file,
        generation.number,
        generation.bytes.cast_signed(),
        generation.hash.0,
        generation.mode,
        generation.modified.0.cast_signed(),
        generation.modified.1,
        generation.added.as_millis(),
        generation.created.map(|created| created.0.cast_signed()),
        generation.created.map(|created| created.1)
    ])
}

fn grow_generation(
    transaction: &Transaction<'_>,
    file: i64,
    generation: &Generation,
) -> rusqlite::Result<i64> {
    let mut update = transaction.prepare_cached(
        "UPDATE generation SET bytes = ?3, hash = ?4, mode = ?5, modified_seconds = ?6, \
         modified_nanos = ?7, added = ?8 WHERE file = ?1 AND number = ?2 RETURNING id",
    )?;
    let values = params![
        file,
        generation.number,
        generation.bytes.cast_signed(),
        generation.hash.0,
        generation.mode,
        generation.modified.0.cast_signed(),
        generation.modified.1,
        generation.added.as_millis()
    ];
    update.query_row(values, |row| row.get(0))
}

/// Puts chunks behind those that stay. A chunk that nothing needs any more is removed: the same bytes
/// are in a longer one now.
fn replace_pieces(
    transaction: &Transaction<'_>,
    generation: i64,
    kept: usize,
    chunks: &[i64],
) -> rusqlite::Result<()> {
    let mut remove = transaction.prepare_cached(
        "DELETE FROM piece WHERE generation = ?1 AND place >= ?2 RETURNING chunk",
    )?;
    let replaced: Vec<i64> = remove
        .query_map(params![generation, kept as i64], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut insert = transaction
        .prepare_cached("INSERT INTO piece (generation, place, chunk) VALUES (?1, ?2, ?3)")?;
    for (place, chunk) in (kept as i64..).zip(chunks) {
        insert.execute(params![generation, place, chunk])?;
    }
    remove_unused(transaction, &replaced)
}

fn remove_unused(transaction: &Transaction<'_>, chunks: &[i64]) -> rusqlite::Result<()> {
    let mut remove = transaction.prepare_cached(
        "DELETE FROM chunk WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM piece WHERE chunk = ?1)",
    )?;
    for chunk in chunks {
        remove.execute([chunk])?;
    }
    Ok(())
}

/// Removes a file with all its generations.
pub(super) fn forget_file(
    transaction: &Transaction<'_>,
    key: &FileKey,
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    let Some((file, ..)) = newest(transaction, key)? else { return Ok(()) };
    let mut rows =
        transaction.prepare_cached("SELECT id, bytes FROM generation WHERE file = ?1")?;
    let generations: Vec<(i64, i64)> = rows
        .query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (generation, bytes) in generations {
        replace_pieces(transaction, generation, 0, &[])?;
        transaction.execute("DELETE FROM generation WHERE id = ?1", [generation])?;
        forgotten.generations += 1;
        forgotten.bytes += bytes.cast_unsigned();
    }
    transaction.execute("DELETE FROM file WHERE id = ?1", [file])?;
    forgotten.files += 1;
    Ok(())
}
