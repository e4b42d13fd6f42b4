use super::*;
use crate::resume::ResumeRule;
use testkit::jsonl;

fn inspection(lines: &str) -> Inspection {
    let mut session = Session::with_inspection();
    session.push(lines.as_bytes());
    session.finish_last_line();
    Inspection::new(&History::new(session, ResumeRule::Client), Some("session"))
}

/// Lists what is found as `line word`.
#[track_caller]
fn check(lines: &str, expected: &[&str]) {
    let found = inspection(lines);
    let foreign = found.foreign.iter().map(|foreign| &foreign.flaw.defect);
    let all = foreign.chain(found.reused.iter().map(|flaw| &flaw.defect)).chain(&found.others);
    let words: Vec<String> =
        all.map(|defect| format!("{} {}", defect.line, defect.kind.as_str())).collect();
    assert_eq!(words, expected, "{lines}");
}

/// Lets the record of that name belong to another session.
fn moved(lines: &str, uuid: &str) -> String {
    let is_it = |line: &&str| line.contains(&format!("\"uuid\":\"{uuid}\""));
    let line = lines.lines().find(is_it).unwrap();
    lines.replace(line, &line.replace("\"sessionId\":\"session\"", "\"sessionId\":\"other\""))
}

const TALK: &str = "
    a      user       one
    b < a  assistant  two
    c < b  user       three
    d < c  assistant  four
";

#[test]
fn records_of_another_session_are_found() {
    let lines = jsonl(TALK);
    check(&lines, &[]);
    check(&moved(&lines, "c"), &["3 other-session"]);
    // A copied beginning is no defect, nor is a copy that says so.
    check(&moved(&moved(&lines, "a"), "b"), &[]);
    let copied = moved(&lines, "c").replace(
        "\"sessionId\":\"other\"",
        "\"forkedFrom\":{\"sessionId\":\"x\",\"messageUuid\":\"c\"},\"sessionId\":\"other\"",
    );
    check(&copied, &[]);
    // A renamed file holds nothing of its own.
    check(&lines.replace("\"sessionId\":\"session\"", "\"sessionId\":\"other\""), &[]);
}

#[test]
fn clients_before_2_0_changed_their_session_within_a_file() {
    let old = jsonl(TALK).replace("2.0.74", "1.0.117");
    check(&moved(&old, "c"), &[]);
    check(&moved(&jsonl(TALK).replace("\"version\":\"2.0.74\",", ""), "c"), &["3 other-session"]);
}

#[test]
fn thinking_without_a_signature_is_found() {
    let lines = jsonl("a user one\nb < a thinking hm\nc < b assistant #b two");
    check(&lines, &[]);
    check(&lines.replace("c2lnbmF0dXJl", ""), &["2 unsigned-thinking"]);
}

#[test]
fn a_message_id_belongs_to_one_message() {
    let split = "a user one\nb < a assistant #m two\nc < b call:t1 #m ls\nd < c result:t1 x\ne < d assistant #n three";
    check(&jsonl(split), &[]);
    let reused = "a user one\nb < a assistant #m two\nc < b user three\nd < c assistant #m four";
    // One request is one message, whatever stands between.
    check(&jsonl(reused), &[]);
    check(&jsonl(reused).replacen("req_m", "req_n", 1), &["4 reused-message-id"]);
    let unasked = jsonl(reused).replace(",\"requestId\":\"req_m\"", "");
    assert_ne!(unasked, jsonl(reused));
    check(&unasked, &["4 reused-message-id"]);
}

#[test]
fn a_tool_id_belongs_to_one_call() {
    let lines = jsonl(
        "a user one\nb < a call:t1 ls\nc < b result:t1 x\nd < c call:t1 pwd\ne < d result:t1 y",
    );
    check(&lines, &["4 reused-tool-id"]);
    check(&lines.replace("msg_d", "msg_b").replace("req_d", "req_b"), &[]);
}

#[test]
fn two_turns_at_once_are_two_clients() {
    check(
        &jsonl(
            "
            a      user       one
            b < a  assistant  two
            c < b  user       here
            x < b  user       there
            d < c  assistant  here too
            y < x  assistant  there too
            ",
        ),
        &["5 two-clients"],
    );
}

#[test]
fn one_client_goes_back_and_forth() {
    for short in [
        // Rewound, and on with the first branch again.
        "a user one\nb < a assistant two\nc < b user here\nd < c assistant h\nx < b user there\ny < x assistant t\ne < d user on\nf < e assistant again\nz < y user back\nw < z assistant there",
        // An answer that comes after the prompt which interrupted it.
        "a user one\nb < a assistant two\nx < a user stop\nc < b call:t1 #b ls\ny < x assistant yes\nd < c result:t1 x",
        // Parallel calls.
        "a user one\nb < a call:t1 #m ls\nc < b call:t2 #m pwd\nd < b result:t1 x\ne < c result:t2 y\nf < e assistant done",
    ] {
        check(&jsonl(short), &[]);
    }
}

#[test]
fn backups_are_named_once() {
    let short = "a user one\n- snapshot:a x=0011223344556677@v1 y=null@v1\n- snapshot:a x=0011223344556677@v1 z=8899aabbccddeeff@v2";
    let names: Vec<(String, u32)> = inspection(&jsonl(short))
        .backups
        .into_iter()
        .map(|backup| (backup.name.into(), backup.line))
        .collect();
    assert_eq!(
        names,
        [("0011223344556677@v1".to_owned(), 2), ("8899aabbccddeeff@v2".to_owned(), 3)]
    );
}
