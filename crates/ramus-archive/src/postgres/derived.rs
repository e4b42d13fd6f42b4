//! What is derived from files, as the server keeps it: values by what they are, and filters for searches.
//!
//! A filter says which sequences of four bytes occur in a part of a file. The server looks at one byte of it for each
//! sequence of the searched text, and names the files that can match; they alone are read, by the usual search. So a
//! hit means the same as locally, in any language and for parts of words too, and needs no full text index.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use ramus_core::query::GramQuery;
use ramus_store::derived::{DerivedKind, FilterAnswer, derived_version};
use tokio_postgres::Row;

use super::update::{Batch, Done, FileChange};
use super::{PostgresStorage, file_id, path_from_bytes};
use crate::storage::{ArchiveError, ContentKey, FileKey};

/// More texts than these do not make a search faster.
const MOST_TEXTS: usize = 64;
/// Nor do more bits of one text.
const MOST_BITS: usize = 24;
/// How many values are fetched at a time.
const PAGE: usize = 2_000;

/// The number of a file in a list, by its owner and key on the server.
type Places = HashMap<(String, Vec<u8>), usize>;

impl PostgresStorage {
    pub(super) fn list_underived(&self) -> Result<HashSet<FileKey>, ArchiveError> {
        const QUERY: &str = "SELECT f.root, f.path FROM ramus.files f \
            LEFT JOIN ramus.derived d ON d.owner = f.owner AND d.file = f.file AND d.kind = $3 \
            AND d.version = $4 AND d.hash = f.hash \
            WHERE f.owner = $1 AND f.machine = $2 AND d.file IS NULL";
        let (kind, version) = (DerivedKind::search().0, derived_version());
        let rows = self.server.read(async |client| {
            client.query(QUERY, &[&self.owner, &self.machine, &kind, &version]).await
        })?;
        let key = |row: &Row| FileKey {
            root: path_from_bytes(row.get(0)),
            path: path_from_bytes(row.get(1)),
        };
        Ok(rows.iter().map(key).collect())
    }

    pub(super) fn fetch_values(
        &self,
        kind: &DerivedKind,
        files: &[ContentKey],
    ) -> Result<HashMap<usize, Vec<u8>>, ArchiveError> {
        const QUERY: &str = "SELECT d.owner, d.file, d.hash, d.value FROM ramus.derived d \
            JOIN unnest($1::text[], $2::bytea[]) AS u (owner, file) ON d.owner = u.owner AND d.file = u.file \
            WHERE d.kind = $3 AND d.version = $4";
        let (places, version) = (self.places(files), derived_version());
        let keys: Vec<&(String, Vec<u8>)> = places.keys().collect();
        let mut values = HashMap::new();
        for page in keys.chunks(PAGE) {
            let owners: Vec<&str> = page.iter().map(|(owner, _)| &**owner).collect();
            let ids: Vec<&[u8]> = page.iter().map(|(_, file)| &**file).collect();
            let rows = self.server.read(async |client| {
                client.query(QUERY, &[&owners, &ids, &kind.0, &version]).await
            })?;
            for row in rows {
                values.extend(place_of(&row, &places, files).map(|at| (at, row.get(3))));
            }
        }
        Ok(values)
    }

    pub(super) fn ask_filters(
        &self,
        queries: &[&GramQuery],
        files: &[ContentKey],
    ) -> Result<HashMap<usize, FilterAnswer>, ArchiveError> {
        let (places, version) = (self.places(files), derived_version());
        let owners: HashSet<&str> = places.keys().map(|(owner, _)| &**owner).collect();
        let owners: Vec<&str> = owners.into_iter().collect();
        // One statement sees one state: a file that is named without parts has a filter that rules it out.
        let query = format!(
            "SELECT d.owner, d.file, d.hash, d.value, c.parts FROM ramus.derived d LEFT JOIN ( \
             SELECT owner, file, array_agg(part) AS parts FROM ramus.filters \
             WHERE owner = ANY ($1) AND version = $2 AND {} GROUP BY owner, file \
             ) c ON c.owner = d.owner AND c.file = d.file \
             WHERE d.owner = ANY ($1) AND d.version = $2 AND d.kind = $3",
            condition(queries)
        );
        let kind = DerivedKind::search().0;
        let rows = self
            .server
            .read(async |client| client.query(&query, &[&owners, &version, &kind]).await)?;
        let (mut answers, mut matching) = (HashMap::new(), HashMap::new());
        for row in rows {
            let Some(at) = place_of(&row, &places, files) else { continue };
            answers.insert(at, FilterAnswer { search: row.get(3), parts: Vec::new() });
            if let Some(parts) = row.get::<_, Option<Vec<i32>>>(4) {
                matching.insert(at, parts);
            }
        }
        self.add_parts(&places, files, &matching, &mut answers)?;
        Ok(answers)
    }

