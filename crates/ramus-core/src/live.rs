//! Follows a growing file record by record and reports new events.
//!
//! [`History`](crate::history::History) analyses a session as a whole, which takes too long to repeat for
//! every line of a large file. Here only new lines are read. What has to be known about earlier records
//! (links, open calls) is kept for a window, so neither time nor memory grows with the file.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::body::{ContentBlock, RecordBody, SystemKind};
use crate::price::PriceList;
use crate::record::{Record, RecordKind, RecordRole};
use crate::session::{NodeId, Session, SessionNoteKind};
use crate::time::Time;
use crate::turn::{Reply, ReplyPart, ToolCall, TurnKind, other_turn, reply};

mod spending;

mod branch_tracker;

#[cfg(test)]
mod tests;

pub use branch_tracker::{BranchSwitch, SwitchKind};
use branch_tracker::{BranchTracker, TrackedRecord};
pub use spending::Spending;

/// Something that a new record shows.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveEvent {
    /// Offset of the record in the file.
    pub offset: u64,
    /// The uuid of the record.
    pub uuid: Option<String>,
    pub time: Option<Time>,
    /// Written by a sub-agent inside the session's file (R6).
    pub sidechain: bool,
    /// On the conversation that [`LiveSession::follow_conversation`] chose; always true if none was chosen.
    pub followed: bool,
    pub kind: LiveEventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEventKind {
    /// A turn, as in a transcript. A reply has only the parts of this record, and its calls have no results
    /// yet.
    Turn(TurnKind),
    /// A tool call has ended.
    Result {
        call: Box<ToolCall>,
        /// `None`: its start or end time is unknown.
        millis: Option<u64>,
    },
    /// The conversation switched to another branch.
    Switch(BranchSwitch),
    /// The turn is complete; the totals are since watching began.
    Ended { millis: Option<u64>, spent: Spending },
    /// A tool asks the user a question.
    WaitsForUser(String),
    /// Tokens were used; the totals are since watching began.
    Spent(Spending),
    /// The session has a new title.
    Title(String),
}

/// The number of open calls that are remembered; calls that never end are eventually dropped.
const MAX_OPEN_CALLS: usize = 256;

/// One file as it grows.
#[derive(Clone, Debug, Default)]
pub struct LiveSession {
    /// The file of a sub-agent: all its records are one sidechain.
    agent: bool,
    branch: BranchTracker,
    calls: VecDeque<(Box<ToolCall>, Option<Time>)>,
    spending: spending::SpendingTracker,
    title: Option<(u8, String)>,
    cwd: Option<Box<str>>,
    session_id: Option<Box<str>>,
    first_prompt: Option<String>,
    /// When the current turn began; `None`: no turn is in progress.
    busy: Option<Option<Time>>,
    /// The last record was text of the model, and it is unknown whether more follows.
    may_have_ended: bool,
}

impl LiveSession {
    /// Starts to follow the file of a session, or of a sub-agent.
    pub fn new(agent: bool) -> Self {
        Self { agent, ..Self::default() }
    }

    /// Uses prices other than those of the public list.
    pub fn with_prices(mut self, prices: Arc<PriceList>) -> Self {
        self.spending = spending::SpendingTracker::new(prices);
        self
    }

    /// Adds complete lines that begin at an offset of the file.
    pub fn push_lines(&mut self, at: u64, lines: &[u8]) -> Vec<LiveEvent> {
        let mut session = Session::default();
        session.push(lines);
        let mut news = Vec::new();
        for (index, record) in session.records().iter().enumerate() {
            let start = news.len();
            self.push_record(&session, NodeId(index as u32), record, lines, &mut news);
            for event in &mut news[start..] {
                event.offset += at;
            }
        }
        self.take_notes(&session, at, &mut news);
        self.take_facts(&session);
        for defect in session.defects() {
            let kind = TurnKind::Damaged { line: 0, text: defect.kind.to_string() };
            news.push(LiveEvent::without_record(at + defect.offset, LiveEventKind::Turn(kind)));
        }
        news
    }

    /// Adds lines that existed before watching began: they set the state and report nothing.
    pub fn push_earlier_lines(&mut self, lines: &[u8]) {
        let mut session = Session::default();
        session.push(lines);
        let nodes: Vec<NodeId> = session.nodes().map(|(id, _)| id).collect();
        let copies = self.branch.push_silently(&session, &nodes);
        for (id, is_copy) in nodes.into_iter().zip(copies) {
            let record = session.record(id);
            let is_aside = record.sidechain && !self.agent;
            let span = record.span.offset as usize..record.span.end_offset() as usize;
            if let Ok(body) = RecordBody::parse(&lines[span])
                && (is_aside || !is_copy)
            {
                self.events_of_body(&session, id, record, body);
            }
        }
        self.take_notes(&session, 0, &mut Vec::new());
        self.take_facts(&session);
        self.spending.reset();
        self.may_have_ended = false;
    }

