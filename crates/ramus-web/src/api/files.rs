//! Files as of a message: the list, one content, and later changes (R22).

use std::sync::Arc;

use axum::extract::{Path, Query, State as Extract};
use ramus_app::{Address, AddressError, NodeSelector};
use ramus_core::files::FileContent;
use ramus_render::json::{self, Answer, Files};
use ramus_render::{diff, html};
use ramus_store::files_at::FilesAt;
use serde::{Deserialize, Serialize};

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

/// How much of a file is shown.
const MAX_FILE_BYTES: usize = 512 * 1024;
/// How many lines of a difference are shown.
pub(super) const MAX_DIFF_LINES: usize = 3_000;

#[derive(Debug, Deserialize)]
pub(crate) struct FilesQuery {
    #[serde(default)]
    node: String,
    /// One of the paths that were listed.
    #[serde(default)]
    path: String,
    /// The message to compare with; none: the file itself is shown.
    #[serde(default)]
    than: String,
}

pub(crate) async fn get_files(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<FilesQuery>,
) -> ApiResult<Answer<Files>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let mut at = files_at(state, &id, &at.node)?;
        let files = at.sized_files();
        let files = files.iter().map(|(file, size)| json::from_file_state(file, *size)).collect();
        let point = json::files_point(&id, &at.moment);
        Ok(Answer::new("ramus.files/1", Files { point, files }))
    })
    .await
}

/// A file, or how it differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "FileShown"))]
pub(crate) struct Shown {
    path: String,
    /// Escaped HTML. Empty if there is nothing to show; `note` gives the reason.
    html: String,
    note: String,
}

pub(crate) async fn get_file(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<FilesQuery>,
) -> ApiResult<Shown> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let then = file_text(&mut files_at(state, &id, &at.node)?, &at.path)?;
        if at.than.is_empty() {
            let (html, note) = match then {
                Ok(text) => (html::code_html(&at.path, &cut_text(&text)), String::new()),
                Err(note) => (String::new(), note.to_owned()),
            };
            return Ok(Shown { path: at.path, html, note });
        }
        // A file that is not known at one of the messages was not there.
        let mut later = files_at(state, &id, &at.than)?;
        let later = file_text(&mut later, &at.path).unwrap_or(Ok(String::new()));
        let (html, note) = match (then, later) {
            (Ok(then), Ok(later)) if then == later => (String::new(), "Identical.".to_owned()),
            (Ok(then), Ok(later)) => {
                let config = diff::DiffConfig { numbers: true, ..Default::default() };
                let lines = diff::diff_lines(&then, &later, &config);
                (html::diff_html(&lines[..lines.len().min(MAX_DIFF_LINES)]), String::new())
            }
            (Err(note), _) | (_, Err(note)) => (String::new(), note.to_owned()),
        };
        Ok(Shown { path: at.path, html, note })
    })
    .await
}

/// Reads the files at a message; no name: at where the client would continue.
pub(super) fn files_at(state: &ServerState, id: &str, name: &str) -> Result<FilesAt, ApiError> {
    let node = match name {
        "" => NodeSelector::Resume,
        name => NodeSelector::Place(name.to_owned()),
    };
    let address = Address { file: state.workspace.session_by_id(id)?, node };
    state.workspace.files_at(&address).map_err(|error| match error {
        AddressError::Unreadable(error) => error.into(),
        _ => ApiError::not_found("message"),
    })
}

/// Returns the text of a file that was listed, or why there is none.
fn file_text(point: &mut FilesAt, path: &str) -> Result<Result<String, &'static str>, ApiError> {
    let file = point.files.iter().find(|file| file.path == path).cloned();
    let file = file.ok_or_else(|| ApiError::not_found("file"))?;
    let Some(bytes) = point.file_bytes(&file) else {
        return Ok(Err(match file.content {
            FileContent::Absent => "The file did not exist.",
            FileContent::Unknown => "Its content was not recorded.",
            FileContent::Backup(_) | FileContent::Bytes(_) => {
                "Its backup no longer exists or is too large."
            }
        }));
    };
    Ok(String::from_utf8(bytes).map_err(|_| "Not a text file."))
}

fn cut_text(text: &str) -> String {
    let mut end = text.len().min(MAX_FILE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
