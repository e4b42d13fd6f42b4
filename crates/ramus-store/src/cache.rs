//! The cache: data about files that makes later runs faster.
//!
//! An entry is used only while its file is in exactly the state it was made from ([`FileIdentity`]). So
//! deleting the cache changes the speed and never an answer. Readers never wait. If several processes
//! want to write, one writes and the others skip it.

mod digest_cache;
mod file_identity;
mod frame_file;
mod gram_filter;
mod saved_session;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

pub(crate) use digest_cache::{CacheLevel, DigestCache};
pub use file_identity::FileIdentity;
pub(crate) use gram_filter::{ChunkVerdict, FileGramFilter, ProjectGramFilters, SearchExtent};

use crate::claude_dir::Project;
use crate::error::PathError;
use crate::private_access::{create_private_dirs, make_new_files_private};
use crate::regular_file;

/// Increase this with every change of what is stored or how, including a new `bitcode`. Changes in how
/// records are interpreted are covered by `ramus_core::SOURCES`.
const FORMAT: u32 = 4;
/// The lock file of the process that builds gram filters.
const FILTER_LOCK_NAME: &str = "sketching";

/// The cache directory, if there is one.
#[derive(Clone, Debug)]
pub struct HistoryCache {
    dir: Option<PathBuf>,
}

/// The size of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheSize {
    pub files: u64,
    pub bytes: u64,
}

impl HistoryCache {
    /// Returns a cache that stores nothing.
    pub fn disabled() -> Self {
        Self { dir: None }
    }

    /// Returns a cache in a directory, which is created on the first write.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()) }
    }

    /// Returns the directory.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Returns the size of the cache, of all versions together.
    pub fn size_on_disk(&self) -> Result<CacheSize, PathError> {
        let Some(dir) = &self.dir else { return Ok(CacheSize::default()) };
        sum_sizes(dir).map_err(|source| PathError::new(dir, source))
    }

    /// Deletes all entries, of all versions.
    pub fn clear(&self) -> Result<(), PathError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for version in version_dirs(dir).map_err(|source| PathError::new(dir, source))? {
            fs::remove_dir_all(&version).map_err(|source| PathError::on_write(&version, source))?;
        }
        Ok(())
    }

    /// Whether gram filters can be built now: there is a cache, and no other process is building them.
    pub fn can_build_filters(&self) -> bool {
        matches!(self.try_lock_named(FILTER_LOCK_NAME), Ok(Some(_)))
    }

    /// Returns how many bytes a search has to read because they have no gram filter.
    pub fn unfiltered_bytes(&self, projects: &[Project]) -> u64 {
        projects.par_iter().map(|project| gram_filter::unfiltered_bytes(self, project)).sum()
    }

    /// Builds the missing gram filters. `on_read` gets the size of each file, from several threads.
    ///
    /// `false`: another process is building them, or there is no cache.
    pub fn build_filters(
        &self,
        projects: &[Project],
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<bool, PathError> {
        // Building takes a while, so it has its own lock and does not block other writers.
        let Some(lock) = self.try_lock_named(FILTER_LOCK_NAME)? else { return Ok(false) };
        if let Some(all) = self.try_lock() {
            self.remove_stale(&all);
        }
        for project in projects {
            if gram_filter::unfiltered_bytes(self, project) > 0 {
                gram_filter::build_project_filters(self, &lock, project, on_read)?;
            }
        }
        Ok(true)
    }

    /// Builds the missing gram filters on a single thread, so that other work is not slowed down.
    pub fn build_filters_slowly(&self, projects: &[Project]) {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
        // An error is ignored: a search reads files without a filter.
        drop(pool.install(|| self.build_filters(projects, &|_| {})));
    }

    /// Returns the cache file for a directory or file.
    fn frame_file_path(&self, of: &Path, level: &str) -> Option<PathBuf> {
        let name = xxh3_128(frame_file::absolute_path(of).as_os_str().as_encoded_bytes());
        Some(self.version_dir()?.join(format!("{name:032x}.{level}")))
    }

    fn version_dir(&self) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(version_name()))
    }

    /// Takes the lock for writing project entries. `None`: another process has it, or there is no cache.
    pub(crate) fn try_lock(&self) -> Option<CacheLock> {
        let lock = self.try_lock_named("lock").ok()??;
        self.remove_other_versions(&self.version_dir()?);
        Some(lock)
    }

    fn try_lock_named(&self, name: &str) -> Result<Option<CacheLock>, PathError> {
        let (Some(dir), Some(version)) = (&self.dir, self.version_dir()) else { return Ok(None) };
        create_private_dirs(&version).map_err(|source| PathError::on_write(&version, source))?;
        let path = dir.join(name);
        let file =
            regular_file::open_with_options(private_options(OpenOptions::new().write(true)), &path)
                .map_err(|source| PathError::on_write(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(CacheLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(PathError::on_write(&path, source)),
        }
    }

    /// Deletes entries of files and directories that no longer exist, and unfinished cache files.
    fn remove_stale(&self, _lock: &CacheLock) {
        let packs = self.version_dir().map(|version| list_entries(&version)).and_then(Result::ok);
        for pack in packs.unwrap_or_default() {
            let is_half = pack.extension().is_some_and(|extension| extension == "new");
            if is_half || !frame_file::is_subject_present(&pack).unwrap_or(true) {
                // An error is harmless.
                drop(fs::remove_file(&pack));
            }
        }
    }

    /// Deletes the entries of other versions.
    fn remove_other_versions(&self, version: &Path) {
        let all = self.dir.as_deref().map(version_dirs).and_then(Result::ok).unwrap_or_default();
        for other in all.iter().filter(|other| *other != version) {
            // An error is harmless.
            drop(fs::remove_dir_all(other));
        }
    }
}

/// Returns the name of everything that this version of ramus derives from files: other versions cannot read it.
pub(crate) fn version_name() -> String {
    format!("{FORMAT}-{}", ramus_core::SOURCES)
}

/// Held by the one process that may write. Released when dropped.
pub(crate) struct CacheLock {
    _file: File,
}

fn list_entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn sum_sizes(dir: &Path) -> io::Result<CacheSize> {
    let mut held = CacheSize::default();
    for version in version_dirs(dir)? {
        for file in list_entries(&version)? {
            held.files += 1;
            held.bytes += fs::symlink_metadata(&file)?.len();
        }
    }
    Ok(held)
}

/// Lists the directories of all cache versions. Anything else in the directory is not ours.
fn version_dirs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((format, sources)) = name.and_then(|name| name.split_once('-')) else {
            return false;
        };
        format.parse::<u32>().is_ok()
            && sources.len() == ramus_core::SOURCES.len()
            && sources.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    Ok(list_entries(dir)?.into_iter().filter(|path| is_ours(path) && path.is_dir()).collect())
}

/// Makes new files readable only by their owner.
fn private_options(options: &mut OpenOptions) -> &mut OpenOptions {
    make_new_files_private(options.create(true))
}
