//! Describes a planned change as data, for the person who decides.

use std::path::{Path, PathBuf};

use crate::edit::{ConflictPolicy, NewSession, PlannedMerge};
use crate::files::FileState;
use crate::files::restore::{LeftReason, RestoreAction};
use crate::query::SpeakerRole;
use crate::time::Time;

/// A planned change in short.
#[derive(Clone, Debug)]
pub struct ChangeSummary<'a> {
    pub detail: &'a ChangeDetail,
    /// The session that is changed, or the new one.
    pub session: &'a str,
    /// The start of its id that means no other one.
    pub short_session: &'a str,
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
        plan: Box<PlannedMerge>,
        policy: ConflictPolicy,
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
        description: String,
    },
    RestoreFiles(FileRestoration),
    Repair {
        /// The session that is repaired.
        of: String,
        /// The start of its id that means no other one.
        short_of: String,
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
    Unpack {
        sessions: Vec<UnpackedSummary>,
        /// The Claude directory does not exist yet.
        makes_claude_dir: bool,
    },
}

/// A session of a pack, and where it goes.
#[derive(Clone, Debug)]
pub struct UnpackedSummary {
    /// The start of its id here that means no other one.
    pub short_id: String,
    /// Its id in the pack, if it gets a new one.
    pub replaced_id: Option<String>,
    /// If it is, that id was replaced because it is taken.
    pub old_id_is_uuid: bool,
    pub title: String,
    pub messages: u32,
    pub agents: u32,
    pub files: usize,
    pub bytes: u64,
    /// The directory that it came from.
    pub directory: Option<String>,
    /// How many records get other paths or another id.
    pub rewritten: u64,
    pub file: PathBuf,
}

/// The operation to undo.
#[derive(Clone, Debug)]
pub struct UndoneOperation {
    pub op: u64,
    pub kind: &'static str,
    /// The start of the session's id that means no other one.
    pub short_session: String,
    pub description: String,
}

/// A message on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSummary {
    pub uuid: Option<String>,
    /// The start of its uuid that means no other record of its session; empty where it has none.
    pub short_uuid: String,
    pub time: Option<Time>,
    pub role: SpeakerRole,
    /// The beginning of its text; empty if it has none.
    pub text: String,
    /// The role and the beginning of the message above, if this one has no text.
    pub above: Option<(SpeakerRole, String)>,
}

/// What happens to the files of a project.
#[derive(Clone, Debug, Default)]
pub struct FileRestoration {
    /// Paths below this directory are shown without it.
    pub cwd: String,
    pub changes: Vec<RestoredFile>,
    /// Files that differ from then and are not changed.
    pub left: Vec<(FileState, LeftReason)>,
}

/// A file to restore.
#[derive(Clone, Debug)]
pub struct RestoredFile {
    pub file: FileState,
    pub action: RestoreAction,
    /// Its text on disk, and at the point; `None`: it is not text.
    pub current_text: Option<String>,
    pub restored_text: Option<String>,
}
