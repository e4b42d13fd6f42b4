//! What was used: tokens and what they cost.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State as Extract;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use jiff::tz::TimeZone;
use ramus_app::survey::time_from_system;
use ramus_app::{Scope, Workspace};
use ramus_render::json;
use xxhash_rust::xxh3::Xxh3;

use super::run_work;
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

pub(crate) async fn get_usage(
    Extract(state): Extract<Arc<ServerState>>,
) -> Result<Response, ApiError> {
    let usage =
        run_work(state, TaskKind::Lists, |state| state.usage.usage_json(&state.workspace)).await?;
    Ok(([(CONTENT_TYPE, "application/json")], usage).into_response())
}

/// The last answer, and the fingerprint of the files it was made of.
#[derive(Debug, Default)]
pub(crate) struct CachedUsage(Mutex<Option<(u64, Bytes)>>);

impl CachedUsage {
    /// Adds up what was used; all files are read for it, unless they are as they were.
    fn usage_json(&self, workspace: &Workspace) -> Result<Bytes, ApiError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = Xxh3::new();
        for file in workspace.list_again().iter().flat_map(|project| &project.files) {
            hash.update(file.path.as_os_str().as_encoded_bytes());
            hash.update(&file.bytes.to_le_bytes());
            hash.update(&time_from_system(file.modified).as_millis().to_le_bytes());
        }
        let now = hash.digest();
        if let Some((then, usage)) = &*last
            && *then == now
        {
            return Ok(usage.clone());
        }
        // What the digests know already is not held twice.
        workspace.survey_all();
        let used = workspace.survey_usage(Scope::All);
        let ledger = used.open_ledger(false);
        let prices = workspace.active_prices();
        let told = json::Prices::new(&prices.list, prices.file.as_deref());
        let usage =
            json::usage_report(&ledger.books, &ledger.file_owners(), told, &TimeZone::system());
        let answer = serde_json::to_vec(&json::Answer::new("ramus.usage/1", usage));
        let answer = Bytes::from(answer.map_err(|error| ApiError::bad_request(error.to_string()))?);
        *last = Some((now, answer.clone()));
        Ok(answer)
    }
}
