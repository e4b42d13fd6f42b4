//! The rows of a session's tree.

use ramus_core::files::Revert;
use ramus_core::history::History;
use ramus_core::record::Voice;
use serde::Serialize;

use crate::outline::{Edge, Row, RowKind};

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
    /// How far beside the main line, which is 0.
    pub lane: usize,
    /// `root`, `straight` or `branch`.
    pub edge: &'static str,
    /// `prompt`, `answer`, `command`, `other`, `fork`, `compaction`, `agent`, `tree`, `loose`.
    pub kind: &'static str,
    /// The node to go to; empty: there is none.
    pub node: String,
    /// The first node of the row.
    pub first: String,
    /// The agent whose file holds it.
    pub agent: Option<String>,
    pub words: Option<String>,
    pub timestamp: Option<String>,
    pub until: Option<String>,
    pub status: &'static str,
    pub draft: bool,
    pub resumes: bool,
    pub messages: u32,
    pub records: u32,
    /// Of a fork: its kind and how many ways there are.
    pub fork: Option<&'static str>,
    pub ways: usize,
    /// Of a fork: `restored` or `kept`, where it is known what became of the files.
    pub files: Option<&'static str>,
    pub commands: Vec<String>,
    pub interrupts: u32,
    pub errors: u32,
}

/// Converts a row.
pub fn outline_row(history: &History, row: &Row) -> OutlineRow {
    let kind = match &row.kind {
        RowKind::Run { opening } => voice(*opening),
        RowKind::Record { voice: said, .. } => voice(*said),
        RowKind::Fork { .. } => "fork",
        RowKind::Compaction => "compaction",
        RowKind::Sidechain { .. } => "agent",
        RowKind::Tree { .. } => "tree",
        RowKind::Loose | RowKind::Elided { .. } => "loose",
    };
    let (fork, ways, files) = match row.kind {
        RowKind::Fork { kind, ways, files } => (Some(kind.word()), ways, files.map(Revert::word)),
        _ => (None, 0, None),
    };
    let agent = match &row.kind {
        RowKind::Sidechain { agent } => agent.clone(),
        _ => None,
    };
    let name = |id: ramus_core::session::NodeId| {
        let record = history.session.records().get(id.0 as usize);
        record.map_or_else(String::new, |_| history.place_of(id))
    };
    OutlineRow {
        lane: row.lane,
        edge: match row.edge {
            Edge::Root => "root",
            Edge::Straight => "straight",
            Edge::Branch => "branch",
        },
        kind,
        node: name(row.last),
        first: name(row.first),
        agent,
        words: row.words.as_ref().map(|words| words.text.chars().take(200).collect()),
        timestamp: row.time.map(|time| time.to_string()),
        until: row.until.map(|time| time.to_string()),
        status: row.status.word(),
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

fn voice(voice: Voice) -> &'static str {
    match voice {
        Voice::Prompt | Voice::Queued => "prompt",
        Voice::Answer | Voice::Synthetic => "answer",
        Voice::Command => "command",
        _ => "other",
    }
}
