//! A path as a document to keep.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State as Extract};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use ramus_app::export::SpoolBuffer;
use ramus_app::{ExportError, ExportFormat, ExportRequest, NodeSelector};
use serde::Deserialize;

use super::{run_work, stream_pieces};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

#[derive(Debug, Deserialize)]
pub(crate) struct ExportQuery {
    #[serde(default)]
    leaf: String,
    #[serde(default)]
    format: String,
}

/// How many bytes are sent at a time.
const PIECE_BYTES: u64 = 256 * 1024;
/// How much of a document is kept in memory for a reader that may be slow; the rest is on disk.
const MAX_MEMORY_BYTES: usize = 1024 * 1024;

pub(crate) async fn get_export(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(wanted): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let format = match &*wanted.format {
        "" => Some(ExportFormat::Markdown),
        name => ExportFormat::parse(name),
    };
    let format = format
        .ok_or_else(|| ApiError::bad_request("unknown format; use md, html, json, jsonl or txt"))?;
    let short: String = id.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let document = run_work(state.clone(), TaskKind::Exports, move |state| {
        make_document(state, &id, &wanted.leaf, format)
    });
    let document = document.await?;
    let body = stream_pieces(state, TaskKind::Exports, document, MadeDocument::next_piece);
    let name = format.as_str();
    let headers = [
        (header::CONTENT_TYPE, media_type(format).to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"ramus-{short}.{name}\"")),
    ];
    Ok((headers, body).into_response())
}

fn media_type(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Markdown => "text/markdown; charset=utf-8",
        ExportFormat::Html => "text/html; charset=utf-8",
        ExportFormat::Json => "application/json",
        ExportFormat::Jsonl => "application/x-ndjson",
        ExportFormat::Text => "text/plain; charset=utf-8",
    }
}

/// Makes the document that `ramus export SESSION@N --thinking` prints.
fn make_document(
    state: &ServerState,
    id: &str,
    leaf: &str,
    format: ExportFormat,
) -> Result<MadeDocument, ApiError> {
    let workspace = &state.workspace;
    let found = workspace.session_by_id(id)?;
    let open = &state.open_transcript(&found, leaf)?.open;
    let selector = match open.number.filter(|_| open.is_whole) {
        Some(n) => NodeSelector::Nth(n as usize),
        None => NodeSelector::Place(open.leaf_address()),
    };
    let request = ExportRequest::for_conversation(found, selector, format);
    let survey = workspace.survey_all();
    let mut document = SpoolBuffer::new(&std::env::temp_dir()).with_max_memory(MAX_MEMORY_BYTES);
    workspace.plan_export(&survey, &request)?.write_document(&mut document)?;
    Ok(MadeDocument { left: 0..document.len(), document })
}

/// A document, and how much of it has not been sent.
struct MadeDocument {
    document: SpoolBuffer,
    left: Range<u64>,
}

impl MadeDocument {
    /// Takes the next piece; `None`: all was taken.
    fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let end = self.left.end.min(self.left.start + PIECE_BYTES);
        let mut piece = Vec::new();
        self.document.copy_range(self.left.start..end, &mut piece)?;
        self.left.start = end;
        Ok(Some(piece.into()))
    }
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Nothing => Self::not_found("conversation"),
            ExportError::Address(error) => error.into(),
            ExportError::Read(error) => error.into(),
            ExportError::Write(error) => {
                let message = format!("cannot write the export: {error}");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, message, "")
            }
            error => Self::bad_request(error.to_string()),
        }
    }
}
