//! Several conversations of a session into a new one (R27).

use ramus_core::edit::{Merge, Policy, Refusal, Strategy};
use ramus_core::time::Time;
use ramus_render::json::{MergeConflict, MergedExchange, conflict, merged_exchange};
use ramus_store::plan::{self, Conversation, Subject};
use ramus_store::trace::Part;
use serde::Serialize;

use super::{Planned, Wanted, cannot, given_title, parts_to};
use crate::State;
use crate::error::ApiError;
use crate::library::Found;

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
    pub(super) stops: bool,
}

pub(super) fn merge(
    state: &State,
    found: &Found,
    subject: Subject<'_>,
    wanted: &Wanted,
    now: Time,
) -> Result<Planned, ApiError> {
    if wanted.leaves.len() < 2 {
        return Err(ApiError::bad("a merge takes two conversations or more"));
    }
    let parts = wanted.leaves.iter().map(|leaf| parts_to(state, found, leaf));
    let parts = parts.collect::<Result<Vec<Vec<Part>>, ApiError>>()?;
    let conversations: Vec<Conversation<'_>> =
        parts.iter().map(|parts| Conversation { subject, parts }).collect();
    let title = match wanted.title.trim() {
        "" => format!("{} (merge)", subject.title),
        title => given_title(title)?.to_owned(),
    };
    let policy = policy(&wanted.on_conflict)?;
    let strategy = strategy(&wanted.strategy)?;
    let request = Merge { strategy, no_base: false, policy, title: &title, cwd: None };
    let (plan, merged) = plan::merge(&conversations, &request, subject.dir, now)
        .map_err(|error| error.explained(refused))?;
    let view = MergedView {
        title,
        messages: merged.new.messages,
        common: merged.common,
        exchanges: merged.exchanges.iter().map(merged_exchange).collect(),
        conflicts: merged.conflicts.iter().map(conflict).collect(),
        stops: policy == Policy::Stop && !merged.conflicts.is_empty(),
    };
    Ok(Planned { merged: Some(view), ..plan.into() })
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

fn refused(refusal: &Refusal) -> ApiError {
    let hint = match refusal {
        Refusal::NothingOwn { .. } => "one of them holds the other: there is nothing to merge",
        Refusal::NoCommonPart { .. } => {
            "`ramus merge --no-base` in a terminal merges what has nothing in common"
        }
        _ => "",
    };
    cannot(refusal.to_string(), hint)
}