    /// Restarts with a file that was rewritten: what it already contained is not reported again.
    pub fn restart_rewritten(&mut self) {
        self.branch.restart_rewritten();
    }

    /// Takes the title and the directory from the beginning of the same file.
    pub fn adopt_beginning(&mut self, beginning: &Self) {
        let title = self.title.take();
        let older = beginning
            .title
            .clone()
            .filter(|(rank, _)| title.as_ref().is_none_or(|(held, _)| rank > held));
        self.title = older.or(title);
        self.first_prompt.clone_from(&beginning.first_prompt);
        self.cwd = beginning.cwd.clone().or(self.cwd.take());
        self.session_id = beginning.session_id.clone().or(self.session_id.take());
    }

    /// From now on follows the conversation that the record with this uuid is on.
    ///
    /// `false`: there is no such record in the window.
    pub fn follow_conversation(&mut self, uuid: &str) -> bool {
        self.branch.follow_branch(uuid)
    }

    /// Follows the conversation that was written to last.
    pub fn follow_latest(&mut self) {
        self.branch.follow_latest();
    }

    /// Whether the followed conversation was left for another one.
    pub fn has_left(&self) -> bool {
        self.branch.has_left()
    }

    /// Returns the title of the session, as far as it has been read (R15).
    pub fn title(&self) -> Option<&str> {
        self.title.as_ref().map(|(_, title)| title.as_str()).or(self.first_prompt.as_deref())
    }

    /// Returns the first working directory.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// Returns the session id in the records.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Whether this is a warm-up sub-agent (R18).
    pub fn is_warmup(&self) -> bool {
        self.agent && self.first_prompt.as_deref() == Some("Warmup")
    }

    /// Returns the usage since watching began.
    pub fn total_spending(&self) -> &Spending {
        self.spending.total()
    }

    /// Returns the calls that are still running, the oldest first, and when they began.
    pub fn running_calls(&self) -> impl Iterator<Item = (&ToolCall, Option<Time>)> {
        self.calls.iter().map(|(call, since)| (&**call, *since))
    }

    /// Treats silence after a reply as the end of the turn: older clients do not record it.
    pub fn end_by_silence(&mut self) -> Option<LiveEventKind> {
        if !std::mem::take(&mut self.may_have_ended) || !self.calls.is_empty() {
            return None;
        }
        self.end_turn(None)
    }

    fn push_record(
        &mut self,
        session: &Session,
        id: NodeId,
        record: &Record,
        lines: &[u8],
        news: &mut Vec<LiveEvent>,
    ) {
        if !record.is_node() {
            return;
        }
        let mut tell = LiveEvent {
            offset: record.span.offset,
            uuid: record.uuid.map(|name| session.uuid_text(name)),
            time: record.time,
            sidechain: record.sidechain && !self.agent,
            followed: true,
            kind: LiveEventKind::Title(String::new()),
        };
        if tell.sidechain {
            self.branch.remember_record(session, id);
        } else {
            match self.branch.push_record(session, id) {
                TrackedRecord::Copy => return,
                TrackedRecord::Continues { followed, switch } => {
                    tell.followed = followed;
                    news.extend(switch.map(|switch| LiveEvent {
                        followed: followed || switch.leaves,
                        kind: LiveEventKind::Switch(switch),
                        ..tell.clone()
                    }));
                }
            }
        }
        let span = record.span.offset as usize..record.span.end_offset() as usize;
        let kinds = match RecordBody::parse(&lines[span]) {
            Ok(body) => self.events_of_body(session, id, record, body),
            Err(error) => {
                vec![LiveEventKind::Turn(TurnKind::Damaged { line: 0, text: error.to_string() })]
            }
        };
        news.extend(kinds.into_iter().map(|kind| LiveEvent { kind, ..tell.clone() }));
    }

    fn events_of_body(
        &mut self,
        session: &Session,
        id: NodeId,
        record: &Record,
        body: RecordBody,
    ) -> Vec<LiveEventKind> {
        self.may_have_ended = false;
        match record.role {
            _ if record.kind == RecordKind::Progress => Vec::new(),
            RecordRole::Reply => self.events_of_reply(record, body),
            RecordRole::ToolResult => self.events_of_results(session, id, record, body),
            RecordRole::Decoration if is_end(&body) => {
                self.end_turn(record.time).into_iter().collect()
            }
            role => {
                if matches!(role, RecordRole::Prompt | RecordRole::QueuedPrompt) {
                    // The previous turn is over, whether or not that was recorded.
                    self.busy = self
                        .busy
                        .filter(|_| role == RecordRole::QueuedPrompt)
                        .or(Some(record.time));
                    if self.first_prompt.is_none() {
                        self.first_prompt = session.preview_text(id).map(str::to_owned);
                    }
                }
                let kind = other_turn::turn_kind(session, id, body);
                if matches!(role, RecordRole::Interrupt) {
                    self.calls.clear();
                    self.busy = None;
                }
                kind.map(LiveEventKind::Turn).into_iter().collect()
            }
        }
    }

