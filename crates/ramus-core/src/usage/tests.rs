use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{FileUsage, LedgerFile, LedgerTotals, UsageLedger};
use crate::branches::BranchStatus;
use crate::digest::SessionDigest;
use crate::history::History;
use crate::price::PriceList;
use crate::record::ByteSpan;
use crate::resume::ResumeRule;
use crate::session::Session;

/// One answer: `uuid < parent`, its message, request and output tokens.
fn answer(uuid: &str, parent: &str, message: &str, request: &str, output: u64) -> Value {
    let mut record = json!({
        "parentUuid": parent, "isSidechain": false, "sessionId": "s", "version": "2.0.74", "type": "assistant",
        "message": {"id": message, "type": "message", "role": "assistant", "model": "claude-opus-5",
            "content": [{"type": "text", "text": uuid}], "usage": {"input_tokens": 0, "output_tokens": output}},
        "uuid": uuid, "timestamp": "2026-01-01T10:00:00.000Z",
    });
    if !request.is_empty() {
        record["requestId"] = json!(request);
    }
    record
}

fn prompt(uuid: &str, parent: Option<&str>, seconds: u32) -> Value {
    json!({"parentUuid": parent, "isSidechain": false, "sessionId": "s", "version": "2.0.74", "type": "user",
        "message": {"role": "user", "content": format!("prompt {uuid}")},
        "uuid": uuid, "timestamp": format!("2026-01-01T10:00:{seconds:02}.000Z")})
}

fn with(mut record: Value, key: &str, value: Value) -> Value {
    record[key] = value;
    record
}

fn side(record: Value) -> Value {
    with(record, "isSidechain", json!(true))
}

fn read(records: &[Value]) -> History {
    let mut session = Session::with_usage();
    for record in records {
        session.push(format!("{record}\n").as_bytes());
    }
    History::new(session, ResumeRule::Client)
}

/// Books of files given as name, whether it is an agent's, and records; agents belong to the first.
fn usage_ledger(files: &[(&str, bool, Vec<Value>)]) -> UsageLedger {
    let read: Vec<(FileUsage, SessionDigest)> = files
        .iter()
        .map(|(_, _, records)| {
            let history = read(records);
            (FileUsage::new(&history, &PriceList::default()), SessionDigest::new(&history))
        })
        .collect();
    let accounts: Vec<LedgerFile<'_>> = files
        .iter()
        .zip(&read)
        .map(|((id, agent, _), (account, digest))| LedgerFile {
            usage: account,
            digest,
            id,
            created: None,
            session: agent.then_some(0),
            agent: *agent,
            call: None,
        })
        .collect();
    let ledger = UsageLedger::new(&accounts, true);
    let sums = LedgerTotals::new(&ledger, files.len(), &TimeZone::UTC);
    // What is added up file by file comes to the same.
    let short = UsageLedger::new(&accounts, false);
    assert_eq!(
        format!("{sums:?}"),
        format!("{:?}", LedgerTotals::new(&short, files.len(), &TimeZone::UTC))
    );
    ledger
}

#[track_caller]
fn check(files: &[(&str, bool, Vec<Value>)], messages: u64, output: u64) -> UsageLedger {
    let ledger = usage_ledger(files);
    let total = ledger.totals_by(|_| ()).remove(&()).unwrap_or_default();
    assert_eq!((total.messages, total.tokens.output), (messages, output));
    ledger
}

fn talk() -> Vec<Value> {
    vec![prompt("a", None, 0), answer("b", "a", "m1", "r1", 1), answer("c", "b", "m1", "r1", 9)]
}

#[test]
fn the_largest_record_of_a_message_counts_once() {
    check(&[("s", false, talk())], 1, 9);
}

#[test]
fn a_forked_copy_counts_where_it_came_from() {
    let mut copy: Vec<Value> = talk()
        .into_iter()
        .map(|record| with(record, "forkedFrom", json!({"sessionId": "s", "messageUuid": "a"})))
        .collect();
    copy.push(answer("d", "c", "m2", "r2", 4));
    let ledger = check(&[("f", false, copy), ("s", false, talk())], 2, 13);
    let files: Vec<u32> = ledger.messages().map(|(owner, _)| owner.file).collect();
    assert_eq!(files, [1, 0]);
}

#[test]
fn a_resumed_copy_without_a_word_of_it_counts_once() {
    let mut copy = talk();
    copy.push(with(
        answer("d", "c", "m2", "r2", 4),
        "timestamp",
        json!("2026-01-02T10:00:00.000Z"),
    ));
    let ledger = check(&[("later", false, copy), ("s", false, talk())], 2, 13);
    assert_eq!(ledger.messages().next().unwrap().0.file, 1);
}

