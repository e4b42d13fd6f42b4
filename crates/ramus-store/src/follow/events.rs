//! Where something happened, as the system tells it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustc_hash::FxHashSet;

use super::tracked::FileId;

/// What has to be looked at.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Everything, because time has passed or events were lost.
    pub(super) all: bool,
    pub(super) paths: FxHashSet<PathBuf>,
}

impl Dirty {
    pub(super) fn everything() -> Self {
        Self { all: true, paths: FxHashSet::default() }
    }
}

/// Between those who hear of changes and the thread that looks at them.
///
/// Paths are collected in a set: however many events wait, each file is looked
/// at once.
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
    /// Waits until something has to be looked at, at the latest until `end`; `None`: to stop.
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
        // Those who write all the time must not keep us from looking round.
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

/// The watches that are set.
pub(super) struct Events {
    watcher: RecommendedWatcher,
    roots: Vec<(PathBuf, Option<Watched>)>,
}

#[derive(Clone, PartialEq, Eq)]
struct Watched {
    path: PathBuf,
    /// A directory that was deleted and made again is another one.
    id: Option<FileId>,
    mode: RecursiveMode,
}

/// How often a directory may appear under our hands while its parent is being watched.
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

    /// Watches `projects` where it is, and where it is not what it will be made in.
    ///
    /// Returns whether a watch was set: then everything must be looked at.
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
                    // It may be gone, and its watch with it.
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

/// Directories that are named from the working directory on; events name them from the root on.
struct Names(Vec<(PathBuf, PathBuf)>);

impl Names {
    fn new(roots: &[PathBuf]) -> Self {
        let relative = roots.iter().filter(|root| root.is_relative());
        let named = relative
            .filter_map(|root| Some((std::env::current_dir().ok()?.join(root), root.clone())));
        Self(named.collect())
    }

    /// Calls files in an event as everybody else does.
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
