//! The files that an archive keeps, and whether it has them.

use std::path::PathBuf;

use ramus_store::owned::{OwnedFile, OwnedKind, owned_files};

use crate::address::Scope;
use crate::workspace::Workspace;

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
