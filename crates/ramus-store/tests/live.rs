//! Watching a file grow and reading it afterwards tell the same story.

use std::fs;

use ramus_core::live::{LiveEvent, LiveEventKind, LiveSession, SwitchKind};
use ramus_core::resume::ResumeRule;
use ramus_store::from_jsonl;

/// Events reported while a session is written equal the forks found when it is read.
#[test]
fn forks_are_those_that_are_found_afterwards() {
    let home = testkit::TestHome::new();
    testkit::write_corpus(&home, 7, 120);
    let mut ways = 0;
    for project in fs::read_dir(home.claude_dir().join("projects")).unwrap() {
        for file in fs::read_dir(project.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.ends_with(".jsonl") || name.starts_with("agent-") {
                continue;
            }
            let text = fs::read(&path).unwrap();
            let history = from_jsonl(&path, ResumeRule::Client).unwrap();
            let expected: usize =
                history.branches.forks.iter().map(|fork| fork.branches.len() - 1).sum();
            let is_new = |news: &LiveEvent| match &news.kind {
                LiveEventKind::Switch(switch) => matches!(switch.kind, SwitchKind::New(_)),
                _ => false,
            };
            let mut live = LiveSession::new(false);
            let seen: usize = text
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| live.push_lines(0, line).iter().filter(|news| is_new(news)).count())
                .sum();
            assert_eq!(seen, expected, "{}", path.display());
            ways += seen;
        }
    }
    assert!(ways > 50, "the corpus has {ways} forks");
}
