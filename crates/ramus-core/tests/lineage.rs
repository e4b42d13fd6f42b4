//! Originals and their copies: who came from whom (R5, R14, R21).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ramus_core::digest::SessionDigest;
use ramus_core::history::History;
use ramus_core::lineage::SessionEntry;
use ramus_core::link::{find_links, session_relations};
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use ramus_core::stats::{SessionInput, Stats};
use ramus_core::time::Time;
use serde_json::{Value, json};

/// A record of `session` written at a second; prompts have even numbers, answers odd ones.
fn record(name: &str, parent: Option<&str>, session: &str, second: i64) -> Value {
    let time = Time::from_millis((1_767_225_600 + second) * 1000).to_string();
    let (kind, content) = match name.starts_with('u') {
        true => ("user", json!(name)),
        false => ("assistant", json!([{"type": "text", "text": name}])),
    };
    json!({"parentUuid": parent, "isSidechain": false, "sessionId": session, "version": "2.1.50", "type": kind,
        "message": {"role": kind, "content": content}, "uuid": name, "timestamp": time})
}

/// A line of records, each below the one before it: `name@second`.
fn line(session: &str, records: &str) -> Vec<Value> {
    let mut parent = None;
    let mut line = Vec::new();
    for word in records.split_whitespace() {
        let (name, second) = word.split_once('@').unwrap();
        line.push(record(name, parent, session, second.parse().unwrap()));
        parent = Some(name);
    }
    line
}

fn digest(records: &[Value]) -> SessionDigest {
    let mut session = Session::default();
    for record in records {
        session.push(format!("{record}\n").as_bytes());
    }
    SessionDigest::new(&History::new(session, ResumeRule::Client))
}

fn with(records: Vec<Value>, key: &str, value: &Value) -> Vec<Value> {
    let set = |mut record: Value| {
        record[key] = value.clone();
        record
    };
    records.into_iter().map(set).collect()
}

