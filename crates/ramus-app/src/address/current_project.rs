//! The project of the current directory: the scope of a question that names nothing.

use std::path::{Path, PathBuf};

use ramus_store::claude_dir::Project;
use ramus_store::project_name::is_encoded_path;
use ramus_store::real_path::real_path;

use super::{AddressResolver, ResolvedProject, Scope};
use crate::workspace::Workspace;

/// The current directory of the caller.
#[derive(Clone, Debug)]
pub struct CurrentDir {
    pub path: PathBuf,
    /// The home directory. It contains everything, so it is not the project of directories below it.
    pub home: Option<PathBuf>,
    /// Whether its project is the default scope; otherwise everything is.
    pub decides: bool,
}

/// A project, and the directory that it belongs to.
#[derive(Clone, Debug)]
pub struct CurrentProject {
    pub project: ResolvedProject,
    pub dir: PathBuf,
}

impl Workspace {
    /// Returns the project that is the default scope; `None`: everything is.
    pub fn current_project(&self) -> Option<CurrentProject> {
        let current = self.current_dir().filter(|current| current.decides)?;
        AddressResolver::new(self).project_around(&current.path, current.home.as_deref())
    }

    /// Returns the default scope.
    pub fn default_scope(&self) -> Scope {
        match self.current_project() {
            Some(current) => Scope::Project(current.project),
            None => Scope::All,
        }
    }
}

impl AddressResolver<'_> {
    /// Finds the project of a directory, else the nearest one above it that has sessions.
    pub(super) fn project_around(&self, dir: &Path, home: Option<&Path>) -> Option<CurrentProject> {
        let is_project = |above: &&Path| {
            // Nobody means the history of everything by being somewhere below it.
            *above == dir || (above.parent().is_some() && Some(*above) != home)
        };
        dir.ancestors().filter(is_project).find_map(|above| {
            let path = above.to_string_lossy();
            let fits = |project: &Project| {
                is_encoded_path(&project.name, &path)
                    && project.session_files().any(|file| file.bytes > 0)
            };
            let index = self.listing.iter().position(fits)?;
            Some(CurrentProject { project: self.project_at(index), dir: above.to_owned() })
        })
    }

    /// Finds the project that `.` means in one of its subdirectories.
    pub(super) fn project_of_dot(&self, text: &str) -> Vec<usize> {
        if !matches!(text, "." | "./") {
            return Vec::new();
        }
        let Ok(dir) = real_path(Path::new(text)) else { return Vec::new() };
        let home = self.workspace.current_dir().and_then(|current| current.home.as_deref());
        let around = self.project_around(&dir, home);
        around.map(|current| current.project.index).into_iter().collect()
    }
}
