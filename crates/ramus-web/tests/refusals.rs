//! Who is let in, and with what.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode};
use ramus_app::Workspace;
use ramus_core::resume::ResumeRule;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_web::{AccessToken, ServerState, app_router};
use testkit::TestHome;
use tower::ServiceExt;

const HOST: &str = "127.0.0.1:7468";
const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";
static REFUSED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn test_home() -> TestHome {
    let home = TestHome::new();
    home.write_session(
        &format!("-home-dev-app/{ID}.jsonl"),
        "a user hello\nb < a assistant hi\nc < a assistant hey there",
    );
    home.write_file("../secret.txt", "do not read this");
    home
}

#[tokio::main(flavor = "current_thread")]
async fn send_request(home: &TestHome, request: Request<Body>) -> Response<Body> {
    let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    let own = ramus_store::StateDir::new(home.path().join("state"));
    let state = ServerState::new(
        Workspace::for_serving(place, ResumeRule::Client, own),
        AccessToken::new("teapot"),
        vec![HOST.to_owned(), "localhost:7468".to_owned()],
        |line| REFUSED.lock().unwrap().push(line.to_owned()),
    );
    let response = app_router(Arc::new(state)).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, Body::from(to_bytes(body, usize::MAX).await.unwrap()))
}

fn get_request(path: &str) -> axum::http::request::Builder {
    Request::get(path).header("host", HOST).header("authorization", "Bearer teapot")
}

#[track_caller]
fn check_status(request: axum::http::request::Builder, expected: StatusCode) -> Response<Body> {
    let response = send_request(&test_home(), request.body(Body::empty()).unwrap());
    assert_eq!(response.status(), expected);
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"));
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    response
}

