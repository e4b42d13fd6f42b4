//! What happens on the disk while one looks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ramus_core::digest::Digest;
use ramus_core::history::History;
use ramus_core::resume::Rule;
use ramus_core::title::Summaries;
use ramus_render::{Label, Line};
use ramus_store::follow::{Change, Changes, FollowConfig, Lines, follow};
use ramus_store::from_jsonl;
use ramus_store::place::{FileRole, HistoryFile, Project};

use crate::event::{Chapter, Event};
use crate::work::survey::Sizes;
use crate::work::{spawn, survey};

/// The sessions that are read now; their growth is shown at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    chapters: HashMap<PathBuf, Arc<Chapter>>,
    /// Those that may have grown between being read and being watched.
    unsure: HashSet<PathBuf>,
}

impl Watched {
    /// Watches these instead of those before.
    pub(crate) fn set(&self, chapters: Vec<Arc<Chapter>>) {
        let mut held = self.held();
        held.unsure = chapters.iter().map(|chapter| chapter.file.path.clone()).collect();
        held.chapters = chapters.into_iter().map(|c| (c.file.path.clone(), c)).collect();
    }

    fn get(&self, path: &Path) -> Option<Arc<Chapter>> {
        self.held().chapters.get(path).cloned()
    }

    fn all(&self) -> Vec<Arc<Chapter>> {
        self.held().chapters.values().cloned().collect()
    }

    /// Puts a grown chapter in its place, if it is still watched.
    fn put(&self, chapter: &Arc<Chapter>) {
        if let Some(place) = self.held().chapters.get_mut(&chapter.file.path) {
            *place = chapter.clone();
        }
    }

    /// Puts a chapter in the place of one whose file has another name now.
    fn replace(&self, from: &Path, chapter: &Arc<Chapter>) {
        let mut held = self.held();
        if held.chapters.remove(from).is_some() {
            held.chapters.insert(chapter.file.path.clone(), chapter.clone());
        }
    }

