//! The files that are watched, each with what is known of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use ramus_core::live::{Live, News, SwitchKind, Told};
use ramus_core::name::Name;
use ramus_core::price::PriceList;
use ramus_core::record::Voice;
use ramus_core::resume::Rule;
use ramus_core::session::{NodeId, Session};
use ramus_core::time::Time;
use ramus_core::turn::TurnKind;
use ramus_store::agents::meta;
use ramus_store::follow::{Change, Lines, first_lines, line_at, lines_before};
use ramus_store::place::{FileRole, HistoryFile};
use ramus_store::{PathError, from_jsonl};

use super::wanted::{Branch, Wanted};

/// Something to show.
pub(super) enum Item {
    News {
        path: PathBuf,
        news: News,
    },
    /// A file appeared, moved, was rewritten or deleted.
    File {
        event: &'static str,
        path: PathBuf,
        file: HistoryFile,
        from: Option<PathBuf>,
    },
    /// All files are known.
    Ready {
        sessions: usize,
    },
    Polling(String),
    Problem(PathError),
}

/// One file.
pub(super) struct Lane {
    pub(super) file: HistoryFile,
    pub(super) live: Live,
    pub(super) colour: u8,
    pub(super) agent: Option<Agent>,
    /// From here on lines are news.
    at: u64,
    /// Up to here stood what the file came with.
    came_with: u64,
    /// What stands before `at` was looked at.
    primed: bool,
    /// It has a name and a colour.
    named: bool,
    /// An agent of another conversation than the one that is followed.
    elsewhere: bool,
    /// It came while others were watched.
    is_new: bool,
    heard: Instant,
}

/// What an agent is called.
pub(super) struct Agent {
    /// Its kind and the beginning of its id: `Explore a0c7`.
    pub(super) name: String,
    pub(super) task: Option<String>,
}

impl Agent {
    fn of(path: &Path, id: &str) -> Self {
        let meta = meta(path);
        let start: String = id.chars().take(if meta.kind.is_some() { 4 } else { 7 }).collect();
        let name = meta.kind.map_or(start.clone(), |kind| format!("{kind} {start}"));
        Self { name, task: meta.description }
    }
}

pub(super) struct Lanes {
    lanes: HashMap<PathBuf, Lane>,
    wanted: Wanted,
    since: Time,
    /// What was said since then is shown first.
    replays: bool,
    /// Warm-ups too.
    all: bool,
    prices: Arc<PriceList>,
    ready: bool,
    colours: HashMap<String, u8>,
}

/// How much of the past tells how things stand.
const PAST: u64 = 256 * 1024;
/// How much of a file's beginning tells what it is called.
const HEAD: u64 = 64 * 1024;
/// How long an answer may be silent before its turn counts as over.
const SILENCE: Duration = Duration::from_secs(4);
/// How many colours there are.
const COLOURS: u8 = 10;

impl Lanes {
    pub(super) fn new(
        wanted: Wanted,
        since: Time,
        replays: bool,
        all: bool,
        prices: Arc<PriceList>,
    ) -> Self {
        let (lanes, colours) = (HashMap::new(), HashMap::new());
        Self { lanes, wanted, since, replays, all, prices, ready: false, colours }
    }

    /// Returns a file's lane.
    pub(super) fn lane(&self, path: &Path) -> Option<&Lane> {
        self.lanes.get(path)
    }

    /// Returns the colour of a session or an agent.
    pub(super) fn colour_of(&self, id: &str) -> Option<u8> {
        self.colours.get(id).copied()
    }

    /// Returns the lanes that something was heard of, the last one first.
    pub(super) fn heard(&self) -> Vec<&Lane> {
        let mut heard: Vec<&Lane> = self.lanes.values().filter(|lane| lane.named).collect();
        heard.sort_by_key(|lane| std::cmp::Reverse(lane.heard));
        heard
    }

