//! The answers to the web app.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use ramus_app::{ActivePrices, Workspace};
use ramus_core::price::PriceList;
use ramus_core::resume::ResumeRule;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_web::{AccessToken, ServerState, app_router};
use serde_json::Value;
use testkit::TestHome;
use tower::ServiceExt;

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";

fn test_home(short: &str) -> TestHome {
    let home = TestHome::new();
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), short);
    home
}

fn test_workspace(home: &TestHome) -> Workspace {
    let own = ramus_store::StateDir::new(home.path().join("state"));
    Workspace::for_serving(
        ClaudeDirs::open(vec![home.claude_dir()]).unwrap(),
        ResumeRule::Client,
        own,
    )
}

fn get_text(home: &TestHome, path: &str) -> (StatusCode, String) {
    ask_of(test_workspace(home), path)
}

fn ask_of(workspace: Workspace, path: &str) -> (StatusCode, String) {
    ask_one_by_one(workspace, &[path]).remove(0)
}

#[tokio::main(flavor = "current_thread")]
async fn ask_one_by_one(workspace: Workspace, paths: &[&str]) -> Vec<(StatusCode, String)> {
    let hosts = vec!["h:1".to_owned()];
    let state = Arc::new(ServerState::new(workspace, AccessToken::new("teapot"), hosts, |_| {}));
    let mut answers = Vec::new();
    for path in paths {
        let request =
            Request::get(*path).header("host", "h:1").header("authorization", "Bearer teapot");
        let request = request.body(Body::empty()).unwrap();
        let response = app_router(state.clone()).oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        answers.push((status, String::from_utf8(bytes.to_vec()).unwrap()));
    }
    answers
}

