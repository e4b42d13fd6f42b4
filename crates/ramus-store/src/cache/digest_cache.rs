//! Caches one kind of result, such as digests, for all files of a project.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bitcode::{Decode, DecodeOwned, Encode};
use ramus_core::resume::ResumeRule;
use rustc_hash::FxHashMap;

use super::file_identity::FileIdentity;
use super::{CacheLock, HistoryCache, frame_file};
use crate::buffer_pool;
use crate::claude_dir::{HistoryFile, Project};
use crate::regular_file;
use crate::survey::SurveyedFile;

/// How many stale entries are tolerated before the file is rewritten.
const MAX_STALE: usize = 16;

/// Which kind of result is cached, by which rule it was made, and a tag for what else it depends on, such as prices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheLevel {
    pub(crate) name: &'static str,
    pub(crate) rule: ResumeRule,
    pub(crate) tag: u64,
}

/// The cached results of a project's files.
#[derive(Debug)]
pub(crate) struct DigestCache<T> {
    /// `None`: nothing is cached.
    path: Option<PathBuf>,
    project: PathBuf,
    tag: u64,
    entries: FxHashMap<Box<str>, CachedEntry<T>>,
    /// The length of the cache file, and how much of it is valid.
    length: u64,
    valid_length: u64,
    /// How many entries are current, how many are stale, and whether some describe files that no longer exist.
    live: usize,
    stale: usize,
    has_gone_files: bool,
}

/// The cached result of one file.
#[derive(Debug, Encode, Decode)]
struct CachedEntry<T> {
    path: Box<str>,
    identity: FileIdentity,
    value: T,
}

impl<T: Clone + Encode + DecodeOwned> DigestCache<T> {
    /// Loads the cached results of a project's files.
    pub(crate) fn open(index: &HistoryCache, project: &Project, level: CacheLevel) -> Self {
        let name = format!("{}{}", level.name, level.rule as u8);
        let mut digest_cache = Self {
            // A file outside of a Claude directory has no project.
            path: index.frame_file_path(&project.dir, &name).filter(|_| !project.name.is_empty()),
            project: project.dir.clone(),
            tag: level.tag,
            entries: FxHashMap::default(),
            length: 0,
            valid_length: 0,
            live: 0,
            stale: 0,
            has_gone_files: false,
        };
        if let Some(bytes) = digest_cache.path.as_ref().and_then(|path| read_pooled(path).ok()) {
            digest_cache.load_entries(&bytes, project);
            buffer_pool::return_buffer(bytes);
        }
        digest_cache
    }

    fn load_entries(&mut self, bytes: &[u8], project: &Project) {
        let (frames, whole) = frame_file::content_frames(bytes);
        (self.length, self.valid_length) = (bytes.len() as u64, whole as u64);
        let mut things = 0;
        for frame in frames {
            let Ok((tag, kept)) = bitcode::decode::<(u64, Vec<CachedEntry<T>>)>(frame) else {
                continue;
            };
            things += kept.len();
            if tag == self.tag {
                self.entries.extend(kept.into_iter().map(|kept| (kept.path.clone(), kept)));
            }
        }
        let there: FxHashMap<_, _> = project
            .files
            .iter()
            .filter_map(|file| Some((file.path.to_str()?, file.identity)))
            .collect();
        self.entries.retain(|path, kept| {
            let now = there.get(&**path);
            self.has_gone_files |= now.is_none();
            now.is_some_and(|now| *now == Some(kept.identity))
        });
        self.live = self.entries.len();
        self.stale = things - self.live;
    }

    /// Takes the result of a file, if the file has not changed.
    pub(crate) fn take_value(&mut self, path: &Path) -> Option<T> {
        self.entries.remove(path.to_str()?).map(|kept| kept.value)
    }

    /// Saves the results of a project's files. Those of `fresh` were not cached before.
    pub(crate) fn save_entries(
        &self,
        _lock: &CacheLock,
        old: &[&SurveyedFile],
        fresh: &[&SurveyedFile],
        what: impl Fn(&SurveyedFile) -> Option<T>,
    ) {
        let Some(path) = &self.path else { return };
        let keep = |file: &SurveyedFile| {
            Some(CachedEntry {
                // A path that is not UTF-8 cannot be stored unambiguously.
                path: file.file.path.to_str()?.into(),
                identity: file.file.identity?,
                value: what(file)?,
            })
        };
        let fresh = fresh.iter().filter_map(|file| {
            // The file may have changed while it was read.
            keep(file).filter(|keep| keep.identity.is_still_valid(&file.file.path))
        });
        self.write_entries(
            path,
            || old.iter().copied().filter_map(keep).collect(),
            fresh.collect(),
        );
    }

    /// Returns the result of a file, if the file has not changed.
    pub(crate) fn value(&self, path: &Path) -> Option<&T> {
        self.entries.get(path.to_str()?).map(|kept| &kept.value)
    }

    /// Saves results of files that were not cached before.
    pub(crate) fn save_fresh(&self, _lock: &CacheLock, fresh: Vec<(&HistoryFile, T)>) {
        let Some(path) = &self.path else { return };
        let keep = |(file, value): (&HistoryFile, T)| {
            let identity = file.identity.filter(|it| it.is_still_valid(&file.path))?;
            Some(CachedEntry { path: file.path.to_str()?.into(), identity, value })
        };
        let fresh = fresh.into_iter().filter_map(keep).collect();
        let copy = |kept: &CachedEntry<T>| CachedEntry {
            path: kept.path.clone(),
            identity: kept.identity,
            value: kept.value.clone(),
        };
        self.write_entries(path, || self.entries.values().map(copy).collect(), fresh);
    }

    fn write_entries(
        &self,
        path: &Path,
        old: impl FnOnce() -> Vec<CachedEntry<T>>,
        fresh: Vec<CachedEntry<T>>,
    ) {
        let is_mine = fs::metadata(path).map_or(0, |meta| meta.len()) == self.length;
        // A failed write is harmless: the files are read again next time.
        if self.valid_length == 0
            || self.has_gone_files
            || self.stale > MAX_STALE.max(self.live)
            || !is_mine
        {
            let all = self.encode_entries(old().into_iter().chain(fresh).collect());
            drop(frame_file::replace_frames(path, &self.project, &all));
        } else if !fresh.is_empty() {
            drop(frame_file::append_frame(path, self.valid_length, &self.encode_entries(fresh)));
        }
    }

    /// Whether the cache file should be rewritten although no file was read.
    pub(crate) fn needs_cleanup(&self) -> bool {
        self.has_gone_files
    }

    fn encode_entries(&self, kept: Vec<CachedEntry<T>>) -> Vec<u8> {
        bitcode::encode(&(self.tag, kept))
    }
}

fn read_pooled(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = regular_file::open_for_reading(path)?;
    let mut bytes = buffer_pool::take_buffer(file.metadata()?.len() as usize + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
