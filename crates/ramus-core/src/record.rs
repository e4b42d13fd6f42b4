//! Records and their kinds.
//!
//! Only this module, `envelope` and [`body`](crate::body) know the field names of Claude Code.

use crate::name::{Key, Name};
use crate::time::Time;
use bitcode::{Decode, Encode};

/// A piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct ByteSpan {
    /// Offset of its first byte.
    pub at: u64,
    /// Number of bytes, without the newline.
    pub len: u32,
}

impl ByteSpan {
    /// Returns the offset after its last byte.
    pub fn end(self) -> u64 {
        self.at + u64::from(self.len)
    }
}

/// What a record is, by its `type` (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Kind {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
    /// A tool call on a separate line, as very old builds wrote it.
    ToolUse,
    /// A tool result on a separate line, as very old builds wrote it.
    ToolResult,
    /// A type that is not known but carries `uuid` and `parentUuid`.
    UnknownNode,
    Summary,
    CustomTitle,
    AiTitle,
    LastPrompt,
    AgentName,
    AgentColor,
    AgentSetting,
    Tag,
    Mode,
    PermissionMode,
    PrLink,
    QueueOperation,
    FileHistorySnapshot,
    FileHistoryDelta,
    WorktreeState,
    Relocated,
    ContentReplacement,
    BridgeSession,
    CostState,
    FrameLink,
    ForkContextRef,
    /// Internal records of the client, known only by their type.
    Internal,
    /// Lines of a workflow's `journal.jsonl`.
    Journal,
    /// A type that is not known, or no type at all.
    Unknown,
}

/// The kinds with their own `type`.
const WORDS: &[(&str, Kind)] = &[
    ("user", Kind::User),
    ("assistant", Kind::Assistant),
    ("system", Kind::System),
    ("attachment", Kind::Attachment),
    ("progress", Kind::Progress),
    ("tool_use", Kind::ToolUse),
    ("tool_result", Kind::ToolResult),
    ("summary", Kind::Summary),
    ("custom-title", Kind::CustomTitle),
    ("ai-title", Kind::AiTitle),
    ("last-prompt", Kind::LastPrompt),
    ("agent-name", Kind::AgentName),
    ("agent-color", Kind::AgentColor),
    ("agent-setting", Kind::AgentSetting),
    ("tag", Kind::Tag),
    ("mode", Kind::Mode),
    ("permission-mode", Kind::PermissionMode),
    ("pr-link", Kind::PrLink),
    ("queue-operation", Kind::QueueOperation),
    ("file-history-snapshot", Kind::FileHistorySnapshot),
    ("file-history-delta", Kind::FileHistoryDelta),
    ("worktree-state", Kind::WorktreeState),
    ("relocated", Kind::Relocated),
    ("content-replacement", Kind::ContentReplacement),
    ("bridge-session", Kind::BridgeSession),
    ("cost-state", Kind::CostState),
    ("frame-link", Kind::FrameLink),
    ("fork-context-ref", Kind::ForkContextRef),
];

/// Types of internal records.
const INTERNAL: &[&[u8]] = &[
    b"task-summary",
    b"attribution-snapshot",
    b"speculation-accept",
    b"atis-latch",
    b"history-suppression",
    b"tombstone",
];

impl Kind {
    /// Returns the kind of a record by its `type`.
    pub fn from_type(name: &[u8]) -> Self {
        match name {
            // Nearly all records are of these two kinds.
            b"assistant" => Self::Assistant,
            b"user" => Self::User,
            b"started" | b"result" => Self::Journal,
            _ if INTERNAL.contains(&name)
                || name.starts_with(b"artifact-")
                || name.starts_with(b"marble-origami-") =>
            {
                Self::Internal
            }
            _ => WORDS
                .iter()
                .find(|(word, _)| word.as_bytes() == name)
                .map_or(Self::Unknown, |(_, kind)| *kind),
        }
    }

    /// Returns the `type` of records of this kind.
    pub fn word(self) -> &'static str {
        let word = WORDS.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word);
        word.unwrap_or(match self {
            Self::Internal => "internal",
            Self::Journal => "journal",
            Self::UnknownNode => "unknown",
            _ => "untyped",
        })
    }

    /// Whether the kind has exactly one `type`.
    pub(crate) fn has_word(self) -> bool {
        !matches!(self, Self::Internal | Self::Journal | Self::Unknown | Self::UnknownNode)
    }

    /// Whether records of this kind are part of the tree (R3).
    pub fn is_node(self) -> bool {
        self <= Self::UnknownNode
    }

    /// Whether the type is one this version knows.
    pub fn is_known(self) -> bool {
        !matches!(self, Self::Unknown | Self::UnknownNode)
    }
}

/// What a node contributes to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum Voice {
    /// Typed by a person.
    Prompt,
    /// Written by the model.
    Answer,
    /// Written by the client in place of the model: API errors, "No response requested."
    Synthetic,
    /// The summary that replaces the compacted messages.
    CompactSummary,
    /// The boundary at which a conversation was compacted.
    Boundary,
    /// The result of a tool call.
    ToolResult,
    /// A slash command or `!` command with its arguments.
    Command,
    /// What a command printed.
    CommandOutput,
    /// Text inserted by the client, not meant to be shown.
    Meta,
    /// `[Request interrupted by user]`.
    Interrupt,
    /// A message from a background task, another agent or a team mate.
    Notification,
    /// Typed by a person while the model was working (`attachment/queued_command`).
    Queued,
    /// Progress, hooks, reminders, durations.
    Decoration,
}

impl Voice {
    /// Whether this makes a branch by itself (R9).
    pub fn speaks(self) -> bool {
        matches!(self, Self::Prompt | Self::Answer | Self::Synthetic | Self::CompactSummary)
    }

    /// Whether a message of this role is displayable and counted (R16).
    pub fn is_displayable(self) -> bool {
        matches!(self, Self::Prompt | Self::Answer | Self::Synthetic)
    }
}

/// One record: its position, its kind and its links.
#[derive(Clone, Debug, Encode, Decode)]
pub struct Record {
    pub span: ByteSpan,
    /// Line number, from 1.
    pub line: u32,
    pub kind: Kind,
    pub voice: Voice,
    /// `isSidechain`: a record of a sub-agent.
    pub sidechain: bool,
    /// Read out of a damaged line (R2).
    pub recovered: bool,
    /// A recorded API error (`isApiErrorMessage`).
    pub api_error: bool,
    pub name: Option<Name>,
    /// `parentUuid`, else `logicalParentUuid` (R5, R7).
    pub parent: Option<Name>,
    pub time: Option<Time>,
    /// `message.id` of an assistant record.
    pub message: Option<Key>,
    /// Fingerprint of the content, for "the same record again" (R4, R8d).
    pub content: u64,
    /// First of its tool call ids in [`Session::tool_ids`](crate::session::Session::tool_ids).
    pub(crate) tools_at: u32,
    /// The number of tool calls it makes (assistant) or answers (user).
    pub(crate) tools: u16,
}

impl Record {
    /// Whether the record is part of the tree.
    pub fn is_node(&self) -> bool {
        self.kind.is_node()
    }
}
