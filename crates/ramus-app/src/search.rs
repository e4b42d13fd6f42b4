//! Search: a request into hits, handed out in order as soon as they are certain.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Zoned;
use ramus_core::branches::BranchStatus;
use ramus_core::history::History;
use ramus_core::pull_request::PullRequestName;
use ramus_core::query::{Query, QueryError, TextKind};
use ramus_core::session::NodeId;
use ramus_store::claude_dir::{HistoryFile, Project};
pub use ramus_store::prompt_history::NotedPrompt;
use ramus_store::scan::{
    Hit, HitOrder, MatchLocation, ScanFilter, ScanJob, SearchSource, SourceFormat,
};

mod batch;
mod context;
mod sources;

pub use batch::SearchBatch;
pub use ramus_store::scan::ToolFilter;

use crate::address::Scope;
use crate::time_text::{TimeEdge, TimeError, parse_time};
use crate::workspace::{ProgressSink, Workspace};

/// Matches the first letter of every text.
const ANYTHING: &str = r"\A(?s:.)";

/// What is searched for, where, and how much of it is wanted.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words, and the kinds, roles and times of the texts they are searched in.
    pub query: Query,
    pub scope: Scope,
    pub tool: Option<ToolFilter>,
    /// Only sessions in which this pull request was made.
    pub pull_request: Option<PullRequestName>,
    /// Only messages on branches of this status.
    pub status: Option<BranchStatus>,
    pub agents: AgentFilter,
    pub order: SearchOrder,
    /// How many hits are left out at the beginning: those an earlier answer had.
    pub offset: usize,
    pub limit: Option<usize>,
    /// Go on counting hits beyond the limit.
    pub counts_all: bool,
    /// How many messages before and after each hit are read, too.
    pub context: usize,
    /// How many characters of a text are shown at most.
    pub passage_chars: usize,
    /// Leave half of the threads to others.
    pub in_background: bool,
}

/// Which records of sub-agents are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentFilter {
    Any,
    Only,
    None,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// The newest first; hits are handed out while files are still read.
    Newest,
    /// The best match first; nothing is handed out before everything was read.
    Relevance,
}

/// How a search ended.
#[derive(Clone, Copy, Debug)]
pub struct SearchOutcome {
    /// How many hits were handed out.
    pub shown: usize,
    /// How many were found.
    pub found: usize,
    /// All files were searched; otherwise there are more hits than were found.
    pub is_complete: bool,
    /// How many bytes were read because the cache knows nothing of them.
    pub unknown_bytes: u64,
}

/// How many messages match.
#[derive(Clone, Debug, Default)]
pub struct SearchCounts {
    pub messages: usize,
    /// The files with matches in the order of their first ones, each with the number of its messages.
    pub files: Vec<(String, usize)>,
    /// How many bytes were read because the cache knows nothing of them.
    pub unknown_bytes: u64,
}

impl SearchCounts {
    /// Returns how many messages match, copies in other files counted, too.
    pub fn match_count(&self) -> usize {
        self.files.iter().map(|(_, messages)| messages).sum()
    }
}

impl SearchRequest {
    fn new(query: Query) -> Self {
        Self {
            query,
            scope: Scope::All,
            tool: None,
            pull_request: None,
            status: None,
            agents: AgentFilter::Any,
            order: SearchOrder::Newest,
            offset: 0,
            limit: None,
            counts_all: false,
            context: 0,
            passage_chars: 240,
            in_background: false,
        }
    }

    /// Searches for words, or for a regular expression.
    pub fn for_text(text: &str, is_regex: bool) -> Result<Self, QueryError> {
        let query = if is_regex { Query::from_regex(text) } else { Query::from_words(text) };
        query.map(Self::new)
    }

    /// Searches for tool calls, or for the records of a pull request, whatever their words.
    pub fn for_filters(
        tool: Option<ToolFilter>,
        pull_request: Option<PullRequestName>,
    ) -> Result<Self, QueryError> {
        let (pattern, kind) = match &pull_request {
            Some(wanted) if tool.is_none() => {
                (format!(r"(?:\A|\D){}(?:\D|\z)", wanted.number), TextKind::PullRequest)
            }
            _ => (ANYTHING.to_owned(), TextKind::ToolInput),
        };
        let mut query = Query::from_regex(&pattern)?;
        query.kinds.push(kind);
        Ok(Self { tool, pull_request, ..Self::new(query) })
    }

