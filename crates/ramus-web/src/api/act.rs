//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod files;
mod log;
mod merge;

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use ramus_app::change::apply as carry_out;
use ramus_app::survey::to_time;
use ramus_app::{ChangeError, ChangeRequest, NewSessionAt, PlannedChange, Site};
use ramus_core::session::NodeId;
use ramus_render::text::count;
use ramus_store::apply::ApplyError;
use ramus_store::journal::{Journal, Operation};
use ramus_store::plan::{self, Plan, Step, What};
use ramus_store::undo::{UndoError, is_below};
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;
use crate::token::Token;
use crate::work::Task;
use files::FilesView;
#[cfg(test)]
pub(super) use log::Log;
pub(crate) use log::log;
use merge::MergedView;

/// What the page can ask for.
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

/// A change and what a person wants to see of it.
struct Planned {
    change: PlannedChange,
    files: Option<FilesView>,
}

impl From<PlannedChange> for Planned {
    fn from(change: PlannedChange) -> Self {
        Self { change, files: None }
    }
}

/// Plans what was asked for; nothing is written.
pub(crate) async fn plan(
    Extract(state): Extract<Arc<State>>,
    Json(wanted): Json<Wanted>,
) -> Answered<PlanView> {
    answer(state, Task::Changes, move |state| {
        let Planned { change, files } = planned(state, &wanted)?;
        let plan = &change.plan;
        let view = PlanView {
            id: if change.stops { String::new() } else { new_id()? },
            what: plan.what.word(),
            words: plan.words.clone(),
            session: plan.session.clone(),
            steps: steps(plan),
            appended_bytes: plan.appended_bytes(),
            warnings: change.warnings(),
            merged: merge::view(&change),
            files,
        };
        if !change.stops {
            state.plans.keep(view.id.clone(), change);
        }
        Ok(view)
    })
    .await
}

fn new_id() -> Result<String, ApiError> {
    let id = Token::random().map_err(|error| ApiError::bad(error.to_string()))?;
    Ok(id.word().to_owned())
}

fn planned(state: &State, wanted: &Wanted) -> Result<Planned, ApiError> {
    match wanted.what {
        Action::Undo | Action::Restore => back(state, wanted).map(Planned::from),
        Action::RestoreFiles => files::restore(state, wanted),
        _ => with_session(state, wanted).map(Planned::from),
    }
}

/// Plans the way back from something that was done.
fn back(state: &State, wanted: &Wanted) -> Result<PlannedChange, ApiError> {
    let journal = &Journal::read(state.workspace.state())?;
    let operation = wanted.op.and_then(|op| journal.operation(op));
    let is_here = |operation: &Operation| is_below(operation, state.workspace.roots());
    if wanted.op.is_some() && !operation.is_some_and(is_here) {
        return Err(ApiError::not_found("operation"));
    }
    let request = match wanted.what {
        Action::Restore if operation.is_none_or(|operation| operation.what != What::Trash) => {
            ChangeRequest::Restore { journal, session: &wanted.session, at: wanted.op }
        }
        // Out of the trash a session comes back with all that went there with it.
        _ => ChangeRequest::Undo { journal, op: wanted.op },
    };
    Ok(state.workspace.plan(&request, to_time(SystemTime::now()))?)
}

