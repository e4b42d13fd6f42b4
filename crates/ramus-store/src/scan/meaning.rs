//! Finds messages by what they are about.
//!
//! The vectors of prompts and replies are computed once and cached, file by file, for one model.

use bitcode::{Decode, Encode};
use ramus_core::embedding::{EmbeddingModel, TextVector, dot_product, vector_length};
use ramus_core::query::{Finding, FindingDetail, Query, TextKind};
use ramus_core::record::ByteSpan;
use ramus_core::resume::ResumeRule;
use ramus_core::time::Time;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{
    MatchLocation, ScanNotes, SearchSource, SourceFormat, match_location, read_line_chunks,
};
use crate::cache::{CacheLevel, DigestCache, HistoryCache};
use crate::claude_dir::{FileRole, Project};
use crate::error::PathError;

/// The texts that have vectors: what was asked, and what was said about it.
pub const MEANING_KINDS: [TextKind; 2] = [TextKind::Prompt, TextKind::Reply];
/// How many messages are returned at most.
const MAX_NEAREST: usize = 500;
/// Increase this if other texts get vectors.
const VECTORS_VERSION: u64 = 1;

/// Which messages are wanted.
#[derive(Clone, Copy)]
pub struct LikeJob<'a> {
    pub sources: &'a [SearchSource],
    /// The projects that the sources name.
    pub projects: &'a [Project],
    pub cache: &'a HistoryCache,
    pub model: &'a EmbeddingModel,
    /// What they should be about.
    pub vector: &'a TextVector,
    /// Its kinds, roles and times count, not its words.
    pub query: &'a Query,
    /// Gets the size of each file when it has been read.
    pub on_read: &'a (dyn Fn(u64) + Sync),
    /// Whether anybody still waits.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

/// Messages, the nearest first.
#[derive(Debug, Default)]
pub struct LikeScan {
    pub locations: Vec<MatchLocation>,
    /// How near each is, by the `rank` of its location: 1 is the same.
    pub closeness: Vec<f32>,
    pub notes: ScanNotes,
    pub problems: Vec<PathError>,
}

/// The vectors of a file's messages.
#[derive(Clone, Debug, Default, Encode, Decode)]
struct FileVectors {
    places: Vec<VectorPlace>,
    /// One after the other.
    vectors: Vec<i8>,
    /// The session that an agent's records name.
    session: Option<String>,
}

/// A message that has a vector.
#[derive(Clone, Debug, Encode, Decode)]
struct VectorPlace {
    offset: u64,
    len: u32,
    line: u32,
    millis: Option<i64>,
    identity: u128,
    is_copy: bool,
    is_sidechain: bool,
    is_prompt: bool,
    /// The length of its vector.
    length: f32,
}

