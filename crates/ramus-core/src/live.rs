//! Follows a growing file record by record and reports what is new.
//!
//! [`History`](crate::history::History) analyses a session as a whole, which takes too long to repeat for
//! every line of a large file. Here only new lines are read. What has to be known about earlier records
//! (links, open calls) is kept for a window, so neither time nor memory grows with the file.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::body::{Block, Body, SystemKind};
use crate::price::PriceList;
use crate::record::{Kind, Record, Voice};
use crate::session::{NodeId, NoteKind, Session};
use crate::time::Time;
use crate::turn::{Answer, Call, Part, TurnKind, answer, aside};

mod spending;

mod strand;

#[cfg(test)]
mod tests;

pub use spending::Spending;
use strand::{Step, Strand};
pub use strand::{Switch, SwitchKind};

/// Something that a new record shows.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// Offset of the record in the file.
    pub offset: u64,
    /// The uuid of the record.
    pub uuid: Option<String>,
    pub time: Option<Time>,
    /// Written by a sub-agent inside the session's file (R6).
    pub sidechain: bool,
    /// On the conversation that [`Live::follow`] chose; always true if none was chosen.
    pub followed: bool,
    pub told: Told,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A turn, as in a transcript. A reply has only the parts of this record, and its calls have no results
    /// yet.
    Turn(TurnKind),
    /// A tool call has ended.
    Result {
        call: Box<Call>,
        /// `None`: its start or end time is unknown.
        millis: Option<u64>,
    },
    /// The conversation switched to another branch.
    Switch(Switch),
    /// The turn is complete; the totals are since watching began.
    Ended { millis: Option<u64>, spent: Spending },
    /// A tool asks the user a question.
    Waits(String),
    /// Tokens were used; the totals are since watching began.
    Spent(Spending),
    /// The session has a new title.
    Title(String),
}

/// The number of open calls that are remembered; calls that never end are eventually dropped.
const OPEN: usize = 256;

/// One file as it grows.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The file of a sub-agent: all its records are one sidechain.
    agent: bool,
    strand: Strand,
    calls: VecDeque<(Box<Call>, Option<Time>)>,
    spending: spending::Ledger,
    title: Option<(u8, String)>,
    cwd: Option<Box<str>>,
    session_id: Option<Box<str>>,
    first_prompt: Option<String>,
    /// When the current turn began; `None`: no turn is in progress.
    busy: Option<Option<Time>>,
    /// The last record was text of the model, and it is unknown whether more follows.
    may_have_ended: bool,
}

impl Live {
    /// Starts to follow the file of a session, or of a sub-agent.
    pub fn new(agent: bool) -> Self {
        Self { agent, ..Self::default() }
    }

    /// Uses prices other than those of the public list.
    pub fn priced(mut self, prices: Arc<PriceList>) -> Self {
        self.spending = spending::Ledger::new(prices);
        self
    }

    /// Adds complete lines that begin at an offset of the file.
    pub fn take(&mut self, at: u64, lines: &[u8]) -> Vec<News> {
        let mut session = Session::default();
        session.push(lines);
        let mut news = Vec::new();
        for (index, record) in session.records().iter().enumerate() {
            let start = news.len();
            self.record(&session, NodeId(index as u32), record, lines, &mut news);
            for told in &mut news[start..] {
                told.offset += at;
            }
        }
        self.notes(&session, at, &mut news);
        self.facts(&session);
        for defect in session.defects() {
            let kind = TurnKind::Damaged { line: 0, text: defect.kind.to_string() };
            news.push(News::bare(at + defect.at, Told::Turn(kind)));
        }
        news
    }

    /// Adds lines that existed before watching began: they set the state and report nothing.
    pub fn prime(&mut self, lines: &[u8]) {
        let mut session = Session::default();
        session.push(lines);
        let nodes: Vec<NodeId> = session.nodes().map(|(id, _)| id).collect();
        let copies = self.strand.take_quietly(&session, &nodes);
        for (id, is_copy) in nodes.into_iter().zip(copies) {
            let record = session.record(id);
            let is_aside = record.sidechain && !self.agent;
            let span = record.span.at as usize..record.span.end() as usize;
            if let Ok(body) = Body::parse(&lines[span])
                && (is_aside || !is_copy)
            {
                self.body(&session, id, record, body);
            }
        }
        self.notes(&session, 0, &mut Vec::new());
        self.facts(&session);
        self.spending.forget();
        self.may_have_ended = false;
    }

