//! Follows changes on disk while the screens are open.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ramus_app::live::{LIVE_PERIOD, was_written_lately};
use ramus_core::digest::SessionDigest;
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use ramus_render::{Label, Line};
use ramus_store::claude_dir::{FileRole, HistoryFile, Project};
use ramus_store::follow::{
    FollowConfig, FollowEvent, FollowEvents, FollowedLines, follow_files, lines_before,
};
use ramus_store::from_jsonl;

use crate::event::{Chapter, ScreenEvent};
use crate::work::survey::FileSizes;
use crate::work::{spawn_guarded, survey};

/// The sessions that are read now; their growth is shown at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedSessions(Arc<Mutex<WatchedState>>);

#[derive(Debug, Default)]
struct WatchedState {
    chapters: HashMap<PathBuf, Arc<Chapter>>,
    /// Those that may have grown between being read and being watched.
    unverified: HashSet<PathBuf>,
}

impl WatchedSessions {
    /// Watches these instead of those before.
    pub(crate) fn watch_chapters(&self, chapters: Vec<Arc<Chapter>>) {
        let mut held = self.lock_chapters();
        held.unverified = chapters.iter().map(|chapter| chapter.file.path.clone()).collect();
        held.chapters = chapters.into_iter().map(|c| (c.file.path.clone(), c)).collect();
    }

    fn watched_chapter(&self, path: &Path) -> Option<Arc<Chapter>> {
        self.lock_chapters().chapters.get(path).cloned()
    }

    fn watched_chapters(&self) -> Vec<Arc<Chapter>> {
        self.lock_chapters().chapters.values().cloned().collect()
    }

    /// Puts a grown chapter in its place, if it is still watched.
    fn replace_chapter(&self, chapter: &Arc<Chapter>) {
        if let Some(place) = self.lock_chapters().chapters.get_mut(&chapter.file.path) {
            *place = chapter.clone();
        }
    }

    /// Replaces a chapter whose file was renamed.
    fn move_chapter(&self, from: &Path, chapter: &Arc<Chapter>) {
        let mut held = self.lock_chapters();
        if held.chapters.remove(from).is_some() {
            held.chapters.insert(chapter.file.path.clone(), chapter.clone());
        }
    }

    fn take_unverified(&self) -> HashSet<PathBuf> {
        std::mem::take(&mut self.lock_chapters().unverified)
    }

    fn lock_chapters(&self) -> MutexGuard<'_, WatchedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of the end of a file tells when its last message was written.
const END_BYTES: u64 = 64 * 1024;
/// How often the list is updated for sessions that are being written.
const LIST_INTERVAL: Duration = Duration::from_millis(400);
/// Reading them again may take one part in this of the time.
const READ_TIME_SHARE: u32 = 10;

/// Starts the threads that follow the Claude directories.
pub(crate) fn start_following(
    events: Sender<ScreenEvent>,
    roots: Vec<PathBuf>,
    rule: ResumeRule,
    watched: WatchedSessions,
    listed: FileSizes,
) {
    let rows = start_row_reader(events.clone(), rule, watched.clone());
    spawn_guarded(events, move |events| {
        let Ok(changes) = follow_files(roots, &FollowConfig::default()) else { return };
        let writing = HashMap::new();
        let mut follower =
            SessionFollower { changes, events, watched, rule, rows, listed, writing };
        follower.run();
    });
}

struct SessionFollower<'a> {
    changes: FollowEvents,
    events: &'a Sender<ScreenEvent>,
    watched: WatchedSessions,
    rule: ResumeRule,
    /// Where to send sessions whose rows in the list are incomplete.
    rows: Sender<HashSet<PathBuf>>,
    /// What the list was made from and was not found yet.
    listed: FileSizes,
    /// When sessions were last written to, as long as that is a moment ago.
    writing: HashMap<PathBuf, SystemTime>,
}

/// What changed at once.
#[derive(Default)]
struct FollowUpdate {
    grown: HashMap<PathBuf, (HistoryFile, Vec<FollowedLines>)>,
    touched: HashSet<PathBuf>,
    /// The sessions that were written to, and when.
    written: HashMap<PathBuf, SystemTime>,
}

