//! Parses the bodies of records: the bytes of one line become typed values, on demand.
//!
//! No content makes this fail: unknown keys are skipped (and kept by [`WholeRecord`]), values of
//! the wrong type count as absent, and records of unknown types are kept as they are. Only a line
//! that is not JSON is an error.

use std::borrow::Cow;

use fields::Fields;
use json::Json;
use serde_json::Value;

pub mod json;

mod assistant;
mod attachment;
mod block;
mod fields;
mod metadata;
mod output;
mod progress;
mod said;
mod system;
mod usage;
mod user;
mod whole;

pub use assistant::{AssistantBody, Attribution};
pub use attachment::{
    AttachmentBody, FileAttachment, FileKind, HookAttachment, HookKind, QueuedCommand,
};
pub use block::{
    Block, Media, MediaSource, Thinking, ToolResult, ToolUse, WebHit, WebSearchResult, plain_text,
};
pub use json::JsonError;
pub use metadata::{
    BridgeSession, CostState, FileBackup, FileHistoryDelta, FileHistorySnapshot, ForkContextRef,
    LastPrompt, LeafUuid, Metadata, ModelCost, PrLink, QueueOperation, Replaced, Worktree,
};
pub use output::{
    AgentOutput, BashOutput, EditOutput, GlobOutput, GrepOutput, Hunk, HunkLine, MultiEditOutput,
    NotebookEditOutput, PersistedOutput, Plan, Question, Questions, ReadContent, ReadOutput,
    Replacement, ShellOutput, SkillOutput, StatusChange, StructuredPatch, Task, TaskUpdate, Todo,
    TodoStatus, ToolOutput, ToolSearchOutput, ToolStats, ToolUseResult, WebFetchOutput, WebFinding,
    WebSearchOutput, WorkflowOutput, WriteKind, WriteOutput,
};
pub use progress::{ProgressBody, ProgressKind};
pub use said::{Said, TaskNotification, human_text, label_text, said, unstyled};
pub use system::{
    ApiError, CompactMetadata, HookInfo, MicrocompactMetadata, ModelFallback, PreservedMessages,
    PreservedSegment, StopHookSummary, SystemBody, SystemKind, TurnDuration,
};
pub use usage::{CacheWrites, Iteration, Usage, Word};
pub use user::{Origin, ThinkingMetadata, UserBody};
pub use whole::{RecordHead, WholeRecord};

/// The content of a record, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    User(Box<UserBody>),
    Assistant(Box<AssistantBody>),
    System(Box<SystemBody>),
    Attachment(Box<AttachmentBody>),
    Progress(Box<ProgressBody>),
    /// A tool call in a separate record; only the oldest clients wrote these.
    ToolUse(Box<ToolRecord>),
    /// The result of a [`Body::ToolUse`].
    ToolResult(Box<ToolRecord>),
    Metadata(Box<Metadata>),
    /// A record without a type, of a type not known here, or no record at all.
    Unknown(Value),
}

/// The beginning of a text that replaces an output too large for its record.
pub(crate) const STUB: &str = "<persisted-output>";

/// A tool call or its result in a separate record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRecord {
    pub content: Vec<Block>,
    pub tool_name: Option<String>,
    pub tool_use_id: Option<String>,
    pub input: Option<Value>,
    pub tool_use_result: Option<ToolUseResult>,
}

impl Body {
    /// Reads the body of one line.
    pub fn parse(line: &[u8]) -> Result<Self, JsonError> {
        Self::read(line, Self::of)
    }

    /// Reads what a transcript can show of one line: without the files as they were before an edit.
    pub fn parse_shown(line: &[u8]) -> Result<Self, JsonError> {
        Self::read(line, |mut value| {
            forget_unseen(&mut value);
            Self::of(value)
        })
    }

    /// Parses what a drawn transcript shows: like [`parse_shown`](Self::parse_shown), but without the output
    /// as the model saw it if the client kept the output itself.
    pub fn parse_drawn(line: &[u8]) -> Result<Self, JsonError> {
        Self::read(line, |mut value| {
            forget_unseen(&mut value);
            forget_repeated(&mut value);
            Self::of(value)
        })
    }

