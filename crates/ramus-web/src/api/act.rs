//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod files;
mod log;
mod merge;

use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use ramus_app::change::{ChangeKind, apply_change as carry_out};
use ramus_app::survey::time_from_system;
use ramus_app::{ChangeError, ChangeRequest, NewSessionAt, OpenedSession, PlannedChange};
use ramus_core::edit::ChangeDetail;
use ramus_core::session::NodeId;
use ramus_store::apply::ApplyError;
use ramus_store::journal::{Journal, Operation};
use ramus_store::undo::{UndoError, is_in_roots};
use serde::{Deserialize, Serialize};

use super::files::files_at;
use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;
use files::FilesView;
#[cfg(test)]
pub(super) use log::Log;
pub(crate) use log::get_log;
use merge::MergedView;

/// A change that the web app can request.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
enum Action {
    Fork,
    Goto,
    Merge,
    Rename,
    Restore,
    RestoreFiles,
    Trash,
    Undo,
    /// Any other word.
    #[serde(other)]
    #[cfg_attr(test, ts(skip))]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    what: Action,
    #[serde(default)]
    session: String,
    #[serde(default)]
    node: String,
    #[serde(default)]
    title: String,
    op: Option<u64>,
    /// The conversations to merge, by their last messages, and how.
    #[serde(default)]
    leaves: Vec<String>,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    on_conflict: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlanView {
    /// Empty: it cannot be carried out as it is.
    id: String,
    what: &'static str,
    words: String,
    session: String,
    steps: Vec<String>,
    appended_bytes: u64,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    merged: Option<MergedView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    files: Option<FilesView>,
}

/// Plans a change without writing anything.
pub(crate) async fn post_plan(
    Extract(state): Extract<Arc<ServerState>>,
    Json(wanted): Json<Wanted>,
) -> ApiResult<PlanView> {
    answer_json(state, TaskKind::Changes, move |state| {
        let change = plan_action(state, &wanted)?;
        let plan = &change.plan;
        let mut view = PlanView {
            id: String::new(),
            what: plan.what.as_str(),
            words: plan.words.clone(),
            session: plan.session.clone(),
            steps: change.step_descriptions(),
            appended_bytes: plan.appended_bytes(),
            warnings: change.plan_warnings(),
            merged: merge::merged_view(&change),
            files: match &change.detail {
                ChangeDetail::RestoreFiles(files) => Some(files::files_view(files)),
                _ => None,
            },
        };
        if !change.stops {
            view.id = state.plans.keep_plan(change);
        }
        Ok(view)
    })
    .await
}

fn plan_action(state: &ServerState, wanted: &Wanted) -> Result<PlannedChange, ApiError> {
    match wanted.what {
        Action::Undo | Action::Restore => plan_undo(state, wanted),
        Action::RestoreFiles => {
            let files = &mut files_at(state, &wanted.session, &wanted.node)?;
            let request = ChangeRequest::RestoreFiles { files, only: None, outside: false };
            Ok(state.workspace.plan_change(request, time_from_system(SystemTime::now()))?)
        }
        _ => with_session(state, wanted),
    }
}

/// Plans to undo an operation.
fn plan_undo(state: &ServerState, wanted: &Wanted) -> Result<PlannedChange, ApiError> {
    let journal = &Journal::read(state.workspace.state_dir())?;
    let operation = wanted.op.and_then(|op| journal.operation(op));
    let is_here = |operation: &Operation| is_in_roots(operation, state.workspace.claude_roots());
    if wanted.op.is_some() && !operation.is_some_and(is_here) {
        return Err(ApiError::not_found("operation"));
    }
    let request = match wanted.what {
        Action::Restore
            if operation.is_none_or(|operation| operation.what != ChangeKind::Trash) =>
        {
            ChangeRequest::Restore { journal, session: &wanted.session, at: wanted.op }
        }
        // Out of the trash a session comes back with all that went there with it.
        _ => ChangeRequest::Undo { journal, op: wanted.op },
    };
    Ok(state.workspace.plan_change(request, time_from_system(SystemTime::now()))?)
}

fn with_session(state: &ServerState, wanted: &Wanted) -> Result<PlannedChange, ApiError> {
    let workspace = &state.workspace;
    let opened =
        &OpenedSession::read_session(workspace, workspace.session_by_id(&wanted.session)?)?;
    let node =
        |name: &str| opened.history.node_at(name).ok_or_else(|| ApiError::not_found("message"));
    let title = Some(wanted.title.trim()).filter(|title| !title.is_empty());
    let to = NewSessionAt { into: None, title };
    let conversations: Vec<(&OpenedSession, NodeId)>;
    let request = match wanted.what {
        Action::Rename => ChangeRequest::Rename { opened, title: &wanted.title },
        Action::Trash => ChangeRequest::Trash { opened },
        Action::Goto => ChangeRequest::Goto { opened, node: node(&wanted.node)? },
        Action::Fork => ChangeRequest::Fork { opened, node: node(&wanted.node)?, to },
        Action::Merge => {
            let leaves = wanted.leaves.iter().map(|leaf| Ok((opened, node(leaf)?)));
            conversations = leaves.collect::<Result<_, ApiError>>()?;
            ChangeRequest::Merge(merge::merge_request(wanted, &conversations, to)?)
        }
        Action::Undo | Action::Restore | Action::RestoreFiles | Action::Unknown => {
            return Err(ApiError::bad_request("unknown action"));
        }
    };
    Ok(workspace.plan_change(request, time_from_system(SystemTime::now()))?)
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused { what, refusal } => {
                let hint =
                    if what == ChangeKind::Merge { merge::refusal_hint(&refusal) } else { "" };
                conflict_error(refusal.to_string(), hint)
            }
            ChangeError::AlreadyThere | ChangeError::FilesAsTheyWere(_) => {
                conflict_error(error.to_string(), "nothing to do")
            }
            ChangeError::OfOthers => conflict_error(error.to_string(), ""),
            ChangeError::Archived(_) => conflict_error(
                error.to_string(),
                "use `ramus archive restore` in a terminal to bring it back",
            ),
            ChangeError::NoDirectory(_) => {
                let hint = "use `ramus files --into DIR` in a terminal to write them elsewhere";
                conflict_error(error.to_string(), hint)
            }
            ChangeError::Undo { error, is_kept, .. } => {
                let hint = match error {
                    UndoError::ChangedSince { .. } if is_kept => {
                        "restore the session to the state before it, or fork from an earlier message"
                    }
                    _ => "",
                };
                conflict_error(error.to_string(), hint)
            }
            ChangeError::NoConversation { .. } => Self::not_found("message"),
            ChangeError::Title(_) | ChangeError::NoProject(_) | ChangeError::NothingToRepair => {
                Self::bad_request(error.to_string())
            }
            ChangeError::Read(error) => error.into(),
        }
    }
}

