//! Searches for the best matches: sessions that have all words, whether in one message or in several.
//!
//! First it is found out which sessions may have which words, from the gram filters or by looking for the
//! raw bytes. Only sessions that may have all of them are then read line by line.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memchr::memchr_iter;
use ramus_core::ids::IdHash;
use ramus_core::query::{
    FindingDetail, MatchStrength, Query, RankWeights, TermFrequency, is_function_word,
};
use rayon::prelude::*;

use super::line_chunks::LineChunk;
use super::summary::{LeafSummary, collect_summaries};
use super::{
    FileMatches, MatchCollector, MatchLocation, ScanJob, ScanNotes, ScanScope, SearchSource,
    SourceFormat, read_chunks, read_line_chunks, spilled_results,
};
use crate::cache::SearchExtent;
use crate::claude_dir::FileRole;
use crate::error::PathError;

/// How well a location matches, and what belongs to the same message.
#[derive(Clone, Debug)]
pub struct RankedMatch {
    pub strength: MatchStrength,
    /// The ids of its message and of the tool calls made or answered in it.
    pub message_ids: Vec<IdHash>,
}

/// The matches of a search that ranks.
#[derive(Debug, Default)]
pub struct RankedScan {
    pub locations: Vec<MatchLocation>,
    /// By the `rank` of the locations.
    pub ranks: Vec<RankedMatch>,
    /// The terms that a session must have.
    pub required: u64,
    /// Sessions that lack words of little weight were searched, too.
    pub has_near: bool,
    /// The number of sessions that were searched.
    pub sessions: usize,
    /// There are so many matches that older files were not searched.
    pub is_cut: bool,
    pub notes: ScanNotes,
    pub problems: Vec<PathError>,
}

/// After so many messages with all words, older files are not searched: nothing tells so many apart but
/// their time.
const ENOUGH_MATCHES: usize = 4_000;
/// How much of the weight of all words a session must have if it may lack some.
pub const NEAR_SHARE: f32 = 0.4;
/// How many lines of a file are parsed for each word that is not the rarest.
const LINES_PER_TERM: u32 = 64;
/// Up to so many words the rarest is chosen by how many sessions have it; see [`MatchStrength::terms`].
const MAX_TERMS: usize = 64;

