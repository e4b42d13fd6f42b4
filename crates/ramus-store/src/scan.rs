//! Searches many files in parallel: scans raw bytes and parses only lines that may match.
//!
//! Files are read in chunks that stay in the CPU cache. In each chunk only lines that contain
//! the search text in one of its JSON spellings are parsed. Of a match only its location is
//! kept; the text is read again when it is shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use memchr::memchr_iter;
use ramus_core::ids::IdHash;
use ramus_core::query::{Finding, FindingDetail, Query};
use ramus_core::record::{ByteSpan, RecordKind};
use ramus_core::time::Time;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustc_hash::FxHashSet;

use crate::cache::{ChunkVerdict, SearchExtent};
use crate::claude_dir::{FileRole, HistoryFile};
use crate::error::PathError;

mod archived_filter;
mod filter;
mod hit_context;
mod hit_reader;
mod line_chunks;
mod meaning;
mod merge;
mod newest_first;
mod ranked;
mod similar;
mod spilled_results;
mod summary;
mod tool_filter;

pub use filter::ScanFilter;
pub use hit_context::{HitContext, HitContextReader, HitNode};
pub use hit_reader::HitReader;
use line_chunks::{LineChunk, last_record_time, read_matching_chunks};
pub(crate) use line_chunks::{SkippedLines, read_line_chunks};
pub use meaning::{LikeJob, LikeScan, MEANING_KINDS};
pub use merge::Hit;
pub use newest_first::HitBatch;
pub use ranked::{NEAR_SHARE, RankedMatch, RankedScan};
pub use spilled_results::list_spilled_results;
pub use summary::read_summaries;
pub(crate) use summary::{LeafSummary, collect_summaries as summaries_in};
pub use tool_filter::ToolFilter;
use tool_filter::ToolVerdict;

/// A file to search.
#[derive(Clone, Debug)]
pub struct SearchSource {
    pub file: HistoryFile,
    pub content: SourceFormat,
    /// The index of its project. `None`: it is outside of the Claude directories.
    pub project: Option<usize>,
    /// Search only records of this session.
    pub only_session: Option<String>,
    /// Search only records of sub-agents (`true`) or only others (`false`). `None`: all.
    pub sidechain: Option<bool>,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    Records,
    /// Plain text: a tool result that was too long for its record.
    Spilled,
}

impl SearchSource {
    /// Returns a source that is searched whole.
    pub fn new(file: HistoryFile, content: SourceFormat, project: Option<usize>) -> Self {
        Self { file, content, project, only_session: None, sidechain: None }
    }
}

/// The location of a record that matches.
#[derive(Clone, Copy, Debug)]
pub struct MatchLocation {
    /// Index of its source.
    pub source: u32,
    /// Line number, from 1.
    pub line: u32,
    pub span: ByteSpan,
    /// The record's time, or the last time in its file.
    pub time: Option<Time>,
    pub identity: u128,
    /// The index of its [`RankedMatch`], if the search ranks.
    pub rank: u32,
    /// The time is the record's own.
    is_dated: bool,
    /// The record is marked as a copy, or belongs to another session.
    is_copy: bool,
}

/// All matches of a scan, and what could not be read.
#[derive(Debug, Default)]
pub struct ScanResult {
    pub locations: Vec<MatchLocation>,
    pub notes: ScanNotes,
    pub problems: Vec<PathError>,
}

/// Facts about sessions that were collected during a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanNotes {
    /// The session that an agent's records name, by source.
    pub sessions: BTreeMap<u32, String>,
    /// The summaries in each source that was read. They may name nodes of other files.
    summaries: BTreeMap<u32, Vec<LeafSummary>>,
}

impl ScanNotes {
    fn add_found(&mut self, found: &mut FileMatches) {
        if let (Some(first), Some(session)) = (found.locations.first(), found.session.take()) {
            self.sessions.insert(first.source, session);
        }
        self.add_summaries(found.source as u32, found.summaries.take());
    }

    fn add_summaries(&mut self, source: u32, found: Option<Vec<LeafSummary>>) {
        if let Some(summaries) = found {
            self.summaries.insert(source, summaries);
        }
    }
}

/// The matches in one file.
struct FileMatches {
    source: usize,
    locations: Vec<MatchLocation>,
    session: Option<String>,
    /// The summaries in it; `None`: it was not read completely, or nobody asked.
    summaries: Option<Vec<LeafSummary>>,
}

/// A search of many files. The functions are called from several threads.
#[derive(Clone, Copy)]
pub struct ScanJob<'a> {
    pub sources: &'a [SearchSource],
    pub query: &'a Query,
    pub tool: Option<&'a ToolFilter>,
    pub filter: &'a ScanFilter,
    /// Gets the size of each file when it has been read.
    pub on_read: &'a (dyn Fn(u64) + Sync),
    /// Whether the caller still waits; otherwise the search ends early, with the results so far.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
    /// Use half of the threads, so that other parallel work need not wait.
    pub in_background: bool,
}

