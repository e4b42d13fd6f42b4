//! The local server: Claude Code histories in the browser.
//!
//! [`app_router`] is all of it as a value that answers requests; `serve` gives it an
//! address. Every request is checked for its host and origin, and every request for
//! data for the token. Addresses are ids, never paths. Text from a transcript is sent
//! escaped.

mod api;
mod connections;
mod error;
mod guard;
mod path_transcript;
mod serve;
mod token;
mod turn_view;
mod web_files;
mod work_queues;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{any, get};
use tokio::sync::broadcast::Sender;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use api::CachedUsage;
use error::ApiError;
use path_transcript::{PathTranscript, TranscriptCache};
use ramus_app::{PlanKeeper, ResolvedFile, Workspace};
pub use serve::{ListenAddress, ListenOptions, ServeError, serve_history};
pub use token::AccessToken;
use token::OneTimeCodes;
use work_queues::WorkQueues;

/// The state of the server: histories and access.
#[derive(Debug)]
pub struct ServerState {
    pub workspace: Workspace,
    pub token: AccessToken,
    /// The hosts it answers to, such as `127.0.0.1:7468`.
    pub hosts: Vec<String>,
    /// Is called with each refused request, and the reason.
    pub log: fn(&str),
    /// Codes that let a browser in, and tickets for downloads.
    codes: OneTimeCodes,
    queues: WorkQueues,
    events: Sender<Arc<str>>,
    plans: PlanKeeper,
    transcripts: TranscriptCache,
    usage: CachedUsage,
}

/// How many times news may be sent before a page that took none of it has missed some.
const EVENT_BACKLOG: usize = 64;

impl ServerState {
    pub fn new(
        workspace: Workspace,
        token: AccessToken,
        hosts: Vec<String>,
        log: fn(&str),
    ) -> Self {
        let (events, plans) = (Sender::new(EVENT_BACKLOG), PlanKeeper::default());
        let (codes, queues) = (OneTimeCodes::default(), WorkQueues::default());
        let (transcripts, usage) = (TranscriptCache::default(), CachedUsage::default());
        Self { workspace, token, hosts, log, codes, queues, events, plans, transcripts, usage }
    }

    /// Opens the path to a leaf of a session; empty: to where the client would continue.
    fn open_transcript(
        &self,
        found: &ResolvedFile,
        leaf: &str,
    ) -> Result<Arc<PathTranscript>, ApiError> {
        self.transcripts.open_path(&self.workspace, found, leaf)
    }

    /// Returns an address that lets one browser in.
    pub fn new_address(&self) -> Result<String, getrandom::Error> {
        Ok(self.address_with(&self.codes.issue_code("", None)?))
    }

    fn address_with(&self, code: &AccessToken) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        format!("http://{host}/?token={}", code.as_str())
    }
}

/// No request needs more; nothing large is ever sent to us.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the server as a value that answers requests.
pub fn app_router(state: Arc<ServerState>) -> Router {
    let timed = api::timed_routes()
        .layer(middleware::from_fn(api::add_etag))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, ANSWER_TIMEOUT));
    Router::new()
        .nest(
            "/api",
            timed
                .merge(api::stream_routes())
                .route("/", any(api::unknown_endpoint))
                .route("/{*rest}", any(api::unknown_endpoint)),
        )
        .route("/", get(web_files::get_index))
        .route("/{*path}", get(web_files::get_web_file))
        .layer(CompressionLayer::new())
        .layer(RequestBodyLimitLayer::new(MAX_BODY_BYTES))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn_with_state(state.clone(), guard::check_request))
        .layer(middleware::from_fn(web_files::add_headers))
        .with_state(state)
}
