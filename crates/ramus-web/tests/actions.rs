//! What changes something: planned, shown, carried out, undone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use ramus_app::Workspace;
use ramus_core::resume::ResumeRule;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_web::{AccessToken, ServerState, app_router};
use serde_json::{Value, json};
use testkit::TestHome;
use tower::ServiceExt;

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";
const SHORT: &str = "a user hello\nb < a assistant hi\nc < b user more\nd < c assistant done";

struct TestApp {
    home: TestHome,
    app: Router,
    runtime: tokio::runtime::Runtime,
}

impl TestApp {
    fn new() -> Self {
        Self::with_session(SHORT)
    }

    fn with_session(short: &str) -> Self {
        let home = TestHome::new();
        home.write_session(&format!("-home-dev-app/{ID}.jsonl"), short);
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let own = ramus_store::StateDir::new(home.path().join("state"));
        let workspace = Workspace::for_serving(place, ResumeRule::Client, own);
        let state =
            ServerState::new(workspace, AccessToken::new("teapot"), vec!["h:1".to_owned()], |_| {});
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { home, app: app_router(Arc::new(state)), runtime }
    }

    fn session_file(&self) -> std::path::PathBuf {
        self.home.claude_dir().join("projects/-home-dev-app").join(format!("{ID}.jsonl"))
    }

    fn session_bytes(&self) -> Vec<u8> {
        fs::read(self.session_file()).unwrap()
    }

    fn send_request(&self, request: Request<Body>) -> (StatusCode, Value) {
        self.runtime.block_on(async {
            let response = self.app.clone().oneshot(request).await.unwrap();
            let status = response.status();
            let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, serde_json::from_slice(&bytes).unwrap_or_default())
        })
    }

    fn post_json(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::post(path)
            .header("host", "h:1")
            .header("authorization", "Bearer teapot")
            .header("origin", "http://h:1")
            .header("content-type", "application/json");
        self.send_request(request.body(Body::from(body.to_string())).unwrap())
    }

    fn get_json(&self, path: &str) -> Value {
        let request =
            Request::get(path).header("host", "h:1").header("authorization", "Bearer teapot");
        self.send_request(request.body(Body::empty()).unwrap()).1
    }

    /// Plans and carries out.
    #[track_caller]
    fn plan_and_apply(&self, wanted: &Value) -> Value {
        let (status, plan) = self.post_json("/api/plan", wanted);
        assert_eq!(status, StatusCode::OK, "{plan}");
        let (status, done) = self.post_json("/api/apply", &json!({"plan": plan["id"]}));
        assert_eq!(status, StatusCode::OK, "{done}");
        done
    }
}

