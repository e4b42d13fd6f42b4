//! Looks up a project's files in an earlier survey and in the cache, and saves what had to be read.

use std::path::Path;
use std::sync::Arc;

use ramus_core::activity::Activity;
use ramus_core::digest::SessionDigest;
use ramus_core::inspect::Inspection;
use ramus_core::resume::ResumeRule;
use ramus_core::usage::FileUsage;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::SurveyedFile;
use crate::cache::{CacheLevel, CacheLock, DigestCache, HistoryCache};
use crate::claude_dir::{FileRole, HistoryFile, Project};

/// What is needed from every file.
#[derive(Clone, Copy)]
pub(super) struct SurveyRequest {
    pub(super) rule: ResumeRule,
    pub(super) extra: SurveyExtra,
    /// Whether files of agents and journals are read, too; where they are not, nothing is known of those
    /// that are not remembered.
    pub(super) agents: bool,
}

/// What is needed besides the digest.
#[derive(Clone, Copy)]
pub(super) enum SurveyExtra {
    Nothing,
    /// Token usage and cost, by the price list with this fingerprint.
    Accounts(u64),
    Activities,
    Inspections,
}

impl SurveyRequest {
    pub(super) fn digests_only(rule: ResumeRule) -> Self {
        Self::and(rule, SurveyExtra::Nothing)
    }

    /// Wants digests and something besides, of every file.
    pub(super) fn and(rule: ResumeRule, extra: SurveyExtra) -> Self {
        Self { rule, extra, agents: true }
    }

    fn wants_file(self, file: &HistoryFile) -> bool {
        self.agents || file.role == FileRole::Session
    }
}

/// A project with the files that need not be read and those that must be.
pub(super) struct CachedProject {
    pub(super) project: Project,
    pub(super) files: Vec<SurveyedFile>,
    pub(super) unread: Vec<UnreadFile>,
    /// `None`: the earlier survey had all files, so the cache was not opened.
    digests: Option<DigestCache<Arc<SessionDigest>>>,
    extra: ExtraCache,
}

/// A file that has to be read. Its digest may be available already.
pub(super) struct UnreadFile {
    pub(super) file: HistoryFile,
    pub(super) digest: Option<Arc<SessionDigest>>,
}

/// A file that was read. `again`: its digest was already available.
pub(super) struct FreshFile {
    pub(super) surveyed: SurveyedFile,
    pub(super) had_digest: bool,
}

enum ExtraCache {
    Nothing,
    Accounts(DigestCache<Arc<FileUsage>>),
    Activities(DigestCache<Arc<Activity>>),
    Inspections(DigestCache<Arc<Inspection>>),
}

impl CachedProject {
    pub(super) fn load(
        index: &HistoryCache,
        wants: SurveyRequest,
        mut project: Project,
        known: &FxHashMap<&Path, &SurveyedFile>,
        on_file: &(dyn Fn(&HistoryFile, Option<&SurveyedFile>) + Sync),
    ) -> Self {
        let rule = wants.rule;
        let same = |file: &HistoryFile| known.get(&*file.path).filter(|same| same.file == *file);
        let is_known = project.files.iter().all(|file| same(file).is_some());
        let level = CacheLevel { name: "digests", rule, tag: 0 };
        let mut digests = (!is_known).then(|| DigestCache::open(index, &project, level));
        let mut extra = ExtraCache::open(index, &project, wants);
        let mut files = Vec::with_capacity(project.files.len());
        let mut unread = Vec::new();
        for file in std::mem::take(&mut project.files) {
            let same = same(&file);
            let digest = same.map(|same| same.digest.clone());
            let kept =
                || digests.as_mut().and_then(|digest_cache| digest_cache.take_value(&file.path));
            let Some(digest) = digest.or_else(kept) else {
                if wants.wants_file(&file) {
                    unread.push(UnreadFile { file, digest: None });
                }
                continue;
            };
            let mut surveyed = SurveyedFile::new(file, digest);
            surveyed.history = same.and_then(|same| same.history.clone());
            if extra.fill_extra(&mut surveyed) {
                // Cached files are reported at once, without their digest.
                on_file(&surveyed.file, None);
                files.push(surveyed);
            } else {
                unread.push(UnreadFile { file: surveyed.file, digest: Some(surveyed.digest) });
            }
        }
        Self { project, files, unread, digests, extra }
    }

