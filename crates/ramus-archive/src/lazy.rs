//! An archive that may not exist yet.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::archive::Archive;
use crate::postgres::has_password;
use crate::storage::ArchiveError;
use crate::tree::TeamListing;

/// Where an archive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveLocation {
    File(PathBuf),
    Server {
        url: String,
        /// What this machine is called there.
        machine: String,
    },
}

impl ArchiveLocation {
    /// Whether a text is the URL of a server.
    pub fn is_server_url(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Whether a password is part of it, which must not be written to a file.
    pub fn has_password(&self) -> Result<bool, ArchiveError> {
        let Self::Server { url, .. } = self else { return Ok(false) };
        has_password(url)
            .map_err(|what| ArchiveError::Server { archive: "on the server".to_owned(), what })
    }
}

/// Where an archive is. It is opened when it is needed and exists by then, so that a program that runs for hours
/// sees one that was made meanwhile.
#[derive(Debug)]
pub struct LazyArchive {
    location: ArchiveLocation,
    opened: OnceLock<Archive>,
    /// The files of other people and machines, listed together.
    pub(crate) team: Mutex<TeamListing>,
}

impl LazyArchive {
    pub fn new(location: ArchiveLocation) -> Self {
        Self { location, opened: OnceLock::new(), team: Mutex::default() }
    }

    /// Returns the name of the archive in messages: its location, without a password.
    pub fn name(&self) -> String {
        match (&self.location, self.opened.get()) {
            (_, Some(archive)) => archive.name().to_owned(),
            (ArchiveLocation::File(path), None) => path.display().to_string(),
            (ArchiveLocation::Server { .. }, None) => "the archive on the server".to_owned(),
        }
    }

    /// Returns the archive. `None`: there is none yet.
    pub fn open_existing(&self) -> Result<Option<&Archive>, ArchiveError> {
        if let Some(opened) = self.opened.get() {
            return Ok(Some(opened));
        }
        let found = match &self.location {
            ArchiveLocation::File(path) => Archive::open_existing(path)?,
            ArchiveLocation::Server { url, machine } => Some(Archive::connect(url, machine)?),
        };
        Ok(found.map(|archive| self.opened.get_or_init(|| archive)))
    }

    /// Returns the archive. One in a file is made if it does not exist; a server must have been prepared.
    pub fn open_or_create(&self) -> Result<&Archive, ArchiveError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let archive = match &self.location {
            ArchiveLocation::File(path) => Archive::open(path)?,
            ArchiveLocation::Server { url, machine } => Archive::connect(url, machine)?,
        };
        Ok(self.opened.get_or_init(|| archive))
    }

    /// Returns a directory on a disk with enough space for temporary files.
    pub(crate) fn scratch_dir(&self) -> &Path {
        self.opened.get().map_or(Path::new("."), Archive::scratch_dir)
    }
}