    /// Adds the parts of the files that can match. A file that has changed meanwhile is left out, and read.
    fn add_parts(
        &self,
        places: &Places,
        files: &[ContentKey],
        matching: &HashMap<usize, Vec<i32>>,
        answers: &mut HashMap<usize, FilterAnswer>,
    ) -> Result<(), ArchiveError> {
        const QUERY: &str = "SELECT p.owner, p.file, p.hash, p.part, p.bytes, p.lines FROM ramus.filters p \
            JOIN unnest($1::text[], $2::bytea[]) AS u (owner, file) ON p.owner = u.owner AND p.file = u.file \
            WHERE p.version = $3 ORDER BY p.part";
        let wanted: Vec<&(String, Vec<u8>)> =
            places.iter().filter(|(_, at)| matching.contains_key(at)).map(|(key, _)| key).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let owners: Vec<&str> = wanted.iter().map(|(owner, _)| &**owner).collect();
        let ids: Vec<&[u8]> = wanted.iter().map(|(_, file)| &**file).collect();
        let version = derived_version();
        let rows = self
            .server
            .read(async |client| client.query(QUERY, &[&owners, &ids, &version]).await)?;
        for row in rows {
            let Some(at) = place_of(&row, places, files) else { continue };
            let (Some(answer), Some(parts)) = (answers.get_mut(&at), matching.get(&at)) else {
                continue;
            };
            let bytes = row.get::<_, i64>(4).cast_unsigned();
            let lines = row.get::<_, i32>(5).cast_unsigned();
            answer.parts.push((bytes, lines, parts.contains(&row.get(3))));
        }
        answers.retain(|at, answer| !answer.parts.is_empty() || !matching.contains_key(at));
        Ok(())
    }

    fn places(&self, files: &[ContentKey]) -> Places {
        let place = |(at, file): (usize, &ContentKey)| {
            let source = self.source_of(&file.key.root);
            let id = file_id(&source, &file.key.path);
            ((source.owner, id), at)
        };
        files.iter().enumerate().map(place).collect()
    }
}

/// Returns which file a row is about, if it is of that content.
fn place_of(row: &Row, places: &Places, files: &[ContentKey]) -> Option<usize> {
    let at = *places.get(&(row.get(0), row.get(1)))?;
    let hash = files[at].identity.content_hash()?;
    (row.get::<_, &[u8]>(2) == hash).then_some(at)
}

/// Writes what a row of `filters` must say if its part can match: numbers alone, no text.
fn condition(queries: &[&GramQuery]) -> String {
    let all: Vec<String> = queries.iter().filter_map(|query| condition_of(query)).collect();
    if all.is_empty() { "true".to_owned() } else { all.join(" AND ") }
}

/// Writes the condition of one query. `None`: it would take longer than it saves.
fn condition_of(query: &GramQuery) -> Option<String> {
    let texts = query.required_bits();
    if texts.len() > MOST_TEXTS {
        return None;
    }
    let mut any: Vec<String> = Vec::with_capacity(texts.len() + 1);
    for bits in texts {
        let bits: Vec<String> =
            bits.iter().take(MOST_BITS).map(|bit| bit_condition(*bit)).collect();
        any.push(format!("({})", bits.join(" AND ")));
    }
    if !query.escaped_ranges().is_empty() {
        let mut ranges = String::new();
        for (n, (first, last)) in query.escaped_ranges().iter().enumerate() {
            let or = if n > 0 { " OR " } else { "" };
            let _ = write!(ranges, "{or}unit BETWEEN {first} AND {last}");
        }
        any.push(format!(
            "(escaped <> '{{}}' AND EXISTS (SELECT 1 FROM unnest(escaped) AS e (unit) WHERE {ranges}))"
        ));
    }
    (!any.is_empty()).then(|| format!("({})", any.join(" OR ")))
}