impl ScanJob<'_> {
    /// Searches all sources.
    pub fn find_all(&self) -> ScanResult {
        let found = self.on_threads(|| self.look_everywhere());
        let mut scan = ScanResult::default();
        for places in found {
            match places {
                Ok(mut found) => {
                    scan.notes.add_found(&mut found);
                    scan.locations.extend(found.locations);
                }
                // The client's clean-up may delete a file after it was listed.
                Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
                Err(problem) => scan.problems.push(problem),
            }
        }
        scan
    }

    /// Whether any source has a match. Stops at the first one.
    pub fn has_match(&self) -> bool {
        let is_found = AtomicBool::new(false);
        let go_on = || (self.go_on)() && !is_found.load(Relaxed);
        let look = |source: &SearchSource| {
            let extent = self.filter.extent_of_any(source, self.query);
            let scope = ScanScope { extent: &extent, titles: false, go_on: &go_on };
            let found = go_on()
                && scan_source(0, source, self.query, self.tool, scope)
                    .is_ok_and(|found| !found.locations.is_empty());
            if found {
                is_found.store(true, Relaxed);
            }
            found
        };
        self.on_threads(|| self.sources.par_iter().with_max_len(1).any(look))
    }

    fn look_everywhere(&self) -> Vec<Result<FileMatches, PathError>> {
        let Self { sources, query, tool, filter, on_read, go_on, .. } = *self;
        let sights = filter.search_extents(sources, query);
        let mut largest: Vec<usize> = (0..sources.len()).collect();
        // Largest first, so that no thread is still busy with a large file at the end.
        largest.sort_by_key(|index| Reverse(sources[*index].file.bytes));
        let look = |&index: &usize| {
            let sight = if go_on() { &sights[index] } else { &SearchExtent::Nothing };
            let sight = ScanScope { extent: sight, titles: false, go_on };
            let found = scan_source(index, &sources[index], query, tool, sight);
            on_read(sources[index].file.bytes);
            found
        };
        largest.par_iter().with_max_len(1).map(look).collect()
    }

    fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
            let threads = rayon::current_num_threads().div_ceil(2);
            ThreadPoolBuilder::new().num_threads(threads).build().ok()
        });
        match &*POOL {
            Some(pool) if self.in_background => pool.install(work),
            _ => work(),
        }
    }
}

/// What to search in a file, and for how long.
#[derive(Clone, Copy)]
struct ScanScope<'a> {
    extent: &'a SearchExtent,
    /// Collect summaries, which are titles of other sessions.
    titles: bool,
    /// Returns `false` when the search was cancelled.
    go_on: &'a (dyn Fn() -> bool + Sync),
}

fn scan_source(
    index: usize,
    source: &SearchSource,
    query: &Query,
    tool: Option<&ToolFilter>,
    seeing: ScanScope<'_>,
) -> Result<FileMatches, PathError> {
    let found = match source.content {
        _ if matches!(seeing.extent, SearchExtent::Nothing) => {
            Ok(FileMatches { source: index, locations: Vec::new(), session: None, summaries: None })
        }
        SourceFormat::Records => scan_records(index, source, query, tool, seeing),
        SourceFormat::Spilled => {
            spilled_results::search_spilled(index, source, query, tool).map(|places| FileMatches {
                source: index,
                locations: places,
                session: None,
                summaries: None,
            })
        }
    };
    found.map_err(|error| PathError::new(&source.file.path, error))
}

fn scan_records(
    index: usize,
    source: &SearchSource,
    query: &Query,
    tool: Option<&ToolFilter>,
    seeing: ScanScope<'_>,
) -> io::Result<FileMatches> {
    let seen = seeing.chunks();
    let mut summaries = seeing.summaries_to_collect();
    let mut matches = MatchCollector::new(index, source, tool);
    read_chunks(&source.file.path, seen, |piece: LineChunk<'_>| {
        if let Some(summaries) = &mut summaries {
            summary::collect_summaries(piece.bytes, summaries);
        }
        let mut counted = 0;
        let mut line = piece.line;
        for range in query.candidate_lines(piece.bytes) {
            if !(seeing.go_on)() {
                return;
            }
            line += memchr_iter(b'\n', &piece.bytes[counted..range.start]).count() as u32;
            counted = range.start;
            let bytes = &piece.bytes[range.clone()];
            let at = piece.at + range.start as u64;
            query.find_in_line(bytes, FindingDetail::Whether, |finding| {
                matches.add_finding(&finding, bytes, at, line);
            });
        }
    })?;
    matches.finish(query, summaries)
}

/// Reads a file in chunks of whole lines: all of it, or only the parts that can match.
fn read_chunks(
    path: &Path,
    seen: Option<&[ChunkVerdict]>,
    mut take: impl FnMut(LineChunk<'_>),
) -> io::Result<()> {
    match seen {
        Some(seen) => read_matching_chunks(path, seen, take),
        None => read_line_chunks(path, &mut take).map(drop),
    }
}

/// Collects the matches of one file that are in scope.
struct MatchCollector<'a> {
    index: usize,
    source: &'a SearchSource,
    tool: Option<&'a ToolFilter>,
    locations: Vec<MatchLocation>,
    session: Option<String>,
    /// Matches in tool results, with the calls they belong to.
    results: Vec<(usize, Vec<IdHash>)>,
    prompts: FxHashSet<IdHash>,
    queued: Vec<(usize, IdHash)>,
}

