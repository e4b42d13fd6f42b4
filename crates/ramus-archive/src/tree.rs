//! The archived files of one Claude directory, for reading them in the place of files that are gone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ramus_store::overlay::{ArchivedFile, ArchivedListing, ArchivedTree};
use ramus_store::{FileIdentity, PathError, StoredBytes};

use crate::lazy::LazyArchive;
use crate::storage::{ArchiveError, FileEntry, FileKey};

/// What is archived of one Claude directory.
#[derive(Debug)]
pub struct ArchiveTree {
    archive: Arc<LazyArchive>,
    root: PathBuf,
    /// The listing, and the version of the archive that it was made from.
    listed: Mutex<Option<(u64, Arc<ArchivedListing>)>>,
}

impl ArchiveTree {
    /// Takes the archived files of a Claude directory, whose path has no links on the way.
    pub fn new(archive: Arc<LazyArchive>, root: PathBuf) -> Self {
        Self { archive, root, listed: Mutex::default() }
    }

    fn list(&self) -> Result<Arc<ArchivedListing>, ArchiveError> {
        let Some(archive) = self.archive.open_existing()? else { return Ok(Arc::default()) };
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let version = archive.storage.version()?;
        if let Some((made, listing)) = &*listed
            && *made == version
        {
            return Ok(listing.clone());
        }
        let files = archive.files(Some(&self.root))?;
        let listing: ArchivedListing = files.into_iter().map(archived_file).collect();
        let listing = Arc::new(listing);
        *listed = Some((version, listing.clone()));
        Ok(listing)
    }

    fn open(&self, relative: &Path) -> Result<Box<dyn StoredBytes>, ArchiveError> {
        let key = FileKey { root: self.root.clone(), path: relative.to_owned() };
        let Some(archive) = self.archive.open_existing()? else {
            return Err(ArchiveError::NoGeneration { path: key.full_path(), number: 1 });
        };
        Ok(Box::new(archive.stored_content(&key, None)?))
    }
}

fn archived_file(entry: FileEntry) -> (PathBuf, ArchivedFile) {
    let newest = entry.newest;
    let file = ArchivedFile {
        session: entry.session,
        kind: entry.kind,
        bytes: newest.bytes,
        mode: newest.mode,
        modified: SystemTime::from(newest.modified),
        created: newest.created.map(SystemTime::from),
        identity: FileIdentity::of_content(&newest.hash.0, newest.bytes),
    };
    (entry.key.path, file)
}

impl ArchivedTree for ArchiveTree {
    fn files(&self) -> Result<Arc<ArchivedListing>, PathError> {
        self.list().map_err(|error| error.reading(Path::new(&self.archive.name())))
    }

    fn content(&self, relative: &Path) -> Result<Box<dyn StoredBytes>, PathError> {
        self.open(relative).map_err(|error| error.reading(&self.root.join(relative)))
    }

    fn scratch_dir(&self) -> &Path {
        self.archive.scratch_dir()
    }
}
