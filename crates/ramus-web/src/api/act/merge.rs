//! Several conversations of a session into a new one (R27).

use ramus_app::change::MergeRequest;
use ramus_app::{NewSessionAt, PlannedChange, Site};
use ramus_core::edit::{ChangeDetail, Policy, Refusal, Strategy};
use ramus_core::session::NodeId;
use ramus_render::json::{MergeConflict, MergedExchange, conflict, merged_exchange};
use serde::Serialize;

use super::Wanted;
use crate::error::ApiError;

/// What a merge comes down to.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct MergedView {
    title: String,
    messages: u32,
    /// Messages that all begin with.
    common: u32,
    exchanges: Vec<MergedExchange>,
    conflicts: Vec<MergeConflict>,
    /// Somebody must say first what holds where they conflict.
    stops: bool,
}

pub(super) fn view(change: &PlannedChange) -> Option<MergedView> {
    let ChangeDetail::Merge { merged, .. } = &change.detail else { return None };
    Some(MergedView {
        title: merged.new.title.clone(),
        messages: merged.new.messages,
        common: merged.common,
        exchanges: merged.exchanges.iter().map(merged_exchange).collect(),
        conflicts: merged.conflicts.iter().map(conflict).collect(),
        stops: change.stops,
    })
}

pub(super) fn request<'a>(
    wanted: &Wanted,
    conversations: &'a [(&'a Site, NodeId)],
    to: NewSessionAt<'a>,
) -> Result<MergeRequest<'a>, ApiError> {
    if conversations.len() < 2 {
        return Err(ApiError::bad("a merge takes two conversations or more"));
    }
    let policy = policy(&wanted.on_conflict)?;
    let strategy = strategy(&wanted.strategy)?;
    Ok(MergeRequest { conversations, strategy, no_base: false, policy, to })
}

fn strategy(word: &str) -> Result<Strategy, ApiError> {
    match word {
        "" | "append" => Ok(Strategy::Append),
        "interleave" => Ok(Strategy::Interleave),
        "digest" => Ok(Strategy::Digest),
        _ => Err(ApiError::bad("there is no such way to merge")),
    }
}

fn policy(word: &str) -> Result<Policy, ApiError> {
    match word {
        "" | "stop" => Ok(Policy::Stop),
        "ours" => Ok(Policy::Ours),
        "theirs" => Ok(Policy::Theirs),
        "keep-both" => Ok(Policy::KeepBoth),
        _ => Err(ApiError::bad("there is no such answer to a conflict")),
    }
}

/// Says what to do next.
pub(super) fn hint(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NothingOwn { .. } => "one of them holds the other: there is nothing to merge",
        Refusal::NoCommonPart { .. } => {
            "`ramus merge --no-base` in a terminal merges what has nothing in common"
        }
        _ => "",
    }
}
