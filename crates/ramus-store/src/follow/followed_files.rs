//! Keeps track of all followed files, and detects new, deleted and moved files.

use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::fs_watcher::DirtyPaths;
use super::tracked_file::{OpenedFile, TrackedFile};
use super::{FollowEvent, FollowStart};
use crate::cache::HistoryCache;
use crate::claude_dir::{ClaudeDirs, HistoryFile, Project};
use crate::error::PathError;
use crate::file_id::FileId;

/// Receives events. Returns `false` when the receiver is gone.
pub(super) type EventSink<'a> = &'a mut dyn FnMut(FollowEvent) -> bool;

/// The files that are followed.
#[derive(Debug)]
pub(super) struct FollowedFiles {
    place: ClaudeDirs,
    start: FollowStart,
    files: FxHashMap<PathBuf, TrackedFile>,
    /// All files that existed at the start have been found.
    ready: bool,
    /// Paths that could not be read and were reported.
    problems: FxHashSet<PathBuf>,
    /// Files that disappeared, and for how many more full checks each may turn up at another path. Lines that
    /// were sent are not sent again then.
    displaced: Vec<(TrackedFile, u8)>,
}

/// A file that is moved during a listing can be missed once.
const DISPLACED_LOOKS: u8 = 2;

/// The result of checking some paths.
#[derive(Default)]
struct LookResult {
    files: Vec<HistoryFile>,
    missing: Vec<PathBuf>,
    problems: Vec<PathError>,
}

impl FollowedFiles {
    pub(super) fn new(roots: Vec<PathBuf>, start: FollowStart) -> Self {
        Self {
            place: ClaudeDirs::at(roots, HistoryCache::disabled()),
            start,
            files: FxHashMap::default(),
            ready: false,
            problems: FxHashSet::default(),
            displaced: Vec::new(),
        }
    }

    /// Checks what may have changed and sends events. `false`: the receiver is gone.
    pub(super) fn process_dirty(&mut self, dirty: &DirtyPaths, tell: EventSink<'_>) -> bool {
        let seen = if dirty.all { self.look_at_all() } else { self.look_at_paths(&dirty.paths) };
        let mut lost: Vec<TrackedFile> =
            seen.missing.iter().filter_map(|path| self.files.remove(path)).collect();
        if !seen.problems.into_iter().all(|problem| self.report_problem(problem, tell)) {
            return false;
        }
        let mut files = seen.files;
        // Files at new paths first: another file may be at the old path and would look like a replacement.
        files.sort_by_key(|file| self.files.contains_key(&file.path));
        for file in files {
            let known = self.files.get(&file.path);
            let quiet = known.is_some_and(|known| known.looks_like(&file));
            if quiet && !dirty.paths.contains(&file.path) {
                continue;
            }
            let path = file.path.clone();
            let listens = match self.look_at_file(file, &mut lost, tell) {
                Ok(listens) => {
                    self.problems.remove(&path);
                    listens
                }
                // Deleted after it was listed. The next check reports it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                Err(error) => self.report_problem(PathError::new(&path, error), tell),
            };
            if !listens {
                return false;
            }
        }
        // Files that appear later are sent from their beginning.
        (self.start, self.ready) = (FollowStart::Beginning, true);
        if dirty.all {
            self.displaced.retain_mut(|(_, looks)| {
                *looks -= 1;
                *looks > 0
            });
        }
        let gone: Vec<HistoryFile> = lost.iter().map(|tracked| tracked.file.clone()).collect();
        self.displaced.extend(lost.into_iter().map(|tracked| (tracked, DISPLACED_LOOKS)));
        gone.into_iter().all(|file| tell(FollowEvent::Gone { file }))
    }

    /// Reports a problem, unless it was reported before.
    fn report_problem(&mut self, problem: PathError, tell: EventSink<'_>) -> bool {
        !self.problems.insert(problem.path.clone()) || tell(FollowEvent::Problem(problem))
    }

    fn look_at_all(&self) -> LookResult {
        let listing = self.place.list_projects();
        let files: Vec<HistoryFile> =
            listing.projects.into_iter().flat_map(|project| project.files).collect();
        let there: FxHashSet<&Path> = files.iter().map(|file| &*file.path).collect();
        let missing = self.files.keys().filter(|path| !there.contains(&***path)).cloned().collect();
        LookResult { files, missing, problems: listing.problems }
    }

