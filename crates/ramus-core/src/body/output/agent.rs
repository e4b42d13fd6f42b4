//! Output of sub-agents and workflows.

use crate::body::block::{ContentBlock, blocks_from_json};
use crate::body::fields::Fields;
use crate::body::usage::TokenUsage;
use serde_json::Value;

/// The result of a sub-agent, or the message that it was started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentOutput {
    /// `completed`, `async_launched`, …; `None` before 2.0.
    pub status: Option<String>,
    /// Identifies the sub-agent's file; `None` before 2.0.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub description: Option<String>,
    pub prompt: Option<String>,
    pub content: Vec<ContentBlock>,
    pub total_duration_ms: Option<u64>,
    pub total_tokens: Option<u64>,
    pub total_tool_use_count: Option<u64>,
    pub usage: Option<TokenUsage>,
    pub tool_stats: Option<ToolStats>,
    pub resolved_model: Option<String>,
    pub is_async: bool,
    pub output_file: Option<String>,
    pub worktree_path: Option<String>,
    pub worktree_branch: Option<String>,
    pub was_interrupted: bool,
    /// The sub-agent's records, which 0.2 wrote into the result; empty since.
    pub messages: Vec<Value>,
}

/// What a sub-agent did, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolStats {
    pub reads: u64,
    pub searches: u64,
    pub commands: u64,
    pub edits: u64,
    pub others: u64,
    pub lines_added: u64,
    pub lines_removed: u64,
}

impl AgentOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            status: fields.take_text("status"),
            agent_id: fields.take_text("agentId"),
            agent_type: fields.take_text("agentType"),
            description: fields.take_text("description"),
            prompt: fields.take_text("prompt"),
            content: blocks_from_json(fields.take_json("content")),
            total_duration_ms: fields.number("totalDurationMs"),
            total_tokens: fields.number("totalTokens"),
            total_tool_use_count: fields
                .number("totalToolUseCount")
                .or_else(|| fields.number("totalToolCalls")),
            usage: fields.read_usage(),
            tool_stats: fields.take_object("toolStats").map(|stats| ToolStats::from_fields(&stats)),
            resolved_model: fields.take_text("resolvedModel"),
            is_async: fields.flag("isAsync"),
            output_file: fields.take_text("outputFile"),
            worktree_path: fields.take_text("worktreePath"),
            worktree_branch: fields.take_text("worktreeBranch"),
            was_interrupted: fields.flag("wasInterrupted"),
            messages: fields.take_values("normalizedMessages"),
        }
    }
}

impl ToolStats {
    fn from_fields(fields: &Fields) -> Self {
        Self {
            reads: fields.count("readCount"),
            searches: fields.count("searchCount"),
            commands: fields.count("bashCount"),
            edits: fields.count("editFileCount"),
            others: fields.count("otherToolCount"),
            lines_added: fields.count("linesAdded"),
            lines_removed: fields.count("linesRemoved"),
        }
    }
}

/// A workflow that was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowOutput {
    pub status: String,
    pub run_id: String,
    pub task_id: Option<String>,
    pub script_path: Option<String>,
    pub transcript_dir: Option<String>,
    pub is_async: bool,
}

impl WorkflowOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            status: fields.take_string("status"),
            run_id: fields.take_string("runId"),
            task_id: fields.take_text("taskId"),
            script_path: fields.take_text("scriptPath"),
            transcript_dir: fields.take_text("transcriptDir"),
            is_async: fields.flag("isAsync"),
        }
    }
}
