//! Lists the exchanges of a merge.

use std::sync::Arc;

use super::Inclusion;
use crate::history::History;
use crate::session::NodeId;
use crate::time::Time;

/// An exchange that only one conversation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeExchange {
    /// The conversation, from 1.
    pub branch: usize,
    /// Its number within the conversation, from 1.
    pub number: usize,
    /// The uuid of its first record.
    pub uuid: String,
    /// The start of the uuid that means no other record of its session.
    pub short_uuid: String,
    /// The beginning of the prompt.
    pub prompt_text: Option<String>,
    pub time: Option<Time>,
    pub messages: u32,
    pub inclusion: Inclusion,
}

/// The exchanges of a merge. There may be half a million, so they are described when they are shown.
#[derive(Clone, Debug)]
pub struct MergeExchanges {
    pub(super) rows: Vec<ExchangeRow>,
    /// The histories of the sources.
    pub(super) histories: Vec<Arc<History>>,
}

/// Which exchange it is, and what happens to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeRow {
    pub(super) branch: u32,
    pub(super) number: u32,
    pub(super) source: u32,
    pub(super) head: NodeId,
    /// The record with the prompt or the summary.
    pub(super) prompt: Option<NodeId>,
    pub(super) messages: u32,
    pub(super) inclusion: Inclusion,
}

impl MergeExchanges {
    /// Describes the exchanges, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = MergeExchange> {
        self.rows.iter().map(|row| {
            let history = &self.histories[row.source as usize];
            let session = &history.session;
            let head = session.record(row.head);
            let uuid = head.uuid.map(|name| session.uuid_text(name)).unwrap_or_default();
            let prompt = row.prompt.and_then(|node| session.preview_text(node));
            MergeExchange {
                branch: row.branch as usize,
                number: row.number as usize,
                short_uuid: history.short_uuid(&uuid).to_owned(),
                uuid,
                prompt_text: prompt.map(str::to_owned),
                time: head.time,
                messages: row.messages,
                inclusion: row.inclusion,
            }
        })
    }
}
