use std::collections::{BTreeMap, BTreeSet};

use ramus_core::branches::{Artefact, BranchStatus, Conversation, ForkKind};
use ramus_core::digest::SessionDigest;
use ramus_core::history::{AgentClass, History, SessionClass};
use ramus_core::lineage::SessionEntry;
use ramus_core::link::{LinkKind, find_links};
use ramus_core::resume::{ResumeReason, ResumeRule};
use ramus_core::session::Session;
use serde_json::Value;

use testkit::demo::{
    BRANCH, DARK, EMPTY, LANDING, LOAD_TEST, OVERSHOOT, RESUMED, SHOWCASE, SUMMARIES,
};

use super::{DemoFile, demo_files};

/// The files in `crates/ramus/demo` are what the generator makes. `UPDATE_DEMO=1` writes them.
#[test]
fn the_embedded_sample_is_what_the_generator_makes() {
    let made = testkit::demo::sample_files();
    if std::env::var_os("UPDATE_DEMO").is_some() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
        std::fs::remove_dir_all(&dir).unwrap();
        for file in &made {
            let path = dir.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.bytes).unwrap();
        }
    }
    let embedded = demo_files();
    let paths = |files: &[DemoFile]| files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    let made: Vec<DemoFile> =
        made.into_iter().map(|file| DemoFile { path: file.path, bytes: file.bytes }).collect();
    assert_eq!(paths(&embedded), paths(&made));
    for (embedded, made) in embedded.iter().zip(&made) {
        assert!(embedded == made, "{} differs", embedded.path);
    }
}

/// Reads the sample's `.jsonl` files below `projects/`.
fn demo_histories() -> Vec<(DemoFile, History)> {
    let is_history =
        |file: &DemoFile| file.path.starts_with("projects/") && file.path.ends_with(".jsonl");
    demo_files()
        .into_iter()
        .filter(is_history)
        .map(|file| {
            let mut session = Session::default();
            session.push(&file.bytes);
            session.finish_last_line();
            (file, History::new(session, ResumeRule::Client))
        })
        .collect()
}

#[track_caller]
fn demo_history(id: &str) -> History {
    let name = format!("{id}.jsonl");
    let found = demo_histories().into_iter().find(|(file, _)| file.path.ends_with(&name));
    found.unwrap_or_else(|| panic!("no session {id}")).1
}

fn json_values(file: &DemoFile) -> Vec<Value> {
    let text = std::str::from_utf8(&file.bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the first words of the last prompt on a conversation's path.
fn last_prompt<'a>(history: &'a History, conversation: &Conversation) -> &'a str {
    let path = history.conversation_path(conversation);
    path.nodes
        .iter()
        .rev()
        .filter_map(|node| history.session.preview_text(*node))
        .next()
        .unwrap_or("")
}

#[test]
fn every_time_the_same_bytes() {
    assert_eq!(demo_files(), demo_files());
}

#[test]
fn every_line_is_a_known_record() {
    let mut lines = 0;
    for (file, history) in demo_histories() {
        let counts = history.session.line_counts();
        assert_eq!(counts.known, counts.total_lines(), "{}: {counts:?}", file.path);
        // The one defect is there on purpose: a uuid that was used twice.
        let expected = usize::from(file.path.contains(OVERSHOOT));
        assert_eq!(SessionDigest::new(&history).defects.len(), expected, "{}", file.path);
        assert_eq!(history.record_tree.missing_parents(), [], "{}", file.path);
        lines += counts.known;
    }
    assert!((250..400).contains(&lines), "{lines} records");
}

#[test]
fn lines_look_like_the_clients() {
    for (file, _) in demo_histories() {
        let text = std::str::from_utf8(&file.bytes).unwrap();
        for (line, value) in text.lines().zip(json_values(&file)) {
            assert_eq!(line, value.to_string(), "compact");
            let start = if value.get("uuid").is_some() { "{\"parentUuid\":" } else { "{\"type\":" };
            assert!(line.starts_with(start), "{line}");
            if let Some(uuid) = value["uuid"].as_str() {
                let named = format!("\"uuid\":\"{uuid}\",\"timestamp\":\"2026-");
                let system = format!("Z\",\"uuid\":\"{uuid}\"");
                assert!(line.contains(&named) || line.contains(&system), "{line}");
            }
        }
    }
}

