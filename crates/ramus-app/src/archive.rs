//! The archive: which files it keeps, and changes that put sessions back or edit the client's settings.

mod settings;

use std::path::PathBuf;

use ramus_archive::restore::{RestorePlan, RestoreRequest};
use ramus_archive::{Archive, ArchiveError, ArchivedSession};
use ramus_core::edit::ChangeDetail;
use ramus_store::owned::{OwnedFile, OwnedKind, owned_files};

pub use settings::{SettingsError, SettingsRequest, plan_settings};

use crate::address::Scope;
use crate::change::PlannedChange;
use crate::workspace::Workspace;

/// What restoring a session from the archive comes to.
#[derive(Debug)]
pub enum ArchiveRestore {
    Planned(Box<PlannedChange>),
    /// Every file is there as it was archived.
    AllThere,
    /// Files are there with another content, and nothing else is missing.
    OtherContent,
}

/// Plans to put an archived session back.
pub fn plan_archive_restore(
    archive: &Archive,
    session: &ArchivedSession,
    request: RestoreRequest,
) -> Result<ArchiveRestore, ArchiveError> {
    let RestorePlan { plan, kept, bytes } = archive.plan_restore(session, request)?;
    if plan.steps.is_empty() {
        let is_other = kept > 0;
        return Ok(if is_other { ArchiveRestore::OtherContent } else { ArchiveRestore::AllThere });
    }
    let files = match plan.steps.len() {
        1 => "1 file".to_owned(),
        many => format!("{many} files"),
    };
    let mut words = format!("from the archive: {files}, {bytes} bytes");
    if kept > 0 {
        words.push_str(&format!("; {kept} with another content stay as they are"));
    }
    let detail = ChangeDetail::Restore { words };
    Ok(ArchiveRestore::Planned(Box::new(PlannedChange::without_workspace(plan, detail))))
}

impl Workspace {
    /// Lists every file that belongs to the sessions of a scope.
    pub fn owned_files(&self, scope: &Scope) -> Vec<OwnedFile> {
        let projects = self.projects();
        let (mut files, problems) = match scope {
            Scope::All => owned_files(self.roots(), &projects, true),
            Scope::Project(project) => {
                owned_files(self.roots(), std::slice::from_ref(&**project), false)
            }
            Scope::Session(found) => match &found.project {
                Some(project) => owned_files(self.roots(), std::slice::from_ref(&**project), false),
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

    /// Returns the Claude directories as an archive knows them: without links on the way.
    pub fn archived_roots(&self) -> Vec<PathBuf> {
        let real = |root: &PathBuf| root.canonicalize().unwrap_or_else(|_| root.clone());
        self.roots().iter().map(real).collect()
    }
}
