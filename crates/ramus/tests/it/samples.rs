//! Real histories, if available next to the project: every line accounted for, forks as a reader would name them.

use std::fs;

use testkit::shared_material;

use crate::{run_json, run_ramus};

#[test]
fn every_line_of_the_samples_is_accounted_for() {
    let Some(samples) = shared_material("samples") else { return };
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
    let check = run_json(&samples, &["check"]);
    let sum =
        ["known", "unknown", "damaged"].iter().map(|key| check[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, lines);
    // The one line that its scrubbing cut in two.
    assert_eq!(check["damaged"], 1);
}

#[test]
fn the_forks_of_the_samples_are_those_a_reader_finds() {
    let Some(samples) = shared_material("samples") else { return };
    for (session, kinds, conversations) in [
        // A prompt was sent twice; the first got no answer.
        ("b0906a0f", &["edit"][..], 2),
        // After three turns the person went back to the first answer.
        ("03eb5929", &["rewind"], 2),
        ("s1", &["rewind"], 2),
        // An edited prompt, a retry after a broken stream, a rewind.
        ("c80b41ad", &["edit"], 2),
        ("0628119e", &["retry"], 2),
        ("0342a121", &["rewind"], 2),
        // Most turns were written again when the session was resumed; one prompt was really sent twice.
        ("66e7ddd8", &["edit"], 2),
        // Commands at a caveat record whose uuid was used again. `/clear` began a second tree in one of them.
        ("419ce5fb", &[], 1),
        ("202bdf96", &[], 1),
        ("3cd6ac86", &[], 1),
        ("795a2ff3", &[], 2),
        // Hook progress, API errors and stop hooks that were written after the turn they hang in.
        ("2582b40b", &[], 1),
        ("57649bcb", &[], 1),
        ("de22f52a", &[], 1),
        ("36906a98", &[], 1),
        // Compactions that are roots, or whose logical parent was never written.
        ("65864113", &[], 1),
        ("6b4a1a42", &[], 1),
        ("d32a8ce8", &[], 1),
        // Many records of one time; parents that were never written.
        ("a6b5933a", &[], 1),
        ("6ca4c424", &[], 1),
        // Rewound three times, the last time to choose the third of three branches.
        ("3e2ed768", &["rewind", "rewind", "rewind"], 6),
        // Hundreds of parallel calls, hooks and attachments, and not one fork.
        ("ef958aa1", &[], 1),
        ("7505c804", &[], 1),
        ("491e126e", &[], 1),
        ("12a546d1", &[], 1),
        ("2b06ee99", &[], 1),
    ] {
        let path = find_session(&samples.join("projects"), session);
        let tree = run_json(&samples, &["tree", path.to_str().unwrap()]);
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

#[test]
fn every_session_of_the_samples_is_read_whole_and_has_a_title() {
    let Some(samples) = shared_material("samples") else { return };
    for session in run_json(&samples, &["sessions", "--all"])["sessions"].as_array().unwrap() {
        let (file, messages) = (session["file"].as_str().unwrap(), &session["messages"]);
        let Some(messages) = messages.as_u64().filter(|messages| *messages > 0) else { continue };
        assert!(session["title"].is_string(), "{file}");
        // Files of test data whose records name no parents are no conversations.
        if session["id"] == "edge_cases" {
            continue;
        }
        let listed = run_json(&samples, &["conversations", file]);
        let rows = listed["conversations"].as_array().unwrap();
        let most = rows.iter().map(|row| row["messages"].as_u64().unwrap()).max().unwrap();
        let shown = run_json(&samples, &["show", file]);
        let read = shown["turns"].as_array().unwrap().iter().filter(|turn| {
            matches!(turn["kind"].as_str(), Some("prompt" | "answer" | "synthetic"))
        });
        let read = read.count() as u64;
        assert!(read * 2 >= messages || read == most, "{file}: {read} of {messages}");
    }
}

fn find_session(dir: &std::path::Path, session: &str) -> std::path::PathBuf {
    let projects = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = projects
        .flat_map(|project| fs::read_dir(project).unwrap().map(|entry| entry.unwrap().path()));
    let mut named = files.filter(|path| path.is_file());
    named.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(session)).unwrap()
}

#[test]
fn every_conversation_of_the_samples_can_be_read() {
    let Some(samples) = shared_material("samples") else { return };
    for session in run_json(&samples, &["sessions", "--all"])["sessions"].as_array().unwrap() {
        let file = session["file"].as_str().unwrap();
        for n in 1..=session["conversations"].as_u64().unwrap() {
            let address = format!("{file}@{n}");
            for args in [
                &["show", &*address, "--full"][..],
                &["show", &address, "--raw"],
                &["tree", &address, "--records"],
            ] {
                let output = run_ramus(&samples, args);
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
