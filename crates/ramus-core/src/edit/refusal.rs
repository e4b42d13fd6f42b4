//! Reasons why a plan is not possible.

use std::fmt;

use crate::time::Time;

/// Why a plan was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditRefusal {
    /// The record is not part of the tree.
    NoNode,
    /// The record has no uuid, or is on a damaged line: no client sees it.
    Unseen { line: u32 },
    /// The record belongs to a sub-agent.
    Sidechain,
    /// A compaction that preserves some messages hides everything else before it.
    HiddenByCompaction { line: u32 },
    /// In a large file the client does not look before the last compaction.
    BeforeCompaction { line: u32, bytes: u64 },
    /// Another record with the same uuid comes later in the file, and the client sees only that one.
    OtherVersion { line: u32, other: u32 },
    /// A record is dated in the future, and a client of that era continues at the newest time.
    Future { line: u32, time: Time },
    /// The client loses the first record of a file that begins with a byte order mark.
    ByteOrderMark,
    /// By the client's rule the session would still continue somewhere else.
    WouldNotHold,
    /// There is no message to continue from.
    Empty,
    /// A conversation shares no beginning with those before it.
    NoCommonPart { n: usize },
    /// A conversation has nothing that the others have not.
    NothingOwn { n: usize },
    /// What was picked is not there.
    NoExchange { pick: String },
    /// What was picked can be several.
    SeveralExchanges { pick: String, found: usize },
}

impl EditRefusal {
    /// Whether a new session does what adding lines cannot (R26).
    pub fn can_fork(&self) -> bool {
        !matches!(
            self,
            Self::NoNode
                | Self::Empty
                | Self::NoCommonPart { .. }
                | Self::NothingOwn { .. }
                | Self::NoExchange { .. }
                | Self::SeveralExchanges { .. }
        )
    }
}

impl fmt::Display for EditRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode => f.write_str("the record is not part of a conversation"),
            Self::Unseen { line } => {
                write!(f, "the client does not see this record: line {line} is damaged")
            }
            Self::Sidechain => {
                f.write_str("the message belongs to a sub-agent, and a session can only resume in its main conversation")
            }
            Self::HiddenByCompaction { line } => write!(
                f,
                "Claude Code does not load messages before the compaction in line {line}"
            ),
            Self::BeforeCompaction { line, bytes } => write!(
                f,
                "in a file of this size ({} MB) Claude Code does not read before the compaction in line {line}",
                bytes / 1_000_000
            ),
            Self::OtherVersion { line, other } => write!(
                f,
                "Claude Code only sees the other version of line {line}, in line {other}"
            ),
            Self::Future { line, time } => write!(
                f,
                "line {line} is dated in the future ({time}), and the client that wrote this session \
                 resumes at the newest date"
            ),
            Self::ByteOrderMark => f.write_str(
                "the file begins with a byte order mark, behind which that client loses the first record",
            ),
            Self::WouldNotHold => {
                f.write_str("Claude Code would still resume somewhere else")
            }
            Self::Empty => f.write_str("there is no message to resume from"),
            Self::NoCommonPart { n } => {
                write!(f, "conversation {n} has nothing in common with an earlier one")
            }
            Self::NothingOwn { n } => {
                write!(f, "conversation {n} adds nothing to the others")
            }
            Self::NoExchange { pick } => write!(f, "no exchange {pick}"),
            Self::SeveralExchanges { pick, found } => {
                write!(f, "{pick} matches {found} exchanges")
            }
        }
    }
}

impl std::error::Error for EditRefusal {}