    /// Whether one session at most is meant.
    pub(super) fn is_one(&self) -> bool {
        self.wanted.is_one()
    }

    pub(super) fn take(&mut self, change: Change) -> Vec<Item> {
        match change {
            Change::Found { file, at } => self.found(file, at),
            Change::Grew { file, lines } => self.grew(file, &lines),
            Change::Rewritten { file } => {
                let Some(lane) = self.lanes.get_mut(&file.path) else { return Vec::new() };
                lane.live.rewritten();
                (lane.at, lane.came_with) = (0, file.bytes);
                vec![item("rewritten", file, None)]
            }
            Change::Moved { from, file } => self.moved(&from, file),
            Change::Gone { file } => match self.lanes.remove(&file.path) {
                Some(_) => vec![item("gone", file, None)],
                None => Vec::new(),
            },
            Change::Ready => {
                self.ready = true;
                let is_session = |lane: &&Lane| lane.file.role == FileRole::Session;
                let sessions = self.lanes.values().filter(is_session).count();
                let mut items = vec![Item::Ready { sessions }];
                if self.replays {
                    items.extend(self.replay());
                }
                items
            }
            Change::Polling { why } => vec![Item::Polling(why)],
            Change::Problem(problem) => vec![Item::Problem(problem)],
        }
    }

    /// Returns the turns that ended without anybody saying so.
    pub(super) fn silent(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        for (path, lane) in &mut self.lanes {
            if lane.named
                && lane.heard.elapsed() > SILENCE
                && let Some(told) = lane.live.silent()
            {
                let news = News {
                    offset: lane.file.bytes,
                    uuid: None,
                    time: None,
                    sidechain: false,
                    followed: true,
                    told,
                };
                items.push(Item::News { path: path.clone(), news });
            }
        }
        items
    }

    fn found(&mut self, file: HistoryFile, at: u64) -> Vec<Item> {
        if self.wanted.wants(&file, None) == Some(false) {
            return Vec::new();
        }
        let is_new = self.ready && file.role == FileRole::Session;
        let mut lane = self.open(file.clone(), at);
        if let Some(branch) = self.wanted.branch(&file) {
            // The end of that conversation may lie far back.
            lane.prime(branch.end + 1);
            lane.live.follow(&branch.leaf);
            lane.prime(at);
        }
        self.lanes.insert(file.path.clone(), lane);
        if is_new { vec![item("found", file, None)] } else { Vec::new() }
    }

    fn open(&self, file: HistoryFile, at: u64) -> Lane {
        Lane {
            live: Live::new(file.role.is_agent()).priced(Arc::clone(&self.prices)),
            colour: 0,
            agent: None,
            at,
            came_with: if self.ready { file.bytes } else { 0 },
            primed: false,
            named: false,
            elsewhere: false,
            is_new: self.ready,
            heard: Instant::now(),
            file,
        }
    }

    /// Gives a file that speaks for the first time its name and colour.
    fn name(&mut self, path: &Path) {
        let Some(lane) = self.lanes.get(path).filter(|lane| !lane.named) else { return };
        let (id, session) = (lane.file.id.clone(), lane.session().to_owned());
        let agent = lane.file.role.is_agent().then(|| Agent::of(path, &id));
        let elsewhere = agent.is_some() && self.is_elsewhere(lane, &session);
        self.colour(&session);
        let colour = self.colour(&id);
        if let Some(lane) = self.lanes.get_mut(path) {
            (lane.agent, lane.colour, lane.named) = (agent, colour, true);
            lane.elsewhere = elsewhere;
        }
    }

    /// Whether an agent belongs to another conversation than the one of its session that is followed.
    fn is_elsewhere(&self, agent: &Lane, session: &str) -> bool {
        let of_session =
            |lane: &&Lane| lane.file.role == FileRole::Session && lane.file.id == session;
        let Some(lane) = self.lanes.values().find(of_session) else { return false };
        match self.wanted.branch(&lane.file) {
            // What begins while something else is written than what is followed, was begun there.
            Some(_) if agent.is_new => lane.live.has_left(),
            Some(branch) => branch.others.contains(&agent.file.id),
            None => false,
        }
    }

