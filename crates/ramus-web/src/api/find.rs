//! Search: sends hits as they are found, one object per line.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Query as Asked, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Zoned;
use ramus_app::search::{PER_SESSION, SearchBatch, SearchOrder, SearchRequest};
use ramus_app::{AddressError, ProgressSink, ResolvedFile, Scope};
use ramus_core::query::{FilterKey, MatchOptions, TypedFilter, TypedQuery};
use ramus_render::json::{self, Answer};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::strip_bidi;
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

/// How many hits are sent at most.
const MAX_HITS: usize = 500;
/// How long hits are gathered before they are sent.
const GATHER_TIME: Duration = Duration::from_millis(40);
/// Bytes without a hit after which the progress is sent.
const PROGRESS_INTERVAL: u64 = 64 * 1024 * 1024;

#[derive(Debug, Deserialize)]
pub(crate) struct FindQuery {
    q: String,
    #[serde(default)]
    regex: bool,
    project: Option<String>,
    session: Option<String>,
    role: Option<String>,
    tool: Option<String>,
    branch: Option<String>,
    since: Option<String>,
    until: Option<String>,
    #[serde(default)]
    sort: FindOrder,
    #[serde(default)]
    limit: usize,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FindOrder {
    #[default]
    Best,
    Newest,
}

pub(crate) async fn get_find(
    Extract(state): Extract<Arc<ServerState>>,
    Asked(wanted): Asked<FindQuery>,
) -> Result<Response, ApiError> {
    let mut request = search_request(&wanted)?;
    let resolver = state.clone();
    let typed = request.scope_text.take();
    let scope = move || search_scope(&resolver, &wanted, typed.as_deref());
    request.scope = state.queues.run(TaskKind::Searches, scope).await??;
    let resolver = state.clone();
    let load = move || {
        let loaded = resolver.workspace.load_like_model(&mut request);
        loaded.map(|()| request).map_err(|error| ApiError::bad_request(error.to_string()))
    };
    let request = state.queues.run(TaskKind::Searches, load).await??;
    // Unbounded, so that a slow reader blocks no thread. The number of hits is limited.
    let (sender, receiver) = unbounded_channel();
    let (searching, failed) = (state.clone(), sender.clone());
    tokio::spawn(async move {
        let search = move || send_hits(&searching, &request, sender);
        // The reader must not take an incomplete answer for a complete one.
        if !matches!(state.queues.run(TaskKind::Searches, search).await, Ok(Ok(()))) {
            let _ = failed.send(Err(io::Error::other("the server is too busy")));
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        // Compression would delay hits until there are more.
        (header::CONTENT_ENCODING, "identity"),
    ];
    let body = Body::from_stream(UnboundedReceiverStream::new(receiver));
    Ok((headers, body).into_response())
}

fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

fn search_request(wanted: &FindQuery) -> Result<SearchRequest, ApiError> {
    let filters = [
        (FilterKey::Since, &wanted.since),
        (FilterKey::Until, &wanted.until),
        (FilterKey::Role, &wanted.role),
        (FilterKey::Branch, &wanted.branch),
        (FilterKey::Tool, &wanted.tool),
    ];
    let filters = filters.into_iter().filter_map(|(key, value)| {
        Some(TypedFilter { key, value: non_empty(value.as_ref())?.to_owned(), span: 0..0 })
    });
    let mut request = if wanted.regex {
        SearchRequest::from_regex(&wanted.q, &filters.collect::<Vec<_>>(), &Zoned::now())
    } else {
        let mut typed = TypedQuery::parse(&wanted.q);
        typed.filters.extend(filters);
        SearchRequest::from_typed(&typed, MatchOptions::default(), &Zoned::now())
    }
    .map_err(|error| ApiError::bad_request(error.to_string()))?;
    if wanted.sort != FindOrder::Newest {
        (request.order, request.per_session) = (SearchOrder::Best, Some(PER_SESSION));
    }
    let limit = if wanted.limit == 0 { MAX_HITS } else { wanted.limit.min(MAX_HITS) };
    (request.limit, request.counts_all, request.is_fuzzy) = (Some(limit), true, true);
    // Lists that others wait for are made on the other threads.
    request.in_background = true;
    Ok(request)
}

fn search_scope(
    state: &ServerState,
    wanted: &FindQuery,
    typed: Option<&str>,
) -> Result<Scope, ApiError> {
    if let Some(text) = typed {
        let refused = |error: AddressError| ApiError::bad_request(error.to_string());
        let scope = state.workspace.resolve_scope(Some(text)).map_err(refused)?;
        // A path may lead anywhere; only what is in the Claude directories is searched.
        let is_outside = |found: &ResolvedFile| found.project.is_none();
        return match scope.sessions().is_some_and(|found| found.iter().any(is_outside)) {
            true => Err(ApiError::not_found("session")),
            false => Ok(scope),
        };
    }
    if let Some(id) = non_empty(wanted.session.as_ref()) {
        return Ok(Scope::Session(Box::new(state.workspace.session_by_id(id)?)));
    }
    match non_empty(wanted.project.as_ref()) {
        Some(name) => state
            .workspace
            .resolve_project(name)
            .map(Scope::Project)
            .map_err(|_| ApiError::not_found("project")),
        None => Ok(Scope::All),
    }
}

fn send_hits(
    state: &ServerState,
    request: &SearchRequest,
    sender: UnboundedSender<io::Result<Bytes>>,
) -> io::Result<()> {
    let page = FindStream::new(sender);
    let mut shown = 0;
    let flow = state.workspace.search_history(request, &page, |batch| {
        match page.send_batch(batch, &mut shown) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    match flow {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(outcome) => {
            page.set_counts(outcome.found, shown);
            page.send_end(&outcome.notes.sentences())
        }
    }
}

/// Sends hits and progress to one reader.
struct FindStream {
    sender: UnboundedSender<io::Result<Bytes>>,
    /// The number of bytes in total, read, and reported.
    total_bytes: AtomicU64,
    done: AtomicU64,
    last_progress: AtomicU64,
    /// How many hits were found, and how many were sent.
    counts: [AtomicUsize; 2],
}

impl ProgressSink for FindStream {
    fn begin_reading(&self, bytes: u64) {
        self.total_bytes.store(bytes, Ordering::Relaxed);
    }

    fn advance_bytes(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let reported = self.last_progress.load(Ordering::Relaxed);
        let is_mine = || {
            let order = Ordering::Relaxed;
            self.last_progress.compare_exchange(reported, done, order, order).is_ok()
        };
        if done.saturating_sub(reported) > PROGRESS_INTERVAL && is_mine() {
            // A disconnected reader is noticed where hits are sent.
            let _ = self.send_progress();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.sender.is_closed()
    }
}

impl FindStream {
    fn new(sender: UnboundedSender<io::Result<Bytes>>) -> Self {
        let (total_bytes, done, last_progress) =
            (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { sender, total_bytes, done, last_progress, counts: Default::default() }
    }

    fn send_batch(&self, batch: &mut SearchBatch<'_>, shown: &mut usize) -> io::Result<()> {
        let mut out = Vec::new();
        let mut begun = Instant::now();
        for index in 0..batch.len() {
            let Some(hit) = batch.read_hit(index) else { continue };
            let address = hit.address.clone();
            add_line(&Answer::new("ramus.find/1", json::hit(hit, address)), &mut out)?;
            *shown += 1;
            // The first one at once, the others when there are some.
            if *shown == 1 || begun.elapsed() > GATHER_TIME {
                self.send_lines(std::mem::take(&mut out));
                begun = Instant::now();
            }
        }
        self.send_lines(out);
        self.set_counts(batch.found_so_far(), *shown);
        self.send_progress()
    }

    fn set_counts(&self, found: usize, shown: usize) {
        self.counts[0].store(found, Ordering::Relaxed);
        self.counts[1].store(shown, Ordering::Relaxed);
    }

    fn send_progress(&self) -> io::Result<()> {
        self.send_end(&[])
    }

    /// Sends how far the search has come, and what else a reader should know.
    fn send_end(&self, notes: &[String]) -> io::Result<()> {
        let [found, shown] = [0, 1].map(|at: usize| self.counts[at].load(Ordering::Relaxed));
        let (done, of) =
            (self.done.load(Ordering::Relaxed), self.total_bytes.load(Ordering::Relaxed));
        let progress = json!({"schema": "ramus.find.progress/1", "bytes": done, "of": of,
            "found": found, "shown": shown, "notes": notes});
        let mut out = Vec::new();
        add_line(&progress, &mut out)?;
        self.send_lines(out);
        Ok(())
    }

    fn send_lines(&self, lines: Vec<u8>) {
        if !lines.is_empty() {
            // The reader disconnected; `is_cancelled` stops the search.
            let _ = self.sender.send(Ok(lines.into()));
        }
    }
}

fn add_line(line: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
    let bytes = serde_json::to_vec(line)?;
    out.extend(strip_bidi(&bytes).unwrap_or(bytes));
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_search_is_cancelled() {
        let (sender, receiver) = unbounded_channel();
        let page = FindStream::new(sender);
        assert!(!page.is_cancelled());
        drop(receiver);
        assert!(page.is_cancelled());
    }

    #[test]
    fn progress_is_sent_after_many_bytes_without_hits() {
        let (sender, mut receiver) = unbounded_channel();
        let page = FindStream::new(sender);
        page.begin_reading(3 * PROGRESS_INTERVAL);
        page.advance_bytes(PROGRESS_INTERVAL / 2);
        assert!(receiver.try_recv().is_err());
        page.advance_bytes(PROGRESS_INTERVAL);
        let reported = receiver.try_recv().unwrap().unwrap();
        let reported: serde_json::Value = serde_json::from_slice(&reported).unwrap();
        assert_eq!(
            (&reported["bytes"], &reported["of"]),
            (&json!(PROGRESS_INTERVAL * 3 / 2), &json!(3 * PROGRESS_INTERVAL))
        );
    }
}
