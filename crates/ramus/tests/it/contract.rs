//! The command line, the web app, MCP and the screens give the same answer to the same question.
//!
//! Each front end has one function that turns what it shows into plain rows. A row has the fields that
//! the front end shows; two front ends must agree in every field that both have.

mod command;
mod mcp;
mod page;
mod screens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ramus_app::name::plain_title;
use serde_json::{Value, json};
use testkit::TestHome;

use command::CommandLine;
use mcp::McpDriver;
use page::WebDriver;
use screens::ScreensDriver;

/// A row of an answer: fields and what they hold, spelled alike for all front ends.
type AnswerRow = BTreeMap<&'static str, String>;

/// What a front end answers.
#[derive(Clone, Debug)]
struct ContractAnswer {
    rows: Vec<AnswerRow>,
    /// The order of the rows is part of the answer.
    ordered: bool,
}

/// What all front ends are asked.
#[derive(Clone, Debug)]
enum Question {
    Sessions,
    Conversations {
        session: String,
        title: String,
    },
    Tree {
        session: String,
        title: String,
    },
    Projects,
    Search(SearchQuestion),
    /// Two conversations of one session, by their numbers.
    Diff {
        session: String,
        sides: [u64; 2],
    },
    /// The files at a message.
    Files(MessageAt),
    Usage,
    Retention,
    Goto(MessageAt),
    Fork(MessageAt),
    /// Two conversations of one session, by their numbers.
    Merge {
        session: String,
        sides: [u64; 2],
    },
    /// A conversation, by its number.
    Export {
        place: MessageAt,
        n: u64,
    },
    Resume(MessageAt),
    Rename {
        session: String,
        title: &'static str,
    },
    Trash {
        session: String,
    },
    /// Puts the files of a message back.
    RestoreFiles(MessageAt),
}

/// The formats whose documents are compared byte for byte, each with the name of its field.
const EXPORT_FORMATS: [(&str, &str); 4] =
    [("as md", "md"), ("as html", "html"), ("as jsonl", "jsonl"), ("as txt", "txt")];

/// A message of a session.
#[derive(Clone, Debug)]
struct MessageAt {
    session: String,
    node: String,
    /// The title of the session, where the message is the end of what the screens open by it.
    opened_by: Option<String>,
}

impl MessageAt {
    fn message_address(&self) -> String {
        format!("{}:{}", self.session, self.node)
    }
}

/// What is searched for; the screens search for words alone.
#[derive(Clone, Copy, Debug, Default)]
struct SearchQuestion {
    words: &'static str,
    role: Option<&'static str>,
    branch: Option<&'static str>,
    until: Option<&'static str>,
}

impl SearchQuestion {
    fn is_plain(&self) -> bool {
        self.role.is_none() && self.branch.is_none() && self.until.is_none()
    }

    /// Returns the search as it is, and with each filter.
    fn all_variants(words: &'static str) -> [Self; 4] {
        let plain = Self { words, ..Self::default() };
        [
            plain,
            Self { role: Some("assistant"), ..plain },
            Self { branch: Some("abandoned"), ..plain },
            // The newest messages of both corpora are of other days.
            Self { until: Some("2026-01-05"), ..plain },
        ]
    }
}

/// A Claude directory, and the state beside it.
struct Corpus {
    home: TestHome,
    claude: PathBuf,
    searches: &'static [&'static str],
}

fn demo_corpus() -> Corpus {
    let home = TestHome::new();
    let claude = home.path().join("demo");
    let written = crate::run_ramus(&claude, &["demo", &claude.to_string_lossy()]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    age_files(&claude);
    Corpus { home, claude, searches: &["pool", "teapot", "Content-Length", "xyzzyplugh"] }
}

/// Makes sessions by rule; one of them is due for deletion, one overdue.
fn generated_corpus() -> Corpus {
    let home = TestHome::new();
    let truth = testkit::write_corpus(&home, 1, 8);
    assert!(truth.sessions > 8 && truth.tasks > 0, "copies begin like their originals: {truth:?}");
    let sessions = command::list_sessions(&home.claude_dir());
    age_files(&home.claude_dir());
    for (session, days) in sessions.iter().zip([28, 40]) {
        let path = home.claude_dir().join(field_text(session, "file"));
        set_age(&path, Duration::from_hours(24 * days));
    }
    let claude = home.claude_dir();
    Corpus { home, claude, searches: &["stop", "\"what about\"", "out", "look into"] }
}

/// Dates all files an hour ago: the screens mark what was just written as live.
fn age_files(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age_files(&path);
        } else {
            set_age(&path, Duration::from_hours(1));
        }
    }
}

