//! What the client sends when it resumes, compared with what the real client sent.
//!
//! The sessions under `fixtures/sent` were made by the client itself and resumed by it
//! (`tests/client/resumed.py`); beside each stand the messages it sent before the next prompt.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its fixtures and stops when it cannot"
)]

use std::path::{Path, PathBuf};

use ramus_core::client_path::{SentMessage, SentRequest};
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use serde_json::{Value, json};

fn fixtures() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sent");
    let mut files: Vec<PathBuf> = Vec::new();
    for version in std::fs::read_dir(dir).unwrap() {
        let entries = std::fs::read_dir(version.unwrap().path()).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// What would be sent, whole.
#[derive(Default)]
struct Resumed {
    messages: Vec<SentMessage>,
    unworded: Vec<String>,
    unreported: Vec<String>,
}

fn resumed(file: &Path) -> Resumed {
    resumed_from(&std::fs::read(file).unwrap())
}

fn resumed_from(bytes: &[u8]) -> Resumed {
    let mut session = Session::default();
    session.push(bytes);
    session.finish_last_line();
    let history = History::new(session, ResumeRule::Client);
    let Some(resume) = history.branches.resume else { return Resumed::default() };
    let mut line = |node| {
        let span = history.session.record(node).span;
        serde_json::from_slice(&bytes[span.offset as usize..span.end_offset() as usize]).ok()
    };
    let request = SentRequest::new(&history, resume.point, &mut line);
    let mut messages = Vec::new();
    let told = request.each_message(&mut line, &mut |message| -> Result<(), ()> {
        messages.push(message);
        Ok(())
    });
    assert_eq!(told, Ok(()));
    let unworded = request.unworded.iter().map(|(_, kind)| kind.clone()).collect();
    Resumed { messages, unworded, unreported: request.unreported }
}

fn messages(sent: &Resumed) -> Vec<Value> {
    let message = |m: &SentMessage| json!({"role": m.role.as_str(), "content": m.content});
    sent.messages.iter().map(message).collect()
}

/// A text, and a list that holds this text alone, are the same to the server.
fn as_lists(messages: &[Value]) -> Vec<Value> {
    let as_list = |message: &Value| match &message["content"] {
        Value::String(text) => {
            json!({"role": message["role"], "content": [{"type": "text", "text": text}]})
        }
        _ => message.clone(),
    };
    messages.iter().map(as_list).collect()
}

#[test]
fn what_is_sent_is_what_the_client_sent() {
    let files = fixtures();
    let mut wrong = Vec::new();
    for file in &files {
        let expected: Value =
            serde_json::from_slice(&std::fs::read(file.with_extension("json")).unwrap()).unwrap();
        let expected = as_lists(expected["sent"].as_array().unwrap());
        let sent = resumed(file);
        let messages = as_lists(&messages(&sent));
        let differ = (0..expected.len().max(messages.len()))
            .find(|&at| expected.get(at) != messages.get(at));
        if let Some(at) = differ {
            let show = |list: &[Value]| {
                list.get(at)
                    .map_or("nothing".to_owned(), |one| one.to_string().chars().take(700).collect())
            };
            wrong.push(format!(
                "{}: message {at}\n  client {}\n  ramus  {}\n  {:?}",
                file.display(),
                show(&expected),
                show(&messages),
                sent.unworded
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn agents_without_a_report_are_named() {
    let started = testkit::jsonl(
        "a user v=2.1.325 go
         b < a call:t1:Agent look
         c < b result:t1:abc1234 started
         d < c assistant it runs",
    )
    .replace("completed", "async_launched");
    let reported = testkit::jsonl("e < d notification <task-id>abc1234</task-id>");
    assert_eq!(resumed_from(started.as_bytes()).unreported, ["abc1234"]);
    assert!(resumed_from(format!("{started}{reported}").as_bytes()).unreported.is_empty());
    let awaited = started.replace("async_launched", "completed");
    assert!(resumed_from(awaited.as_bytes()).unreported.is_empty());
}
