//! The command line, the page, MCP and the screens give the same answer to the same question.
//!
//! Each front end has one function that turns what it shows into plain rows. A row has the fields that
//! the front end shows; two front ends must agree in every field that both have.

mod command;
mod mcp;
mod page;
mod screens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use testkit::Home;

use command::Command;
use mcp::Mcp;
use page::Page;
use screens::Screens;

/// A row of an answer: fields and what they hold, spelled alike for all front ends.
type Row = BTreeMap<&'static str, String>;

/// What a front end answers.
#[derive(Debug)]
struct Answer {
    rows: Vec<Row>,
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
    Search(Search),
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
}

/// A message of a session.
#[derive(Clone, Debug)]
struct MessageAt {
    session: String,
    node: String,
    /// The title of the session, where the message is the end of what the screens open by it.
    opened_by: Option<String>,
}

impl MessageAt {
    fn address(&self) -> String {
        format!("{}:{}", self.session, self.node)
    }
}

/// What is searched for; the screens search for words alone.
#[derive(Clone, Copy, Debug, Default)]
struct Search {
    words: &'static str,
    role: Option<&'static str>,
    branch: Option<&'static str>,
    until: Option<&'static str>,
}

impl Search {
    fn is_plain(&self) -> bool {
        self.role.is_none() && self.branch.is_none() && self.until.is_none()
    }

    /// Returns the search as it is, and with each filter.
    fn variants(words: &'static str) -> [Self; 4] {
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
    home: Home,
    claude: PathBuf,
    searches: &'static [&'static str],
}

fn demo() -> Corpus {
    let home = Home::new();
    let claude = home.path().join("demo");
    let written = crate::ramus(&claude, &["demo", &claude.to_string_lossy()]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    Corpus { home, claude, searches: &["pool", "teapot", "Content-Length", "xyzzyplugh"] }
}

/// Makes sessions by rule; one of them is due for deletion, one overdue.
fn generated() -> Corpus {
    const DAY: u64 = 24 * 60 * 60;
    let home = Home::new();
    let truth = testkit::corpus(&home, 1, 8);
    assert!(truth.sessions > 8 && truth.tasks > 0, "copies begin like their originals: {truth:?}");
    let sessions = command::sessions(&home.claude());
    for (session, days) in sessions.iter().zip([28, 40]) {
        let path = home.claude().join(text(session, "file"));
        let then = SystemTime::now() - Duration::from_secs(days * DAY);
        File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }
    let claude = home.claude();
    Corpus { home, claude, searches: &["stop", "\"what about\"", "out", "look into"] }
}

#[test]
fn contract_all_front_ends_agree_on_the_demo() {
    check(&demo());
}

#[test]
fn contract_all_front_ends_agree_on_a_generated_corpus() {
    check(&generated());
}

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";
const SHORT: &str = "node1 user hello\nnode2 < node1 assistant hi\nnode3 < node2 user more";

#[test]
fn contract_all_front_ends_refuse_alike() {
    let home = Home::new();
    home.session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    home.session("-home-dev-app/0a1b2c3d-1111-4000-8000-000000000000.jsonl", SHORT);
    let twin = "77777777-0000-4000-8000-000000000000";
    home.session(&format!("-home-dev-app/{twin}.jsonl"), SHORT);
    home.session(&format!("-home-dev-other/{twin}.jsonl"), SHORT);
    let claude = home.claude();
    let page = Page::new(&home, &claude);
    let mut mcp = Mcp::start(&claude);
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
        let told = crate::ramus(&claude, &["goto", &address, "--dry-run"]);
        assert!(!told.status.success(), "the command does {address}");
        let command = refusal(&String::from_utf8_lossy(&told.stderr));
        let (text, is_error) = mcp.call("goto", &json!({"address": address}));
        assert!(is_error, "MCP does {address}: {text}");
        assert!(command.contains(expected), "{address}: the command refuses with {command:?}");
        assert_eq!(command, refusal(&text), "{address}: the command and MCP");
        if page_can {
            let (status, told) = page.post("/api/plan", &wanted);
            assert!(!status.is_success(), "the page does {address}: {told}");
            assert_eq!(command, page_refusal(&told), "{address}: the command and the page");
        }
    }
}

