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

use serde_json::Value;
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
    Search(&'static str),
    /// Two conversations of one session, by their numbers.
    Diff {
        session: String,
        sides: [u64; 2],
    },
    /// The files at a message.
    Files {
        session: String,
        node: String,
    },
    Usage,
    Retention,
    Goto {
        session: String,
        node: String,
    },
    Fork {
        session: String,
        node: String,
    },
    Rename {
        session: String,
        title: &'static str,
    },
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
    testkit::corpus(&home, 11, 8);
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
    let mut questions = vec![Question::Sessions, Question::Usage, Question::Retention];
    questions.extend(corpus.searches.iter().map(|text| Question::Search(text)));
    for row in command::sessions(&corpus.claude) {
        let (session, title) = (text(&row, "id"), text(&row, "title"));
        let conversations = command::conversations(&corpus.claude, &session);
        let ends: Vec<(u64, String)> = { conversations.iter() }
            .map(|row| (row["n"].as_u64().unwrap(), text(row, "leaf")))
            .collect();
        questions.push(Question::Conversations { session: session.clone(), title: title.clone() });
        questions.push(Question::Tree { session: session.clone(), title });
        for pair in ends.windows(2) {
            let sides = [pair[0].0, pair[1].0];
            questions.push(Question::Diff { session: session.clone(), sides });
        }
        for (_, node) in ends {
            let session = session.clone();
            questions.push(Question::Files { session: session.clone(), node: node.clone() });
            // Where the client resumes anyway the command plans nothing and the page a line.
            if node != text(&row, "resume_leaf") {
                questions.push(Question::Goto { session: session.clone(), node: node.clone() });
            }
            questions.push(Question::Fork { session, node });
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
