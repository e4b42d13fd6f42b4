//! Kinds of texts, and the roles that write them.

use crate::record::RecordRole;

/// What a text is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    Prompt,
    Reply,
    Thinking,
    ToolInput,
    /// What a tool answered, to the model or to the client (`toolUseResult`).
    ToolResult,
    /// A summary of a conversation: a `summary` record or a compaction summary.
    Summary,
    Title,
    /// A prompt that waited while the model worked.
    QueuedPrompt,
    Command,
    CommandOutput,
    Notification,
    /// An API error, reported by the client.
    Error,
    System,
    Attachment,
    /// The address of a pull request that was made.
    PullRequest,
    /// Text inserted by the client, not meant to be shown.
    Meta,
    Other,
    /// Progress of tools and hooks; searched only on request.
    Progress,
    /// Repeats a prompt; searched only on request.
    LastPrompt,
}

impl TextKind {
    /// All kinds, in the order they are listed.
    pub const ALL: [Self; 19] = [
        Self::Prompt,
        Self::Reply,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolResult,
        Self::Summary,
        Self::Title,
        Self::QueuedPrompt,
        Self::Command,
        Self::CommandOutput,
        Self::Notification,
        Self::Error,
        Self::System,
        Self::Attachment,
        Self::PullRequest,
        Self::Meta,
        Self::Other,
        Self::Progress,
        Self::LastPrompt,
    ];

    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Reply => "answer",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool-input",
            Self::ToolResult => "tool-result",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::QueuedPrompt => "queued",
            Self::Command => "command",
            Self::CommandOutput => "command-output",
            Self::Notification => "notification",
            Self::Error => "error",
            Self::System => "system",
            Self::Attachment => "attachment",
            Self::PullRequest => "pr-link",
            Self::Meta => "meta",
            Self::Other => "other",
            Self::Progress => "progress",
            Self::LastPrompt => "last-prompt",
        }
    }

    /// Returns the role that writes this kind of text.
    pub fn speaker_role(self) -> SpeakerRole {
        match self {
            Self::Prompt | Self::QueuedPrompt | Self::Command | Self::LastPrompt => {
                SpeakerRole::User
            }
            Self::Reply | Self::Thinking | Self::ToolInput => SpeakerRole::Assistant,
            Self::ToolResult => SpeakerRole::Tool,
            Self::Summary | Self::Title => SpeakerRole::Session,
            _ => SpeakerRole::System,
        }
    }

    /// Whether it is searched by default.
    pub fn is_usual(self) -> bool {
        !matches!(self, Self::Progress | Self::LastPrompt)
    }

    pub(super) fn from_role(role: RecordRole) -> Self {
        match role {
            RecordRole::Prompt | RecordRole::Interrupt => Self::Prompt,
            RecordRole::Reply => Self::Reply,
            RecordRole::Synthetic => Self::Error,
            RecordRole::CompactSummary => Self::Summary,
            RecordRole::CompactBoundary => Self::System,
            RecordRole::ToolResult => Self::ToolResult,
            RecordRole::Command => Self::Command,
            RecordRole::CommandOutput => Self::CommandOutput,
            RecordRole::Meta => Self::Meta,
            RecordRole::Notification => Self::Notification,
            RecordRole::QueuedPrompt => Self::QueuedPrompt,
            RecordRole::Decoration => Self::System,
        }
    }
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpeakerRole {
    User,
    Assistant,
    Tool,
    System,
    /// None: it is about the session.
    Session,
}

impl SpeakerRole {
    /// All roles, in the order they are listed.
    pub const ALL: [Self; 5] =
        [Self::User, Self::Assistant, Self::Tool, Self::System, Self::Session];

    /// Reads the stable word for it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Session => "session",
        }
    }
}
