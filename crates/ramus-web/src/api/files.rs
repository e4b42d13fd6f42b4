//! Files as of a message: which there were, what one of them held, how it differs later (R22).

use std::sync::Arc;

use axum::extract::{Path, Query, State as Extract};
use ramus_core::body::Body;
use ramus_core::compare::Stretch;
use ramus_core::files::{self, Backups, FileState, Held, moment};
use ramus_core::name::Name;
use ramus_core::session::NodeId;
use ramus_render::json::{self, Answer, Files, FilesPoint};
use ramus_render::{diff, html};
use ramus_store::trace::{Part, trace};
use ramus_store::{Bodies, FileHistory, PathError};
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;

/// How much of a file is shown.
const SHOWN: usize = 512 * 1024;
/// How many lines of a difference are shown.
const LINES: usize = 3_000;

#[derive(Debug, Deserialize)]
pub(crate) struct At {
    #[serde(default)]
    node: String,
    /// One of the paths that were listed.
    #[serde(default)]
    path: String,
    /// The message to compare with; none: the file itself is shown.
    #[serde(default)]
    than: String,
}

pub(crate) async fn files(
    Extract(state): Extract<Arc<State>>,
    Path(id): Path<String>,
    Query(at): Query<At>,
) -> Answered<Answer<Files>> {
    answer(state, move |state| {
        let mut point = Point::open(state, &id, &at.node)?;
        let files = std::mem::take(&mut point.files);
        let files = files.iter().map(|file| json::file(file, point.size(file))).collect();
        Ok(Answer::new("ramus.files/1", Files { point: point.point, files }))
    })
    .await
}

/// A file, or how it differs.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    path: String,
    /// Escaped; empty: there is nothing to show, and `note` says why.
    html: String,
    note: String,
}

pub(crate) async fn file(
    Extract(state): Extract<Arc<State>>,
    Path(id): Path<String>,
    Query(at): Query<At>,
) -> Answered<Shown> {
    answer(state, move |state| {
        let mut point = Point::open(state, &id, &at.node)?;
        let then = point.text(&at.path)?;
        if at.than.is_empty() {
            let (html, note) = match then {
                Ok(text) => (html::code(&at.path, &cut(&text)), String::new()),
                Err(note) => (String::new(), note.to_owned()),
            };
            return Ok(Shown { path: at.path, html, note });
        }
        // A file that is not known at one of the messages was not there.
        let later = Point::open(state, &id, &at.than)?.text(&at.path).unwrap_or(Ok(String::new()));
        let (html, note) = match (then, later) {
            (Ok(then), Ok(later)) if then == later => (String::new(), "It is the same.".to_owned()),
            (Ok(then), Ok(later)) => {
                let config = diff::DiffConfig { numbers: true, ..Default::default() };
                let lines = diff::diff(&then, &later, &config);
                (html::diff(&lines[..lines.len().min(LINES)]), String::new())
            }
            (Err(note), _) | (_, Err(note)) => (String::new(), note.to_owned()),
        };
        Ok(Shown { path: at.path, html, note })
    })
    .await
}

/// The files of a session at one moment.
struct Point {
    point: FilesPoint,
    files: Vec<FileState>,
    backups: FileHistory,
}

impl Point {
    /// Reads the files at a message; no name: at where the client would continue.
    fn open(state: &State, id: &str, name: &str) -> Result<Self, ApiError> {
        let nothing = || ApiError::not_found("message");
        let found = state.library.find(id)?;
        let history = state.library.read(&found.file)?;
        let branches = &history.branches;
        let wanted = if name.is_empty() {
            let last = branches.resuming().or(branches.conversations.last());
            branches.resume.map(|resume| resume.leaf).or(last.map(|last| last.leaf))
        } else {
            history.tree.find(Name::new(name.as_bytes()))
        };
        let wanted = wanted.ok_or_else(nothing)?;
        let conversation = history.conversation_of(wanted).map(|way| history.path(way));
        let ways = [conversation, history.path_to(wanted)].into_iter().flatten();
        let (path, moment) = { ways }
            .find_map(|path| moment(&history, &path, wanted).map(|moment| (path, moment)))
            .ok_or_else(nothing)?;
        let node = history.session.record(wanted).name.map(|name| history.session.spell(name));
        let cwd = history.session.facts().cwd.as_deref().map(str::to_owned);
        let beside = &found.project().files;
        let parts = trace(beside, found.file.clone(), history, path, state.library.rule)?;
        let mut backups = FileHistory::open(&state.library.place.roots, &parts);
        let files = read(&parts, moment, &mut backups)?;
        let moment = if moment.sent.is_some() { "before" } else { "after" };
        let point = FilesPoint { session: id.to_owned(), node, moment, cwd };
        Ok(Self { point, files, backups })
    }

    fn size(&mut self, file: &FileState) -> Option<u64> {
        match &file.held {
            Held::Backup(backup) => self.backups.size(backup),
            Held::Bytes(bytes) => Some(bytes.len() as u64),
            Held::Absent | Held::Unknown => None,
        }
    }

    /// Returns the text of a file that was listed, or why there is none.
    fn text(&mut self, path: &str) -> Result<Result<String, &'static str>, ApiError> {
        let file = self.files.iter().find(|file| file.path == path);
        let bytes = match &file.ok_or_else(|| ApiError::not_found("file"))?.held {
            Held::Backup(backup) => self.backups.read(backup),
            Held::Bytes(bytes) => Some(bytes.clone()),
            Held::Absent => return Ok(Err("There was no such file then.")),
            Held::Unknown => return Ok(Err("Nobody wrote down what it held.")),
        };
        let Some(bytes) = bytes else { return Ok(Err("Its backup is gone or too large.")) };
        Ok(String::from_utf8(bytes).map_err(|_| "It is not text."))
    }
}

fn read(
    parts: &[Part],
    moment: files::Moment,
    backups: &mut FileHistory,
) -> Result<Vec<FileState>, ApiError> {
    let open = |part: &Part| Bodies::open(&part.file.path);
    let mut bodies = parts.iter().map(open).collect::<Result<Vec<_>, PathError>>()?;
    let mut body = |part: usize, id: NodeId| {
        let bytes = bodies[part].bytes(parts[part].history.session.record(id).span).ok()?;
        Body::parse(&bytes).ok()
    };
    let stretches: Vec<Stretch<'_>> =
        parts.iter().map(|part| Stretch { history: &part.history, path: &part.path }).collect();
    Ok(files::files(&stretches, moment, &mut body, backups))
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