impl LikeJob<'_> {
    /// Returns the nearest messages.
    pub fn find_nearest(&self) -> LikeScan {
        let mut by_project: FxHashMap<Option<usize>, Vec<usize>> = FxHashMap::default();
        let is_read = |source: &&usize| self.sources[**source].content == SourceFormat::Records;
        for index in (0..self.sources.len()).collect::<Vec<_>>().iter().filter(is_read) {
            by_project.entry(self.sources[*index].project).or_default().push(*index);
        }
        let mut scan = LikeScan::default();
        let mut found: Vec<(f32, MatchLocation)> = Vec::new();
        for (project, sources) in by_project {
            self.search_project(project, &sources, &mut found, &mut scan);
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.time.cmp(&a.1.time)));
        found.truncate(MAX_NEAREST);
        for (closeness, place) in found {
            scan.locations.push(MatchLocation { rank: scan.closeness.len() as u32, ..place });
            scan.closeness.push(closeness);
        }
        scan
    }

    fn search_project(
        &self,
        project: Option<usize>,
        sources: &[usize],
        found: &mut Vec<(f32, MatchLocation)>,
        scan: &mut LikeScan,
    ) {
        let level = CacheLevel {
            name: "vectors",
            rule: ResumeRule::Client,
            tag: self.model.fingerprint() ^ VECTORS_VERSION,
        };
        let cache = project
            .and_then(|project| self.projects.get(project))
            .map(|project| DigestCache::<FileVectors>::open(self.cache, project, level));
        let cached = |index: usize| cache.as_ref()?.value(&self.sources[index].file.path);
        let missing: Vec<usize> =
            sources.iter().copied().filter(|index| cached(*index).is_none()).collect();
        let made: Vec<(usize, Result<FileVectors, PathError>)> = missing
            .par_iter()
            .with_max_len(1)
            .map(|index| (*index, self.embed_source(&self.sources[*index])))
            .collect();
        if !(self.go_on)() {
            return;
        }
        let mut fresh: FxHashMap<usize, FileVectors> = FxHashMap::default();
        for (index, made) in made {
            match made {
                Ok(made) => drop(fresh.insert(index, made)),
                Err(problem) => scan.problems.push(problem),
            }
        }
        for index in sources {
            let Some(vectors) = cached(*index).or_else(|| fresh.get(index)) else { continue };
            self.add_nearest(*index, vectors, found);
            let is_flat = self.sources[*index].file.role == FileRole::FlatAgent;
            if let Some(session) = vectors.session.clone().filter(|_| is_flat) {
                scan.notes.sessions.insert(*index as u32, session);
            }
        }
        if let (Some(cache), Some(lock)) = (&cache, self.cache.try_lock())
            && !fresh.is_empty()
        {
            let files = fresh.into_iter().map(|(index, made)| (&self.sources[index].file, made));
            cache.save_fresh(&lock, files.collect());
        }
    }

    /// Computes the vectors of a file.
    fn embed_source(&self, source: &SearchSource) -> Result<FileVectors, PathError> {
        let mut made = FileVectors::default();
        let Ok(query) = Query::any_text(&MEANING_KINDS) else { return Ok(made) };
        let read = read_line_chunks(&source.file.path, |piece| {
            let mut at = piece.at;
            let lines = piece.bytes.split_inclusive(|byte| *byte == b'\n');
            for (line, bytes) in (piece.line..).zip(lines) {
                if !(self.go_on)() {
                    return;
                }
                query.find_in_line(bytes, FindingDetail::Strength, |finding| {
                    self.add_vector(source, &finding, at, line, &mut made);
                });
                at += bytes.len() as u64;
            }
        });
        (self.on_read)(source.file.bytes);
        read.map_err(|error| PathError::new(&source.file.path, error))?;
        Ok(made)
    }

    fn add_vector(
        &self,
        source: &SearchSource,
        finding: &Finding<'_>,
        at: u64,
        line: u32,
        made: &mut FileVectors,
    ) {
        // What the client writes when a person presses Escape is about nothing.
        if finding.text.starts_with("[Request interrupted") {
            return;
        }
        let Some(vector) = self.model.embed_text(&finding.text) else { return };
        let place = match_location(0, source, finding, at + finding.start as u64, line);
        if made.session.is_none() {
            made.session = finding.session.as_deref().map(str::to_owned);
        }
        made.places.push(VectorPlace {
            offset: place.span.offset,
            len: place.span.len,
            line,
            millis: place.time.map(Time::as_millis),
            identity: place.identity,
            is_copy: place.is_copy,
            is_sidechain: finding.sidechain,
            is_prompt: finding.text_kind == TextKind::Prompt,
            length: vector_length(vector.as_slice()),
        });
        made.vectors.extend_from_slice(vector.as_slice());
    }

    /// Adds the messages of a file that are in scope.
    fn add_nearest(
        &self,
        index: usize,
        vectors: &FileVectors,
        found: &mut Vec<(f32, MatchLocation)>,
    ) {
        let source = &self.sources[index];
        let wanted = self.vector.as_slice();
        let length = vector_length(wanted);
        if source.only_session.is_some() && source.only_session != vectors.session {
            return;
        }
        let kinds = [TextKind::Reply, TextKind::Prompt].map(|kind| self.query.wants_kind(kind));
        let places = vectors.places.iter().zip(vectors.vectors.chunks_exact(wanted.len()));
        for (place, vector) in places {
            let time = place.millis.map(Time::from_millis);
            let is_wanted = kinds[usize::from(place.is_prompt)]
                && source.sidechain.is_none_or(|sidechain| sidechain == place.is_sidechain)
                && time.is_none_or(|time| self.query.is_in_time(time));
            if !is_wanted {
                continue;
            }
            let closeness = dot_product(wanted, vector) as f32 / (length * place.length);
            found.push((closeness, place.location(index, time)));
        }
    }
}

impl VectorPlace {
    fn location(&self, source: usize, time: Option<Time>) -> MatchLocation {
        MatchLocation {
            source: source as u32,
            line: self.line,
            span: ByteSpan { offset: self.offset, len: self.len },
            time,
            identity: self.identity,
            rank: 0,
            is_dated: time.is_some(),
            is_copy: self.is_copy,
        }
    }
}