/// The size of a filter is a power of two, so the bit within its byte is the same in all of them.
fn bit_condition(bit: u32) -> String {
    let mask = 1 << (bit % 8);
    format!("get_byte(substring(bits FROM {} % octets + 1 FOR 1), 0) & {mask} <> 0", bit / 8)
}

impl Batch<'_, '_> {
    /// Stores what was derived from files, and removes what was derived from another content of them.
    pub(super) async fn store_derived(&self, changes: &[&FileChange<'_>]) -> Done<()> {
        self.remove_outdated(changes).await?;
        let version = derived_version();
        let (mut files, mut hashes, mut kinds, mut values) = (vec![], vec![], vec![], vec![]);
        for change in changes {
            for (kind, value) in change.update.derived.iter().flat_map(|derived| &derived.values) {
                files.push(&change.file[..]);
                hashes.push(&change.update.generation.hash.0[..]);
                kinds.push(&*kind.0);
                values.push(&value[..]);
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        let insert = "INSERT INTO ramus.derived (owner, version, file, kind, hash, value) \
            SELECT $1::text, $2::text, * FROM unnest($3::bytea[], $4::text[], $5::bytea[], $6::bytea[]) \
            ON CONFLICT (owner, file, kind, version) DO NOTHING";
        self.transaction
            .execute(insert, &[&self.owner, &version, &files, &kinds, &hashes, &values])
            .await?;
        self.store_filters(changes, &version).await
    }

    async fn remove_outdated(&self, changes: &[&FileChange<'_>]) -> Done<()> {
        let files: Vec<&[u8]> = changes.iter().map(|change| &change.file[..]).collect();
        let hashes: Vec<&[u8]> =
            changes.iter().map(|change| &change.update.generation.hash.0[..]).collect();
        for table in ["derived", "filters"] {
            let remove = format!(
                "DELETE FROM ramus.{table} d USING unnest($2::bytea[], $3::bytea[]) AS u (file, hash) \
                 WHERE d.owner = $1 AND d.file = u.file AND d.hash <> u.hash"
            );
            self.transaction.execute(&remove, &[&self.owner, &files, &hashes]).await?;
        }
        Ok(())
    }

    async fn store_filters(&self, changes: &[&FileChange<'_>], version: &str) -> Done<()> {
        let (mut files, mut hashes, mut numbers) = (vec![], vec![], vec![]);
        let (mut bytes, mut lines, mut octets) = (vec![], vec![], vec![]);
        let (mut escaped, mut bits) = (vec![], vec![]);
        for change in changes {
            let filter = change.update.derived.iter().filter_map(|derived| derived.filter.as_ref());
            for (number, part) in (0i32..).zip(filter.flatten()) {
                files.push(&change.file[..]);
                hashes.push(&change.update.generation.hash.0[..]);
                numbers.push(number);
                bytes.push(part.bytes.cast_signed());
                lines.push(part.lines.cast_signed());
                octets.push(part.bits.len() as i32);
                // An array of arrays would be taken apart as a whole.
                let units: Vec<String> = part.escaped_units.iter().map(u16::to_string).collect();
                escaped.push(format!("{{{}}}", units.join(",")));
                bits.push(&part.bits[..]);
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        let insert = "INSERT INTO ramus.filters \
            (owner, version, file, hash, part, bytes, lines, octets, escaped, bits) \
            SELECT $1::text, $2::text, u.file, u.hash, u.part, u.bytes, u.lines, u.octets, u.escaped::integer[], \
            u.bits FROM unnest($3::bytea[], $4::bytea[], $5::integer[], $6::bigint[], $7::integer[], \
            $8::integer[], $9::text[], $10::bytea[]) \
            AS u (file, hash, part, bytes, lines, octets, escaped, bits) \
            ON CONFLICT (owner, file, version, part) DO NOTHING";
        self.transaction
            .execute(
                insert,
                &[
                    &self.owner,
                    &version,
                    &files,
                    &hashes,
                    &numbers,
                    &bytes,
                    &lines,
                    &octets,
                    &escaped,
                    &bits,
                ],
            )
            .await?;
        Ok(())
    }
}