    fn take_unsure(&self) -> HashSet<PathBuf> {
        std::mem::take(&mut self.held().unsure)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often the list hears of sessions that are being written.
const PACE: Duration = Duration::from_millis(400);
/// Reading them again may take one part in this of the time.
const SHARE: u32 = 10;

/// Starts the threads that follow the Claude directories.
pub(crate) fn start(
    events: Sender<Event>,
    roots: Vec<PathBuf>,
    rule: Rule,
    watched: Watched,
    listed: Sizes,
) {
    let rows = keep_rows(events.clone(), rule, watched.clone());
    spawn(events, move |events| {
        let Ok(changes) = follow(roots, &FollowConfig::default()) else { return };
        Follower { changes, events, watched, rule, rows, listed }.run();
    });
}

struct Follower<'a> {
    changes: Changes,
    events: &'a Sender<Event>,
    watched: Watched,
    rule: Rule,
    /// Where to tell of sessions whose rows in the list say too little.
    rows: Sender<HashSet<PathBuf>>,
    /// What the list was made from.
    listed: Sizes,
}

/// What changed at once.
#[derive(Default)]
struct News {
    grown: HashMap<PathBuf, (HistoryFile, Vec<Lines>)>,
    touched: HashSet<PathBuf>,
}

impl Follower<'_> {
    fn run(mut self) {
        let mut is_ready = false;
        loop {
            let first = match self.changes.recv_timeout(PACE) {
                Ok(change) => Some(change),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut news = News::default();
            let mut waiting = first;
            while let Some(change) = waiting {
                is_ready |= matches!(change, Change::Ready);
                self.take(change, is_ready, &mut news);
                waiting = self.changes.try_recv().ok();
            }
            for (file, lines) in news.grown.into_values() {
                self.grow(file, &lines);
            }
            if is_ready {
                self.catch_up();
            }
            if !news.touched.is_empty() {
                let _ = self.rows.send(news.touched);
            }
        }
    }

    fn take(&mut self, change: Change, is_ready: bool, news: &mut News) {
        match change {
            Change::Grew { file, lines } => {
                news.touch(&file);
                if lines.at == 0 && file.role.is_agent() {
                    let chapters = self.watched.all();
                    chapters.iter().for_each(|chapter| self.adopt(chapter, vec![file.clone()]));
                }
                if self.watched.get(&file.path).is_some() {
                    let held = news.grown.entry(file.path.clone());
                    held.or_insert_with(|| (file, Vec::new())).1.push(lines);
                }
            }
            Change::Found { file, .. } if is_ready => {
                news.touch(&file);
                // The row of its session says how many there are.
                news.touched.extend(session_of(&file));
            }
            Change::Rewritten { file } => {
                news.grown.remove(&file.path);
                news.touch(&file);
                if self.watched.get(&file.path).is_some() {
                    let words = "the file was rewritten, and is read anew";
                    let _ = self.events.send(Event::Said(Line::new(words, Label::Warning)));
                }
                self.read_again(file);
            }
            Change::Moved { from, file } => {
                news.touch(&file);
                self.follow_to(&from, file);
                let _ = self.events.send(Event::Gone(from));
            }
            Change::Gone { file } => {
                let _ = self.events.send(Event::Gone(file.path));
            }
            // It was written to between the listing and now.
            Change::Found { file, .. } if self.listed.get(&file.path) != Some(&file.bytes) => {
                news.touch(&file);
                news.touched.extend(session_of(&file));
            }
            Change::Ready => self.listed = Sizes::new(),
            Change::Found { .. } | Change::Polling { .. } | Change::Problem(_) => {}
        }
    }

    /// Reads those sessions again that grew before anybody watched them, and finds their new agents.
    fn catch_up(&self) {
        for path in self.watched.take_unsure() {
            let (Some(chapter), Ok(found)) = (self.watched.get(&path), HistoryFile::at(&path))
            else {
                continue;
            };
            if found.bytes != chapter.history.session.facts().bytes {
                let HistoryFile { bytes, modified, .. } = found.clone();
                self.read_again(HistoryFile { bytes, modified, ..chapter.file.clone() });
            }
            if let (Some(chapter), Some(project)) = (self.watched.get(&path), Project::of(&found)) {
                let known: HashSet<&Path> = chapter.files.iter().map(|file| &*file.path).collect();
                let agents = project.files.into_iter().filter(|file| !known.contains(&*file.path));
                self.adopt(&chapter, agents.collect());
            }
        }
    }

    /// Adds agents that have just begun to a session that may have started them.
    fn adopt(&self, chapter: &Chapter, agents: Vec<HistoryFile>) {
        let is_own = |agent: &HistoryFile| match &agent.role {
            FileRole::NestedAgent { session } => *session == chapter.file.id,
            role => role.is_agent() && agent.path.parent() == chapter.file.path.parent(),
        };
        let own: Vec<HistoryFile> = agents.into_iter().filter(is_own).collect();
        if !own.is_empty() {
            let stays = |file: &&HistoryFile| own.iter().all(|agent| agent.path != file.path);
            let files = chapter.files.iter().filter(stays).chain(&own).cloned().collect();
            let (file, history) = (chapter.file.clone(), chapter.history.clone());
            self.show(Chapter::new(file, files, chapter.project.clone(), history));
        }
    }

    /// Adds lines to a session that is read.
    fn grow(&self, file: HistoryFile, lines: &[Lines]) {
        let Some(chapter) = self.watched.get(&file.path) else { return };
        let mut session = chapter.history.session.clone();
        for lines in lines {
            match lines.beyond(session.facts().bytes) {
                Some(bytes) => session.push(bytes),
                // Something lies between: what was read is not what is there.
                None => return self.read_again(file),
            }
        }
        session.end();
        self.show_grown(&chapter, file, History::new(session, self.rule));
    }

    /// Goes on with a session that is read at the place where it lies now.
    fn follow_to(&self, from: &Path, file: HistoryFile) {
        let Some(before) = self.watched.get(from) else { return };
        let files = Project::of(&file).map_or_else(|| before.files.clone(), |now| now.files.into());
        let (project, history) = (before.project.clone(), before.history.clone());
        let chapter = Arc::new(Chapter::new(file, files, project, history));
        self.watched.replace(from, &chapter);
        let _ = self.events.send(Event::Moved(from.to_owned(), chapter));
    }

    fn read_again(&self, file: HistoryFile) {
        let Some(chapter) = self.watched.get(&file.path) else { return };
        if let Ok(history) = from_jsonl(&file.path, self.rule) {
            self.show_grown(&chapter, file, history);
        }
    }

    fn show_grown(&self, before: &Chapter, file: HistoryFile, history: History) {
        let (files, project) = (before.files.clone(), before.project.clone());
        self.show(Chapter::new(file, files, project, Arc::new(history)));
    }

    fn show(&self, chapter: Chapter) {
        let chapter = Arc::new(chapter);
        self.watched.put(&chapter);
        let _ = self.events.send(Event::Grew(chapter));
    }
}

impl News {
    fn touch(&mut self, file: &HistoryFile) {
        if file.role == FileRole::Session {
            self.touched.insert(file.path.clone());
        }
    }
}

/// Returns the file of the session below which an agent has its own.
fn session_of(agent: &HistoryFile) -> Option<PathBuf> {
    let FileRole::NestedAgent { session } = &agent.role else { return None };
    let dir = agent.path.ancestors().find(|dir| dir.ends_with(session))?;
    Some(dir.with_file_name(format!("{session}.jsonl")))
}

/// Starts the thread that brings rows of the list up to date; growth of what is read does not
/// wait for it.
fn keep_rows(events: Sender<Event>, rule: Rule, watched: Watched) -> Sender<HashSet<PathBuf>> {
    let (sender, stale) = channel::<HashSet<PathBuf>>();
    spawn(events, move |events| {
        while let Ok(first) = stale.recv() {
            let start = Instant::now();
            let paths: HashSet<PathBuf> =
                { first }.into_iter().chain(stale.try_iter().flatten()).collect();
            for path in paths {
                let Ok(file) = HistoryFile::at(&path) else { continue };
                let history = match watched.get(&path) {
                    Some(chapter) => chapter.history.clone(),
                    None => match from_jsonl(&path, rule) {
                        Ok(history) => Arc::new(history),
                        Err(_) => continue,
                    },
                };
                let digest = Digest::new(&history);
                let label = digest.facts.cwd.as_deref().unwrap_or_default().to_owned();
                let agents = file.nested_agents() as u32;
                let session = survey::session(file, &digest, &Summaries::default(), agents);
                let _ = events.send(Event::Changed(label, Box::new(session)));
            }
            thread::sleep(PACE.max(start.elapsed() * SHARE));
        }
    });
    sender
}
