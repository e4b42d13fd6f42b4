//! What a session that is followed live is doing: its running tools, its context, its cost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use jiff::Zoned;
use ramus_app::Workspace;
use ramus_app::survey::time_from_system;
use ramus_core::history::ConversationPath;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::turn::{ReplyPart, TurnKind};
use ramus_render::highlight::Highlight;
use ramus_render::text::live::call_line;
use ramus_render::text::{RunningCall, TextConfig};

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
    /// The calls that have no result yet, the first one first.
    pub(crate) calls: Vec<LiveCall>,
    /// The tokens that the last reply started from.
    pub(crate) context: Option<u64>,
    pub(crate) cost: Option<f64>,
}

/// A call that is running.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiveCall {
    /// The record of its message.
    pub(crate) node: NodeId,
    pub(crate) text: String,
    pub(crate) running: RunningCall,
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
            let whole_seconds = |millis: u64| millis / 1000 * 1000;
            let timed = |(call, time): &(LiveCall, Option<Time>)| {
                let mut call = call.clone();
                call.running.millis = time.map(since).map(whole_seconds);
                call
            };
            status.calls = running.iter().map(timed).collect();
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

/// Returns the calls of the last reply that have no result, with the time of their message.
fn running_calls(request: &LiveRequest) -> Vec<(LiveCall, Option<Time>)> {
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
        running: &[],
        time: &|_| String::new(),
    };
    let mut calls = Vec::new();
    let mut open: Option<OpenBodies> = None;
    let range = end.saturating_sub(MAX_MESSAGES)..end;
    each_turn_of(&mut open, chapter, path, range, |turn| match turn.kind {
        TurnKind::Reply(reply) => {
            let Some(node) = turn.nodes.first().copied() else { return };
            for part in reply.parts {
                let ReplyPart::Call(call) = part else { continue };
                if call.result.is_none() {
                    let text = call_line(&call, &config).to_text();
                    let running = RunningCall { id: call.id, millis: None };
                    calls.push((LiveCall { node, text, running }, turn.time));
                }
            }
        }
        // What was running then was interrupted.
        TurnKind::Prompt(_) => calls.clear(),
        _ => {}
    });
    calls
}
