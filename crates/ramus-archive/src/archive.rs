//! An archive as commands use it.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::ids::ShortIds;
use ramus_core::time::Time;
use ramus_store::owned::{OwnedFile, OwnedKind};
use ramus_store::{FileIdentity, PathError, open_regular};

use crate::add::{AddReport, AddRun, add_files};
use crate::content::ArchivedContent;
use crate::postgres::PostgresStorage;
use crate::sqlite::SqliteStorage;
use crate::storage::{
    ArchiveError, ArchiveStorage, FileEntry, FileKey, Forgotten, Generation, Source, Totals,
};

/// An archive of histories.
#[derive(Clone, Debug)]
pub struct Archive {
    pub(crate) storage: Arc<dyn ArchiveStorage>,
    scratch: PathBuf,
}

/// All that is archived of one session.
#[derive(Clone, Debug)]
pub struct ArchivedSession {
    /// The Claude directory that it is, or was, in.
    pub root: PathBuf,
    pub id: String,
    /// Its files by path.
    pub files: Vec<FileEntry>,
}

/// How many letters of an id are enough.
const PREFIX: usize = 4;

/// Why an archived session was not found.
#[derive(Debug, thiserror::Error)]
pub enum SessionLookupError {
    #[error("no archived session has the id {0:?}")]
    None(String),
    #[error("{typed:?} matches several archived sessions: {}", .ids.join(", "))]
    Several { typed: String, ids: Vec<String> },
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl ArchivedSession {
    /// Returns the file with the session's own records. `None`: only other files were archived.
    pub fn transcript(&self) -> Option<&FileEntry> {
        self.files.iter().find(|file| file.kind == OwnedKind::Session)
    }

    /// Returns the name of the project's directory.
    pub fn project(&self) -> Option<String> {
        let below = |file: &FileEntry| file.key.project();
        self.transcript().and_then(below).or_else(|| self.files.iter().find_map(below))
    }

    /// Returns the length of all its files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.newest.bytes).sum()
    }
}

