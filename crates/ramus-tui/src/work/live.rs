//! What a session that is followed live is doing: its running tools, its context, its cost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use jiff::Zoned;
use ramus_app::Workspace;
use ramus_app::survey::time_from_system;
use ramus_core::history::ConversationPath;
use ramus_core::time::Time;
use ramus_core::turn::{ReplyPart, TurnKind};
use ramus_render::highlight::Highlight;
use ramus_render::text::TextConfig;
use ramus_render::text::live::call_line;

use crate::event::{Chapter, ScreenEvent};
use crate::work::LatestWorker;
use crate::work::render::{OpenBodies, each_turn_of};

/// The conversation that is followed.
#[derive(Clone, Debug)]
pub(crate) struct LiveRequest {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) path: Arc<ConversationPath>,
}

/// What it is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LiveStatus {
    /// The calls that have no result yet, the first one first, with how long they have been running.
    pub(crate) calls: Vec<(String, Option<u64>)>,
    /// The tokens that the last reply started from.
    pub(crate) context: Option<u64>,
    pub(crate) cost: Option<f64>,
}

/// How many of the last messages can have calls that are running.
const MAX_MESSAGES: usize = 12;
/// How often the time of running calls is written again.
const TICK: Duration = Duration::from_secs(1);
/// How long a session must be quiet before it is added up, and how long that may be put off.
const QUIET: Duration = Duration::from_millis(250);
const MAX_AGE: Duration = Duration::from_secs(3);
/// What is shown of a call.
const CALL_WIDTH: usize = 48;

/// Starts the thread that looks at what is followed; `None` ends it.
pub(crate) fn start_live_worker(
    events: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
) -> LatestWorker<Option<LiveRequest>> {
    let mut counted: Option<(PathBuf, Instant)> = None;
    let mut status = LiveStatus::default();
    LatestWorker::start_worker(events, move |request: Option<LiveRequest>, newer, events| {
        let Some(request) = request else {
            counted = None;
            return;
        };
        let file = request.chapter.file.path.clone();
        if counted.as_ref().is_none_or(|(of, _)| *of != file) {
            (status, counted) = (LiveStatus::default(), None);
        }
        let running = running_calls(&request);
        let send = |status: &mut LiveStatus| {
            let now = time_from_system(SystemTime::now());
            let since = |since: Time| (now.as_millis() - since.as_millis()).max(0) as u64;
            status.calls =
                running.iter().map(|(call, time)| (call.clone(), time.map(since))).collect();
            let _ = events.send(ScreenEvent::LiveStatus(file.clone(), status.clone()));
        };
        send(&mut status);
        let is_due = counted.as_ref().is_none_or(|(_, at)| at.elapsed() > MAX_AGE);
        if newer.comes_within(QUIET) && !is_due {
            return;
        }
        let found = workspace.session_status(&file, &Zoned::now());
        (status.context, status.cost) = (found.context, found.cost);
        counted = Some((file.clone(), Instant::now()));
        send(&mut status);
        while !running.is_empty() && !newer.comes_within(TICK) {
            send(&mut status);
        }
    })
}

/// Returns the calls of the last reply that have no result.
fn running_calls(request: &LiveRequest) -> Vec<(String, Option<Time>)> {
    let LiveRequest { chapter, path } = request;
    let end = path.messages.len();
    let facts = chapter.history.session.facts();
    let config = TextConfig {
        width: CALL_WIDTH,
        thinking: false,
        tools: false,
        full: false,
        branch_notes: false,
        usage: None,
        highlight: Highlight::Off,
        show: "",
        cwd: facts.cwd.as_deref().unwrap_or_default(),
        time: &|_| String::new(),
    };
    let mut calls = Vec::new();
    let mut open: Option<OpenBodies> = None;
    let range = end.saturating_sub(MAX_MESSAGES)..end;
    each_turn_of(&mut open, chapter, path, range, |turn| match turn.kind {
        TurnKind::Reply(reply) => {
            let running = reply.parts.into_iter().filter_map(|part| match part {
                ReplyPart::Call(call) if call.result.is_none() => Some(call),
                _ => None,
            });
            calls.extend(running.map(|call| (call_line(&call, &config).to_text(), turn.time)));
        }
        // What was running then was interrupted.
        TurnKind::Prompt(_) => calls.clear(),
        _ => {}
    });
    calls
}
