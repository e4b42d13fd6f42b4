//! Problems in the data. They are values next to the result and never make reading fail.

use std::fmt;

use bitcode::{Decode, Encode};

use crate::line::LONGEST_LINE;
use crate::time::Time;

/// One problem in a file, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Defect {
    /// Offset of the line in the file.
    pub offset: u64,
    /// Line number, from 1.
    pub line: u32,
    pub kind: DefectKind,
}

/// What can be wrong with a line or with the links between records.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum DefectKind {
    /// The line is not JSON from this column (in bytes) on.
    NotJson { column: u32 },
    /// The line is not valid UTF-8; it is read with replacement characters.
    NotUtf8,
    /// A run of NUL bytes, as a crash can leave behind; a record after it is read.
    Nul,
    /// A record together with another one or with rubbish; this many could be read.
    Glued { read: u32 },
    /// The last line has no newline and is not whole: it is being written, or was cut.
    Torn,
    /// The line is longer than [`LONGEST_LINE`] and is not read.
    TooLong { bytes: u64 },
    /// The parent is in no session of the project; the node became a root (R5).
    Orphan { parent: Box<str> },
    /// The parent link closes a cycle and was cut (R5).
    Cycle,
    /// The record names itself as its parent.
    SelfParent,
    /// The uuid was used before with different content (R4).
    Version,
    /// A tool call without a result, in the middle of a conversation.
    UnansweredTool,
    /// A tool result without its call.
    StrayResult,
    /// A message without a date, in a file where clients resume by dates.
    MissingDate,
    /// A record that is dated in the future: clients that go by dates resume there until then.
    FutureDate { time: Time },
    /// A record that names a session other than its file's, and is not a copy.
    OtherSession { session: Box<str> },
    /// A thinking block without a signature, which the API rejects.
    UnsignedThinking,
    /// A message with the id of another message.
    ReusedMessageId,
    /// A tool call with the id of a call of another message.
    ReusedToolId,
    /// Another project has a session with the same id, in this file.
    SameSessionId { file: Box<str> },
    /// A checkpoint names a file backup that is not on disk.
    LostBackup { name: Box<str> },
    /// Checkpoints name file backups, none of which is on disk.
    LostBackups { count: u32 },
    /// Two turns ran at the same time; `until`: the line by which both had continued.
    TwoClients { until: u32 },
}

impl DefectKind {
    /// Returns the stable word for it in machine output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "not-json",
            Self::NotUtf8 => "not-utf8",
            Self::Nul => "nul",
            Self::Glued { .. } => "glued",
            Self::Torn => "torn",
            Self::TooLong { .. } => "too-long",
            Self::Orphan { .. } => "orphan",
            Self::Cycle => "cycle",
            Self::SelfParent => "self-parent",
            Self::Version => "version",
            Self::UnansweredTool => "unanswered-tool",
            Self::StrayResult => "stray-result",
            Self::MissingDate => "missing-date",
            Self::FutureDate { .. } => "future-date",
            Self::OtherSession { .. } => "other-session",
            Self::UnsignedThinking => "unsigned-thinking",
            Self::ReusedMessageId => "reused-message-id",
            Self::ReusedToolId => "reused-tool-id",
            Self::SameSessionId { .. } => "same-session-id",
            Self::LostBackup { .. } | Self::LostBackups { .. } => "lost-backup",
            Self::TwoClients { .. } => "two-clients",
        }
    }

    /// Whether a repaired copy can do without it, where it is on the conversation that is resumed.
    pub fn is_fixable(&self) -> bool {
        !matches!(
            self,
            Self::NotJson { .. }
                | Self::TooLong { .. }
                | Self::SameSessionId { .. }
                | Self::LostBackup { .. }
                | Self::LostBackups { .. }
                | Self::TwoClients { .. }
        )
    }
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { column } => write!(f, "invalid JSON at byte {column} of the line"),
            Self::NotUtf8 => f.write_str("not valid UTF-8; read with replacement characters"),
            Self::Nul => f.write_str("a run of NUL bytes, probably from a crash"),
            Self::Glued { read } => {
                write!(f, "not a single record on the line; {read} could be read")
            }
            Self::Torn => f.write_str("the last line is incomplete: still being written, or cut off"),
            Self::TooLong { bytes } => {
                let most = LONGEST_LINE / (1024 * 1024);
                write!(f, "the line has {bytes} bytes; lines of more than {most} MB are not read")
            }
            Self::Orphan { parent } => {
                write!(f, "parent {parent} is not in any session of this project")
            }
            Self::Cycle => f.write_str("the parent link forms a cycle and is ignored"),
            Self::SelfParent => f.write_str("the record is its own parent"),
            Self::Version => f.write_str("the uuid was used before with other content"),
            Self::UnansweredTool => f.write_str("a tool call without a result"),
            Self::StrayResult => f.write_str("a tool result without its call"),
            Self::MissingDate => f.write_str(
                "a message without a timestamp: Claude Code up to 2.1.100 resumes by timestamps and skips it",
            ),
            Self::FutureDate { time } => write!(
                f,
                "dated {time}, in the future: Claude Code up to 2.1.100 resumes at the newest timestamp"
            ),
            Self::OtherSession { session } => {
                write!(f, "a record of session {session}, which is not a copy")
            }
            Self::UnsignedThinking => {
                f.write_str("thinking without a signature: the API refuses it on resume")
            }
            Self::ReusedMessageId => {
                f.write_str("the message id was used before for another message")
            }
            Self::ReusedToolId => f.write_str("the tool call id was used before for another call"),
            Self::SameSessionId { file } => write!(f, "the session id is also that of {file}"),
            Self::LostBackup { name } => {
                write!(f, "a checkpoint names the file backup {name}, which is not on disk")
            }
            Self::LostBackups { count } => write!(
                f,
                "checkpoints name {count} file backup{}, and none is on disk",
                if *count == 1 { "" } else { "s" }
            ),
            Self::TwoClients { until } => write!(
                f,
                "two clients wrote at the same time, at least until line {until}; use `ramus merge` to combine both branches"
            ),
        }
    }
}
