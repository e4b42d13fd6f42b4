//! Whatever the page asks for: every request is answered, answers of data are JSON, and no history changes.
#![no_main]

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use libfuzzer_sys::fuzz_target;
use ramus_app::Workspace;
use ramus_core::resume::ResumeRule;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_web::{AccessToken, ServerState, app_router};
use tokio::runtime::Runtime;
use tower::ServiceExt;

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";

/// `*` stands for the address of a session. `/events` never ends.
const ROUTES: &[&str] = &[
    "overview",
    "projects",
    "sessions",
    "stats",
    "usage",
    "log",
    "diff",
    "sessions/*",
    "sessions/*/conversations",
    "sessions/*/tree",
    "sessions/*/outline",
    "sessions/*/path",
    "sessions/*/turns",
    "sessions/*/next",
    "sessions/*/holds",
    "sessions/*/turn",
    "sessions/*/call",
    "sessions/*/files",
    "sessions/*/file",
    "sessions/*/picture",
    "sessions/*/export",
    "find",
];

/// The names of all parameters.
const NAMES: &[&str] = &[
    "leaf", "node", "from", "to", "at", "i", "n", "whole", "back", "text", "project", "format", "path",
    "than", "a", "a_leaf", "b", "b_leaf", "q", "regex", "session", "role", "tool", "branch", "since",
    "until", "limit", "cursor", "file", "context", "tools", "thinking", "redact",
];

/// What is asked for by `POST`, with a body.
const ACTIONS: &[&str] = &["plan", "apply", "enter", "ticket"];

const SESSION: &str = concat!(
    r#"{"parentUuid":null,"isSidechain":false,"cwd":"/home/dev/app","sessionId":"s","version":"2.1.325","type":"user","message":{"role":"user","content":"tune the harp"},"uuid":"a","timestamp":"2026-01-01T00:00:00.000Z"}"#,
    "\n",
    r#"{"parentUuid":"a","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"é **which** one"},{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/home/dev/app/x","content":"1\n2\n"}}],"usage":{"input_tokens":1,"output_tokens":2}},"uuid":"b","timestamp":"2026-01-01T00:00:01.000Z"}"#,
    "\n",
    r#"{"parentUuid":"b","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"done"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]},"toolUseResult":{"type":"create","filePath":"/home/dev/app/x","content":"1\n2\n","structuredPatch":[]},"uuid":"c","timestamp":"2026-01-01T00:00:02.000Z"}"#,
    "\n",
    r#"{"parentUuid":"c","isSidechain":false,"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"tuned"}]},"uuid":"d","timestamp":"2026-01-01T00:00:03.000Z"}"#,
    "\n",
    r#"{"parentUuid":"a","isSidechain":false,"type":"assistant","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"no"}]},"uuid":"e","timestamp":"2026-01-01T00:00:04.000Z"}"#,
    "\n",
);

struct Known {
    runtime: Runtime,
    state: Arc<ServerState>,
    session: PathBuf,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let home = std::env::temp_dir().join(format!("ramus-fuzz-page-{}", std::process::id()));
        let claude = home.join("claude");
        let project = claude.join("projects/-home-dev-app");
        std::fs::create_dir_all(&project).expect("because there is a scratch directory");
        let session = project.join(format!("{ID}.jsonl"));
        std::fs::write(&session, SESSION).expect("because the directory was just made");
        let place = ClaudeDirs::open(vec![claude]).expect("because it was just made");
        let own = ramus_store::StateDir::new(home.join("state"));
        let workspace = Workspace::for_serving(place, ResumeRule::Client, own);
        let hosts = vec!["h:1".to_owned()];
        let state = Arc::new(ServerState::new(workspace, AccessToken::new("teapot"), hosts, |_| {}));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Known { runtime: runtime.expect("because there are threads"), state, session }
    })
}

/// Writes bytes so that they can stand in an address.
fn encode(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'~' | b'.' | b'_' => out.push(char::from(*byte)),
            _ => drop(write!(out, "%{byte:02x}")),
        }
    }
}

/// Makes a request of some bytes: a route with any parameters, an action with any body, or any address.
fn request(data: &[u8]) -> Option<Request<Body>> {
    let (&kind, rest) = data.split_first()?;
    let (&pick, rest) = rest.split_first()?;
    let pick = usize::from(pick);
    let mut address = "/api/".to_owned();
    let mut body = Body::empty();
    let mut builder = Request::builder();
    match kind % 4 {
        0 | 1 => {
            let mut parts = rest.split(|byte| *byte == b'\n');
            let id = if kind % 4 == 0 { ID.as_bytes() } else { parts.next().unwrap_or_default() };
            let mut part = String::new();
            encode(&mut part, id);
            address += &ROUTES[pick % ROUTES.len()].replace('*', &part);
            for (n, part) in parts.enumerate() {
                let Some((&name, value)) = part.split_first() else { continue };
                address.push(if n == 0 { '?' } else { '&' });
                address += NAMES[usize::from(name) % NAMES.len()];
                address.push('=');
                encode(&mut address, value);
            }
        }
        2 => {
            address += ACTIONS[pick % ACTIONS.len()];
            builder = builder.method("POST").header("content-type", "application/json");
            builder = builder.header("origin", "http://h:1");
            body = Body::from(rest.to_vec());
        }
        _ => {
            let text = std::str::from_utf8(rest).ok()?;
            address = format!("/{text}");
        }
    }
    if address.contains("events") {
        return None;
    }
    let builder = builder.uri(address).header("host", "h:1").header("authorization", "Bearer teapot");
    builder.body(body).ok()
}

fuzz_target!(|data: &[u8]| {
    let known = known();
    let Some(request) = request(data) else { return };
    let asked = format!("{} {}", request.method(), request.uri());
    known.runtime.block_on(async {
        let Ok(response) = app_router(known.state.clone()).oneshot(request).await;
        let status = response.status();
        let kind = response.headers().get(header::CONTENT_TYPE).cloned();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("because it ends");
        // This is what a panic becomes.
        let text = String::from_utf8_lossy(&bytes);
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{asked}: {text}");
        if kind.is_some_and(|kind| kind == "application/json") {
            let is_json = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
            assert!(is_json, "{asked}: {text}");
        }
    });
    let now = std::fs::read(&known.session).expect("because nobody removes it");
    assert_eq!(now, SESSION.as_bytes(), "{asked}");
});
