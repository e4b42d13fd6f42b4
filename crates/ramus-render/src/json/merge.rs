//! The result of a merge.

use ramus_core::compare::Content;
use ramus_core::edit::{Conflict, Exchange};
use serde::Serialize;

use super::Written;

#[derive(Debug, Serialize)]
pub struct MergeAnswer {
    #[serde(flatten)]
    pub written: Written,
    pub title: String,
    pub messages: u32,
    /// Displayable messages that all begin with.
    pub common: u32,
    pub exchanges: Vec<MergedExchange>,
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
pub fn merged_exchange(exchange: &Exchange) -> MergedExchange {
    MergedExchange {
        conversation: exchange.branch,
        n: exchange.n,
        uuid: exchange.uuid.clone(),
        prompt: exchange.words.clone(),
        timestamp: exchange.time.map(|time| time.to_string()),
        messages: exchange.messages,
        fate: exchange.fate.word(),
    }
}

/// Converts a conflict.
pub fn conflict(conflict: &Conflict) -> MergeConflict {
    let ends = conflict.ends.iter().map(|end| ConflictEnd {
        conversation: end.branch,
        state: match end.content {
            Content::Text(_) => "text",
            Content::Absent => "absent",
            Content::Unknown => "unknown",
        },
        content: match &end.content {
            Content::Text(text) => Some(text.clone()),
            _ => None,
        },
        added: end.added,
        removed: end.removed,
    });
    MergeConflict { path: conflict.path.clone(), ends: ends.collect() }
}
