//! What happens on the disk while one looks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ramus_core::digest::Digest;
use ramus_core::history::History;
use ramus_core::resume::Rule;
use ramus_core::title::Summaries;
use ramus_store::follow::{Change, Changes, FollowConfig, Lines, follow};
use ramus_store::from_jsonl;
use ramus_store::place::{FileRole, HistoryFile};

use crate::event::{Chapter, Event};
use crate::work::{spawn, survey};

/// The sessions that are read now; their growth is shown at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched(Arc<Mutex<HashMap<PathBuf, Arc<Chapter>>>>);

impl Watched {
    /// Watches these instead of those before.
    pub(crate) fn set(&self, chapters: Vec<Arc<Chapter>>) {
        let chapters = chapters.into_iter().map(|chapter| (chapter.file.path.clone(), chapter));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = chapters.collect();
    }

    fn get(&self, path: &Path) -> Option<Arc<Chapter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Puts a grown chapter in its place, if it is still watched.
    fn put(&self, chapter: &Arc<Chapter>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = held.get_mut(&chapter.file.path) {
            *place = chapter.clone();
        }
    }
}

/// How often the list hears of sessions that are being written.
const PACE: Duration = Duration::from_millis(400);
/// Reading them again may take one part in this of the time.
const SHARE: u32 = 10;

/// Starts the thread that follows the Claude directories.
pub(crate) fn start(events: Sender<Event>, roots: Vec<PathBuf>, rule: Rule, watched: Watched) {
    spawn(events, move |events| {
        let Ok(changes) = follow(roots, &FollowConfig::default()) else { return };
        Follower { changes, events, watched, rule, stale: HashSet::new() }.run();
    });
}

struct Follower<'a> {
    changes: Changes,
    events: &'a Sender<Event>,
    watched: Watched,
    rule: Rule,
    /// Sessions whose rows in the list say too little.
    stale: HashSet<PathBuf>,
}

impl Follower<'_> {
    fn run(mut self) {
        let mut is_ready = false;
        let mut next = Instant::now();
        loop {
            let first = match self.changes.recv_timeout(PACE) {
                Ok(change) => Some(change),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut grown: HashMap<PathBuf, (HistoryFile, Vec<Lines>)> = HashMap::new();
            let mut waiting = first;
            while let Some(change) = waiting {
                is_ready |= matches!(change, Change::Ready);
                self.take(change, is_ready, &mut grown);
                waiting = self.changes.try_recv().ok();
            }
            for (file, lines) in grown.into_values() {
                self.grow(file, &lines);
            }
            if Instant::now() >= next && !self.stale.is_empty() {
                let start = Instant::now();
                self.refresh();
                next = Instant::now() + PACE.max(start.elapsed() * SHARE);
            }
        }
    }

    fn take(
        &mut self,
        change: Change,
        is_ready: bool,
        grown: &mut HashMap<PathBuf, (HistoryFile, Vec<Lines>)>,
    ) {
        match change {
            Change::Grew { file, lines } => {
                self.touch(&file);
                if self.watched.get(&file.path).is_some() {
                    let held = grown.entry(file.path.clone());
                    held.or_insert_with(|| (file, Vec::new())).1.push(lines);
                }
            }
            Change::Found { file, .. } if is_ready => self.touch(&file),
            Change::Rewritten { file } => {
                grown.remove(&file.path);
                self.touch(&file);
                self.read_again(file);
            }
            Change::Moved { from, file } => {
                let _ = self.events.send(Event::Gone(from));
                self.touch(&file);
            }
            Change::Gone { file } => {
                let _ = self.events.send(Event::Gone(file.path));
            }
            Change::Found { .. } | Change::Ready | Change::Polling { .. } | Change::Problem(_) => {}
        }
    }

    fn touch(&mut self, file: &HistoryFile) {
        if file.role == FileRole::Session {
            self.stale.insert(file.path.clone());
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
        self.show(&chapter, file, History::new(session, self.rule));
    }

    fn read_again(&self, file: HistoryFile) {
        let Some(chapter) = self.watched.get(&file.path) else { return };
        if let Ok(history) = from_jsonl(&file.path, self.rule) {
            self.show(&chapter, file, history);
        }
    }

    fn show(&self, before: &Chapter, file: HistoryFile, history: History) {
        let (files, project) = (before.files.clone(), before.project.clone());
        let history = Arc::new(history);
        let chapter = Arc::new(Chapter { file, files, project, history });
        self.watched.put(&chapter);
        let _ = self.events.send(Event::Grew(chapter));
    }

    /// Reads the sessions again whose rows say too little.
    fn refresh(&mut self) {
        for path in std::mem::take(&mut self.stale) {
            let Ok(file) = HistoryFile::at(&path) else { continue };
            let Ok(history) = from_jsonl(&path, self.rule) else { continue };
            let digest = Digest::new(&history);
            let label = digest.facts.cwd.as_deref().unwrap_or_default().to_owned();
            let session = survey::session(file, &digest, &Summaries::default());
            let _ = self.events.send(Event::Changed(label, Box::new(session)));
        }
    }
}
