//! Makes the rows of single records and agents.

use ramus_core::branches::Status;
use ramus_core::history::History;
use ramus_core::name::short_id;
use ramus_core::record::Voice;
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::words::words;
use super::{AgentLane, Edge, Marks, Row, RowKind, Words};

/// The position of a row in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) lane: usize,
    pub(super) edge: Edge,
    pub(super) status: Status,
    pub(super) draft: bool,
}

impl Row {
    /// Returns a row without words and counts.
    pub(super) fn new(
        history: &History,
        place: Place,
        kind: RowKind,
        first: NodeId,
        last: NodeId,
    ) -> Self {
        let record = history.session.records().get(last.0 as usize);
        let id = record.map_or_else(String::new, |_| history.place_of(last));
        Self {
            lane: place.lane,
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
            marks: Marks::default(),
        }
    }

    /// Returns the row of one record.
    pub(super) fn record(history: &History, place: Place, node: NodeId, side: bool) -> Self {
        let record = history.session.record(node);
        let kind = RowKind::Record { kind: record.kind, voice: record.voice, side };
        let mut row = Self::new(history, place, kind, node, node);
        row.words = words(history, node);
        row.until = row.time;
        row.records = 1;
        row.marks.errors = u32::from(record.api_error);
        row
    }

    /// Returns the row of an agent whose records are in this file.
    pub(super) fn inline(history: &History, place: Place, nodes: &[NodeId]) -> Self {
        let first = nodes.first().copied().unwrap_or_default();
        let last = nodes.last().copied().unwrap_or_default();
        let kind = RowKind::Sidechain { agent: None };
        let mut row = Self::new(history, place, kind, first, last);
        // Records that the client inserted do not describe the agent.
        let is_meta = |node: &&NodeId| history.session.record(**node).voice == Voice::Meta;
        let spoken = nodes.iter().filter(|node| !is_meta(node));
        row.words = spoken.copied().find_map(|node| words(history, node));
        (row.time, row.until) = times(history, nodes);
        row.records = nodes.len() as u32;
        row
    }

    /// Returns the row of an agent that has its own file.
    pub(super) fn agent(history: &History, place: Place, agent: &AgentLane) -> Self {
        let node = agent.node.unwrap_or_default();
        let kind = RowKind::Sidechain { agent: Some(agent.id.clone()) };
        let row = Self::new(history, place, kind, node, node);
        Self {
            lane: row.lane + usize::from(agent.depth),
            id: agent.id.clone(),
            short_id: short_id(&agent.id).to_owned(),
            time: row.time.filter(|_| agent.node.is_some()),
            words: Some(Words { node, text: agent.label.clone(), opens: false }),
            records: agent.records,
            ..row
        }
    }
}

/// Returns the first and the last time known of some records.
pub(super) fn times(history: &History, nodes: &[NodeId]) -> (Option<Time>, Option<Time>) {
    let time = |node: &NodeId| history.session.record(*node).time;
    (nodes.iter().find_map(time), nodes.iter().rev().find_map(time))
}