#[test]
fn a_plan_writes_nothing_and_undo_brings_back_every_byte() {
    let page = TestApp::new();
    let before = page.session_bytes();
    let wanted = json!({"what": "goto", "session": ID, "node": "b"});
    let (status, plan) = page.post_json("/api/plan", &wanted);
    assert_eq!((status, &plan["what"]), (StatusCode::OK, &json!("goto")), "{plan}");
    assert_eq!(page.session_bytes(), before);
    let (status, done) = page.post_json("/api/apply", &json!({"plan": plan["id"]}));
    assert_eq!(status, StatusCode::OK, "{done}");
    let after = page.session_bytes();
    assert!(after.starts_with(&before) && after.len() > before.len());
    let resume = page.get_json(&format!("/api/sessions/{ID}"));
    assert_eq!(resume["resume"]["leaf"], "b");
    // A plan is good for once.
    let (status, _) = page.post_json("/api/apply", &json!({"plan": plan["id"]}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    let log = page.get_json("/api/log");
    assert_eq!(log["operations"][0]["what"], "goto");
    page.plan_and_apply(&json!({"what": "undo", "op": done["op"]}));
    assert_eq!(page.session_bytes(), before);
    assert_eq!(page.get_json("/api/log")["operations"][1]["can_undo"], false);
}

#[test]
fn fork_rename_and_trash() {
    let page = TestApp::new();
    let before = page.session_bytes();
    let forked = page.plan_and_apply(&json!({"what": "fork", "session": ID, "node": "b"}));
    assert_eq!(page.session_bytes(), before);
    let id = forked["session"].as_str().unwrap();
    assert_eq!(page.get_json(&format!("/api/sessions/{id}/path"))["shape"], "pa");
    page.plan_and_apply(&json!({"what": "rename", "session": id, "title": "A pot"}));
    assert_eq!(page.get_json(&format!("/api/sessions/{id}"))["title"], "A pot");
    page.plan_and_apply(&json!({"what": "trash", "session": id}));
    assert!(page.get_json(&format!("/api/sessions/{id}"))["error"].is_string());
}

/// What was done last, with whether it can be undone and whether the session can be brought back.
fn last_nodes(page: &TestApp) -> (Value, Value, Value) {
    let last = page.get_json("/api/log")["operations"][0].take();
    (last["op"].clone(), last["can_undo"].clone(), last["can_restore"].clone())
}

#[test]
fn an_earlier_version_is_brought_back() {
    let page = TestApp::new();
    let before = page.session_bytes();
    let went = page.plan_and_apply(&json!({"what": "goto", "session": ID, "node": "b"}));
    // The client continues there, so undo is no longer possible.
    let after = [page.session_bytes(), b"{}\n".to_vec()].concat();
    fs::write(page.session_file(), &after).unwrap();
    let (status, refused) = page.post_json("/api/plan", &json!({"what": "undo", "op": went["op"]}));
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(refused["hint"].as_str().unwrap().starts_with("restore the session"), "{refused}");
    assert_eq!(last_nodes(&page), (went["op"].clone(), json!(true), json!(true)));
    let wanted = json!({"what": "restore", "session": ID, "op": went["op"]});
    let (_, plan) = page.post_json("/api/plan", &wanted);
    assert!(plan["warnings"][0].as_str().unwrap().contains("has grown by"), "{plan}");
    assert_eq!(page.session_bytes(), after, "a plan that is only shown writes nothing");
    let restored = page.plan_and_apply(&wanted);
    assert_eq!(page.session_bytes(), before);
    let log = page.get_json("/api/log");
    assert_eq!(log["operations"][1]["can_restore"], false, "it is as it was: {log}");
    page.plan_and_apply(&json!({"what": "undo", "op": restored["op"]}));
    assert_eq!(page.session_bytes(), after);
}

#[test]
fn a_session_comes_back_out_of_the_trash_with_its_agents() {
    let page = TestApp::new();
    let agent = format!("-home-dev-app/{ID}/subagents/agent-a9.jsonl");
    let agent = page.home.write_session(&agent, "x user steep\ny < x assistant steeped");
    let before = page.session_bytes();
    let trashed = page.plan_and_apply(&json!({"what": "trash", "session": ID}));
    assert!(!page.session_file().exists() && !agent.exists());
    assert_eq!(last_nodes(&page).2, true);
    page.plan_and_apply(&json!({"what": "restore", "session": ID, "op": trashed["op"]}));
    assert!(page.session_bytes() == before && agent.exists());
    assert_eq!(page.get_json("/api/log")["operations"][1]["can_restore"], false);
}

const FORKED: &str = "a user hello\nb < a assistant hi\nc < b user tea\nd < c assistant done\ne < b user @90 milk\nf < e assistant @91 poured";

#[test]
fn conversations_are_merged_into_a_new_session() {
    for (strategy, shape, fates) in [
        ("append", "papapa", ["copied", "copied"]),
        ("interleave", "papapa", ["copied", "copied"]),
        ("digest", "papap", ["copied", "summarized"]),
    ] {
        let page = TestApp::with_session(FORKED);
        let before = page.session_bytes();
        let wanted = json!({"what": "merge", "session": ID, "leaves": ["d", "f"],
            "strategy": strategy, "title": "Both"});
        let (_, plan) = page.post_json("/api/plan", &wanted);
        let told = &plan["merged"];
        assert_eq!((&told["common"], &told["stops"]), (&json!(2), &json!(false)), "{plan}");
        let exchanges = told["exchanges"].as_array().unwrap();
        assert_eq!(exchanges.iter().map(|one| &one["fate"]).collect::<Vec<_>>(), fates);
        assert_eq!(exchanges[1]["prompt"], "milk");
        let (status, done) = page.post_json("/api/apply", &json!({"plan": plan["id"]}));
        assert_eq!(status, StatusCode::OK, "{done}");
        assert_eq!(page.session_bytes(), before);
        let id = done["session"].as_str().unwrap();
        assert_eq!(
            page.get_json(&format!("/api/sessions/{id}/path"))["shape"],
            shape,
            "{strategy}"
        );
        assert_eq!(page.get_json(&format!("/api/sessions/{id}"))["title"], "Both");
        page.plan_and_apply(&json!({"what": "undo", "op": done["op"]}));
        assert!(page.get_json(&format!("/api/sessions/{id}"))["error"].is_string());
    }
}

/// A session that made a file in a directory of this machine, and then another one beside it.
fn app_with_file() -> (TestApp, std::path::PathBuf) {
    let page = TestApp::with_session(
        "p user make\nc < p call:t1:Write kettle\nr < c result:t1 ok\ne < r assistant hot\nq < p user @90 again\nd < q call:t2:Write kettle\ns < d result:t2 ok\ng < s assistant @99 cold",
    );
    let cwd = page.home.path().join("work");
    fs::create_dir(&cwd).unwrap();
    let kettle = cwd.join("kettle.txt");
    let lines = String::from_utf8(page.session_bytes()).unwrap();
    let lines = lines.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["cwd"] = json!(cwd);
        for (uuid, content) in [("r", "hot\n"), ("s", "cold\n")] {
            if record["uuid"] == uuid {
                record["toolUseResult"] = json!({"type": "create", "filePath": kettle,
                    "content": content, "structuredPatch": []});
            }
        }
        format!("{record}\n")
    });
    page.home.write_file(&format!("-home-dev-app/{ID}.jsonl"), lines.collect::<String>());
    (page, kettle)
}