/// The client cannot go on at some messages: all give the same reason, and offer a fork.
#[test]
fn contract_all_front_ends_fork_where_goto_cannot_work() {
    let home = Home::new();
    let old = testkit::jsonl(
        "node1 user v=2.0.74 hello\nnode2 < node1 assistant v=2.0.74 hi\nnode3 < node2 user v=2.0.74 more",
    );
    let ahead = old.replace("2026-01-01T00:00:02", "2999-01-01T00:00:02");
    home.write(&format!("-home-dev-app/{ID}.jsonl"), ahead);
    let claude = home.claude();
    let address = format!("{ID}:node2");
    let told = crate::ramus(&claude, &["goto", &address]);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let (_, reason) = told.split_once("Cannot go there in this session: ").unwrap();
    let reason = reason.lines().next().unwrap();
    let planned = crate::json(&claude, &["goto", &address, "--dry-run"]);
    assert_eq!(planned["operation"], "fork");
    let (text, is_error) = Mcp::start(&claude).call("goto", &json!({"address": address}));
    assert!(!is_error && text.starts_with("Would: fork in session "), "{text}");
    assert!(text.contains(reason), "MCP: {text}");
    let wanted = json!({"what": "goto", "session": ID, "node": "node2"});
    let (status, plan) = Page::new(&home, &claude).post("/api/plan", &wanted);
    assert!(status.is_success() && plan["what"] == "fork", "{plan}");
    assert!(plan["warnings"].to_string().contains(reason), "the page: {plan}");
    if let Some(screens) = Screens::start(&claude) {
        let offered = screens.goto_first();
        assert!(offered.contains(reason) && offered.contains("Make it?"), "{offered}");
    }
}

/// What cannot be taken back or put back is refused for the same reason.
#[test]
fn contract_all_front_ends_refuse_what_cannot_go_back() {
    let home = Home::new();
    home.session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    let claude = home.claude();
    let page = Page::new(&home, &claude);
    let cases = [
        (vec!["undo", "--dry-run"], json!({"what": "undo"})),
        (
            vec!["files", ID, "--restore", "--dry-run"],
            json!({"what": "restore-files", "session": ID, "node": ""}),
        ),
    ];
    for (args, wanted) in cases {
        let told = crate::ramus(&claude, &args);
        let command = refusal(&String::from_utf8_lossy(&told.stderr));
        let (status, answer) = page.post("/api/plan", &wanted);
        assert!(!told.status.success() && !status.is_success(), "{args:?}: {answer}");
        assert_eq!(command, page_refusal(&answer), "{args:?}: the command and the page");
    }
    if let Some(screens) = Screens::start(&claude) {
        assert!(screens.undo_nothing().contains("there is nothing to undo"));
    }
}

