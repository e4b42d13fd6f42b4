//! Reads the session at the list's cursor for the preview.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use ramus_app::{NodeSelector, Workspace};

use crate::event::{OpenRequest, ScreenEvent};
use crate::panes::preview::PreviewFacts;
use crate::work::LatestWorker;
use crate::work::open::open_session;

/// How long the cursor must rest on a row before it is read, so that fast scrolling reads nothing.
const READ_DELAY: Duration = Duration::from_millis(15);
/// How long it must rest before changed files are computed.
const FACTS_DELAY: Duration = Duration::from_millis(150);
/// Above this size of a session that takes too long for a look.
const MAX_FACTS_BYTES: u64 = 20_000_000;

pub(crate) fn start_preview_worker(
    events: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
) -> LatestWorker<OpenRequest> {
    LatestWorker::start_worker(events, move |request: OpenRequest, newer, events| {
        if newer.comes_within(READ_DELAY) {
            return;
        }
        let (path, bytes) = (request.file.path.clone(), request.file.bytes);
        // A file that cannot be read is reported when it is opened.
        if let ScreenEvent::Opened(opened) = open_session(request, &workspace) {
            let _ = events.send(ScreenEvent::Previewed(opened));
        }
        if bytes <= MAX_FACTS_BYTES && !newer.comes_within(FACTS_DELAY) {
            let facts = PreviewFacts { files: changed_files(&workspace, &path) };
            let _ = events.send(ScreenEvent::PreviewFacts(path, facts));
        }
    })
}

/// Returns the names of the files that tools changed in a session.
fn changed_files(workspace: &Workspace, path: &Path) -> Vec<String> {
    let address = workspace.address_in(path, NodeSelector::Resume);
    let Ok(files) = address.and_then(|address| workspace.files_at(&address)) else {
        return Vec::new();
    };
    let changed = files.files.iter().filter(|file| !file.only_read);
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    changed.map(|file| name(&file.path)).collect()
}