#[track_caller]
fn get_json(home: &TestHome, path: &str) -> Value {
    let (status, body) = get_text(home, path);
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// Returns the kinds of turns of the whole path with their positions.
fn turn_kinds(home: &TestHome, leaf: &str) -> Vec<String> {
    let turns = get_json(home, &format!("/api/sessions/{ID}/turns?to=200&leaf={leaf}"));
    let turns = turns["turns"].as_array().unwrap().clone();
    turns.iter().map(|turn| format!("{} {}", turn["at"], turn["kind"].as_str().unwrap())).collect()
}

const FORKED: &str = "a user hello\nb < a assistant hi\nc < b user more\nd < c assistant one\ne < c assistant @90 two";

#[test]
fn the_project_selects_among_sessions_with_one_id() {
    let home = test_home("a user hello");
    home.write_session(
        &format!("-home-dev-app~/{ID}.jsonl"),
        "a user hello\nb < a assistant copied",
    );
    // What no list shows is not meant.
    home.write_file(&format!("-home-dev-x/{ID}.jsonl"), "{\"type\":\"permission-mode\"}\n");
    let (status, body) = get_text(&home, &format!("/api/sessions/{ID}"));
    assert_eq!(status, StatusCode::CONFLICT);
    let told: Value = serde_json::from_str(&body).unwrap();
    let [own, copy] = [format!("{ID}~-home-dev-app"), format!("{ID}~-home-dev-app~")];
    assert_eq!(told["candidates"], serde_json::json!([own, copy]));
    for (address, messages) in [(own, 1), (copy, 2)] {
        assert_eq!(get_json(&home, &format!("/api/sessions/{address}"))["messages"], messages);
    }
    // An agent that came along with a fork is the same in both.
    for project in ["-home-dev-app", "-home-dev-x"] {
        home.write_session(&format!("{project}/{ID}/subagents/agent-a7.jsonl"), "x user look");
    }
    assert_eq!(get_json(&home, "/api/sessions/agent-a7")["messages"], 1);
}

#[test]
fn the_direction_of_reading_is_not_turned_round() {
    let home = test_home("a user gnp\u{202e}exe\u{2069} — said");
    let (status, body) = get_text(&home, &format!("/api/sessions/{ID}/turns?to=9"));
    assert_eq!(status, StatusCode::OK);
    assert!(body.contains("gnpexe — said"), "{body}");
    let hit = get_text(&home, "/api/find?q=said").1;
    assert!(hit.contains("gnpexe — said"), "{hit}");
}

#[test]
fn a_project_that_is_not_there_is_not_found() {
    let home = test_home("a user hello");
    assert_eq!(get_text(&home, "/api/sessions?project=-home-dev-app").0, StatusCode::OK);
    assert_eq!(get_text(&home, "/api/sessions?project=nope").0, StatusCode::NOT_FOUND);
}

#[test]
fn a_session_is_called_as_in_the_list() {
    let home = test_home("a user hello\nb < a assistant hi\nc < a user other words");
    let given = r#"{"type":"summary","summary":"Given later","leafUuid":"c"}"#;
    let other = "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000001.jsonl";
    home.write_file(other, format!("{given}\n"));
    let listed = get_json(&home, "/api/sessions");
    let listed = listed["sessions"].as_array().unwrap().iter().find(|one| one["id"] == ID).unwrap();
    assert_eq!(listed["title"], "Given later");
    // Nobody waits until everything has been read for the first time.
    let detail = format!("/api/sessions/{ID}");
    let told = ask_one_by_one(test_workspace(&home), &[&detail, "/api/sessions", &detail]);
    assert!(told[0].1.contains("\"title\":\"hello\""), "{}", told[0].1);
    assert!(told[2].1.contains("\"title\":\"Given later\""), "{}", told[2].1);
    let sides = get_json(&home, &format!("/api/diff?a={ID}&b={ID}&b_leaf=b"));
    assert_eq!(
        (&sides["a"]["title"], &sides["b"]["title"]),
        (&"Given later".into(), &"hello".into())
    );
}

#[test]
fn a_session_without_messages_is_empty() {
    let home = TestHome::new();
    home.write_file(&format!("-home-dev-app/{ID}.jsonl"), "{\"type\":\"permission-mode\"}\n");
    let path = get_json(&home, &format!("/api/sessions/{ID}/path"));
    assert_eq!((&path["count"], &path["leaf"]), (&0.into(), &"".into()));
    assert!(turn_kinds(&home, "").is_empty());
    let (status, _) = get_text(&home, &format!("/api/sessions/{ID}/path?leaf=x"));
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[test]
fn a_path_is_summarized_by_letters() {
    let path = get_json(&test_home(FORKED), &format!("/api/sessions/{ID}/path?node=b"));
    assert_eq!(path["shape"], "papa");
    assert_eq!(path["at"], 1);
    assert_eq!(path["forks"], serde_json::json!([2]));
    let last = path["last"].as_array().unwrap();
    assert_eq!(last.len() as u64, path["count"].as_u64().unwrap());
    assert_eq!(last[1], "b");
    assert_eq!(path["sizes"].as_str().unwrap().len(), 4);
}

#[test]
fn a_fork_point_lists_all_branches() {
    let home = test_home(FORKED);
    assert_eq!(turn_kinds(&home, "d"), ["0 prompt", "1 answer", "2 prompt", "2 fork", "3 answer"]);
    let turns = get_json(&home, &format!("/api/sessions/{ID}/turns?to=9&leaf=d"));
    let ways = &turns["turns"][3]["fork"]["ways"];
    assert_eq!(ways[0]["taken"], true);
    assert_eq!(ways[0]["leaf"], "d");
    assert_eq!(ways[1]["leaf"], "e");
    assert_eq!(ways[1]["words"], "two");
}

#[test]
fn versions_of_a_record_are_separate_branches() {
    let home = test_home("a user hello\nb < a assistant #m1 one\nb < a assistant #m2 two");
    let turns = |leaf: &str| {
        get_json(&home, &format!("/api/sessions/{ID}/turns?leaf={leaf}&from=0&to=9")).to_string()
    };
    assert!(turns("b").contains(r#""leaf":"@1""#), "{}", turns("b"));
    assert!(turns("b").contains(">two<") && !turns("b").contains(">one<"), "{}", turns("b"));
    assert!(turns("@1").contains(">one<"), "{}", turns("@1"));
    let session = get_json(&home, &format!("/api/sessions/{ID}"));
    let leaves = session["conversations"].as_array().unwrap().iter();
    assert_eq!(leaves.map(|row| &row["leaf"]).collect::<Vec<_>>(), ["@1", "b"]);
    assert_eq!(get_text(&home, &format!("/api/sessions/{ID}/files?node=@1")).0, StatusCode::OK);
    let path = get_json(&home, &format!("/api/sessions/{ID}/path?leaf=@1"));
    assert_eq!((&path["leaf"], &path["conversation"]), (&Value::from("@1"), &Value::from(1)));
}

#[test]
fn what_is_no_part_of_the_interface_is_not_there() {
    let home = test_home("a user hello");
    for path in ["/api", "/api/nosuch", &format!("/api/sessions/{ID}/nosuch")] {
        let (status, body) = get_text(&home, path);
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(body.starts_with('{'), "{path}: {body}");
    }
}

#[test]
fn any_stretch_of_a_long_path_reads_as_the_whole_does() {
    let mut short = String::from("n0 user begin\n");
    for n in 1..120 {
        let kind =
            ["call:t{n}:Bash ls", "result:t{n} fine", "assistant so", "user next"][(n - 1) % 4];
        let kind = kind.replace("{n}", &(n - usize::from(n % 4 == 2)).to_string());
        let _ = writeln!(short, "n{n} < n{} {}", n - 1, kind.replacen(' ', "  ", 1));
    }
    let home = test_home(&short);
    let whole = get_json(&home, &format!("/api/sessions/{ID}/turns?to=200"));
    let whole = whole["turns"].as_array().unwrap();
    let mut pieces = Vec::new();
    let mut at = 0;
    let count = get_json(&home, &format!("/api/sessions/{ID}/path"))["count"].as_u64().unwrap();
    while at < count {
        let piece = get_json(&home, &format!("/api/sessions/{ID}/turns?from={at}&to={}", at + 7));
        assert_eq!(piece["from"], at);
        pieces.extend(piece["turns"].as_array().unwrap().clone());
        at = piece["to"].as_u64().unwrap();
    }
    assert!(whole.len() > 60, "{}", whole.len());
    assert_eq!(*whole, pieces);
}

#[test]
fn calls_are_opened_on_demand() {
    let home =
        test_home("a user go\nb < a call:t1:Bash echo <b>\nc < b result:t1 <script>x</script>");
    let turns = get_json(&home, &format!("/api/sessions/{ID}/turns?to=9"));
    let call = &turns["turns"][1]["parts"][0];
    assert_eq!(call["t"], "call");
    assert_eq!(call["tool"], "run");
    let opened = get_json(&home, &format!("/api/sessions/{ID}/call?at=1&i=0&n=0"));
    let html = opened["html"].as_str().unwrap();
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
    let (status, _) = get_text(&home, &format!("/api/sessions/{ID}/call?at=1&i=0&n=7"));
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[test]
fn hits_come_one_a_line_and_say_where_they_lie() {
    let home = test_home(FORKED);
    let (_, body) = get_text(&home, "/api/find?q=one");
    let lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["schema"], "ramus.find/1");
    assert_eq!(lines[0]["uuid"], "d");
    assert_eq!(lines[0]["status"], "abandoned");
    assert_eq!(lines[1]["schema"], "ramus.find.progress/1");
    assert_eq!(lines[1]["found"], 1);
    let (_, none) = get_text(&home, "/api/find?q=one&branch=active");
    assert!(!none.contains("ramus.find/1"), "{none}");
    assert_eq!(get_text(&home, "/api/find?q=(&regex=true").0, StatusCode::BAD_REQUEST);
    // No path leads out of the Claude directories.
    let session = home.claude_dir().join(format!("projects/-home-dev-app/{ID}.jsonl"));
    let outside = home.path().join("outside.jsonl");
    std::fs::copy(&session, &outside).unwrap();
    for (path, status) in [(session, StatusCode::OK), (outside, StatusCode::NOT_FOUND)] {
        let path = format!("/api/find?q=one%20in:%22{}%22", path.display());
        assert_eq!(get_text(&home, &path).0, status, "{path}");
    }
}

#[test]
fn files_are_listed_as_of_a_message() {
    let home = test_home("a user go\nb < a call:t1:Bash ls\nc < b result:t1 fine");
    let files = get_json(&home, &format!("/api/sessions/{ID}/files?node=b"));
    assert_eq!(
        (&files["schema"], &files["files"]),
        (&"ramus.files/1".into(), &serde_json::json!([]))
    );
    for path in ["/etc/passwd", "../../secret.txt", ""] {
        let (status, _) = get_text(&home, &format!("/api/sessions/{ID}/file?node=b&path={path}"));
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
}

#[test]
fn branches_are_compared() {
    let home = test_home(FORKED);
    let diff = get_json(&home, &format!("/api/diff?a={ID}&a_leaf=d&b={ID}&b_leaf=e"));
    assert_eq!(diff["common"]["messages"], 3);
    assert_eq!(diff["views_a"].as_array().unwrap().len(), 1);
    assert!(diff["views_b"][0]["parts"][0]["html"].as_str().unwrap().contains("two"));
}

#[test]
fn a_comparison_counts_agents_and_knows_the_ends_of_files_from_backups() {
    let short = "
        p        user                go
        -        snapshot:p
        b < p    call:t1:Task        look around
        c < b    result:t1:a1        done
        f < c    call:t2:Edit        kettle.txt
        -        delta:p:f           kettle.txt=aaaaaaaaaaaaaaaa@v1
        g < f    result:t2           ok
        q < g    user                more
        -        snapshot:q          kettle.txt=aaaaaaaaaaaaaaaa@v2
        h < q    assistant           done
        d < p    user           @30  go back
        e < d    assistant      @31  ok
        ";
    let edited = serde_json::json!({"filePath": "/home/dev/app/kettle.txt", "oldString": "cold",
        "newString": "hot", "structuredPatch": [], "userModified": false, "replaceAll": false});
    let lines = testkit::jsonl(short)
        .lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if record["uuid"] == "g" {
                record["toolUseResult"] = edited.clone();
            }
            format!("{record}\n")
        })
        .collect::<String>();
    let home = TestHome::new();
    home.write_file(&format!("-home-dev-app/{ID}.jsonl"), lines);
    home.write_session(
        &format!("-home-dev-app/{ID}/subagents/agent-a1.jsonl"),
        "x user @2 look around\ny < x call:t9:Bash @3 ls\nz < y result:t9 @4 here",
    );
    let backups = home.claude_dir().join("file-history").join(ID);
    std::fs::create_dir_all(&backups).unwrap();
    std::fs::write(backups.join("aaaaaaaaaaaaaaaa@v1"), "cold\n").unwrap();
    std::fs::write(backups.join("aaaaaaaaaaaaaaaa@v2"), "hot\n").unwrap();
    let diff = get_json(&home, &format!("/api/diff?a={ID}&a_leaf=h&b={ID}&b_leaf=e"));
    assert_eq!((&diff["a"]["agents"], &diff["b"]["agents"]), (&1.into(), &0.into()));
    assert_eq!(diff["commands"]["a"][0]["command"], "ls");
    assert_eq!(diff["files"][0]["a"]["known"], true, "{}", diff["files"]);
    assert!(diff["changes"][0].as_str().unwrap().contains("hot"), "{}", diff["changes"]);
}

#[test]
fn overdue_sessions_are_about_to_leave_and_agents_are_counted() {
    let home = test_home(FORKED);
    let agent =
        home.write_session(&format!("-home-dev-app/{ID}/subagents/agent-a1.jsonl"), "x user look");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86_400);
    for file in [home.claude_dir().join(format!("projects/-home-dev-app/{ID}.jsonl")), agent] {
        std::fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let overview = get_json(&home, "/api/overview");
    let ids: Vec<&str> = overview["leaving"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [ID]);
    assert!(overview["due"].as_str().unwrap().contains("1 sub-agent"), "{}", overview["due"]);
}

#[test]
fn branches_are_compared_by_the_prices_of_the_server() {
    let home = test_home(FORKED);
    let path = format!("/api/diff?a={ID}&a_leaf=d&b={ID}&b_leaf=e");
    let dear = r#"{"models": {"claude-sonnet-4-5": {"input": 1e6, "output": 2e6}}}"#;
    let prices = ActivePrices { list: PriceList::with_file(dear).unwrap(), file: None };
    let workspace = test_workspace(&home).with_prices(prices);
    let (_, dear) = ask_of(workspace, &path);
    let dear: Value = serde_json::from_str(&dear).unwrap();
    // One message of 10 tokens in and 5 out.
    assert_eq!(dear["usage"]["a"]["cost_usd"], 20.0);
    assert!(get_json(&home, &path)["usage"]["a"]["cost_usd"].as_f64().unwrap() < 1.0);
}

#[test]
fn the_lists_are_those_of_the_command_line() {
    let home = test_home(FORKED);
    assert_eq!(get_json(&home, "/api/projects")["projects"][0]["conversations"], 2);
    assert_eq!(get_json(&home, "/api/sessions")["sessions"][0]["forks"], 1);
    let conversations = get_json(&home, &format!("/api/sessions/{ID}/conversations"));
    assert_eq!(conversations["schema"], "ramus.conversations/1");
    assert_eq!(get_json(&home, &format!("/api/sessions/{ID}/tree"))["forks"][0]["kind"], "retry");
    assert_eq!(get_json(&home, "/api/stats")["forks"], 1);
    let overview = get_json(&home, "/api/overview");
    assert_eq!(overview["activity"], serde_json::json!({"2026-01-01": 5}), "messages of each day");
    assert_eq!(overview["recent"][0]["id"], ID);
    let rows = get_json(&home, &format!("/api/sessions/{ID}/outline"));
    let kinds: Vec<&str> =
        rows["rows"].as_array().unwrap().iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["prompt", "fork", "answer", "answer"]);
}

#[test]
fn what_was_used_is_that_of_the_command_line() {
    let home = test_home(FORKED);
    home.write_session("-home-dev-pot/0a1b2c3d-0000-4000-8000-000000000001.jsonl", FORKED);
    let usage = get_json(&home, "/api/usage");
    assert_eq!(usage["schema"], "ramus.usage/1");
    // The second session is a copy of the first: what stands in both counts once.
    assert_eq!(usage["totals"]["messages"], 3);
    assert_eq!(usage["totals"]["output"], 15);
    assert_eq!(usage["by_day"][0]["messages"], 3);
    assert_eq!(usage["by_model"][0]["model"], "claude-sonnet-4-5");
    assert_eq!(usage["by_project"].as_array().unwrap().len(), 1);
    assert_eq!(usage["by_branch"]["abandoned"]["messages"], 1);
}

#[test]
fn a_transcript_can_be_taken_along() {
    let home = test_home(FORKED);
    for (format, sign) in [
        ("md", "hello"),
        ("html", "<!doctype html>"),
        ("json", "{"),
        ("txt", "hello"),
        ("jsonl", "{\""),
    ] {
        let (status, body) = get_text(&home, &format!("/api/sessions/{ID}/export?format={format}"));
        assert_eq!(status, StatusCode::OK);
        assert!(body.to_lowercase().contains(sign), "{format}: {body}");
    }
    let (status, body) = get_text(&home, &format!("/api/sessions/{ID}/export?format=exe"));
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    let (_, body) = get_text(&home, &format!("/api/sessions/{ID}/export?format=json"));
    serde_json::from_str::<Value>(&body).unwrap();
}

#[test]
fn a_damaged_file_is_read_as_far_as_it_can_be() {
    let home = test_home("a user hello");
    home.write_file(
        &format!("-home-dev-app/{ID}.jsonl"),
        b"{\"type\":\"user\",\"uuid\":\"a\",\n\xff\xfe\nnull\n",
    );
    let detail = get_json(&home, &format!("/api/sessions/{ID}"));
    assert_eq!(detail["id"], ID);
    assert_eq!(get_json(&home, &format!("/api/sessions/{ID}/path"))["count"], 0);
    get_json(&home, &format!("/api/sessions/{ID}/outline"));
}

#[test]
fn a_message_tells_which_of_its_calls_holds_words() {
    let long = "steam\\n".repeat(300);
    let home = test_home(&format!(
        "p user look\nc < p call:t1:Bash ls\nr < c result:t1 nothing\nd < r call:t2:Bash cat\ns < d result:t2 {long}the samovar is hidden\ne < s assistant done"
    ));
    let path = get_json(&home, &format!("/api/sessions/{ID}/path?node=s"));
    let at = path["at"].as_u64().unwrap();
    let holds = get_json(&home, &format!("/api/sessions/{ID}/holds?at={at}&text=samovar%20%20is"));
    assert_eq!(holds["calls"].as_array().unwrap().len(), 1, "{holds}");
    let none = get_json(&home, &format!("/api/sessions/{ID}/holds?at={at}&text=kettle"));
    assert_eq!(none, serde_json::json!({"calls": [], "folds": []}));
}

#[test]
fn what_would_take_too_long_to_look_for_is_refused() {
    let home = test_home("a user hello");
    let words: String = (0..65).map(|n| format!("w{n}%20")).collect();
    for query in ["a".repeat(1001), words, "%C3%A9".repeat(2000)] {
        let (status, body) = get_text(&home, &format!("/api/find?q={query}"));
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(body.len() < 500, "what was asked is not repeated: {}", body.len());
    }
    assert_eq!(get_text(&home, &format!("/api/find?q={}", "a".repeat(1000))).0, StatusCode::OK);
}

#[test]
fn due_and_deleted_sessions_are_listed() {
    let home = test_home("a user hello\nb < a assistant hi");
    let day = std::time::Duration::from_secs(86_400);
    let aged = |name: &str, days: u32| {
        let path = home.write_session(name, "a user old\nb < a assistant yes");
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::now() - day * days).unwrap();
    };
    aged("-home-dev-app/overdue.jsonl", 50);
    aged("-home-dev-app/agent-1111111.jsonl", 28);
    let note = r#"{"display":"what does an osprey eat","timestamp":1767225600000,"project":"/home/dev/app","sessionId":"gone"}"#;
    std::fs::write(home.claude_dir().join("history.jsonl"), format!("{note}\n")).unwrap();
    let overview = get_json(&home, "/api/overview");
    let due = overview["due"].as_str().unwrap();
    assert!(due.starts_with("Claude Code will delete 1 session and 1 sub-agent file"), "{due}");
    assert_eq!(overview["leaving"][0]["id"], "overdue");
    let rows = get_json(&home, "/api/sessions");
    assert!(rows["sessions"][0]["deleted_after"].is_string());
    for (path, expected) in [
        ("/api/gone", 1),
        ("/api/gone?project=-home-dev-app", 1),
        ("/api/gone?project=-home-dev-x", 0),
    ] {
        let gone = get_json(&home, path);
        assert_eq!(gone["sessions"].as_array().unwrap().len(), expected, "{path}");
        assert!(expected == 0 || gone["sessions"][0]["class"] == "prompt-only");
    }
    for (path, expected) in [
        ("/api/find?q=osprey", true),
        ("/api/find?q=osprey&project=-home-dev-x", false),
        ("/api/find?q=osprey&branch=active", false),
        ("/api/find?q=osprey&role=assistant", false),
    ] {
        assert_eq!(get_text(&home, path).1.contains("prompt-only"), expected, "{path}");
    }
}

#[test]
fn exchanges_sum_up_what_follows_each_prompt() {
    let home = test_home(
        "a user first\nb < a call:t1:Edit src/a.rs\nc < b result:t1 done\nd < c assistant changed\n\
         e < d user second\nf < e assistant yes",
    );
    let told = get_json(&home, &format!("/api/sessions/{ID}/exchanges"));
    let rows = told["exchanges"].as_array().unwrap();
    let short: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {} {} {}", row["kind"], row["words"], row["calls"], row["at"]))
        .collect();
    assert_eq!(short, ["\"prompt\" \"first\" 1 0", "\"prompt\" \"second\" 0 3"], "{told}");
    assert_eq!(told["next"], Value::Null);
    let spans = get_json(&home, &format!("/api/sessions/{ID}/agent-spans"));
    assert_eq!(spans["agents"], serde_json::json!([]));
}

#[test]
fn daily_usage_adds_up_to_the_report() {
    let home = test_home("a user go\nb < a assistant left\nc < a assistant right");
    let report = get_json(&home, "/api/usage");
    let daily = get_json(&home, "/api/usage/daily");
    let sum = |field: &str| -> u64 {
        daily["rows"].as_array().unwrap().iter().map(|row| row[field].as_u64().unwrap()).sum()
    };
    for field in ["messages", "input", "output", "cache_read"] {
        assert_eq!(sum(field), report["totals"][field].as_u64().unwrap(), "{field}");
    }
    assert_eq!(daily["sessions"][0]["session"], ID);
    let blocks = daily["blocks"].as_array().unwrap();
    let messages: u64 = blocks.iter().map(|row| row["messages"].as_u64().unwrap()).sum();
    assert_eq!(messages, sum("messages"));
    let session = get_json(&home, &format!("/api/sessions/{ID}/usage"));
    assert_eq!(session["totals"], report["totals"]);
}

#[test]
fn prompts_are_sent_as_they_are_and_as_markdown() {
    let home = test_home("a user **bold** and <b>not</b>\nb < a assistant yes");
    let turns = get_json(&home, &format!("/api/sessions/{ID}/turns?to=10"));
    let part = &turns["turns"][0]["parts"][0];
    assert_eq!(part["text"], "**bold** and <b>not</b>");
    let html = part["html"].as_str().unwrap();
    assert!(html.contains("<strong>bold</strong>") && html.contains("&lt;b&gt;"), "{html}");
    let text = get_json(&home, &format!("/api/sessions/{ID}/text?at=0"));
    assert_eq!(text["text"], "**bold** and <b>not</b>");
}

#[test]
fn a_search_in_one_session_shows_all_of_its_hits() {
    let lines: Vec<String> = (0..12)
        .map(|n| match n {
            0 => "m0 user the needle".to_owned(),
            _ => format!("m{n} < m{} user the needle {n}", n - 1),
        })
        .collect();
    let home = test_home(&lines.join("\n"));
    let count = |path: &str| get_text(&home, path).1.matches("ramus.find/1").count();
    assert_eq!(count("/api/find?q=needle"), 3, "the best of each session");
    assert_eq!(count(&format!("/api/find?q=needle&session={ID}")), 12);
    assert_eq!(count(&format!("/api/find?q=needle&session={ID}&sort=newest")), 12);
}

#[test]
fn a_folded_text_that_was_cut_says_so_and_is_sent_whole() {
    let home = TestHome::new();
    let thinking = "long thought ".repeat(4_000);
    let lines = [
        serde_json::json!({"type": "user", "uuid": "a", "parentUuid": null,
            "message": {"role": "user", "content": "go"}}),
        serde_json::json!({"type": "assistant", "uuid": "b", "parentUuid": "a", "message": {
            "id": "m", "role": "assistant",
            "content": [{"type": "thinking", "thinking": thinking}, {"type": "text", "text": "done"}]}}),
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    home.write_file(&format!("-home-dev-app/{ID}.jsonl"), &text);
    let turns = get_json(&home, &format!("/api/sessions/{ID}/turns?to=9"));
    let reply = turns["turns"].as_array().unwrap().iter().find(|turn| turn["kind"] == "answer");
    let (reply, folded) = (reply.unwrap(), &reply.unwrap()["parts"][0]);
    assert_eq!((&folded["t"], &folded["cut"]), (&"thinking".into(), &thinking.len().into()));
    let address = format!("/api/sessions/{ID}/turn?at={}&i={}", reply["at"], reply["i"]);
    let whole = get_json(&home, &address);
    let html = whole["parts"][0]["html"].as_str().unwrap();
    assert_eq!(html.matches("long thought").count(), 4_000);
    assert_eq!(whole["parts"][0]["cut"], Value::Null);
}
