//! Files as of a message: what each of them held, and how that is known (R22).
//!
//! Two kinds of witness speak. The client's checkpoints (`file-history` records
//! and the backups they name) are exact, and there is one for each prompt that a
//! person sent in the terminal. Tool results tell of every change in between,
//! but as text, and only of changes that tools made: what a command did to a
//! file shows when the file is next read, changed or backed up.
//!
//! A [`Moment`] is either *before a prompt*, which is what the client itself
//! would restore there, or *after any other message*.

mod moment;

mod tracked;

mod told;

mod late;

mod walk;

mod known;

mod text;

pub mod place;

pub mod restore;

mod revert;

pub use moment::{Moment, moment};
pub use revert::{Revert, Reverts, fork_files, revert};
pub use walk::files;

use crate::time::Time;

/// The message at which files are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesMoment {
    /// The uuid of the message.
    pub node: Option<String>,
    pub time: Option<Time>,
    /// The first words of the prompt, if the message is one.
    pub words: Option<String>,
    /// The files are those before the message, otherwise those after it.
    pub is_before: bool,
    /// Where the session ran; empty if it does not say.
    pub cwd: String,
}

/// One file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Absolute, unless the session does not say where it ran.
    pub path: String,
    pub held: Held,
    pub source: Source,
    /// What keeps the answer from being sure.
    pub doubt: Option<Doubt>,
    /// No tool changed it on the way; it was merely read.
    pub only_read: bool,
}

impl FileState {
    /// Says what keeps the content from being certain; empty if nothing does.
    pub fn note(&self) -> String {
        match &self.doubt {
            None if self.source == Source::Next => "as the next prompt found it".to_owned(),
            Some(Doubt::Ran(_)) if self.source == Source::Next => {
                "commands ran; as the next prompt found it".to_owned()
            }
            None => String::new(),
            Some(Doubt::Ran(1)) => "a command ran in between".to_owned(),
            Some(Doubt::Ran(n)) => format!("{n} commands ran in between"),
            Some(Doubt::Outside) => "changed by someone else".to_owned(),
            Some(Doubt::LateBackup(_)) => "its backup holds the first edit".to_owned(),
            Some(Doubt::BackupGone) => "its backup is gone".to_owned(),
            Some(Doubt::Unseen) => "edited, but never shown whole".to_owned(),
        }
    }
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// The bytes of a backup.
    Backup(Backup),
    /// Put together from what tools wrote and read.
    Bytes(Vec<u8>),
    /// There is no such file.
    Absent,
    /// Nobody wrote it down.
    #[default]
    Unknown,
}

/// A backup that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The stretch of the path, and so the session, whose record it is.
    pub part: usize,
    /// As the record has it: it may be anything.
    pub name: String,
    pub version: u64,
}

/// Where the client keeps its backups.
pub trait Backups {
    /// Returns the size of a backup. `None`: there is no such backup.
    fn size(&mut self, backup: &Backup) -> Option<u64>;

    /// Returns the bytes of a backup. `None`: it is not there, or too large to be held.
    fn read(&mut self, backup: &Backup) -> Option<Vec<u8>>;
}

/// Which witness was believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The checkpoint of the prompt, or of the last prompt before.
    Snapshot,
    /// The oldest checkpoint of the file, made before it was first changed.
    First,
    /// The checkpoint of the next prompt.
    Next,
    /// A tool wrote the whole file.
    Write,
    /// Edits, done again on what was there before.
    Edit,
    /// A tool read the whole file.
    Read,
    /// What a change wrote down of the file before it.
    Original,
    /// Nobody.
    #[default]
    Nothing,
}

impl Source {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
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

/// Why an answer may be wrong, or is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Commands or agents ran between the witness and the moment: this many.
    Ran(u32),
    /// Somebody else changed the file, and what came of it was not written down.
    Outside,
    /// The backup was made too late and holds what the first edit made of the file. The
    /// client would restore that; the answer is what was there before.
    LateBackup(Backup),
    /// A checkpoint names a backup that is not there.
    BackupGone,
    /// An edit was made in a file that nobody had written down.
    Unseen,
}

impl Doubt {
    /// Returns the stable word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ran(_) => "commands-ran",
            Self::Outside => "changed-outside",
            Self::LateBackup(_) => "late-backup",
            Self::BackupGone => "backup-gone",
            Self::Unseen => "unseen",
        }
    }
}

#[cfg(test)]
mod tests;
