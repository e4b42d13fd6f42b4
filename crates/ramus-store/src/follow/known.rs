//! Keeps track of all followed files, and tells new, deleted and moved files apart.

use std::io;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::events::Dirty;
use super::tracked::{FileId, Opened, Tracked};
use super::{Change, Start};
use crate::error::PathError;
use crate::index::Index;
use crate::place::{HistoryFile, Place, Project};

/// Receives events. Returns `false` when the receiver is gone.
pub(super) type Tell<'a> = &'a mut dyn FnMut(Change) -> bool;

/// The files that are followed.
#[derive(Debug)]
pub(super) struct Known {
    place: Place,
    start: Start,
    files: FxHashMap<PathBuf, Tracked>,
    /// All files that existed at the start have been found.
    ready: bool,
    /// Paths that could not be read and were reported.
    problems: FxHashSet<PathBuf>,
    /// Files that disappeared, and for how many more full checks each may turn up at another path. Lines that
    /// were sent are not sent again then.
    displaced: Vec<(Tracked, u8)>,
}

/// A file that is moved during a listing can be missed once.
const LOOKS: u8 = 2;

/// The result of checking some paths.
#[derive(Default)]
struct Seen {
    files: Vec<HistoryFile>,
    missing: Vec<PathBuf>,
    problems: Vec<PathError>,
}

impl Known {
    pub(super) fn new(roots: Vec<PathBuf>, start: Start) -> Self {
        Self {
            place: Place { roots, index: Index::none() },
            start,
            files: FxHashMap::default(),
            ready: false,
            problems: FxHashSet::default(),
            displaced: Vec::new(),
        }
    }

    /// Checks what may have changed and sends events. `false`: the receiver is gone.
    pub(super) fn settle(&mut self, dirty: &Dirty, tell: Tell<'_>) -> bool {
        let seen = if dirty.all { self.see_all() } else { self.see(&dirty.paths) };
        let mut lost: Vec<Tracked> =
            seen.missing.iter().filter_map(|path| self.files.remove(path)).collect();
        if !seen.problems.into_iter().all(|problem| self.refused(problem, tell)) {
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
            let listens = match self.look(file, &mut lost, tell) {
                Ok(listens) => {
                    self.problems.remove(&path);
                    listens
                }
                // Deleted after it was listed. The next check reports it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                Err(error) => self.refused(PathError::new(&path, error), tell),
            };
            if !listens {
                return false;
            }
        }
        // Files that appear later are sent from their beginning.
        (self.start, self.ready) = (Start::Beginning, true);
        if dirty.all {
            self.displaced.retain_mut(|(_, looks)| {
                *looks -= 1;
                *looks > 0
            });
        }
        let gone: Vec<HistoryFile> = lost.iter().map(|tracked| tracked.file.clone()).collect();
        self.displaced.extend(lost.into_iter().map(|tracked| (tracked, LOOKS)));
        gone.into_iter().all(|file| tell(Change::Gone { file }))
    }

    /// Reports a problem, unless it was reported before.
    fn refused(&mut self, problem: PathError, tell: Tell<'_>) -> bool {
        !self.problems.insert(problem.path.clone()) || tell(Change::Problem(problem))
    }

    fn see_all(&self) -> Seen {
        let listing = self.place.projects();
        let files: Vec<HistoryFile> =
            listing.projects.into_iter().flat_map(|project| project.files).collect();
        let there: FxHashSet<&Path> = files.iter().map(|file| &*file.path).collect();
        let missing = self.files.keys().filter(|path| !there.contains(&***path)).cloned().collect();
        Seen { files, missing, problems: listing.problems }
    }

    /// Checks some paths. If a known file is gone, checks everything, because it may have been moved.
    fn see(&self, paths: &FxHashSet<PathBuf>) -> Seen {
        let mut seen = Seen::default();
        let mut dirs: FxHashSet<(&Path, PathBuf)> = FxHashSet::default();
        for path in paths {
            let Some(root) = self.place.roots.iter().find(|root| path.starts_with(root)) else {
                continue;
            };
            match HistoryFile::within(root, path) {
                Some(Ok(file)) => seen.files.push(file),
                Some(Err(problem)) if problem.source.kind() != io::ErrorKind::NotFound => {
                    seen.problems.push(problem);
                }
                Some(Err(_)) if self.files.contains_key(path) => return self.see_all(),
                Some(Err(_)) => {}
                None if path.is_file() => {}
                None => {
                    let projects = root.join("projects");
                    match path.strip_prefix(&projects).ok().and_then(|below| below.iter().next()) {
                        Some(project) if path.is_dir() => {
                            dirs.insert((root, projects.join(project)));
                        }
                        _ if projects.starts_with(path) || path.starts_with(&projects) => {
                            return self.see_all();
                        }
                        _ => {}
                    }
                }
            }
        }
        for (root, dir) in dirs {
            seen.files.extend(Project::list(root, dir, &mut seen.problems).files);
        }
        seen.files.sort_by(|a, b| a.relative.cmp(&b.relative));
        seen.files.dedup_by(|a, b| a.path == b.path);
        seen
    }

