//! Restores files as of a message in the session's working directory.

use ramus_core::edit::{FileRestoration, RestoredFile};
use ramus_core::files::FileState;
use ramus_core::files::file_path::path_below;
use ramus_core::files::restore::LeftReason;
use ramus_render::{diff, html};
use serde::Serialize;

use crate::api::files::MAX_DIFF_LINES;

/// What a restore does to existing files.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct FilesView {
    cwd: String,
    changes: Vec<ChangeView>,
    /// Files that differ and are not changed.
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

pub(super) fn files_view(restoration: &FileRestoration) -> FilesView {
    let cwd = restoration.cwd.clone();
    let name = |file: &FileState| path_below(&file.path, &cwd).unwrap_or(&file.path).to_owned();
    let changes = restoration.changes.iter().map(|change| ChangeView {
        path: name(&change.file),
        how: change.action.as_str(),
        html: restored_diff_html(change),
    });
    let left = &restoration.left;
    let left = left.iter().map(|(file, why)| LeftView { path: name(file), why: left_reason(*why) });
    FilesView { changes: changes.collect(), left: left.collect(), cwd: cwd.clone() }
}

fn restored_diff_html(change: &RestoredFile) -> String {
    let (Some(now), Some(then)) = (&change.current_text, &change.restored_text) else {
        return String::new();
    };
    let lines =
        diff::diff_lines(now, then, &diff::DiffConfig { numbers: true, ..Default::default() });
    html::diff_html(&lines[..lines.len().min(MAX_DIFF_LINES)])
}

fn left_reason(why: LeftReason) -> &'static str {
    match why {
        LeftReason::Unknown => "content unknown",
        LeftReason::Outside => "outside of the project",
        LeftReason::Link => "it is a symbolic link, or behind one",
        LeftReason::NotAFile => "the path is not a regular file",
    }
}