#[test]
fn a_replay_after_a_compaction_counts_once() {
    let mut records = talk();
    records.push(
        json!({"parentUuid": null, "logicalParentUuid": "c", "isSidechain": false, "type": "system",
        "subtype": "compact_boundary", "uuid": "x", "timestamp": "2026-01-01T10:01:00.000Z"}),
    );
    records.push(with(prompt("y", Some("x"), 59), "isCompactSummary", json!(true)));
    records.push(answer("b2", "y", "m1", "r1", 1));
    records.push(answer("c2", "b2", "m1", "r1", 9));
    check(&[("s", false, records)], 1, 9);
}

#[test]
fn a_side_question_repeats_messages_under_new_requests() {
    let aside: Vec<Value> = vec![
        side(prompt("a", None, 0)),
        side(answer("b", "a", "m1", "other", 9)),
        side(prompt("q", Some("b"), 9)),
        side(answer("z", "q", "m9", "r9", 3)),
    ];
    let ledger = check(&[("s", false, talk()), ("aside_question-1", true, aside)], 2, 12);
    let agents: Vec<bool> = ledger.messages().map(|(owner, _)| owner.agent).collect();
    assert_eq!(agents, [false, true]);
}

#[test]
fn copies_of_a_message_first_written_by_a_side_question_count_once() {
    let mut first = vec![side(prompt("p", None, 0)), side(answer("x", "p", "m1", "other", 9))];
    first.extend(talk());
    check(&[("s", false, first), ("t", false, talk())], 1, 9);
}

#[test]
fn another_request_for_the_same_message_on_the_main_line_counts() {
    let mut records = talk();
    records.push(answer("d", "c", "m1", "r7", 5));
    check(&[("s", false, records)], 2, 14);
}

#[test]
fn without_a_request_the_message_alone_tells() {
    let records =
        vec![prompt("a", None, 0), answer("b", "a", "m1", "", 2), answer("c", "b", "m1", "", 3)];
    check(&[("s", false, records.clone()), ("t", false, records)], 1, 3);
}

#[test]
fn synthetic_messages_and_replies_without_usage_do_not_count() {
    let mut said = answer("b", "a", "m1", "r1", 9);
    said["message"]["model"] = json!("<synthetic>");
    let mut bare = answer("c", "a", "m2", "r2", 9);
    bare["message"]["usage"] = json!(null);
    check(&[("s", false, vec![prompt("a", None, 0), said, bare])], 0, 0);
}

#[test]
fn abandoned_branches_and_their_agents_are_counted_separately() {
    let mut call = answer("b", "a", "m1", "r1", 1);
    call["message"]["content"] =
        json!([{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}]);
    let result = with(prompt("r", Some("b"), 2), "toolUseResult", json!({"agentId": "ag1"}));
    let mut result = result;
    result["message"]["content"] =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
    let session = vec![
        prompt("a", None, 0),
        call,
        result,
        prompt("a2", None, 5),
        with(answer("b2", "a2", "m2", "r2", 4), "timestamp", json!("2026-01-01T10:00:09.000Z")),
    ];
    // Two prompts without a parent are two trees; hung below one answer they are a fork.
    let root = vec![prompt("z", None, 0), answer("y", "z", "m0", "r0", 2)];
    let hung = session.into_iter().map(|record| {
        let root = record["parentUuid"].is_null();
        if root { with(record, "parentUuid", json!("y")) } else { record }
    });
    let session: Vec<Value> = root.into_iter().chain(hung).collect();
    let agent = vec![side(prompt("q", None, 3)), side(answer("w", "q", "m5", "r5", 7))];
    let ledger = check(&[("s", false, session), ("ag1", true, agent)], 4, 14);
    let by = ledger.totals_by(|owner| (owner.status, owner.agent));
    let output = |status, agent| by.get(&(status, agent)).map(|sum| sum.tokens.output);
    assert_eq!(output(BranchStatus::Active, false), Some(6));
    assert_eq!(output(BranchStatus::Abandoned, false), Some(1));
    assert_eq!(output(BranchStatus::Abandoned, true), Some(7));
}