impl SessionFollower<'_> {
    fn run(&mut self) {
        let mut is_ready = false;
        loop {
            let first = match self.changes.recv_timeout(LIST_INTERVAL) {
                Ok(change) => Some(change),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut news = FollowUpdate::default();
            let mut waiting = first;
            while let Some(change) = waiting {
                is_ready |= matches!(change, FollowEvent::Ready);
                self.apply_change(change, is_ready, &mut news);
                waiting = self.changes.try_recv().ok();
            }
            for (file, lines) in news.grown.into_values() {
                self.append_lines(file, &lines);
            }
            if is_ready {
                self.catch_up();
            }
            self.report_writing(news.written);
            if !news.touched.is_empty() {
                let _ = self.rows.send(news.touched);
            }
        }
    }

    /// Tells which sessions are being written, when that is news.
    fn report_writing(&mut self, written: HashMap<PathBuf, SystemTime>) {
        let known: HashSet<PathBuf> = self.writing.keys().cloned().collect();
        self.writing.extend(written);
        let is_fresh = |at: &SystemTime| at.elapsed().is_ok_and(|age| age < LIVE_PERIOD);
        self.writing.retain(|_, at| is_fresh(at));
        let now: HashSet<PathBuf> = self.writing.keys().cloned().collect();
        if now != known {
            let _ = self.events.send(ScreenEvent::Writing(now));
        }
    }

    fn apply_change(&mut self, change: FollowEvent, is_ready: bool, news: &mut FollowUpdate) {
        if let FollowEvent::Found { file, at } = &change {
            let is_fresh = file.modified.elapsed().is_ok_and(|age| age < LIVE_PERIOD);
            if is_fresh && let Ok(end) = lines_before(&file.path, *at, END_BYTES) {
                news.note_written(file, file.modified, &end);
            }
            if !is_ready && self.listed.remove(&file.path).is_some_and(|bytes| bytes == file.bytes)
            {
                return;
            }
        }
        match change {
            FollowEvent::Grew { file, lines } => {
                news.touch_session(&file);
                if is_ready {
                    news.note_written(&file, SystemTime::now(), &lines);
                }
                if lines.at == 0 && file.role.is_agent() {
                    let chapters = self.watched.watched_chapters();
                    chapters
                        .iter()
                        .for_each(|chapter| self.adopt_agents(chapter, vec![file.clone()]));
                }
                if self.watched.watched_chapter(&file.path).is_some() {
                    let held = news.grown.entry(file.path.clone());
                    held.or_insert_with(|| (file, Vec::new())).1.push(lines);
                }
            }
            // It is new, or was written to after it was listed.
            FollowEvent::Found { file, .. } => {
                news.touch_session(&file);
                // The row of its session shows how many there are.
                news.touched.extend(session_path(&file));
            }
            FollowEvent::Rewritten { file } => {
                news.grown.remove(&file.path);
                news.touch_session(&file);
                if self.watched.watched_chapter(&file.path).is_some() {
                    let words = "the file was rewritten; reading it again";
                    let _ = self.events.send(ScreenEvent::Status(Line::new(words, Label::Warning)));
                }
                self.read_again(file);
            }
            FollowEvent::Moved { from, file } => {
                news.touch_session(&file);
                self.follow_to(&from, file);
                let _ = self.events.send(ScreenEvent::Removed(from));
            }
            FollowEvent::Gone { file } => {
                let _ = self.events.send(ScreenEvent::Removed(file.path));
            }
            FollowEvent::Ready => {
                // What was listed and not found has been deleted since.
                let lost = std::mem::take(&mut self.listed).into_keys();
                let is_gone = |path: &PathBuf| {
                    let found = HistoryFile::from_path(path);
                    found.is_err_and(|error| error.source.kind() == ErrorKind::NotFound)
                };
                for path in lost.filter(is_gone) {
                    let _ = self.events.send(ScreenEvent::Removed(path));
                }
            }
            FollowEvent::Polling { .. } | FollowEvent::Problem(_) => {}
        }
    }

    /// Reads those sessions again that grew before anybody watched them, and finds their new agents.
    fn catch_up(&self) {
        for path in self.watched.take_unverified() {
            let (Some(chapter), Ok(found)) =
                (self.watched.watched_chapter(&path), HistoryFile::from_path(&path))
            else {
                continue;
            };
            if found.bytes != chapter.history.session.facts().bytes {
                let HistoryFile { bytes, modified, .. } = found.clone();
                self.read_again(HistoryFile { bytes, modified, ..chapter.file.clone() });
            }
            if let (Some(chapter), Some(project)) =
                (self.watched.watched_chapter(&path), Project::containing_file(&found))
            {
                let known: HashSet<&Path> = chapter.files.iter().map(|file| &*file.path).collect();
                let agents = project.files.into_iter().filter(|file| !known.contains(&*file.path));
                self.adopt_agents(&chapter, agents.collect());
            }
        }
    }

    /// Adds agents that have just begun to a session that may have started them.
    fn adopt_agents(&self, chapter: &Chapter, agents: Vec<HistoryFile>) {
        let is_own = |agent: &HistoryFile| match &agent.role {
            FileRole::NestedAgent { session } => *session == chapter.file.id,
            role => role.is_agent() && agent.path.parent() == chapter.file.path.parent(),
        };
        let own: Vec<HistoryFile> = agents.into_iter().filter(is_own).collect();
        if !own.is_empty() {
            let stays = |file: &&HistoryFile| own.iter().all(|agent| agent.path != file.path);
            let files = chapter.files.iter().filter(stays).chain(&own).cloned().collect();
            let (file, history) = (chapter.file.clone(), chapter.history.clone());
            self.send_grown(Chapter::new(file, files, chapter.project.clone(), history));
        }
    }

    /// Adds lines to a session that is read.
    fn append_lines(&self, file: HistoryFile, lines: &[FollowedLines]) {
        let Some(chapter) = self.watched.watched_chapter(&file.path) else { return };
        let mut session = chapter.history.session.clone();
        for lines in lines {
            match lines.bytes_after(session.facts().bytes) {
                Some(bytes) => session.push(bytes),
                // Bytes in between are missing, so the state is out of date.
                None => return self.read_again(file),
            }
        }
        session.finish_last_line();
        self.show_grown(&chapter, file, History::new(session, self.rule));
    }

    /// Continues an open session at its new path.
    fn follow_to(&self, from: &Path, file: HistoryFile) {
        let Some(before) = self.watched.watched_chapter(from) else { return };
        let files = Project::containing_file(&file)
            .map_or_else(|| before.files.clone(), |now| now.files.into());
        let (project, history) = (before.project.clone(), before.history.clone());
        let chapter = Arc::new(Chapter::new(file, files, project, history));
        self.watched.move_chapter(from, &chapter);
        let _ = self.events.send(ScreenEvent::Moved(from.to_owned(), chapter));
    }

    fn read_again(&self, file: HistoryFile) {
        let Some(chapter) = self.watched.watched_chapter(&file.path) else { return };
        if let Ok(history) = from_jsonl(&file.path, self.rule) {
            self.show_grown(&chapter, file, history);
        }
    }

    fn show_grown(&self, before: &Chapter, file: HistoryFile, history: History) {
        let (files, project) = (before.files.clone(), before.project.clone());
        self.send_grown(Chapter::new(file, files, project, Arc::new(history)));
    }

    fn send_grown(&self, chapter: Chapter) {
        let chapter = Arc::new(chapter);
        self.watched.replace_chapter(&chapter);
        let _ = self.events.send(ScreenEvent::Grew(chapter));
    }
}

