//! The resume point equals the one the real client chose, version by version.
//!
//! `expected.json` was measured: `resumed` is the message that the client of that
//! version hung its next prompt below.
#![expect(
    clippy::disallowed_methods,
    reason = "a test reads its fixtures and stops when it cannot"
)]

use std::path::Path;

use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use serde_json::Value;

/// Cases in which the client sends something else than the path to the point it chose.
const APART: &[(&str, &str)] = &[
    (
        "sidechain_root_last",
        "R6: clients up to 2.0.22 resume inside of an agent; ramus does not call that the conversation",
    ),
    ("sidechain_below_tip", "R6"),
    ("sidechain_below_interior", "R6"),
    ("only_sidechain", "R6"),
    (
        "tool_use_dangling_tip",
        "clients up to 2.1.280 leave an unanswered call out of what they send",
    ),
    ("text_then_tool_use_dangling_tip", "the same"),
    ("ptr_explicit_tool_use", "the client adds the result of a call that is pointed to"),
    ("tools_forked_ptr_first_result", "and the results beside it"),
    ("compact_preserved_summary_tip", "the client splices preserved records in behind the summary"),
    (
        "no_timestamp_on_tip",
        "from 2.1.105 on the client does not find a session whose last record bears no time",
    ),
];

#[test]
fn the_resume_point_is_the_clients() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/client");
    let expected: Vec<Value> =
        serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &expected {
        let file = case["file"].as_str().unwrap();
        if APART.iter().any(|(apart, _)| case["case"] == *apart) {
            continue;
        }
        let mut session = Session::default();
        session.push(&std::fs::read(dir.join(file)).unwrap());
        session.finish_last_line();
        let history = History::new(session, ResumeRule::Client);
        let resume = history.branches.resume;
        let leaf = resume.map(|resume| {
            history.session.uuid_text(history.session.record(resume.leaf).uuid.unwrap())
        });
        if leaf.as_deref() != case["resumed"].as_str() {
            let reason = resume.map(|resume| resume.reason);
            wrong.push(format!(
                "{file}: {leaf:?} by {reason:?}, the client {} ({})",
                case["resumed"], case["note"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        expected.len(),
        wrong.join("\n")
    );
}
