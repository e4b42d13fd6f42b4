//! News: what happens to history files, sent to every open page.
//!
//! News only says which session changed; pages ask for the rest. So what changes
//! many times within a moment is sent once, and a page that was too slow is told
//! to ask for everything again instead of getting all that it missed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use axum::extract::State as Extract;
use axum::response::sse::{Event, KeepAlive, Sse};
use ramus_store::follow::{Change, FollowConfig, follow};
use ramus_store::place::{FileRole, HistoryFile};
use serde::Serialize;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::{Stream, StreamExt as _};

use crate::State;

/// How old news may get before it is sent. Whatever else happens meanwhile is sent along, so each
/// session is heard of up to ten times a second, however many are written to.
const AGE: Duration = Duration::from_millis(100);
/// More sessions than this are not listed: pages ask for everything.
const LISTED: usize = 500;
/// Sent to a page that has missed something, and to every page when it begins to listen.
const MISSED: &str = r#"[{"kind":"missed"}]"#;

pub(crate) async fn events(
    Extract(state): Extract<Arc<State>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = BroadcastStream::new(state.news.subscribe());
    // What happened since the page asked for what it shows, and before it listened, is missed too.
    let missed = tokio_stream::once(MISSED.into());
    let news = missed.chain(news.map(|line| line.unwrap_or_else(|_lagged| MISSED.into())));
    let events = news.map(|line: Arc<str>| Ok(Event::default().data(&*line)));
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// Follows all files and sends what happens to them.
pub(crate) fn follow_files(state: &State) {
    let roots = state.workspace.roots().to_vec();
    let changes = match follow(roots, &FollowConfig::default()) {
        Ok(changes) => changes,
        Err(error) => {
            return (state.log)(&format!("pages are not updated by themselves: {error}"));
        }
    };
    let mut started = false;
    let mut news = News::default();
    loop {
        let now = Instant::now();
        let change = match news.due {
            None => changes.recv().ok_or(RecvTimeoutError::Disconnected),
            Some(due) => changes.recv_timeout(due.saturating_duration_since(now)),
        };
        match change {
            Ok(Change::Ready) => started = true,
            Ok(change) if started => news.add(&change, Instant::now()),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(line) = news.take_due(Instant::now()) {
            // Whoever hears it asks at once, and shall not get what was true before.
            state.workspace.refresh();
            // An error says that no page is open.
            let _ = state.news.send(line.into());
        }
    }
}

/// What happened and was not sent yet: one entry for each session, so it cannot grow without end.
#[derive(Debug, Default)]
struct News {
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

impl News {
    fn add(&mut self, change: &Change, now: Instant) {
        let (kind, file): (Kind, &HistoryFile) = match change {
            Change::Found { file, .. } | Change::Moved { file, .. } => (Kind::Found, file),
            Change::Grew { file, .. } => (Kind::Grew, file),
            Change::Rewritten { file } => (Kind::Rewritten, file),
            Change::Gone { file } => (Kind::Gone, file),
            Change::Ready | Change::Polling { .. } | Change::Problem(_) => return,
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
        let told = self.waiting.entry(changed).or_insert(kind);
        // A new file that grows is still a new file; otherwise the last word counts.
        if kind != Kind::Grew {
            *told = kind;
        }
        self.due.get_or_insert(now + AGE);
    }

    /// Returns all news as JSON, if the oldest of it has waited long enough.
    fn take_due(&mut self, now: Instant) -> Option<String> {
        self.due.filter(|due| *due <= now)?;
        self.due = None;
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.len() > LISTED {
            return Some(MISSED.to_owned());
        }
        #[derive(Serialize)]
        struct Told<'a> {
            kind: Kind,
            #[serde(flatten)]
            changed: &'a Changed,
        }
        let told: Vec<Told<'_>> =
            waiting.iter().map(|(changed, kind)| Told { kind: *kind, changed }).collect();
        serde_json::to_string(&told).ok()
    }
}

#[cfg(test)]
mod tests {
    use ramus_store::follow::Lines;
    use serde_json::Value;
    use testkit::Home;

    use super::*;

    fn files(home: &Home, count: usize) -> Vec<HistoryFile> {
        let file = |n: usize| {
            let path = home.session(&format!("-p/{n:08}.jsonl"), "a user hello");
            HistoryFile::at(&path).unwrap()
        };
        (0..count).map(file).collect()
    }

    fn grew(file: &HistoryFile) -> Change {
        Change::Grew { file: file.clone(), lines: Lines { at: 0, bytes: Vec::new() } }
    }

    #[test]
    fn news_is_sent_although_writing_never_pauses() {
        let home = Home::new();
        let files = files(&home, 20);
        let (mut news, start) = (News::default(), Instant::now());
        let mut heard = [0; 20];
        let mut longest = 0;
        // A thousand appends a second for three seconds.
        for n in 0..3000 {
            let now = start + Duration::from_millis(n);
            news.add(&grew(&files[n as usize % 20]), now);
            longest = longest.max(news.waiting.len());
            let Some(line) = news.take_due(now) else { continue };
            let told: Vec<Value> = serde_json::from_str(&line).unwrap();
            for one in told {
                heard[one["session"].as_str().unwrap().parse::<usize>().unwrap()] += 1;
            }
        }
        assert!(heard.iter().all(|heard| *heard >= 15), "five times a second: {heard:?}");
        assert!(longest <= 20, "one entry a session");
        let end = start + Duration::from_secs(4);
        assert!(news.take_due(end).is_some(), "the last of it is not forgotten");
        assert!(news.take_due(end).is_none());
    }

    #[test]
    fn the_last_word_counts() {
        let home = Home::new();
        let file = files(&home, 1).remove(0);
        let found = || Change::Found { file: file.clone(), at: 0 };
        let gone = || Change::Gone { file: file.clone() };
        for (changes, kind) in [
            (vec![gone(), found(), grew(&file)], "found"),
            (vec![found(), gone()], "gone"),
            (vec![grew(&file), grew(&file)], "grew"),
        ] {
            let (mut news, now) = (News::default(), Instant::now());
            changes.iter().for_each(|change| news.add(change, now));
            let told: Value = serde_json::from_str(&news.take_due(now + AGE).unwrap()).unwrap();
            assert_eq!((&told[0]["kind"], told.as_array().unwrap().len()), (&kind.into(), 1));
        }
    }

    #[test]
    fn very_many_changes_are_one() {
        let home = Home::new();
        let file = files(&home, 1).remove(0);
        let (mut news, now) = (News::default(), Instant::now());
        for n in 0..=LISTED {
            let file = HistoryFile { id: n.to_string(), ..file.clone() };
            news.add(&grew(&file), now);
        }
        assert_eq!(news.take_due(now + AGE).unwrap(), MISSED);
    }
}
