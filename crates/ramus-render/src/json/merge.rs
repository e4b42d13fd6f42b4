//! The result of a merge.

use ramus_core::compare::TextContent;
use ramus_core::edit::{FileConflict, MergeExchange};
use serde::Serialize;

use super::Written;

/// A merge; `E` are its exchanges, which are made while they are written.
#[derive(Debug, Serialize)]
pub struct MergeAnswer<E> {
    #[serde(flatten)]
    pub written: Written,
    pub title: String,
    pub messages: u32,
    /// Displayable messages that all begin with.
    pub common: u32,
    pub exchanges: E,
    pub conflicts: Vec<MergeConflict>,
    /// The text that the command of an assisted merge wrote.
    pub assisted: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MergedExchange {
    /// The conversation and the number that `--pick` takes.
    pub conversation: usize,
    pub n: usize,
    pub uuid: String,
    pub prompt: Option<String>,
    pub timestamp: Option<String>,
    pub messages: u32,
    /// `copied`, `quoted`, `summarized` or `left-out`.
    pub fate: &'static str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MergeConflict {
    pub path: String,
    pub ends: Vec<ConflictEnd>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ConflictEnd {
    pub conversation: usize,
    /// `text`, `absent` or `unknown`.
    pub state: &'static str,
    pub content: Option<String>,
    pub added: usize,
    pub removed: usize,
}

/// Converts an exchange.
pub fn from_exchange(exchange: MergeExchange) -> MergedExchange {
    MergedExchange {
        conversation: exchange.branch,
        n: exchange.number,
        uuid: exchange.uuid,
        prompt: exchange.prompt_text,
        timestamp: exchange.time.map(|time| time.to_string()),
        messages: exchange.messages,
        fate: exchange.inclusion.as_str(),
    }
}

/// Converts a conflict.
pub fn from_conflict(conflict: &FileConflict) -> MergeConflict {
    let ends = conflict.outcomes.iter().map(|end| ConflictEnd {
        conversation: end.branch,
        state: match end.content {
            TextContent::Text(_) => "text",
            TextContent::Absent => "absent",
            TextContent::Unknown => "unknown",
        },
        content: match &end.content {
            TextContent::Text(text) => Some(text.clone()),
            _ => None,
        },
        added: end.added,
        removed: end.removed,
    });
    MergeConflict { path: conflict.path.clone(), ends: ends.collect() }
}
