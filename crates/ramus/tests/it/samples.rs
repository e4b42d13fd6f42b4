//! Real histories, if they are beside the project: every line accounted for, forks as a reader would name them.

use std::fs;

use crate::{json, ramus, shared};

#[test]
fn every_line_of_the_samples_is_accounted_for() {
    let Some(samples) = shared("samples") else { return };
    let mut lines = 0;
    let mut open = vec![samples.join("projects")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            let bytes = fs::read(&path).unwrap();
            lines += bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.trim_ascii().is_empty())
                .count() as u64;
        }
    }
    let check = json(&samples, &["check"]);
    let sum =
        ["known", "unknown", "damaged"].iter().map(|key| check[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, lines);
    // The one line that its scrubbing cut in two.
    assert_eq!(check["damaged"], 1);
}

#[test]
fn the_forks_of_the_samples_are_those_a_reader_finds() {
    let Some(samples) = shared("samples") else { return };
    for (session, kinds, conversations) in [
        // A prompt was sent twice; the first got no answer.
        ("b0906a0f", &["edit"][..], 2),
        // After three turns the person went back to the first answer.
        ("03eb5929", &["rewind"], 2),
        ("s1", &["rewind"], 2),
        ("419ce5fb", &["edit"], 2),
        // Rewound three times, the last time to take the third of three ways.
        ("3e2ed768", &["rewind", "rewind", "rewind"], 6),
        // Hundreds of parallel calls, hooks and attachments, and not one fork.
        ("ef958aa1", &[], 1),
        ("7505c804", &[], 1),
        ("491e126e", &[], 1),
        ("12a546d1", &[], 1),
        ("2b06ee99", &[], 1),
    ] {
        let path = find(&samples.join("projects"), session);
        let tree = json(&samples, &["tree", path.to_str().unwrap()]);
        let found: Vec<&str> = tree["forks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fork| fork["kind"].as_str().unwrap())
            .collect();
        assert_eq!(found, kinds, "{session}");
        assert_eq!(tree["leaves"].as_array().unwrap().len(), conversations, "{session}");
    }
}

fn find(dir: &std::path::Path, session: &str) -> std::path::PathBuf {
    let projects = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = projects
        .flat_map(|project| fs::read_dir(project).unwrap().map(|entry| entry.unwrap().path()));
    let mut named = files.filter(|path| path.is_file());
    named.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(session)).unwrap()
}

#[test]
fn every_conversation_of_the_samples_can_be_read() {
    let Some(samples) = shared("samples") else { return };
    for session in json(&samples, &["sessions", "--all"])["sessions"].as_array().unwrap() {
        let file = session["file"].as_str().unwrap();
        for n in 1..=session["conversations"].as_u64().unwrap() {
            let address = format!("{file}@{n}");
            for args in [
                &["show", &*address, "--full"][..],
                &["show", &address, "--raw"],
                &["tree", &address, "--records"],
            ] {
                let output = ramus(&samples, args);
                assert_eq!(
                    output.status.code(),
                    Some(0),
                    "{args:?}: {}",
                    String::from_utf8_lossy(&output.stderr)
                );
                assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{args:?}");
            }
        }
    }
}