#[test]
fn tool_calls_are_paired() {
    for (file, _) in demo_histories() {
        let (mut calls, mut results) = (BTreeMap::new(), BTreeMap::new());
        for line in json_values(&file) {
            for block in line["message"]["content"].as_array().into_iter().flatten() {
                for (key, ids) in [("id", &mut calls), ("tool_use_id", &mut results)] {
                    let id = block[key].as_str().map(str::to_owned);
                    id.into_iter().for_each(|id| *ids.entry(id).or_insert(0) += 1);
                }
            }
        }
        assert_eq!(calls, results, "{}", file.path);
    }
}

#[test]
fn the_showcase_has_every_kind_of_fork() {
    let history = demo_history(SHOWCASE);
    let kinds: BTreeSet<ForkKind> = history.branches.forks.iter().map(|fork| fork.kind).collect();
    assert_eq!(kinds, ForkKind::ALL.into());
    assert!(history.branches.artefacts[&Artefact::ParallelTools] >= 2);
    assert_eq!(history.session.facts().compactions.len(), 1);
    assert_eq!(history.record_tree.defects(), []);
}

#[test]
fn the_showcase_resumes_at_a_branch_that_is_not_the_last() {
    let history = demo_history(SHOWCASE);
    let resume = history.branches.resume.unwrap();
    assert_eq!(resume.reason, ResumeReason::Pointer);
    let resuming = history.branches.resuming_conversation().unwrap();
    assert_eq!(last_prompt(&history, resuming), "Good. It runs as root, though.");
    assert_eq!((resuming.status, resuming.compactions), (BranchStatus::Active, 1));
    let last = history.branches.conversations.last().unwrap();
    assert!(last.leaf > resuming.leaf && last.status == BranchStatus::Abandoned);
}

#[test]
fn the_showcase_leaves_five_conversations_behind() {
    let history = demo_history(SHOWCASE);
    let abandoned: Vec<&str> = history
        .branches
        .conversations
        .iter()
        .filter(|conversation| conversation.status == BranchStatus::Abandoned)
        .map(|conversation| last_prompt(&history, conversation).split('.').next().unwrap_or(""))
        .collect();
    let expected = [
        "Add a `/status` route that returns JSON",
        "One slow client blocks everybody else",
        "Still one at a time",
        "[Request interrupted by user]",
        "What is missing in Cargo",
    ];
    assert_eq!(abandoned, expected);
}

#[test]
fn agents_are_inline_flat_and_nested() {
    let inline = demo_history(OVERSHOOT);
    assert!(inline.session.facts().sidechain_records > 0);
    let classes: Vec<AgentClass> = demo_histories()
        .iter()
        .filter(|(file, _)| file.path.contains("agent-"))
        .map(|(_, history)| AgentClass::of_session(&history.session))
        .collect();
    let count = |class| classes.iter().filter(|found| **found == class).count();
    assert_eq!((count(AgentClass::Task), count(AgentClass::Warmup)), (3, 1));
    let metas: Vec<Value> = demo_files()
        .iter()
        .filter(|file| file.path.ends_with(".meta.json"))
        .map(|file| serde_json::from_slice(&file.bytes).unwrap())
        .collect();
    let depths: BTreeSet<u64> =
        metas.iter().filter_map(|meta| meta["spawnDepth"].as_u64()).collect();
    assert_eq!(depths, [1, 2].into());
}

#[test]
fn one_prompt_was_tried_four_times() {
    let history = demo_history(LANDING);
    let fork = &history.branches.forks[0];
    let drafts = fork.branches.iter().filter(|way| way.draft).count();
    assert_eq!((fork.kind, fork.branches.len(), drafts), (ForkKind::Edit, 4, 2));
}

#[test]
fn a_uuid_and_a_line_occur_twice() {
    let history = demo_history(OVERSHOOT);
    assert_eq!(history.record_tree.repeated_uuids(), 2);
    assert_eq!(history.record_tree.defects().len(), 1);
    assert_eq!(history.branches.forks[0].kind, ForkKind::Retry);
    let main =
        history.record_tree.roots().iter().filter(|root| !history.session.record(**root).sidechain);
    assert_eq!(main.count(), 2);
}

