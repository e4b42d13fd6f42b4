//! News: what happens to history files, told to every open page.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use axum::extract::State as Extract;
use axum::response::sse::{Event, KeepAlive, Sse};
use ramus_store::follow::{Change, FollowConfig, follow};
use ramus_store::place::{FileRole, HistoryFile};
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use crate::State;

/// Changes that come this close together are told at once.
const TOGETHER: Duration = Duration::from_millis(150);

pub(crate) async fn events(
    Extract(state): Extract<Arc<State>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // A page that was too slow missed something; what it hears next makes it ask again.
    let news = BroadcastStream::new(state.news.subscribe()).filter_map(Result::ok);
    Sse::new(news.map(|line| Ok(Event::default().data(line)))).keep_alive(KeepAlive::default())
}

/// Follows all files and tells of them.
pub(crate) fn tell(state: &State) {
    let roots = state.library.place.roots.clone();
    let Ok(changes) = follow(roots, &FollowConfig::default()) else { return };
    let mut started = false;
    let mut waiting: BTreeSet<String> = BTreeSet::new();
    loop {
        let change = match waiting.is_empty() {
            true => changes.recv().ok_or(RecvTimeoutError::Disconnected),
            false => changes.recv_timeout(TOGETHER),
        };
        match change {
            Ok(Change::Ready) => started = true,
            Ok(change) if started => waiting.extend(line(&change)),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                // Whoever hears it asks at once, and shall not get what was true before.
                state.library.forget();
                for line in std::mem::take(&mut waiting) {
                    // An error says that no page is open.
                    let _ = state.news.send(line);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn line(change: &Change) -> Option<String> {
    let (kind, file): (&str, &HistoryFile) = match change {
        Change::Found { file, .. } | Change::Moved { file, .. } => ("found", file),
        Change::Grew { file, .. } => ("grew", file),
        Change::Rewritten { file } => ("rewritten", file),
        Change::Gone { file } => ("gone", file),
        Change::Ready | Change::Polling { .. } | Change::Problem(_) => return None,
    };
    let agent = file.role.is_agent();
    let owner = match &file.role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
        _ => None,
    };
    Some(json!({"kind": kind, "session": file.id, "agent": agent, "owner": owner}).to_string())
}
