//! The answers of the web app's API.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use ramus_app::{ClientProgram, Workspace};
use ramus_archive::{ArchiveLocation, LazyArchive};
use ramus_core::resume::ResumeRule;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_web::{AccessToken, ServerState, app_router};
use serde_json::{Value, json};
use testkit::TestHome;
use tower::ServiceExt as _;

use super::command::{
    conversation_rows, diff_row, export_row, file_rows, hit_rows, merge_row, nothing_to_do,
    plan_row, project_rows, resume_row, session_rows, single_row, tree_rows, usage_rows,
};
use super::{
    AnswerRow, ContractAnswer, EXPORT_FORMATS, MessageAt, Question, field_text, page_refusal,
};

pub(super) struct WebDriver {
    app: Router,
    runtime: tokio::runtime::Runtime,
}

impl WebDriver {
    pub(super) fn new(home: &TestHome, claude: &Path) -> Self {
        Self::with_state(claude, home.path().join("page-state"))
    }

    /// Starts it with a state directory that others may share.
    pub(super) fn with_state(claude: &Path, state: PathBuf) -> Self {
        let place = ClaudeDirs::open(vec![claude.to_owned()]).unwrap();
        let own = ramus_store::StateDir::new(state);
        let usual_dir = claude.parent().map(|home| home.join(".claude"));
        let client = ClientProgram { usual_dir, ..ClientProgram::default() };
        let home = claude.parent().unwrap_or(claude);
        let archive =
            LazyArchive::new(ArchiveLocation::File(home.join(".local/share/ramus/archive.db")));
        let workspace = Workspace::for_serving(place, ResumeRule::Client, own)
            .with_archive(Some(Arc::new(archive)))
            .with_client(client);
        let state =
            ServerState::new(workspace, AccessToken::new("teapot"), vec!["h:1".to_owned()], |_| {});
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let page = Self { app: app_router(Arc::new(state)), runtime };
        // Titles that other sessions gave are known once the list was shown.
        page.get_json("/api/sessions");
        page
    }

