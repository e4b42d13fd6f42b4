use super::*;
use proptest::prelude::{any, proptest};
use std::collections::BTreeMap;

#[track_caller]
fn check(line: &str, expected: &str) {
    let body = format!("{:?}", RecordBody::parse(line.as_bytes()).unwrap());
    assert_eq!(body.split('(').next(), Some(expected));
}

#[test]
fn types_decide() {
    check(r#"{"type":"user"}"#, "User");
    check(r#"{"type":"assistant","message":null}"#, "Assistant");
    check(r#"{"type":"system"}"#, "System");
    check(r#"{"type":"attachment","attachment":"x"}"#, "Attachment");
    check(r#"{"type":"progress"}"#, "Progress");
    check(r#"{"type":"tool_use"}"#, "ToolUse");
    check(r#"{"type":"tool_result"}"#, "ToolResult");
    check(r#"{"type":"custom-title","uuid":"u"}"#, "Metadata");
    check(r#"{"type":"never-seen"}"#, "Unknown");
    check(r#"{"type":7}"#, "Unknown");
    check("42", "Unknown");
}

#[test]
fn an_unknown_record_is_kept_whole() {
    let line = r#"{"type":"never-seen","b":[1],"a":"x"}"#;
    let Ok(RecordBody::Unknown(value)) = RecordBody::parse(line.as_bytes()) else {
        panic!("known")
    };
    assert_eq!(value.to_string(), line);
}

#[test]
fn the_oldest_tool_records_are_read() {
    let line = r#"{"type":"tool_use","message":{"role":"assistant","content":"details"},
        "toolUseResult":{"tool_name":"Task","parameters":{"a":1},"result":"done"}}"#;
    let Ok(RecordBody::ToolUse(record)) = RecordBody::parse(line.as_bytes()) else {
        panic!("no tool use")
    };
    assert_eq!(plain_text(&record.content), "details");
    assert_eq!(record.tool_name.as_deref(), Some("Task"));
    assert_eq!(record.input, Some(serde_json::json!({"a": 1})));
    let result = record.tool_use_result.unwrap();
    assert_eq!(result.output, ToolOutput::Text("done".into()));
    check(r#"{"type":"tool_result","toolUseResult":"x","content":"y"}"#, "ToolResult");
}

#[test]
fn what_is_shown_needs_no_file_as_it_was() {
    let line = r#"{"type":"user","toolUseResult":{"filePath":"f","oldString":"a","newString":"b",
        "originalFile":"a\n","structuredPatch":[{"lines":["-a","+b"]}]}}"#;
    let edit = |body: RecordBody| match body {
        RecordBody::User(body) => match body.tool_use_result.unwrap().output {
            ToolOutput::Edit(edit) => (edit.original_file, edit.patch.added_lines()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(edit(RecordBody::parse(line.as_bytes()).unwrap()), (Some("a\n".to_owned()), 1));
    assert_eq!(edit(RecordBody::parse_shown(line.as_bytes()).unwrap()), (None, 1));
    // The result of some other tool is shown as it is.
    let line = br#"{"type":"user","toolUseResult":{"newString":"b"}}"#;
    assert_eq!(RecordBody::parse_shown(line).unwrap(), RecordBody::parse(line).unwrap());
}

#[test]
fn what_is_drawn_needs_no_output_twice() {
    let seen = |result: &str, block: &str| {
        let line = format!(
            r#"{{"type":"user","toolUseResult":{result},"message":{{"content":[{{"type":"tool_result",{block}}}]}}}}"#
        );
        match &RecordBody::parse_drawn(line.as_bytes()).unwrap().content_blocks()[0] {
            ContentBlock::ToolResult(result) => plain_text(&result.content),
            other => panic!("{other:?}"),
        }
    };
    let ran = r#"{"stdout":"out","stderr":""}"#;
    let read = r#"{"type":"text","file":{"filePath":"f","content":"out"}}"#;
    for whole in [ran, read] {
        assert_eq!(seen(whole, r#""content":"out""#), "");
        assert_eq!(seen(whole, r#""content":"bad","is_error":true"#), "bad");
        let stub = r#""content":"\n<persisted-output>\nwhere: /f""#;
        assert!(seen(whole, stub).contains("/f"));
        assert_eq!(seen(whole, r#""content":[{"type":"text","text":"out"}]"#), "out");
    }
    for other in [
        r#""out""#,
        r#"{"stdout":"ou","stderr":"","persistedOutputPath":"/f"}"#,
        r#"{"type":"notebook","file":{"filePath":"f","cells":[]}}"#,
    ] {
        assert_eq!(seen(other, r#""content":"out""#), "out", "{other}");
    }
}

proptest! {
    #[test]
    fn any_value_has_a_body(kind in "user|assistant|system|attachment|progress|tool_use|summary",
                            key in "message|content|toolUseResult|attachment|data|snapshot",
                            line in any::<Vec<u8>>(), value in r#"(\[|\{"type":|"x"|1|null|\]|\}|,){0,9}"#) {
        let _ = RecordBody::parse(&line);
        let _ = RecordBody::parse(format!(r#"{{"type":"{kind}","{key}":{value}}}"#).as_bytes());
    }
}

/// Every line of real sessions, if they are at hand: what is JSON has a body, and
/// only what is no record at all is unknown.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test over files")]
fn samples_are_known() {
    let Some(samples) = testkit::shared_material("samples/projects") else { return };
    let mut directories = vec![samples];
    let mut unknown = Vec::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                for line in std::fs::read(&path).unwrap().split(|byte| *byte == b'\n') {
                    count(line, &mut kinds, &mut unknown);
                }
            }
        }
    }
    unknown.sort_unstable();
    assert_eq!(unknown, [r#""massive error""#, "42", "[1]", r#"{"silly":"this"}"#]);
    assert_eq!(kinds.get("Other block"), None, "{kinds:?}");
    // The one line that is cut at its start.
    assert_eq!(kinds.get("error"), Some(&1), "{kinds:?}");
}

fn count(line: &[u8], kinds: &mut BTreeMap<String, usize>, unknown: &mut Vec<String>) {
    let kind = match RecordBody::parse(line) {
        Ok(RecordBody::Unknown(value)) => {
            unknown.push(value.to_string());
            "unknown"
        }
        Ok(body) => {
            let strange =
                body.content_blocks().iter().any(|block| matches!(block, ContentBlock::Unknown(_)));
            if strange { "Other block" } else { "known" }
        }
        Err(JsonError::Empty) => "empty",
        Err(_) => {
            assert!(serde_json::from_slice::<Value>(line).is_err());
            "error"
        }
    };
    *kinds.entry(kind.to_owned()).or_default() += 1;
}
