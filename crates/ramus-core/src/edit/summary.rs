//! Describes a planned change as data, for the person who decides.

use std::path::{Path, PathBuf};

use crate::edit::{Merged, NewSession, Policy};
use crate::files::FileState;
use crate::files::restore::{How, Why};
use crate::time::Time;

/// A planned change in short.
#[derive(Clone, Debug)]
pub struct ChangeSummary<'a> {
    pub detail: &'a ChangeDetail,
    /// The session that is changed, or the new one.
    pub session: &'a str,
    pub file: &'a Path,
    pub appended_bytes: u64,
    /// The number of sub-agent transcripts that are copied into a new session.
    pub agents: usize,
    /// The number of file backups and spilled outputs that are copied into a new session.
    pub links: usize,
    /// Notes about what Claude Code resumes without, and what it adds.
    pub resume_notes: Vec<String>,
}

/// What only one kind of change has.
#[derive(Clone, Debug)]
pub enum ChangeDetail {
    Goto {
        title: String,
        /// `None`: Claude Code resumes nothing now.
        now: Option<MessageSummary>,
        then: Option<MessageSummary>,
    },
    Fork {
        new: NewSession,
        up_to: Option<MessageSummary>,
    },
    Merge {
        merged: Box<Merged>,
        policy: Policy,
        /// The merge digest that a command wrote.
        digest: Option<String>,
    },
    Rename {
        now: String,
        then: String,
    },
    Trash {
        title: String,
        conversations: usize,
        /// The number of messages of the longest conversation.
        longest: u32,
        moved: Vec<PathBuf>,
    },
    Undo(Option<UndoneOperation>),
    Restore {
        words: String,
    },
    RestoreFiles(FileRestoration),
    Fix {
        /// The session that is repaired.
        of: String,
        title: String,
        repairs: Vec<String>,
        /// The repair is a new session; otherwise lines are appended to the old one.
        is_copy: bool,
    },
    /// The client's settings are edited.
    Settings {
        words: String,
        /// The command that they run, or no longer run.
        command: String,
    },
}

/// The operation to undo.
#[derive(Clone, Debug)]
pub struct UndoneOperation {
    pub op: u64,
    pub kind: &'static str,
    pub session: String,
    pub words: String,
}

/// A message on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSummary {
    pub uuid: Option<String>,
    pub time: Option<Time>,
    pub role: &'static str,
    /// The beginning of its text; empty if it has none.
    pub text: String,
    /// The role and the beginning of the message above, if this one has no text.
    pub above: Option<(&'static str, String)>,
}

/// What happens to the files of a project.
#[derive(Clone, Debug, Default)]
pub struct FileRestoration {
    /// Paths below this directory are shown without it.
    pub cwd: String,
    pub changes: Vec<RestoredFile>,
    /// Files that differ from then and stay as they are.
    pub left: Vec<(FileState, Why)>,
}

/// A file to restore.
#[derive(Clone, Debug)]
pub struct RestoredFile {
    pub file: FileState,
    pub how: How,
    /// Its text on disk, and at the point; `None`: it is not text.
    pub now: Option<String>,
    pub then: Option<String>,
}
