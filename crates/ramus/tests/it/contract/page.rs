//! What the page gets over its API.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use ramus_app::{ClientProgram, Workspace};
use ramus_core::resume::Rule;
use ramus_store::place::Place;
use ramus_web::{State, Token, app};
use serde_json::{Value, json};
use testkit::Home;
use tower::ServiceExt as _;

use super::command::{
    conversation_rows, diff_row, export_row, file_rows, hit_rows, merge_row, nothing_to_do, one,
    plan_row, project_rows, resume_row, session_rows, tree_rows, usage_rows,
};
use super::{Answer, MessageAt, Question, Row, text};

pub(super) struct Page {
    app: Router,
    runtime: tokio::runtime::Runtime,
}

impl Page {
    pub(super) fn new(home: &Home, claude: &Path) -> Self {
        let place = Place::open(vec![claude.to_owned()]).unwrap();
        let own = ramus_store::State::new(home.path().join("page-state"));
        let usual_dir = claude.parent().map(|home| home.join(".claude"));
        let client = ClientProgram { usual_dir, ..ClientProgram::default() };
        let workspace = Workspace::for_serving(place, Rule::Client, own).with_client(client);
        let state = State::new(workspace, Token::new("teapot"), vec!["h:1".to_owned()], |_| {});
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let page = Self { app: app(Arc::new(state)), runtime };
        // Titles that other sessions gave are known once the list was shown.
        page.get("/api/sessions");
        page
    }

    pub(super) fn answer(&self, question: &Question) -> Option<Answer> {
        let planned = |wanted: Value| {
            let (status, plan) = self.post("/api/plan", &wanted);
            if plan["error"] == "the session resumes there already" {
                return one(nothing_to_do());
            }
            assert_eq!(status, StatusCode::OK, "{wanted}: {plan}");
            one(plan_row(&plan, "what"))
        };
        Some(match question {
            Question::Sessions => session_rows(&self.get("/api/sessions")),
            Question::Conversations { session, .. } => {
                let mut answer = conversation_rows(&self.get(&format!("/api/sessions/{session}")));
                // The page's own name for a leaf whose uuid names several records.
                for row in &mut answer.rows {
                    if row["leaf"].starts_with('@') {
                        row.remove("leaf");
                    }
                }
                answer
            }
            Question::Tree { session, .. } => {
                tree_rows(&self.get(&format!("/api/sessions/{session}/tree")))
            }
            Question::Search(search) => {
                let mut query = format!("/api/find?q={}", encoded(search.words));
                let filters =
                    [("role", search.role), ("branch", search.branch), ("until", search.until)];
                for (name, value) in filters {
                    query.extend(value.map(|value| format!("&{name}={value}")));
                }
                hit_rows(&self.lines(&query))
            }
            Question::Projects => project_rows(&self.get("/api/projects")),
            Question::Diff { session, sides } => {
                let [a, b] = sides.map(|n| self.leaf(session, n));
                diff_row(
                    &self.get(&format!("/api/diff?a={session}&a_leaf={a}&b={session}&b_leaf={b}")),
                )
            }
            Question::Files(MessageAt { session, node, .. }) => {
                file_rows(&self.get(&format!("/api/sessions/{session}/files?node={node}")))
            }
            Question::Usage => usage_rows(&self.get("/api/usage")),
            Question::Retention => {
                let overview = self.get("/api/overview");
                one(Row::from([
                    ("days", text(&overview, "retention_days")),
                    ("from settings", text(&overview, "retention_set")),
                    ("sessions", overview["leaving"].as_array().unwrap().len().to_string()),
                    ("due", text(&overview, "due")),
                ]))
            }
            Question::Goto(MessageAt { session, node, .. }) => {
                planned(json!({"what": "goto", "session": session, "node": node}))
            }
            Question::Fork(MessageAt { session, node, .. }) => {
                planned(json!({"what": "fork", "session": session, "node": node}))
            }
            Question::Merge { session, sides } => {
                let leaves = sides.map(|n| self.leaf(session, n));
                let wanted = json!({"what": "merge", "session": session, "leaves": leaves});
                let (status, plan) = self.post("/api/plan", &wanted);
                one(match status {
                    StatusCode::OK => merge_row(&plan["merged"]),
                    _ => Row::from([("refused", text(&plan, "error"))]),
                })
            }
            Question::Export { place: MessageAt { session, .. }, n } => {
                let leaf = self.leaf(session, *n);
                let path = format!("/api/sessions/{session}/export?format=json&leaf={leaf}");
                one(export_row(&self.get(&path), true))
            }
            Question::Resume(MessageAt { session, node, .. }) => {
                one(resume_row(&self.get(&format!("/api/sessions/{session}/resume?node={node}"))))
            }
            Question::Rename { session, title } => {
                planned(json!({"what": "rename", "session": session, "title": title}))
            }
        })
    }

    /// Returns what the page calls the leaf of a conversation.
    fn leaf(&self, session: &str, n: u64) -> String {
        let detail = self.get(&format!("/api/sessions/{session}"));
        let rows = detail["conversations"].as_array().unwrap();
        text(rows.iter().find(|row| row["n"] == n).unwrap(), "leaf")
    }

    fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.lines(path)).unwrap()
    }

    #[track_caller]
    fn lines(&self, path: &str) -> String {
        let request =
            Request::get(path).header("host", "h:1").header("authorization", "Bearer teapot");
        let (status, body) = self.send(request.body(Body::empty()).unwrap());
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::post(path)
            .header("host", "h:1")
            .header("authorization", "Bearer teapot")
            .header("origin", "http://h:1")
            .header("content-type", "application/json");
        let (status, body) = self.send(request.body(Body::from(body.to_string())).unwrap());
        (status, serde_json::from_str(&body).unwrap())
    }

    fn send(&self, request: Request<Body>) -> (StatusCode, String) {
        self.runtime.block_on(async {
            let response = self.app.clone().oneshot(request).await.unwrap();
            let status = response.status();
            let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(bytes.to_vec()).unwrap())
        })
    }
}

fn encoded(words: &str) -> String {
    words.bytes().map(|byte| format!("%{byte:02x}")).collect()
}
