//! What is wrong in the data: a value, never a failure.

use std::fmt;

use bitcode::{Decode, Encode};

use crate::line::LONGEST_LINE;
use crate::time::Time;

/// One thing that is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Defect {
    /// Offset of the line in the file.
    pub at: u64,
    /// Line number, from 1.
    pub line: u32,
    pub kind: DefectKind,
}

/// What can be wrong with a line or with how records hang together.
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
    /// The name was used before with other content (R4).
    Version,
    /// A tool call without a result, in the middle of a conversation.
    UnansweredTool,
    /// A tool result without its call.
    StrayResult,
    /// A message without a date, in a file where clients resume by dates.
    MissingDate,
    /// A record that is dated in the future: clients that go by dates resume there until then.
    FutureDate { time: Time },
}

impl DefectKind {
    /// Returns the stable word for it in machine output.
    pub fn word(&self) -> &'static str {
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
        }
    }

    /// Whether the line itself is damaged, rather than its links.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::NotJson { .. }
                | Self::NotUtf8
                | Self::Nul
                | Self::Glued { .. }
                | Self::Torn
                | Self::TooLong { .. }
        )
    }
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { column } => write!(f, "not JSON from byte {column} of the line on"),
            Self::NotUtf8 => f.write_str("not valid UTF-8; read with replacement characters"),
            Self::Nul => f.write_str("a run of NUL bytes, as a crash leaves behind"),
            Self::Glued { read } => {
                write!(f, "not one record alone on the line; {read} could be read")
            }
            Self::Torn => f.write_str("the last line is not whole: still being written, or cut"),
            Self::TooLong { bytes } => {
                let most = LONGEST_LINE / (1024 * 1024);
                write!(f, "the line has {bytes} bytes; lines of more than {most} MB are not read")
            }
            Self::Orphan { parent } => {
                write!(f, "parent {parent} is in no session of this project")
            }
            Self::Cycle => f.write_str("the parent link closes a cycle and was cut"),
            Self::SelfParent => f.write_str("the record is its own parent"),
            Self::Version => f.write_str("the uuid was used before with other content"),
            Self::UnansweredTool => f.write_str("a tool call without a result"),
            Self::StrayResult => f.write_str("a tool result without its call"),
            Self::MissingDate => f.write_str(
                "a message without a timestamp: Claude Code up to 2.1.100 resumes by timestamps and passes it over",
            ),
            Self::FutureDate { time } => write!(
                f,
                "dated {time}, in the future: Claude Code up to 2.1.100 resumes at the newest timestamp"
            ),
        }
    }
}
