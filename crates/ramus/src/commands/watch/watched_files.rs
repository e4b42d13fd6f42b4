//! The watched files, each with its state.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use ramus_core::ids::{RecordUuid, ShortIds};
use ramus_core::live::{LiveEvent, LiveEventKind, LiveSession, SwitchKind};
use ramus_core::price::PriceList;
use ramus_core::record::RecordRole;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};
use ramus_core::time::Time;
use ramus_core::turn::TurnKind;
use ramus_store::agents::read_agent_meta;
use ramus_store::claude_dir::{FileRole, HistoryFile};
use ramus_store::follow::{FollowEvent, FollowedLines, first_lines, line_at, lines_before};
use ramus_store::{PathError, from_jsonl};

use super::selection::{FollowedBranch, WatchSelection};

/// Something to show.
pub(super) enum WatchItem {
    Live {
        path: PathBuf,
        event: LiveEvent,
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
pub(super) struct WatchedFile {
    pub(super) file: HistoryFile,
    pub(super) live: LiveSession,
    pub(super) colour: u8,
    pub(super) agent: Option<WatchedAgent>,
    /// From here on lines are news.
    at: u64,
    /// Content before this offset existed when watching began.
    came_with: u64,
    /// Content before `at` has been examined.
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
pub(super) struct WatchedAgent {
    /// Its kind and the beginning of its id: `Explore a0c7`.
    pub(super) name: String,
    pub(super) task: Option<String>,
}

impl WatchedAgent {
    fn from_path(path: &Path, id: &str) -> Self {
        let meta = read_agent_meta(path);
        let start: String = id.chars().take(if meta.kind.is_some() { 4 } else { 7 }).collect();
        let name = meta.kind.map_or(start.clone(), |kind| format!("{kind} {start}"));
        Self { name, task: meta.description }
    }
}

pub(super) struct WatchedFiles {
    files: HashMap<PathBuf, WatchedFile>,
    selection: WatchSelection,
    since: Time,
    /// Events since this time are shown first.
    replays: bool,
    /// Warm-ups too.
    all: bool,
    prices: Arc<PriceList>,
    ready: bool,
    colours: HashMap<String, u8>,
    /// Made when the first id is shown after a file came.
    short_ids: OnceCell<ShortIds>,
}

/// How many bytes of the past are needed to know the current state.
const PAST_BYTES: u64 = 256 * 1024;
/// How many bytes of the beginning are needed to find the title.
const HEAD_BYTES: u64 = 64 * 1024;
/// How long an answer may be silent before its turn counts as over.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(4);
/// How many colours there are.
const COLOUR_COUNT: u8 = 10;

impl WatchedFiles {
    pub(super) fn new(
        selection: WatchSelection,
        since: Time,
        replays: bool,
        all: bool,
        prices: Arc<PriceList>,
    ) -> Self {
        Self {
            files: HashMap::new(),
            selection,
            since,
            replays,
            all,
            prices,
            ready: false,
            colours: HashMap::new(),
            short_ids: OnceCell::new(),
        }
    }

    /// Returns a file's lane.
    pub(super) fn file_at(&self, path: &Path) -> Option<&WatchedFile> {
        self.files.get(path)
    }

    /// Returns the start of an id that means no other file here.
    pub(super) fn shorten_id<'a>(&self, id: &'a str) -> &'a str {
        let ids = || self.files.values().map(|watched| &*watched.file.id).collect();
        self.short_ids.get_or_init(ids).shorten_id(id)
    }

    /// Returns the colour of a session or an agent.
    pub(super) fn colour_of(&self, id: &str) -> Option<u8> {
        self.colours.get(id).copied()
    }

    /// Returns the files with recent events, the latest first.
    pub(super) fn active_files(&self) -> Vec<&WatchedFile> {
        let mut heard: Vec<&WatchedFile> =
            self.files.values().filter(|watched| watched.named).collect();
        heard.sort_by_key(|watched| std::cmp::Reverse(watched.heard));
        heard
    }

    /// Whether at most one session is watched.
    pub(super) fn is_one(&self) -> bool {
        self.selection.is_one()
    }

    pub(super) fn apply_change(&mut self, change: FollowEvent) -> Vec<WatchItem> {
        match change {
            FollowEvent::Found { file, at } => self.add_found(file, at),
            FollowEvent::Grew { file, lines } => self.add_lines(file, &lines),
            FollowEvent::Rewritten { file } => {
                let Some(watched) = self.files.get_mut(&file.path) else { return Vec::new() };
                watched.live.restart_rewritten();
                (watched.at, watched.came_with) = (0, file.bytes);
                vec![file_item("rewritten", file, None)]
            }
            FollowEvent::Moved { from, file } => self.move_file(&from, file),
            FollowEvent::Gone { file } => match self.files.remove(&file.path) {
                Some(_) => vec![file_item("gone", file, None)],
                None => Vec::new(),
            },
            FollowEvent::Ready => {
                self.ready = true;
                let is_session = |watched: &&WatchedFile| watched.file.role == FileRole::Session;
                let sessions = self.files.values().filter(is_session).count();
                let mut items = vec![WatchItem::Ready { sessions }];
                if self.replays {
                    items.extend(self.replay_earlier());
                }
                items
            }
            FollowEvent::Polling { why } => vec![WatchItem::Polling(why)],
            FollowEvent::Problem(problem) => vec![WatchItem::Problem(problem)],
        }
    }

    /// Returns the turns that ended without anybody saying so.
    pub(super) fn end_silent_turns(&mut self) -> Vec<WatchItem> {
        let mut items = Vec::new();
        for (path, watched) in &mut self.files {
            if watched.named
                && watched.heard.elapsed() > SILENCE_TIMEOUT
                && let Some(silence) = watched.live.end_by_silence()
            {
                let news = LiveEvent {
                    offset: watched.file.bytes,
                    uuid: None,
                    time: None,
                    sidechain: false,
                    followed: true,
                    kind: silence,
                };
                items.push(WatchItem::Live { path: path.clone(), event: news });
            }
        }
        items
    }

    fn add_found(&mut self, file: HistoryFile, at: u64) -> Vec<WatchItem> {
        if self.selection.wants_file(&file, None) == Some(false) {
            return Vec::new();
        }
        let is_new = self.ready && file.role == FileRole::Session;
        let mut watched = self.open_file(file.clone(), at);
        if let Some(branch) = self.selection.followed_branch(&file) {
            // The end of that conversation may be far back in the file.
            watched.read_before(branch.end + 1);
            watched.live.follow_conversation(&branch.leaf);
            watched.read_before(at);
        }
        self.files.insert(file.path.clone(), watched);
        self.short_ids.take();
        if is_new { vec![file_item("found", file, None)] } else { Vec::new() }
    }

    fn open_file(&self, file: HistoryFile, at: u64) -> WatchedFile {
        WatchedFile {
            live: LiveSession::new(file.role.is_agent()).with_prices(Arc::clone(&self.prices)),
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
    fn name_file(&mut self, path: &Path) {
        let Some(watched) = self.files.get(path).filter(|watched| !watched.named) else { return };
        let (id, session) = (watched.file.id.clone(), watched.session_id().to_owned());
        let agent = watched.file.role.is_agent().then(|| WatchedAgent::from_path(path, &id));
        let elsewhere = agent.is_some() && self.is_elsewhere(watched, &session);
        self.choose_colour(&session);
        let colour = self.choose_colour(&id);
        if let Some(watched) = self.files.get_mut(path) {
            (watched.agent, watched.colour, watched.named) = (agent, colour, true);
            watched.elsewhere = elsewhere;
        }
    }

    /// Whether an agent belongs to another conversation than the one of its session that is followed.
    fn is_elsewhere(&self, agent: &WatchedFile, session: &str) -> bool {
        let of_session = |watched: &&WatchedFile| {
            watched.file.role == FileRole::Session && watched.file.id == session
        };
        let Some(watched) = self.files.values().find(of_session) else { return false };
        match self.selection.followed_branch(&watched.file) {
            // An agent that starts while another session is written was started there.
            Some(_) if agent.is_new => watched.live.has_left(),
            Some(branch) => branch.others.contains(&agent.file.id),
            None => false,
        }
    }

    /// Chooses the colour of a name: the same each time, unless another one here has it.
    fn choose_colour(&mut self, id: &str) -> u8 {
        let own = id.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        let own = (own % u32::from(COLOUR_COUNT)) as u8;
        let used: Vec<u8> = self.colours.values().copied().collect();
        let free =
            (0..COLOUR_COUNT).map(|next| (own + next) % COLOUR_COUNT).find(|c| !used.contains(c));
        *self.colours.entry(id.to_owned()).or_insert(free.unwrap_or(own))
    }

    fn add_lines(&mut self, file: HistoryFile, lines: &FollowedLines) -> Vec<WatchItem> {
        let Some(watched) = self.files.get_mut(&file.path) else { return Vec::new() };
        if !watched.primed {
            watched.read_before(watched.at);
        }
        watched.file = file;
        watched.heard = Instant::now();
        let mut news = watched.live.push_lines(lines.at, &lines.bytes);
        for news in &mut news {
            look_back(&watched.file.path, news);
        }
        let path = watched.file.path.clone();
        match self.selection.wants_file(&watched.file, watched.live.session_id()) {
            Some(false) => {
                self.files.remove(&path);
                return Vec::new();
            }
            None => return Vec::new(),
            Some(true) if watched.live.is_warmup() && !self.all => return Vec::new(),
            Some(true) => {}
        }
        self.name_file(&path);
        let Some(watched) = self.files.get(&path).filter(|watched| !watched.elsewhere) else {
            return Vec::new();
        };
        let old = |news: &LiveEvent| {
            news.offset < watched.came_with && news.time.is_some_and(|time| time < self.since)
        };
        let shown = news.into_iter().filter(|news| news.followed && !old(news));
        let mut shown: Vec<WatchItem> =
            shown.map(|news| WatchItem::Live { path: path.clone(), event: news }).collect();
        number_damaged(&path, lines, &mut shown);
        shown
    }

    fn move_file(&mut self, from: &Path, file: HistoryFile) -> Vec<WatchItem> {
        let Some(mut watched) = self.files.remove(from) else {
            return match self.selection.wants_file(&file, None) {
                Some(false) => Vec::new(),
                _ => self.add_found(file.clone(), file.bytes),
            };
        };
        watched.file = file.clone();
        self.files.insert(file.path.clone(), watched);
        vec![file_item("moved", file, Some(from.to_owned()))]
    }

    /// Returns the events since the requested time, of all files together.
    fn replay_earlier(&mut self) -> Vec<WatchItem> {
        let mut items = Vec::new();
        let since = self.since;
        let paths: Vec<PathBuf> = self
            .files
            .iter()
            .filter(|(_, watched)| {
                watched.at > 0 && modified_millis(&watched.file) >= since.as_millis()
            })
            .map(|(path, _)| path.clone())
            .collect();
        for path in paths {
            let Some(watched) = self.files.get_mut(&path) else { continue };
            let Ok(lines) = lines_since(&path, watched.at, since) else { continue };
            let branch = self.selection.followed_branch(&watched.file).cloned();
            // A followed conversation has been read completely already.
            let fresh = LiveSession::new(watched.file.role.is_agent())
                .with_prices(Arc::clone(&self.prices));
            let known = branch.is_some().then(|| std::mem::replace(&mut watched.live, fresh));
            watched.read_before(lines.at);
            let file = watched.file.clone();
            let shown = self.add_lines(file, &lines).into_iter().filter(|item| match item {
                WatchItem::Live { event: news, .. } => {
                    let is_on = |branch: &FollowedBranch| {
                        news.uuid.as_ref().is_some_and(|uuid| branch.names.contains(uuid))
                    };
                    news.time.is_some_and(|time| time >= since) && branch.as_ref().is_none_or(is_on)
                }
                _ => true,
            });
            items.extend(shown);
            if let Some(watched) = self.files.get_mut(&path) {
                // It has been silent for long.
                watched.live.end_by_silence();
                if let Some(known) = known {
                    watched.live = known;
                }
            }
        }
        items.sort_by_key(|item| match item {
            WatchItem::Live { event: news, .. } => news.time,
            _ => None,
        });
        items
    }
}

impl WatchedFile {
    /// Reads the content before an offset to learn the state at that offset.
    fn read_before(&mut self, at: u64) {
        self.primed = true;
        if at == 0 {
            return;
        }
        // Files that cannot be read now are reported by the follower.
        let Ok(past) = lines_before(&self.file.path, at, PAST_BYTES) else { return };
        self.live.push_earlier_lines(&past.bytes);
        if self.live.title().is_none() || past.at > 0 {
            let head = first_lines(&self.file.path, HEAD_BYTES.min(past.at));
            let mut first = LiveSession::new(self.file.role.is_agent());
            first.push_earlier_lines(&head.map(|head| head.bytes).unwrap_or_default());
            self.live.adopt_beginning(&first);
        }
    }

    /// Returns the session that the file is, or belongs to.
    pub(super) fn session_id(&self) -> &str {
        match &self.file.role {
            FileRole::Session => &self.file.id,
            FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
            FileRole::FlatAgent => self.live.session_id().unwrap_or_default(),
        }
    }

    /// Returns the encoded name of its project.
    pub(super) fn project_name(&self) -> &str {
        self.file.relative.split('/').nth(1).unwrap_or_default()
    }
}

/// Returns the line numbers of damaged lines. `shown` has the events of all lines, in order.
fn number_damaged(path: &Path, lines: &FollowedLines, shown: &mut [WatchItem]) {
    // The counting position: the line number and its byte offset.
    let mut counted: Option<(u32, usize)> = None;
    for item in shown {
        let WatchItem::Live { event: LiveEvent { offset, kind: silence, .. }, .. } = item else {
            continue;
        };
        let LiveEventKind::Turn(TurnKind::Damaged { line, .. }) = silence else { continue };
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
fn look_back(path: &Path, news: &mut LiveEvent) {
    let LiveEventKind::Switch(switch) = &mut news.kind else { return };
    if switch.kind != SwitchKind::Beyond {
        return;
    }
    let Some(after) = &switch.after else { return };
    let Ok(history) = from_jsonl(path, ResumeRule::Client) else { return };
    let node = history.node_by_uuid(RecordUuid::new(after.as_bytes()));
    let Some(path) = node.and_then(|node| history.path_to(node)) else { return };
    let is_prompt = |id: &&NodeId| history.session.record(**id).role == RecordRole::Prompt;
    let prompt = path.nodes.iter().rev().find(is_prompt);
    switch.prompt_text = prompt.and_then(|id| history.session.preview_text(*id)).map(str::to_owned);
}

/// Reads complete lines back to one that is older than a time, or to the beginning.
fn lines_since(path: &Path, end: u64, since: Time) -> Result<FollowedLines, PathError> {
    let mut most = PAST_BYTES;
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
fn modified_millis(file: &HistoryFile) -> i64 {
    let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as i64
}

fn file_item(event: &'static str, file: HistoryFile, from: Option<PathBuf>) -> WatchItem {
    WatchItem::File { event, path: file.path.clone(), file, from }
}
