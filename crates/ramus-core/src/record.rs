//! One line into one record: the envelope now, the body on demand.
//!
//! Together with [`body`](crate::body) this is the only place that knows the
//! field names of Claude Code.

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
    /// A tool call on a line of its own, as very old builds wrote.
    ToolUse,
    /// A tool result on a line of its own, as very old builds wrote.
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
    /// Records of the client's own bookkeeping, known by name only.
    Internal,
    /// Lines of a workflow's `journal.jsonl`.
    Journal,
    /// A type that is not known, or no type at all.
    Unknown,
}

/// The kinds that have a `type` of their own.
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

/// Types that are known by name only.
const INTERNAL: &[&[u8]] = &[
    b"task-summary",
    b"attribution-snapshot",
    b"speculation-accept",
    b"atis-latch",
    b"history-suppression",
    b"tombstone",
];

impl Kind {
    /// Tells the kind of a record from its `type`.
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

    /// Whether the kind tells the `type`; if not, several types share it.
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
    /// A person speaks.
    Prompt,
    /// The model speaks.
    Answer,
    /// The client speaks in the model's place: API errors, "No response requested."
    Synthetic,
    /// The summary that stands for what was compacted away.
    CompactSummary,
    /// The boundary at which a conversation was compacted.
    Boundary,
    /// The result of a tool call.
    ToolResult,
    /// A slash command or `!` command with its arguments.
    Command,
    /// What a command printed.
    CommandOutput,
    /// Text the client put in, not meant to be seen.
    Meta,
    /// `[Request interrupted by user]`.
    Interrupt,
    /// A background task, an agent or a team mate reports.
    Notification,
    /// A person speaks while the model works (`attachment/queued_command`).
    Queued,
    /// Progress, hooks, reminders, durations.
    Decoration,
}

impl Voice {
    /// Whether this makes a line of conversation by itself (R9).
    pub fn speaks(self) -> bool {
        matches!(self, Self::Prompt | Self::Answer | Self::Synthetic | Self::CompactSummary)
    }

    /// Whether a message of this voice is displayable and counted (R16).
    pub fn is_displayable(self) -> bool {
        matches!(self, Self::Prompt | Self::Answer | Self::Synthetic)
    }
}

/// One record: where it is, what it is, and how it hangs together with others.
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
    /// How many tool calls it makes (assistant) or answers (user).
    pub(crate) tools: u16,
}

impl Record {
    /// Whether the record is part of the tree.
    pub fn is_node(&self) -> bool {
        self.kind.is_node()
    }
}
