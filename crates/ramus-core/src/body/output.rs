//! The output of a tool as the client stored it, with more detail than the model saw.
//!
//! The record does not name its tool, so the keys of the output tell which tool it was. Any tool
//! can return plain text instead: an error or a refusal.

use super::block::{ContentBlock, blocks_from_json};
use super::fields::Fields;
use super::json::{LazyJson, unescape};
use serde_json::Value;

mod agent;
mod file;
mod patch;
mod search;
mod shape;
mod shell;
mod task;

pub use agent::{AgentOutput, ToolStats, WorkflowOutput};
pub use file::{
    EditOutput, MultiEditOutput, NotebookEditOutput, ReadContent, ReadOutput, Replacement,
    WriteKind, WriteOutput,
};
pub use patch::{HunkLine, PatchHunk, StructuredPatch};
pub use search::{
    GlobOutput, GrepOutput, ToolSearchOutput, WebFetchOutput, WebFinding, WebSearchOutput,
};
pub use shell::{BashOutput, ShellOutput};
pub use task::{
    PlanOutput, QuestionsOutput, SkillOutput, StatusChange, TaskItem, TaskUpdate, Todo, TodoStatus,
    UserQuestion,
};

/// A `toolUseResult`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUseResult {
    pub output: ToolOutput,
    /// Where the whole output is, if it was too large for the record.
    pub persisted: Option<PersistedOutput>,
}

/// An output that was written to a separate file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistedOutput {
    pub path: String,
    pub size: Option<u64>,
}

/// The output of one kind of tool.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOutput {
    Bash(BashOutput),
    /// The output of a background shell so far (`BashOutput`).
    Shell(ShellOutput),
    Read(ReadOutput),
    Edit(EditOutput),
    MultiEdit(MultiEditOutput),
    Write(WriteOutput),
    NotebookEdit(NotebookEditOutput),
    Glob(GlobOutput),
    Grep(GrepOutput),
    TodoWrite {
        old: Vec<Todo>,
        new: Vec<Todo>,
    },
    TaskCreate(TaskItem),
    TaskUpdate(TaskUpdate),
    TaskList(Vec<TaskItem>),
    /// A sub-agent: `TaskItem`, later `Agent`.
    Agent(Box<AgentOutput>),
    Workflow(WorkflowOutput),
    TaskOutput {
        retrieval_status: String,
        task: Value,
    },
    /// A background task or shell was stopped (`TaskStop`, `KillShell`).
    TaskStop {
        task_id: String,
        message: Option<String>,
        command: Option<String>,
    },
    WebFetch(WebFetchOutput),
    WebSearch(WebSearchOutput),
    ExitPlanMode(PlanOutput),
    AskUserQuestion(QuestionsOutput),
    /// `Skill`, earlier `SlashCommand`.
    Skill(SkillOutput),
    ToolSearch(ToolSearchOutput),
    SendMessage {
        success: bool,
        message: String,
        msg_id: Option<String>,
        routing: Value,
    },
    /// An error, a refusal, or the output of a tool that only has text.
    Text(String),
    /// The output of an MCP tool.
    Blocks(Vec<ContentBlock>),
    Other(Value),
}

impl ToolUseResult {
    /// Reads a `toolUseResult`; `None` for null.
    pub(super) fn from_json(value: LazyJson<'_>) -> Option<Self> {
        let (output, persisted) = match value {
            LazyJson::Null => return None,
            LazyJson::Text(raw) => (ToolOutput::Text(unescape(raw).into_owned()), None),
            LazyJson::List(_) => (ToolOutput::Blocks(blocks_from_json(Some(value))), None),
            LazyJson::Object(_) => {
                let mut fields = Fields::from_json(value);
                let persisted = PersistedOutput::from_fields(&mut fields);
                (shape::output_from_fields(fields), persisted)
            }
            other => (ToolOutput::Other(other.into_value()), None),
        };
        Some(Self { output, persisted })
    }
}

impl PersistedOutput {
    fn from_fields(fields: &mut Fields) -> Option<Self> {
        let path = fields.peek_text("persistedOutputPath")?.into_owned();
        Some(Self { path, size: fields.number("persistedOutputSize") })
    }
}

#[cfg(test)]
mod tests;
