//! The local server: Claude Code histories in the browser.
//!
//! [`app`] is all of it as a value that answers requests; `serve` gives it an
//! address. Whoever asks must come from this machine's own page: every request is
//! checked for its host and its origin, and every request for data for the token.
//! Addresses are ids, never paths. What a transcript says is sent as escaped text.

mod api;
mod connections;
mod error;
mod guard;
mod page;
mod serve;
mod token;
mod transcript;
mod view;
mod work;

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

use api::LastUsage;
use error::ApiError;
use ramus_app::{PlanKeeper, ResolvedFile, Workspace};
pub use serve::{Listen, Listening, ServeError, serve};
use token::Codes;
pub use token::Token;
use transcript::{Transcript, Transcripts};
use work::Queues;

/// What the server knows: the histories, and who may ask.
#[derive(Debug)]
pub struct State {
    pub workspace: Workspace,
    pub token: Token,
    /// The hosts it answers to, such as `127.0.0.1:7468`.
    pub hosts: Vec<String>,
    /// Hears what was refused, and why.
    pub log: fn(&str),
    /// Codes that let a browser in, and tickets for downloads.
    codes: Codes,
    queues: Queues,
    news: Sender<Arc<str>>,
    plans: PlanKeeper,
    transcripts: Transcripts,
    usage: LastUsage,
}

/// How many times news may be sent before a page that took none of it has missed some.
const NEWS: usize = 64;

impl State {
    pub fn new(workspace: Workspace, token: Token, hosts: Vec<String>, log: fn(&str)) -> Self {
        let (news, plans) = (Sender::new(NEWS), PlanKeeper::default());
        let (codes, queues) = (Codes::default(), Queues::default());
        let (transcripts, usage) = (Transcripts::default(), LastUsage::default());
        Self { workspace, token, hosts, log, codes, queues, news, plans, transcripts, usage }
    }

    /// Opens the path to a leaf of a session; empty: to where the client would continue.
    fn transcript(&self, found: &ResolvedFile, leaf: &str) -> Result<Arc<Transcript>, ApiError> {
        self.transcripts.open(&self.workspace, found, leaf)
    }

    /// Returns an address that lets one browser in.
    pub fn new_address(&self) -> Result<String, getrandom::Error> {
        Ok(self.address_with(&self.codes.issue("", None)?))
    }

    fn address_with(&self, code: &Token) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        format!("http://{host}/?token={}", code.word())
    }
}

/// No request needs more; nothing large is ever sent to us.
const BODY: usize = 64 * 1024;
/// How long an answer may take.
const TIME: Duration = Duration::from_secs(60);

/// Returns the server as a value that answers requests.
pub fn app(state: Arc<State>) -> Router {
    let timed = api::timed()
        .layer(middleware::from_fn(api::tagged))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, TIME));
    Router::new()
        .nest(
            "/api",
            timed
                .merge(api::streams())
                .route("/", any(api::unknown))
                .route("/{*rest}", any(api::unknown)),
        )
        .route("/", get(page::index))
        .route("/{*path}", get(page::file))
        .layer(CompressionLayer::new())
        .layer(RequestBodyLimitLayer::new(BODY))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(state.clone(), guard::check))
        .layer(middleware::from_fn(page::headers))
        .with_state(state)
}
