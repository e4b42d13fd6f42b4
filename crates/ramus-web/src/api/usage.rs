//! What was used: tokens and what they cost.

use std::sync::Arc;

use axum::extract::State as Extract;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::work;
use crate::State;
use crate::error::ApiError;
use crate::work::Task;

pub(crate) async fn usage(Extract(state): Extract<Arc<State>>) -> Result<Response, ApiError> {
    let usage = work(state, Task::Lists, |state| state.library.usage()).await?;
    Ok(([(CONTENT_TYPE, "application/json")], usage).into_response())
}