/// A session that changed since something was planned is left alone.
#[test]
fn contract_a_stale_plan_is_refused_by_the_page_and_by_mcp() {
    let home = Home::new();
    let path = home.session(&format!("-home-dev-app/{ID}.jsonl"), SHORT);
    let claude = home.claude();
    let page = Page::new(&home, &claude);
    let mut mcp = Mcp::start(&claude);
    let wanted = json!({"what": "goto", "session": ID, "node": "node2"});
    let plan = page.post("/api/plan", &wanted).1["id"].clone();
    let (planned, _) = mcp.call("goto", &json!({"address": format!("{ID}:node2")}));
    let (_, rest) = planned.split_once("with plan ").unwrap();
    let name = rest.split(' ').next().unwrap();
    let longer = format!("{}{{}}\n", std::fs::read_to_string(&path).unwrap());
    std::fs::write(&path, &longer).unwrap();
    let (status, by_page) = page.post("/api/apply", &json!({"plan": plan}));
    let (by_mcp, is_error) = mcp.call("confirm", &json!({"plan": name}));
    assert!(!status.is_success() && is_error, "{by_page} {by_mcp}");
    for told in [by_page.to_string(), by_mcp] {
        assert!(told.contains("has changed since this was planned"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), longer);
}

/// Returns what is refused, without the words that each front end has for its own means.
fn refusal(told: &str) -> String {
    let first = told.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first = first.trim_start_matches("Error: ");
    if first.starts_with("no session has the id") || first == "there is no such session" {
        return "no session".to_owned();
    }
    if first.starts_with("no node of the session") || first == "there is no such message" {
        return "no message".to_owned();
    }
    match first.split_once("could be ").and_then(|(_, rest)| rest.split_once(' ')) {
        Some((count, _)) => format!("{count} candidates"),
        None => first.to_owned(),
    }
}

fn page_refusal(told: &Value) -> String {
    match told["candidates"].as_array() {
        Some(candidates) => format!("{} candidates", candidates.len()),
        None => refusal(&text(told, "error")),
    }
}

/// Asks every front end every question, and compares.
#[track_caller]
fn check(corpus: &Corpus) {
    let command = Command::new(&corpus.claude);
    let page = Page::new(&corpus.home, &corpus.claude);
    let mut mcp = Mcp::start(&corpus.claude);
    let screens = Screens::start(&corpus.claude);
    let mut disagreements = Vec::new();
    for question in questions(corpus) {
        let expected = command.answer(&question);
        let others = [
            ("the page", page.answer(&question)),
            ("MCP", mcp.answer(&question)),
            ("the screens", screens.as_ref().and_then(|screens| screens.answer(&question))),
        ];
        for (name, answer) in others {
            let Some(answer) = answer else { continue };
            if let Err(difference) = compare(&expected, &answer) {
                disagreements.push(format!("{question:?}: the command and {name}: {difference}"));
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n\n"));
}

/// Returns the questions that can be asked about a corpus.
fn questions(corpus: &Corpus) -> Vec<Question> {
    let mut questions =
        vec![Question::Projects, Question::Sessions, Question::Usage, Question::Retention];
    let searches = corpus.searches.iter().flat_map(|words| Search::variants(words));
    questions.extend(searches.map(Question::Search));
    for row in command::sessions(&corpus.claude) {
        let (session, title) = (text(&row, "id"), text(&row, "title"));
        let conversations = command::conversations(&corpus.claude, &session);
        let ends: Vec<(u64, String)> = { conversations.iter() }
            .map(|row| (row["n"].as_u64().unwrap(), text(row, "leaf")))
            .collect();
        questions.push(Question::Conversations { session: session.clone(), title: title.clone() });
        questions.push(Question::Tree { session: session.clone(), title: title.clone() });
        for pair in ends.windows(2) {
            let sides = [pair[0].0, pair[1].0];
            questions.push(Question::Diff { session: session.clone(), sides });
            questions.push(Question::Merge { session: session.clone(), sides });
        }
        for (n, node) in ends {
            // The screens go to what was said last; a note of the client may come after it.
            let is_end = node == text(&row, "resume_leaf")
                && command::is_said(&corpus.claude, &format!("{session}:{node}"));
            let opened_by = Some(title.clone()).filter(|_| is_end);
            let place = MessageAt { session: session.clone(), node, opened_by };
            questions.push(Question::Files(place.clone()));
            questions.push(Question::Goto(place.clone()));
            questions.push(Question::Resume(place.clone()));
            questions.push(Question::Fork(place.clone()));
            questions.push(Question::Resume(place.clone()));
            questions.push(Question::Export { place, n });
        }
        questions.push(Question::Rename { session, title: "Another name" });
    }
    questions
}

/// Tells where two answers differ.
fn compare(a: &Answer, b: &Answer) -> Result<(), String> {
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
        return { a.rows.iter().zip(&b.rows) }.try_for_each(|(a, b)| agree(a, b));
    }
    let mut left: Vec<&Row> = b.rows.iter().collect();
    for row in &a.rows {
        let at = left.iter().position(|other| agree(row, other).is_ok());
        let at = at.ok_or_else(|| format!("only one has {row:?}; the other has {left:#?}"))?;
        left.remove(at);
    }
    Ok(())
}

/// Compares the fields that both rows have; `…` stands for what there was no room for.
fn agree(a: &Row, b: &Row) -> Result<(), String> {
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
fn text(value: &Value, field: &str) -> String {
    match &value[field] {
        Value::Null => String::new(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Returns the first letters of an id, where not all of it is shown.
fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

/// Cuts a time to the minute.
fn minute(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', " ")
}

/// Splits a row of a table into its cells, which are at least two spaces apart.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
