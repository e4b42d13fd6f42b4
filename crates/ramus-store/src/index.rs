//! What is remembered of files, to be faster the second time.
//!
//! The history files are the truth. What is kept of one counts only while the file is the very one it
//! was learnt from ([`Identity`]), so deleting all of it changes speed and never an answer. Readers
//! never wait; of several writers one writes and the others let it be.

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

/// Rises with every change of what is kept or of how it is written, `bitcode` included. What the
/// records of a file mean is told by `ramus_core::SOURCES`.
const FORMAT: u32 = 4;
/// Who makes sketches holds this file.
const SKETCHES: &str = "sketching";

/// Where things are remembered, if they are.
#[derive(Clone, Debug)]
pub struct Index {
    dir: Option<PathBuf>,
}

/// How much is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub files: u64,
    pub bytes: u64,
}

impl Index {
    /// Remembers nothing.
    pub fn none() -> Self {
        Self { dir: None }
    }

    /// Remembers in a directory, which is made when something is written.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()) }
    }

    /// Returns the directory.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Tells how much is remembered, by whatever version.
    pub fn held(&self) -> Result<Held, PathError> {
        let Some(dir) = &self.dir else { return Ok(Held::default()) };
        add_up(dir).map_err(|source| PathError::new(dir, source))
    }

    /// Forgets everything.
    pub fn clear(&self) -> Result<(), PathError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for version in versions(dir).map_err(|source| PathError::new(dir, source))? {
            fs::remove_dir_all(&version).map_err(|source| PathError::writing(&version, source))?;
        }
        Ok(())
    }

    /// Whether sketches can be made now.
    pub fn is_open(&self) -> bool {
        matches!(self.lock_as(SKETCHES), Ok(Some(_)))
    }

    /// Returns how many bytes of projects a search has to read because there is no sketch of them.
    pub fn unsketched(&self, projects: &[Project]) -> u64 {
        projects.par_iter().map(|project| sketches::unknown(self, project)).sum()
    }

    /// Makes the sketches that are missing; `on_read` hears the size of each file, from several threads.
    ///
    /// `false`: somebody else is at work, or nothing is to be remembered.
    pub fn sketch(
        &self,
        projects: &[Project],
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<bool, PathError> {
        // It takes a while, and nobody who writes something else should wait for it.
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

    /// Makes the sketches that are missing, slowly: whoever waits for something else comes first.
    pub fn sketch_aside(&self, projects: &[Project]) {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else { return };
        // Whoever searches reads what has no sketch.
        drop(pool.install(|| self.sketch(projects, &|_| {})));
    }

    /// Returns the file for what is kept of a directory's files.
    fn pack(&self, of: &Path, level: &str) -> Option<PathBuf> {
        let name = xxh3_128(pack::whole(of).as_os_str().as_encoded_bytes());
        Some(self.version()?.join(format!("{name:032x}.{level}")))
    }

    fn version(&self) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join(format!("{FORMAT}-{}", ramus_core::SOURCES)))
    }

    /// Takes the right to write what is kept of projects; `None`: somebody has it, or there is no place
    /// to write to.
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

    /// Drops what is about files and directories that are gone, and what was never finished.
    fn sweep(&self, _lock: &Lock) {
        let packs = self.version().map(|version| entries(&version)).and_then(Result::ok);
        for pack in packs.unwrap_or_default() {
            let is_half = pack.extension().is_some_and(|extension| extension == "new");
            if is_half || !pack::is_wanted(&pack).unwrap_or(true) {
                // What stays is in nobody's way.
                drop(fs::remove_file(&pack));
            }
        }
    }

    /// Drops what other versions wrote.
    fn forget_others(&self, version: &Path) {
        let all = self.dir.as_deref().map(versions).and_then(Result::ok).unwrap_or_default();
        for other in all.iter().filter(|other| *other != version) {
            // What stays is in nobody's way.
            drop(fs::remove_dir_all(other));
        }
    }
}

/// The right to write something, which one process has at a time.
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

/// Lists what ramus made in a directory, by whatever version; what else is there is not ours.
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

/// Lets nobody else read what is made.
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
