//! The rows of a session's tree.

use ramus_core::files::RevertOutcome;
use ramus_core::history::History;
use ramus_core::record::RecordRole;
use serde::Serialize;

use crate::outline::{RowEdge, TreeRow, TreeRowKind};

/// A session's tree as rows, oldest first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Outline {
    pub session: String,
    pub rows: Vec<OutlineRow>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OutlineRow {
    /// The column; the main line is 0.
    pub lane: usize,
    /// `root`, `straight` or `branch`.
    pub edge: &'static str,
    /// `prompt`, `answer`, `command`, `other`, `fork`, `compaction`, `agent`, `tree`, `loose`.
    pub kind: &'static str,
    /// The node to go to; empty: there is none.
    pub node: String,
    /// The first node of the row.
    pub first: String,
    /// The agent whose file contains it.
    pub agent: Option<String>,
    pub words: Option<String>,
    pub timestamp: Option<String>,
    pub until: Option<String>,
    pub status: &'static str,
    pub draft: bool,
    pub resumes: bool,
    pub messages: u32,
    pub records: u32,
    /// For a fork point: its kind and its number of branches.
    pub fork: Option<&'static str>,
    pub ways: usize,
    /// Of a fork: `restored` or `kept`, where it is known what became of the files.
    pub files: Option<&'static str>,
    pub commands: Vec<String>,
    pub interrupts: u32,
    pub errors: u32,
}

/// Converts a row.
pub fn from_tree_row(history: &History, row: &TreeRow) -> OutlineRow {
    let kind = match &row.kind {
        TreeRowKind::Run { opening } => role_word(*opening),
        TreeRowKind::Record { role: said, .. } => role_word(*said),
        TreeRowKind::Fork { .. } => "fork",
        TreeRowKind::Compaction => "compaction",
        TreeRowKind::Sidechain { .. } => "agent",
        TreeRowKind::Tree { .. } => "tree",
        TreeRowKind::Detached | TreeRowKind::Elided { .. } => "loose",
    };
    let (fork, ways, files) = match row.kind {
        TreeRowKind::Fork { kind, branches: ways, files } => {
            (Some(kind.as_str()), ways, files.map(RevertOutcome::as_str))
        }
        _ => (None, 0, None),
    };
    let agent = match &row.kind {
        TreeRowKind::Sidechain { agent } => agent.clone(),
        _ => None,
    };
    let name = |id: ramus_core::session::NodeId| {
        let record = history.session.records().get(id.0 as usize);
        record.map_or_else(String::new, |_| history.node_address(id))
    };
    OutlineRow {
        lane: row.column,
        edge: match row.edge {
            RowEdge::Root => "root",
            RowEdge::Straight => "straight",
            RowEdge::Branch => "branch",
        },
        kind,
        node: name(row.last),
        first: name(row.first),
        agent,
        words: row.words.as_ref().map(|words| words.text.chars().take(200).collect()),
        timestamp: row.time.map(|time| time.to_string()),
        until: row.until.map(|time| time.to_string()),
        status: row.status.as_str(),
        draft: row.draft,
        resumes: row.resumes,
        messages: row.messages,
        records: row.records,
        fork,
        ways,
        files,
        commands: row.marks.commands.clone(),
        interrupts: row.marks.interrupts,
        errors: row.marks.errors,
    }
}

fn role_word(role: RecordRole) -> &'static str {
    match role {
        RecordRole::Prompt | RecordRole::QueuedPrompt => "prompt",
        RecordRole::Reply | RecordRole::Synthetic => "answer",
        RecordRole::Command => "command",
        _ => "other",
    }
}
