//! Archived files in place of deleted ones.
//!
//! An overlay is like the lower layer of a union mount: a path that exists on disk means the file on disk,
//! any other path means the archived file, if there is one. So all code that reads histories by path reads
//! archived ones too. Code that writes uses `regular_file` and sees only the disk.
//!
//! The table of overlays is global, like a mount table: a path means the same to every thread.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::cache::FileIdentity;
use crate::claude_dir::HistoryFile;
use crate::derived::{DerivedRequest, DerivedStore};
use crate::disk::is_missing;
use crate::error::PathError;
use crate::file_mode::file_mode;
use crate::owned::OwnedKind;
use crate::regular_file;
use crate::stored::StoredBytes;

/// The archived files of one Claude directory.
pub trait ArchivedTree: fmt::Debug + Send + Sync {
    /// Returns all files by their path from the Claude directory on.
    fn files(&self) -> Result<Arc<ArchivedListing>, PathError>;

    /// Returns the newest content of a file.
    fn content(&self, relative: &Path) -> Result<Box<dyn StoredBytes>, PathError>;

    /// Returns a directory on a disk with enough space for temporary files.
    fn scratch_dir(&self) -> &Path;

    /// Returns the files as they were listed a moment ago, without asking again where that takes long.
    fn known_files(&self) -> Result<Arc<ArchivedListing>, PathError> {
        self.files()
    }

    /// Returns what the Claude directory is called in the archive.
    fn stored_root(&self) -> &Path;

    /// Returns where derived values of these files are kept. `None`: nowhere.
    fn derived(&self) -> Option<Arc<dyn DerivedStore>> {
        None
    }
}

/// Returns the stores that keep derived values of archived files, each with those files.
pub(crate) fn derived_stores<'a>(
    files: impl Iterator<Item = &'a HistoryFile>,
) -> Vec<(Arc<dyn DerivedStore>, Vec<DerivedRequest>)> {
    let mut stores: Vec<(Arc<dyn DerivedStore>, Vec<DerivedRequest>)> = Vec::new();
    let overlays = OVERLAYS.read().unwrap_or_else(PoisonError::into_inner);
    let mut last: Option<(&PathBuf, Option<usize>, PathBuf)> = None;
    for file in files.filter(|file| file.archived) {
        let Some(identity) = file.identity else { continue };
        // Files of one directory follow one another.
        if !last.as_ref().is_some_and(|(root, ..)| file.path.starts_with(root)) {
            last = overlays.iter().find(|(root, _)| file.path.starts_with(root)).map(
                |(root, tree)| {
                    let at = tree.derived().map(|store| {
                        let is_it =
                            |(other, _): &(Arc<dyn DerivedStore>, _)| Arc::ptr_eq(other, &store);
                        stores.iter().position(is_it).unwrap_or_else(|| {
                            stores.push((store, Vec::new()));
                            stores.len() - 1
                        })
                    });
                    (root, at, tree.stored_root().to_owned())
                },
            );
        }
        let Some((overlay, Some(at), root)) = &last else { continue };
        let Ok(relative) = file.path.strip_prefix(overlay) else { continue };
        let (path, relative) = (file.path.clone(), relative.to_owned());
        stores[*at].1.push(DerivedRequest { path, root: root.clone(), relative, identity });
    }
    stores
}

/// Archived files by their path from the Claude directory on.
pub type ArchivedListing = BTreeMap<PathBuf, ArchivedFile>;

/// What is known about an archived file.
#[derive(Clone, Debug)]
pub struct ArchivedFile {
    pub session: String,
    pub kind: OwnedKind,
    pub bytes: u64,
    pub mode: u32,
    pub modified: SystemTime,
    pub created: Option<SystemTime>,
    /// Made from the content: the same content is the same state.
    pub identity: FileIdentity,
}

/// An overlay of a Claude directory. It ends when it is dropped.
#[derive(Debug)]
pub struct Overlay {
    pub(crate) root: PathBuf,
    pub(crate) tree: Arc<dyn ArchivedTree>,
}

static OVERLAYS: RwLock<Vec<(PathBuf, Arc<dyn ArchivedTree>)>> = RwLock::new(Vec::new());

