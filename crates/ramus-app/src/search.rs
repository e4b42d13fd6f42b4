//! Search: turns a request into hits, delivered in order as soon as the order is final.

use std::ops::ControlFlow;
use std::sync::Arc;

use ramus_core::history::History;
use ramus_core::query::{MatchLevel, Query};
use ramus_core::session::NodeId;
use ramus_core::title::ProjectSummaries;
use ramus_store::claude_dir::{HistoryFile, Project};
pub use ramus_store::prompt_history::NotedPrompt;
use ramus_store::scan::{
    Hit, MatchLocation, ScanFilter, ScanJob, ScanNotes, SearchSource, SourceFormat, read_summaries,
};

mod batch;
mod context;
mod like;
mod rank;
mod request;
mod sources;
mod steps;

pub use batch::SearchBatch;
pub use like::LikeError;
pub(crate) use like::LikeModels;
pub use ramus_store::scan::ToolFilter;
pub use request::{AgentFilter, PER_SESSION, SearchError, SearchOrder, SearchRequest};

use steps::SearchSteps;

use crate::address::Scope;
use crate::workspace::{ProgressSink, Workspace};

/// How a search ended.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// How many hits were delivered.
    pub shown: usize,
    /// How many were found.
    pub found: usize,
    /// All files were searched; otherwise there are more hits than were found.
    pub is_complete: bool,
    /// How many bytes were read because they are not in the cache.
    pub unknown_bytes: u64,
    pub notes: SearchNotes,
}

/// What else a reader should know about the hits of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchNotes {
    /// Nothing was found with the case that was typed, so the search ignored it.
    pub ignored_case: bool,
    /// No message has all words: they are in different messages.
    pub is_spread: bool,
    /// Words that occur only in another form or spelling.
    pub other_forms: Vec<String>,
    /// Words that no hit has; the hits have only the others.
    pub missing: Vec<String>,
    /// How many more sessions have only the others.
    pub partial_left_out: usize,
    /// There are so many matches that only the newest files were searched.
    pub is_cut: bool,
    /// Words that occur nowhere, each with the similar word that was searched for instead.
    pub corrected: Vec<(String, String)>,
    /// Words that occur nowhere, each with similar words that occur.
    pub suggestions: Vec<(String, Vec<String>)>,
    /// A word with a quote before it that is never closed.
    pub unclosed_quote: Option<String>,
    /// No other accents were searched for, because that would read everything in an archive on a server.
    pub skipped_accents: bool,
}

impl SearchNotes {
    /// Returns the notes as sentences for a reader.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.ignored_case {
            sentences.push("No match with this case; showing matches that ignore it".to_owned());
        }
        let is_other = |word: &&String| Some(*word) != self.unclosed_quote.as_ref();
        let words: Vec<String> =
            self.other_forms.iter().filter(is_other).map(|word| format!("{word:?}")).collect();
        if !words.is_empty() {
            sentences.push(format!("No match for {}; showing other forms", words.join(", ")));
        }
        if !self.missing.is_empty() {
            let missing: Vec<String> =
                self.missing.iter().map(|word| format!("{word:?}")).collect();
            let missing = missing.join(", ");
            sentences.push(match self.partial_left_out {
                0 => format!("No session has all words. These lack {missing}"),
                more => format!("No session has all words. These and {more} more lack {missing}"),
            });
        } else if self.is_spread {
            sentences
                .push("No message has all words. These sessions have them in several".to_owned());
        }
        for (word, similar) in &self.corrected {
            sentences.push(format!("No match for {word:?}; searched for {similar:?}"));
        }
        sentences.extend(self.suggestion_sentence());
        if let Some(word) = &self.unclosed_quote {
            let understood = match self.other_forms.contains(word) {
                true => "it was ignored",
                false => "it was searched for as a character",
            };
            sentences.push(format!("The quote in `{word}` is never closed; {understood}"));
        }
        if self.skipped_accents {
            let sentence =
                "Other accents and spellings were not searched for: an archive is on a server";
            sentences.push(sentence.to_owned());
        }
        if self.is_cut {
            sentences.push("Too many matches: showing the best of the newest".to_owned());
        }
        sentences
    }
}

impl SearchNotes {
    /// Returns the words that may have been meant as a question.
    pub fn suggestion_sentence(&self) -> Option<String> {
        let words: Vec<String> = self
            .suggestions
            .iter()
            .flat_map(|(_, similar)| similar.iter().map(|word| format!("`{word}`")))
            .collect();
        (!words.is_empty()).then(|| format!("Did you mean {}?", words.join(" or ")))
    }
}

