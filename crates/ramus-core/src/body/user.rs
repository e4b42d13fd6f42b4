//! Bodies of user records: prompts, tool results, and text that the client inserts.

use super::block::{ContentBlock, blocks_from_json};
use super::fields::Fields;
use super::output::{Todo, ToolUseResult};
use serde_json::Value;

/// The body of a `user` record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserBody {
    /// `user`; `None` in records that are not messages.
    pub role: Option<String>,
    pub content: Vec<ContentBlock>,
    pub tool_use_result: Option<ToolUseResult>,
    /// Put in by the client, not typed by a person.
    pub is_meta: bool,
    /// The summary that replaces the compacted messages (R7).
    pub is_compact_summary: bool,
    pub is_visible_in_transcript_only: bool,
    pub permission_mode: Option<String>,
    pub prompt_id: Option<String>,
    /// `typed`, `queued`, `system`, `sdk`, …; `None` before 2.1.161.
    pub prompt_source: Option<String>,
    /// Who wrote it; `None` before 2.1.83.
    pub origin: Option<PromptOrigin>,
    /// On the text of a skill: the call that loaded it.
    pub source_tool_use_id: Option<String>,
    /// On a tool result: the record that made the call.
    pub source_tool_assistant_uuid: Option<String>,
    /// On an interruption: the `message.id` that was cut short.
    pub interrupted_message_id: Option<String>,
    pub interrupted_by_shutdown: bool,
    pub image_paste_ids: Vec<u64>,
    /// The plan that this prompt carries out.
    pub plan_content: Option<String>,
    /// What the user wrote when refusing a tool call.
    pub user_feedback: Option<String>,
    pub tool_denial_kind: Option<String>,
    pub tool_ends_turn: bool,
    pub queue_priority: Option<String>,
    pub mcp_meta: Option<Value>,
    /// Written from 2.0.55 to 2.1.62.
    pub todos: Vec<Todo>,
    /// Written from 1.0.115 to 2.1.44.
    pub thinking_metadata: Option<ThinkingMetadata>,
}

/// Who wrote a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptOrigin {
    /// `human`, `task-notification`, `peer`, `coordinator`, …
    pub kind: String,
    pub from: Option<String>,
    pub name: Option<String>,
    pub sender_task_id: Option<String>,
    pub body: Option<String>,
}

/// How much thinking was requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThinkingMetadata {
    pub level: Option<String>,
    pub disabled: bool,
    pub max_thinking_tokens: Option<u64>,
    /// The words of the prompt that requested it.
    pub triggers: Vec<Value>,
}

impl UserBody {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let role = fields.object_text("message", "role");
        Self {
            role,
            content: message_content(&mut fields),
            tool_use_result: fields.take_json("toolUseResult").and_then(ToolUseResult::from_json),
            is_meta: fields.flag("isMeta"),
            is_compact_summary: fields.flag("isCompactSummary"),
            is_visible_in_transcript_only: fields.flag("isVisibleInTranscriptOnly"),
            permission_mode: fields.take_text("permissionMode"),
            prompt_id: fields.take_text("promptId"),
            prompt_source: fields.take_text("promptSource"),
            origin: PromptOrigin::from_fields(&mut fields),
            source_tool_use_id: fields.take_text("sourceToolUseID"),
            source_tool_assistant_uuid: fields.take_text("sourceToolAssistantUUID"),
            interrupted_message_id: fields.take_text("interruptedMessageId"),
            interrupted_by_shutdown: fields.flag("interruptedByShutdown"),
            image_paste_ids: paste_ids(&mut fields),
            plan_content: fields.take_text("planContent"),
            user_feedback: fields.take_text("userFeedback"),
            tool_denial_kind: fields.take_text("toolDenialKind"),
            tool_ends_turn: fields.flag("toolEndsTurn"),
            queue_priority: fields.take_text("queuePriority"),
            mcp_meta: fields.take_value("mcpMeta"),
            todos: Todo::list_from_fields(&mut fields, "todos"),
            thinking_metadata: fields
                .take_object("thinkingMetadata")
                .map(ThinkingMetadata::from_fields),
        }
    }
}

/// Takes the content from a message object, a plain string, or the record itself.
pub(super) fn message_content(fields: &mut Fields) -> Vec<ContentBlock> {
    if let Some(mut message) = fields.take_object("message") {
        return blocks_from_json(message.take_json("content"));
    }
    match fields.take_text("message") {
        Some(text) => vec![ContentBlock::Text(text)],
        None => blocks_from_json(fields.take_json("content")),
    }
}

pub(super) fn paste_ids(fields: &mut Fields) -> Vec<u64> {
    fields.take_values("imagePasteIds").iter().filter_map(Value::as_u64).collect()
}

impl PromptOrigin {
    pub(super) fn from_fields(fields: &mut Fields) -> Option<Self> {
        let mut origin = fields.take_object("origin")?;
        Some(Self {
            kind: origin.take_string("kind"),
            from: origin.take_text("from"),
            name: origin.take_text("name"),
            sender_task_id: origin.take_text("senderTaskId"),
            body: origin.take_text("body"),
        })
    }

    /// Whether a person wrote it.
    pub fn is_human(&self) -> bool {
        self.kind == "human"
    }
}

impl ThinkingMetadata {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            level: fields.take_text("level"),
            disabled: fields.flag("disabled"),
            max_thinking_tokens: fields.number("maxThinkingTokens"),
            triggers: fields.take_values("triggers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(UserBody) -> T, expected: &str) {
        let body = UserBody::from_fields(Fields::read(json));
        assert_eq!(format!("{:?}", get(body)), expected);
    }

    #[test]
    fn content_is_found_wherever_it_was_written() {
        for json in [
            r#"{"message":{"content":"hi"}}"#,
            r#"{"message":{"content":[{"type":"text","text":"hi"}]}}"#,
            r#"{"message":{"content":["hi"]}}"#,
            r#"{"message":"hi"}"#,
            r#"{"content":"hi"}"#,
        ] {
            check(json, |body| body.content, r#"[Text("hi")]"#);
        }
        for json in ["{}", r#"{"message":7}"#, r#"{"message":{"content":null}}"#] {
            check(json, |body| body.content, "[]");
        }
    }

    #[test]
    fn answers_name_their_calls() {
        let json = r#"{"toolUseResult":null,"message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#;
        let call = |body: UserBody| match body.content.into_iter().next() {
            Some(ContentBlock::ToolResult(result)) => result.tool_use_id,
            other => format!("{other:?}"),
        };
        check(json, call, r#""t""#);
        check(json, |body| body.tool_use_result, "None");
    }

    #[test]
    fn the_rest_is_lenient() {
        let json = r#"{"isMeta":"yes","origin":"human","imagePasteIds":[1,"2",3],"todos":{}}"#;
        let get = |b: UserBody| (b.is_meta, b.origin, b.image_paste_ids, b.todos);
        check(json, get, "(false, None, [1, 3], [])");
        let json = r#"{"origin":{"kind":"human"}}"#;
        check(json, |body| body.origin.is_some_and(|origin| origin.is_human()), "true");
    }
}