impl ScanJob<'_> {
    /// Searches for sessions that have all words, the newest files first; or nearly all (`with_near`).
    pub fn find_ranked(&self, with_near: bool) -> RankedScan {
        let groups = session_groups(self.sources);
        let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
        self.on_threads(|| {
            let (found_terms, summaries) = self.terms_of_sources();
            let mut group_terms = vec![0; count];
            for (group, terms) in groups.iter().zip(&found_terms) {
                group_terms[*group as usize] |= terms;
            }
            let plan = RankPlan::new(self.query, &group_terms, with_near);
            let mut wanted: Vec<usize> = (0..self.sources.len())
                .filter(|index| plan.wants_terms(group_terms[groups[*index] as usize]))
                .filter(|index| found_terms[*index] != 0)
                .collect();
            wanted.sort_by_key(|index| Reverse(self.sources[*index].file.modified));
            let skipped = self.sources.len() - wanted.len();
            self.report_skipped(skipped, &wanted);
            let mut scan = self.rank_sources(&wanted, &plan);
            for (index, found) in (0..).zip(summaries) {
                scan.notes.add_summaries(index, found);
            }
            (scan.required, scan.sessions, scan.has_near) = (plan.required, count, with_near);
            scan
        })
    }

    /// Reports the bytes of sources that are not read line by line.
    fn report_skipped(&self, skipped: usize, wanted: &[usize]) {
        if skipped > 0 {
            let all: u64 = self.sources.iter().map(|source| source.file.bytes).sum();
            let left: u64 = wanted.iter().map(|index| self.sources[*index].file.bytes).sum();
            (self.on_read)(all - left);
        }
    }

    /// Returns which terms each source may have, and the summaries in those that were read for it.
    fn terms_of_sources(&self) -> (Vec<u64>, Vec<Option<Vec<LeafSummary>>>) {
        let terms = self.query.term_texts().len().min(MAX_TERMS);
        let all = u64::MAX >> (MAX_TERMS - terms.max(1));
        let terms_of = |source: &SearchSource| {
            let by_term = |term: usize| self.filter.may_have_term(source, self.query, term);
            let known: Option<u64> = (0..terms)
                .map(|term| by_term(term).map(|may| if may { 1 << term } else { 0 }))
                .try_fold(0, |found, bit: Option<u64>| Some(found | bit?));
            match known {
                Some(known) => (known, None),
                // A single word is searched for when the file is read.
                None if terms == 1 || !(self.go_on)() => (all, None),
                None => match self.terms_in_file(source, terms) {
                    Ok((terms, summaries)) => (terms, Some(summaries)),
                    Err(_) => (all, None),
                },
            }
        };
        self.sources.par_iter().with_max_len(8).map(terms_of).unzip()
    }

    /// Reads a file for the terms that it has, and its summaries.
    fn terms_in_file(
        &self,
        source: &SearchSource,
        terms: usize,
    ) -> io::Result<(u64, Vec<LeafSummary>)> {
        let (mut found, mut summaries) = (0, Vec::new());
        read_line_chunks(&source.file.path, |piece| {
            collect_summaries(piece.bytes, &mut summaries);
            for term in (0..terms).filter(|term| found & 1 << term == 0).collect::<Vec<_>>() {
                if self.query.candidate_lines_of(term, piece.bytes).next().is_some() {
                    found |= 1 << term;
                }
            }
        })?;
        Ok((found, summaries))
    }

    fn rank_sources(&self, wanted: &[usize], plan: &RankPlan) -> RankedScan {
        let Self { sources, query, tool, filter, on_read, go_on, .. } = *self;
        let (strong, next, cut) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let look = |index: usize| {
            let source = &sources[index];
            let extent = filter.extent_of_any(source, query);
            let scope = ScanScope { extent: &extent, titles: true, go_on };
            let found = SourceRanker { index, source, query, tool, plan, scope }.rank_source();
            on_read(source.file.bytes);
            if let Ok((_, ranks)) = &found {
                let all = ranks.iter().filter(|it| plan.has_all(it.strength.terms)).count();
                strong.fetch_add(all, Relaxed);
            }
            (index, found.map_err(|error| PathError::new(&source.file.path, error)))
        };
        let work = |_| {
            let mut found = Vec::new();
            while go_on() {
                let Some(index) = wanted.get(next.fetch_add(1, Relaxed)) else { break };
                if strong.load(Relaxed) > ENOUGH_MATCHES {
                    cut.store(1, Relaxed);
                    break;
                }
                found.push(look(*index));
            }
            found
        };
        // One file after the other, so that the newest are searched first.
        let threads = rayon::current_num_threads();
        let mut found: Vec<_> =
            (0..threads).into_par_iter().with_max_len(1).map(work).flatten_iter().collect();
        found.sort_by_key(|(index, _)| *index);
        let is_cut = cut.load(Relaxed) != 0;
        let mut scan = RankedScan { is_cut, ..RankedScan::default() };
        for (_, found) in found {
            match found {
                Ok((mut file, ranks)) => {
                    scan.notes.add_found(&mut file);
                    let first = scan.ranks.len() as u32;
                    scan.ranks.extend(ranks);
                    scan.locations.extend(
                        file.locations
                            .iter()
                            .map(|place| MatchLocation { rank: first + place.rank, ..*place }),
                    );
                }
                // The client's clean-up may delete a file after it was listed.
                Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
                Err(problem) => scan.problems.push(problem),
            }
        }
        scan
    }
}

/// Which sessions are read, and by which word their lines are chosen.
struct RankPlan {
    /// The terms that a session must have.
    required: u64,
    /// If a session may lack some: how much the terms that it has must weigh.
    enough: Option<f32>,
    /// A session seems to have all terms.
    has_complete: bool,
    weights: RankWeights,
    /// The rarest of the required terms.
    key: usize,
    terms: usize,
}

impl RankPlan {
    fn new(query: &Query, group_terms: &[u64], with_near: bool) -> Self {
        let words: Vec<&str> = query.term_texts().take(MAX_TERMS).collect();
        let sessions = |term: usize| group_terms.iter().filter(|it| **it & 1 << term != 0).count();
        // In what form a word occurs is known when the files are read.
        let frequency = |term| {
            let (sessions, of) = (sessions(term), group_terms.len());
            TermFrequency { sessions, word_starts: sessions, whole_words: sessions, of }
        };
        let weights = RankWeights::new((0..words.len()).map(frequency));
        let all = u64::MAX >> (MAX_TERMS - words.len().max(1));
        let meaning = (0..words.len()).filter(|term| !is_function_word(words[*term]));
        let meaning = meaning.fold(0, |terms, term| terms | 1 << term);
        let required = if meaning == 0 { all } else { meaning };
        let has_complete = group_terms.iter().any(|terms| terms & required == required);
        let weight = |terms: &u64| weights.sum_weights(terms & required);
        let best = group_terms.iter().map(weight).reduce(f32::max);
        let enough = best.filter(|_| with_near || !has_complete).map(|best| NEAR_SHARE * best);
        let in_required = (0..words.len()).filter(|term| required & 1 << term != 0);
        let key = in_required.min_by_key(|term| (sessions(*term), Reverse(words[*term].len())));
        Self { required, enough, has_complete, weights, key: key.unwrap_or(0), terms: words.len() }
    }

