//! The JSON API of the web app, one file for each kind of request.

mod act;
mod annotations;
mod archive;
mod diff;
mod enter;
mod events;
mod exchanges;
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

use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

pub(crate) use events::forward_changes;
pub(crate) use usage::CachedUsage;

type ApiResult<T> = Result<Json<T>, ApiError>;

/// What is answered at once.
pub(crate) fn timed_routes() -> Router<Arc<ServerState>> {
    Router::new()
        .route("/enter", post(enter::exchange_code))
        .route("/ticket", post(enter::post_ticket))
        .route("/ping", get(enter::get_ping))
        .route("/overview", get(list::get_overview))
        .route("/projects", get(list::get_projects))
        .route("/sessions", get(list::get_sessions))
        .route("/gone", get(list::get_deleted_sessions))
        .route("/stats", get(stats::get_stats))
        .route("/usage", get(usage::get_usage))
        .route("/usage/daily", get(usage::get_daily_usage))
        .route("/sessions/{id}/usage", get(usage::get_session_usage))
        .route("/annotations", get(annotations::get_annotations))
        .route("/log", get(act::get_log))
        .route("/archive", get(archive::get_archiving))
        .route("/plan", post(act::post_plan))
        .route("/apply", post(act::post_apply))
        .route("/diff", get(diff::get_diff))
        .route("/sessions/{id}", get(session::get_session))
        .route(
            "/sessions/{id}/annotations",
            get(annotations::get_session_annotations).post(annotations::post_annotation),
        )
        .route("/sessions/{id}/conversations", get(session::get_conversations))
        .route("/sessions/{id}/tree", get(session::get_tree))
        .route("/sessions/{id}/outline", get(session::get_outline))
        .route("/sessions/{id}/lineage", get(session::get_lineage))
        .route("/sessions/{id}/exchanges", get(exchanges::get_exchanges))
        .route("/sessions/{id}/agent-spans", get(exchanges::get_agent_spans))
        .route("/sessions/{id}/text", get(turns::get_text))
        .route("/sessions/{id}/path", get(turns::get_path))
        .route("/sessions/{id}/turns", get(turns::get_turns))
        .route("/sessions/{id}/next", get(turns::next_failure))
        .route("/sessions/{id}/holds", get(turns::matching_parts))
        .route("/sessions/{id}/turn", get(turns::get_turn))
        .route("/sessions/{id}/call", get(turns::get_call))
        .route("/sessions/{id}/resume", get(resume::get_resume))
        .route("/sessions/{id}/files", get(files::get_files))
        .route("/sessions/{id}/file", get(files::get_file))
        .route("/sessions/{id}/picture", get(turns::get_picture))
}

/// What comes bit by bit, or takes its time.
pub(crate) fn stream_routes() -> Router<Arc<ServerState>> {
    Router::new()
        .route("/events", get(events::get_events))
        .route("/find", get(find::get_find))
        .route("/archive/add", post(archive::post_archive))
        .route("/sessions/{id}/export", get(export::get_export))
}

pub(crate) async fn unknown_endpoint() -> ApiError {
    ApiError::not_found("endpoint")
}

/// Does work that reads files away from the threads that talk, in the queue of its kind.
async fn run_work<T: Send + 'static>(
    state: Arc<ServerState>,
    task: TaskKind,
    work: impl FnOnce(&ServerState) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let worker = state.clone();
    state.queues.run(task, move || work(&worker)).await?
}

/// The same, as JSON.
async fn answer_json<T: Serialize + Send + 'static>(
    state: Arc<ServerState>,
    task: TaskKind,
    make: impl FnOnce(&ServerState) -> Result<T, ApiError> + Send + 'static,
) -> ApiResult<T> {
    run_work(state, task, make).await.map(Json)
}

/// Sends what `step` produces as fast as the reader takes it, so that a slow reader holds no thread.
fn stream_pieces<W: Send + 'static>(
    state: Arc<ServerState>,
    task: TaskKind,
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
            // The reader must not take an incomplete answer for a complete one.
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
fn strip_bidi(json: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(0xe2, json)?;
    let text = std::str::from_utf8(json).ok()?;
    text.contains(is_bidi).then(|| text.replace(is_bidi, "").into_bytes())
}

/// Answers have an ETag and are not sent again to a client that has them.
pub(crate) async fn add_etag(request: Request, next: Next) -> Response {
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
    if let Some(clean) = strip_bidi(&bytes).filter(|_| is_json) {
        parts.headers.remove(header::CONTENT_LENGTH);
        bytes = clean.into();
    }
    let tag = format!("W/\"{:016x}\"", xxh3_64(&bytes));
    let Ok(tag) = HeaderValue::from_str(&tag) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    let is_known = known.is_some_and(|known| known == tag);
    parts.headers.insert(header::ETAG, tag);
    // Cached by the browser, revalidated each time.
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
    mod words;

    use std::sync::mpsc;

    use ramus_app::Workspace;
    use ramus_core::resume::ResumeRule;
    use ramus_store::claude_dir::ClaudeDirs;
    use testkit::TestHome;
    use tokio_stream::StreamExt as _;

    use super::*;
    use crate::AccessToken;

    fn test_state(home: &TestHome) -> Arc<ServerState> {
        home.write_session("-p/0a1b2c3d.jsonl", "a user hello");
        let own = ramus_store::StateDir::new(home.path().join("state"));
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let workspace = Workspace::for_serving(place, ResumeRule::Client, own);
        Arc::new(ServerState::new(workspace, AccessToken::new("teapot"), Vec::new(), |_| {}))
    }

    #[tokio::test]
    async fn a_reader_that_takes_nothing_holds_no_thread_and_gets_no_more_than_a_few_pieces() {
        let home = TestHome::new();
        let state = test_state(&home);
        let (made, count) = mpsc::channel();
        let step = |made: &mut mpsc::Sender<()>| {
            let _ = made.send(());
            Ok(Some(Bytes::from_static(b"piece")))
        };
        let bodies: Vec<Body> = (0..20)
            .map(|_| stream_pieces(state.clone(), TaskKind::Exports, made.clone(), step))
            .collect();
        // Others that write the same kind of thing get their turn.
        assert!(run_work(state.clone(), TaskKind::Exports, |_| Ok(())).await.is_ok());
        let mut stream = bodies.into_iter().next_back().unwrap().into_data_stream();
        for _ in 0..100 {
            assert_eq!(stream.next().await.unwrap().unwrap(), "piece");
        }
        drop(stream);
        assert!(count.try_iter().count() < 100 + 20 * 4, "nothing is made that nobody takes");
    }
}
