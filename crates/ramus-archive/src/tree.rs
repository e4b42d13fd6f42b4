//! The archived files of one Claude directory, for reading them in the place of files that are gone.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ramus_core::query::GramQuery;
use ramus_store::derived::{DerivedKind, DerivedRequest, DerivedStore, FilterAnswer};
use ramus_store::overlay::{ArchivedFile, ArchivedListing, ArchivedTree};
use ramus_store::{FileIdentity, PathError, StoredBytes};

use crate::archive::Archive;
use crate::lazy::LazyArchive;
use crate::storage::{ArchiveError, ContentKey, FileEntry, FileKey};

/// How long a listing of a server is good enough to find a file in.
const KNOWN_LIFETIME: Duration = Duration::from_secs(2);
/// The same for a file on this machine. A search asks for each archived file, which takes a few locks each time.
const LOCAL_KNOWN_LIFETIME: Duration = Duration::from_millis(10);

/// What is archived of one Claude directory.
#[derive(Debug)]
pub struct ArchiveTree {
    archive: Arc<LazyArchive>,
    root: PathBuf,
    /// It belongs to another person or machine.
    is_of_others: bool,
    listed: Mutex<Option<Listed>>,
}

/// A listing, when it was made, and the version of the archive that it was made from.
#[derive(Clone, Debug)]
struct Listed {
    at: Instant,
    version: u64,
    listing: Arc<ArchivedListing>,
}

/// The files of other people and machines. They are listed together: each round to a server takes time.
#[derive(Debug, Default)]
pub(crate) struct TeamListing {
    roots: BTreeSet<PathBuf>,
    /// When the server was asked last, for its version at least.
    at: Option<Instant>,
    /// The version of the listings. `None`: a directory was added since.
    version: Option<u64>,
    listings: HashMap<PathBuf, Arc<ArchivedListing>>,
}

impl ArchiveTree {
    /// Takes the archived files of a Claude directory, whose path has no links on the way.
    pub fn new(archive: Arc<LazyArchive>, root: PathBuf) -> Self {
        Self { archive, root, is_of_others: false, listed: Mutex::default() }
    }

    /// Takes the archived files of another person or machine, by the root that they have in a [`FileKey`].
    pub fn of_others(archive: Arc<LazyArchive>, root: PathBuf) -> Self {
        let mut team = archive.team.lock().unwrap_or_else(PoisonError::into_inner);
        if team.roots.insert(root.clone()) {
            team.version = None;
        }
        drop(team);
        Self { is_of_others: true, ..Self::new(archive, root) }
    }

    fn list(&self) -> Result<Arc<ArchivedListing>, ArchiveError> {
        let Some(archive) = self.archive.open_existing()? else { return Ok(Arc::default()) };
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match self.is_of_others {
            true => self.list_with_others(archive, listed.as_ref().map(|listed| listed.at))?,
            false => self.list_alone(archive, listed.as_ref())?,
        };
        let listing = now.listing.clone();
        *listed = Some(now);
        Ok(listing)
    }

    fn list_alone(
        &self,
        archive: &Archive,
        before: Option<&Listed>,
    ) -> Result<Listed, ArchiveError> {
        let at = Instant::now();
        let version = archive.storage.version()?;
        if let Some(before) = before.filter(|before| before.version == version) {
            return Ok(Listed { at, ..before.clone() });
        }
        let files = archive.files(Some(&self.root))?;
        let listing: ArchivedListing = files.into_iter().map(archived_file).collect();
        Ok(Listed { at, version, listing: Arc::new(listing) })
    }

