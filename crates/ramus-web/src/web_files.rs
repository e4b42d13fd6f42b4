//! The embedded files of the web app, and the headers of every answer.

use axum::body::Body;
use axum::extract::{Path, Request};
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use rust_embed::EmbeddedFile;

use self::embedded::WebFiles;

#[allow(
    clippy::disallowed_methods,
    reason = "in debug builds the derived code looks at its own folder"
)]
mod embedded {
    use rust_embed::RustEmbed;

    /// Made from `web/src` by `npm run build` and committed, so that building this needs no other tools.
    #[derive(RustEmbed)]
    #[folder = "dist"]
    pub(super) struct WebFiles;
}

/// Only our script runs, nothing is loaded from elsewhere, and no other site can embed the web app.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ramus";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), clipboard-write=(self)",
    ),
];

/// Puts the headers on every answer, refusals too.
pub(crate) async fn add_headers(request: Request, next: Next) -> impl IntoResponse {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let missing = !response.headers().contains_key(header::CACHE_CONTROL);
    if missing {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

pub(crate) async fn get_index(request: Request) -> Response<Body> {
    send_file("index.html", &request)
}

/// Sends a file of the web app. Any other path is a view, which the web app resolves.
pub(crate) async fn get_web_file(Path(path): Path<String>, request: Request) -> Response<Body> {
    if path.starts_with("assets/") {
        send_file(&path, &request)
    } else {
        send_file("index.html", &request)
    }
}

fn send_file(path: &str, request: &Request) -> Response<Body> {
    let Some(EmbeddedFile { data, metadata }) = WebFiles::get(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let hash: String =
        metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("W/\"{hash}\"");
    // The names of assets change with their content.
    let cache =
        if path.starts_with("assets/") { "max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, content_type(path).to_owned()),
        (header::CACHE_CONTROL, cache.to_owned()),
        (header::ETAG, tag.clone()),
    ];
    let known = request.headers().get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known == Some(&*tag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, data.into_owned()).into_response()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("webmanifest" | "json") => "application/json",
        _ => "application/octet-stream",
    }
}