#[test]
fn files_that_conflict_wait_for_an_answer() {
    let (page, kettle) = app_with_file();
    let mut wanted = json!({"what": "merge", "session": ID, "leaves": ["e", "g"]});
    let (_, plan) = page.post_json("/api/plan", &wanted);
    assert_eq!((&plan["id"], &plan["merged"]["stops"]), (&json!(""), &json!(true)), "{plan}");
    assert_eq!(plan["merged"]["conflicts"][0]["path"], json!(kettle));
    assert_eq!(page.post_json("/api/apply", &json!({"plan": ""})).0, StatusCode::NOT_FOUND);
    wanted["on_conflict"] = json!("theirs");
    page.plan_and_apply(&wanted);
    assert!(!kettle.exists(), "a merge touches no file of the project");
}

#[test]
fn files_are_restored_and_removed_again() {
    let (page, kettle) = app_with_file();
    fs::write(&kettle, "<b>by hand</b>\n").unwrap();
    let wanted = json!({"what": "restore-files", "session": ID, "node": "e"});
    let (status, plan) = page.post_json("/api/plan", &wanted);
    assert_eq!(status, StatusCode::OK, "{plan}");
    let change = &plan["files"]["changes"][0];
    assert_eq!((&change["path"], &change["how"]), (&json!("kettle.txt"), &json!("replace")));
    let html = change["html"].as_str().unwrap();
    assert!(html.contains("&lt;b&gt;by hand") && html.contains("hot"), "{html}");
    assert_eq!(fs::read_to_string(&kettle).unwrap(), "<b>by hand</b>\n");
    let done = page.post_json("/api/apply", &json!({"plan": plan["id"]})).1;
    assert_eq!(fs::read_to_string(&kettle).unwrap(), "hot\n", "{done}");
    assert_eq!(page.post_json("/api/plan", &wanted).0, StatusCode::CONFLICT, "nothing to do");
    page.plan_and_apply(&json!({"what": "undo", "op": done["op"]}));
    assert_eq!(fs::read_to_string(&kettle).unwrap(), "<b>by hand</b>\n");
}