fn with_session(state: &State, wanted: &Wanted) -> Result<PlannedChange, ApiError> {
    let workspace = &state.workspace;
    let site = &Site::read(workspace, workspace.session_by_id(&wanted.session)?)?;
    let node =
        |name: &str| site.history.node_at(name).ok_or_else(|| ApiError::not_found("message"));
    let title = Some(wanted.title.trim()).filter(|title| !title.is_empty());
    let to = NewSessionAt { into: None, title };
    let conversations: Vec<(&Site, NodeId)>;
    let request = match wanted.what {
        Action::Rename => ChangeRequest::Rename { site, title: &wanted.title },
        Action::Trash => ChangeRequest::Trash { site },
        Action::Goto => ChangeRequest::Goto { site, node: node(&wanted.node)? },
        Action::Fork => ChangeRequest::Fork { site, node: node(&wanted.node)?, to },
        Action::Merge => {
            let leaves = wanted.leaves.iter().map(|leaf| Ok((site, node(leaf)?)));
            conversations = leaves.collect::<Result<_, ApiError>>()?;
            ChangeRequest::Merge(merge::request(wanted, &conversations, to)?)
        }
        Action::Undo | Action::Restore | Action::RestoreFiles | Action::Unknown => {
            return Err(ApiError::bad("there is no such action"));
        }
    };
    Ok(workspace.plan(&request, to_time(SystemTime::now()))?)
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused { what, refusal } => {
                let hint = match what {
                    What::Merge => merge::hint(&refusal),
                    _ if refusal.can_fork() => "fork from this message instead",
                    _ => "",
                };
                cannot(refusal.to_string(), hint)
            }
            ChangeError::Undo { error, is_kept, .. } => {
                let hint = match error {
                    UndoError::WentOn { .. } if is_kept => {
                        "bring the session back as it was before that, or fork from an earlier message"
                    }
                    _ => "",
                };
                cannot(error.to_string(), hint)
            }
            ChangeError::NoConversation { .. } => Self::not_found("message"),
            ChangeError::Title(_) | ChangeError::NoProject(_) => Self::bad(error.to_string()),
            ChangeError::Read(error) => error.into(),
        }
    }
}

fn cannot(message: String, hint: &'static str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, message, hint)
}

/// Tells what is done; what goes along with a new session is told as one.
fn steps(plan: &Plan) -> Vec<String> {
    let is_link = |step: &&Step| matches!(step, Step::Link { .. });
    let mut told: Vec<String> = plan.steps.iter().filter(|step| !is_link(step)).map(step).collect();
    match plan.steps.iter().filter(is_link).count() {
        0 => {}
        1 => told.push("take along 1 file backup or output".to_owned()),
        n => told.push(format!("take along {n} file backups and outputs")),
    }
    told
}

/// Tells what a step does, by the names of files alone.
fn step(step: &Step) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        Step::Append { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            format!("add {} to the end of {}", count(lines, "line"), name(file))
        }
        Step::Make { file, .. } => format!("write the new file {}", name(file)),
        Step::Link { to, .. } => format!("take along {}", name(to)),
        Step::Put { file, .. } => format!("put an earlier content back into {}", name(file)),
        Step::Move { from, to: None, .. } => format!("move {} to ramus's own trash", name(from)),
        Step::Join { file, .. } => {
            format!("bring {} back, and add the lines that are there now", name(file))
        }
        Step::Move { to: Some(to), .. } => format!("move {} back to its place", name(to)),
        Step::Cut { file, wanted, .. } => {
            format!("cut {} back to {} bytes", name(file), wanted.len)
        }
        Step::Tidy { dir } => format!("remove the empty directory {}", name(dir)),
    }
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
pub(crate) async fn apply(
    Extract(state): Extract<Arc<State>>,
    Json(chosen): Json<Chosen>,
) -> Answered<DoneView> {
    answer(state, Task::Changes, move |state| {
        let change = state.plans.take(&chosen.plan).ok_or_else(|| ApiError::not_found("plan"))?;
        let now = to_time(SystemTime::now());
        let done = carry_out(state.workspace.state(), &change, false, now)
            .map_err(|error| failed(&error))?;
        let plan = change.plan;
        state.workspace.refresh();
        Ok(DoneView {
            op: done.op,
            words: format!("{} {}", plan.what.word(), plan.words).trim().to_owned(),
            resume_command: plan.resume.map(|_| plan::resume_command(&plan.session)),
            session: plan.session,
            notes: done.notes,
        })
    })
    .await
}

fn failed(error: &ApplyError) -> ApiError {
    let hint = match error {
        ApplyError::Open { .. } | ApplyError::Growing(_) => {
            "close the session in Claude Code first"
        }
        ApplyError::Changed(_) => "look at it again, and plan again",
        _ => "",
    };
    cannot(error.to_string(), hint)
}
