//! The layout of a Claude directory: its projects and their files.
//!
//! No other module knows the layout of `~/.claude` (R19).

mod archived;

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;

use crate::cache::{FileIdentity, HistoryCache};
use crate::error::PathError;
use crate::overlay::{self, ArchivedFile, Overlay};
use crate::regular_file;

/// One or more Claude directories, read as one.
#[derive(Clone, Debug)]
pub struct ClaudeDirs {
    pub roots: Vec<PathBuf>,
    /// The cache for their contents.
    pub cache: HistoryCache,
    /// Archived files, listed if their file no longer exists.
    pub overlays: Vec<Arc<Overlay>>,
}

/// A directory under `projects/` and the files in it.
#[derive(Clone, Debug)]
pub struct Project {
    /// The Claude directory that contains it.
    pub root: PathBuf,
    pub dir: PathBuf,
    /// The encoded name of the directory.
    pub name: String,
    pub files: Vec<HistoryFile>,
}

/// A `.jsonl` file and the facts that its path gives about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFile {
    pub path: PathBuf,
    /// The path relative to the Claude directory, with `/`.
    pub relative: String,
    /// The session's or the agent's id: the file name without its extension and without `agent-`.
    pub id: String,
    pub role: FileRole,
    pub bytes: u64,
    pub modified: SystemTime,
    /// When it was created, if the file system records that.
    pub created: Option<SystemTime>,
    /// Identifies this state of the file. `None`: it changed a moment ago and may change again unnoticed.
    pub identity: Option<FileIdentity>,
    /// The file no longer exists; its records are read from the archive.
    pub archived: bool,
}

/// Which records a file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRole {
    Session,
    /// `agent-<id>.jsonl` next to the sessions. Its records name the session it belongs to.
    FlatAgent,
    /// `<session>/subagents/**/agent-<id>.jsonl`.
    NestedAgent {
        session: String,
    },
    /// Something else below a session's directory, such as a workflow's journal.
    Journal {
        session: String,
    },
}

impl FileRole {
    /// Whether the file contains a sub-agent's records.
    pub fn is_agent(&self) -> bool {
        matches!(self, Self::FlatAgent | Self::NestedAgent { .. })
    }

    /// Returns the session that the file's place names; `None`: it is a session's own, or only its
    /// records say it.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::NestedAgent { session } | Self::Journal { session } => Some(session),
            Self::Session | Self::FlatAgent => None,
        }
    }
}

/// The projects that were found, and the paths that could not be read.
#[derive(Debug, Default)]
pub struct ProjectListing {
    pub projects: Vec<Project>,
    pub problems: Vec<PathError>,
}

/// Why there is nothing to list.
#[derive(Debug, thiserror::Error)]
pub enum ClaudeDirError {
    #[error("no Claude directory at {}", join_paths(.0))]
    Missing(Vec<PathBuf>),
    #[error("{} has no `projects` directory", .0.display())]
    NoProjects(PathBuf),
}

fn join_paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or ")
}

impl ClaudeDirs {
    /// Keeps the directories that exist. At least one must, and one must have projects.
    pub fn open(candidates: Vec<PathBuf>) -> Result<Self, ClaudeDirError> {
        let roots: Vec<PathBuf> = candidates.iter().filter(|root| root.is_dir()).cloned().collect();
        if roots.is_empty() {
            return Err(ClaudeDirError::Missing(candidates));
        }
        if !roots.iter().any(|root| root.join("projects").is_dir()) {
            return Err(ClaudeDirError::NoProjects(roots[0].clone()));
        }
        Ok(Self::at(roots, HistoryCache::disabled()))
    }

    /// Takes directories that need not exist.
    pub fn at(roots: Vec<PathBuf>, cache: HistoryCache) -> Self {
        Self { roots, cache, overlays: Vec::new() }
    }

    /// Uses a cache for contents.
    pub fn with_cache(self, index: HistoryCache) -> Self {
        Self { cache: index, ..self }
    }

    /// Lists all projects with their files, by name.
    pub fn list_projects(&self) -> ProjectListing {
        let mut listing = ProjectListing::default();
        for root in &self.roots {
            let dirs = read_entries(&root.join("projects"), &mut listing.problems);
            let listed: Vec<(Project, Vec<PathError>)> = dirs
                .into_par_iter()
                .with_max_len(1)
                .filter(is_directory)
                .map(|dir| {
                    let mut problems = Vec::new();
                    (Project::list_dir(root, dir.path(), &mut problems), problems)
                })
                .collect();
            for (project, problems) in listed {
                listing.projects.push(project);
                listing.problems.extend(problems);
            }
        }
        listing.projects.sort_by(|a, b| a.name.cmp(&b.name));
        // One project can have files in two Claude directories.
        listing.projects.dedup_by(|later, first| {
            let same = later.name == first.name;
            if same {
                first.files.append(&mut later.files);
            }
            same
        });
        for overlay in &self.overlays {
            listing.add_archived(overlay);
        }
        listing
    }
}