    fn needs_cleanup(&self) -> bool {
        self.digests.as_ref().is_some_and(DigestCache::needs_cleanup) || self.extra.needs_cleanup()
    }

    fn save_fresh(&self, lock: &CacheLock, fresh: &[FreshFile]) {
        let mut old: Vec<&SurveyedFile> = self.files.iter().collect();
        let all: Vec<&SurveyedFile> = fresh.iter().map(|fresh| &fresh.surveyed).collect();
        match &self.extra {
            ExtraCache::Nothing => {}
            ExtraCache::Accounts(digest_cache) => {
                digest_cache.save_entries(lock, &old, &all, |file| file.account.clone());
            }
            ExtraCache::Activities(digest_cache) => {
                digest_cache.save_entries(lock, &old, &all, |file| file.activity.clone());
            }
            ExtraCache::Inspections(digest_cache) => {
                digest_cache.save_entries(lock, &old, &all, |file| file.inspection.clone());
            }
        }
        if let Some(digests) = &self.digests {
            let (again, new): (Vec<&FreshFile>, _) =
                fresh.iter().partition(|fresh| fresh.had_digest);
            let new: Vec<&SurveyedFile> = new.into_iter().map(|fresh| &fresh.surveyed).collect();
            old.extend(again.into_iter().map(|fresh| &fresh.surveyed));
            digests.save_entries(lock, &old, &new, |file| Some(file.digest.clone()));
        }
    }
}

impl ExtraCache {
    fn open(
        index: &HistoryCache,
        project: &Project,
        SurveyRequest { rule, extra: more, .. }: SurveyRequest,
    ) -> Self {
        match more {
            SurveyExtra::Nothing => Self::Nothing,
            SurveyExtra::Accounts(tag) => {
                let level = CacheLevel { name: "accounts", rule, tag };
                Self::Accounts(DigestCache::open(index, project, level))
            }
            SurveyExtra::Activities => {
                let level = CacheLevel { name: "activities", rule, tag: 0 };
                Self::Activities(DigestCache::open(index, project, level))
            }
            SurveyExtra::Inspections => {
                let level = CacheLevel { name: "inspections", rule, tag: 0 };
                Self::Inspections(DigestCache::open(index, project, level))
            }
        }
    }

    /// Fills in the extra result of a file from the cache. `false`: it is not cached.
    fn fill_extra(&mut self, file: &mut SurveyedFile) -> bool {
        match self {
            Self::Nothing => true,
            Self::Accounts(digest_cache) => {
                file.account = digest_cache.take_value(&file.file.path);
                file.account.is_some()
            }
            Self::Activities(digest_cache) => {
                file.activity = digest_cache.take_value(&file.file.path);
                file.activity.is_some()
            }
            Self::Inspections(digest_cache) => {
                file.inspection = digest_cache.take_value(&file.file.path);
                file.inspection.is_some()
            }
        }
    }

    fn needs_cleanup(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Accounts(digest_cache) => digest_cache.needs_cleanup(),
            Self::Activities(digest_cache) => digest_cache.needs_cleanup(),
            Self::Inspections(digest_cache) => digest_cache.needs_cleanup(),
        }
    }
}

/// Saves what had to be read to the cache.
pub(super) fn save_projects(index: &HistoryCache, projects: &[(CachedProject, Vec<FreshFile>)]) {
    let has_news = |(remembered, fresh): &&(CachedProject, Vec<FreshFile>)| {
        !fresh.is_empty() || remembered.needs_cleanup()
    };
    if !projects.iter().any(|project| has_news(&project)) {
        return;
    }
    let Some(lock) = index.try_lock() else { return };
    projects.par_iter().filter(has_news).for_each(|(remembered, fresh)| {
        remembered.save_fresh(&lock, fresh);
    });
}
