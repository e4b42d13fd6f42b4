//! Live events: sends changes of history files to every open tab.
//!
//! An event only names the session that changed; tabs request the rest. So several
//! changes within a moment are one event, and a tab that was too slow reloads
//! everything instead of receiving all missed events.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use axum::extract::State as Extract;
use axum::response::sse::{Event, KeepAlive, Sse};
use ramus_store::claude_dir::{FileRole, HistoryFile};
use ramus_store::follow::{FollowConfig, FollowEvent, follow_files};
use serde::Serialize;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use crate::ServerState;

/// How old news may get before it is sent. Whatever else happens meanwhile is sent along, so each
/// session is heard of up to ten times a second, however many are written to.
const EVENT_DELAY: Duration = Duration::from_millis(100);
/// More sessions than this are not listed: pages ask for everything.
const MAX_LISTED: usize = 500;
/// Sent to a page that has missed something, and to every page when it begins to listen.
const MISSED_EVENT: &str = r#"[{"kind":"missed"}]"#;

pub(crate) async fn get_events(
    Extract(state): Extract<Arc<ServerState>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = BroadcastStream::new(state.events.subscribe());
    // Changes between loading the page and listening are missed, too.
    let missed = tokio_stream::once(MISSED_EVENT.into());
    let news = missed.chain(news.map(|line| line.unwrap_or_else(|_lagged| MISSED_EVENT.into())));
    let events = news.map(|line: Arc<str>| Ok(Event::default().data(&*line)));
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Follows all files and sends what happens to them.
pub(crate) fn forward_changes(state: &ServerState) {
    let roots = state.workspace.claude_roots().to_vec();
    let changes = match follow_files(roots, &FollowConfig::default()) {
        Ok(changes) => changes,
        Err(error) => {
            return (state.log)(&format!("no live updates: {error}"));
        }
    };
    let mut started = false;
    let mut news = PendingEvents::default();
    loop {
        let now = Instant::now();
        let change = match news.due {
            None => changes.recv().ok_or(RecvTimeoutError::Disconnected),
            Some(due) => changes.recv_timeout(due.saturating_duration_since(now)),
        };
        match change {
            Ok(FollowEvent::Ready) => started = true,
            Ok(change) if started => news.add_change(&change, Instant::now()),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(line) = news.take_due_events(Instant::now()) {
            // Clients ask at once after an event and must not get an old answer.
            state.workspace.request_refresh();
            // An error means that no page is open.
            let _ = state.events.send(line.into());
        }
    }
}

/// What happened and was not sent yet: one entry for each session, so it cannot grow without end.
#[derive(Debug, Default)]
struct PendingEvents {
    waiting: BTreeMap<Changed, Kind>,
    /// When the oldest of it must be sent.
    due: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "NewsKind"))]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Found,
    Grew,
    Rewritten,
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Changed {
    session: String,
    agent: bool,
    owner: Option<String>,
}

impl PendingEvents {
    fn add_change(&mut self, change: &FollowEvent, now: Instant) {
        let (kind, file): (Kind, &HistoryFile) = match change {
            FollowEvent::Found { file, .. } | FollowEvent::Moved { file, .. } => {
                (Kind::Found, file)
            }
            FollowEvent::Grew { file, .. } => (Kind::Grew, file),
            FollowEvent::Rewritten { file } => (Kind::Rewritten, file),
            FollowEvent::Gone { file } => (Kind::Gone, file),
            FollowEvent::Ready | FollowEvent::Polling { .. } | FollowEvent::Problem(_) => return,
        };
        let owner = match &file.role {
            FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
            _ => None,
        };
        let changed = Changed {
            session: file.id.clone(),
            agent: file.role.is_agent(),
            owner: owner.cloned(),
        };
        let pending = self.waiting.entry(changed).or_insert(kind);
        // A new file that grows is still a new file; otherwise the last word counts.
        if kind != Kind::Grew {
            *pending = kind;
        }
        self.due.get_or_insert(now + EVENT_DELAY);
    }

