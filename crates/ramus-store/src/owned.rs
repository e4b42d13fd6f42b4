//! Every file that belongs to a history: session files, and the files stored next to them.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::cache::FileIdentity;
use crate::claude_dir::{FileRole, HistoryFile, Project, file_history_dir};
use crate::error::PathError;
use crate::real_path::real_path_or_given;

/// A file of a Claude directory that belongs to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFile {
    /// The Claude directory, with symbolic links resolved.
    pub root: PathBuf,
    pub path: PathBuf,
    /// The path from the Claude directory on.
    pub relative: PathBuf,
    /// The session it belongs to. `None`: only its records name the session (agents of old clients).
    pub session: Option<String>,
    pub kind: OwnedKind,
    pub bytes: u64,
    /// What it can be recognised by; `None`: it changed a moment ago.
    pub identity: Option<FileIdentity>,
}

/// What a file is to its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnedKind {
    /// The records of the session itself.
    Session,
    /// The records of a sub-agent.
    Agent,
    /// A tool output that was too large for its record.
    SpilledOutput,
    /// A copy of a file of the project, made before it was changed.
    FileBackup,
    /// Anything else below the session's directory.
    Other,
}

impl OwnedKind {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Agent => "agent",
            Self::SpilledOutput => "spilled-output",
            Self::FileBackup => "file-backup",
            Self::Other => "other",
        }
    }

    /// Parses this word; an unknown one means any other file.
    pub fn from_word(word: &str) -> Self {
        let kinds = [Self::Session, Self::Agent, Self::SpilledOutput, Self::FileBackup];
        kinds.into_iter().find(|kind| kind.word() == word).unwrap_or(Self::Other)
    }
}

/// The project's own notes are next to the sessions' directories and belong to no session.
const MEMORY: &str = "memory";

/// How deep a session's directory is searched.
const DEPTH: u32 = 8;

/// Lists every file that belongs to the sessions of some projects, by path.
///
/// `roots` are the Claude directories that the projects lie in. With `is_everything`, file backups of
/// sessions that have no other file any more are listed too.
pub fn owned_files(
    roots: &[PathBuf],
    projects: &[Project],
    is_everything: bool,
) -> (Vec<OwnedFile>, Vec<PathError>) {
    let mut walk = Walk::default();
    for root in roots {
        // Paths in an archive must keep their meaning if a symbolic link changes.
        let real = real_path_or_given(root);
        let walks: Vec<Walk> = projects
            .par_iter()
            .with_max_len(1)
            .map(|project| {
                let mut walk = Walk::default();
                walk.project(root, &real, project, is_everything);
                walk
            })
            .collect();
        for part in walks {
            walk.files.extend(part.files);
            walk.problems.extend(part.problems);
        }
        if is_everything {
            walk.all_backups(root, &real);
        }
    }
    walk.files.sort_by(|a, b| (&a.root, &a.relative).cmp(&(&b.root, &b.relative)));
    walk.files.dedup_by(|a, b| (&a.root, &a.relative) == (&b.root, &b.relative));
    (walk.files, walk.problems)
}

#[derive(Default)]
struct Walk {
    files: Vec<OwnedFile>,
    problems: Vec<PathError>,
}

/// The owner of the directory.
#[derive(Clone, Copy)]
struct Owner<'a> {
    root: &'a Path,
    real: &'a Path,
    session: &'a str,
}