    fn wants_terms(&self, terms: u64) -> bool {
        let weight = || self.weights.sum_weights(terms & self.required);
        terms & self.required == self.required || self.enough.is_some_and(|it| weight() >= it)
    }

    fn has_all(&self, terms: u64) -> bool {
        self.has_complete && terms & self.required == self.required
    }
}

/// Searches one source.
struct SourceRanker<'a> {
    index: usize,
    source: &'a SearchSource,
    query: &'a Query,
    tool: Option<&'a super::ToolFilter>,
    plan: &'a RankPlan,
    scope: ScanScope<'a>,
}

impl SourceRanker<'_> {
    fn rank_source(&self) -> io::Result<(FileMatches, Vec<RankedMatch>)> {
        let Self { index, source, query, tool, .. } = *self;
        let none =
            |locations| FileMatches { source: index, locations, session: None, summaries: None };
        match source.content {
            _ if matches!(self.scope.extent, SearchExtent::Nothing) => {
                Ok((none(Vec::new()), Vec::new()))
            }
            SourceFormat::Records => self.rank_records(),
            SourceFormat::Spilled => {
                let found = spilled_results::rank_spilled(index, source, query, tool)?;
                let Some((place, strength)) = found else {
                    return Ok((none(Vec::new()), Vec::new()));
                };
                Ok((none(vec![place]), vec![RankedMatch { strength, message_ids: Vec::new() }]))
            }
        }
    }

    fn rank_records(&self) -> io::Result<(FileMatches, Vec<RankedMatch>)> {
        let Self { index, source, query, tool, .. } = *self;
        let seen = self.scope.chunks();
        let mut summaries = self.scope.summaries_to_collect();
        let mut matches = MatchCollector::new(index, source, tool);
        let mut ranks: Vec<RankedMatch> = Vec::new();
        let mut left = vec![LINES_PER_TERM; self.plan.terms];
        read_chunks(&source.file.path, seen, |piece: LineChunk<'_>| {
            if let Some(summaries) = &mut summaries {
                collect_summaries(piece.bytes, summaries);
            }
            let (mut counted, mut line) = (0, piece.line);
            for range in self.lines_to_parse(piece.bytes, &mut left) {
                if !(self.scope.go_on)() {
                    return;
                }
                line += memchr_iter(b'\n', &piece.bytes[counted..range.start]).count() as u32;
                counted = range.start;
                let bytes = &piece.bytes[range.clone()];
                let at = piece.at + range.start as u64;
                query.find_in_line(bytes, FindingDetail::Strength, |finding| {
                    if let Some(location) = matches.add_finding(&finding, bytes, at, line) {
                        location.rank = ranks.len() as u32;
                        let (strength, message_ids) = (finding.strength, finding.message_ids);
                        ranks.push(RankedMatch { strength, message_ids });
                    }
                });
            }
        })?;
        Ok((matches.finish(query, summaries)?, ranks))
    }

    /// Returns the lines with the rarest term, and some lines with each of the others.
    fn lines_to_parse(&self, bytes: &[u8], left: &mut [u32]) -> Vec<Range<usize>> {
        let key = self.plan.key;
        let mut lines: Vec<Range<usize>> = self.query.candidate_lines_of(key, bytes).collect();
        for (term, left) in left.iter_mut().enumerate().filter(|(term, _)| *term != key) {
            let before = lines.len();
            lines.extend(self.query.candidate_lines_of(term, bytes).take(*left as usize));
            *left -= (lines.len() - before) as u32;
        }
        lines.sort_unstable_by_key(|range| range.start);
        lines.dedup_by_key(|range| range.start);
        lines
    }
}

/// Returns the session that each source belongs to, as a number.
fn session_groups(sources: &[SearchSource]) -> Vec<u32> {
    let mut groups: BTreeMap<(Option<usize>, &str), u32> = BTreeMap::new();
    let mut group_of = |source| {
        let next = groups.len() as u32;
        *groups.entry(source).or_insert(next)
    };
    sources.iter().map(|source| group_of((source.project, session_of(source)))).collect()
}

fn session_of(source: &SearchSource) -> &str {
    match &source.file.role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
        FileRole::Session | FileRole::FlatAgent => &source.file.id,
    }
}