    fn read(line: &[u8], of: impl Fn(Json<'_>) -> Self) -> Result<Self, JsonError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if let Some(value) = Json::parse(line) {
            return Ok(of(value));
        }
        let repaired = json::repaired(line);
        match repaired.as_deref().and_then(Json::parse) {
            Some(value) => Ok(of(value)),
            None => json::parse(line).map(Self::Unknown),
        }
    }

    fn of(value: Json<'_>) -> Self {
        match value {
            Json::Object(_) => Self::of_fields(Fields::of(value)),
            value => Self::Unknown(value.into_value()),
        }
    }

    fn of_fields(fields: Fields<'_>) -> Self {
        let Some(kind) = fields.peek_text("type") else {
            return Self::Unknown(fields.into_value());
        };
        match &*kind {
            "user" => Self::User(Box::new(UserBody::of(fields))),
            "assistant" => Self::Assistant(Box::new(AssistantBody::of(fields))),
            "system" => Self::System(Box::new(SystemBody::of(fields))),
            "attachment" => Self::Attachment(Box::new(AttachmentBody::of(fields))),
            "progress" => Self::Progress(Box::new(ProgressBody::of(fields))),
            "tool_use" => Self::ToolUse(Box::new(ToolRecord::of(fields))),
            "tool_result" => Self::ToolResult(Box::new(ToolRecord::of(fields))),
            _ => match Metadata::of(&kind, fields) {
                Ok(metadata) => Self::Metadata(Box::new(metadata)),
                Err(fields) => Self::Unknown(fields.into_value()),
            },
        }
    }

    /// Returns the content blocks, if this type of record has any.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::User(body) => &body.content,
            Self::Assistant(body) => &body.content,
            Self::ToolUse(body) | Self::ToolResult(body) => &body.content,
            Self::Attachment(body) => match &**body {
                AttachmentBody::QueuedCommand(queued) => &queued.prompt,
                _ => &[],
            },
            _ => &[],
        }
    }
}

/// Removes the files as they were before an edit.
fn forget_unseen(value: &mut Json<'_>) {
    const CHANGE: [&str; 2] = ["filePath", "structuredPatch"];
    const UNSEEN: [&str; 4] = ["originalFile", "originalFileContents", "oldString", "newString"];
    if let Some(result) = value.get_mut("toolUseResult")
        && CHANGE.iter().all(|key| result.get(key).is_some())
    {
        for key in UNSEEN {
            result.take(key);
        }
    }
}

/// Removes the output as the model saw it if `toolUseResult` has all of it.
fn forget_repeated(value: &mut Json<'_>) -> Option<()> {
    let result = value.get("toolUseResult")?;
    let has = |key: &str| result.get(key).is_some();
    let is_text = || result.get("type").and_then(Json::text).is_some_and(|kind| kind == "text");
    let is_whole = has("stdout") && has("stderr") || has("file") && is_text();
    if !is_whole || has("persistedOutputPath") {
        return None;
    }
    let Json::List(blocks) = value.get_mut("message")?.get_mut("content")? else { return None };
    let [block] = &mut blocks[..] else { return None };
    let is_error = matches!(block.get("is_error"), Some(Json::Bool(true)));
    let seen = block.get_mut("content").filter(|_| !is_error)?;
    let Json::Text(raw) = seen else { return None };
    // The stub names the file that has the output.
    let start = &raw[..raw.len().min(STUB.len() * 2)];
    if memchr::memmem::find(start, STUB.as_bytes()).is_none() {
        *seen = Json::Null;
    }
    Some(())
}

impl ToolRecord {
    fn of(mut fields: Fields) -> Self {
        let mut result = fields.json("toolUseResult").unwrap_or_default();
        let inner_name = result.take("tool_name").and_then(|name| name.text().map(Cow::into_owned));
        let inner_input = result.take("parameters").map(Json::into_value);
        Self {
            tool_name: fields.text("name").or_else(|| fields.text("toolName")).or(inner_name),
            tool_use_id: fields.text("tool_use_id").or_else(|| fields.text("id")),
            input: fields.take("input").or(inner_input),
            content: user::content(&mut fields),
            // The oldest results wrap the tool's output.
            tool_use_result: ToolUseResult::of(result.take("result").unwrap_or(result)),
        }
    }
}

#[cfg(test)]
mod tests;