    fn look(
        &mut self,
        file: HistoryFile,
        lost: &mut Vec<Tracked>,
        tell: Tell<'_>,
    ) -> io::Result<bool> {
        let path = file.path.clone();
        let mut opened = Opened::open(file)?;
        let file = opened.file.clone();
        let same = match self.files.get(&path) {
            Some(tracked) => tracked.is(&mut opened)?,
            None => false,
        };
        let mut news = Vec::new();
        if !same {
            let moved = match find(lost, &mut opened)? {
                None if self.ready => self.moved_to(&mut opened)?,
                found => found,
            };
            let displaced = match moved {
                None => self.displaced_to(&mut opened)?,
                Some(_) => None,
            };
            let old = self.files.remove(&path);
            let tracked = match (moved, displaced) {
                (Some(moved), _) => {
                    // It replaced another file.
                    news.extend(old.as_ref().map(|old| Change::Gone { file: old.file.clone() }));
                    news.push(Change::Moved { from: moved.file.path.clone(), file });
                    moved
                }
                (None, Some(displaced)) => {
                    news.extend(old.as_ref().map(|old| Change::Gone { file: old.file.clone() }));
                    news.push(Change::Found { file, at: displaced.read });
                    displaced
                }
                (None, None) if old.is_some() => {
                    news.push(Change::Rewritten { file });
                    Tracked::new(&mut opened, Start::Beginning)?
                }
                (None, None) => {
                    let tracked = Tracked::new(&mut opened, self.start)?;
                    news.push(Change::Found { file, at: tracked.read });
                    tracked
                }
            };
            self.displaced.extend(old.map(|old| (old, LOOKS)));
            self.files.insert(path.clone(), tracked);
        }
        let tracked = self.files.get_mut(&path).expect("because it was known or was put there");
        tracked.refresh(&opened);
        if !news.into_iter().all(&mut *tell) {
            return Ok(false);
        }
        while let Some(lines) = tracked.next_lines(&mut opened)? {
            if !tell(Change::Grew { file: opened.file.clone(), lines }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the tracked file that an opened file was moved from, if its old path no longer leads to it.
    fn moved_to(&mut self, opened: &mut Opened) -> io::Result<Option<Tracked>> {
        let is_it = |tracked: &&Tracked| {
            tracked.id.is_some() && tracked.id == opened.id && tracked.file.path != opened.file.path
        };
        let Some(tracked) = self.files.values().find(is_it) else { return Ok(None) };
        let is_elsewhere = FileId::of(&tracked.file.path) != tracked.id;
        if !is_elsewhere || !tracked.is(opened)? {
            return Ok(None);
        }
        let path = tracked.file.path.clone();
        Ok(self.files.remove(&path))
    }
}

impl Known {
    /// Takes the displaced file that an opened file continues, if it is one.
    fn displaced_to(&mut self, opened: &mut Opened) -> io::Result<Option<Tracked>> {
        for at in 0..self.displaced.len() {
            let (tracked, _) = &self.displaced[at];
            let may_be = tracked.file.path != opened.file.path
                && (tracked.read > 0 || tracked.id.is_some() && tracked.id == opened.id);
            if may_be && tracked.is(opened)? {
                return Ok(Some(self.displaced.swap_remove(at).0));
            }
        }
        Ok(None)
    }
}

/// Takes the lost file that an opened file continues after a move, if it is one.
fn find(lost: &mut Vec<Tracked>, opened: &mut Opened) -> io::Result<Option<Tracked>> {
    let same_number = |tracked: &Tracked| tracked.id.is_some() && tracked.id == opened.id;
    let by_number = lost.iter().position(same_number);
    for at in by_number.into_iter().chain(0..lost.len()) {
        let tracked = &lost[at];
        // If nothing was read of a file, only the inode can identify it.
        if (tracked.read > 0 || Some(at) == by_number) && tracked.is(opened)? {
            return Ok(Some(lost.swap_remove(at)));
        }
    }
    Ok(None)
}