    /// Searches only records between two times, as they are typed.
    pub fn set_times(
        &mut self,
        since: Option<&str>,
        until: Option<&str>,
        now: &Zoned,
    ) -> Result<(), TimeError> {
        self.query.since = since.map(|text| parse_time(text, TimeEdge::Start, now)).transpose()?;
        self.query.until = until.map(|text| parse_time(text, TimeEdge::End, now)).transpose()?;
        Ok(())
    }

    /// Whether prompts of deleted sessions can match: only their words and times are known.
    fn wants_deleted_prompts(&self) -> bool {
        self.tool.is_none()
            && self.pull_request.is_none()
            && self.status.is_none()
            && self.agents != AgentFilter::Only
            && !matches!(self.scope, Scope::Session(_))
    }
}

impl Workspace {
    /// Searches, and hands out hits in batches. `each` ends the search with `Break`; it ends early, too,
    /// when `progress` is cancelled.
    pub fn search_history<B>(
        &self,
        request: &SearchRequest,
        progress: &dyn ProgressSink,
        mut each: impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, SearchOutcome> {
        let files = SearchFiles::list_files(self, request);
        let (on_read, go_on) = (|bytes| progress.advance_bytes(bytes), || !progress.is_cancelled());
        let job = files.scan_job(request, &on_read, &go_on);
        let mut batch = SearchBatch::new(self, request, &files, progress);
        let mut handing = BatchDelivery::new(request, progress);
        progress.begin_reading(files.total_bytes());
        let (problems, flow) = match request.order {
            SearchOrder::Newest => job.find_newest(|found| {
                batch.set_hits(found.hits, found.notes);
                handing.hand_out(&mut batch, &mut each)
            }),
            SearchOrder::Relevance => {
                let found = job.find_all(HitOrder::Relevance);
                let hits = Hit::merge_copies(found.locations, &files.sources, HitOrder::Relevance);
                batch.set_hits(hits, &found.notes);
                (found.problems, handing.hand_out(&mut batch, &mut each))
            }
        };
        progress.end_reading();
        problems.iter().for_each(|problem| progress.report_problem(problem));
        let is_complete = flow.is_continue() || request.order == SearchOrder::Relevance;
        let flow = match flow {
            ControlFlow::Continue(()) if request.wants_deleted_prompts() && go_on() => {
                let mut prompts = self.lost_prompts(&request.scope).prompts;
                prompts.retain(|prompt| prompt.matches_query(&request.query));
                batch.set_prompts(prompts);
                handing.hand_out(&mut batch, &mut each)
            }
            flow => flow,
        };
        match flow {
            ControlFlow::Break(Some(ended)) => ControlFlow::Break(ended),
            _ => ControlFlow::Continue(SearchOutcome {
                shown: handing.shown,
                found: handing.found,
                is_complete,
                unknown_bytes: files.filter.unfiltered_bytes(&files.sources),
            }),
        }
    }

    /// Counts the messages that match, without reading more of them.
    pub fn count_matches(
        &self,
        request: &SearchRequest,
        progress: &dyn ProgressSink,
    ) -> SearchCounts {
        let files = SearchFiles::list_files(self, request);
        let (on_read, go_on) = (|bytes| progress.advance_bytes(bytes), || !progress.is_cancelled());
        progress.begin_reading(files.total_bytes());
        let found = files.scan_job(request, &on_read, &go_on).find_all(HitOrder::Time);
        progress.end_reading();
        found.problems.iter().for_each(|problem| progress.report_problem(problem));
        let mut batch = SearchBatch::new(self, request, &files, progress);
        batch.set_hits(
            Hit::merge_copies(found.locations, &files.sources, HitOrder::Time),
            &found.notes,
        );
        if let Some(status) = request.status {
            batch.keep_status(status);
        }
        let unknown_bytes = files.filter.unfiltered_bytes(&files.sources);
        SearchCounts { unknown_bytes, ..batch.count_messages() }
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
    let found = job.find_all(HitOrder::Time);
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
        };
        let projects =
            project.map_or_else(|| workspace.list_projects(), |found| found.listing.clone());
        let sources = sources::search_sources(workspace, &projects, request);
        let filter = ScanFilter::open(workspace.session_cache(), &projects);
        Self { projects, sources, filter }
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

/// Counts hits, and hands out those within the offset and the limit.
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

    /// `Break(None)`: nobody wants more hits.
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
        let limit = self.request.limit.unwrap_or(usize::MAX);
        let room = limit - self.shown;
        let skip = self.request.offset.saturating_sub(self.found);
        let is_more = batch.len().saturating_sub(skip) > room;
        self.found += batch.len();
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
