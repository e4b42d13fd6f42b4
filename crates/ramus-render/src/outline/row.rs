//! Makes the rows of single records and agents.

use ramus_core::agent::AgentEntry;
use ramus_core::branches::BranchStatus;
use ramus_core::history::History;
use ramus_core::record::RecordRole;
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::row_words::first_words;
use super::{RowEdge, RowMarks, RowWords, TreeRow, TreeRowKind};

/// The position of a row in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition {
    pub(super) column: usize,
    pub(super) edge: RowEdge,
    pub(super) status: BranchStatus,
    pub(super) draft: bool,
}

impl TreeRow {
    /// Returns a row without words and counts.
    pub(super) fn new(
        history: &History,
        place: RowPosition,
        kind: TreeRowKind,
        first: NodeId,
        last: NodeId,
    ) -> Self {
        let record = history.session.records().get(last.0 as usize);
        let id = record.map_or_else(String::new, |_| history.node_address(last));
        Self {
            column: place.column,
            edge: place.edge,
            kind,
            first,
            last,
            short_id: history.short_uuid(&id).to_owned(),
            id,
            words: None,
            time: record.and_then(|record| record.time),
            until: None,
            status: place.status,
            draft: place.draft,
            resumes: false,
            messages: 0,
            records: 0,
            marks: RowMarks::default(),
        }
    }

    /// Returns the row of one record.
    pub(super) fn from_record(
        history: &History,
        place: RowPosition,
        node: NodeId,
        side: bool,
    ) -> Self {
        let record = history.session.record(node);
        let kind = TreeRowKind::Record { kind: record.kind, role: record.role, is_sidechain: side };
        let mut row = Self::new(history, place, kind, node, node);
        row.words = first_words(history, node);
        row.until = row.time;
        row.records = 1;
        row.marks.errors = u32::from(record.api_error);
        row
    }

    /// Returns the row of an agent whose records are in this file.
    pub(super) fn from_inline_agent(
        history: &History,
        place: RowPosition,
        nodes: &[NodeId],
    ) -> Self {
        let first = nodes.first().copied().unwrap_or_default();
        let last = nodes.last().copied().unwrap_or_default();
        let kind = TreeRowKind::Sidechain { agent: None };
        let mut row = Self::new(history, place, kind, first, last);
        // Records that the client inserted do not describe the agent.
        let is_meta = |node: &&NodeId| history.session.record(**node).role == RecordRole::Meta;
        let spoken = nodes.iter().filter(|node| !is_meta(node));
        row.words = spoken.copied().find_map(|node| first_words(history, node));
        (row.time, row.until) = time_range(history, nodes);
        row.records = nodes.len() as u32;
        row
    }

    /// Returns the row of an agent that has its own file.
    pub(super) fn from_agent(history: &History, place: RowPosition, agent: &AgentEntry) -> Self {
        let node = agent.node.unwrap_or_default();
        let kind = TreeRowKind::Sidechain { agent: Some(agent.id.clone()) };
        let row = Self::new(history, place, kind, node, node);
        Self {
            column: row.column + usize::from(agent.depth),
            id: agent.id.clone(),
            short_id: agent.short_id.clone(),
            time: row.time.filter(|_| agent.node.is_some()),
            words: Some(RowWords { node, text: agent.label.clone(), opens_row: false }),
            records: agent.records,
            ..row
        }
    }
}

/// Returns the first and the last time known of some records.
pub(super) fn time_range(history: &History, nodes: &[NodeId]) -> (Option<Time>, Option<Time>) {
    let time = |node: &NodeId| history.session.record(*node).time;
    (nodes.iter().find_map(time), nodes.iter().rev().find_map(time))
}