#[test]
fn a_model_that_took_over_has_its_tokens() {
    let mut record = answer("b", "a", "m1", "r1", 30);
    record["message"]["usage"]["iterations"] = json!([
        {"type": "message", "input_tokens": 1, "output_tokens": 10},
        {"type": "message", "model": "claude-haiku-4-5", "input_tokens": 2, "output_tokens": 20}]);
    let ledger = check(&[("s", false, vec![prompt("a", None, 0), record])], 1, 30);
    let models = LedgerTotals::new(&ledger, 1, &TimeZone::UTC).models;
    let told: Vec<_> =
        models.iter().map(|(model, sum)| (*model, sum.messages, sum.tokens.output)).collect();
    assert_eq!(told, [("claude-haiku-4-5", 0, 20), ("claude-opus-5", 1, 10)]);
}

#[test]
fn a_message_over_midnight_belongs_to_the_day_it_began() {
    let late =
        with(answer("c", "b", "m1", "r1", 9), "timestamp", json!("2026-01-02T00:00:01.000Z"));
    let ledger = check(
        &[("s", false, vec![prompt("a", None, 0), answer("b", "a", "m1", "r1", 1), late])],
        1,
        9,
    );
    let time = ledger.messages().next().unwrap().1.time.unwrap();
    assert_eq!(time.to_string(), "2026-01-01T10:00:00.000Z");
}

#[test]
fn whole_paths_share_their_beginning() {
    let records = vec![
        prompt("z", None, 0),
        answer("y", "z", "m0", "r0", 2),
        prompt("a", Some("y"), 1),
        answer("b", "a", "m1", "r1", 3),
        prompt("c", Some("y"), 20),
        with(answer("d", "c", "m2", "r2", 5), "timestamp", json!("2026-01-01T10:00:30.000Z")),
    ];
    let account = FileUsage::new(&read(&records), &PriceList::default());
    let sums = account.totals_by_segment();
    let along: Vec<u64> = account
        .conversation_ends
        .iter()
        .map(|end| account.total_along(*end, &sums).tokens.output)
        .collect();
    assert_eq!(along, [5, 7]);
}

#[test]
fn a_reply_that_a_merge_wrote_twice_counts_once() {
    let merged = |record: Value, origin: &str| {
        with(record, "mergedFrom", json!({"sessionId": "s", "messageUuid": origin}))
    };
    let origin = || vec![prompt("z", None, 0), answer("a", "z", "m1", "r1", 7)];
    let copy = vec![
        prompt("z", None, 0),
        merged(answer("a", "z", "m1", "r1", 7), "a"),
        merged(answer("n", "a", "msg_new", "r1", 7), "a"),
        answer("o", "n", "m2", "r2", 1),
    ];
    check(&[("s", false, origin()), ("t", false, copy)], 2, 8);
    // Where answers have no request, the record that was copied tells.
    let without = |record: Value| with(record, "requestId", Value::Null);
    let copy = vec![
        prompt("z", None, 0),
        merged(without(answer("a", "z", "m1", "", 7)), "a"),
        merged(without(answer("n", "a", "msg_new", "", 7)), "a"),
    ];
    check(&[("t", false, copy)], 1, 7);
}

#[test]
fn a_session_that_is_taken_up_again_tells_the_same() {
    let mut taken_over = answer("b", "a", "m1", "r1", 30);
    taken_over["message"]["usage"]["iterations"] = json!([
        {"type": "message", "input_tokens": 1, "output_tokens": 10},
        {"type": "message", "model": "claude-haiku-4-5", "input_tokens": 2, "output_tokens": 20}]);
    taken_over["message"]["usage"]["speed"] = json!("fast");
    let later = [answer("c", "b", "m2", "", 3), answer("d", "c", "m2", "", 5)];
    let lines: Vec<String> = [prompt("a", None, 0), taken_over]
        .iter()
        .chain(&later)
        .map(|record| format!("{record}\n"))
        .collect();
    let text = lines.concat();
    let told = |mut session: Session, rest: &str| {
        session.push(rest.as_bytes());
        let account =
            FileUsage::new(&History::new(session, ResumeRule::Client), &PriceList::default());
        format!("{:?} {:?}", account.message_usages(), account.buckets)
    };
    let at_once = told(Session::with_usage(), &text);
    for cut in 0..=lines.len() {
        let (first, rest) = text.split_at(lines[..cut].concat().len());
        let mut session = Session::with_usage();
        session.push(first.as_bytes());
        let bytes = |span: ByteSpan| {
            Some(text.as_bytes()[span.offset as usize..][..span.len as usize].to_vec())
        };
        let again = Session::from_bytes(&session.to_bytes().unwrap(), bytes).unwrap();
        assert_eq!(told(again, rest), at_once, "cut after {cut} lines");
    }
}
