//! Tokens and cost.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use ramus_app::survey::time_from_system;
use ramus_app::{Scope, Workspace};
use ramus_render::json;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use super::{ApiResult, answer_json, run_work};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

pub(crate) async fn get_usage(
    Extract(state): Extract<Arc<ServerState>>,
) -> Result<Response, ApiError> {
    let answers = cached_answers(state).await?;
    Ok(([(CONTENT_TYPE, "application/json")], answers.report).into_response())
}

/// Sends usage by day, session, model and branch.
pub(crate) async fn get_daily_usage(
    Extract(state): Extract<Arc<ServerState>>,
) -> Result<Response, ApiError> {
    let answers = cached_answers(state).await?;
    Ok(([(CONTENT_TYPE, "application/json")], answers.daily).into_response())
}

async fn cached_answers(state: Arc<ServerState>) -> Result<UsageAnswers, ApiError> {
    run_work(state, TaskKind::Lists, |state| state.usage.answers(&state.workspace)).await
}

/// Sends what one session and its agents used.
pub(crate) async fn get_session_usage(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<json::Answer<json::Usage>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let used = state.workspace.survey_usage(Scope::Session(Box::new(found)));
        let ledger = used.open_ledger(false);
        let (prices, zone) = (price_facts(&state.workspace), TimeZone::system());
        let usage = json::usage_report(&ledger.usage, &ledger.file_owners(), prices, &zone);
        Ok(json::Answer::new("ramus.usage/1", usage))
    })
    .await
}

fn price_facts(workspace: &Workspace) -> json::Prices {
    let prices = workspace.active_prices();
    json::Prices::new(&prices.list, prices.file.as_deref())
}

/// Answers about all files.
#[derive(Clone, Debug)]
struct UsageAnswers {
    report: Bytes,
    daily: Bytes,
}

/// The last answers, and the fingerprint of the files they were made of.
#[derive(Debug, Default)]
pub(crate) struct CachedUsage(Mutex<Option<(u64, UsageAnswers)>>);

impl CachedUsage {
    /// Sums up usage; reads all files, unless they are unchanged.
    fn answers(&self, workspace: &Workspace) -> Result<UsageAnswers, ApiError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = Xxh3::new();
        for file in workspace.list_again().iter().flat_map(|project| &project.files) {
            hash.update(file.path.as_os_str().as_encoded_bytes());
            hash.update(&file.bytes.to_le_bytes());
            hash.update(&time_from_system(file.modified).as_millis().to_le_bytes());
        }
        let now = hash.digest();
        if let Some((then, answers)) = &*last
            && *then == now
        {
            return Ok(answers.clone());
        }
        // Facts that digests have are not stored twice.
        workspace.survey_all();
        let used = workspace.survey_usage(Scope::All);
        let ledger = used.open_ledger(false);
        let (owners, zone) = (ledger.file_owners(), TimeZone::system());
        let report = json::usage_report(&ledger.usage, &owners, price_facts(workspace), &zone);
        let daily = json::daily_usage(&ledger.usage, &owners, price_facts(workspace), &zone);
        let answers = UsageAnswers {
            report: to_bytes(json::Answer::new("ramus.usage/1", report))?,
            daily: to_bytes(json::Answer::new("ramus.daily-usage/1", daily))?,
        };
        *last = Some((now, answers.clone()));
        Ok(answers)
    }
}

fn to_bytes(answer: impl Serialize) -> Result<Bytes, ApiError> {
    let bytes = serde_json::to_vec(&answer);
    Ok(Bytes::from(bytes.map_err(|error| ApiError::bad_request(error.to_string()))?))
}