    /// Lists the files of all others, unless that was done since this directory was listed `before`.
    fn list_with_others(
        &self,
        archive: &Archive,
        before: Option<Instant>,
    ) -> Result<Listed, ArchiveError> {
        let mut team = self.archive.team.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |at: &Instant| before.is_none_or(|before| before < *at);
        let is_fresh = team.at.filter(is_new).is_some_and(|at| at.elapsed() < KNOWN_LIFETIME);
        if !is_fresh || team.version.is_none() {
            team.at = Some(Instant::now());
            let version = archive.storage.version()?;
            if team.version != Some(version) {
                let roots: Vec<PathBuf> = team.roots.iter().cloned().collect();
                let mut listings: HashMap<PathBuf, ArchivedListing> = HashMap::new();
                for entry in archive.storage.files_of_others(&roots)? {
                    let listing = listings.entry(entry.key.root.clone()).or_default();
                    listing.extend([archived_file(entry)]);
                }
                let share = |(root, listing)| (root, Arc::new(listing));
                team.listings = listings.into_iter().map(share).collect();
                team.version = Some(version);
            }
        }
        Ok(Listed {
            at: team.at.unwrap_or_else(Instant::now),
            version: team.version.unwrap_or_default(),
            listing: team.listings.get(&self.root).cloned().unwrap_or_default(),
        })
    }

    fn list_known(&self) -> Result<Arc<ArchivedListing>, ArchiveError> {
        let Some(archive) = self.archive.open_existing()? else { return Ok(Arc::default()) };
        let lifetime = match archive.own_source() {
            Some(_) => KNOWN_LIFETIME,
            None => LOCAL_KNOWN_LIFETIME,
        };
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = listed.as_ref().filter(|one| one.at.elapsed() < lifetime) {
            return Ok(listed.listing.clone());
        }
        drop(listed);
        self.list()
    }

    fn open(&self, relative: &Path) -> Result<Box<dyn StoredBytes>, ArchiveError> {
        let key = FileKey { root: self.root.clone(), path: relative.to_owned() };
        let Some(archive) = self.archive.open_existing()? else {
            return Err(ArchiveError::NoGeneration { path: key.full_path(), number: 1 });
        };
        Ok(Box::new(archive.stored_content(&key, None)?))
    }

    fn reading_error(&self, error: ArchiveError) -> PathError {
        error.reading(Path::new(&self.archive.name()))
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
        self.list().map_err(|error| self.reading_error(error))
    }

    fn known_files(&self) -> Result<Arc<ArchivedListing>, PathError> {
        self.list_known().map_err(|error| self.reading_error(error))
    }

    fn content(&self, relative: &Path) -> Result<Box<dyn StoredBytes>, PathError> {
        self.open(relative).map_err(|error| error.reading(&self.root.join(relative)))
    }

    fn scratch_dir(&self) -> &Path {
        self.archive.scratch_dir()
    }

    fn stored_root(&self) -> &Path {
        &self.root
    }

    fn derived(&self) -> Option<Arc<dyn DerivedStore>> {
        let archive = self.archive.open_existing().ok().flatten()?;
        archive.own_source()?;
        Some(self.archive.clone())
    }
}

impl DerivedStore for LazyArchive {
    fn values(
        &self,
        kind: &DerivedKind,
        files: &[DerivedRequest],
    ) -> Result<HashMap<PathBuf, Vec<u8>>, PathError> {
        let error = |error: ArchiveError| error.reading(Path::new(&self.name()));
        let Some(archive) = self.open_existing().map_err(error)? else { return Ok(HashMap::new()) };
        let values = archive.storage.derived_values(kind, &content_keys(files)).map_err(error)?;
        Ok(values.into_iter().map(|(at, value)| (files[at].path.clone(), value)).collect())
    }

    fn filter(
        &self,
        queries: &[&GramQuery],
        files: &[DerivedRequest],
    ) -> Result<HashMap<PathBuf, FilterAnswer>, PathError> {
        let error = |error: ArchiveError| error.reading(Path::new(&self.name()));
        let Some(archive) = self.open_existing().map_err(error)? else { return Ok(HashMap::new()) };
        let answers = archive.storage.filter_files(queries, &content_keys(files)).map_err(error)?;
        Ok(answers.into_iter().map(|(at, answer)| (files[at].path.clone(), answer)).collect())
    }
}

fn content_keys(files: &[DerivedRequest]) -> Vec<ContentKey> {
    let key = |file: &DerivedRequest| ContentKey {
        key: FileKey { root: file.root.clone(), path: file.relative.clone() },
        identity: file.identity,
    };
    files.iter().map(key).collect()
}
