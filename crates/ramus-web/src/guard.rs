//! Access control: only the web app of this server may send requests.
//!
//! A foreign page can make a browser send requests here, and a foreign name can be
//! made to mean this machine. So the host must be ours (DNS rebinding), the origin
//! ours or none (cross-site requests), and every request for data must have the
//! token in a header. The web app itself contains no history. It is sent to any
//! client, and explains what to do without a token.

use std::sync::Arc;

use axum::extract::{Request, State as Extract};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::ServerState;
use crate::connections::Peer;
use crate::error::ApiError;

/// Lets a request through or refuses it.
pub(crate) async fn check_request(
    Extract(state): Extract<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(why) = request_refusal(&state, &request) {
        // A path may contain terminal control sequences.
        let path: String = request.uri().path().escape_default().take(200).collect();
        (state.log)(&format!("refused {} {path}: {why}", request.method()));
        let status = match why {
            RequestRefusal::NoToken => StatusCode::UNAUTHORIZED,
            _ => StatusCode::FORBIDDEN,
        };
        let accepted = single_header(request.headers(), header::ACCEPT);
        return match accepted.is_some_and(|accepted| accepted.contains("text/html")) {
            // A person opened this in a browser and reads the answer.
            true => (status, Html(refusal_html(why))).into_response(),
            false => ApiError::new(status, why.to_string(), why.refusal_hint()).into_response(),
        };
    }
    if needs_token(request.uri())
        && let Some(peer) = request.extensions().get::<Arc<Peer>>()
    {
        peer.mark_trusted();
    }
    next.run(request).await
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum RequestRefusal {
    #[error("the request is for another host")]
    Host,
    #[error("the request comes from another site")]
    Origin,
    #[error("the access token is missing or no longer valid")]
    NoToken,
    #[error("the address contains `..`")]
    Path,
    #[error("only GET and POST are allowed")]
    Method,
}

impl RequestRefusal {
    fn refusal_hint(self) -> &'static str {
        "open the last address that `ramus serve` printed"
    }
}

fn refusal_html(why: RequestRefusal) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>ramus</title>\
        <h1>Request refused</h1><p>Reason: {why}.</p><p>What to do: {}.</p></html>",
        why.refusal_hint(),
    )
}

/// The path at which a code is exchanged for the token.
pub(crate) const ENTER: &str = "/api/enter";

fn needs_token(uri: &Uri) -> bool {
    uri.path() == "/api" || uri.path().starts_with("/api/") && uri.path() != ENTER
}

fn request_refusal(state: &ServerState, request: &Request) -> Option<RequestRefusal> {
    let headers = request.headers();
    let host = single_header(headers, header::HOST);
    if !host.is_some_and(|host| state.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))) {
        return Some(RequestRefusal::Host);
    }
    if is_foreign(state, headers, request.method()) {
        return Some(RequestRefusal::Origin);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        return Some(RequestRefusal::Method);
    }
    let uri = request.uri();
    let plain = uri.path().to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    if plain.replace(['\\', '/'], "/").split('/').any(|part| part == "..") || plain.contains("%5c")
    {
        return Some(RequestRefusal::Path);
    }
    if !needs_token(uri) {
        return None;
    }
    let may = match bearer_token(headers) {
        Some(word) => state.token.matches_token(word),
        None => *request.method() == Method::GET && has_ticket(state, uri),
    };
    (!may).then_some(RequestRefusal::NoToken)
}

/// Returns the token that a request sends along.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    single_header(headers, header::AUTHORIZATION)?.strip_prefix("Bearer ")
}

/// Uses up the ticket in an address: a download cannot send a header.
fn has_ticket(state: &ServerState, uri: &Uri) -> bool {
    let Some((query, ticket)) = uri.query().and_then(|query| query.rsplit_once("ticket=")) else {
        return false;
    };
    let opens = format!("{}?{}", uri.path(), query.trim_end_matches('&'));
    state.codes.redeem_code(ticket, opens.trim_end_matches('?'))
}

/// Whether a request was made by a page of another site.
///
/// Browsers name the origin of every request that could change something; a
/// program without an origin has to know the token anyway.
fn is_foreign(state: &ServerState, headers: &HeaderMap, method: &Method) -> bool {
    let is_ours = |origin: &str| {
        let host = origin.strip_prefix("http://").unwrap_or_default();
        state.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    };
    if headers.contains_key(header::ORIGIN) {
        return !single_header(headers, header::ORIGIN).is_some_and(is_ours);
    }
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    match site {
        None | Some("same-origin" | "none") => false,
        // Following a link to the web app is fine; embedding it in another site is not.
        Some(_) => {
            let mode = headers.get("sec-fetch-mode").and_then(|mode| mode.to_str().ok());
            !(method == Method::GET && mode == Some("navigate"))
        }
    }
}

/// Returns a header that is there exactly once.
fn single_header(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}