impl<'a> MatchCollector<'a> {
    fn new(index: usize, source: &'a SearchSource, tool: Option<&'a ToolFilter>) -> Self {
        Self {
            index,
            source,
            tool,
            locations: Vec::new(),
            session: None,
            results: Vec::new(),
            prompts: FxHashSet::default(),
            queued: Vec::new(),
        }
    }

    /// Adds a finding in a line that begins at `at`. Returns its location, if it is in scope.
    fn add_finding(
        &mut self,
        finding: &Finding<'_>,
        line: &[u8],
        at: u64,
        number: u32,
    ) -> Option<&mut MatchLocation> {
        if !is_in_scope(self.source, finding) {
            return None;
        }
        let record = &line[finding.start..][..finding.len];
        match self.tool.map(|tool| tool.judge_record(record)) {
            None | Some(ToolVerdict::Yes) => {}
            Some(ToolVerdict::No) => return None,
            Some(ToolVerdict::Answers(calls)) => self.results.push((self.locations.len(), calls)),
        }
        if self.source.file.role == FileRole::FlatAgent && self.session.is_none() {
            self.session = finding.session.as_deref().map(str::to_owned);
        }
        if finding.kind == RecordKind::QueueOperation {
            self.queued.push((self.locations.len(), finding.text_hash));
        } else {
            self.prompts.insert(finding.text_hash);
        }
        let at = at + finding.start as u64;
        self.locations.push(match_location(self.index, self.source, finding, at, number));
        self.locations.last_mut()
    }

    fn finish(
        mut self,
        query: &Query,
        summaries: Option<Vec<LeafSummary>>,
    ) -> io::Result<FileMatches> {
        // A queued prompt usually appears again as a prompt of its own. Drop the queue entry then.
        let mut dropped: FxHashSet<usize> = { self.queued.iter() }
            .filter(|(_, text)| !self.prompts.insert(*text))
            .map(|(at, _)| *at)
            .collect();
        if let Some(tool) = self.tool
            && !self.results.is_empty()
        {
            let calls = tool.matching_call_ids(&self.source.file.path)?;
            let fits = |ids: &[IdHash]| ids.iter().any(|id| calls.contains(id));
            dropped.extend(self.results.iter().filter(|(_, ids)| !fits(ids)).map(|(at, _)| *at));
        }
        let mut at = 0..;
        self.locations.retain(|_| at.next().is_none_or(|at| !dropped.contains(&at)));
        date_undated(&mut self.locations, self.source, query)?;
        let Self { index, locations, session, .. } = self;
        Ok(FileMatches { source: index, locations, session, summaries })
    }
}

/// Gives records without a time, such as titles, the last time of their file.
fn date_undated(
    places: &mut Vec<MatchLocation>,
    source: &SearchSource,
    query: &Query,
) -> io::Result<()> {
    if places.iter().any(|place| place.time.is_none()) {
        let last = last_record_time(&source.file.path)?;
        for place in places.iter_mut().filter(|place| place.time.is_none()) {
            place.time = last;
        }
        places.retain(|place| place.time.is_none_or(|time| query.is_in_time(time)));
    }
    Ok(())
}

impl<'a> ScanScope<'a> {
    /// Returns which chunks are read; `None`: all.
    fn chunks(&self) -> Option<&'a [ChunkVerdict]> {
        match self.extent {
            SearchExtent::Some(chunks) => Some(chunks),
            SearchExtent::All | SearchExtent::Nothing => None,
        }
    }

    /// Returns where summaries are collected; `None`: not the whole file is read, or nobody asked for them.
    fn summaries_to_collect(&self) -> Option<Vec<LeafSummary>> {
        (self.titles && self.chunks().is_none()).then(Vec::new)
    }
}

fn is_in_scope(source: &SearchSource, finding: &Finding<'_>) -> bool {
    source.only_session.as_deref().is_none_or(|only| finding.session.as_deref() == Some(only))
        && source.sidechain.is_none_or(|sidechain| sidechain == finding.sidechain)
}

fn match_location(
    index: usize,
    source: &SearchSource,
    finding: &Finding<'_>,
    at: u64,
    line: u32,
) -> MatchLocation {
    let is_foreign = source.file.role == FileRole::Session
        && finding.session.as_deref().is_some_and(|session| session != source.file.id);
    MatchLocation {
        source: index as u32,
        line,
        span: ByteSpan { offset: at, len: finding.len as u32 },
        time: finding.time,
        is_dated: finding.time.is_some(),
        identity: finding.identity,
        rank: 0,
        is_copy: finding.is_copy || is_foreign,
    }
}
