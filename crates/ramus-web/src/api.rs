//! What the page asks for, as JSON; one file for each kind of thing.

mod act;
mod diff;
mod enter;
mod events;
mod export;
mod files;
mod find;
mod list;
mod resume;
mod session;
mod stats;
mod turns;
mod usage;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use ramus_render::sanitize::is_bidi;
use serde::Serialize;
use tokio::sync::mpsc::channel;
use tokio_stream::wrappers::ReceiverStream;
use xxhash_rust::xxh3::xxh3_64;

use crate::State;
use crate::error::ApiError;
use crate::work::Task;

pub(crate) use events::follow_files;
pub(crate) use usage::LastUsage;

type Answered<T> = Result<Json<T>, ApiError>;

/// What is answered at once.
pub(crate) fn timed() -> Router<Arc<State>> {
    Router::new()
        .route("/enter", post(enter::enter))
        .route("/ticket", post(enter::ticket))
        .route("/ping", get(enter::ping))
        .route("/overview", get(list::overview))
        .route("/projects", get(list::projects))
        .route("/sessions", get(list::sessions))
        .route("/gone", get(list::gone))
        .route("/stats", get(stats::stats))
        .route("/usage", get(usage::usage))
        .route("/log", get(act::log))
        .route("/plan", post(act::plan))
        .route("/apply", post(act::apply))
        .route("/diff", get(diff::diff))
        .route("/sessions/{id}", get(session::session))
        .route("/sessions/{id}/conversations", get(session::conversations))
        .route("/sessions/{id}/tree", get(session::tree))
        .route("/sessions/{id}/outline", get(session::outline))
        .route("/sessions/{id}/lineage", get(session::lineage))
        .route("/sessions/{id}/path", get(turns::path))
        .route("/sessions/{id}/turns", get(turns::turns))
        .route("/sessions/{id}/next", get(turns::next))
        .route("/sessions/{id}/holds", get(turns::holds))
        .route("/sessions/{id}/turn", get(turns::turn))
        .route("/sessions/{id}/call", get(turns::call))
        .route("/sessions/{id}/resume", get(resume::resume))
        .route("/sessions/{id}/files", get(files::files))
        .route("/sessions/{id}/file", get(files::file))
        .route("/sessions/{id}/picture", get(turns::picture))
}

/// What comes bit by bit.
pub(crate) fn streams() -> Router<Arc<State>> {
    Router::new()
        .route("/events", get(events::events))
        .route("/find", get(find::find))
        .route("/sessions/{id}/export", get(export::export))
}

pub(crate) async fn unknown() -> ApiError {
    ApiError::not_found("thing to ask for")
}

/// Does work that reads files away from the threads that talk, in the queue of its kind.
async fn work<T: Send + 'static>(
    state: Arc<State>,
    task: Task,
    work: impl FnOnce(&State) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let worker = state.clone();
    state.queues.run(task, move || work(&worker)).await?
}

/// The same, as JSON.
async fn answer<T: Serialize + Send + 'static>(
    state: Arc<State>,
    task: Task,
    make: impl FnOnce(&State) -> Result<T, ApiError> + Send + 'static,
) -> Answered<T> {
    work(state, task, make).await.map(Json)
}

/// Sends what `step` makes, piece by piece as the reader takes it: a slow reader holds no thread.
fn pieces<W: Send + 'static>(
    state: Arc<State>,
    task: Task,
    mut worker: W,
    step: fn(&mut W) -> std::io::Result<Option<Bytes>>,
) -> Body {
    let (sender, receiver) = channel::<std::io::Result<Bytes>>(1);
    tokio::spawn(async move {
        loop {
            let work = state.queues.run(task, move || {
                let made = step(&mut worker);
                (worker, made)
            });
            let made = tokio::select! {
                made = work => made,
                () = sender.closed() => return,
            };
            // The reader shall not take half an answer for a whole one.
            let failed = |error: &'static str| Err(std::io::Error::other(error));
            let piece = match made {
                Ok((_, Ok(None))) => return,
                Ok((back, Ok(Some(piece)))) => {
                    worker = back;
                    Ok(piece)
                }
                Ok((_, Err(error))) => return drop(sender.send(Err(error)).await),
                Err(_) => return drop(sender.send(failed("the server is too busy")).await),
            };
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

/// Takes out what turns the direction of reading round, as the terminal does; `None`: there is nothing.
fn unturned(json: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(0xe2, json)?;
    let text = std::str::from_utf8(json).ok()?;
    text.contains(is_bidi).then(|| text.replace(is_bidi, "").into_bytes())
}

/// Answers are marked with what they say, and not sent again to who has them.
pub(crate) async fn tagged(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let (mut parts, body) = next.run(request).await.into_parts();
    if parts.status != StatusCode::OK {
        return Response::from_parts(parts, body);
    }
    let Ok(mut bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let is_json =
        parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if let Some(clean) = unturned(&bytes).filter(|_| is_json) {
        parts.headers.remove(header::CONTENT_LENGTH);
        bytes = clean.into();
    }
    let tag = format!("W/\"{:016x}\"", xxh3_64(&bytes));
    let Ok(tag) = HeaderValue::from_str(&tag) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    let is_known = known.is_some_and(|known| known == tag);
    parts.headers.insert(header::ETAG, tag);
    // Kept by the browser, asked for each time.
    parts.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

#[cfg(test)]
mod tests {
    mod types;

    use std::sync::mpsc;

    use ramus_app::Workspace;
    use ramus_core::resume::Rule;
    use ramus_store::place::Place;
    use testkit::Home;
    use tokio_stream::StreamExt as _;

    use super::*;
    use crate::Token;

    fn state(home: &Home) -> Arc<State> {
        home.session("-p/0a1b2c3d.jsonl", "a user hello");
        let own = ramus_store::State::new(home.path().join("state"));
        let place = Place::open(vec![home.claude()]).unwrap();
        let workspace = Workspace::for_serving(place, Rule::Client, own);
        Arc::new(State::new(workspace, Token::new("teapot"), Vec::new(), |_| {}))
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_holds_no_thread_and_gets_no_more_than_a_few_pieces() {
        let home = Home::new();
        let state = state(&home);
        let (made, count) = mpsc::channel();
        let step = |made: &mut mpsc::Sender<()>| {
            let _ = made.send(());
            Ok(Some(Bytes::from_static(b"piece")))
        };
        let bodies: Vec<Body> =
            (0..20).map(|_| pieces(state.clone(), Task::Exports, made.clone(), step)).collect();
        // Others that write the same kind of thing get their turn.
        assert!(work(state.clone(), Task::Exports, |_| Ok(())).await.is_ok());
        let mut stream = bodies.into_iter().next_back().unwrap().into_data_stream();
        for _ in 0..100 {
            assert_eq!(stream.next().await.unwrap().unwrap(), "piece");
        }
        drop(stream);
        assert!(count.try_iter().count() < 100 + 20 * 4, "nothing is made that nobody takes");
    }
}
