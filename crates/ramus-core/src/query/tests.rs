use super::{FindingDetail, Query, QueryError};
use proptest::prelude::{Strategy, any, prop, prop_assert, proptest};
use serde_json::json;

/// Looks for `words` in a record and says which kind of text holds them, and where.
#[track_caller]
fn check(words: &str, record: &serde_json::Value, expected: &str) {
    let line = record.to_string();
    let query = Query::from_words(words).unwrap();
    let mut seen = String::new();
    if query.candidate_lines(line.as_bytes()).count() == 1 {
        query.find_in_line(line.as_bytes(), FindingDetail::Where, |finding| {
            let text = &finding.text[finding.range.clone()];
            seen = format!("{} {text}", finding.text_kind.as_str());
        });
    }
    assert_eq!(seen, expected);
}

fn user(content: &serde_json::Value) -> serde_json::Value {
    json!({"parentUuid": null, "type": "user", "uuid": "harp-uuid", "sessionId": "harp-session",
        "message": {"role": "user", "content": content}})
}

fn assistant(block: &serde_json::Value) -> serde_json::Value {
    json!({"type": "assistant", "uuid": "u", "requestId": "harp-request",
        "message": {"id": "harp-id", "model": "harp", "content": [block]}})
}

#[test]
fn every_text_of_a_message_is_looked_at() {
    check("harp", &user(&json!("a violet Harp")), "prompt Harp");
    check("harp", &user(&json!([{"type": "text", "text": "a harp"}])), "prompt harp");
    check("harp", &assistant(&json!({"type": "text", "text": "harp"})), "answer harp");
    let thinking = json!({"type": "thinking", "thinking": "harp?", "signature": "x"});
    check("harp", &assistant(&thinking), "thinking harp");
    let call =
        json!({"type": "tool_use", "id": "t", "name": "Edit", "input": {"deep": [{"id": "harp"}]}});
    check("harp", &assistant(&call), "tool-input harp");
    check("edit", &assistant(&call), "tool-input Edit");
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "harp"}]}]);
    check("harp", &user(&result), "tool-result harp");
    let mut record = user(&json!([{"type": "tool_result", "tool_use_id": "t", "content": ""}]));
    record["toolUseResult"] = json!({"any": {"hint": "harp"}});
    check("harp", &record, "tool-result harp");
}

#[test]
fn titles_queues_and_system_texts_are_looked_at() {
    check("harp", &json!({"type": "summary", "summary": "harp", "leafUuid": "x"}), "summary harp");
    check("harp", &json!({"type": "custom-title", "customTitle": "harp"}), "title harp");
    check("harp", &json!({"type": "ai-title", "aiTitle": "harp"}), "title harp");
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": "harp"});
    check("harp", &queued, "queued harp");
    let queued = json!({"type": "attachment", "uuid": "u", "attachment": {"type": "queued_command", "prompt": "harp"}});
    check("harp", &queued, "queued harp");
    let file = json!({"type": "attachment", "uuid": "u", "attachment": {"type": "file", "content": {"file": {"content": "harp"}}}});
    check("harp", &file, "attachment harp");
    check("harp", &json!({"type": "system", "uuid": "u", "content": "harp"}), "system harp");
    check("harp", &json!({"type": "never-seen", "odd": ["harp"]}), "other harp");
    // A prompt is told of again by these, and hooks tell of nothing else.
    check("harp", &json!({"type": "last-prompt", "lastPrompt": "harp"}), "");
    check(
        "harp",
        &json!({"type": "progress", "uuid": "u", "data": {"type": "harp", "x": "harp"}}),
        "",
    );
}

#[test]
fn what_is_no_text_is_not_found() {
    check("harp", &user(&json!("x")), "");
    check("harp", &assistant(&json!({"type": "text", "text": "x", "harp": 1})), "");
    let thinking = json!({"type": "thinking", "thinking": "", "signature": "harp"});
    check("harp", &assistant(&thinking), "");
    check("harp", &assistant(&json!({"type": "redacted_thinking", "data": "harp"})), "");
    let image =
        json!([{"type": "image", "source": {"data": "harp", "type": "base64", "media_type": "x"}}]);
    check("harp", &user(&image), "");
    let image = json!([{"type": "tool_result", "tool_use_id": "harp", "content": image}]);
    let mut record = user(&image);
    record["toolUseResult"] = json!({"file": {"base64": "harp"}, "agentId": "harp"});
    check("harp", &record, "");
    check("data", &user(&json!([{"data": "x", "type": "text"}])), "");
}

#[test]
fn all_words_must_occur_and_case_is_smart() {
    let record = user(&json!("A violet\nharpsichord, \"old\"\tC:\\x/y é"));
    check("HARP", &record, "");
    check("Violet", &record, "");
    // Case is smart for a single word only.
    check("harpsi VIOLET", &record, "prompt violet");
    check("harpsi violet", &record, "prompt violet");
    check("\"violet harpsichord\"", &record, "");
    check("\"t C\"", &record, "");
    check("\\x/Y", &record, "");
    check("c:\\x/y", &record, "prompt C:\\x/y");
    check("É", &record, "");
    check("\"old\"", &record, "prompt old");
    check("violet nothing", &record, "");
}

#[test]
fn an_invalid_pattern_names_the_position() {
    let error = Query::from_regex("a(b").unwrap_err();
    assert_eq!(error, QueryError { message: "unclosed group".into(), span: Some(1..2) });
    assert!(Query::from_words("  ").is_err());
    // Longer than a pattern may be.
    assert!(Query::from_words(&"sk".repeat(30_000)).is_err());
    assert!(Query::from_words(&"word".repeat(250)).is_ok());
    assert!(Query::from_regex(r"\d{4}-foo-\w+").unwrap().terms[0].raw_filter.is_some());
    assert!(Query::from_regex(r"\w+").unwrap().terms[0].raw_filter.is_none());
}

