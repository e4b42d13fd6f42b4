//! Generated corpora with known contents: every number must match.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json as value};
use testkit::{TestHome, shared_material, write_corpus};

use crate::run_json;

#[test]
fn statistics_of_a_made_corpus_equal_its_truth() {
    for seed in 1..12 {
        let home = TestHome::new();
        let truth = write_corpus(&home, seed, 30);
        let stats = run_json(&home.claude_dir(), &["stats"]);
        let seen = value!({
            "sessions": stats["sessions"],
            "empty": stats["by_class"]["empty"],
            "summary_only": stats["by_class"]["summary-only"],
            "records": stats["by_type"],
            "damaged": stats["damaged"],
            "blank": stats["blank"],
            "forks": stats["forks"],
            "raw_forks": stats["raw"]["forks"],
            "leaves": stats["conversations"],
            "raw_leaves": stats["raw"]["leaves"],
            "unique_paths": stats["unique_paths"],
            "compactions": stats["compactions"],
            "sidechain_records": stats["sidechain_records"],
            "duplicates": stats["duplicate_uuids"],
            "orphans": stats["orphans"],
            "tasks": stats["agents"]["task"],
            "warmups": stats["agents"]["warmup"],
        });
        let expected = value!({
            "sessions": truth.sessions,
            "empty": truth.empty,
            "summary_only": truth.summary_only,
            "records": truth.records,
            "damaged": truth.damaged,
            "blank": truth.blank,
            "forks": truth.forks,
            "raw_forks": truth.raw_forks,
            "leaves": truth.leaves,
            "raw_leaves": truth.raw_leaves,
            "unique_paths": truth.unique_paths,
            "compactions": truth.compactions,
            "sidechain_records": truth.sidechain_records,
            "duplicates": truth.duplicates,
            "orphans": truth.orphans,
            "tasks": truth.tasks,
            "warmups": truth.warmups,
        });
        assert_eq!(seen, expected, "seed {seed}");
        let sessions = run_json(&home.claude_dir(), &["sessions", "--all"]);
        for session in sessions["sessions"].as_array().unwrap() {
            let id = session["id"].as_str().unwrap();
            if let Some(active) = truth.active.get(id) {
                assert_eq!(session["resume_leaf"], value!(active), "session {id} of seed {seed}");
            }
        }
    }
}

/// Makes a corpus with the generator beside the project.
pub(crate) fn generate_corpus(dir: &Path, megabytes: u32, seed: u32) -> Option<Value> {
    let generator = shared_material("tools/gen_corpus.py")?;
    let made = Command::new("python3")
        .arg(generator)
        .args(["--size-mb", &megabytes.to_string(), "--seed", &seed.to_string(), "--out"])
        .arg(dir.join("claude"))
        .arg("--manifest")
        .arg(dir.join("truth.json"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap())
}

#[test]
fn statistics_of_generated_corpora_equal_their_truth() {
    for (megabytes, seed) in [(2, 11), (3, 12), (5, 13), (8, 14)] {
        let dir = tempfile::tempdir().unwrap();
        let Some(truth) = generate_corpus(dir.path(), megabytes, seed) else { return };
        let claude = dir.path().join("claude");
        let stats = run_json(&claude, &["stats"]);
        let sum = |value: &Value| {
            value.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>()
        };
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        let blank = count(&truth["malformed_lines"]["blank"]);
        for (name, seen, expected) in [
            ("records by type", &stats["by_type"], &truth["records_by_type"]),
            ("system records", &stats["system_by_subtype"], &truth["system_by_subtype"]),
            ("lines", &stats["lines"], &truth["lines"]),
            ("damaged", &stats["damaged"], &value!(sum(&truth["malformed_lines"]) - blank)),
            ("sessions", &stats["sessions"], &truth["sessions"]),
            ("empty", &stats["by_class"]["empty"], &value!(count(&truth["files"]["empty"]))),
            (
                "summaries",
                &stats["by_class"]["summary-only"],
                &value!(count(&truth["files"]["summary_only"])),
            ),
            (
                "snapshots",
                &stats["by_class"]["file-history-only"],
                &value!(count(&truth["files"]["snapshot_only"])),
            ),
            (
                "metadata",
                &stats["by_class"]["metadata-only"],
                &value!(count(&truth["files"]["metadata_only"])),
            ),
            ("forks", &stats["forks"], &truth["real_forks"]),
            ("raw forks", &stats["raw"]["forks"], &truth["raw_forks"]),
            ("leaves", &stats["conversations"], &truth["real_leaves"]),
            ("raw leaves", &stats["raw"]["leaves"], &truth["raw_leaves"]),
            ("unique paths", &stats["unique_paths"], &truth["unique_paths"]),
            ("compactions", &stats["compactions"], &truth["compactions"]),
            ("sidechain records", &stats["sidechain_records"], &truth["sidechain_records"]),
            ("duplicate uuids", &stats["duplicate_uuids"], &truth["duplicate_uuid_records"]),
            ("orphans", &stats["orphans"], &truth["orphan_records"]),
            ("task agents", &stats["agents"]["task"], &truth["agents"]["task"]),
            ("warm-ups", &stats["agents"]["warmup"], &truth["agents"]["warmup"]),
        ] {
            assert_eq!(seen, expected, "{name} of {megabytes} MB, seed {seed}");
        }
        active_leaves(&claude, &truth);
    }
}

/// Compares each session's resume point with the line it was last writing to.
///
/// A record that is newer than that line and off it (an orphan written last, the
/// result of a call at which a copy was cut) is where a client of that time
/// would resume (R11); the generator does not think of it.
fn active_leaves(claude: &Path, truth: &Value) {
    let sessions = run_json(claude, &["sessions", "--all"]);
    let sessions = sessions["sessions"].as_array().unwrap();
    for expected in truth["session_list"].as_array().unwrap() {
        let session = sessions.iter().find(|session| session["id"] == expected["id"]).unwrap();
        let kinds = &expected["fork_kinds"];
        if kinds["orphan"].is_null() && kinds["copy_mid"].is_null() {
            assert_eq!(session["resume_leaf"], expected["active_leaf"], "{}", expected["file"]);
        }
    }
}