    fn events_of_reply(&mut self, record: &Record, body: RecordBody) -> Vec<LiveEventKind> {
        self.busy.get_or_insert(record.time);
        let mut kinds = Vec::new();
        let mut ended = false;
        if let RecordBody::Assistant(body) = &body {
            let says = body.content.iter().any(|block| matches!(block, ContentBlock::Text(_)));
            let stop = body.stop_reason.as_deref();
            ended = says && stop.is_some_and(|stop| !matches!(stop, "tool_use" | "pause_turn"));
            self.may_have_ended = says && stop.is_none();
            kinds.extend(
                self.spending
                    .add_reply(body)
                    .then(|| LiveEventKind::Spent(self.total_spending().clone())),
            );
        }
        let mut answer = Reply::default();
        reply::add_record(&mut answer, &mut reply::CallIndex::default(), body);
        for part in &answer.parts {
            if let ReplyPart::Call(call) = part {
                self.calls.push_back((call.clone(), record.time));
                if self.calls.len() > MAX_OPEN_CALLS {
                    self.calls.pop_front();
                }
            }
        }
        let asked: Vec<String> = answer.parts.iter().filter_map(question_text).collect();
        kinds.insert(0, LiveEventKind::Turn(TurnKind::Reply(answer)));
        kinds.extend(asked.into_iter().map(LiveEventKind::WaitsForUser));
        if ended {
            kinds.extend(self.end_turn(record.time));
        }
        kinds
    }

    fn events_of_results(
        &mut self,
        session: &Session,
        id: NodeId,
        record: &Record,
        body: RecordBody,
    ) -> Vec<LiveEventKind> {
        self.busy.get_or_insert(record.time);
        let at = reply::ResultSource {
            node: id,
            time: record.time,
            agent: reply::agent_of_result(session, id),
        };
        let results = reply::results_of_body(&at, body).into_iter().map(|result| {
            let open = self.calls.iter().position(|(call, _)| call.id == result.id);
            let Some((mut call, since)) = open.and_then(|open| self.calls.remove(open)) else {
                return LiveEventKind::Result { call: Box::new(result), millis: None };
            };
            (call.result, call.agent) = (result.result, result.agent);
            LiveEventKind::Result { call, millis: millis_between(since, record.time) }
        });
        results.collect()
    }

    fn end_turn(&mut self, now: Option<Time>) -> Option<LiveEventKind> {
        let began = self.busy.take()?;
        self.may_have_ended = false;
        Some(LiveEventKind::Ended {
            millis: millis_between(began, now),
            spent: self.total_spending().clone(),
        })
    }

    fn take_facts(&mut self, session: &Session) {
        let facts = session.facts();
        self.cwd = self.cwd.take().or_else(|| facts.cwd.clone());
        self.session_id = self.session_id.take().or_else(|| facts.session_ids.first().cloned());
    }

    fn take_notes(&mut self, session: &Session, at: u64, news: &mut Vec<LiveEvent>) {
        for note in session.notes() {
            let (rank, text) = match &note.kind {
                SessionNoteKind::CustomTitle(text) => (4, text),
                SessionNoteKind::AiTitle(text) => (3, text),
                SessionNoteKind::Summary { text, .. } => (2, text),
                SessionNoteKind::LastPrompt { text: Some(text), .. } => (1, text),
                SessionNoteKind::LastPrompt { text: None, .. } => continue,
            };
            let newer =
                self.title.as_ref().is_none_or(|(held, title)| rank >= *held && **title != **text);
            if newer {
                self.title = Some((rank, text.to_string()));
                if rank > 1 {
                    let offset = at + session.record(note.record).span.offset;
                    news.push(LiveEvent::without_record(
                        offset,
                        LiveEventKind::Title(text.to_string()),
                    ));
                }
            }
        }
    }
}

impl LiveEvent {
    fn without_record(offset: u64, kind: LiveEventKind) -> Self {
        Self { offset, uuid: None, time: None, sidechain: false, followed: true, kind }
    }
}

/// Whether a record marks the end of a turn.
fn is_end(body: &RecordBody) -> bool {
    matches!(body, RecordBody::System(system) if matches!(system.kind, SystemKind::TurnDuration(_)))
}

/// Returns the question that a call asks the user.
fn question_text(part: &ReplyPart) -> Option<String> {
    use crate::turn::ToolAction;
    let ReplyPart::Call(call) = part else { return None };
    match call.action() {
        ToolAction::Ask(questions) => questions.into_iter().next().map(|first| first.question),
        ToolAction::Plan(_) => Some("the plan is ready".to_owned()),
        _ => None,
    }
}

fn millis_between(from: Option<Time>, to: Option<Time>) -> Option<u64> {
    u64::try_from(to?.as_millis() - from?.as_millis()).ok()
}
