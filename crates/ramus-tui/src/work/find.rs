//! Looking for words: in one session, and in all of them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ramus_app::search::{SearchBatch, SearchRequest, matches_in_session};
use ramus_app::{ProgressSink, Workspace};
use ramus_core::query::Query;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};

use crate::event::{Chapter, ScreenEvent};
use crate::panes::results::{FoundMessage, SearchUpdate};
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

/// How many messages are shown at most, the newest first.
const MAX_MESSAGES: usize = 1_000;
/// How often what was found so far is shown.
const SEND_INTERVAL: Duration = Duration::from_millis(40);
/// How much of a text is kept around what matches.
const SNIPPET_CHARS: usize = 200;

/// Looks into everything.
pub(crate) fn start_find_worker(
    events: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
) -> LatestWorker<String> {
    LatestWorker::start_worker(events, move |text: String, newer, events| {
        let mut request = match SearchRequest::for_text(&text, false) {
            Ok(request) => request,
            Err(error) => {
                let _ =
                    events.send(ScreenEvent::Status(Line::new(&error.to_string(), Label::Error)));
                return;
            }
        };
        (request.limit, request.counts_all) = (Some(MAX_MESSAGES), true);
        request.passage_chars = SNIPPET_CHARS;
        workspace.list_again();
        let mut results = ResultSender { text, events, messages: Vec::new(), sent: Instant::now() };
        let waiting = NewerRequest(newer);
        let flow = workspace.search_history(&request, &waiting, |batch| {
            for index in 0..batch.len() {
                if waiting.is_cancelled() {
                    return ControlFlow::Break(());
                }
                results.messages.extend(found_message(batch, index));
                if results.sent.elapsed() > SEND_INTERVAL {
                    results.send_results(batch.found_so_far(), false);
                }
            }
            results.send_results(batch.found_so_far(), false);
            ControlFlow::Continue(())
        });
        if let ControlFlow::Continue(outcome) = flow
            && !waiting.is_cancelled()
        {
            results.send_results(outcome.found, true);
        }
    })
}

/// Cancels a search when something else is searched for.
struct NewerRequest<'a>(&'a RequestSlot<String>);

impl ProgressSink for NewerRequest<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_waiting()
    }
}

/// Sends messages to the screens, some at a time.
struct ResultSender<'a> {
    text: String,
    events: &'a Sender<ScreenEvent>,
    messages: Vec<FoundMessage>,
    sent: Instant,
}

impl ResultSender<'_> {
    fn send_results(&mut self, all: usize, done: bool) {
        let messages = std::mem::take(&mut self.messages);
        let found = SearchUpdate { text: self.text.clone(), messages, all, done };
        // Nobody hears it when the screens are gone already.
        let _ = self.events.send(ScreenEvent::Found(Box::new(found)));
        self.sent = Instant::now();
    }
}

fn found_message(batch: &mut SearchBatch<'_>, index: usize) -> Option<FoundMessage> {
    let hit = batch.read_hit(index)?;
    let snippet = Snippet::new(&hit.passage.text, &hit.passage.range, SNIPPET_CHARS);
    let deleted = || Some(format!("deleted session {}", hit.short_session));
    Some(FoundMessage {
        file: batch.source_file(index).cloned(),
        spilled: batch.is_spilled(index),
        title: if hit.is_prompt_only { deleted() } else { hit.title },
        session: hit.session,
        node: hit.node,
        branch: hit.branch,
        is_agent: hit.is_sidechain,
        kind: if hit.is_prompt_only { "prompt only" } else { hit.kind.as_str() },
        time: hit.time,
        snippet,
        lost: batch.deleted_prompt(index).cloned(),
        copies: hit.copies.len().saturating_sub(1),
    })
}
