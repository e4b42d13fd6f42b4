//! Receives change notifications from the operating system.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustc_hash::FxHashSet;

use super::tracked::FileId;

/// What has to be checked.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Check everything, because time has passed or notifications were lost.
    pub(super) all: bool,
    pub(super) paths: FxHashSet<PathBuf>,
}

impl Dirty {
    pub(super) fn everything() -> Self {
        Self { all: true, paths: FxHashSet::default() }
    }
}

/// Passes changed paths from the notification threads to the thread that checks them.
///
/// Paths are collected in a set: however many notifications arrive, each file is checked
/// once.
#[derive(Debug, Default)]
pub(super) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    dirty: Dirty,
    failure: Option<String>,
    stop: bool,
}

impl Signal {
    /// Waits until something has to be checked, at most until `end`. `None`: stop.
    pub(super) fn wait(&self, end: Instant) -> Option<Dirty> {
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            if state.dirty.all || !state.dirty.paths.is_empty() || state.failure.is_some() {
                break;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.dirty.all = true;
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut dirty = std::mem::take(&mut state.dirty);
        // A program that writes all the time must not prevent the full check.
        dirty.all |= Instant::now() >= end;
        Some(dirty)
    }

    pub(super) fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    pub(super) fn take_failure(&self) -> Option<String> {
        self.lock().failure.take()
    }

    fn hear(&self, event: notify::Result<notify::Event>) {
        let mut state = self.lock();
        match event {
            Ok(event) if event.need_rescan() => state.dirty.all = true,
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
            Ok(event) => state.dirty.paths.extend(event.paths),
            Err(error) => state.failure = Some(error.to_string()),
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directories that are being watched.
pub(super) struct Events {
    watcher: RecommendedWatcher,
    roots: Vec<(PathBuf, Option<Watched>)>,
}

#[derive(Clone, PartialEq, Eq)]
struct Watched {
    path: PathBuf,
    /// Distinguishes a directory that was deleted and created again.
    id: Option<FileId>,
    mode: RecursiveMode,
}

/// How often to retry if a directory appears while its parent is being watched.
const TRIES: usize = 8;

impl Events {
    pub(super) fn new(roots: Vec<PathBuf>, signal: &Arc<Signal>) -> notify::Result<Self> {
        let signal = Arc::clone(signal);
        let names = Names::new(&roots);
        let hear = move |event: notify::Result<notify::Event>| {
            signal.hear(event.map(|event| names.of(event)));
        };
        let watcher = RecommendedWatcher::new(hear, notify::Config::default())?;
        Ok(Self { watcher, roots: roots.into_iter().map(|root| (root, None)).collect() })
    }

    /// Watches each `projects` directory, or its nearest existing parent if it does not exist yet.
    ///
    /// Returns whether a watch changed. Then everything must be checked.
    pub(super) fn arm(&mut self) -> notify::Result<bool> {
        let mut moved = false;
        for (root, watched) in &mut self.roots {
            for _ in 0..TRIES {
                let wanted = wanted(root);
                if *watched == wanted {
                    break;
                }
                moved = true;
                if let Some(old) = watched.take() {
                    // An error is harmless: the directory may be gone, and its watch with it.
                    let _ = self.watcher.unwatch(&old.path);
                }
                let Some(new) = wanted else { break };
                match self.watcher.watch(&new.path, new.mode) {
                    Ok(()) => *watched = Some(new),
                    Err(_) if !new.path.is_dir() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(moved)
    }
}

/// Roots that were given as relative paths. Notifications use absolute paths.
struct Names(Vec<(PathBuf, PathBuf)>);

impl Names {
    fn new(roots: &[PathBuf]) -> Self {
        let relative = roots.iter().filter(|root| root.is_relative());
        let named = relative
            .filter_map(|root| Some((std::env::current_dir().ok()?.join(root), root.clone())));
        Self(named.collect())
    }

    /// Rewrites the paths of a notification relative to the roots as they were given.
    fn of(&self, mut event: notify::Event) -> notify::Event {
        for path in &mut event.paths {
            for (whole, root) in &self.0 {
                if let Ok(below) = path.strip_prefix(whole) {
                    *path = root.join(below);
                    break;
                }
            }
        }
        event
    }
}

fn wanted(root: &Path) -> Option<Watched> {
    let projects = root.join("projects");
    let path = projects.ancestors().find(|path| path.is_dir())?;
    let mode =
        if path == projects { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    Some(Watched { path: path.to_owned(), id: FileId::of(path), mode })
}
