//! Looks up a project's files in an earlier survey and in the cache, and saves what had to be read.

use std::path::Path;
use std::sync::Arc;

use ramus_core::activity::Activity;
use ramus_core::digest::Digest;
use ramus_core::inspect::Inspection;
use ramus_core::resume::Rule;
use ramus_core::usage::Account;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Surveyed;
use crate::index::{Index, Level, Lock, Shelf};
use crate::place::{FileRole, HistoryFile, Project};

/// What is needed from every file.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    pub(super) rule: Rule,
    pub(super) more: More,
    /// Whether files of agents and journals are read, too; where they are not, nothing is known of those
    /// that are not remembered.
    pub(super) agents: bool,
}

/// What is needed besides the digest.
#[derive(Clone, Copy)]
pub(super) enum More {
    Nothing,
    /// Token usage and cost, by the price list with this fingerprint.
    Accounts(u64),
    Activities,
    Inspections,
}

impl Wants {
    pub(super) fn digests(rule: Rule) -> Self {
        Self::and(rule, More::Nothing)
    }

    /// Wants digests and something besides, of every file.
    pub(super) fn and(rule: Rule, more: More) -> Self {
        Self { rule, more, agents: true }
    }

    fn wants_file(self, file: &HistoryFile) -> bool {
        self.agents || file.role == FileRole::Session
    }
}

/// A project with the files that need not be read and those that must be.
pub(super) struct Remembered {
    pub(super) project: Project,
    pub(super) files: Vec<Surveyed>,
    pub(super) unread: Vec<Unread>,
    /// `None`: the earlier survey had all files, so the cache was not opened.
    digests: Option<Shelf<Arc<Digest>>>,
    more: Besides,
}

/// A file that has to be read. Its digest may be available already.
pub(super) struct Unread {
    pub(super) file: HistoryFile,
    pub(super) digest: Option<Arc<Digest>>,
}

/// A file that was read. `again`: its digest was already available.
pub(super) struct Fresh {
    pub(super) surveyed: Surveyed,
    pub(super) again: bool,
}

enum Besides {
    Nothing,
    Accounts(Shelf<Arc<Account>>),
    Activities(Shelf<Arc<Activity>>),
    Inspections(Shelf<Arc<Inspection>>),
}

impl Remembered {
    pub(super) fn new(
        index: &Index,
        wants: Wants,
        mut project: Project,
        known: &FxHashMap<&Path, &Surveyed>,
        told: &(dyn Fn(&HistoryFile, Option<&Surveyed>) + Sync),
    ) -> Self {
        let rule = wants.rule;
        let same = |file: &HistoryFile| known.get(&*file.path).filter(|same| same.file == *file);
        let is_known = project.files.iter().all(|file| same(file).is_some());
        let level = Level { name: "digests", rule, tag: 0 };
        let mut digests = (!is_known).then(|| Shelf::open(index, &project, level));
        let mut more = Besides::open(index, &project, wants);
        let mut files = Vec::with_capacity(project.files.len());
        let mut unread = Vec::new();
        for file in std::mem::take(&mut project.files) {
            let same = same(&file);
            let digest = same.map(|same| same.digest.clone());
            let kept = || digests.as_mut().and_then(|shelf| shelf.take(&file.path));
            let Some(digest) = digest.or_else(kept) else {
                if wants.wants_file(&file) {
                    unread.push(Unread { file, digest: None });
                }
                continue;
            };
            let mut surveyed = Surveyed::new(file, digest);
            surveyed.history = same.and_then(|same| same.history.clone());
            if more.tell(&mut surveyed) {
                // Cached files are reported at once, without their digest.
                told(&surveyed.file, None);
                files.push(surveyed);
            } else {
                unread.push(Unread { file: surveyed.file, digest: Some(surveyed.digest) });
            }
        }
        Self { project, files, unread, digests, more }
    }

    fn is_untidy(&self) -> bool {
        self.digests.as_ref().is_some_and(Shelf::is_untidy) || self.more.is_untidy()
    }

    fn keep(&self, lock: &Lock, fresh: &[Fresh]) {
        let mut old: Vec<&Surveyed> = self.files.iter().collect();
        let all: Vec<&Surveyed> = fresh.iter().map(|fresh| &fresh.surveyed).collect();
        match &self.more {
            Besides::Nothing => {}
            Besides::Accounts(shelf) => shelf.keep(lock, &old, &all, |file| file.account.clone()),
            Besides::Activities(shelf) => {
                shelf.keep(lock, &old, &all, |file| file.activity.clone());
            }
            Besides::Inspections(shelf) => {
                shelf.keep(lock, &old, &all, |file| file.inspection.clone());
            }
        }
        if let Some(digests) = &self.digests {
            let (again, new): (Vec<&Fresh>, _) = fresh.iter().partition(|fresh| fresh.again);
            let new: Vec<&Surveyed> = new.into_iter().map(|fresh| &fresh.surveyed).collect();
            old.extend(again.into_iter().map(|fresh| &fresh.surveyed));
            digests.keep(lock, &old, &new, |file| Some(file.digest.clone()));
        }
    }
}

impl Besides {
    fn open(index: &Index, project: &Project, Wants { rule, more, .. }: Wants) -> Self {
        match more {
            More::Nothing => Self::Nothing,
            More::Accounts(tag) => {
                let level = Level { name: "accounts", rule, tag };
                Self::Accounts(Shelf::open(index, project, level))
            }
            More::Activities => {
                let level = Level { name: "activities", rule, tag: 0 };
                Self::Activities(Shelf::open(index, project, level))
            }
            More::Inspections => {
                let level = Level { name: "inspections", rule, tag: 0 };
                Self::Inspections(Shelf::open(index, project, level))
            }
        }
    }

    /// Fills in the extra result of a file from the cache. `false`: it is not cached.
    fn tell(&mut self, file: &mut Surveyed) -> bool {
        match self {
            Self::Nothing => true,
            Self::Accounts(shelf) => {
                file.account = shelf.take(&file.file.path);
                file.account.is_some()
            }
            Self::Activities(shelf) => {
                file.activity = shelf.take(&file.file.path);
                file.activity.is_some()
            }
            Self::Inspections(shelf) => {
                file.inspection = shelf.take(&file.file.path);
                file.inspection.is_some()
            }
        }
    }

    fn is_untidy(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Accounts(shelf) => shelf.is_untidy(),
            Self::Activities(shelf) => shelf.is_untidy(),
            Self::Inspections(shelf) => shelf.is_untidy(),
        }
    }
}

/// Saves what had to be read to the cache.
pub(super) fn remember(index: &Index, projects: &[(Remembered, Vec<Fresh>)]) {
    let has_news = |(remembered, fresh): &&(Remembered, Vec<Fresh>)| {
        !fresh.is_empty() || remembered.is_untidy()
    };
    if !projects.iter().any(|project| has_news(&project)) {
        return;
    }
    let Some(lock) = index.lock() else { return };
    projects.par_iter().filter(has_news).for_each(|(remembered, fresh)| {
        remembered.keep(&lock, fresh);
    });
}