    /// Chooses the colour of a name: the same each time, unless another one here has it.
    fn colour(&mut self, id: &str) -> u8 {
        let own = id.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        let own = (own % u32::from(COLOURS)) as u8;
        let used: Vec<u8> = self.colours.values().copied().collect();
        let free = (0..COLOURS).map(|next| (own + next) % COLOURS).find(|c| !used.contains(c));
        *self.colours.entry(id.to_owned()).or_insert(free.unwrap_or(own))
    }

    fn grew(&mut self, file: HistoryFile, lines: &Lines) -> Vec<Item> {
        let Some(lane) = self.lanes.get_mut(&file.path) else { return Vec::new() };
        if !lane.primed {
            lane.prime(lane.at);
        }
        lane.file = file;
        lane.heard = Instant::now();
        let mut news = lane.live.take(lines.at, &lines.bytes);
        for news in &mut news {
            look_back(&lane.file.path, news);
        }
        let path = lane.file.path.clone();
        match self.wanted.wants(&lane.file, lane.live.session_id()) {
            Some(false) => {
                self.lanes.remove(&path);
                return Vec::new();
            }
            None => return Vec::new(),
            Some(true) if lane.live.is_warmup() && !self.all => return Vec::new(),
            Some(true) => {}
        }
        self.name(&path);
        let Some(lane) = self.lanes.get(&path).filter(|lane| !lane.elsewhere) else {
            return Vec::new();
        };
        let old = |news: &News| {
            news.offset < lane.came_with && news.time.is_some_and(|time| time < self.since)
        };
        let shown = news.into_iter().filter(|news| news.followed && !old(news));
        let mut shown: Vec<Item> =
            shown.map(|news| Item::News { path: path.clone(), news }).collect();
        number(&path, lines, &mut shown);
        shown
    }

    fn moved(&mut self, from: &Path, file: HistoryFile) -> Vec<Item> {
        let Some(mut lane) = self.lanes.remove(from) else {
            return match self.wanted.wants(&file, None) {
                Some(false) => Vec::new(),
                _ => self.found(file.clone(), file.bytes),
            };
        };
        lane.file = file.clone();
        self.lanes.insert(file.path.clone(), lane);
        vec![item("moved", file, Some(from.to_owned()))]
    }

    /// Returns what was said since the time that was asked for, of all files together.
    fn replay(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let since = self.since;
        let paths: Vec<PathBuf> = self
            .lanes
            .iter()
            .filter(|(_, lane)| lane.at > 0 && changed(&lane.file) >= since.millis())
            .map(|(path, _)| path.clone())
            .collect();
        for path in paths {
            let Some(lane) = self.lanes.get_mut(&path) else { continue };
            let Ok(lines) = lines_since(&path, lane.at, since) else { continue };
            let branch = self.wanted.branch(&lane.file).cloned();
            // Of a conversation that is followed all is known, and would not be told.
            let fresh = Live::new(lane.file.role.is_agent()).priced(Arc::clone(&self.prices));
            let known = branch.is_some().then(|| std::mem::replace(&mut lane.live, fresh));
            lane.prime(lines.at);
            let file = lane.file.clone();
            let shown = self.grew(file, &lines).into_iter().filter(|item| match item {
                Item::News { news, .. } => {
                    let is_on = |branch: &Branch| {
                        news.uuid.as_ref().is_some_and(|uuid| branch.names.contains(uuid))
                    };
                    news.time.is_some_and(|time| time >= since) && branch.as_ref().is_none_or(is_on)
                }
                _ => true,
            });
            items.extend(shown);
            if let Some(lane) = self.lanes.get_mut(&path) {
                // It has been silent for long.
                lane.live.silent();
                if let Some(known) = known {
                    lane.live = known;
                }
            }
        }
        items.sort_by_key(|item| match item {
            Item::News { news, .. } => news.time,
            _ => None,
        });
        items
    }
}