fn conflict_error(message: String, hint: &'static str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, message, hint)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    plan: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DoneView {
    op: u64,
    session: String,
    words: String,
    resume_command: Option<String>,
    /// What else happened, such as lines of other programs that were carried over.
    notes: Vec<String>,
}

/// Carries out a plan that was shown.
pub(crate) async fn post_apply(
    Extract(state): Extract<Arc<ServerState>>,
    Json(chosen): Json<Chosen>,
) -> ApiResult<DoneView> {
    answer_json(state, TaskKind::Changes, move |state| {
        let change =
            state.plans.take_plan(&chosen.plan).ok_or_else(|| ApiError::not_found("plan"))?;
        let now = time_from_system(SystemTime::now());
        let done = carry_out(state.workspace.state_dir(), &change, false, now)
            .map_err(|error| apply_error(&error))?;
        state.workspace.request_refresh();
        let plan = &change.plan;
        Ok(DoneView {
            op: done.op,
            words: format!("{} {}", plan.what.as_str(), plan.words).trim().to_owned(),
            resume_command: change.resume_command(),
            session: plan.session.clone(),
            notes: done.notes,
        })
    })
    .await
}

fn apply_error(error: &ApplyError) -> ApiError {
    let hint = match error {
        ApplyError::OpenInClient { .. } | ApplyError::Growing(_) => {
            "close the session in Claude Code first"
        }
        ApplyError::Changed(_) => "reload the session and try again",
        _ => "",
    };
    conflict_error(error.to_string(), hint)
}
