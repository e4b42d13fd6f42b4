//! The manifest of a pack, and whether its names are allowed.

use std::collections::HashSet;

use ramus_core::annotation::Annotation;
use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::read::PackError;

/// The table of contents of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: String,
    /// Secrets and personal data were removed.
    #[serde(default)]
    pub redacted: bool,
    pub sessions: Vec<PackedSession>,
}

/// A session in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedSession {
    pub id: String,
    pub title: String,
    /// The directory that it ran in; `None`: it names none.
    pub directory: Option<String>,
    /// Where its agents and spilled outputs were; records name them by that.
    pub session_dir: Option<String>,
    /// The newest version of the client that wrote to it.
    pub version: Option<String>,
    pub started: Option<String>,
    pub last_active: Option<String>,
    pub messages: u32,
    pub conversations: u32,
    pub agents: u32,
    /// Its files; the session itself comes first.
    pub files: Vec<PackedFile>,
    /// Pins, tags and notes on it and its messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<PackedAnnotation>,
}

/// What a person put on a packed session, or on one of its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedAnnotation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub annotation: Annotation,
}

/// A file in a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Its path from the Claude directory on.
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
    /// The permissions of a file that was backed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// Limits: number of files, and length and depth of their names.
const MOST_FILES: usize = 200_000;
const LONGEST_NAME: usize = 4_096;
const DEEPEST_NAME: usize = 12;

impl Manifest {
    /// Returns all files, in the order of the archive.
    pub fn files(&self) -> impl Iterator<Item = &PackedFile> {
        self.sessions.iter().flat_map(|session| &session.files)
    }

    /// Returns how many bytes the files have together.
    pub fn total_bytes(&self) -> u64 {
        self.files().fold(0, |sum: u64, file| sum.saturating_add(file.bytes))
    }

    /// Reads a manifest, and refuses names that do not belong into a Claude directory.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, PackError> {
        #[derive(Deserialize)]
        struct Format {
            format: String,
        }
        let damaged =
            |error: serde_json::Error| PackError::damaged(format!("its manifest: {error}"));
        let Format { format } = serde_json::from_slice(bytes).map_err(damaged)?;
        if format != FORMAT {
            return Err(PackError::OtherFormat(format));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), PackError> {
        if self.sessions.is_empty() {
            return Err(PackError::damaged("it contains no session"));
        }
        if self.files().count() > MOST_FILES {
            return Err(PackError::refused("it contains too many files"));
        }
        let (mut names, mut ids) = (HashSet::<&str>::new(), HashSet::new());
        for session in &self.sessions {
            if !is_plain_name(&session.id) || !ids.insert(&session.id) {
                return Err(PackError::refused(format!("{:?} is not a session id", session.id)));
            }
            session.project()?;
            for file in &session.files {
                if !session.owns(&file.name) {
                    return Err(PackError::refused(format!(
                        "{:?} is not a file of session {}",
                        file.name, session.id
                    )));
                }
                if !names.insert(&file.name) {
                    return Err(PackError::refused(format!("{:?} appears twice", file.name)));
                }
            }
        }
        // The directory of one file cannot be another file.
        let is_inside_file = |file: &&PackedFile| {
            file.name.match_indices('/').any(|(at, _)| names.contains(&file.name[..at]))
        };
        match self.files().find(is_inside_file) {
            Some(PackedFile { name, .. }) => {
                Err(PackError::refused(format!("{name:?} is inside of another file")))
            }
            None => Ok(()),
        }
    }
}

impl PackedSession {
    /// Returns the encoded name of its project.
    pub fn project(&self) -> Result<&str, PackError> {
        let name = self.files.first().map(|file| &*file.name).unwrap_or_default();
        let parts: Vec<&str> = name.split('/').collect();
        match parts[..] {
            ["projects", project, file]
                if is_plain_name(project) && file == format!("{}.jsonl", self.id) =>
            {
                Ok(project)
            }
            _ => Err(PackError::refused(format!(
                "{name:?} is not in the right place for session {}",
                self.id
            ))),
        }
    }

    /// Whether a name is one that a file of this session can have.
    fn owns(&self, name: &str) -> bool {
        let parts: Vec<&str> = name.split('/').collect();
        let is_plain = name.len() <= LONGEST_NAME
            && parts.len() <= DEEPEST_NAME
            && parts.iter().all(|part| is_plain_name(part));
        let project = self.project().unwrap_or_default();
        is_plain
            && match parts[..] {
                ["projects", of, file] if of == project => {
                    file == format!("{}.jsonl", self.id) || is_flat_agent(file)
                }
                ["projects", of, id, _, ..] => of == project && id == self.id,
                ["file-history", id, _] => id == self.id,
                _ => false,
            }
    }
}

/// Whether a name is that of an agent next to the sessions, as old clients stored them.
pub(crate) fn is_flat_agent(name: &str) -> bool {
    let ending = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".meta.json"));
    ending.is_some_and(|stem| stem.starts_with("agent-"))
}

/// Whether a name is one part of a path on every system, and leads nowhere else.
pub fn is_plain_name(name: &str) -> bool {
    let is_odd = |char: char| char.is_control() || matches!(char, '/' | '\\' | ':');
    !matches!(name, "" | "." | "..") && name.len() <= 255 && !name.contains(is_odd)
}
