//! Records and their kinds.
//!
//! Only this module, `envelope` and [`body`](crate::body) know the field names of Claude Code.

use crate::ids::{IdHash, RecordUuid};
use crate::time::Time;
use bitcode::{Decode, Encode};

/// A piece of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct ByteSpan {
    /// Offset of its first byte.
    pub offset: u64,
    /// Number of bytes, without the newline.
    pub len: u32,
}

impl ByteSpan {
    /// Returns the offset after its last byte.
    pub fn end_offset(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// What a record is, by its `type` (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum RecordKind {
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
const TYPE_NAMES: &[(&str, RecordKind)] = &[
    ("user", RecordKind::User),
    ("assistant", RecordKind::Assistant),
    ("system", RecordKind::System),
    ("attachment", RecordKind::Attachment),
    ("progress", RecordKind::Progress),
    ("tool_use", RecordKind::ToolUse),
    ("tool_result", RecordKind::ToolResult),
    ("summary", RecordKind::Summary),
    ("custom-title", RecordKind::CustomTitle),
    ("ai-title", RecordKind::AiTitle),
    ("last-prompt", RecordKind::LastPrompt),
    ("agent-name", RecordKind::AgentName),
    ("agent-color", RecordKind::AgentColor),
    ("agent-setting", RecordKind::AgentSetting),
    ("tag", RecordKind::Tag),
    ("mode", RecordKind::Mode),
    ("permission-mode", RecordKind::PermissionMode),
    ("pr-link", RecordKind::PrLink),
    ("queue-operation", RecordKind::QueueOperation),
    ("file-history-snapshot", RecordKind::FileHistorySnapshot),
    ("file-history-delta", RecordKind::FileHistoryDelta),
    ("worktree-state", RecordKind::WorktreeState),
    ("relocated", RecordKind::Relocated),
    ("content-replacement", RecordKind::ContentReplacement),
    ("bridge-session", RecordKind::BridgeSession),
    ("cost-state", RecordKind::CostState),
    ("frame-link", RecordKind::FrameLink),
    ("fork-context-ref", RecordKind::ForkContextRef),
];

/// Types of internal records.
const INTERNAL_TYPES: &[&[u8]] = &[
    b"task-summary",
    b"attribution-snapshot",
    b"speculation-accept",
    b"atis-latch",
    b"history-suppression",
    b"tombstone",
];

impl RecordKind {
    /// Returns the kind of a record by its `type`.
    pub fn from_type(name: &[u8]) -> Self {
        match name {
            // Nearly all records are of these two kinds.
            b"assistant" => Self::Assistant,
            b"user" => Self::User,
            b"started" | b"result" => Self::Journal,
            _ if INTERNAL_TYPES.contains(&name)
                || name.starts_with(b"artifact-")
                || name.starts_with(b"marble-origami-") =>
            {
                Self::Internal
            }
            _ => TYPE_NAMES
                .iter()
                .find(|(word, _)| word.as_bytes() == name)
                .map_or(Self::Unknown, |(_, kind)| *kind),
        }
    }

    /// Returns the `type` of records of this kind.
    pub fn as_str(self) -> &'static str {
        let word = TYPE_NAMES.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word);
        word.unwrap_or(match self {
            Self::Internal => "internal",
            Self::Journal => "journal",
            Self::UnknownNode => "unknown",
            _ => "untyped",
        })
    }

    /// Whether the kind has exactly one `type`.
    pub(crate) fn has_own_type(self) -> bool {
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
pub enum RecordRole {
    /// Typed by a person.
    Prompt,
    /// Written by the model.
    Reply,
    /// Written by the client in place of the model: API errors, "No response requested."
    Synthetic,
    /// The summary that replaces the compacted messages.
    CompactSummary,
    /// The boundary at which a conversation was compacted.
    CompactBoundary,
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
    QueuedPrompt,
    /// Progress, hooks, reminders, durations.
    Decoration,
}

impl RecordRole {
    /// Whether this role makes a branch (R9).
    pub fn is_dialogue(self) -> bool {
        matches!(self, Self::Prompt | Self::Reply | Self::Synthetic | Self::CompactSummary)
    }

    /// Whether a message of this role is displayable and counted (R16).
    pub fn is_displayable(self) -> bool {
        matches!(self, Self::Prompt | Self::Reply | Self::Synthetic)
    }
}

/// One record: its position, its kind and its links.
#[derive(Clone, Debug, Encode, Decode)]
pub struct Record {
    pub span: ByteSpan,
    /// Line number, from 1.
    pub line: u32,
    pub kind: RecordKind,
    pub role: RecordRole,
    /// `isSidechain`: a record of a sub-agent.
    pub sidechain: bool,
    /// Read out of a damaged line (R2).
    pub recovered: bool,
    /// A recorded API error (`isApiErrorMessage`).
    pub api_error: bool,
    pub uuid: Option<RecordUuid>,
    /// `parentUuid`, else `logicalParentUuid` of a compaction (R5, R7).
    pub parent_uuid: Option<RecordUuid>,
    pub time: Option<Time>,
    /// `message.id` of an assistant record.
    pub message_id: Option<IdHash>,
    /// Fingerprint of the content, for "the same record again" (R4, R8d).
    pub content_hash: u64,
    /// First of its tool call ids in [`Session::tool_ids`](crate::session::Session::tool_ids).
    pub(crate) first_tool: u32,
    /// The number of tool calls it makes (assistant) or answers (user).
    pub(crate) tool_count: u16,
}

impl Record {
    /// Whether the record is part of the tree.
    pub fn is_node(&self) -> bool {
        self.kind.is_node()
    }
}
