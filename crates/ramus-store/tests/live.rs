//! Watching a file grow and reading it afterwards tell the same story.

use std::fs;

use ramus_core::live::{Live, News, SwitchKind, Told};
use ramus_core::resume::Rule;
use ramus_store::from_jsonl;

/// What is told while a session is written is what is found when it is read.
#[test]
fn forks_are_those_that_are_found_afterwards() {
    let home = testkit::Home::new();
    testkit::corpus(&home, 7, 120);
    let mut ways = 0;
    for project in fs::read_dir(home.claude().join("projects")).unwrap() {
        for file in fs::read_dir(project.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.ends_with(".jsonl") || name.starts_with("agent-") {
                continue;
            }
            let text = fs::read(&path).unwrap();
            let history = from_jsonl(&path, Rule::Client).unwrap();
            let expected: usize =
                history.branches.forks.iter().map(|fork| fork.ways.len() - 1).sum();
            let is_new = |news: &News| match &news.told {
                Told::Switch(switch) => matches!(switch.kind, SwitchKind::New(_)),
                _ => false,
            };
            let mut live = Live::new(false);
            let seen: usize = text
                .split_inclusive(|byte| *byte == b'\n')
                .map(|line| live.take(0, line).iter().filter(|news| is_new(news)).count())
                .sum();
            assert_eq!(seen, expected, "{}", path.display());
            ways += seen;
        }
    }
    assert!(ways > 50, "the corpus has {ways} forks");
}
