//! What a change comes down to, for whoever decides about it.

use std::path::{Path, PathBuf};

use crate::edit::{Merged, NewSession, Policy};
use crate::files::FileState;
use crate::files::restore::{How, Why};
use crate::time::Time;

/// A planned change in short.
#[derive(Clone, Debug)]
pub struct ChangeSummary<'a> {
    pub detail: &'a ChangeDetail,
    /// The session that is written, or the new one.
    pub session: &'a str,
    pub file: &'a Path,
    pub appended_bytes: u64,
    /// Transcripts of sub-agents that a new session brings along.
    pub agents: usize,
    /// File backups and spilled outputs that a new session brings along.
    pub links: usize,
    /// What Claude Code resumes without, and what it adds.
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
        /// The digest that a command wrote.
        digest: Option<String>,
    },
    Rename {
        now: String,
        then: String,
    },
    Trash {
        title: String,
        conversations: usize,
        /// How many messages the longest conversation has.
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
        /// The repair is a new session; otherwise lines are added to the old one.
        is_copy: bool,
    },
}

/// The operation that an undo takes back.
#[derive(Clone, Debug)]
pub struct UndoneOperation {
    pub op: u64,
    pub kind: &'static str,
    pub session: String,
    pub words: String,
}

/// A message in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSummary {
    pub uuid: Option<String>,
    pub time: Option<Time>,
    pub role: &'static str,
    /// The first words; empty where the message has none.
    pub text: String,
    /// The role and first words of the message above, where this one has no words.
    pub above: Option<(&'static str, String)>,
}

/// What happens to the files of a project.
#[derive(Clone, Debug, Default)]
pub struct FileRestoration {
    /// Paths below this directory are shown without it.
    pub cwd: String,
    pub changes: Vec<RestoredFile>,
    /// Files that are not as they were then, and stay so.
    pub left: Vec<(FileState, Why)>,
}

/// A file that is put back.
#[derive(Clone, Debug)]
pub struct RestoredFile {
    pub file: FileState,
    pub how: How,
    /// Its text on disk, and as it was then; `None`: it is no text.
    pub now: Option<String>,
    pub then: Option<String>,
}
