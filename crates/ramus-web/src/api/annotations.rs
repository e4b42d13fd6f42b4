//! Pins, tags and notes.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use ramus_app::survey::time_from_system;
use ramus_app::{Address, AnnotateError, NodeSelector};
use ramus_core::annotation::AnnotationChange;
use ramus_render::json::{self, Annotated, Answer};
use serde::Deserialize;

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

/// What is changed about the annotation of a session or a message.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedAnnotation {
    /// A message, by a uuid; empty: the session itself.
    #[serde(default)]
    message: String,
    pinned: Option<bool>,
    #[serde(default)]
    add_tags: Vec<String>,
    #[serde(default)]
    remove_tags: Vec<String>,
    note: Option<String>,
}

/// Returns the annotations of a session.
pub(crate) async fn get_session_annotations(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<Annotated>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let id = state.workspace.session_by_id(&id)?.address_id();
        let annotations = state.workspace.annotations();
        let own = annotations.iter().filter(|(target, _)| target.session == id);
        let annotations = own.map(|(target, one)| json::from_annotation(target, one)).collect();
        Ok(Answer::new("ramus.annotations/1", Annotated { annotations }))
    })
    .await
}

/// Returns everything that is annotated.
pub(crate) async fn get_annotations(
    Extract(state): Extract<Arc<ServerState>>,
) -> ApiResult<Answer<Annotated>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let annotations = state.workspace.annotations();
        let annotations =
            annotations.iter().map(|(target, one)| json::from_annotation(target, one));
        let annotations = annotations.collect();
        Ok(Answer::new("ramus.annotations/1", Annotated { annotations }))
    })
    .await
}

/// Changes the annotation of a session or a message.
pub(crate) async fn post_annotation(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Json(wanted): Json<WantedAnnotation>,
) -> ApiResult<Answer<Annotated>> {
    answer_json(state, TaskKind::Changes, move |state| {
        let file = state.workspace.session_by_id(&id)?;
        let node = match wanted.message.is_empty() {
            true => NodeSelector::Resume,
            false => NodeSelector::Place(wanted.message),
        };
        let target = state.workspace.annotation_target(&Address { file, node })?;
        let change = AnnotationChange {
            pinned: wanted.pinned,
            add_tags: wanted.add_tags,
            remove_tags: wanted.remove_tags,
            note: wanted.note,
        };
        let now = time_from_system(SystemTime::now());
        let annotation = state.workspace.annotate(&target, &change, now)?;
        let annotations = vec![json::from_annotation(&target, &annotation)];
        Ok(Answer::new("ramus.annotations/1", Annotated { annotations }))
    })
    .await
}

impl From<AnnotateError> for ApiError {
    fn from(error: AnnotateError) -> Self {
        match error {
            AnnotateError::Address(error) => error.into(),
            AnnotateError::Refused(refusal) => Self::bad_request(refusal.to_string()),
            AnnotateError::Write(error) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), "")
            }
        }
    }
}