impl Walk {
    fn project(&mut self, root: &Path, real: &Path, project: &Project, is_everything: bool) {
        let mut sessions: Vec<String> = Vec::new();
        // What is only in an archive is no file.
        let is_here = |file: &&HistoryFile| !file.archived && file.path.starts_with(root);
        for file in project.files.iter().filter(is_here) {
            let (session, kind) = match &file.role {
                FileRole::Session => (Some(file.id.clone()), OwnedKind::Session),
                FileRole::FlatAgent => (None, OwnedKind::Agent),
                FileRole::NestedAgent { session } => (Some(session.clone()), OwnedKind::Agent),
                FileRole::Journal { session } => (Some(session.clone()), OwnedKind::Other),
            };
            if kind == OwnedKind::Session {
                sessions.push(file.id.clone());
            }
            let Ok(relative) = file.path.strip_prefix(root) else { continue };
            self.files.push(OwnedFile {
                root: real.to_owned(),
                path: file.path.clone(),
                relative: relative.to_owned(),
                session,
                kind,
                bytes: file.bytes,
                identity: file.identity,
            });
        }
        let dir = root.join("projects").join(&project.name);
        for (path, meta) in self.entries(&dir) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if meta.is_dir() && name != MEMORY {
                self.below(Owner { root, real, session: &name }, &path, OwnedKind::Other, 0);
            }
        }
        if !is_everything {
            for session in &sessions {
                self.backups(Owner { root, real, session });
            }
        }
    }

    fn all_backups(&mut self, root: &Path, real: &Path) {
        for (path, meta) in self.entries(&root.join("file-history")) {
            if meta.is_dir() {
                let session = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                self.backups(Owner { root, real, session: &session });
            }
        }
    }

    fn backups(&mut self, owner: Owner<'_>) {
        if let Some(dir) = file_history_dir(owner.root, owner.session) {
            self.below(owner, &dir, OwnedKind::FileBackup, 0);
        }
    }

    /// Lists the files below a directory of a session. Links are not followed: they can lead anywhere.
    fn below(&mut self, owner: Owner<'_>, dir: &Path, kind: OwnedKind, depth: u32) {
        for (path, meta) in self.entries(dir) {
            if meta.is_dir() {
                let kind = match path.file_name() {
                    Some(name) if depth == 0 && name == "tool-results" => OwnedKind::SpilledOutput,
                    _ => kind,
                };
                if depth < DEPTH {
                    self.below(owner, &path, kind, depth + 1);
                }
            } else if meta.is_file() && !is_listed(&path) {
                let Ok(relative) = path.strip_prefix(owner.root) else { continue };
                self.files.push(OwnedFile {
                    root: owner.real.to_owned(),
                    relative: relative.to_owned(),
                    session: Some(owner.session.to_owned()),
                    kind,
                    bytes: meta.len(),
                    identity: FileIdentity::of_settled(&path, &meta),
                    path,
                });
            }
        }
    }

    fn entries(&mut self, dir: &Path) -> Vec<(PathBuf, Metadata)> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if crate::disk::is_missing(&error) => return Vec::new(),
            Err(source) => {
                self.problems.push(PathError::new(dir, source));
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            let looked = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)));
            match looked {
                Ok(looked) => found.push(looked),
                // The client may remove a file between listing and looking.
                Err(error) if crate::disk::is_missing(&error) => {}
                Err(source) => self.problems.push(PathError::new(dir, source)),
            }
        }
        found
    }
}

/// Whether a file below a session's directory is part of the project's listing already.
fn is_listed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
        && path.iter().any(|part| part == "subagents")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_dir::ClaudeDirs;

    #[test]
    fn everything_a_session_keeps_is_listed_once() {
        let home = testkit::TestHome::new();
        for file in [
            "-p/s1.jsonl",
            "-p/agent-a1.jsonl",
            "-p/s1/subagents/agent-a2.jsonl",
            "-p/s1/subagents/agent-a2.meta.json",
            "-p/s1/tool-results/t.txt",
            "-p/s1/remote-agents/x.meta.json",
            "-p/memory/notes.md",
            "-p/sessions-index.json",
        ] {
            home.write_file(file, "x");
        }
        for file in ["file-history/s1/0a@v1", "file-history/gone/0b@v1"] {
            let path = home.claude_dir().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "y").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/hostname", home.claude_dir().join("projects/-p/s1/link"))
            .unwrap();
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let projects = place.list_projects().projects;
        let list = |is_everything| {
            let (files, problems) = owned_files(&place.roots, &projects, is_everything);
            assert!(problems.is_empty(), "{problems:?}");
            let tell = |file: &OwnedFile| {
                let relative = file.relative.to_string_lossy().into_owned();
                let session = file.session.clone().unwrap_or_default();
                (relative, session, file.kind.word())
            };
            files.iter().map(tell).collect::<Vec<_>>()
        };
        let row = |path: &str, session: &str, kind| (path.to_owned(), session.to_owned(), kind);
        let all = [
            row("file-history/gone/0b@v1", "gone", "file-backup"),
            row("file-history/s1/0a@v1", "s1", "file-backup"),
            row("projects/-p/agent-a1.jsonl", "", "agent"),
            row("projects/-p/s1/remote-agents/x.meta.json", "s1", "other"),
            row("projects/-p/s1/subagents/agent-a2.jsonl", "s1", "agent"),
            row("projects/-p/s1/subagents/agent-a2.meta.json", "s1", "other"),
            row("projects/-p/s1/tool-results/t.txt", "s1", "spilled-output"),
            row("projects/-p/s1.jsonl", "s1", "session"),
        ];
        assert_eq!(list(true), all);
        assert_eq!(list(false), all[1..]);
    }

    #[test]
    fn what_is_only_in_an_archive_is_not_listed() {
        let home = testkit::TestHome::new();
        home.write_file("-p/s1.jsonl", "x");
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let mut projects = place.list_projects().projects;
        assert_eq!(owned_files(&place.roots, &projects, true).0.len(), 1);
        projects[0].files[0].archived = true;
        assert_eq!(owned_files(&place.roots, &projects, true).0, []);
    }
}