fn set_age(path: &Path, age: Duration) {
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn contract_all_front_ends_agree_on_the_demo() {
    check_corpus(&demo_corpus());
}

#[test]
fn contract_all_front_ends_agree_on_a_generated_corpus() {
    check_corpus(&generated_corpus());
}

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";
const SHORT: &str = "node1 user hello\nnode2 < node1 assistant hi\nnode3 < node2 user more";

#[test]
fn contract_all_front_ends_refuse_alike() {
    let home = TestHome::new();
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    home.write_session("-home-dev-app/0a1b2c3d-1111-4000-8000-000000000000.jsonl", SHORT);
    let twin = "77777777-0000-4000-8000-000000000000";
    home.write_session(&format!("-home-dev-app/{twin}.jsonl"), SHORT);
    home.write_session(&format!("-home-dev-other/{twin}.jsonl"), SHORT);
    let claude = home.claude_dir();
    let page = WebDriver::new(&home, &claude);
    let mut mcp = McpDriver::start_server(&claude);
    // What is asked for, and whether the page can be asked: it takes whole ids alone.
    let cases = [
        ("nosuch", "node1", true, "no session"),
        ("0a1b2c3d", "node1", false, "2 candidates"),
        (twin, "node1", true, "2 candidates"),
        (ID, "nosuch", true, "no message"),
        (ID, "node", false, "3 candidates"),
    ];
    for (session, node, page_can, expected) in cases {
        let address = format!("{session}:{node}");
        let wanted = json!({"what": "goto", "session": session, "node": node});
        let told = crate::run_ramus(&claude, &["goto", &address, "--dry-run"]);
        assert!(!told.status.success(), "the command does {address}");
        let command = refusal_text(&String::from_utf8_lossy(&told.stderr));
        let (text, is_error) = mcp.call_tool("goto", &json!({"address": address}));
        assert!(is_error, "MCP does {address}: {text}");
        assert!(command.contains(expected), "{address}: the command refuses with {command:?}");
        assert_eq!(command, refusal_text(&text), "{address}: the command and MCP");
        if page_can {
            let (status, told) = page.post_json("/api/plan", &wanted);
            assert!(!status.is_success(), "the page does {address}: {told}");
            assert_eq!(command, page_refusal(&told), "{address}: the command and the page");
        }
    }
}

/// The client cannot resume at some messages: all front ends give the same reason, and offer a fork.
#[test]
fn contract_all_front_ends_fork_where_goto_cannot_work() {
    let home = TestHome::new();
    let old = testkit::jsonl(
        "node1 user v=2.0.74 hello\nnode2 < node1 assistant v=2.0.74 hi\nnode3 < node2 user v=2.0.74 more",
    );
    let ahead = old.replace("2026-01-01T00:00:02", "2999-01-01T00:00:02");
    home.write_file(&format!("-home-dev-app/{ID}.jsonl"), ahead);
    let claude = home.claude_dir();
    let address = format!("{ID}:node2");
    let told = crate::run_ramus(&claude, &["goto", &address]);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let (_, reason) = told.split_once("Cannot resume there in this session: ").unwrap();
    let reason = reason.lines().next().unwrap();
    let planned = crate::run_json(&claude, &["goto", &address, "--dry-run"]);
    assert_eq!(planned["operation"], "fork");
    let (text, is_error) =
        McpDriver::start_server(&claude).call_tool("goto", &json!({"address": address}));
    assert!(!is_error && text.starts_with("Planned: fork in session "), "{text}");
    assert!(text.contains(reason), "MCP: {text}");
    let wanted = json!({"what": "goto", "session": ID, "node": "node2"});
    let (status, plan) = WebDriver::new(&home, &claude).post_json("/api/plan", &wanted);
    assert!(status.is_success() && plan["what"] == "fork", "{plan}");
    assert!(plan["warnings"].to_string().contains(reason), "the page: {plan}");
    if let Some(screens) = ScreensDriver::start_screens(&claude) {
        let offered = screens.goto_first();
        assert!(offered.contains(reason) && offered.contains("Create it?"), "{offered}");
    }
}

/// An undo or restore that is not possible is refused for the same reason.
#[test]
fn contract_all_front_ends_refuse_what_cannot_go_back() {
    let home = TestHome::new();
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    let claude = home.claude_dir();
    let page = WebDriver::new(&home, &claude);
    let cases = [
        (vec!["undo", "--dry-run"], json!({"what": "undo"})),
        (
            vec!["files", ID, "--restore", "--dry-run"],
            json!({"what": "restore-files", "session": ID, "node": ""}),
        ),
    ];
    for (args, wanted) in cases {
        let told = crate::run_ramus(&claude, &args);
        let command = refusal_text(&String::from_utf8_lossy(&told.stderr));
        let (status, answer) = page.post_json("/api/plan", &wanted);
        assert!(!told.status.success() && !status.is_success(), "{args:?}: {answer}");
        assert_eq!(command, page_refusal(&answer), "{args:?}: the command and the page");
    }
    if let Some(screens) = ScreensDriver::start_screens(&claude) {
        assert!(screens.undo_nothing().contains("nothing to undo"));
    }
}

/// An undo or restore has the same plan everywhere.
#[test]
fn contract_all_front_ends_plan_the_same_way_back() {
    let home = TestHome::new();
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    let claude = home.claude_dir();
    let page = WebDriver::with_state(&claude, home.path().join(".local/state/ramus"));
    for (args, wanted) in [
        (["rename", ID, "A name"], json!({"what": "undo"})),
        (["goto", &format!("{ID}:node2"), "--force"], json!({"what": "undo", "op": 2})),
    ] {
        let done = crate::run_ramus(&claude, &[&args[..], &["--yes"]].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let command = crate::run_json(&claude, &["undo", "--dry-run"]);
        let (status, planned) = page.post_json("/api/plan", &wanted);
        assert!(status.is_success(), "{planned}");
        let expected = command::single_row(command::plan_row(&command, "operation"));
        let answer = command::single_row(command::plan_row(&planned, "what"));
        compare_answers(&expected, &answer).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
    let command = crate::run_json(&claude, &["restore", ID, "--at", "2", "--dry-run"]);
    let wanted = json!({"what": "restore", "session": ID, "op": 2});
    let (status, planned) = page.post_json("/api/plan", &wanted);
    assert!(status.is_success(), "{planned}");
    assert_eq!(command["operation"], planned["what"], "{command} {planned}");
}

/// A session that changed since something was planned is left alone.
#[test]
fn contract_a_stale_plan_is_refused_by_the_page_and_by_mcp() {
    let home = TestHome::new();
    let path = home.write_session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    let claude = home.claude_dir();
    let page = WebDriver::new(&home, &claude);
    let mut mcp = McpDriver::start_server(&claude);
    let wanted = json!({"what": "goto", "session": ID, "node": "node2"});
    let plan = page.post_json("/api/plan", &wanted).1["id"].clone();
    let (planned, _) = mcp.call_tool("goto", &json!({"address": format!("{ID}:node2")}));
    let (_, rest) = planned.split_once("with plan ").unwrap();
    let name = rest.split(' ').next().unwrap();
    let longer = format!("{}{{}}\n", std::fs::read_to_string(&path).unwrap());
    std::fs::write(&path, &longer).unwrap();
    let (status, by_page) = page.post_json("/api/apply", &json!({"plan": plan}));
    let (by_mcp, is_error) = mcp.call_tool("confirm", &json!({"plan": name}));
    assert!(!status.is_success() && is_error, "{by_page} {by_mcp}");
    for told in [by_page.to_string(), by_mcp] {
        assert!(told.contains("changed after the plan was made"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), longer);
}

/// Returns a refusal, without the words that differ between front ends.
fn refusal_text(told: &str) -> String {
    let first = told.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = first.trim_start_matches("Error: ");
    if first.starts_with("no session has the id") || first == "no such session" {
        return "no session".to_owned();
    }
    if first.starts_with("no message in the session") || first == "no such message" {
        return "no message".to_owned();
    }
    match first.split_once(" matches ").and_then(|(_, rest)| rest.split_once(' ')) {
        Some((count, _)) => format!("{count} candidates"),
        None => first.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn page_refusal(told: &Value) -> String {
    match told["candidates"].as_array() {
        Some(candidates) => format!("{} candidates", candidates.len()),
        None => refusal_text(&field_text(told, "error")),
    }
}

/// Asks every front end every question, and compares.
#[track_caller]
fn check_corpus(corpus: &Corpus) {
    let command = CommandLine::new(&corpus.claude);
    let page = WebDriver::new(&corpus.home, &corpus.claude);
    let mut mcp = McpDriver::start_server(&corpus.claude);
    let screens = ScreensDriver::start_screens(&corpus.claude);
    let mut disagreements = Vec::new();
    for question in all_questions(corpus) {
        let expected = command.answer_question(&question);
        let others = [
            ("the page", page.answer_question(&question)),
            ("MCP", mcp.answer_question(&question)),
            (
                "the screens",
                screens.as_ref().and_then(|screens| screens.answer_question(&question)),
            ),
        ];
        for (name, answer) in others {
            let Some(answer) = answer else { continue };
            let mut expected = expected.clone();
            if name == "the screens" {
                // They show the title of a session above its passages.
                let is_named = |row: &AnswerRow| {
                    row.get("kind").is_some_and(|kind| kind == "title" || kind == "last-prompt")
                };
                expected.rows.retain(|row| !is_named(row));
                // Their lists have titles as plain text.
                for row in &mut expected.rows {
                    for field in ["title", "branch title"] {
                        if let Some(title) = row.get_mut(field) {
                            *title = plain_title(title);
                        }
                    }
                }
            }
            if let Err(difference) = compare_answers(&expected, &answer) {
                disagreements.push(format!("{question:?}: the command and {name}: {difference}"));
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n\n"));
}

/// Returns the questions that can be asked about a corpus.
fn all_questions(corpus: &Corpus) -> Vec<Question> {
    let mut questions =
        vec![Question::Projects, Question::Sessions, Question::Usage, Question::Retention];
    let searches = corpus.searches.iter().flat_map(|words| SearchQuestion::all_variants(words));
    questions.extend(searches.map(Question::Search));
    for row in command::list_sessions(&corpus.claude) {
        let (session, title) = (field_text(&row, "id"), field_text(&row, "title"));
        let conversations = command::list_conversations(&corpus.claude, &session);
        let ends: Vec<(u64, String)> = { conversations.iter() }
            .map(|row| (row["n"].as_u64().unwrap(), field_text(row, "leaf")))
            .collect();
        questions.push(Question::Conversations { session: session.clone(), title: title.clone() });
        questions.push(Question::Tree { session: session.clone(), title: title.clone() });
        for pair in ends.windows(2) {
            let sides = [pair[0].0, pair[1].0];
            questions.push(Question::Diff { session: session.clone(), sides });
            questions.push(Question::Merge { session: session.clone(), sides });
        }
        for (n, node) in ends {
            // The screens go to the last dialogue; a note of the client may come after it.
            let is_end = node == field_text(&row, "resume_leaf")
                && command::is_said(&corpus.claude, &format!("{session}:{node}"));
            let opened_by = Some(title.clone()).filter(|_| is_end);
            let place = MessageAt { session: session.clone(), node, opened_by };
            questions.push(Question::Files(place.clone()));
            questions.push(Question::RestoreFiles(place.clone()));
            questions.push(Question::Goto(place.clone()));
            questions.push(Question::Resume(place.clone()));
            questions.push(Question::Fork(place.clone()));
            questions.push(Question::Export { place, n });
        }
        let session_again = session.clone();
        questions.push(Question::Rename { session: session_again, title: "Another name" });
        questions.push(Question::Trash { session });
    }
    questions
}

/// Tells where two answers differ.
fn compare_answers(a: &ContractAnswer, b: &ContractAnswer) -> Result<(), String> {
    if a.rows.len() != b.rows.len() {
        return Err(format!(
            "{} and {} rows\n{:#?}\n{:#?}",
            a.rows.len(),
            b.rows.len(),
            a.rows,
            b.rows
        ));
    }
    if a.ordered && b.ordered {
        return { a.rows.iter().zip(&b.rows) }.try_for_each(|(a, b)| compare_rows(a, b));
    }
    let mut left: Vec<&AnswerRow> = b.rows.iter().collect();
    for row in &a.rows {
        let at = left.iter().position(|other| compare_rows(row, other).is_ok());
        let at = at.ok_or_else(|| format!("only one has {row:?}; the other has {left:#?}"))?;
        left.remove(at);
    }
    Ok(())
}

/// Compares the fields that both rows have; `…` marks text that was cut.
fn compare_rows(a: &AnswerRow, b: &AnswerRow) -> Result<(), String> {
    let common: BTreeSet<_> = a.keys().filter(|key| b.contains_key(*key)).collect();
    assert!(!common.is_empty(), "nothing to compare in {a:?} and {b:?}");
    for field in common {
        let (one, other) = (&a[field], &b[field]);
        let is_cut = |long: &str, short: &str| {
            { short.strip_suffix('…') }.is_some_and(|start| long.starts_with(start.trim_end()))
        };
        if one != other && !is_cut(one, other) && !is_cut(other, one) {
            return Err(format!("{field} is {one:?} and {other:?}\n{a:?}\n{b:?}"));
        }
    }
    Ok(())
}

/// Returns a field as text; empty where there is none.
fn field_text(value: &Value, field: &str) -> String {
    match &value[field] {
        Value::Null => String::new(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Returns the first letters of an id, where not all of it is shown.
fn shorten_id(id: &str) -> String {
    id.chars().take(8).collect()
}

/// Cuts a time to the minute.
fn to_minute(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', " ")
}

/// Splits a row of a table into its cells, which are at least two spaces apart.
fn table_cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
