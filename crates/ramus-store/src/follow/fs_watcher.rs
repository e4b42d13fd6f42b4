//! Receives change notifications from the operating system.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::file_id::FileId;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustc_hash::FxHashSet;

/// What has to be checked.
#[derive(Debug, Default)]
pub(super) struct DirtyPaths {
    /// Check everything, because time has passed or notifications were lost.
    pub(super) all: bool,
    pub(super) paths: FxHashSet<PathBuf>,
}

impl DirtyPaths {
    pub(super) fn all_dirty() -> Self {
        Self { all: true, paths: FxHashSet::default() }
    }
}

/// Passes changed paths from the notification threads to the thread that checks them.
///
/// Paths are collected in a set: however many notifications arrive, each file is checked
/// once.
#[derive(Debug, Default)]
pub(super) struct ChangeSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SignalState {
    dirty: DirtyPaths,
    failure: Option<String>,
    stop: bool,
}

impl ChangeSignal {
    /// Waits until something has to be checked, at most until `end`. `None`: stop.
    pub(super) fn wait_until(&self, end: Instant) -> Option<DirtyPaths> {
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

    fn record_event(&self, event: notify::Result<notify::Event>) {
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

    fn lock(&self) -> MutexGuard<'_, SignalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directories that are being watched.
pub(super) struct FsWatcher {
    watcher: RecommendedWatcher,
    roots: Vec<(PathBuf, Option<WatchedDir>)>,
}

#[derive(Clone, PartialEq, Eq)]
struct WatchedDir {
    path: PathBuf,
    /// Distinguishes a directory that was deleted and created again.
    id: Option<FileId>,
    mode: RecursiveMode,
}

/// How often to retry if a directory appears while its parent is being watched.
const MAX_WATCH_TRIES: usize = 8;

impl FsWatcher {
    pub(super) fn new(roots: Vec<PathBuf>, signal: &Arc<ChangeSignal>) -> notify::Result<Self> {
        let signal = Arc::clone(signal);
        let names = RelativeRoots::new(&roots);
        let hear = move |event: notify::Result<notify::Event>| {
            signal.record_event(event.map(|event| names.rewrite_paths(event)));
        };
        let watcher = RecommendedWatcher::new(hear, notify::Config::default())?;
        Ok(Self { watcher, roots: roots.into_iter().map(|root| (root, None)).collect() })
    }

    /// Watches each `projects` directory, or its nearest existing parent if it does not exist yet.
    ///
    /// Returns whether a watch changed. Then everything must be checked.
    pub(super) fn update_watches(&mut self) -> notify::Result<bool> {
        let mut moved = false;
        for (root, watched) in &mut self.roots {
            for _ in 0..MAX_WATCH_TRIES {
                let wanted = required_watch(root);
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
struct RelativeRoots(Vec<(PathBuf, PathBuf)>);

impl RelativeRoots {
    fn new(roots: &[PathBuf]) -> Self {
        let relative = roots.iter().filter(|root| root.is_relative());
        let named = relative
            .filter_map(|root| Some((std::env::current_dir().ok()?.join(root), root.clone())));
        Self(named.collect())
    }

    /// Rewrites the paths of a notification relative to the roots as they were given.
    fn rewrite_paths(&self, mut event: notify::Event) -> notify::Event {
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

fn required_watch(root: &Path) -> Option<WatchedDir> {
    let projects = root.join("projects");
    let path = projects.ancestors().find(|path| path.is_dir())?;
    let mode =
        if path == projects { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    Some(WatchedDir { path: path.to_owned(), id: FileId::from_path(path).ok(), mode })
}
