//! Plans and runs the archiving of new content.

use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::State as Extract;
use axum::http::StatusCode;
use ramus_app::archive::{ArchiveError, added_text};
use ramus_app::survey::time_from_system;
use ramus_render::table::bytes;
use serde::Serialize;

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ArchivingView {
    /// What would be done, a sentence each.
    sentences: Vec<String>,
    /// How many files are not archived as they are now.
    files: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ArchivedView {
    /// What was done.
    words: String,
}

/// Says what archiving would do; nothing is written.
pub(crate) async fn get_archiving(
    Extract(state): Extract<Arc<ServerState>>,
) -> ApiResult<ArchivingView> {
    answer_json(state, TaskKind::Changes, |state| {
        let now = time_from_system(SystemTime::now());
        let plan = state.workspace.plan_archiving(now)?.ok_or_else(not_wanted)?;
        Ok(ArchivingView { sentences: plan.sentences(&bytes), files: plan.files })
    })
    .await
}

/// Archives everything that is new.
pub(crate) async fn post_archive(
    Extract(state): Extract<Arc<ServerState>>,
) -> ApiResult<ArchivedView> {
    answer_json(state, TaskKind::Changes, |state| {
        let now = time_from_system(SystemTime::now());
        let report = state.workspace.archive_everything(now)?.ok_or_else(not_wanted)?;
        state.workspace.request_refresh();
        Ok(ArchivedView { words: added_text(report, &bytes) })
    })
    .await
}

fn not_wanted() -> ApiError {
    let hint = "start `ramus serve` without `--no-archive`";
    ApiError::new(StatusCode::CONFLICT, "this server does not use the archive", hint)
}

impl From<ArchiveError> for ApiError {
    fn from(error: ArchiveError) -> Self {
        let hint = "run `ramus archive status` in a terminal for details";
        Self::new(StatusCode::CONFLICT, error.to_string(), hint)
    }
}
