//! Looking for words: in one session, and in all of them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ramus_app::search::{
    PER_SESSION, SearchBatch, SearchNotes, SearchOrder, SearchRequest, matches_in_session,
};
use ramus_app::{ProgressSink, Scope, Workspace};
use ramus_core::query::Query;
use ramus_render::snippet::Snippet;

use crate::event::{Chapter, ScreenEvent};
use crate::panes::list::{FindRequest, FoundMessage, SearchUpdate};
use crate::work::{LatestWorker, RequestSlot};

/// Looks into one session.
pub(crate) fn start_search_worker(
    events: Sender<ScreenEvent>,
) -> LatestWorker<(Arc<Chapter>, String)> {
    LatestWorker::start_worker(events, |(chapter, text): (Arc<Chapter>, String), _, events| {
        let Ok(query) = Query::from_words(&text) else { return };
        let hits = matches_in_session(&chapter.file, &chapter.history, &query);
        let _ = events.send(ScreenEvent::Hits { file: chapter.file.path.clone(), hits });
    })
}

/// How many messages are shown at most, the best first.
const MAX_MESSAGES: usize = 200;
/// How often results are shown while the search continues.
const SEND_INTERVAL: Duration = Duration::from_millis(40);
/// How much of a text is kept around what matches.
const SNIPPET_CHARS: usize = 200;

/// Looks into everything.
pub(crate) fn start_find_worker(
    events: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
) -> LatestWorker<FindRequest> {
    LatestWorker::start_worker(events, move |request: FindRequest, newer, events| {
        let mut results = ResultSender {
            request,
            events,
            messages: Vec::new(),
            notes: SearchNotes::default(),
            sent: Instant::now(),
        };
        workspace.list_again();
        let wanted = match search_request(&workspace, &results.request) {
            Ok(wanted) => wanted,
            Err(problem) => return results.send_results(0, true, Some(problem)),
        };
        let waiting = NewerRequest(newer);
        let flow = workspace.search_history(&wanted, &waiting, |batch| {
            for index in 0..batch.len() {
                if waiting.is_cancelled() {
                    return ControlFlow::Break(());
                }
                results.messages.extend(found_message(batch, index));
                if results.sent.elapsed() > SEND_INTERVAL {
                    results.send_results(batch.found_so_far(), false, None);
                }
            }
            results.send_results(batch.found_so_far(), false, None);
            ControlFlow::Continue(())
        });
        if let ControlFlow::Continue(outcome) = flow
            && !waiting.is_cancelled()
        {
            results.notes = outcome.notes;
            results.send_results(outcome.found, true, None);
        }
    })
}

fn search_request(workspace: &Workspace, request: &FindRequest) -> Result<SearchRequest, String> {
    let mut wanted = SearchRequest::from_text(&request.text).map_err(|error| error.to_string())?;
    (wanted.limit, wanted.counts_all, wanted.is_fuzzy) = (Some(MAX_MESSAGES), true, true);
    (wanted.order, wanted.per_session) = (SearchOrder::Best, Some(PER_SESSION));
    wanted.passage_chars = SNIPPET_CHARS;
    wanted.scope = if request.everywhere { Scope::All } else { workspace.default_scope() };
    workspace.resolve_search_scope(&mut wanted).map_err(|error| error.to_string())?;
    workspace.load_like_model(&mut wanted).map_err(|error| error.to_string())?;
    Ok(wanted)
}

/// Cancels a search when something else is searched for.
struct NewerRequest<'a>(&'a RequestSlot<FindRequest>);

impl ProgressSink for NewerRequest<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_waiting()
    }
}

/// Sends messages to the screens, some at a time.
struct ResultSender<'a> {
    request: FindRequest,
    events: &'a Sender<ScreenEvent>,
    messages: Vec<FoundMessage>,
    notes: SearchNotes,
    sent: Instant,
}

impl ResultSender<'_> {
    fn send_results(&mut self, all: usize, done: bool, problem: Option<String>) {
        let notes = std::mem::take(&mut self.notes);
        let found = SearchUpdate {
            request: self.request.clone(),
            messages: std::mem::take(&mut self.messages),
            notes: notes.sentences(),
            corrected: notes.corrected,
            all,
            done,
            problem,
        };
        // The receiver is gone once the screens have ended.
        let _ = self.events.send(ScreenEvent::Found(Box::new(found)));
        self.sent = Instant::now();
    }
}

/// Reads a message that was found. Prompts of deleted sessions are listed by their words.
fn found_message(batch: &mut SearchBatch<'_>, index: usize) -> Option<FoundMessage> {
    let file = batch.source_file(index).cloned()?;
    let hit = batch.read_hit(index)?;
    let snippet = Snippet::new(&hit.passage.text, &hit.passage.range, SNIPPET_CHARS);
    Some(FoundMessage {
        file,
        spilled: batch.is_spilled(index),
        session: hit.session,
        node: hit.node,
        branch: hit.branch,
        is_agent: hit.is_sidechain,
        kind: hit.kind.as_str(),
        time: hit.time,
        snippet,
        copies: hit.copies.len().saturating_sub(1),
    })
}
