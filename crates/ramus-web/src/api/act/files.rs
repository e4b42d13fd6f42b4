//! Files as of a message, put back into the directory where the session ran.

use ramus_core::edit::{FileRestoration, RestoredFile};
use ramus_core::files::FileState;
use ramus_core::files::place::below;
use ramus_core::files::restore::Why;
use ramus_render::{diff, html};
use serde::Serialize;

use crate::api::files::LINES;

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

pub(super) fn view(restoration: &FileRestoration) -> FilesView {
    let cwd = restoration.cwd.clone();
    let name = |file: &FileState| below(&file.path, &cwd).unwrap_or(&file.path).to_owned();
    let changes = restoration.changes.iter().map(|change| ChangeView {
        path: name(&change.file),
        how: change.how.word(),
        html: changed(change),
    });
    let left = &restoration.left;
    let left = left.iter().map(|(file, why)| LeftView { path: name(file), why: reason(*why) });
    FilesView { changes: changes.collect(), left: left.collect(), cwd: cwd.clone() }
}

fn changed(change: &RestoredFile) -> String {
    let (Some(now), Some(then)) = (&change.now, &change.then) else { return String::new() };
    let lines = diff::diff(now, then, &diff::DiffConfig { numbers: true, ..Default::default() });
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
