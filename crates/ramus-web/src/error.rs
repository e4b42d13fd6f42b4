//! Errors for the web app: a status, a message and a hint.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ramus_app::AddressError;
use ramus_app::address::AmbiguousAddress;
use ramus_store::PathError;
use serde_json::json;

/// An answer that something could not be done.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
    hint: &'static str,
    /// What could have been meant.
    candidates: Vec<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>, hint: &'static str) -> Self {
        Self { status, message: message.into(), hint, candidates: Vec::new() }
    }

    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            format!("no such {what}"),
            "it may have been deleted; go back to the overview",
        )
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, "")
    }
}

impl From<AddressError> for ApiError {
    fn from(error: AddressError) -> Self {
        match error {
            AddressError::Ambiguous(AmbiguousAddress { candidates, .. }) => {
                let message = format!("{} projects have a session with this id", candidates.len());
                let error = Self::new(StatusCode::CONFLICT, message, "choose one of them");
                Self { candidates, ..error }
            }
            AddressError::Unreadable(error) => error.into(),
            AddressError::NoNode(_)
            | AddressError::NoConversation { .. }
            | AddressError::EmptySession => Self::not_found("conversation"),
            _ => Self::not_found("session"),
        }
    }
}

impl From<PathError> for ApiError {
    fn from(error: PathError) -> Self {
        // The file name is enough: the web app needs no paths.
        let name = error.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let status = match error.source.kind() {
            std::io::ErrorKind::NotFound => StatusCode::NOT_FOUND,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, format!("cannot read {name}: {}", error.source), "")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut body = json!({"error": self.message, "hint": self.hint});
        if !self.candidates.is_empty() {
            body["candidates"] = self.candidates.into();
        }
        (self.status, Json(body)).into_response()
    }
}