/// Returns `cleanupPeriodDays` from a Claude directory's settings, if it is set.
pub(crate) fn read_cleanup_period(root: &Path) -> Option<u32> {
    let text =
        regular_file::read_limited(&root.join("settings.json"), regular_file::SMALL_FILE_BYTES)
            .ok()?;
    let settings: serde_json::Value = serde_json::from_slice(&text).ok()?;
    settings.get("cleanupPeriodDays")?.as_u64()?.try_into().ok()
}

impl Project {
    pub(crate) fn list_dir(root: &Path, dir: PathBuf, problems: &mut Vec<PathError>) -> Self {
        let mut files = Vec::new();
        list_project(root, &dir, &mut files, problems);
        files.sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
        Self { root: root.to_owned(), name: file_name(&dir), dir, files }
    }

    /// Lists the project that contains a file, as it is now. `None`: the file is not in a Claude directory.
    pub fn containing_file(file: &HistoryFile) -> Option<Self> {
        let root = containing_claude_dir(&file.path)?;
        let projects = root.join("projects");
        let name = file.path.strip_prefix(&projects).ok()?.iter().next()?;
        Some(Self::list_dir(root, projects.join(name), &mut Vec::new()))
    }

    /// Returns the same project without its files.
    pub fn without_files(&self) -> Self {
        let Self { root, dir, name, files: _ } = self;
        Self { root: root.clone(), dir: dir.clone(), name: name.clone(), files: Vec::new() }
    }

    /// Returns the session files.
    pub fn session_files(&self) -> impl Iterator<Item = &HistoryFile> {
        self.files.iter().filter(|file| file.role == FileRole::Session)
    }

    /// Returns the directory for a session's sub-agents and spilled outputs.
    pub fn session_dir(&self, id: &str) -> PathBuf {
        self.dir.join(id)
    }
}

impl HistoryFile {
    /// Reads the metadata of one file, in or outside of a Claude directory.
    pub fn from_path(path: &Path) -> Result<Self, PathError> {
        FileFacts::look(path).map(|facts| Self::from_metadata(path, facts))
    }

    /// Returns the id as addresses spell it: agents have the prefix `agent-`.
    pub fn address_id(&self) -> String {
        let agent = if self.role.is_agent() { "agent-" } else { "" };
        format!("{agent}{}", self.id)
    }

    /// Counts the agents of a session that have files below its directory.
    pub fn count_nested_agents(&self) -> usize {
        let Some(root) = containing_claude_dir(&self.path) else { return 0 };
        let mut files = Vec::new();
        let dir = self.path.with_extension("").join("subagents");
        list_agents(root, &dir, &self.id, 0, &mut files, &mut Vec::new());
        let archived = overlay::archived_in(&dir).into_iter();
        files
            .extend(archived.filter_map(|(path, file)| {
                Self::classify(root, &path, FileFacts::archived(&file))
            }));
        files.iter().filter(|file| file.role.is_agent()).count()
    }

    fn from_metadata(path: &Path, facts: FileFacts) -> Self {
        let stem =
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (id, role) = match stem.strip_prefix("agent-") {
            Some(id) => (id.to_owned(), FileRole::FlatAgent),
            None => (stem, FileRole::Session),
        };
        let FileFacts { bytes, modified, created, identity, archived } = facts;
        let relative = path.to_string_lossy().into_owned();
        let path = path.to_owned();
        Self { path, relative, id, role, bytes, modified, created, identity, archived }
    }

    /// Reads the metadata of a path below a Claude directory. `None`: it is not a file with records.
    pub(crate) fn from_claude_path(root: &Path, path: &Path) -> Option<Result<Self, PathError>> {
        let session = Self::session_of(root, path)?;
        Some(
            FileFacts::look(path)
                .map(|facts| Self::in_claude_dir(root, path, facts, session.as_deref())),
        )
    }

    /// Does the same with metadata that is known.
    fn classify(root: &Path, path: &Path, facts: FileFacts) -> Option<Self> {
        let session = Self::session_of(root, path)?;
        Some(Self::in_claude_dir(root, path, facts, session.as_deref()))
    }