/// How many messages match.
#[derive(Clone, Debug, Default)]
pub struct SearchCounts {
    pub messages: usize,
    /// The files with matches in the order of their first ones, each with the number of its messages.
    pub files: Vec<(String, usize)>,
    /// How many bytes were read because they are not in the cache.
    pub unknown_bytes: u64,
    /// Nothing was found with the case that was typed, so the search ignored it.
    pub ignored_case: bool,
}

impl SearchCounts {
    /// Returns how many messages match, copies in other files counted, too.
    pub fn match_count(&self) -> usize {
        self.files.iter().map(|(_, messages)| messages).sum()
    }
}

impl Workspace {
    /// Searches, and hands out hits in batches. `each` ends the search with `Break`; it ends early, too,
    /// when `progress` is cancelled.
    ///
    /// If nothing is found, less is asked for: another case, other forms of the words in several messages of a session,
    /// similar words, some of the words. [`SearchOutcome::notes`] tells.
    pub fn search_history<B>(
        &self,
        request: &SearchRequest,
        progress: &dyn ProgressSink,
        mut each: impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, SearchOutcome> {
        let request = &request.with_all_of_single_session();
        let files = SearchFiles::list_files(self, request);
        let search = SearchSteps { workspace: self, files, progress };
        if request.is_exact {
            return search
                .run_step(request, MatchLevel::Partial, &mut each)
                .map_continue(|(outcome, _)| outcome);
        }
        search.run_all(request, &mut each)
    }

    /// Returns the prompts of deleted sessions that match.
    fn matching_prompts(&self, request: &SearchRequest) -> Vec<NotedPrompt> {
        if !request.wants_deleted_prompts() {
            return Vec::new();
        }
        let mut prompts = self.lost_prompts(&request.scope).prompts;
        prompts.retain(|prompt| prompt.matches_query(&request.query));
        prompts
    }

    /// Counts the messages that match, without reading more of them. As in a search, less is asked for if there are
    /// none.
    pub fn count_matches(
        &self,
        request: &SearchRequest,
        progress: &dyn ProgressSink,
    ) -> SearchCounts {
        let files = SearchFiles::list_files(self, request);
        let mut request =
            SearchRequest { order: SearchOrder::Newest, per_session: None, ..request.clone() };
        let counts = self.count_in_files(&files, &request, progress);
        if counts.messages > 0 || request.is_exact {
            return counts;
        }
        if let Some(query) = request.query.ignoring_case() {
            let request = SearchRequest { query, ..request.clone() };
            let counts = self.count_in_files(&files, &request, progress);
            return SearchCounts { ignored_case: counts.messages > 0, ..counts };
        }
        if request.query.term_texts().len() > 1 && !progress.is_cancelled() {
            request.order = SearchOrder::Best;
        }
        match request.query.loosened(&[]) {
            Some(query) => {
                self.count_in_files(&files, &SearchRequest { query, ..request.clone() }, progress)
            }
            None if request.order == SearchOrder::Best => {
                self.count_in_files(&files, &request, progress)
            }
            None => counts,
        }
    }

    fn count_in_files(
        &self,
        files: &SearchFiles,
        request: &SearchRequest,
        progress: &dyn ProgressSink,
    ) -> SearchCounts {
        let (on_read, go_on) = (|bytes| progress.advance_bytes(bytes), || !progress.is_cancelled());
        progress.begin_reading(files.total_bytes());
        let job = files.scan_job(request, &on_read, &go_on);
        let mut batch = SearchBatch::new(self, request, files, progress);
        let problems = match request.order {
            SearchOrder::Newest => {
                let found = job.find_all();
                batch.set_hits(Hit::merge_copies(found.locations, &files.sources), &found.notes);
                found.problems
            }
            SearchOrder::Best => {
                let scan = job.find_ranked(false);
                let ranked = request.rank_hits(&scan, &files.sources);
                if !ranked.is_partial() {
                    batch.set_ranked_hits(ranked, &scan.notes);
                }
                scan.problems
            }
        };
        progress.end_reading();
        problems.iter().for_each(|problem| progress.report_problem(problem));
        if let Some(status) = request.status {
            batch.keep_status(status);
        }
        let mut counts = batch.count_messages();
        counts.unknown_bytes = files.filter.unfiltered_bytes(&files.sources);
        let prompts = self.matching_prompts(request).len();
        if prompts > 0 {
            counts.messages += prompts;
            counts.files.push((batch::PROMPT_HISTORY.to_owned(), prompts));
        }
        counts
    }
}

/// Returns the nodes of an open session that match, in file order.
pub fn matches_in_session(file: &HistoryFile, history: &History, query: &Query) -> Vec<NodeId> {
    let source = SearchSource::new(file.clone(), SourceFormat::Records, None);
    let job = ScanJob {
        sources: &[source],
        query,
        tool: None,
        filter: &ScanFilter::default(),
        on_read: &|_| {},
        go_on: &|| true,
        in_background: false,
    };
    let records = history.session.records();
    let node = |place: &MatchLocation| {
        let index = records.binary_search_by_key(&place.span.offset, |record| record.span.offset);
        index.ok().map(|index| history.record_tree.first_copy(NodeId(index as u32)))
    };
    let found = job.find_all();
    let mut nodes: Vec<NodeId> = found.locations.iter().filter_map(node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The files of a search, and what the cache knows of them. Sources name projects by their place in one
/// listing, so everything here comes from the same one.
struct SearchFiles {
    projects: Arc<Vec<Project>>,
    sources: Vec<SearchSource>,
    filter: ScanFilter,
}

impl SearchFiles {
    fn list_files(workspace: &Workspace, request: &SearchRequest) -> Self {
        let project = match &request.scope {
            Scope::All => None,
            Scope::Project(project) => Some(project),
            Scope::Session(found) => found.project.as_ref(),
            Scope::Sessions(found) => found.iter().find_map(|found| found.project.as_ref()),
        };
        let projects =
            project.map_or_else(|| workspace.list_projects(), |found| found.listing.clone());
        let sources = sources::search_sources(workspace, &projects, request);
        let filter = ScanFilter::open(workspace.session_cache(), &projects);
        Self { projects, sources, filter }
    }

    /// Returns the summaries in all files of a source's project, searched or not: they are titles of its sessions.
    fn project_summaries(
        &self,
        workspace: &Workspace,
        source: &SearchSource,
        notes: &ScanNotes,
    ) -> Arc<ProjectSummaries> {
        let Some(index) = source.project else {
            return read_summaries(std::slice::from_ref(&source.file)).into();
        };
        let project = &self.projects[index];
        let (sources, filter) = (&self.sources, &self.filter);
        let read = || notes.project_summaries(sources, filter, index, &project.files);
        workspace.surveyed_summaries(project).unwrap_or_else(|| read().into())
    }

    fn total_bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.file.bytes).sum()
    }

    fn scan_job<'a>(
        &'a self,
        request: &'a SearchRequest,
        on_read: &'a (dyn Fn(u64) + Sync),
        go_on: &'a (dyn Fn() -> bool + Sync),
    ) -> ScanJob<'a> {
        ScanJob {
            sources: &self.sources,
            query: &request.query,
            tool: request.tool.as_ref(),
            filter: &self.filter,
            on_read,
            go_on,
            in_background: request.in_background,
        }
    }
}

