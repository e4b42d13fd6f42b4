//! The archive: which files it keeps, and changes that put sessions back or edit the client's settings.

mod filling;
mod policy;
mod settings;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramus_archive::restore::{RestorePlan, RestoreRequest};
use ramus_archive::{Archive, ArchivedSession, FileEntry, is_archived_as_it_is};
use ramus_core::edit::ChangeDetail;
use ramus_core::retention::DueDeletions;
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_store::claude_dir::{FileRole, HistoryFile};
use ramus_store::owned::{OwnedFile, OwnedKind, owned_files};
use ramus_store::real_path::real_path_or_given;
use ramus_store::{FileIdentity, PathError};

pub use filling::{ArchivingPlan, added_text};
pub use policy::{ProjectPattern, SendPolicy, SendableFiles};
pub use ramus_archive::ArchiveError;
pub use ramus_archive::add::AddReport;
pub use settings::{SettingsError, SettingsRequest};

use crate::address::{ResolvedFile, Scope};
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
        let entry = self.entries.get(path);
        entry.is_some_and(|entry| is_archived_as_it_is(entry, path, identity))
    }
}

/// The result of planning to restore a session from the archive.
#[derive(Debug)]
pub enum ArchiveRestore {
    Planned {
        change: Box<PlannedChange>,
        /// Why some files are left out: their archived content is damaged.
        damaged: Vec<PathError>,
    },
    /// Every file exists with its archived content.
    AllThere,
    /// Files are there with another content, and nothing else is missing.
    OtherContent,
}

/// The titles of sessions.
#[derive(Debug, Default)]
pub struct SessionTitles {
    /// By the name of the project's directory and the session's id.
    titles: HashMap<(String, String), String>,
}

impl SessionTitles {
    /// Returns the title of a session. `None`: nothing but its id is known.
    pub fn title_of(&self, session: &ArchivedSession) -> Option<&str> {
        let key = (session.project()?, session.id.clone());
        self.titles.get(&key).map(String::as_str)
    }
}

impl Workspace {
    /// Plans to put an archived session back; `size` writes a number of bytes.
    pub fn plan_archive_restore(
        &self,
        archive: &Archive,
        session: &ArchivedSession,
        request: RestoreRequest,
        size: &dyn Fn(u64) -> String,
    ) -> Result<ArchiveRestore, ArchiveError> {
        let RestorePlan { plan, kept, bytes, is_redacted, damaged } =
            archive.plan_restore(session, request)?;
        if plan.steps.is_empty() {
            if let Some(problem) = damaged.into_iter().next() {
                return Err(problem.into());
            }
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
            kept => format!("; {kept} that differ are not changed"),
        };
        let redacted = match is_redacted {
            true => "; not the original bytes: secrets were removed before they were sent",
            false => "",
        };
        let without = match damaged.len() {
            0 => String::new(),
            1 => "; 1 damaged file is left out".to_owned(),
            many => format!("; {many} damaged files are left out"),
        };
        let words = format!("from the archive: {files}, {}{left}{without}{redacted}", size(bytes));
        let detail = ChangeDetail::Restore { description: words };
        let change = Box::new(PlannedChange::new(self, plan, detail));
        Ok(ArchiveRestore::Planned { change, damaged })
    }

    /// Returns what sessions are called, also those that are only archived.
    pub fn session_titles(&self) -> SessionTitles {
        let survey = self.survey_all();
        let mut titles = HashMap::new();
        for project in &survey.projects {
            for session in &project.sessions {
                let title = session_title(&session.digest, &project.summaries);
                let key = (project.name.clone(), session.file.id.clone());
                titles.extend(title.map(|title| (key, title.to_owned())));
            }
        }
        SessionTitles { titles }
    }

    /// Lists every file that belongs to the sessions of a scope.
    pub fn owned_files(&self, scope: &Scope) -> Vec<OwnedFile> {
        if let Scope::Sessions(found) = scope {
            let each =
                |found: &ResolvedFile| self.owned_files(&Scope::Session(Box::new(found.clone())));
            return found.iter().flat_map(each).collect();
        }
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
            // Each on its own, above.
            Scope::Sessions(_) => (Vec::new(), Vec::new()),
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

    /// Lists every file that belongs to the sessions of some scopes, each file once: sessions of one project share
    /// the agents of old clients.
    pub fn owned_files_of(&self, scopes: &[Scope]) -> Vec<OwnedFile> {
        let key = |file: &OwnedFile| (file.root.clone(), file.relative.clone());
        let mut files: Vec<_> = scopes.iter().flat_map(|scope| self.owned_files(scope)).collect();
        files.sort_by_cached_key(key);
        files.dedup_by_key(|file| key(file));
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

    /// Returns the Claude directories as the archive stores them: with symbolic links resolved.
    pub fn archived_roots(&self) -> Vec<PathBuf> {
        let real = |root: &PathBuf| real_path_or_given(root);
        self.claude_roots().iter().map(real).collect()
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::ResumeRule;
    use ramus_store::StateDir;
    use ramus_store::claude_dir::ClaudeDirs;

    use super::*;

    #[test]
    fn a_file_of_several_scopes_is_listed_once() {
        let home = testkit::TestHome::new();
        for file in ["-p/aaaa1111.jsonl", "-p/bbbb2222.jsonl", "-p/agent-a1.jsonl"] {
            home.write_session(file, "a user hello");
        }
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let state = StateDir::new(home.path().join("state"));
        let workspace = Workspace::new(place, ResumeRule::Client, state);
        let scope = |id: &str| workspace.resolve_scope(Some(id)).unwrap();
        let scopes = [scope("bbbb2222"), scope("aaaa1111"), scope("aaaa1111")];
        let files = workspace.owned_files_of(&scopes);
        let names: Vec<_> = files.iter().map(|file| file.relative.display().to_string()).collect();
        let expected =
            ["agent-a1", "aaaa1111", "bbbb2222"].map(|name| format!("projects/-p/{name}.jsonl"));
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    }
}