    /// Checks some paths. If a known file is gone, checks everything, because it may have been moved.
    fn look_at_paths(&self, paths: &FxHashSet<PathBuf>) -> LookResult {
        let mut seen = LookResult::default();
        let mut dirs: FxHashSet<(&Path, PathBuf)> = FxHashSet::default();
        for path in paths {
            let Some(root) = self.place.roots.iter().find(|root| path.starts_with(root)) else {
                continue;
            };
            match HistoryFile::from_claude_path(root, path) {
                Some(Ok(file)) => seen.files.push(file),
                Some(Err(problem)) if problem.source.kind() != io::ErrorKind::NotFound => {
                    seen.problems.push(problem);
                }
                Some(Err(_)) if self.files.contains_key(path) => return self.look_at_all(),
                Some(Err(_)) => {}
                None if path.is_file() => {}
                None => {
                    let projects = root.join("projects");
                    match path.strip_prefix(&projects).ok().and_then(|below| below.iter().next()) {
                        Some(project) if path.is_dir() => {
                            dirs.insert((root, projects.join(project)));
                        }
                        _ if projects.starts_with(path) || path.starts_with(&projects) => {
                            return self.look_at_all();
                        }
                        _ => {}
                    }
                }
            }
        }
        for (root, dir) in dirs {
            seen.files.extend(Project::list_dir(root, dir, &mut seen.problems).files);
        }
        seen.files.sort_by(|a, b| a.relative.cmp(&b.relative));
        seen.files.dedup_by(|a, b| a.path == b.path);
        seen
    }

    fn look_at_file(
        &mut self,
        file: HistoryFile,
        lost: &mut Vec<TrackedFile>,
        tell: EventSink<'_>,
    ) -> io::Result<bool> {
        let path = file.path.clone();
        let mut opened = OpenedFile::open(file)?;
        let file = opened.file.clone();
        let same = match self.files.get(&path) {
            Some(tracked) => tracked.is_same_file(&mut opened)?,
            None => false,
        };
        let mut news = Vec::new();
        if !same {
            let moved = match take_lost(lost, &mut opened)? {
                None if self.ready => self.take_moved(&mut opened)?,
                found => found,
            };
            let displaced = match moved {
                None => self.take_displaced(&mut opened)?,
                Some(_) => None,
            };
            let old = self.files.remove(&path);
            let tracked = match (moved, displaced) {
                (Some(moved), _) => {
                    // It replaced another file.
                    news.extend(
                        old.as_ref().map(|old| FollowEvent::Gone { file: old.file.clone() }),
                    );
                    news.push(FollowEvent::Moved { from: moved.file.path.clone(), file });
                    moved
                }
                (None, Some(displaced)) => {
                    news.extend(
                        old.as_ref().map(|old| FollowEvent::Gone { file: old.file.clone() }),
                    );
                    news.push(FollowEvent::Found { file, at: displaced.read });
                    displaced
                }
                (None, None) if old.is_some() => {
                    news.push(FollowEvent::Rewritten { file });
                    TrackedFile::new(&mut opened, FollowStart::Beginning)?
                }
                (None, None) => {
                    let tracked = TrackedFile::new(&mut opened, self.start)?;
                    news.push(FollowEvent::Found { file, at: tracked.read });
                    tracked
                }
            };
            self.displaced.extend(old.map(|old| (old, DISPLACED_LOOKS)));
            self.files.insert(path.clone(), tracked);
        }
        let tracked = self.files.get_mut(&path).expect("because it was known or was put there");
        tracked.update_metadata(&opened);
        if !news.into_iter().all(&mut *tell) {
            return Ok(false);
        }
        while let Some(lines) = tracked.next_lines(&mut opened)? {
            if !tell(FollowEvent::Grew { file: opened.file.clone(), lines }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the tracked file that an opened file was moved from, if its old path no longer leads to it.
    fn take_moved(&mut self, opened: &mut OpenedFile) -> io::Result<Option<TrackedFile>> {
        let is_it = |tracked: &&TrackedFile| {
            tracked.id.is_some() && tracked.id == opened.id && tracked.file.path != opened.file.path
        };
        let Some(tracked) = self.files.values().find(is_it) else { return Ok(None) };
        let is_elsewhere = FileId::from_path(&tracked.file.path).ok() != tracked.id;
        if !is_elsewhere || !tracked.is_same_file(opened)? {
            return Ok(None);
        }
        let path = tracked.file.path.clone();
        Ok(self.files.remove(&path))
    }
}

impl FollowedFiles {
    /// Takes the displaced file that an opened file continues, if it is one.
    fn take_displaced(&mut self, opened: &mut OpenedFile) -> io::Result<Option<TrackedFile>> {
        for at in 0..self.displaced.len() {
            let (tracked, _) = &self.displaced[at];
            let may_be = tracked.file.path != opened.file.path
                && (tracked.read > 0 || tracked.id.is_some() && tracked.id == opened.id);
            if may_be && tracked.is_same_file(opened)? {
                return Ok(Some(self.displaced.swap_remove(at).0));
            }
        }
        Ok(None)
    }
}

/// Takes the lost file that an opened file continues after a move, if it is one.
fn take_lost(
    lost: &mut Vec<TrackedFile>,
    opened: &mut OpenedFile,
) -> io::Result<Option<TrackedFile>> {
    let same_number = |tracked: &TrackedFile| tracked.id.is_some() && tracked.id == opened.id;
    let by_number = lost.iter().position(same_number);
    for at in by_number.into_iter().chain(0..lost.len()) {
        let tracked = &lost[at];
        // If nothing was read of a file, only the inode can identify it.
        if (tracked.read > 0 || Some(at) == by_number) && tracked.is_same_file(opened)? {
            return Ok(Some(lost.swap_remove(at)));
        }
    }
    Ok(None)
}