/// Tells the links of sessions as `from kind to`.
#[track_caller]
fn check(sessions: &[(&str, Option<i64>, Vec<Value>)], expected: &[&str]) {
    let digests: Vec<SessionDigest> =
        sessions.iter().map(|(_, _, records)| digest(records)).collect();
    let entries: Vec<SessionEntry<'_>> = sessions
        .iter()
        .zip(&digests)
        .map(|((id, created, _), digest)| SessionEntry {
            id,
            digest,
            created: created.map(|second| Time::from_millis((1_767_225_600 + second) * 1000)),
        })
        .collect();
    for turned in [false, true] {
        let mut entries = entries.clone();
        if turned {
            entries.reverse();
        }
        let told = find_links(&entries).into_iter().map(|link| {
            format!("{} {} {}", entries[link.from].id, link.kind.as_str(), entries[link.to].id)
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        assert_eq!(told, expected, "turned: {turned}");
    }
}

const SHARED: &str = "u1@0 a1@1 u2@2 a2@3";

fn shared(session: &str, more: &str) -> Vec<Value> {
    line(session, &format!("{SHARED} {more}"))
}

#[test]
fn an_original_that_continues_after_its_copy_is_not_a_copy() {
    check(
        &[
            ("orig", None, shared("orig", "u3@50 a3@51")),
            ("copy", None, shared("copy", "u9@20 a9@21")),
        ],
        &["copy copy orig"],
    );
}

#[test]
fn copied_records_that_keep_their_session_id_name_the_original() {
    // Nothing else tells: the copy even went on later.
    let mut copy = line("orig", SHARED);
    copy.extend(line("copy", "u9@60 a9@61").into_iter().map(|mut record| {
        if record["parentUuid"].is_null() {
            record["parentUuid"] = json!("a2");
        }
        record
    }));
    check(
        &[("orig", None, shared("orig", "u3@50 a3@51")), ("copy", None, copy)],
        &["copy copy orig"],
    );
}

#[test]
fn a_copy_of_a_copy_names_both_and_came_from_the_second() {
    let relabel = |mut records: Vec<Value>, ids: [&str; 6]| {
        for (record, id) in records.iter_mut().zip(ids) {
            record["sessionId"] = json!(id);
        }
        records
    };
    let second = relabel(shared("b", "u3@10 a3@11"), ["a", "a", "a", "a", "b", "b"]);
    let mut third = relabel(shared("c", "u3@10 a3@11"), ["a", "a", "a", "a", "b", "b"]);
    third.push(record("u4", Some("a3"), "c", 20));
    check(
        &[("a", None, shared("a", "u8@90")), ("b", None, second), ("c", None, third)],
        &["b copy a", "c copy b"],
    );
}

#[test]
fn the_file_that_was_there_first_is_the_original() {
    // The copy was left alone until after the original had gone on.
    check(
        &[
            ("orig", Some(0), shared("orig", "u3@20 a3@21")),
            ("copy", Some(10), shared("copy", "u9@50 a9@51")),
        ],
        &["copy copy orig"],
    );
    // Restored from a backup, all files are new: their dates tell nothing.
    check(
        &[
            ("orig", Some(999), shared("orig", "u3@50 a3@51")),
            ("copy", Some(998), shared("copy", "u9@20 a9@21")),
        ],
        &["copy copy orig"],
    );
}

#[test]
fn a_branch_older_than_what_was_copied_tells_the_original() {
    // `--fork-session` copies the resumed path only.
    let mut original = line("orig", "u1@0 a1@1 u2@2 a2@3 u3@30");
    original.insert(2, record("u7", Some("a1"), "orig", 1));
    check(
        &[("orig", None, original), ("copy", None, shared("copy", "u9@50"))],
        &["copy copy orig"],
    );
}

#[test]
fn records_that_were_dated_again_are_copies() {
    let copy = line("copy", "u1@40 a1@40 u2@40 a2@40 u9@41");
    check(&[("orig", None, shared("orig", "u3@90")), ("copy", None, copy)], &["copy copy orig"]);
}

#[test]
fn forks_of_a_session_that_is_gone_are_no_copies_of_each_other() {
    let from = json!({"sessionId": "gone", "messageUuid": "a2"});
    check(
        &[
            ("one", None, with(shared("one", "u3@10"), "forkedFrom", &from)),
            ("two", None, with(shared("two", "u4@20"), "forkedFrom", &from)),
        ],
        &[],
    );
}

#[test]
fn sessions_that_claim_each_other_end_somewhere() {
    let from = |id: &str| json!({"sessionId": id, "messageUuid": "a2"});
    check(
        &[
            ("one", None, with(shared("one", "u3@10"), "forkedFrom", &from("two"))),
            ("two", None, with(shared("two", "u4@20"), "forkedFrom", &from("one"))),
        ],
        &["one fork two", "two fork one"],
    );
}

fn merged() -> Vec<(&'static str, Option<i64>, Vec<Value>)> {
    let from = |id: &str, name: &str| json!({"sessionId": id, "messageUuid": name});
    let mut merged = with(line("m", SHARED), "mergedFrom", &from("a", "a2"));
    for (record, name) in merged.iter_mut().zip(["u1", "a1", "u2", "a2"]) {
        record["mergedFrom"] = from("a", name);
    }
    let added = [("n1", "u5", "a2"), ("n2", "a5", "n1")].map(|(name, origin, parent)| {
        let mut record = record(origin, Some(parent), "m", 60);
        record["uuid"] = json!(name);
        record["mergedFrom"] = from("b", origin);
        record
    });
    merged.extend(added);
    let mut b = line("b", "u1@0 a1@1 u5@30 a5@31");
    b[0]["forkedFrom"] = from("a", "a1");
    vec![("a", None, shared("a", "")), ("b", None, b), ("m", None, merged)]
}

#[test]
fn a_merged_session_comes_from_what_it_was_merged_from() {
    check(&merged(), &["b fork a", "m merge a", "m merge b"]);
}

#[test]
fn a_merged_session_covers_the_paths_it_was_merged_from() {
    let sessions = merged();
    let digests: Vec<SessionDigest> =
        sessions.iter().map(|(_, _, records)| digest(records)).collect();
    let inputs: Vec<SessionInput<'_>> = sessions
        .iter()
        .zip(&digests)
        .map(|((id, ..), digest)| SessionInput { id, digest, created: None, agents: 0, orphans: 0 })
        .collect();
    let stats = Stats::new(&inputs, &[]);
    assert_eq!((stats.merged_sessions, stats.forked_sessions), (1, 1));
    assert_eq!(stats.most_complex.map(|(_, complexity)| complexity.score()), Some(3));
    assert_eq!(stats.unique_paths, 1);
}

#[test]
fn a_fork_of_a_merged_session_is_a_fork() {
    let mut sessions = merged();
    let from = json!({"sessionId": "m", "messageUuid": "n2"});
    let fork = with(sessions[2].2.clone(), "forkedFrom", &from);
    sessions.push(("f", None, fork));
    check(&sessions, &["b fork a", "f fork m", "m merge a", "m merge b"]);
}

#[test]
fn what_a_merge_says_in_place_of_several_messages_names_all_their_sessions() {
    let mut sessions = merged();
    let digest =
        json!([{"sessionId": "a", "messageUuid": "a2"}, {"sessionId": "b", "messageUuid": "a5"}]);
    sessions[2].2 = with(line("m", "n1@90 n2@91"), "mergedFrom", &digest);
    check(&sessions, &["b fork a", "m merge a", "m merge b"]);
}

/// Tells the family of a session as `kind id` of its origins, then of its offspring.
#[track_caller]
fn check_family(sessions: &[(&str, Vec<Value>)], id: &str, expected: [&[&str]; 2]) {
    let digests: Vec<SessionDigest> = sessions.iter().map(|(_, records)| digest(records)).collect();
    let entries: Vec<SessionEntry<'_>> = { sessions.iter().zip(&digests) }
        .map(|((id, _), digest)| SessionEntry { id, digest, created: None })
        .collect();
    let families = session_relations(&entries, &find_links(&entries));
    let family = &families[sessions.iter().position(|(other, _)| *other == id).unwrap()];
    let told = [&family.origins, &family.offspring].map(|relatives| {
        let tell = |one: &ramus_core::link::RelatedSession| {
            format!("{} {}", one.kind.as_str(), one.session.as_deref().unwrap_or("-"))
        };
        relatives.iter().map(tell).collect::<Vec<_>>()
    });
    assert_eq!(told, expected.map(|part| part.iter().map(ToString::to_string).collect::<Vec<_>>()));
}

#[test]
fn a_family_is_known_from_both_sides() {
    let from = json!({"sessionId": "orig", "messageUuid": "a2"});
    let fork = with(shared("fork", "u3@10"), "forkedFrom", &from);
    let mut next = line("next", "u8@40 a8@41");
    next[0]["parentUuid"] = json!("u3");
    let sessions = [("orig", shared("orig", "u5@9")), ("fork", fork), ("next", next)];
    check_family(&sessions, "orig", [&[], &["fork fork"]]);
    check_family(&sessions, "fork", [&["fork orig"], &["continuation next"]]);
    check_family(&sessions, "next", [&["continuation fork"], &[]]);
}

#[test]
fn a_copy_of_an_old_client_continues_its_original() {
    let old = |records| with(records, "version", &json!("1.0.113"));
    let sessions =
        [("orig", old(shared("orig", ""))), ("copy", old(shared("copy", "u9@20 a9@21")))];
    check_family(&sessions, "copy", [&["continuation orig"], &[]]);
    let sessions = [("orig", shared("orig", "")), ("copy", shared("copy", "u9@20 a9@21"))];
    check_family(&sessions, "copy", [&["copy orig"], &[]]);
}

#[test]
fn a_session_that_begins_with_clear_is_recognised() {
    let command = |name: &str| json!({"role": "user", "content": format!("<command-name>{name}</command-name>\n<command-message>x</command-message>")});
    let mut caveat = record("m1", None, "s", 0);
    caveat["type"] = json!("user");
    caveat["isMeta"] = json!(true);
    let begun = |name: &str| {
        let mut first = record("u1", Some("m1"), "s", 7);
        first["message"] = command(name);
        vec![caveat.clone(), first, record("u2", Some("u1"), "s", 9)]
    };
    let at = |records: &[Value]| digest(records).cleared_at.map(Time::as_millis);
    assert_eq!(at(&begun("/clear")), Some(1_767_225_607_000));
    assert_eq!(at(&begun("/cost")), None);
    let later = [vec![record("u0", None, "s", 1)], begun("/clear")].concat();
    assert_eq!(at(&later), None);
}