impl Lane {
    /// Looks at what stands before an offset, to know how things stand there.
    fn prime(&mut self, at: u64) {
        self.primed = true;
        if at == 0 {
            return;
        }
        // What cannot be read now will be told of by those who follow it.
        let Ok(past) = lines_before(&self.file.path, at, PAST) else { return };
        self.live.prime(&past.bytes);
        if self.live.title().is_none() || past.at > 0 {
            let head = first_lines(&self.file.path, HEAD.min(past.at));
            let mut first = Live::new(self.file.role.is_agent());
            first.prime(&head.map(|head| head.bytes).unwrap_or_default());
            self.live.learn(&first);
        }
    }

    /// Returns the session that the file is, or belongs to.
    pub(super) fn session(&self) -> &str {
        match &self.file.role {
            FileRole::Session => &self.file.id,
            FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
            FileRole::FlatAgent => self.live.session_id().unwrap_or_default(),
        }
    }

    /// Returns the encoded name of its project.
    pub(super) fn project(&self) -> &str {
        self.file.relative.split('/').nth(1).unwrap_or_default()
    }
}

/// Tells which lines of a file damaged ones are; `shown` is what lines say, in their order.
fn number(path: &Path, lines: &Lines, shown: &mut [Item]) {
    // Where counting has come to: the line, and its place among the bytes.
    let mut counted: Option<(u32, usize)> = None;
    for item in shown {
        let Item::News { news: News { offset, told, .. }, .. } = item else { continue };
        let Told::Turn(TurnKind::Damaged { line, .. }) = told else { continue };
        let end = offset.saturating_sub(lines.at) as usize;
        let first = || Some((line_at(path, lines.at).ok()?, 0));
        let Some((before, start)) = counted.filter(|(_, at)| *at <= end).or_else(first) else {
            return;
        };
        let between = lines.bytes.get(start..end).unwrap_or_default();
        *line = before + between.iter().filter(|byte| **byte == b'\n').count() as u32;
        counted = Some((*line, end));
    }
}

/// Reads what a conversation went back to, where that is further back than is remembered.
fn look_back(path: &Path, news: &mut News) {
    let Told::Switch(switch) = &mut news.told else { return };
    if switch.kind != SwitchKind::Beyond {
        return;
    }
    let Some(after) = &switch.after else { return };
    let Ok(history) = from_jsonl(path, Rule::Client) else { return };
    let node = history.tree.find(Name::new(after.as_bytes()));
    let Some(path) = node.and_then(|node| history.path_to(node)) else { return };
    let is_prompt = |id: &&NodeId| history.session.record(**id).voice == Voice::Prompt;
    let prompt = path.nodes.iter().rev().find(is_prompt);
    switch.words = prompt.and_then(|id| history.session.words(*id)).map(str::to_owned);
}

/// Reads complete lines back to one that is older than a time, or to the beginning.
fn lines_since(path: &Path, end: u64, since: Time) -> Result<Lines, PathError> {
    let mut most = PAST;
    loop {
        let lines = lines_before(path, end, most)?;
        let mut session = Session::default();
        session.push(&lines.bytes);
        let first = session.records().iter().find_map(|record| record.time);
        if lines.at == 0 || first.is_some_and(|first| first < since) {
            return Ok(lines);
        }
        most *= 4;
    }
}

/// Returns when a file was changed, in milliseconds since 1970.
fn changed(file: &HistoryFile) -> i64 {
    let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as i64
}

fn item(event: &'static str, file: HistoryFile, from: Option<PathBuf>) -> Item {
    Item::File { event, path: file.path.clone(), file, from }
}
