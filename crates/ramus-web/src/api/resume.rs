//! The command that resumes a session at a message.

use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Path, Query, State as Extract};
use ramus_app::survey::time_from_system;
use ramus_app::{NodeSelector, OpenedSession, ResumeError, ResumeOptions};
use serde::{Deserialize, Serialize};

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

#[derive(Debug, Deserialize)]
pub(crate) struct ResumeQuery {
    /// Empty: where the client resumes.
    #[serde(default)]
    node: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ResumeView {
    /// One line for a shell.
    command: String,
    /// What the command does before it starts Claude Code: `nothing`, `goto-or-fork` or `fork`.
    first_step: &'static str,
    /// The session's directory, if it does not exist.
    missing_directory: Option<String>,
}

pub(crate) async fn get_resume(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<ResumeQuery>,
) -> ApiResult<ResumeView> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let workspace = &state.workspace;
        let opened = OpenedSession::read_session(workspace, workspace.session_by_id(&id)?)?;
        let selector = match &*at.node {
            "" => NodeSelector::Resume,
            name => NodeSelector::Place(name.to_owned()),
        };
        let node = opened.find_node(&selector)?;
        let plan = workspace.plan_resume(&opened, node, time_from_system(SystemTime::now()))?;
        let missing = plan.command.missing_directory();
        Ok(ResumeView {
            command: plan.shell_line(
                &format!("{}:{}", opened.found.address_id(), plan.leaf),
                ResumeOptions::default(),
            ),
            first_step: plan.first.as_str(),
            missing_directory: missing.map(|directory| directory.display().to_string()),
        })
    })
    .await
}

impl From<ResumeError> for ApiError {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Change(error) => error.into(),
            ResumeError::Outside(_) => Self::bad_request(error.to_string()),
        }
    }
}
