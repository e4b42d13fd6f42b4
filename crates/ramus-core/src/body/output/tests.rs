use super::*;

#[track_caller]
fn check(json: &str, expected: &str) {
    let result = ToolUseResult::from_json(LazyJson::parse(json.as_bytes()).unwrap());
    let actual = result.map(|result| format!("{:?}", result.output)).unwrap_or_default();
    let kind = actual.split([' ', '(', '{']).next().unwrap_or_default();
    assert_eq!(kind, expected, "{actual}");
}

#[test]
fn texts_lists_and_nothing() {
    check("null", "");
    check(r#""Error: no such file""#, "Text");
    check(r#"[{"type":"text","text":"hi"}]"#, "Blocks");
    check("7", "Other");
    check("{}", "Other");
    check(r#"{"listing":"x"}"#, "Other");
}

#[test]
fn keys_tell_the_tool() {
    check(r#"{"stdout":"","stderr":"","interrupted":false,"isImage":false}"#, "Bash");
    check(r#"{"shellId":"1","command":"x","status":"running","stdout":"","stderr":""}"#, "Shell");
    check(r#"{"type":"text","file":{"filePath":"a","content":"b"}}"#, "Read");
    check(r#"{"filePath":"a","oldString":"b","newString":"c","structuredPatch":[]}"#, "Edit");
    check(r#"{"filePath":"a","edits":[],"structuredPatch":[]}"#, "MultiEdit");
    check(r#"{"type":"create","filePath":"a","content":"b","structuredPatch":[]}"#, "Write");
    check(r#"{"new_source":"a","cell_type":"code","edit_mode":"replace"}"#, "NotebookEdit");
    check(r#"{"filenames":[],"durationMs":1,"numFiles":0,"truncated":false}"#, "Glob");
    check(r#"{"mode":"content","numFiles":0,"filenames":[],"content":"","numLines":0}"#, "Grep");
    check(r#"{"oldTodos":[],"newTodos":[]}"#, "TodoWrite");
    check(r#"{"task":{"id":"1","subject":"x"}}"#, "TaskCreate");
    check(r#"{"success":true,"taskId":"1","updatedFields":[]}"#, "TaskUpdate");
    check(r#"{"tasks":[]}"#, "TaskList");
    check(r#"{"status":"completed","agentId":"a","prompt":"p","content":[]}"#, "Agent");
    check(r#"{"content":[],"totalDurationMs":1,"totalTokens":2,"totalToolUseCount":3}"#, "Agent");
    check(r#"{"normalizedMessages":[],"totalToolCalls":1}"#, "Agent");
    check(r#"{"status":"running","runId":"r","taskId":"t"}"#, "Workflow");
    check(r#"{"retrieval_status":"success","task":{}}"#, "TaskOutput");
    check(r#"{"message":"stopped","task_id":"t","task_type":"x"}"#, "TaskStop");
    check(r#"{"message":"killed","shell_id":"s"}"#, "TaskStop");
    check(r#"{"bytes":1,"code":200,"codeText":"OK","result":"r","url":"u"}"#, "WebFetch");
    check(r#"{"query":"q","results":["x",{"content":[]}],"durationSeconds":1.5}"#, "WebSearch");
    check(r#"{"plan":null,"isAgent":false,"filePath":"p"}"#, "ExitPlanMode");
    check(r#"{"questions":[],"answers":{}}"#, "AskUserQuestion");
    check(r#"{"success":true,"commandName":"x"}"#, "Skill");
    check(r#"{"matches":[],"query":"q","total_deferred_tools":1}"#, "ToolSearch");
    check(r#"{"success":true,"message":"sent","routing":{}}"#, "SendMessage");
}

#[test]
fn null_values_do_not_hide_the_tool() {
    check(r#"{"stdout":null,"stderr":null}"#, "Bash");
    check(r#"{"type":null,"file":null}"#, "Read");
    check(r#"{"filePath":1,"oldString":2,"newString":3,"structuredPatch":4}"#, "Edit");
}

#[test]
fn a_persisted_output_is_found_on_any_shape() {
    for json in [
        r#"{"stdout":"","stderr":"","persistedOutputPath":"p","persistedOutputSize":9}"#,
        r#"{"new":"shape","persistedOutputPath":"p","persistedOutputSize":9}"#,
    ] {
        let result = ToolUseResult::from_json(LazyJson::parse(json.as_bytes()).unwrap()).unwrap();
        let expected = PersistedOutput { path: "p".into(), size: Some(9) };
        assert_eq!(result.persisted, Some(expected));
    }
}

#[test]
fn a_patch_has_its_file() {
    let json = r#"{"filePath":"a","oldString":"b","newString":"c","structuredPatch":[{"lines":["-b","+c"]}]}"#;
    let result = ToolUseResult::from_json(LazyJson::parse(json.as_bytes()).unwrap()).unwrap();
    let ToolOutput::Edit(edit) = result.output else { panic!("not an edit") };
    let patch = &edit.patch;
    assert_eq!((&*edit.file_path, patch.added_lines(), patch.removed_lines()), ("a", 1, 1));
}

#[test]
fn pictures_keep_their_data() {
    let json = r#"{"type":"image","file":{"base64":"AAAA","type":"image/png","originalSize":3}}"#;
    let result = ToolUseResult::from_json(LazyJson::parse(json.as_bytes()).unwrap()).unwrap();
    let ToolOutput::Read(read) = result.output else { panic!("not a read") };
    let ReadContent::Image(media) = &read.content else { panic!("not a picture") };
    assert_eq!((media.data_len(), read.original_size), (4, Some(3)));
}