#[test]
fn glued_and_damaged_lines_are_read() {
    let one = user(&json!("harp one")).to_string();
    for line in [format!("{one}{one}"), format!("\0\0{one}"), format!("{{\"torn\":{one}")] {
        let mut count = 0;
        Query::from_words("harp").unwrap().find_in_line(
            line.as_bytes(),
            FindingDetail::Where,
            |_| count += 1,
        );
        assert_eq!(count, if line.starts_with("{\"parent") { 2 } else { 1 }, "{line}");
    }
}

/// Writes a text as the inside of a JSON string, each character in one of its spellings.
fn spelled(text: &str, dice: &[u8]) -> String {
    let mut out = String::new();
    for (index, char) in text.chars().enumerate() {
        let die = dice[index % dice.len()];
        let hex = |out: &mut String, upper: bool| {
            for unit in char.encode_utf16(&mut [0; 2]) {
                let digits = format!("{unit:04x}");
                out.extend(["\\u", &if upper { digits.to_uppercase() } else { digits }]);
            }
        };
        match (char, die % 5) {
            (_, 0) => hex(&mut out, false),
            (_, 1) => hex(&mut out, true),
            ('"' | '\\', _) => out.extend(['\\', char]),
            ('/', 2) => out.push_str("\\/"),
            ('\n', _) => out.push_str("\\n"),
            ('\t', 2) => out.push_str("\\t"),
            ('\r', 2) => out.push_str("\\r"),
            ('\x08', 2) => out.push_str("\\b"),
            ('\x0c', 2) => out.push_str("\\f"),
            (char, _) => out.push(char),
        }
    }
    out
}

fn text() -> impl Strategy<Value = String> {
    "([a-cA-CkKsSſK/ ]|[\"\\\\\n\t\r\x08\x0c\x01éÉßσςΣ漢😀𐐀𐐨]){1,8}"
}

proptest! {
    #[test]
    fn no_spelling_of_a_text_is_missed(
        before in text(), needle in text(), after in text(),
        dice in prop::collection::vec(any::<u8>(), 1..12),
        upper: bool,
    ) {
        let said = if upper { needle.to_uppercase() } else { needle.clone() };
        let text = format!("{before}{said}{after}");
        let line = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, spelled(&text, &dice));
        let quoted = if needle.contains('"') { needle.clone() } else { format!("\"{needle}\"") };
        let Ok(query) = Query::from_words(&quoted) else { return Ok(()) };
        if query.find_in_text(&text).is_some() {
            prop_assert!(query.candidate_lines(line.as_bytes()).count() == 1, "{line}");
            let mut found = 0;
            query.find_in_line(line.as_bytes(), FindingDetail::Where, |_| found += 1);
            prop_assert!(found == 1, "{line}");
        }
        let mut whether = 0;
        query.find_in_line(line.as_bytes(), FindingDetail::Whether, |_| whether += 1);
        prop_assert!(whether == i32::from(query.find_in_text(&text).is_some()), "{line}");
    }

    #[test]
    fn no_match_of_a_pattern_is_missed(
        before in text(), needle in text(), after in text(),
        dice in prop::collection::vec(any::<u8>(), 1..12), shape in 0..6_usize,
    ) {
        let text = format!("{before}{needle}{after}");
        let line = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, spelled(&text, &dice));
        let plain = regex::escape(&needle);
        let pattern = [
            plain.clone(), format!("(?i){plain}"), format!(r".?{plain}\w*"), format!("(?:{plain}|zz)"),
            format!(r"\w*({plain})+"), format!("[a-z]?{plain}?"),
        ][shape].clone();
        let query = Query::from_regex(&pattern).unwrap();
        if query.find_in_text(&text).is_some() {
            prop_assert!(query.candidate_lines(line.as_bytes()).count() == 1, "{pattern} {line}");
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes: Vec<u8>) {
        let query = Query::from_words("a").unwrap();
        let _ = query.candidate_lines(&bytes).count();
        query.find_in_line(&bytes, FindingDetail::Where, |_| {});
    }
}

#[test]
fn long_queries_are_refused_and_the_longest_one_does_not_panic() {
    for text in ["é".repeat(1000), "k".repeat(1000), "ſ\u{212a}ß".repeat(333)] {
        Query::from_words(&text).unwrap();
    }
    for text in ["a".repeat(60_000), "é".repeat(1001), "a ".repeat(400) + &"b".repeat(400)] {
        assert!(Query::from_words(&text).is_err(), "{}", text.len());
        assert!(Query::from_regex(&text.replace(' ', "x")).is_err());
    }
    let many: String = (0..65).map(|n| format!("w{n} ")).collect();
    assert!(Query::from_words(&many).unwrap_err().message.contains("65 words"));
    assert!(Query::from_words(&"again ".repeat(100)).is_ok(), "the same word counts once");
}

/// Were each letter of the text compared with each of the query, this would take minutes.
#[test]
fn equal_letters_are_looked_for_in_linear_time() {
    let text = "a".repeat(3_000_000);
    for query in
        [format!("{}b", "a".repeat(999)), format!("b{}", "a".repeat(999)), "a".repeat(1000)]
    {
        let line = format!(
            r#"{{"type":"user","uuid":"x","message":{{"role":"user","content":"{text}"}}}}"#
        );
        let query = Query::from_words(&query).unwrap();
        let mut found = 0;
        for range in query.candidate_lines(line.as_bytes()) {
            query.find_in_line(&line.as_bytes()[range], FindingDetail::Where, |_| found += 1);
        }
        assert!(found <= 1);
    }
}
