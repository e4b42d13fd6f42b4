//! The cache: what is stored about files to be faster the second time.
//!
//! An entry is used only while its file is in exactly the state it was made from ([`Identity`]). So
//! deleting the cache changes the speed and never an answer. Readers never wait. If several processes
//! want to write, one writes and the others skip it.

mod identity;
mod pack;
mod shelf;
mod sketches;
mod table;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

pub use identity::Identity;
pub(crate) use shelf::{Level, Shelf};
pub(crate) use sketches::{FileSketch, Seen, Sight, Sketches};

use crate::error::PathError;
use crate::place::Project;
use crate::regular;

/// Increase this with every change of what is stored or how, including a new `bitcode`. Changes in how
/// records are interpreted are covered by `ramus_core::SOURCES`.
const FORMAT: u32 = 4;
/// The lock file of the process that builds gram filters.
const SKETCHES: &str = "sketching";

/// The cache directory, if there is one.
#[derive(Clone, Debug)]
pub struct Index {
    dir: Option<PathBuf>,
}

/// The size of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub files: u64,
    pub bytes: u64,
}

impl Index {
    /// Returns a cache that stores nothing.
    pub fn none() -> Self {
        Self { dir: None }
    }

    /// Returns a cache in a directory, which is created on the first write.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()) }
    }

    /// Returns the directory.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Returns the size of the cache, of all versions together.
    pub fn held(&self) -> Result<Held, PathError> {
        let Some(dir) = &self.dir else { return Ok(Held::default()) };
        add_up(dir).map_err(|source| PathError::new(dir, source))
    }

    /// Deletes all entries, of all versions.
    pub fn clear(&self) -> Result<(), PathError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for version in versions(dir).map_err(|source| PathError::new(dir, source))? {
            fs::remove_dir_all(&version).map_err(|source| PathError::writing(&version, source))?;
        }
        Ok(())
    }

    /// Whether gram filters can be built now: there is a cache, and no other process is building them.
    pub fn is_open(&self) -> bool {
        matches!(self.lock_as(SKETCHES), Ok(Some(_)))
    }

    /// Returns how many bytes a search has to read because they have no gram filter.
    pub fn unsketched(&self, projects: &[Project]) -> u64 {
        projects.par_iter().map(|project| sketches::unknown(self, project)).sum()
    }

    /// Builds the missing gram filters. `on_read` gets the size of each file, from several threads.
    ///
    /// `false`: another process is building them, or there is no cache.
    pub fn sketch(
        &self,
        projects: &[Project],
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<bool, PathError> {
        // Building takes a while, so it has its own lock and does not block other writers.
        let Some(lock) = self.lock_as(SKETCHES)? else { return Ok(false) };
        if let Some(all) = self.lock() {
            self.sweep(&all);
        }
        for project in projects {
            if sketches::unknown(self, project) > 0 {
                sketches::build(self, &lock, project, on_read)?;
            }
        }
        Ok(true)
    }

    /// Builds the missing gram filters on a single thread, so that other work is not slowed down.
    pub fn sketch_aside(&self, projects: &[Project]) {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
        // An error is ignored: a search reads files without a filter.
        drop(pool.install(|| self.sketch(projects, &|_| {})));
    }

    /// Returns the cache file for a directory or file.
    fn pack(&self, of: &Path, level: &str) -> Option<PathBuf> {
        let name = xxh3_128(pack::whole(of).as_os_str().as_encoded_bytes());
        Some(self.version()?.join(format!("{name:032x}.{level}")))
    }

    fn version(&self) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(format!("{FORMAT}-{}", ramus_core::SOURCES)))
    }

    /// Takes the lock for writing project entries. `None`: another process has it, or there is no cache.
    pub(crate) fn lock(&self) -> Option<Lock> {
        let lock = self.lock_as("lock").ok()??;
        self.forget_others(&self.version()?);
        Some(lock)
    }

    fn lock_as(&self, name: &str) -> Result<Option<Lock>, PathError> {
        let (Some(dir), Some(version)) = (&self.dir, self.version()) else { return Ok(None) };
        make_dir(&version).map_err(|source| PathError::writing(&version, source))?;
        let path = dir.join(name);
        let file = regular::open_with(private(OpenOptions::new().write(true)), &path)
            .map_err(|source| PathError::writing(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(PathError::writing(&path, source)),
        }
    }

    /// Deletes entries of files and directories that no longer exist, and unfinished cache files.
    fn sweep(&self, _lock: &Lock) {
        let packs = self.version().map(|version| entries(&version)).and_then(Result::ok);
        for pack in packs.unwrap_or_default() {
            let is_half = pack.extension().is_some_and(|extension| extension == "new");
            if is_half || !pack::is_wanted(&pack).unwrap_or(true) {
                // An error is harmless.
                drop(fs::remove_file(&pack));
            }
        }
    }

    /// Deletes the entries of other versions.
    fn forget_others(&self, version: &Path) {
        let all = self.dir.as_deref().map(versions).and_then(Result::ok).unwrap_or_default();
        for other in all.iter().filter(|other| *other != version) {
            // An error is harmless.
            drop(fs::remove_dir_all(other));
        }
    }
}

/// Held by the one process that may write. Released when dropped.
pub(crate) struct Lock {
    _file: File,
}

fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn add_up(dir: &Path) -> io::Result<Held> {
    let mut held = Held::default();
    for version in versions(dir)? {
        for file in entries(&version)? {
            held.files += 1;
            held.bytes += fs::symlink_metadata(&file)?.len();
        }
    }
    Ok(held)
}

/// Lists the directories of all cache versions. Anything else in the directory is not ours.
fn versions(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((format, sources)) = name.and_then(|name| name.split_once('-')) else {
            return false;
        };
        format.parse::<u32>().is_ok()
            && sources.len() == ramus_core::SOURCES.len()
            && sources.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    Ok(entries(dir)?.into_iter().filter(|path| is_ours(path) && path.is_dir()).collect())
}

/// Makes new files readable only by their owner.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