    pub(super) fn answer_question(&self, question: &Question) -> Option<ContractAnswer> {
        let planned = |wanted: Value| {
            let (status, plan) = self.post_json("/api/plan", &wanted);
            if plan["error"] == "the session resumes there already" {
                return single_row(nothing_to_do());
            }
            assert_eq!(status, StatusCode::OK, "{wanted}: {plan}");
            single_row(plan_row(&plan, "what"))
        };
        Some(match question {
            Question::Sessions => session_rows(&self.get_json("/api/sessions")),
            Question::Conversations { session, .. } => without_own_names(conversation_rows(
                &self.get_json(&format!("/api/sessions/{session}")),
            )),
            Question::Tree { session, .. } => {
                tree_rows(&self.get_json(&format!("/api/sessions/{session}/tree")))
            }
            Question::Search(search) => {
                let mut query = format!("/api/find?q={}", encode_query(search.words));
                let filters =
                    [("role", search.role), ("branch", search.branch), ("until", search.until)];
                for (name, value) in filters {
                    query.extend(value.map(|value| format!("&{name}={value}")));
                }
                hit_rows(&self.get_lines(&query))
            }
            Question::Projects => project_rows(&self.get_json("/api/projects")),
            Question::Diff { session, sides } => {
                let [a, b] = sides.map(|n| self.conversation_leaf(session, n));
                without_own_names(diff_row(
                    &self.get_json(&format!(
                        "/api/diff?a={session}&a_leaf={a}&b={session}&b_leaf={b}"
                    )),
                ))
            }
            Question::Files(MessageAt { session, node, .. }) => {
                file_rows(&self.get_json(&format!("/api/sessions/{session}/files?node={node}")))
            }
            Question::Usage => usage_rows(&self.get_json("/api/usage")),
            Question::Retention => {
                let overview = self.get_json("/api/overview");
                single_row(AnswerRow::from([
                    ("days", field_text(&overview, "retention_days")),
                    ("from settings", field_text(&overview, "retention_set")),
                    ("sessions", overview["leaving"].as_array().unwrap().len().to_string()),
                    ("due", field_text(&overview, "due")),
                    ("unarchived", field_text(&overview, "unarchived")),
                ]))
            }
            Question::Goto(MessageAt { session, node, .. }) => {
                planned(json!({"what": "goto", "session": session, "node": node}))
            }
            Question::Fork(MessageAt { session, node, .. }) => {
                planned(json!({"what": "fork", "session": session, "node": node}))
            }
            Question::Merge { session, sides } => {
                let leaves = sides.map(|n| self.conversation_leaf(session, n));
                let wanted = json!({"what": "merge", "session": session, "leaves": leaves});
                let (status, plan) = self.post_json("/api/plan", &wanted);
                single_row(match status {
                    StatusCode::OK => merge_row(&plan["merged"]),
                    _ => AnswerRow::from([("refused", field_text(&plan, "error"))]),
                })
            }
            Question::Export { place: MessageAt { session, .. }, n } => {
                let leaf = self.conversation_leaf(session, *n);
                let path = |format: &str| {
                    format!("/api/sessions/{session}/export?format={format}&leaf={leaf}")
                };
                let mut row = export_row(&self.get_json(&path("json")), true);
                for (name, format) in EXPORT_FORMATS {
                    row.insert(name, self.get_lines(&path(format)));
                }
                single_row(row)
            }
            Question::Resume(MessageAt { session, node, .. }) => single_row(resume_row(
                &self.get_json(&format!("/api/sessions/{session}/resume?node={node}")),
            )),
            Question::Rename { session, title } => {
                planned(json!({"what": "rename", "session": session, "title": title}))
            }
            Question::Trash { session } => planned(json!({"what": "trash", "session": session})),
            Question::RestoreFiles(MessageAt { session, node, .. }) => {
                let wanted = json!({"what": "restore-files", "session": session, "node": node});
                let (status, plan) = self.post_json("/api/plan", &wanted);
                single_row(match status {
                    StatusCode::OK => AnswerRow::from([("what", field_text(&plan, "what"))]),
                    _ => AnswerRow::from([("refused", page_refusal(&plan))]),
                })
            }
        })
    }

    /// Returns what the page calls the leaf of a conversation.
    fn conversation_leaf(&self, session: &str, n: u64) -> String {
        let detail = self.get_json(&format!("/api/sessions/{session}"));
        let rows = detail["conversations"].as_array().unwrap();
        field_text(rows.iter().find(|row| row["n"] == n).unwrap(), "leaf")
    }

    fn get_json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get_lines(path)).unwrap()
    }

    #[track_caller]
    fn get_lines(&self, path: &str) -> String {
        let request =
            Request::get(path).header("host", "h:1").header("authorization", "Bearer teapot");
        let (status, body) = self.send_request(request.body(Body::empty()).unwrap());
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    pub(super) fn post_json(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::post(path)
            .header("host", "h:1")
            .header("authorization", "Bearer teapot")
            .header("origin", "http://h:1")
            .header("content-type", "application/json");
        let (status, body) = self.send_request(request.body(Body::from(body.to_string())).unwrap());
        (status, serde_json::from_str(&body).unwrap())
    }

    fn send_request(&self, request: Request<Body>) -> (StatusCode, String) {
        self.runtime.block_on(async {
            let response = self.app.clone().oneshot(request).await.unwrap();
            let status = response.status();
            let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(bytes.to_vec()).unwrap())
        })
    }
}

fn encode_query(words: &str) -> String {
    words.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// Removes the page's own name for a leaf whose uuid names several records.
fn without_own_names(mut answer: ContractAnswer) -> ContractAnswer {
    for row in &mut answer.rows {
        row.retain(|name, value| !(name.starts_with("leaf") && value.starts_with('@')));
    }
    answer
}