impl Overlay {
    /// Puts archived files under a Claude directory.
    pub fn new(root: PathBuf, tree: Arc<dyn ArchivedTree>) -> Self {
        let mut overlays = OVERLAYS.write().unwrap_or_else(PoisonError::into_inner);
        overlays.push((root.clone(), tree.clone()));
        Self { root, tree }
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let mut overlays = OVERLAYS.write().unwrap_or_else(PoisonError::into_inner);
        overlays.retain(|(_, tree)| !Arc::ptr_eq(tree, &self.tree));
    }
}

/// A file on disk or in an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) bytes: u64,
    pub(crate) mode: Option<u32>,
}

/// Opens a file for reading: the one on disk, else the archived one.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    match regular_file::open_for_reading(path) {
        Err(error) if is_missing(&error) => match archived(path) {
            Some((tree, relative, file)) => extract(&*tree, &relative, &file),
            None => Err(error),
        },
        opened => opened,
    }
}

/// Reads a whole file that has no reason to be larger than `limit`.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    regular_file::read_open(open(path)?, limit)
}

/// Examines a regular file without following a link. `None` if there is no such file.
pub(crate) fn look(path: &Path) -> io::Result<Option<Look>> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => {
            Ok(Some(Look { bytes: meta.len(), mode: file_mode(&meta).map(|mode| mode & 0o777) }))
        }
        Ok(_) => Ok(None),
        Err(error) if is_missing(&error) => {
            let look =
                |file: ArchivedFile| Look { bytes: file.bytes, mode: Some(file.mode & 0o777) };
            Ok(archived(path).map(|(_, _, file)| look(file)))
        }
        Err(error) => Err(error),
    }
}

/// Whether a path is a directory and not a link to one, on disk or in an archive.
pub(crate) fn is_real_dir(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) => meta.is_dir(),
        Err(error) => is_missing(&error) && !archived_in(path).is_empty(),
    }
}

/// Lists the regular files of a directory, on disk and archived. Links are left out.
pub(crate) fn files_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut files: Vec<PathBuf> = entries.filter(is_file).map(|entry| entry.path()).collect();
    let archived = archived_in(dir).into_iter().map(|(path, _)| path);
    files.extend(archived.filter(|path| path.parent() == Some(dir)));
    files
}

/// Lists the archived files below a directory that are not on disk.
pub(crate) fn archived_in(dir: &Path) -> Vec<(PathBuf, ArchivedFile)> {
    let Some((tree, relative)) = tree_of(dir) else { return Vec::new() };
    let Ok(files) = tree.known_files() else { return Vec::new() };
    let below = files.range(relative.clone()..).take_while(|(path, _)| path.starts_with(&relative));
    let found = below.filter_map(|(path, file)| {
        let full = dir.join(path.strip_prefix(&relative).ok()?);
        full.symlink_metadata().is_err().then(|| (full, file.clone()))
    });
    found.collect()
}

fn tree_of(path: &Path) -> Option<(Arc<dyn ArchivedTree>, PathBuf)> {
    let overlays = OVERLAYS.read().unwrap_or_else(PoisonError::into_inner);
    overlays.iter().find_map(|(root, tree)| {
        let relative = path.strip_prefix(root).ok()?;
        Some((tree.clone(), relative.to_owned()))
    })
}

/// Returns the archived file that a path means because there is none on disk.
pub(crate) fn archived_file(path: &Path) -> Option<ArchivedFile> {
    match path.symlink_metadata() {
        Err(error) if is_missing(&error) => archived(path).map(|(_, _, file)| file),
        _ => None,
    }
}

fn archived(path: &Path) -> Option<(Arc<dyn ArchivedTree>, PathBuf, ArchivedFile)> {
    let (tree, relative) = tree_of(path)?;
    let file = tree.known_files().ok()?.get(&relative)?.clone();
    Some((tree, relative, file))
}

/// Writes an archived content to a file without a name, for readers that jump around in it.
fn extract(tree: &dyn ArchivedTree, relative: &Path, file: &ArchivedFile) -> io::Result<File> {
    // Whoever opens the path names it.
    let content = tree.content(relative).map_err(|error| error.source)?;
    // A temporary directory is often in memory; large sessions do not belong there.
    let mut out = tempfile::tempfile_in(tree.scratch_dir()).or_else(|_| tempfile::tempfile())?;
    let mut n = 0;
    while let Some(piece) = content.piece(n).map_err(|error| error.source)? {
        out.write_all(&piece)?;
        n += 1;
    }
    out.set_modified(file.modified)?;
    out.seek(SeekFrom::Start(0))?;
    Ok(out)
}
