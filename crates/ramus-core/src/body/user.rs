//! What was sent to the model: prompts, tool results, and what the client put in.

use super::block::{Block, blocks};
use super::fields::Fields;
use super::output::{Todo, ToolUseResult};
use serde_json::Value;

/// The body of a `user` record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserBody {
    /// `user`; `None` in records that are not messages.
    pub role: Option<String>,
    pub content: Vec<Block>,
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
    pub origin: Option<Origin>,
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
pub struct Origin {
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
    pub(super) fn of(mut fields: Fields) -> Self {
        let role = fields.object_text("message", "role");
        Self {
            role,
            content: content(&mut fields),
            tool_use_result: fields.json("toolUseResult").and_then(ToolUseResult::of),
            is_meta: fields.flag("isMeta"),
            is_compact_summary: fields.flag("isCompactSummary"),
            is_visible_in_transcript_only: fields.flag("isVisibleInTranscriptOnly"),
            permission_mode: fields.text("permissionMode"),
            prompt_id: fields.text("promptId"),
            prompt_source: fields.text("promptSource"),
            origin: Origin::of(&mut fields),
            source_tool_use_id: fields.text("sourceToolUseID"),
            source_tool_assistant_uuid: fields.text("sourceToolAssistantUUID"),
            interrupted_message_id: fields.text("interruptedMessageId"),
            interrupted_by_shutdown: fields.flag("interruptedByShutdown"),
            image_paste_ids: paste_ids(&mut fields),
            plan_content: fields.text("planContent"),
            user_feedback: fields.text("userFeedback"),
            tool_denial_kind: fields.text("toolDenialKind"),
            tool_ends_turn: fields.flag("toolEndsTurn"),
            queue_priority: fields.text("queuePriority"),
            mcp_meta: fields.take("mcpMeta"),
            todos: Todo::list(&mut fields, "todos"),
            thinking_metadata: fields.object("thinkingMetadata").map(ThinkingMetadata::of),
        }
    }

    /// Returns the ids of the calls that this record answers.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.tool_use_id.as_str()),
            _ => None,
        })
    }
}

/// Takes the content from a message object, a plain string, or the record itself.
pub(super) fn content(fields: &mut Fields) -> Vec<Block> {
    if let Some(mut message) = fields.object("message") {
        return blocks(message.json("content"));
    }
    match fields.text("message") {
        Some(text) => vec![Block::Text(text)],
        None => blocks(fields.json("content")),
    }
}

pub(super) fn paste_ids(fields: &mut Fields) -> Vec<u64> {
    fields.values("imagePasteIds").iter().filter_map(Value::as_u64).collect()
}

impl Origin {
    pub(super) fn of(fields: &mut Fields) -> Option<Self> {
        let mut origin = fields.object("origin")?;
        Some(Self {
            kind: origin.string("kind"),
            from: origin.text("from"),
            name: origin.text("name"),
            sender_task_id: origin.text("senderTaskId"),
            body: origin.text("body"),
        })
    }

    /// Whether a person wrote it.
    pub fn is_human(&self) -> bool {
        self.kind == "human"
    }
}

impl ThinkingMetadata {
    fn of(mut fields: Fields) -> Self {
        Self {
            level: fields.text("level"),
            disabled: fields.flag("disabled"),
            max_thinking_tokens: fields.number("maxThinkingTokens"),
            triggers: fields.values("triggers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(UserBody) -> T, expected: &str) {
        let body = UserBody::of(Fields::read(json));
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
        check(json, |body| body.answered().map(str::to_owned).collect::<Vec<_>>(), r#"["t"]"#);
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
