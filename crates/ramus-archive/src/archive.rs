//! An archive as commands use it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::time::Time;
use ramus_store::owned::{OwnedFile, OwnedKind};
use ramus_store::{FileIdentity, PathError};

use crate::add::{AddReport, Adding, add_files};
use crate::content::ArchivedContent;
use crate::sqlite::SqliteStorage;
use crate::storage::{
    ArchiveError, ArchiveStorage, FileEntry, FileKey, Forgotten, Generation, Totals,
};

/// An archive of histories.
#[derive(Clone, Debug)]
pub struct Archive {
    pub(crate) storage: Arc<dyn ArchiveStorage>,
    path: PathBuf,
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

/// Why no archived session is meant.
#[derive(Debug, thiserror::Error)]
pub enum SessionLookupError {
    #[error("no archived session has the id {0:?}")]
    None(String),
    #[error("{typed:?} is the beginning of several archived sessions: {}", .ids.join(", "))]
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
        let below = |file: &FileEntry| {
            let mut parts = file.key.path.iter();
            let is_project = parts.next()? == "projects";
            parts.next().filter(|_| is_project).map(|name| name.to_string_lossy().into_owned())
        };
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
        let storage = Arc::new(SqliteStorage::open(path)?);
        Ok(Self { storage, path: path.to_owned() })
    }

    /// Opens the archive in a file. `None`: there is none.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, ArchiveError> {
        // An empty file is an archive that was about to be made.
        match path.metadata() {
            Ok(meta) if meta.len() > 0 => {
                let storage = Arc::new(SqliteStorage::open_existing(path)?);
                Ok(Some(Self { storage, path: path.to_owned() }))
            }
            _ => Ok(None),
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Archives what is new of some files. What cannot be read is told to `on_problem` and left out.
    pub fn add(
        &self,
        files: &[OwnedFile],
        now: Time,
        on_read: &(dyn Fn(u64) + Sync),
        on_problem: &(dyn Fn(&PathError) + Sync),
    ) -> Result<AddReport, ArchiveError> {
        add_files(&Adding { storage: &*self.storage, now, on_read, on_problem }, files)
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

    /// Finds the session that is meant: by its id, or by enough of its first letters. Sessions of the given
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
        let path = file.key.full_path();
        let generation = match number {
            None => file.newest.clone(),
            Some(number) => {
                let all = self.storage.generations(&file.key)?;
                let found = all.into_iter().find(|generation| generation.number == number);
                let missing = || ArchiveError::NoGeneration { path: path.clone(), number };
                found.ok_or_else(missing)?
            }
        };
        let chunks = self.storage.chunks(&file.key, generation.number)?;
        Ok(ArchivedContent::new(self.storage.clone(), path, generation, chunks))
    }

    /// Returns the newest content of a file as the archive has it now.
    pub(crate) fn newest_content(&self, key: &FileKey) -> Result<ArchivedContent, ArchiveError> {
        let missing = || ArchiveError::NoGeneration { path: key.full_path(), number: 1 };
        let generation = self.storage.generations(key)?.pop().ok_or_else(missing)?;
        let chunks = self.storage.chunks(key, generation.number)?;
        Ok(ArchivedContent::new(self.storage.clone(), key.full_path(), generation, chunks))
    }

    /// Removes all that is archived of a session, for good.
    pub fn forget(&self, session: &ArchivedSession) -> Result<Forgotten, ArchiveError> {
        let keys: Vec<FileKey> = session.files.iter().map(|file| file.key.clone()).collect();
        self.storage.forget(&keys)
    }

    /// Counts what the archive holds.
    pub fn totals(&self) -> Result<Totals, ArchiveError> {
        self.storage.totals()
    }
}

/// Whether an archived file is what lies on the disk now; a file that is still being written to is not.
pub fn is_archived(entry: &FileEntry, identity: Option<FileIdentity>) -> bool {
    let listed = identity.map(FileIdentity::to_bytes);
    listed.is_some() && entry.identity.as_deref() == listed.as_ref().map(|bytes| &bytes[..])
}
