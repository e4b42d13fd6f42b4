//! Files as of a message.

use ramus_core::files::{Doubt, FileContent, FileState, FilesAtMessage};
use serde::Serialize;

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Files {
    #[serde(flatten)]
    pub point: FilesPoint,
    pub files: Vec<File>,
}

/// The moment that the files are of.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FilesPoint {
    pub session: String,
    /// `null`: the record has no uuid.
    pub node: Option<String>,
    /// `before` a prompt, `after` any other message.
    pub moment: &'static str,
    pub cwd: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct File {
    pub path: String,
    /// `file`, `absent` or `unknown`.
    pub state: &'static str,
    pub size: Option<u64>,
    pub source: &'static str,
    /// The backup that contains it; with the doubt `late-backup`, the one that does not.
    pub backup: Option<String>,
    pub version: Option<u64>,
    pub doubt: Option<&'static str>,
    /// How many commands or agents ran since; with the doubt `commands-ran`.
    pub commands: Option<u32>,
    pub only_read: bool,
    /// The text, if one file was requested and it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub content: Option<String>,
}

/// Turns a moment into what scripts get.
pub fn files_point(session: &str, moment: &FilesAtMessage) -> FilesPoint {
    FilesPoint {
        session: session.to_owned(),
        node: moment.node.clone(),
        moment: if moment.is_before { "before" } else { "after" },
        cwd: (!moment.cwd.is_empty()).then(|| moment.cwd.clone()),
    }
}

/// Turns a file into what scripts get; `size` is that of its backup.
pub fn from_file_state(file: &FileState, size: Option<u64>) -> File {
    let (state, backup) = match &file.content {
        FileContent::Backup(backup) => ("file", Some(backup)),
        FileContent::Bytes(_) => ("file", None),
        FileContent::Absent => ("absent", None),
        FileContent::Unknown => ("unknown", None),
    };
    let late = match &file.doubt {
        Some(Doubt::LateBackup(backup)) => Some(backup),
        _ => None,
    };
    let backup = backup.or(late);
    File {
        path: file.path.clone(),
        state,
        size,
        source: file.source.as_str(),
        backup: backup.map(|backup| backup.name.clone()),
        version: backup.map(|backup| backup.version),
        doubt: file.doubt.as_ref().map(Doubt::as_str),
        commands: match file.doubt {
            Some(Doubt::CommandsRan(commands)) => Some(commands),
            _ => None,
        },
        only_read: file.only_read,
        content: None,
    }
}

#[derive(Debug, Serialize)]
pub struct FilesDiff {
    pub a: FilesPoint,
    pub b: FilesPoint,
    pub files: Vec<FileDiff>,
}

#[derive(Debug, Serialize)]
pub struct FileDiff {
    pub path: String,
    pub a: File,
    pub b: File,
    /// `null`: one of them is not known.
    pub differs: Option<bool>,
    /// `null`: it is no text, or not known.
    pub added: Option<usize>,
    pub removed: Option<usize>,
    /// The difference as a unified diff; `null` as above.
    pub diff: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct FilesWritten {
    #[serde(flatten)]
    pub point: FilesPoint,
    pub dir: String,
    pub written: Vec<FileWritten>,
    /// Files that are missing because their content is unknown.
    pub unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct FileWritten {
    pub path: String,
    /// Where it went, from the directory on.
    pub file: String,
    pub size: u64,
}
