//! Bodies of replies; usually one block per record.

use super::block::{ContentBlock, blocks_from_json};
use super::fields::Fields;
use super::usage::TokenUsage;
use serde_json::Value;

use crate::ids::IdHash;

/// The body of an `assistant` record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssistantBody {
    /// The same on all records of one message (R8).
    pub message_id: Option<String>,
    pub model: Option<String>,
    /// `assistant`.
    pub role: Option<String>,
    pub content: Vec<ContentBlock>,
    pub stop_reason: Option<String>,
    pub stop_sequence: Option<String>,
    pub usage: Option<TokenUsage>,
    /// What the server cleared from the context.
    pub context_management: Option<Value>,
    /// `None` if the reply did not come from the API itself but through a gateway.
    pub request_id: Option<String>,
    /// The record that a merge copied; the copy may have another id.
    pub merged_from: Option<String>,
    /// The text is an API error, reported by the client.
    pub is_api_error: bool,
    pub api_error_status: Option<u64>,
    pub error: Option<String>,
    pub error_details: Option<String>,
    pub is_aborted_mid_stream: bool,
    /// Records that this one replaces.
    pub supersedes: Vec<String>,
    /// `low`, `medium`, `high`, …; `None` before 2.1.212.
    pub effort: Option<String>,
    pub attribution: Attribution,
    /// Written up to 1.0.7.
    pub cost_usd: Option<f64>,
    /// Written up to 1.0.7.
    pub duration_ms: Option<u64>,
}

/// The sub-agent, skill or plugin for which the model wrote this. Written since 2.1.123.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    pub agent: Option<String>,
    pub skill: Option<String>,
    pub plugin: Option<String>,
    pub mcp_server: Option<String>,
    pub mcp_tool: Option<String>,
}

impl AssistantBody {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let mut message = fields.take_object("message").unwrap_or_default();
        // A message that is not an object is plain text.
        let text = fields.take_json("message").filter(|text| text.as_text().is_some());
        let content = message.take_json("content").or(text).or_else(|| fields.take_json("content"));
        Self {
            message_id: message.take_text("id"),
            model: message.take_text("model").or_else(|| fields.take_text("model")),
            role: message.take_text("role"),
            content: blocks_from_json(content),
            stop_reason: message.take_text("stop_reason"),
            stop_sequence: message.take_text("stop_sequence"),
            // The oldest records have it next to the message.
            usage: message.read_usage().or_else(|| fields.read_usage()),
            context_management: message.take_value("context_management"),
            request_id: fields.take_text("requestId"),
            merged_from: fields
                .take_object("mergedFrom")
                .and_then(|mut from| from.take_text("messageUuid")),
            is_api_error: fields.flag("isApiErrorMessage"),
            api_error_status: fields.number("apiErrorStatus"),
            error: text_or_json(&mut fields, "error"),
            error_details: text_or_json(&mut fields, "errorDetails"),
            is_aborted_mid_stream: fields.flag("isAbortedMidStream"),
            supersedes: fields.take_texts("supersedesUuids"),
            effort: fields.take_text("effort"),
            attribution: Attribution {
                agent: fields.take_text("attributionAgent"),
                skill: fields.take_text("attributionSkill"),
                plugin: fields.take_text("attributionPlugin"),
                mcp_server: fields.take_text("attributionMcpServer"),
                mcp_tool: fields.take_text("attributionMcpTool"),
            },
            cost_usd: fields.float("costUSD").or_else(|| fields.float("costUsd")),
            duration_ms: fields.number("durationMs"),
        }
    }

    /// Returns a key that stays the same when a merge gives the copy of a reply a new id: its request,
    /// else the record that was copied.
    pub(crate) fn merge_key(&self) -> Option<IdHash> {
        let record = self.merged_from.as_ref()?;
        Some(IdHash::new(self.request_id.as_ref().unwrap_or(record).as_bytes()))
    }

    /// Whether the client wrote this, not a model.
    pub fn is_synthetic(&self) -> bool {
        self.model.as_deref() == Some("<synthetic>")
    }
}

/// Takes a string, or any other value as its JSON.
fn text_or_json(fields: &mut Fields, key: &str) -> Option<String> {
    fields.take_text(key).or_else(|| fields.take_value(key).map(|value| value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(AssistantBody) -> T, expected: &str) {
        let body = AssistantBody::from_fields(Fields::read(json));
        assert_eq!(format!("{:?}", get(body)), expected);
    }

    #[test]
    fn an_answer_has_its_message() {
        let json = r#"{"message":{"id":"m","model":"x","content":[{"type":"text","text":"hi"}],
            "usage":{"output_tokens":2}},"requestId":"r"}"#;
        check(json, |b| (b.message_id, b.request_id), r#"(Some("m"), Some("r"))"#);
        check(json, |b| b.content, r#"[Text("hi")]"#);
        check(json, |b| b.usage.map(|usage| usage.output_tokens), "Some(2)");
    }

    #[test]
    fn errors_are_marked_by_the_client() {
        let json =
            r#"{"isApiErrorMessage":true,"error":{"type":"x"},"message":{"model":"<synthetic>"}}"#;
        check(json, |b| (b.is_synthetic(), b.is_api_error), "(true, true)");
        check(json, |b| b.error, r#"Some("{\"type\":\"x\"}")"#);
    }

    #[test]
    fn old_and_odd_records_are_read() {
        let json = r#"{"message":"hi","costUSD":0.5,"durationMs":7.5,"usage":{"input_tokens":3}}"#;
        check(json, |b| b.content, r#"[Text("hi")]"#);
        check(json, |b| (b.cost_usd, b.duration_ms), "(Some(0.5), Some(7))");
        check(json, |b| b.usage.map(|usage| usage.input_tokens), "Some(3)");
        check(r#"{"message":[],"usage":7}"#, |b| (b.content, b.usage), "([], None)");
    }
}
