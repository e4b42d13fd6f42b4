//! Any bytes are a session: plans for it are whole JSON lines, and lead where they say or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramus_core::body::RecordBody;
use ramus_core::edit::{self, EditContext, ForkOptions, NewLine, end_of_message};
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};
use ramus_core::time::Time;

/// More targets than these tell nothing new about one session.
const TARGETS: usize = 8;

fn history(bytes: &[u8]) -> History {
    let mut session = Session::default();
    session.push(bytes);
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

fuzz_target!(|data: &[u8]| {
    let history = history(data);
    let now = Time::parse(b"2026-03-01T12:00:00.000Z").expect("because it is one");
    let mut number = 0;
    let mut new_id = || {
        number += 1;
        format!("00000000-0000-4000-8000-{number:012}")
    };
    let mut writer = EditContext { session: "new", now, new_id: &mut new_id };
    let nodes: Vec<NodeId> = history.session.nodes().map(|(id, _)| id).take(TARGETS).collect();
    for node in nodes {
        if let Ok(addition) = edit::plan_goto(&history, node, "title", &mut writer) {
            assert_lines(&addition.bytes);
        }
        let Some(path) = end_of_message(&history, node).and_then(|end| history.path_to(end)) else {
            continue;
        };
        let mut body = |id: NodeId| RecordBody::parse(bytes_of(data, &history, id)).ok();
        let origin = edit::copy_source("old", &history, &path, &mut body);
        let request = ForkOptions { title: "title", cwd: None };
        let Ok(new) = edit::plan_fork(&[origin], request, &mut writer) else { continue };
        for line in &new.lines {
            match line {
                NewLine::Made(bytes) => assert_lines(bytes),
                NewLine::Copied(line) => {
                    let span = line.span();
                    let old = &data[span.offset as usize..span.end_offset() as usize];
                    let new = line.splice.apply_to(old);
                    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
                    assert!(!is_json(old) || is_json(&new), "a copied record is one still");
                }
            }
        }
    }
});

fn bytes_of<'a>(data: &'a [u8], history: &History, id: NodeId) -> &'a [u8] {
    let span = history.session.record(id).span;
    data.get(span.offset as usize..span.offset as usize + span.len as usize).unwrap_or_default()
}

fn assert_lines(bytes: &[u8]) {
    assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok());
    }
}
