//! Several conversations of a session into a new one (R27).

use ramus_app::change::MergeRequest;
use ramus_app::{NewSessionAt, OpenedSession, PlannedChange};
use ramus_core::edit::{ChangeDetail, ConflictPolicy, EditRefusal, MergeStrategy};
use ramus_core::session::NodeId;
use ramus_render::json::{MergeConflict, MergedExchange, from_conflict, from_exchange};
use serde::Serialize;

use super::Wanted;
use crate::error::ApiError;

/// The summary of a planned merge.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct MergedView {
    title: String,
    messages: u32,
    /// Messages that all begin with.
    common: u32,
    exchanges: Vec<MergedExchange>,
    conflicts: Vec<MergeConflict>,
    /// The user must first choose a version of the conflicting files.
    stops: bool,
}

pub(super) fn merged_view(change: &PlannedChange) -> Option<MergedView> {
    let ChangeDetail::Merge { plan: merged, .. } = &change.detail else { return None };
    Some(MergedView {
        title: merged.new.title.clone(),
        messages: merged.new.messages,
        common: merged.common,
        exchanges: merged.exchanges.iter().map(from_exchange).collect(),
        conflicts: merged.conflicts.iter().map(from_conflict).collect(),
        stops: change.stops,
    })
}

pub(super) fn merge_request<'a>(
    wanted: &Wanted,
    conversations: &'a [(&'a OpenedSession, NodeId)],
    to: NewSessionAt<'a>,
) -> Result<MergeRequest<'a>, ApiError> {
    if conversations.len() < 2 {
        return Err(ApiError::bad_request("a merge needs at least two conversations"));
    }
    let policy = parse_policy(&wanted.on_conflict)?;
    let strategy = parse_strategy(&wanted.strategy)?;
    Ok(MergeRequest { conversations, strategy, no_base: false, policy, to })
}

fn parse_strategy(word: &str) -> Result<MergeStrategy, ApiError> {
    match word {
        "" | "append" => Ok(MergeStrategy::Append),
        "interleave" => Ok(MergeStrategy::Interleave),
        "digest" => Ok(MergeStrategy::Digest),
        _ => Err(ApiError::bad_request("unknown merge strategy")),
    }
}

fn parse_policy(word: &str) -> Result<ConflictPolicy, ApiError> {
    match word {
        "" | "stop" => Ok(ConflictPolicy::Stop),
        "ours" => Ok(ConflictPolicy::Ours),
        "theirs" => Ok(ConflictPolicy::Theirs),
        "keep-both" => Ok(ConflictPolicy::KeepBoth),
        _ => Err(ApiError::bad_request("unknown conflict choice")),
    }
}

/// Returns a hint.
pub(super) fn refusal_hint(refusal: &EditRefusal) -> &'static str {
    match refusal {
        EditRefusal::NothingOwn { .. } => "one contains the other, so there is nothing to merge",
        EditRefusal::NoCommonPart { .. } => {
            "use `ramus merge --no-base` in a terminal to merge conversations without a common part"
        }
        _ => "",
    }
}
