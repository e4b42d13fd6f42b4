//! The archive: which files it keeps, and changes that put sessions back or edit the client's settings.

mod settings;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramus_archive::restore::{RestorePlan, RestoreRequest};
use ramus_archive::{Archive, ArchiveError, ArchivedSession, FileEntry, is_archived};
use ramus_core::edit::ChangeDetail;
use ramus_core::retention::DueDeletions;
use ramus_core::time::Time;
use ramus_store::FileIdentity;
use ramus_store::claude_dir::{FileRole, HistoryFile};
use ramus_store::owned::{OwnedFile, OwnedKind, owned_files};

pub use settings::{SettingsError, SettingsRequest};

use crate::address::Scope;
use crate::change::PlannedChange;
use crate::workspace::Workspace;

/// What is archived of some Claude directories, by the paths that these have now.
#[derive(Debug, Default)]
pub struct ArchivedFiles {
    entries: HashMap<PathBuf, FileEntry>,
}

impl ArchivedFiles {
    /// Whether a file is archived as it is now.
    pub fn has(&self, path: &Path, identity: Option<FileIdentity>) -> bool {
        self.entries.get(path).is_some_and(|entry| is_archived(entry, identity))
    }
}

/// What restoring a session from the archive comes to.
#[derive(Debug)]
pub enum ArchiveRestore {
    Planned(Box<PlannedChange>),
    /// Every file is there as it was archived.
    AllThere,
    /// Files are there with another content, and nothing else is missing.
    OtherContent,
}

impl Workspace {
    /// Plans to put an archived session back.
    pub fn plan_archive_restore(
        &self,
        archive: &Archive,
        session: &ArchivedSession,
        request: RestoreRequest,
    ) -> Result<ArchiveRestore, ArchiveError> {
        let RestorePlan { plan, kept, bytes } = archive.plan_restore(session, request)?;
        if plan.steps.is_empty() {
            let is_other = kept > 0;
            return Ok(if is_other {
                ArchiveRestore::OtherContent
            } else {
                ArchiveRestore::AllThere
            });
        }
        let files = match plan.steps.len() {
            1 => "1 file".to_owned(),
            many => format!("{many} files"),
        };
        let left = match kept {
            0 => String::new(),
            kept => format!("; {kept} with another content stay as they are"),
        };
        let words = format!("from the archive: {files}, {bytes} bytes{left}");
        let detail = ChangeDetail::Restore { description: words };
        Ok(ArchiveRestore::Planned(Box::new(PlannedChange::new(self, plan, detail))))
    }

    /// Lists every file that belongs to the sessions of a scope.
    pub fn owned_files(&self, scope: &Scope) -> Vec<OwnedFile> {
        let projects = self.list_projects();
        let (mut files, problems) = match scope {
            Scope::All => owned_files(self.claude_roots(), &projects, true),
            Scope::Project(project) => {
                owned_files(self.claude_roots(), std::slice::from_ref(&**project), false)
            }
            Scope::Session(found) => match &found.project {
                Some(project) => {
                    owned_files(self.claude_roots(), std::slice::from_ref(&**project), false)
                }
                // A file outside of the Claude directories has no place to be restored to.
                None => (Vec::new(), Vec::new()),
            },
        };
        problems.iter().for_each(|problem| self.warn(problem));
        if let Scope::Session(found) = scope {
            let session = found.file.role.session().unwrap_or(&found.file.id);
            // Agents of old clients name their session only in their records.
            files.retain(|file| match &file.session {
                Some(owner) => owner == session,
                None => file.kind == OwnedKind::Agent,
            });
        }
        files
    }

    /// Counts the files that the client deletes soon and that are not archived as they are now.
    pub fn count_unarchived_due<'a>(
        &self,
        files: impl IntoIterator<Item = &'a HistoryFile>,
        now: Time,
    ) -> Result<usize, ArchiveError> {
        let cleanup = self.cleanup_schedule();
        let is_due = |file: &&HistoryFile| {
            let is_counted = !file.archived && !matches!(file.role, FileRole::Journal { .. });
            is_counted
                && DueDeletions::new(cleanup.retention_of(file))
                    .is_due(cleanup.deletion_time(file), now)
        };
        let mut due = files.into_iter().filter(is_due).peekable();
        if due.peek().is_none() {
            return Ok(0);
        }
        let archived = self.archived_files()?;
        Ok(due.filter(|file| !archived.has(&file.path, file.identity)).count())
    }

    /// Lists what is archived of the Claude directories.
    pub fn archived_files(&self) -> Result<ArchivedFiles, ArchiveError> {
        let mut entries = HashMap::new();
        for (root, real) in self.claude_roots().iter().zip(self.archived_roots()) {
            let files = match self.archive() {
                Some(archive) => archive.files(Some(&real))?,
                None => Vec::new(),
            };
            let path = |entry: &FileEntry| root.join(&entry.key.path);
            entries.extend(files.into_iter().map(|entry| (path(&entry), entry)));
        }
        Ok(ArchivedFiles { entries })
    }

    /// Returns the Claude directories as an archive knows them: without links on the way.
    pub fn archived_roots(&self) -> Vec<PathBuf> {
        let real = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
        self.claude_roots().iter().map(real).collect()
    }
}
