//! Adds archived files to a listing if their file no longer exists.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::{FileFacts, FileRole, HistoryFile, Project, ProjectListing};
use crate::overlay::{ArchivedFile, Overlay};

impl ProjectListing {
    /// Adds the archived files of a Claude directory that are not on disk. The file on disk wins, also where
    /// it was moved to another project.
    pub(super) fn add_archived(&mut self, overlay: &Overlay) {
        let files = match overlay.tree.files() {
            Ok(files) => files,
            Err(problem) => return self.problems.push(problem),
        };
        let on_disk = OnDisk::new(self, &overlay.root);
        let gone = files.iter().filter_map(|(relative, archived)| {
            let path = overlay.root.join(relative);
            let file = HistoryFile::classify(&overlay.root, &path, FileFacts::archived(archived))?;
            (!on_disk.has(&file, archived)).then_some(file)
        });
        let mut projects: BTreeMap<String, Vec<HistoryFile>> = BTreeMap::new();
        for file in gone {
            let Some(name) = file.relative.split('/').nth(1) else { continue };
            match projects.get_mut(name) {
                Some(files) => files.push(file),
                None => drop(projects.insert(name.to_owned(), vec![file])),
            }
        }
        for (name, files) in projects {
            self.add_files(&overlay.root, name, files);
        }
    }

    fn add_files(&mut self, root: &Path, name: String, added: Vec<HistoryFile>) {
        let at = match self.projects.binary_search_by(|project| project.name.cmp(&name)) {
            Ok(at) => at,
            Err(at) => {
                let dir = root.join("projects").join(&name);
                let project = Project { root: root.to_owned(), dir, name, files: Vec::new() };
                self.projects.insert(at, project);
                at
            }
        };
        let files = &mut self.projects[at].files;
        files.extend(added);
        files.sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
    }
}

/// The files of a Claude directory on disk.
struct OnDisk {
    paths: HashSet<String>,
    /// Sessions and agents of old clients, which can be moved between projects.
    ids: HashSet<(bool, String)>,
}

impl OnDisk {
    fn new(listing: &ProjectListing, root: &Path) -> Self {
        let files = || listing.projects.iter().flat_map(|project| &project.files);
        let here = || files().filter(|file| !file.archived && file.path.starts_with(root));
        let is_top = |file: &&HistoryFile| file.role.session().is_none();
        Self {
            paths: here().map(|file| file.relative.clone()).collect(),
            ids: here()
                .filter(is_top)
                .map(|file| (file.role.is_agent(), file.id.clone()))
                .collect(),
        }
    }

    fn has(&self, file: &HistoryFile, archived: &ArchivedFile) -> bool {
        if self.paths.contains(&file.relative) {
            return true;
        }
        match &file.role {
            FileRole::Session | FileRole::FlatAgent => {
                self.ids.contains(&(file.role.is_agent(), file.id.clone()))
            }
            // If the session is still in place, its agent was deleted; if the session moved, so did the agent.
            FileRole::NestedAgent { .. } | FileRole::Journal { .. } => {
                let session = &archived.session;
                let beside = file.relative.split(&format!("/{session}/")).next();
                let own = beside.map(|project| format!("{project}/{session}.jsonl"));
                self.ids.contains(&(false, session.clone()))
                    && !own.is_some_and(|own| self.paths.contains(&own))
            }
        }
    }
}