    /// Returns the session whose directory a path lies in, if it lies in one. `None`: a file there holds no
    /// records.
    fn session_of(root: &Path, path: &Path) -> Option<Option<String>> {
        let parts: Vec<_> = path.strip_prefix(root.join("projects")).ok()?.iter().collect();
        let session = match parts[..] {
            [_, _] => None,
            [_, session, agents, ..]
                if agents == "subagents" && parts.len() <= 4 + AGENT_DEPTH as usize =>
            {
                Some(session.to_string_lossy().into_owned())
            }
            _ => return None,
        };
        is_jsonl(path).then_some(session)
    }

    fn in_claude_dir(root: &Path, path: &Path, facts: FileFacts, session: Option<&str>) -> Self {
        let mut file = Self::from_metadata(path, facts);
        if let Ok(relative) = path.strip_prefix(root) {
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            file.relative = parts.join("/");
        }
        if let Some(session) = session {
            let session = session.to_owned();
            file.role = match file.role {
                FileRole::FlatAgent => FileRole::NestedAgent { session },
                _ => FileRole::Journal { session },
            };
        }
        file
    }
}

/// What a file system or an archive knows about a file.
#[derive(Clone, Copy)]
struct FileFacts {
    bytes: u64,
    modified: SystemTime,
    created: Option<SystemTime>,
    identity: Option<FileIdentity>,
    archived: bool,
}

impl FileFacts {
    fn look(path: &Path) -> Result<Self, PathError> {
        if let Some(file) = overlay::archived_file(path) {
            return Ok(Self::archived(&file));
        }
        let meta = fs::metadata(path).map_err(|source| PathError::new(path, source))?;
        Self::on_disk(path, &meta)
    }

    fn on_disk(path: &Path, meta: &Metadata) -> Result<Self, PathError> {
        regular_file::require_regular(meta).map_err(|source| PathError::new(path, source))?;
        Ok(Self {
            bytes: meta.len(),
            modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            created: meta.created().ok(),
            identity: FileIdentity::of_settled(path, meta),
            archived: false,
        })
    }

    fn archived(file: &ArchivedFile) -> Self {
        Self {
            bytes: file.bytes,
            modified: file.modified,
            created: file.created,
            identity: Some(file.identity),
            archived: true,
        }
    }
}

/// Returns the Claude directory that contains a session file. `None`: it is not in one.
pub fn containing_claude_dir(session: &Path) -> Option<&Path> {
    let projects = session.ancestors().find(|dir| dir.ends_with("projects"))?;
    projects.parent().filter(|root| !root.as_os_str().is_empty())
}

/// Returns the directory of a session's file backups. `None`: the id is not valid as a directory name.
pub fn file_history_dir(root: &Path, session: &str) -> Option<PathBuf> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_id = !session.is_empty() && session.chars().all(is_name);
    is_id.then(|| root.join("file-history").join(session))
}

fn list_project(
    root: &Path,
    dir: &Path,
    files: &mut Vec<HistoryFile>,
    problems: &mut Vec<PathError>,
) {
    for entry in read_entries(dir, problems) {
        let path = entry.path();
        if is_jsonl(&path) {
            let facts = entry_metadata(&entry).and_then(|meta| FileFacts::on_disk(&path, &meta));
            let file = facts.map(|facts| HistoryFile::in_claude_dir(root, &path, facts, None));
            collect_file(file, files, problems);
        } else if is_directory(&entry) {
            let session = file_name(&path);
            list_agents(root, &path.join("subagents"), &session, 0, files, problems);
        }
    }
}

/// How deep the files of agents may be nested: `subagents/workflows/wf_*/`.
const AGENT_DEPTH: u32 = 4;

fn list_agents(
    root: &Path,
    dir: &Path,
    session: &str,
    depth: u32,
    files: &mut Vec<HistoryFile>,
    problems: &mut Vec<PathError>,
) {
    for entry in read_entries(dir, problems) {
        let path = entry.path();
        if is_jsonl(&path) {
            let facts = entry_metadata(&entry).and_then(|meta| FileFacts::on_disk(&path, &meta));
            let file =
                facts.map(|facts| HistoryFile::in_claude_dir(root, &path, facts, Some(session)));
            collect_file(file, files, problems);
        } else if depth < AGENT_DEPTH && is_directory(&entry) {
            list_agents(root, &path, session, depth + 1, files, problems);
        }
    }
}

/// Lists the agents below a session's directory as they are now, and what could not be read.
pub(crate) fn list_nested_agents(
    root: &Path,
    project: &Path,
    session: &str,
) -> (Vec<HistoryFile>, Vec<PathError>) {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    let dir = project.join(session).join("subagents");
    list_agents(root, &dir, session, 0, &mut files, &mut problems);
    files.sort_by(|a, b| (&a.relative, &a.path).cmp(&(&b.relative, &b.path)));
    (files, problems)
}

