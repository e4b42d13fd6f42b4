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
use ramus_core::resume::Rule;
use ramus_core::session::Session;
use serde_json::Value;

#[test]
fn the_resume_point_is_the_clients() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/client");
    let expected: Vec<Value> =
        serde_json::from_slice(&std::fs::read(dir.join("expected.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &expected {
        let file = case["file"].as_str().unwrap();
        let mut session = Session::default();
        session.push(&std::fs::read(dir.join(file)).unwrap());
        session.end();
        let history = History::new(session, Rule::Client);
        let resume = history.branches.resume;
        let leaf = resume
            .map(|resume| history.session.spell(history.session.record(resume.leaf).name.unwrap()));
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
