//! Parses the bodies of records: the bytes of one line become typed values, on demand.
//!
//! No content makes this fail: unknown keys are skipped (and kept by [`WholeRecord`]), values of
//! the wrong type count as absent, and records of unknown types are kept as they are. Only a line
//! that is not JSON is an error.

use std::borrow::Cow;

use fields::Fields;
use json::LazyJson;
use serde_json::Value;

pub mod json;

mod assistant;
mod attachment;
mod block;
mod fields;
mod metadata;
mod output;
mod progress;
mod system;
mod usage;
mod user;
mod user_text;
mod whole_record;

pub use assistant::{AssistantBody, Attribution};
pub use attachment::{
    AttachedFileKind, AttachmentBody, FileAttachment, HookAttachment, HookKind, QueuedCommand,
};
pub use block::{
    ContentBlock, Media, MediaSource, ThinkingBlock, ToolResult, ToolUse, WebHit, WebSearchResult,
    plain_text,
};
pub use json::JsonError;
pub use metadata::{
    BridgeSession, ContentReplacement, CostState, FileBackup, FileHistoryDelta,
    FileHistorySnapshot, ForkContextRef, LastPrompt, LeafUuid, Metadata, ModelCost, PrLink,
    QueueOperation, Worktree,
};
pub use output::{
    AgentOutput, BashOutput, EditOutput, GlobOutput, GrepOutput, HunkLine, MultiEditOutput,
    NotebookEditOutput, PatchHunk, PersistedOutput, PlanOutput, QuestionsOutput, ReadContent,
    ReadOutput, Replacement, ShellOutput, SkillOutput, StatusChange, StructuredPatch, TaskItem,
    TaskUpdate, Todo, TodoStatus, ToolOutput, ToolSearchOutput, ToolStats, ToolUseResult,
    UserQuestion, WebFetchOutput, WebFinding, WebSearchOutput, WorkflowOutput, WriteKind,
    WriteOutput,
};
pub use progress::{ProgressBody, ProgressKind};
pub use system::{
    CompactMetadata, HookInfo, MicrocompactMetadata, ModelFallback, PreservedMessages,
    PreservedSegment, RecordedApiError, StopHookSummary, SystemBody, SystemKind, TurnDuration,
};
pub use usage::{CacheWrites, ModelRun, ServerWord, TokenUsage};
pub use user::{PromptOrigin, ThinkingMetadata, UserBody};
pub use user_text::{
    TaskNotification, UserText, classify_user_text, human_text, label_text, strip_styles,
};
pub use whole_record::{RecordHead, WholeRecord};

/// The content of a record, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordBody {
    User(Box<UserBody>),
    Assistant(Box<AssistantBody>),
    System(Box<SystemBody>),
    Attachment(Box<AttachmentBody>),
    Progress(Box<ProgressBody>),
    /// A tool call in a separate record; only the oldest clients wrote these.
    ToolUse(Box<ToolRecord>),
    /// The result of a [`RecordBody::ToolUse`].
    ToolResult(Box<ToolRecord>),
    Metadata(Box<Metadata>),
    /// A record without a type, of a type not known here, or no record at all.
    Unknown(Value),
}

/// The beginning of a text that replaces an output too large for its record.
pub(crate) const PERSISTED_OUTPUT_TAG: &str = "<persisted-output>";

/// A tool call or its result in a separate record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRecord {
    pub content: Vec<ContentBlock>,
    pub tool_name: Option<String>,
    pub tool_use_id: Option<String>,
    pub input: Option<Value>,
    pub tool_use_result: Option<ToolUseResult>,
}

impl RecordBody {
    /// Reads the body of one line.
    pub fn parse(line: &[u8]) -> Result<Self, JsonError> {
        Self::read_with(line, Self::from_json)
    }

    /// Reads what a transcript can show of one line, without the contents of files before an edit.
    pub fn parse_shown(line: &[u8]) -> Result<Self, JsonError> {
        Self::read_with(line, |mut value| {
            drop_old_files(&mut value);
            Self::from_json(value)
        })
    }

    /// Parses what a drawn transcript shows: like [`parse_shown`](Self::parse_shown), but without the output
    /// as the model saw it if the client kept the output itself.
    pub fn parse_drawn(line: &[u8]) -> Result<Self, JsonError> {
        Self::read_with(line, |mut value| {
            drop_old_files(&mut value);
            drop_repeated_output(&mut value);
            Self::from_json(value)
        })
    }