#[test]
fn sessions_are_linked() {
    let ids = [OVERSHOOT, RESUMED, SUMMARIES, LANDING, DARK, EMPTY, SHOWCASE, BRANCH, LOAD_TEST];
    let digests = ids.map(|id| SessionDigest::new(&demo_history(id)));
    let sessions: Vec<SessionEntry<'_>> = ids
        .into_iter()
        .zip(&digests)
        .map(|(id, digest)| SessionEntry { id, digest, created: None })
        .collect();
    let found: BTreeSet<(&str, &str, LinkKind)> = find_links(&sessions)
        .iter()
        .map(|link| (ids[link.from], ids[link.to], link.kind))
        .collect();
    let expected = [
        (RESUMED, OVERSHOOT, LinkKind::Copy),
        (SUMMARIES, OVERSHOOT, LinkKind::Summary),
        (SUMMARIES, RESUMED, LinkKind::Summary),
        (DARK, LANDING, LinkKind::Copy),
        (BRANCH, SHOWCASE, LinkKind::Fork),
    ];
    assert_eq!(found, expected.into());
}

#[test]
fn some_files_are_no_conversations() {
    assert_eq!(demo_history(EMPTY).session_class(), SessionClass::Empty);
    assert_eq!(demo_history(SUMMARIES).session_class(), SessionClass::SummaryOnly);
}

#[test]
fn checkpoints_name_the_backups_there_are() {
    let mut named = BTreeSet::new();
    for (file, _) in demo_histories().iter().filter(|(file, _)| !file.path.contains("agent-")) {
        let session = file.path.rsplit('/').next().unwrap().replace(".jsonl", "");
        for line in json_values(file) {
            let tracked = line["snapshot"]["trackedFileBackups"].as_object();
            let backups = tracked.into_iter().flat_map(|map| map.values()).chain([&line["backup"]]);
            let names = backups.filter_map(|backup| backup["backupFileName"].as_str());
            named.extend(names.map(|name| format!("file-history/{session}/{name}")));
        }
    }
    let there: BTreeSet<String> = demo_files()
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.starts_with("file-history/"))
        .collect();
    assert_eq!(named, there);
}

#[test]
fn the_smaller_patterns_are_there_too() {
    let all: Vec<Value> = demo_histories().iter().flat_map(|(file, _)| json_values(file)).collect();
    #[track_caller]
    fn check_any(all: &[Value], what: &str, is: impl Fn(&Value) -> bool) {
        assert!(all.iter().any(is), "no {what}");
    }
    let block = |line: &Value, kind: &str| line["message"]["content"][0]["type"] == kind;
    check_any(&all, "image", |line| line["message"]["content"][1]["type"] == "image");
    check_any(&all, "withheld thinking", |line| {
        block(line, "thinking") && line["message"]["content"][0]["thinking"] == ""
    });
    check_any(&all, "API error", |line| line["isApiErrorMessage"] == true);
    check_any(&all, "retried request", |line| line["subtype"] == "api_error");
    check_any(&all, "queued prompt", |line| line["attachment"]["type"] == "queued_command");
    check_any(&all, "custom title", |line| line["type"] == "custom-title");
    check_any(&all, "title by the model", |line| line["type"] == "ai-title");
    check_any(&all, "stopped tool", |line| line["toolUseResult"] == "User rejected tool use");
    check_any(&all, "patch", |line| {
        line["toolUseResult"]["structuredPatch"][0]["lines"].is_array()
    });
    let spilled = all.iter().find_map(|line| line["toolUseResult"]["persistedOutputPath"].as_str());
    let spilled = spilled.and_then(|path| path.strip_prefix("/home/dev/.claude/"));
    assert!(demo_files().iter().any(|file| Some(&*file.path) == spilled));
}

#[test]
fn the_sample_contains_no_real_home_directory() {
    for file in demo_files() {
        let text = String::from_utf8(file.bytes).unwrap();
        for (at, _) in text.match_indices("/home/") {
            assert!(text[at..].starts_with("/home/dev"), "{}", file.path);
        }
    }
}
