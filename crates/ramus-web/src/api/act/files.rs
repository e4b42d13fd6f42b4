//! Files as of a message, put back into the directory where the session ran.

use std::path::Path;

use ramus_core::files::FileState;
use ramus_core::files::place::below;
use ramus_core::files::restore::{Change, How, Why};
use ramus_render::{diff, html};
use ramus_store::files_at::FilesAt;
use ramus_store::on_disk::text_at;
use serde::Serialize;

use super::{Planned, Wanted, cannot};
use crate::State;
use crate::api::files::{LINES, files_at};
use crate::error::ApiError;

/// What becomes of the files that are there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct FilesView {
    cwd: String,
    changes: Vec<ChangeView>,
    /// Files that are not as they were then, and stay so.
    left: Vec<LeftView>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ChangeView {
    path: String,
    how: &'static str,
    /// Escaped; empty: it is no text.
    html: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LeftView {
    path: String,
    why: &'static str,
}

pub(super) fn restore(state: &State, wanted: &Wanted) -> Result<Planned, ApiError> {
    let mut point = files_at(state, &wanted.session, &wanted.node)?;
    if !Path::new(&point.cwd).is_dir() {
        let message = format!("the session ran in {}, which is not here", point.cwd);
        return Err(cannot(message, "`ramus files --into DIR` in a terminal writes them anywhere"));
    }
    let files: Vec<FileState> =
        point.files.iter().filter(|file| !file.only_read).cloned().collect();
    let (back, plan) = point.put_back(&files, false)?;
    let same = || cannot("the files are as they were then".to_owned(), "nothing is to be done");
    let plan = plan.ok_or_else(same)?;
    let cwd = point.cwd.clone();
    let name = |file: &FileState| below(&file.path, &cwd).unwrap_or(&file.path).to_owned();
    let changes = back.changes.iter().map(|change| ChangeView {
        path: name(change.file),
        how: change.how.word(),
        html: changed(&mut point, change),
    });
    let changes = changes.collect();
    let left = back.left.iter().map(|(file, why)| LeftView { path: name(file), why: reason(*why) });
    let view = FilesView { changes, left: left.collect(), cwd };
    Ok(Planned { files: Some(view), change: plan.into() })
}

fn changed(point: &mut FilesAt, change: &Change<'_>) -> String {
    let now = text_at(Path::new(&change.file.path));
    let then = match change.how {
        How::Delete => Some(String::new()),
        _ => point.bytes(change.file).and_then(|bytes| String::from_utf8(bytes).ok()),
    };
    let (Some(now), Some(then)) = (now, then) else { return String::new() };
    let lines = diff::diff(&now, &then, &diff::DiffConfig { numbers: true, ..Default::default() });
    html::diff(&lines[..lines.len().min(LINES)])
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Unknown => "what it held is not known",
        Why::Outside => "it lies outside of the project",
        Why::Link => "it is a link, or behind one",
        Why::NotAFile => "something else is in its place",
    }
}