impl Archive {
    /// Opens the archive in a file; it is made if it does not exist.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Ok(Self::in_file(SqliteStorage::open(path)?, path))
    }

    /// Opens the archive in a file. `None`: there is none.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, ArchiveError> {
        // An empty file is an archive that was about to be made.
        match path.metadata() {
            Ok(meta) if meta.len() > 0 => {
                Ok(Some(Self::in_file(SqliteStorage::open_existing(path)?, path)))
            }
            _ => Ok(None),
        }
    }

    /// Opens the archive on a server. `machine` is what this machine is called there.
    pub fn connect(url: &str, machine: &str) -> Result<Self, ArchiveError> {
        let storage = Arc::new(PostgresStorage::open(url, machine)?);
        Ok(Self { storage, scratch: std::env::temp_dir() })
    }

    /// Makes the tables on a server; with `is_team` also its roles and row security. It can be repeated.
    pub fn initialize_server(url: &str, is_team: bool) -> Result<(), ArchiveError> {
        PostgresStorage::create(url, is_team)
    }

    fn in_file(storage: SqliteStorage, path: &Path) -> Self {
        let scratch = path.parent().unwrap_or(Path::new(".")).to_owned();
        Self { storage: Arc::new(storage), scratch }
    }

    /// Returns the name of the archive in messages: its location.
    pub fn name(&self) -> &str {
        self.storage.name()
    }

    /// Returns a directory on a disk with enough space for temporary files.
    pub fn scratch_dir(&self) -> &Path {
        &self.scratch
    }

    /// Archives new content of some files. Unreadable files are reported to `on_problem` and skipped.
    pub fn add(
        &self,
        files: &[OwnedFile],
        now: Time,
        on_read: &(dyn Fn(u64) + Sync),
        on_problem: &(dyn Fn(&PathError) + Sync),
    ) -> Result<AddReport, ArchiveError> {
        let run = AddRun { storage: &*self.storage, now, redact: false, on_read, on_problem };
        add_files(&run, files)
    }

    /// Like [`add`](Self::add), but removes secrets and personal data before anything leaves this machine. Files that
    /// are not text are left out.
    pub fn add_redacted(
        &self,
        files: &[OwnedFile],
        now: Time,
        on_read: &(dyn Fn(u64) + Sync),
        on_problem: &(dyn Fn(&PathError) + Sync),
    ) -> Result<AddReport, ArchiveError> {
        let run = AddRun { storage: &*self.storage, now, redact: true, on_read, on_problem };
        add_files(&run, files)
    }

    /// Lists the archived files of one Claude directory, or of all.
    pub fn files(&self, root: Option<&Path>) -> Result<Vec<FileEntry>, ArchiveError> {
        self.storage.files(root)
    }

    /// Lists the archived sessions of one Claude directory, or of all.
    pub fn sessions(&self, root: Option<&Path>) -> Result<Vec<ArchivedSession>, ArchiveError> {
        let mut sessions: BTreeMap<(PathBuf, String), Vec<FileEntry>> = BTreeMap::new();
        for file in self.files(root)? {
            let key = (file.key.root.clone(), file.session.clone());
            sessions.entry(key).or_default().push(file);
        }
        let session = |((root, id), files)| ArchivedSession { root, id, files };
        Ok(sessions.into_iter().map(session).collect())
    }

    /// Returns the ids of all archived sessions, so that their short forms mean no other one.
    pub fn short_ids(&self) -> Result<ShortIds, ArchiveError> {
        let files = self.files(None)?;
        Ok(files.iter().map(|file| &*file.session).collect())
    }

    /// Finds the selected session: by its id, or by enough of its first letters. Sessions of the given
    /// Claude directories come first.
    pub fn find_session(
        &self,
        roots: &[PathBuf],
        typed: &str,
    ) -> Result<ArchivedSession, SessionLookupError> {
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            self.sessions(None)?.into_iter().partition(|session| roots.contains(&session.root));
        for sessions in [here, elsewhere] {
            let is_exact = |session: &&ArchivedSession| session.id == typed;
            let is_prefix =
                |session: &&ArchivedSession| typed.len() >= PREFIX && session.id.starts_with(typed);
            let mut found: Vec<&ArchivedSession> = sessions.iter().filter(is_exact).collect();
            if found.is_empty() {
                found = sessions.iter().filter(is_prefix).collect();
            }
            match found[..] {
                [] => {}
                [session] => return Ok(session.clone()),
                ref several => {
                    let ids = several.iter().map(|session| session.id.clone()).collect();
                    return Err(SessionLookupError::Several { typed: typed.to_owned(), ids });
                }
            }
        }
        Err(SessionLookupError::None(typed.to_owned()))
    }

    /// Lists the generations of a file, oldest first.
    pub fn generations(&self, key: &FileKey) -> Result<Vec<Generation>, ArchiveError> {
        self.storage.generations(key)
    }

    /// Returns a content of a file: that of a generation, or the newest.
    pub fn content(
        &self,
        file: &FileEntry,
        number: Option<u32>,
    ) -> Result<ArchivedContent, ArchiveError> {
        self.stored_content(&file.key, number)
    }

    /// Returns a content of a file as the archive has it now.
    pub(crate) fn stored_content(
        &self,
        key: &FileKey,
        number: Option<u32>,
    ) -> Result<ArchivedContent, ArchiveError> {
        match self.storage.generation_chunks(key, number)? {
            Some(stored) => Ok(ArchivedContent::new(self.storage.clone(), key, stored)),
            None => {
                let (path, number) = (key.full_path(), number.unwrap_or(1));
                Err(ArchiveError::NoGeneration { path, number })
            }
        }
    }

    /// Removes a session from the archive permanently.
    pub fn forget(&self, session: &ArchivedSession) -> Result<Forgotten, ArchiveError> {
        let keys: Vec<FileKey> = session.files.iter().map(|file| file.key.clone()).collect();
        self.storage.forget(&keys)
    }

    /// Returns the person and the machine that add files. `None`: it is an archive of one person, in a file.
    pub fn own_source(&self) -> Option<(&str, &str)> {
        self.storage.own_source()
    }

    /// Lists the archived Claude directories of other people and machines, each with the root of its files.
    pub fn other_sources(&self) -> Result<Vec<(PathBuf, Source)>, ArchiveError> {
        self.storage.other_sources()
    }

    /// Lets the team read a project. Returns whether it was not shared before.
    pub fn share_project(&self, project: &str) -> Result<bool, ArchiveError> {
        self.storage.set_shared(project, true)
    }

    /// Ends that. Returns whether it was shared.
    pub fn unshare_project(&self, project: &str) -> Result<bool, ArchiveError> {
        self.storage.set_shared(project, false)
    }

    /// Lists the projects that this person shares.
    pub fn shared_projects(&self) -> Result<Vec<String>, ArchiveError> {
        self.storage.shared_projects()
    }

    /// Returns the size of the archive.
    pub fn totals(&self) -> Result<Totals, ArchiveError> {
        self.storage.totals()
    }
}

/// Whether an archived file equals the file on disk, by size and dates alone: `false` for a file whose date is too
/// young to tell.
pub(crate) fn is_archived(entry: &FileEntry, identity: Option<FileIdentity>) -> bool {
    let listed = identity.map(FileIdentity::to_bytes);
    listed.is_some() && entry.identity.as_deref() == listed.as_ref().map(|bytes| &bytes[..])
}

/// Whether an archived file equals the file on disk. A file whose dates do not tell is read: a hook archives a session
/// right after its last line was written, when a later change could still leave the same date.
pub fn is_archived_as_it_is(
    entry: &FileEntry,
    path: &Path,
    identity: Option<FileIdentity>,
) -> bool {
    is_archived(entry, identity) || has_archived_bytes(entry, path).unwrap_or(false)
}

fn has_archived_bytes(entry: &FileEntry, path: &Path) -> io::Result<bool> {
    let file = open_regular(path)?;
    if file.metadata()?.len() != entry.newest.bytes {
        return Ok(false);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(entry.newest.bytes))?;
    Ok(*hasher.finalize().as_bytes() == entry.newest.hash.0)
}
