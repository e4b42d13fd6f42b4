//! Who may ask: the page of this start, and nobody else.
//!
//! A foreign page can make a browser send requests here, and a foreign name can be
//! made to mean this machine. So the host must be ours (DNS rebinding), the origin
//! ours or none (cross-site requests), and the token that of this start.

use std::sync::Arc;

use axum::extract::{Request, State as Extract};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use crate::State;
use crate::error::ApiError;

const COOKIE: &str = "ramus";

/// Lets a request through or refuses it.
pub(crate) async fn check(
    Extract(state): Extract<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(why) = refusal(&state, &request) {
        // A path may hold what a terminal understands.
        let path: String = request.uri().path().escape_default().take(200).collect();
        (state.log)(&format!("refused {} {path}: {why}", request.method()));
        let status = match why {
            Refusal::NoToken => StatusCode::UNAUTHORIZED,
            _ => StatusCode::FORBIDDEN,
        };
        let accepted = one(request.headers(), header::ACCEPT);
        return match accepted.is_some_and(|accepted| accepted.contains("text/html")) {
            // Somebody opened this in a browser and reads the answer.
            true => (status, format!("ramus: {why}\n{}\n", why.hint())).into_response(),
            false => ApiError::new(status, why.to_string(), why.hint()).into_response(),
        };
    }
    match request.uri().query().and_then(token_of) {
        // The token goes from the address, which is seen and kept, into a cookie.
        Some(_) if !request.uri().path().starts_with("/api/") => {
            let (name, word) = (cookie_name(request.headers()), state.token.word());
            let cookie = format!("{name}={word}; Path=/; HttpOnly; SameSite=Strict");
            let to = format!("/{}", request.uri().path().trim_start_matches('/'));
            ([(header::SET_COOKIE, cookie)], Redirect::to(&to)).into_response()
        }
        _ => next.run(request).await,
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Refusal {
    #[error("the request is for another host")]
    Host,
    #[error("the request comes from another site")]
    Origin,
    #[error("the token of this start is missing")]
    NoToken,
    #[error("the address holds `..`")]
    Path,
    #[error("only reading and asked-for actions are answered")]
    Method,
}

impl Refusal {
    fn hint(self) -> &'static str {
        match self {
            Self::NoToken => "open the address that `ramus serve` printed",
            _ => "open the page by the address that `ramus serve` printed",
        }
    }
}

fn refusal(state: &State, request: &Request) -> Option<Refusal> {
    let headers = request.headers();
    let host = one(headers, header::HOST);
    if !host.is_some_and(|host| state.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))) {
        return Some(Refusal::Host);
    }
    if is_foreign(state, headers, request.method()) {
        return Some(Refusal::Origin);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        return Some(Refusal::Method);
    }
    let uri = request.uri();
    let plain = uri.path().to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/");
    if plain.replace(['\\', '/'], "/").split('/').any(|part| part == "..") || plain.contains("%5c")
    {
        return Some(Refusal::Path);
    }
    let mut given = uri.query().and_then(token_of).into_iter().chain(cookie(headers));
    (!given.any(|word| state.token.is(word))).then_some(Refusal::NoToken)
}

/// Whether a request was made by a page of another site.
///
/// Browsers name the origin of every request that could change something; a
/// program without an origin has to know the token anyway.
fn is_foreign(state: &State, headers: &HeaderMap, method: &Method) -> bool {
    let is_ours = |origin: &str| {
        let host = origin.strip_prefix("http://").unwrap_or_default();
        state.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
    };
    if headers.contains_key(header::ORIGIN) {
        return !one(headers, header::ORIGIN).is_some_and(is_ours);
    }
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    match site {
        None | Some("same-origin" | "none") => false,
        // Following a link to the page is fine; being a part of another page is not.
        Some(_) => {
            let mode = headers.get("sec-fetch-mode").and_then(|mode| mode.to_str().ok());
            !(method == Method::GET && mode == Some("navigate"))
        }
    }
}

/// Returns a header that is there exactly once.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

fn token_of(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Returns the name of our cookie: cookies do not know ports, and several of us may run at once.
fn cookie_name(headers: &HeaderMap) -> String {
    let port = one(headers, header::HOST).and_then(|host| host.rsplit_once(':'));
    format!("{COOKIE}-{}", port.map_or("80", |(_, port)| port))
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(headers);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(&*name)?.strip_prefix('='))
}