#[test]
fn refused_actions_have_a_reason() {
    let page = TestApp::new();
    for (wanted, status) in [
        (json!({"what": "goto", "session": ID, "node": "nothing"}), StatusCode::NOT_FOUND),
        (json!({"what": "goto", "session": "../x", "node": "a"}), StatusCode::NOT_FOUND),
        (json!({"what": "dance", "session": ID}), StatusCode::BAD_REQUEST),
        (json!({"what": "rename", "session": ID, "title": "  "}), StatusCode::BAD_REQUEST),
        (json!({"what": "merge", "session": ID, "leaves": ["d"]}), StatusCode::BAD_REQUEST),
        (json!({"what": "merge", "session": ID, "leaves": ["b", "d"]}), StatusCode::CONFLICT),
        (
            json!({"what": "merge", "session": ID, "leaves": ["b", "d"], "strategy": "pick"}),
            StatusCode::BAD_REQUEST,
        ),
        (json!({"what": "restore-files", "session": ID, "node": "b"}), StatusCode::CONFLICT),
        (json!({"what": "restore-files", "session": ID, "node": "x"}), StatusCode::NOT_FOUND),
        (json!({"what": "undo"}), StatusCode::CONFLICT),
        (json!({"what": "undo", "op": 7}), StatusCode::NOT_FOUND),
        (
            json!({"what": "trash", "session": ID, "file": "/etc/passwd"}),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
    ] {
        assert_eq!(page.post_json("/api/plan", &wanted).0, status, "{wanted}");
    }
    assert_eq!(page.post_json("/api/apply", &json!({"plan": "guessed"})).0, StatusCode::NOT_FOUND);
    let get =
        Request::get("/api/plan").header("host", "h:1").header("authorization", "Bearer teapot");
    assert_eq!(
        page.send_request(get.body(Body::empty()).unwrap()).0,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[test]
fn a_session_that_grew_since_the_plan_is_left_alone() {
    for wanted in [
        json!({"what": "goto", "session": ID, "node": "b"}),
        json!({"what": "rename", "session": ID, "title": "A pot"}),
        json!({"what": "trash", "session": ID}),
    ] {
        let page = TestApp::new();
        let (_, plan) = page.post_json("/api/plan", &wanted);
        let mut longer = page.session_bytes();
        longer.extend_from_slice(b"{\"type\":\"mode\"}\n");
        fs::write(page.session_file(), &longer).unwrap();
        let (status, told) = page.post_json("/api/apply", &json!({"plan": plan["id"]}));
        assert_eq!(status, StatusCode::CONFLICT, "{wanted}: {told}");
        assert_eq!(page.session_bytes(), longer);
    }
}

#[test]
fn an_agent_that_grew_since_the_plan_keeps_its_session_from_the_trash() {
    let page = TestApp::new();
    let agent = page.home.write_session("-home-dev-app/agent-a9.jsonl", "x user steep");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&agent).unwrap()).unwrap();
    line["sessionId"] = json!(ID);
    fs::write(&agent, format!("{line}\n")).unwrap();
    let (_, plan) = page.post_json("/api/plan", &json!({"what": "trash", "session": ID}));
    assert_eq!(plan["steps"].as_array().unwrap().len(), 2, "{plan}");
    fs::write(&agent, format!("{line}\n{line}\n")).unwrap();
    let (status, told) = page.post_json("/api/apply", &json!({"plan": plan["id"]}));
    assert_eq!(status, StatusCode::CONFLICT, "{told}");
    assert!(page.session_file().exists() && agent.exists());
}

#[test]
fn a_title_is_short_and_visible() {
    let page = TestApp::with_session(FORKED);
    for title in
        ["a".repeat(201), "a\u{1b}[2Jb".to_owned(), "a\nb".to_owned(), "\u{202e}a".to_owned()]
    {
        for wanted in [
            json!({"what": "rename", "session": ID, "title": title}),
            json!({"what": "fork", "session": ID, "node": "b", "title": title}),
            json!({"what": "merge", "session": ID, "leaves": ["d", "f"], "title": title}),
        ] {
            assert_eq!(page.post_json("/api/plan", &wanted).0, StatusCode::BAD_REQUEST, "{wanted}");
        }
    }
}

#[test]
fn an_action_that_there_is_not_is_refused() {
    let page = TestApp::new();
    for what in ["shred", "Fork", "unknown", ""] {
        let (status, refused) = page.post_json("/api/plan", &json!({"what": what, "session": ID}));
        let expected = (StatusCode::BAD_REQUEST, &json!("unknown action"));
        assert_eq!((status, &refused["error"]), expected, "{what:?}");
    }
}

#[test]
fn annotations_are_kept_beside_the_history() {
    let app = TestApp::new();
    let before = app.session_bytes();
    let path = format!("/api/sessions/{ID}/annotations");
    let (status, told) = app.post_json(&path, &json!({"pinned": true, "add_tags": ["Bug"]}));
    assert_eq!(status, StatusCode::OK, "{told}");
    assert_eq!(told["annotations"][0]["tags"], json!(["bug"]));
    // Any record of a message means the message.
    let (status, told) = app.post_json(&path, &json!({"message": "b", "note": "why?"}));
    assert_eq!((status, &told["annotations"][0]["message"]), (StatusCode::OK, &json!("b")));
    let told = app.get_json(&path);
    assert_eq!(told["annotations"].as_array().unwrap().len(), 2);
    let sessions = app.get_json("/api/sessions");
    assert_eq!(sessions["sessions"][0]["tags"], json!(["bug"]));
    assert_eq!(sessions["sessions"][0]["annotated_messages"], 1);
    let (status, refused) = app.post_json(&path, &json!({"add_tags": ["two words"]}));
    assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
    let (status, _) = app.post_json(&path, &json!({"message": "nowhere", "pinned": true}));
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(app.session_bytes(), before);
}
