//! Kinds of texts, and the roles that write them.

use crate::record::Voice;

/// What a text is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    Prompt,
    Answer,
    Thinking,
    ToolInput,
    /// What a tool answered, to the model or to the client (`toolUseResult`).
    ToolResult,
    /// A summary of a conversation: a `summary` record or a compaction summary.
    Summary,
    Title,
    /// A prompt that waited while the model worked.
    Queued,
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
        Self::Answer,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolResult,
        Self::Summary,
        Self::Title,
        Self::Queued,
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
    pub fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool-input",
            Self::ToolResult => "tool-result",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::Queued => "queued",
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

    /// Returns the role that writes such a text.
    pub fn role(self) -> Role {
        match self {
            Self::Prompt | Self::Queued | Self::Command | Self::LastPrompt => Role::User,
            Self::Answer | Self::Thinking | Self::ToolInput => Role::Assistant,
            Self::ToolResult => Role::Tool,
            Self::Summary | Self::Title => Role::Session,
            _ => Role::System,
        }
    }

    /// Whether it is searched by default.
    pub fn is_usual(self) -> bool {
        !matches!(self, Self::Progress | Self::LastPrompt)
    }

    pub(super) fn of_voice(voice: Voice) -> Self {
        match voice {
            Voice::Prompt | Voice::Interrupt => Self::Prompt,
            Voice::Answer => Self::Answer,
            Voice::Synthetic => Self::Error,
            Voice::CompactSummary => Self::Summary,
            Voice::Boundary => Self::System,
            Voice::ToolResult => Self::ToolResult,
            Voice::Command => Self::Command,
            Voice::CommandOutput => Self::CommandOutput,
            Voice::Meta => Self::Meta,
            Voice::Notification => Self::Notification,
            Voice::Queued => Self::Queued,
            Voice::Decoration => Self::System,
        }
    }
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    User,
    Assistant,
    Tool,
    System,
    /// None: it is about the session.
    Session,
}

impl Role {
    /// All roles, in the order they are listed.
    pub const ALL: [Self; 5] =
        [Self::User, Self::Assistant, Self::Tool, Self::System, Self::Session];

    /// Reads the stable word for it.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Session => "session",
        }
    }
}