    /// Returns all news as JSON, if the oldest of it has waited long enough.
    fn take_due_events(&mut self, now: Instant) -> Option<String> {
        self.due.filter(|due| *due <= now)?;
        self.due = None;
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.len() > MAX_LISTED {
            return Some(MISSED_EVENT.to_owned());
        }
        #[derive(Serialize)]
        struct SentEvent<'a> {
            kind: Kind,
            #[serde(flatten)]
            changed: &'a Changed,
        }
        let sent: Vec<SentEvent<'_>> =
            waiting.iter().map(|(changed, kind)| SentEvent { kind: *kind, changed }).collect();
        serde_json::to_string(&sent).ok()
    }
}

#[cfg(test)]
mod tests {
    use ramus_store::follow::FollowedLines;
    use serde_json::Value;
    use testkit::TestHome;

    use super::*;

    fn session_files(home: &TestHome, count: usize) -> Vec<HistoryFile> {
        let file = |n: usize| {
            let path = home.write_session(&format!("-p/{n:08}.jsonl"), "a user hello");
            HistoryFile::from_path(&path).unwrap()
        };
        (0..count).map(file).collect()
    }

    fn grew_change(file: &HistoryFile) -> FollowEvent {
        FollowEvent::Grew { file: file.clone(), lines: FollowedLines { at: 0, bytes: Vec::new() } }
    }

    #[test]
    fn news_is_sent_although_writing_never_pauses() {
        let home = TestHome::new();
        let files = session_files(&home, 20);
        let (mut news, start) = (PendingEvents::default(), Instant::now());
        let mut heard = [0; 20];
        let mut longest = 0;
        // A thousand appends a second for three seconds.
        for n in 0..3000 {
            let now = start + Duration::from_millis(n);
            news.add_change(&grew_change(&files[n as usize % 20]), now);
            longest = longest.max(news.waiting.len());
            let Some(line) = news.take_due_events(now) else { continue };
            let sent: Vec<Value> = serde_json::from_str(&line).unwrap();
            for one in sent {
                heard[one["session"].as_str().unwrap().parse::<usize>().unwrap()] += 1;
            }
        }
        assert!(heard.iter().all(|heard| *heard >= 15), "five times a second: {heard:?}");
        assert!(longest <= 20, "one entry a session");
        let end = start + Duration::from_secs(4);
        assert!(news.take_due_events(end).is_some(), "the last of it is not forgotten");
        assert!(news.take_due_events(end).is_none());
    }

    #[test]
    fn the_last_word_counts() {
        let home = TestHome::new();
        let file = session_files(&home, 1).remove(0);
        let found = || FollowEvent::Found { file: file.clone(), at: 0 };
        let gone = || FollowEvent::Gone { file: file.clone() };
        for (changes, kind) in [
            (vec![gone(), found(), grew_change(&file)], "found"),
            (vec![found(), gone()], "gone"),
            (vec![grew_change(&file), grew_change(&file)], "grew"),
        ] {
            let (mut news, now) = (PendingEvents::default(), Instant::now());
            changes.iter().for_each(|change| news.add_change(change, now));
            let sent: Value =
                serde_json::from_str(&news.take_due_events(now + EVENT_DELAY).unwrap()).unwrap();
            assert_eq!((&sent[0]["kind"], sent.as_array().unwrap().len()), (&kind.into(), 1));
        }
    }

    #[test]
    fn very_many_changes_are_one() {
        let home = TestHome::new();
        let file = session_files(&home, 1).remove(0);
        let (mut news, now) = (PendingEvents::default(), Instant::now());
        for n in 0..=MAX_LISTED {
            let file = HistoryFile { id: n.to_string(), ..file.clone() };
            news.add_change(&grew_change(&file), now);
        }
        assert_eq!(news.take_due_events(now + EVENT_DELAY).unwrap(), MISSED_EVENT);
    }
}