impl FollowUpdate {
    /// Notes that messages of a session, or of an agent of it, were written.
    fn note_written(&mut self, file: &HistoryFile, at: SystemTime, lines: &FollowedLines) {
        let mut written = Session::default();
        written.push(&lines.bytes);
        if !was_written_lately(at, written.facts().last_active, SystemTime::now()) {
            return;
        }
        let session = match file.role {
            FileRole::Session => Some(file.path.clone()),
            _ => session_path(file),
        };
        self.written.extend(session.map(|session| (session, at)));
    }

    fn touch_session(&mut self, file: &HistoryFile) {
        if file.role == FileRole::Session {
            self.touched.insert(file.path.clone());
        }
    }
}

/// Returns the file of the session below which an agent has its own.
fn session_path(agent: &HistoryFile) -> Option<PathBuf> {
    let FileRole::NestedAgent { session } = &agent.role else { return None };
    let dir = agent.path.ancestors().find(|dir| dir.ends_with(session))?;
    Some(dir.with_file_name(format!("{session}.jsonl")))
}

/// Starts the thread that brings rows of the list up to date; growth of what is read does not
/// wait for it.
fn start_row_reader(
    events: Sender<ScreenEvent>,
    rule: ResumeRule,
    watched: WatchedSessions,
) -> Sender<HashSet<PathBuf>> {
    let (sender, stale) = channel::<HashSet<PathBuf>>();
    spawn_guarded(events, move |events| {
        while let Ok(first) = stale.recv() {
            let start = Instant::now();
            let paths: HashSet<PathBuf> =
                { first }.into_iter().chain(stale.try_iter().flatten()).collect();
            for path in paths {
                let Ok(file) = HistoryFile::from_path(&path) else { continue };
                let history = match watched.watched_chapter(&path) {
                    Some(chapter) => chapter.history.clone(),
                    None => match from_jsonl(&path, rule) {
                        Ok(history) => Arc::new(history),
                        Err(_) => continue,
                    },
                };
                let digest = SessionDigest::new(&history);
                let label = digest.facts.cwd.as_deref().unwrap_or_default().to_owned();
                let session = survey::lone_session_row(&file, &digest, file.count_nested_agents());
                let _ = events.send(ScreenEvent::Changed(label, Box::new(session)));
            }
            thread::sleep(LIST_INTERVAL.max(start.elapsed() * READ_TIME_SHARE));
        }
    });
    sender
}