    fn read_with(line: &[u8], of: impl Fn(LazyJson<'_>) -> Self) -> Result<Self, JsonError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if let Some(value) = LazyJson::parse(line) {
            return Ok(of(value));
        }
        let repaired = json::repair_line(line);
        match repaired.as_deref().and_then(LazyJson::parse) {
            Some(value) => Ok(of(value)),
            None => json::parse_line(line).map(Self::Unknown),
        }
    }

    fn from_json(value: LazyJson<'_>) -> Self {
        match value {
            LazyJson::Object(_) => Self::from_fields(Fields::from_json(value)),
            value => Self::Unknown(value.into_value()),
        }
    }

    fn from_fields(fields: Fields<'_>) -> Self {
        let Some(kind) = fields.peek_text("type") else {
            return Self::Unknown(fields.into_value());
        };
        match &*kind {
            "user" => Self::User(Box::new(UserBody::from_fields(fields))),
            "assistant" => Self::Assistant(Box::new(AssistantBody::from_fields(fields))),
            "system" => Self::System(Box::new(SystemBody::from_fields(fields))),
            "attachment" => Self::Attachment(Box::new(AttachmentBody::from_fields(fields))),
            "progress" => Self::Progress(Box::new(ProgressBody::from_fields(fields))),
            "tool_use" => Self::ToolUse(Box::new(ToolRecord::from_fields(fields))),
            "tool_result" => Self::ToolResult(Box::new(ToolRecord::from_fields(fields))),
            _ => match Metadata::from_fields(&kind, fields) {
                Ok(metadata) => Self::Metadata(Box::new(metadata)),
                Err(fields) => Self::Unknown(fields.into_value()),
            },
        }
    }

    /// Returns the content blocks, if this type of record has any.
    pub fn content_blocks(&self) -> &[ContentBlock] {
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

/// Removes the contents of files before an edit.
fn drop_old_files(value: &mut LazyJson<'_>) {
    const CHANGE: [&str; 2] = ["filePath", "structuredPatch"];
    const UNSEEN: [&str; 4] = ["originalFile", "originalFileContents", "oldString", "newString"];
    if let Some(result) = value.get_mut("toolUseResult")
        && CHANGE.iter().all(|key| result.get(key).is_some())
    {
        for key in UNSEEN {
            result.take_member(key);
        }
    }
}

/// Removes the output as the model saw it if `toolUseResult` has all of it.
fn drop_repeated_output(value: &mut LazyJson<'_>) -> Option<()> {
    let result = value.get("toolUseResult")?;
    let has = |key: &str| result.get(key).is_some();
    let is_text =
        || result.get("type").and_then(LazyJson::as_text).is_some_and(|kind| kind == "text");
    let is_whole = has("stdout") && has("stderr") || has("file") && is_text();
    if !is_whole || has("persistedOutputPath") {
        return None;
    }
    let LazyJson::List(blocks) = value.get_mut("message")?.get_mut("content")? else { return None };
    let [block] = &mut blocks[..] else { return None };
    let is_error = matches!(block.get("is_error"), Some(LazyJson::Bool(true)));
    let seen = block.get_mut("content").filter(|_| !is_error)?;
    let LazyJson::Text(raw) = seen else { return None };
    // The stub names the file that has the output.
    let start = &raw[..raw.len().min(PERSISTED_OUTPUT_TAG.len() * 2)];
    if memchr::memmem::find(start, PERSISTED_OUTPUT_TAG.as_bytes()).is_none() {
        *seen = LazyJson::Null;
    }
    Some(())
}

impl ToolRecord {
    fn from_fields(mut fields: Fields) -> Self {
        let mut result = fields.take_json("toolUseResult").unwrap_or_default();
        let inner_name =
            result.take_member("tool_name").and_then(|name| name.as_text().map(Cow::into_owned));
        let inner_input = result.take_member("parameters").map(LazyJson::into_value);
        Self {
            tool_name: fields
                .take_text("name")
                .or_else(|| fields.take_text("toolName"))
                .or(inner_name),
            tool_use_id: fields.take_text("tool_use_id").or_else(|| fields.take_text("id")),
            input: fields.take_value("input").or(inner_input),
            content: user::message_content(&mut fields),
            // The oldest results wrap the tool's output.
            tool_use_result: ToolUseResult::from_json(
                result.take_member("result").unwrap_or(result),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