#[tokio::main(flavor = "current_thread")]
async fn body_text(response: Response<Body>) -> String {
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_page_of_this_start_is_let_in() {
    let body = body_text(check_status(get_request("/api/projects"), StatusCode::OK));
    assert!(body.starts_with(r#"{"schema":"ramus.projects/1""#), "{body}");
    check_status(
        get_request("/api/projects").header("origin", "http://localhost:7468"),
        StatusCode::OK,
    );
    check_status(get_request("/").header("sec-fetch-site", "none"), StatusCode::OK);
}

#[test]
fn without_the_token_no_data_is_sent() {
    for path in ["/api/projects", "/api/nothing", "/api", "/api/events", "/api/ticket"] {
        let bare = || Request::get(path).header("host", HOST);
        check_status(bare(), StatusCode::UNAUTHORIZED);
        check_status(bare().header("authorization", "Bearer teapots"), StatusCode::UNAUTHORIZED);
        check_status(bare().header("authorization", "teapot"), StatusCode::UNAUTHORIZED);
        // A cookie may come from any port of this machine: it neither opens nor closes anything.
        let tossed = "ramus=teapot; ramus-7468=teapot; token=teapot";
        check_status(bare().header("cookie", tossed), StatusCode::UNAUTHORIZED);
        check_status(
            bare().header("cookie", tossed).uri(format!("{path}?token=teapot")),
            StatusCode::UNAUTHORIZED,
        );
    }
    let tossed = get_request("/api/projects").header("cookie", "ramus-7468=evil; ramus=evil");
    check_status(tossed, StatusCode::OK);
    assert!(REFUSED.lock().unwrap().iter().any(|line| line.contains("token")));
}

/// A server that is asked several times.
struct TestServer {
    app: axum::Router,
    state: Arc<ServerState>,
    runtime: tokio::runtime::Runtime,
    _home: TestHome,
}

impl TestServer {
    fn new() -> Self {
        let home = test_home();
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let own = ramus_store::StateDir::new(home.path().join("state"));
        let workspace = Workspace::for_serving(place, ResumeRule::Client, own);
        let hosts = vec![HOST.to_owned()];
        let state =
            Arc::new(ServerState::new(workspace, AccessToken::new("teapot"), hosts, |_| {}));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { app: app_router(state.clone()), state, runtime, _home: home }
    }

    fn send_request(
        &self,
        request: axum::http::request::Builder,
        body: &str,
    ) -> (StatusCode, String) {
        let request = request.header("host", HOST).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.runtime.block_on(async {
            let response = self.app.clone().oneshot(request).await.unwrap();
            assert!(response.headers().get("set-cookie").is_none(), "no cookie is ever set");
            let status = response.status();
            let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(bytes.to_vec()).unwrap())
        })
    }
}

#[test]
fn a_code_is_exchanged_for_the_token_once() {
    let server = TestServer::new();
    let address = server.state.new_address().unwrap();
    let code = address.rsplit_once("token=").unwrap().1.to_owned();
    assert!(!address.contains("teapot"), "the address holds no token");
    let enter = |code: &str| {
        server.send_request(Request::post("/api/enter"), &format!("{{\"code\":\"{code}\"}}"))
    };
    assert_eq!(enter("guessed").0, StatusCode::UNAUTHORIZED);
    assert_eq!(enter(&code), (StatusCode::OK, r#"{"token":"teapot"}"#.to_owned()));
    assert_eq!(enter(&code).0, StatusCode::UNAUTHORIZED, "once");
    // Another site cannot use a code up.
    let other = server.state.new_address().unwrap();
    let body = format!("{{\"code\":\"{}\"}}", other.rsplit_once("token=").unwrap().1);
    let foreign = Request::post("/api/enter").header("origin", "http://127.0.0.1:9");
    assert_eq!(server.send_request(foreign, &body).0, StatusCode::FORBIDDEN);
    assert_eq!(server.send_request(Request::post("/api/enter"), &body).0, StatusCode::OK);
}

#[test]
fn a_ticket_opens_one_download_once() {
    let server = TestServer::new();
    let path = format!("/api/sessions/{ID}/export?format=md&leaf=b");
    let asked = Request::post("/api/ticket").header("authorization", "Bearer teapot");
    let (status, body) = server.send_request(asked, &format!("{{\"path\":\"{path}\"}}"));
    assert_eq!(status, StatusCode::OK, "{body}");
    let ticket = body.split('"').nth(3).unwrap();
    let get =
        |path: &str| server.send_request(Request::get(format!("{path}&ticket={ticket}")), "").0;
    assert_eq!(get(&format!("/api/sessions/{ID}/export?format=jsonl")), StatusCode::UNAUTHORIZED);
    assert_eq!(get(&path), StatusCode::OK);
    assert_eq!(get(&path), StatusCode::UNAUTHORIZED);
    let unasked = server.send_request(Request::post("/api/ticket"), "{\"path\":\"/api/projects\"}");
    assert_eq!(unasked.0, StatusCode::UNAUTHORIZED);
}

#[test]
fn the_page_itself_is_sent_to_everybody_with_its_address_as_it_is() {
    for path in ["/", "/s/abc?leaf=x&token=y", "/search?q=pot"] {
        let response = check_status(Request::get(path).header("host", HOST), StatusCode::OK);
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
        assert!(!body_text(response).contains("teapot"));
    }
}

#[test]
fn a_person_who_is_refused_reads_what_to_do() {
    let request =
        Request::get("/api/projects").header("host", HOST).header("accept", "text/html,*/*");
    let response = check_status(request, StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    let page = body_text(response);
    assert!(page.contains("ramus serve") && !page.contains("<script"), "{page}");
}

#[test]
fn other_hosts_are_refused() {
    for host in ["evil.example", "evil.example:7468", "127.0.0.1", "127.0.0.1:80", "localhost", ""]
    {
        let request = Request::get("/api/projects")
            .header("host", host)
            .header("authorization", "Bearer teapot");
        check_status(request, StatusCode::FORBIDDEN);
    }
    check_status(Request::get("/").header("authorization", "Bearer teapot"), StatusCode::FORBIDDEN);
    let two = get_request("/").header("host", "evil.example");
    check_status(two, StatusCode::FORBIDDEN);
}

#[test]
fn other_origins_are_refused() {
    for origin in
        ["http://evil.example", "https://127.0.0.1:7468", "null", "http://localhost:80", ""]
    {
        check_status(get_request("/api/projects").header("origin", origin), StatusCode::FORBIDDEN);
    }
    for site in ["cross-site", "same-site"] {
        check_status(
            get_request("/api/projects").header("sec-fetch-site", site),
            StatusCode::FORBIDDEN,
        );
        let followed =
            get_request("/").header("sec-fetch-site", site).header("sec-fetch-mode", "navigate");
        check_status(followed, StatusCode::OK);
    }
}

#[test]
fn addresses_are_ids_and_never_paths() {
    let ups = ["..", "%2e%2e", "%2E.", "..%2f..", "..%5c..", ".%2e%2fsecret.txt"];
    for up in ups {
        for path in [
            format!("/{up}/secret.txt"),
            format!("/assets/{up}/index.html"),
            format!("/api/sessions/{up}"),
            format!("/api/sessions/{up}/path"),
            format!("/api/{up}/projects"),
        ] {
            let response =
                send_request(&test_home(), get_request(&path).body(Body::empty()).unwrap());
            assert!(response.status().is_client_error(), "{path}: {}", response.status());
            assert!(!body_text(response).contains("do not read"), "{path}");
        }
        for query in ["leaf", "node"] {
            check_status(
                get_request(&format!("/api/sessions/{ID}/path?{query}={up}")),
                StatusCode::NOT_FOUND,
            );
        }
    }
    for id in ["secret.txt", "-home-dev-app", "0a1b", "%00", "a%0Ab"] {
        check_status(get_request(&format!("/api/sessions/{id}")), StatusCode::NOT_FOUND);
    }
}

#[test]
fn large_bodies_and_other_methods_are_refused() {
    let large = Request::post("/api/projects")
        .header("host", HOST)
        .header("authorization", "Bearer teapot")
        .header("content-length", "10000000")
        .body(Body::from(vec![b'x'; 100_000]))
        .unwrap();
    assert_eq!(send_request(&test_home(), large).status(), StatusCode::PAYLOAD_TOO_LARGE);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        check_status(get_request("/api/projects").method(method), StatusCode::FORBIDDEN);
    }
}

#[test]
fn what_is_known_is_not_sent_again() {
    let home = test_home();
    let path = format!("/api/sessions/{ID}/turns?to=10");
    let first = send_request(&home, get_request(&path).body(Body::empty()).unwrap());
    let tag = first.headers()["etag"].clone();
    let again = send_request(
        &home,
        get_request(&path).header("if-none-match", tag).body(Body::empty()).unwrap(),
    );
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert!(body_text(again).is_empty());
}

#[test]
fn long_answers_are_compressed() {
    let home = TestHome::new();
    home.write_session(
        "-p/0a1b2c3d-0000-4000-8000-000000000000.jsonl",
        &format!("a user {}", "tea ".repeat(2000)),
    );
    let request =
        get_request(&format!("/api/sessions/{ID}/turns?to=10")).header("accept-encoding", "gzip");
    let response = send_request(&home, request.body(Body::empty()).unwrap());
    assert_eq!(response.headers()["content-encoding"], "gzip");
}
