use super::*;

#[track_caller]
fn check(content: &str, expected: &[ContentBlock]) {
    assert_eq!(blocks_from_json(LazyJson::parse(content.as_bytes())), expected);
}

#[track_caller]
fn check_unknown(content: &str) {
    let value: Value = serde_json::from_str(content).unwrap();
    assert_eq!(
        blocks_from_json(LazyJson::parse(content.as_bytes())),
        [ContentBlock::Unknown(value)]
    );
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text(text.to_owned())
}

#[test]
fn content_is_a_text_or_a_list() {
    check("null", &[]);
    check("[]", &[]);
    check(r#""hi""#, &[text("hi")]);
    check(r#"["hi",{"type":"text","text":"ho"}]"#, &[text("hi"), text("ho")]);
    check(r#"{"type":"text","text":"alone"}"#, &[text("alone")]);
}

#[test]
fn what_is_not_known_is_kept() {
    check_unknown("7");
    check_unknown("{}");
    check_unknown(r#"{"type":7}"#);
    check_unknown(r#"{"type":"text","text":null}"#);
    check_unknown(r#"{"type":"hologram","of":"a cat"}"#);
}

#[test]
fn empty_thinking_is_withheld() {
    let thinking = ThinkingBlock { text: String::new(), signature: "abc".to_owned() };
    assert!(thinking.is_withheld());
    check(
        r#"[{"type":"thinking","thinking":"","signature":"abc"},{"type":"redacted_thinking","data":"xy"}]"#,
        &[ContentBlock::Thinking(thinking), ContentBlock::RedactedThinking { data_len: 2 }],
    );
}

#[test]
fn tools_are_called_and_answer() {
    let call = ToolUse {
        id: "t".into(),
        name: "Bash".into(),
        input: serde_json::json!({"command": "ls"}),
        caller: None,
    };
    check(
        r#"[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]"#,
        &[ContentBlock::ToolUse(call)],
    );
    let answer = |content, is_error| {
        ContentBlock::ToolResult(ToolResult { tool_use_id: "t".into(), content, is_error })
    };
    check(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"out"},
            {"type":"tool_result","tool_use_id":"t","is_error":true},
            {"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"X"}]}]"#,
        &[
            answer(vec![text("out")], false),
            answer(vec![], true),
            answer(vec![ContentBlock::ToolReference("X".into())], false),
        ],
    );
}

#[test]
fn media_keeps_its_data() {
    let media = |media_type: Option<&str>, source| {
        ContentBlock::Image(Media { media_type: media_type.map(Into::into), title: None, source })
    };
    check(
        r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
            {"type":"image","source":{"type":"url","url":"u"}},
            {"type":"image","data":"BB","mimeType":"image/gif"},
            {"type":"image","source":null}]"#,
        &[
            media(Some("image/png"), MediaSource::Base64("AAAA".into())),
            media(None, MediaSource::Url("u".into())),
            media(Some("image/gif"), MediaSource::Base64("BB".into())),
            media(None, MediaSource::Absent),
        ],
    );
}

#[test]
fn web_searches_find_or_fail() {
    let hit = WebHit { title: "T".into(), url: "U".into() };
    let found = |hits, error: Option<&str>| {
        let error = error.map(Into::into);
        ContentBlock::WebSearchToolResult(WebSearchResult { tool_use_id: "s".into(), hits, error })
    };
    check(
        r#"[{"type":"web_search_tool_result","tool_use_id":"s","content":[{"title":"T","url":"U"}]},
            {"type":"web_search_tool_result","tool_use_id":"s","content":{"error_code":"max_uses_exceeded"}}]"#,
        &[found(vec![hit], None), found(vec![], Some("max_uses_exceeded"))],
    );
}

#[test]
fn models_fall_back() {
    let (from, to) = (Some("a".to_owned()), Some("b".to_owned()));
    check(
        r#"[{"type":"fallback","from":"a","to":{"model":"b"}}]"#,
        &[ContentBlock::Fallback { from, to }],
    );
}

#[test]
fn plain_text_joins_text_blocks() {
    let blocks = [text("a"), ContentBlock::ToolReference("x".into()), text("b")];
    assert_eq!(plain_text(&blocks), "a\nb");
}
