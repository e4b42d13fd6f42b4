//! The content of files at a message, and how it is known (R22).
//!
//! There are two kinds of evidence. The client's checkpoints (`file-history` records and the backups
//! they name) are exact, and there is one for each prompt that was sent in the terminal. Tool results
//! show every change in between, but as text, and only changes made by tools: what a command did to a
//! file shows when the file is next read, changed or backed up.
//!
//! A [`PathPoint`] is either *before a prompt*, which is what the client itself would restore there, or
//! *after any other message*.

mod path_point;

mod checkpoints;

mod file_event;

mod late_backup;

mod walk;

mod reconstruct;

mod text;

pub mod file_path;

pub mod restore;

mod revert;

pub use path_point::{PathPoint, path_point_of};
pub use revert::{RevertOutcome, RevertOutcomes, files_at_fork, judge_revert};
pub use walk::files_at;

pub(crate) use checkpoints::CheckpointHistory;

use crate::time::Time;

/// The message at which files are requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesAtMessage {
    /// The uuid of the message.
    pub node: Option<String>,
    /// The start of the uuid that means no other message of the session.
    pub short_node: Option<String>,
    pub time: Option<Time>,
    /// The first words of the prompt, if the message is one.
    pub prompt_text: Option<String>,
    /// The files are those before the message, otherwise those after it.
    pub is_before: bool,
    /// The working directory of the session; empty if unknown.
    pub cwd: String,
}

/// One file at one point of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Absolute, unless the session does not record its working directory.
    pub path: String,
    pub content: FileContent,
    pub source: ContentSource,
    /// Why the content may be wrong.
    pub doubt: Option<Doubt>,
    /// It was only read, and no tool changed it before.
    pub only_read: bool,
}

impl FileState {
    /// Describes why the content is uncertain; empty if it is not.
    pub fn doubt_note(&self) -> String {
        match &self.doubt {
            None if self.source == ContentSource::Next => "as of the next prompt".to_owned(),
            Some(Doubt::CommandsRan(_)) if self.source == ContentSource::Next => {
                "commands ran; as of the next prompt".to_owned()
            }
            None => String::new(),
            Some(Doubt::CommandsRan(1)) => "a command ran since".to_owned(),
            Some(Doubt::CommandsRan(n)) => format!("{n} commands ran since"),
            Some(Doubt::ChangedOutside) => "changed outside Claude Code".to_owned(),
            Some(Doubt::LateBackup(_)) => "the backup already contains the first edit".to_owned(),
            Some(Doubt::BackupGone) => "the backup no longer exists".to_owned(),
            Some(Doubt::NeverRecorded) => "edited, but never read completely".to_owned(),
        }
    }
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileContent {
    /// The bytes of a backup.
    Backup(BackupRef),
    /// Assembled from what tools wrote and read.
    Bytes(Vec<u8>),
    /// The file does not exist.
    Absent,
    /// The content is not recorded.
    #[default]
    Unknown,
}

/// A backup that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupRef {
    /// The part of the path, and so the session, whose record it is.
    pub part: usize,
    /// As in the record: it may be anything.
    pub name: String,
    pub version: u64,
}

/// Access to the client's file backups.
pub trait BackupReader {
    /// Returns the size of a backup. `None`: it does not exist.
    fn backup_size(&mut self, backup: &BackupRef) -> Option<u64>;

    /// Returns the bytes of a backup. `None`: it does not exist or is too large to load.
    fn read_backup(&mut self, backup: &BackupRef) -> Option<Vec<u8>>;
}

/// The evidence that was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentSource {
    /// The checkpoint of the prompt, or of the last prompt before.
    Snapshot,
    /// The oldest checkpoint of the file, made before it was first changed.
    First,
    /// The checkpoint of the next prompt.
    Next,
    /// A tool wrote the whole file.
    Write,
    /// Edits, applied again to the earlier content.
    Edit,
    /// A tool read the whole file.
    Read,
    /// What a change recorded about the file before it.
    Original,
    /// There is none.
    #[default]
    Nothing,
}

impl ContentSource {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::First => "first",
            Self::Next => "next",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Read => "read",
            Self::Original => "original",
            Self::Nothing => "nothing",
        }
    }
}

/// Why a content may be wrong or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// This many commands or sub-agents ran between the evidence and the point.
    CommandsRan(u32),
    /// Something else changed the file, and the result was not recorded.
    ChangedOutside,
    /// The backup was made too late and has the content after the first edit. The client would restore
    /// that; ramus gives the content before it.
    LateBackup(BackupRef),
    /// A checkpoint names a backup that does not exist.
    BackupGone,
    /// An edit changed a file whose content was never recorded.
    NeverRecorded,
}

impl Doubt {
    /// Returns the stable word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::CommandsRan(_) => "commands-ran",
            Self::ChangedOutside => "changed-outside",
            Self::LateBackup(_) => "late-backup",
            Self::BackupGone => "backup-gone",
            Self::NeverRecorded => "unseen",
        }
    }
}

#[cfg(test)]
mod tests;