fn collect_file(
    file: Result<HistoryFile, PathError>,
    files: &mut Vec<HistoryFile>,
    problems: &mut Vec<PathError>,
) {
    match file {
        Ok(file) => files.push(file),
        // The client's clean-up may delete a file between the two calls.
        Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
        Err(problem) => problems.push(problem),
    }
}

/// Lists a directory. A missing directory counts as empty.
fn read_entries(dir: &Path, problems: &mut Vec<PathError>) -> Vec<DirEntry> {
    match fs::read_dir(dir) {
        Ok(entries) => {
            let mut found = Vec::new();
            for entry in entries {
                match entry {
                    Ok(entry) => found.push(entry),
                    Err(source) => problems.push(PathError::new(dir, source)),
                }
            }
            found
        }
        Err(source) if is_missing(&source) => Vec::new(),
        Err(source) => {
            problems.push(PathError::new(dir, source));
            Vec::new()
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a file's metadata through its directory entry, which is cheaper than by its full path.
fn entry_metadata(entry: &DirEntry) -> Result<Metadata, PathError> {
    let meta = match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => entry.metadata(),
        _ => fs::metadata(entry.path()),
    };
    meta.map_err(|source| PathError::new(&entry.path(), source))
}

fn is_directory(entry: &DirEntry) -> bool {
    match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => kind.is_dir(),
        _ => entry.path().is_dir(),
    }
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use testkit::TestHome;

    use super::*;

    #[test]
    fn each_file_has_the_role_that_its_place_gives_it() {
        let home = TestHome::new();
        for file in [
            "-p/s1.jsonl",
            "-p/agent-a1.jsonl",
            "-p/s1/subagents/agent-a2.jsonl",
            "-p/s1/subagents/workflows/wf_1/agent-a3.jsonl",
            "-p/s1/subagents/workflows/wf_1/journal.jsonl",
            "-p/notes.txt",
            "-p/s1/tool-results/t.txt",
        ] {
            home.write_file(file, "");
        }
        let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
        assert!(listing.problems.is_empty());
        let [project] = &listing.projects[..] else { panic!("{listing:?}") };
        let session = || "s1".to_owned();
        let mut roles: Vec<(&str, &FileRole)> =
            project.files.iter().map(|file| (&*file.id, &file.role)).collect();
        roles.sort_by_key(|(id, _)| *id);
        assert_eq!(
            roles,
            [
                ("a1", &FileRole::FlatAgent),
                ("a2", &FileRole::NestedAgent { session: session() }),
                ("a3", &FileRole::NestedAgent { session: session() }),
                ("journal", &FileRole::Journal { session: session() }),
                ("s1", &FileRole::Session),
            ]
        );
        // Code that looks up a single file must come to the same result.
        for file in &project.files {
            let alone =
                HistoryFile::from_claude_path(&home.claude_dir(), &file.path).unwrap().unwrap();
            assert_eq!((&alone.role, &alone.relative), (&file.role, &file.relative));
            assert_eq!(home.claude_dir().join(&file.relative), file.path);
        }
    }

    #[test]
    fn one_of_several_directories_is_enough_and_none_is_an_error() {
        let home = TestHome::new();
        let gone = home.path().join("gone");
        let place = ClaudeDirs::open(vec![gone.clone(), home.claude_dir()]).unwrap();
        assert_eq!(place.roots, [home.claude_dir()]);
        assert!(ClaudeDirs::open(vec![gone]).is_err());
    }

    #[test]
    fn backups_are_looked_for_by_ids_alone() {
        let root = Path::new("/claude");
        assert_eq!(file_history_dir(root, "0a1b"), Some(root.join("file-history/0a1b")));
        for id in ["", "..", "a/b", "/etc"] {
            assert_eq!(file_history_dir(root, id), None, "{id}");
        }
    }

    #[test]
    fn the_settings_tell_how_long_sessions_are_kept() {
        let home = TestHome::new();
        assert_eq!(read_cleanup_period(&home.claude_dir()), None);
        fs::write(home.claude_dir().join("settings.json"), r#"{"cleanupPeriodDays": 99}"#).unwrap();
        assert_eq!(read_cleanup_period(&home.claude_dir()), Some(99));
        fs::write(home.claude_dir().join("settings.json"), "{ half").unwrap();
        assert_eq!(read_cleanup_period(&home.claude_dir()), None);
    }
}