    /// Restarts with a file that was rewritten: what it already contained is not reported again.
    pub fn rewritten(&mut self) {
        self.strand.rewritten();
    }

    /// Takes the title and the directory from the beginning of the same file.
    pub fn learn(&mut self, beginning: &Self) {
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
    pub fn follow(&mut self, uuid: &str) -> bool {
        self.strand.follow(uuid)
    }

    /// Follows the conversation that was written to last.
    pub fn follow_tip(&mut self) {
        self.strand.follow_tip();
    }

    /// Whether the followed conversation was left for another one.
    pub fn has_left(&self) -> bool {
        self.strand.has_left()
    }

    /// Returns the title of the session, as far as it was read (R15).
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
    pub fn spent(&self) -> &Spending {
        self.spending.total()
    }

    /// Returns the calls that are still running, the oldest first, and when they began.
    pub fn running(&self) -> impl Iterator<Item = (&Call, Option<Time>)> {
        self.calls.iter().map(|(call, since)| (&**call, *since))
    }

    /// Treats silence after a reply as the end of the turn: older clients do not record it.
    pub fn silent(&mut self) -> Option<Told> {
        if !std::mem::take(&mut self.may_have_ended) || !self.calls.is_empty() {
            return None;
        }
        self.end(None)
    }

    fn record(
        &mut self,
        session: &Session,
        id: NodeId,
        record: &Record,
        lines: &[u8],
        news: &mut Vec<News>,
    ) {
        if !record.is_node() {
            return;
        }
        let mut tell = News {
            offset: record.span.at,
            uuid: record.name.map(|name| session.spell(name)),
            time: record.time,
            sidechain: record.sidechain && !self.agent,
            followed: true,
            told: Told::Title(String::new()),
        };
        if tell.sidechain {
            self.strand.remember(session, id);
        } else {
            match self.strand.take(session, id) {
                Step::Copy => return,
                Step::Goes { followed, switch } => {
                    tell.followed = followed;
                    news.extend(switch.map(|switch| News {
                        followed: followed || switch.leaves,
                        told: Told::Switch(switch),
                        ..tell.clone()
                    }));
                }
            }
        }
        let span = record.span.at as usize..record.span.end() as usize;
        let told = match Body::parse(&lines[span]) {
            Ok(body) => self.body(session, id, record, body),
            Err(error) => {
                vec![Told::Turn(TurnKind::Damaged { line: 0, text: error.to_string() })]
            }
        };
        news.extend(told.into_iter().map(|told| News { told, ..tell.clone() }));
    }

    fn body(&mut self, session: &Session, id: NodeId, record: &Record, body: Body) -> Vec<Told> {
        self.may_have_ended = false;
        match record.voice {
            _ if record.kind == Kind::Progress => Vec::new(),
            Voice::Answer => self.answer(record, body),
            Voice::ToolResult => self.results(session, id, record, body),
            Voice::Decoration if is_end(&body) => self.end(record.time).into_iter().collect(),
            voice => {
                if matches!(voice, Voice::Prompt | Voice::Queued) {
                    // The previous turn is over, whether or not that was recorded.
                    self.busy = self.busy.filter(|_| voice == Voice::Queued).or(Some(record.time));
                    if self.first_prompt.is_none() {
                        self.first_prompt = session.words(id).map(str::to_owned);
                    }
                }
                let kind = aside::kind(session, id, body);
                if matches!(voice, Voice::Interrupt) {
                    self.calls.clear();
                    self.busy = None;
                }
                kind.map(Told::Turn).into_iter().collect()
            }
        }
    }

    fn answer(&mut self, record: &Record, body: Body) -> Vec<Told> {
        self.busy.get_or_insert(record.time);
        let mut told = Vec::new();
        let mut ended = false;
        if let Body::Assistant(body) = &body {
            let says = body.content.iter().any(|block| matches!(block, Block::Text(_)));
            let stop = body.stop_reason.as_deref();
            ended = says && stop.is_some_and(|stop| !matches!(stop, "tool_use" | "pause_turn"));
            self.may_have_ended = says && stop.is_none();
            told.extend(self.spending.take(body).then(|| Told::Spent(self.spent().clone())));
        }
        let mut answer = Answer::default();
        answer::add(&mut answer, &mut answer::CallIndex::default(), body);
        for part in &answer.parts {
            if let Part::Call(call) = part {
                self.calls.push_back((call.clone(), record.time));
                if self.calls.len() > OPEN {
                    self.calls.pop_front();
                }
            }
        }
        let asked: Vec<String> = answer.parts.iter().filter_map(question).collect();
        told.insert(0, Told::Turn(TurnKind::Answer(answer)));
        told.extend(asked.into_iter().map(Told::Waits));
        if ended {
            told.extend(self.end(record.time));
        }
        told
    }

    fn results(&mut self, session: &Session, id: NodeId, record: &Record, body: Body) -> Vec<Told> {
        self.busy.get_or_insert(record.time);
        let at = answer::At { node: id, time: record.time, agent: answer::agent(session, id) };
        let results = answer::results(&at, body).into_iter().map(|result| {
            let open = self.calls.iter().position(|(call, _)| call.id == result.id);
            let Some((mut call, since)) = open.and_then(|open| self.calls.remove(open)) else {
                return Told::Result { call: Box::new(result), millis: None };
            };
            (call.result, call.agent) = (result.result, result.agent);
            Told::Result { call, millis: between(since, record.time) }
        });
        results.collect()
    }

    fn end(&mut self, now: Option<Time>) -> Option<Told> {
        let began = self.busy.take()?;
        self.may_have_ended = false;
        Some(Told::Ended { millis: between(began, now), spent: self.spent().clone() })
    }

    fn facts(&mut self, session: &Session) {
        let facts = session.facts();
        self.cwd = self.cwd.take().or_else(|| facts.cwd.clone());
        self.session_id = self.session_id.take().or_else(|| facts.session_ids.first().cloned());
    }

    fn notes(&mut self, session: &Session, at: u64, news: &mut Vec<News>) {
        for note in session.notes() {
            let (rank, text) = match &note.kind {
                NoteKind::CustomTitle(text) => (4, text),
                NoteKind::AiTitle(text) => (3, text),
                NoteKind::Summary { text, .. } => (2, text),
                NoteKind::LastPrompt { text: Some(text), .. } => (1, text),
                NoteKind::LastPrompt { text: None, .. } => continue,
            };
            let newer =
                self.title.as_ref().is_none_or(|(held, title)| rank >= *held && **title != **text);
            if newer {
                self.title = Some((rank, text.to_string()));
                if rank > 1 {
                    let offset = at + session.record(note.record).span.at;
                    news.push(News::bare(offset, Told::Title(text.to_string())));
                }
            }
        }
    }
}

impl News {
    fn bare(offset: u64, told: Told) -> Self {
        Self { offset, uuid: None, time: None, sidechain: false, followed: true, told }
    }
}

/// Whether a record marks the end of a turn.
fn is_end(body: &Body) -> bool {
    matches!(body, Body::System(system) if matches!(system.kind, SystemKind::TurnDuration(_)))
}

/// Returns the question that a call asks the user.
fn question(part: &Part) -> Option<String> {
    use crate::turn::Action;
    let Part::Call(call) = part else { return None };
    match call.action() {
        Action::Ask(questions) => questions.into_iter().next().map(|first| first.question),
        Action::Plan(_) => Some("the plan is ready".to_owned()),
        _ => None,
    }
}

fn between(from: Option<Time>, to: Option<Time>) -> Option<u64> {
    u64::try_from(to?.millis() - from?.millis()).ok()
}