/// Counts hits, and returns those within the offset and the limit.
struct BatchDelivery<'a> {
    request: &'a SearchRequest,
    progress: &'a dyn ProgressSink,
    shown: usize,
    found: usize,
}

impl<'a> BatchDelivery<'a> {
    fn new(request: &'a SearchRequest, progress: &'a dyn ProgressSink) -> Self {
        Self { request, progress, shown: 0, found: 0 }
    }

    /// `Break(None)`: no more hits are needed.
    fn hand_out<B>(
        &mut self,
        batch: &mut SearchBatch<'_>,
        each: &mut impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<Option<B>> {
        if self.progress.is_cancelled() {
            return ControlFlow::Break(None);
        }
        if let Some(status) = self.request.status {
            batch.keep_status(status);
        }
        batch.prefer_active();
        // Messages beyond those that are shown of each session are counted.
        let hidden = self.request.per_session.map_or(0, |count| batch.keep_best(count));
        let limit = self.request.limit.unwrap_or(usize::MAX);
        let room = limit - self.shown;
        let skip = self.request.offset.saturating_sub(self.found);
        let is_more = batch.len().saturating_sub(skip) > room;
        self.found += batch.len() + hidden;
        batch.found = self.found;
        batch.keep_range(skip, room);
        self.shown += batch.len();
        if !batch.is_empty() {
            self.progress.end_reading();
            each(batch).map_break(Some)?;
        }
        match is_more && !self.request.counts_all {
            true => ControlFlow::Break(None),
            false => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests;
