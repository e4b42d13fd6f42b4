//! Notes of the client: compactions, hooks, errors, durations.

use super::fields::Fields;
use serde_json::Value;

/// The body of a `system` record.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemBody {
    pub kind: SystemKind,
    pub content: Option<String>,
    /// `info`, `warning`, `error`, `suggestion`.
    pub level: Option<String>,
    pub is_meta: bool,
    pub tool_use_id: Option<String>,
}

/// The `subtype` of a `system` record, with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemKind {
    /// No subtype; written up to 1.0.92.
    Plain,
    Informational,
    /// A command of the client and its output, in tags.
    LocalCommand,
    CompactBoundary(Box<CompactMetadata>),
    MicrocompactBoundary(MicrocompactMetadata),
    StopHookSummary(StopHookSummary),
    TurnDuration(TurnDuration),
    ApiError(RecordedApiError),
    AwaySummary,
    BridgeStatus {
        url: Option<String>,
    },
    ModelRefusalFallback(ModelFallback),
    ModelConsentFallback(ModelFallback),
    ScheduledTaskFire,
    AgentsKilled,
    MemorySaved,
    PermissionRetry,
    ApiMetrics,
    Other {
        subtype: String,
        value: Value,
    },
}

/// What a compaction did (the compaction rule, R7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactMetadata {
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    pub pre_tokens: Option<u64>,
    pub post_tokens: Option<u64>,
    pub duration_ms: Option<u64>,
    pub cumulative_dropped_tokens: Option<u64>,
    pub messages_summarized: Option<u64>,
    /// What the user asked to keep.
    pub user_context: Option<String>,
    pub discovered_tools: Vec<String>,
    pub preserved_segment: Option<PreservedSegment>,
    pub preserved_messages: Option<PreservedMessages>,
}

/// A run of records that stay visible after a compaction, attached to its anchor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreservedSegment {
    pub head_uuid: Option<String>,
    pub anchor_uuid: Option<String>,
    pub tail_uuid: Option<String>,
}

/// Records that stay in view after a compaction, one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreservedMessages {
    pub anchor_uuid: Option<String>,
    pub uuids: Vec<String>,
    pub all_uuids: Vec<String>,
}

/// Tool results that were removed from the model's view without a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MicrocompactMetadata {
    pub trigger: Option<String>,
    pub pre_tokens: Option<u64>,
    pub tokens_saved: Option<u64>,
    pub compacted_tool_ids: Vec<String>,
    pub cleared_attachment_uuids: Vec<String>,
}

/// The hooks that ran when the model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopHookSummary {
    pub hook_count: u64,
    pub hooks: Vec<HookInfo>,
    pub errors: Vec<String>,
    pub prevented_continuation: bool,
    pub stop_reason: Option<String>,
    pub has_output: bool,
}

/// One hook that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookInfo {
    pub command: String,
    pub duration_ms: Option<u64>,
}

/// How long an exchange took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnDuration {
    pub duration_ms: u64,
    pub message_count: Option<u64>,
    pub pending_background_agents: Option<u64>,
}

/// A failed request that was tried again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedApiError {
    /// The server's message, if `error` contains it.
    pub message: Option<String>,
    pub status: Option<u64>,
    pub error: Value,
    pub cause: Option<Value>,
    pub retry_in_ms: Option<u64>,
    pub retry_attempt: Option<u64>,
    pub max_retries: Option<u64>,
}

/// Another model took over, and what it took back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFallback {
    pub original_model: Option<String>,
    pub fallback_model: Option<String>,
    pub refused_user_message: Option<String>,
    pub retracted_messages: Vec<String>,
}

impl SystemBody {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            content: fields.take_text("content"),
            level: fields.take_text("level"),
            is_meta: fields.flag("isMeta"),
            tool_use_id: fields.take_text("toolUseID"),
            kind: SystemKind::from_fields(fields),
        }
    }

    /// Returns what the compaction did, if this is one.
    pub fn compact_metadata(&self) -> Option<&CompactMetadata> {
        match &self.kind {
            SystemKind::CompactBoundary(metadata) => Some(metadata),
            _ => None,
        }
    }
}

impl SystemKind {
    fn from_fields(mut fields: Fields) -> Self {
        let Some(subtype) = fields.take_text("subtype") else { return Self::Plain };
        match subtype.as_str() {
            "informational" => Self::Informational,
            "local_command" => Self::LocalCommand,
            "compact_boundary" => {
                Self::CompactBoundary(Box::new(CompactMetadata::from_fields(&mut fields)))
            }
            "microcompact_boundary" => {
                Self::MicrocompactBoundary(MicrocompactMetadata::from_fields(&mut fields))
            }
            "stop_hook_summary" => Self::StopHookSummary(StopHookSummary::from_fields(fields)),
            "turn_duration" => Self::TurnDuration(TurnDuration {
                duration_ms: fields.count("durationMs"),
                message_count: fields.number("messageCount"),
                pending_background_agents: fields.number("pendingBackgroundAgentCount"),
            }),
            "api_error" => Self::ApiError(RecordedApiError::from_fields(fields)),
            "away_summary" => Self::AwaySummary,
            "bridge_status" => Self::BridgeStatus { url: fields.take_text("url") },
            "model_refusal_fallback" => {
                Self::ModelRefusalFallback(ModelFallback::from_fields(fields))
            }
            "model_consent_fallback" => {
                Self::ModelConsentFallback(ModelFallback::from_fields(fields))
            }
            "scheduled_task_fire" => Self::ScheduledTaskFire,
            "agents_killed" => Self::AgentsKilled,
            "memory_saved" => Self::MemorySaved,
            "permission_retry" => Self::PermissionRetry,
            "api_metrics" => Self::ApiMetrics,
            _ => Self::Other { subtype, value: fields.into_value() },
        }
    }
}

impl CompactMetadata {
    fn from_fields(fields: &mut Fields) -> Self {
        let mut fields = fields.take_object("compactMetadata").unwrap_or_default();
        let segment = |mut segment: Fields| PreservedSegment {
            head_uuid: segment.take_text("headUuid"),
            anchor_uuid: segment.take_text("anchorUuid"),
            tail_uuid: segment.take_text("tailUuid"),
        };
        let messages = |mut messages: Fields| PreservedMessages {
            anchor_uuid: messages.take_text("anchorUuid"),
            uuids: messages.take_texts("uuids"),
            all_uuids: messages.take_texts("allUuids"),
        };
        Self {
            trigger: fields.take_text("trigger"),
            pre_tokens: fields.number("preTokens"),
            post_tokens: fields.number("postTokens"),
            duration_ms: fields.number("durationMs"),
            cumulative_dropped_tokens: fields.number("cumulativeDroppedTokens"),
            messages_summarized: fields.number("messagesSummarized"),
            user_context: fields.take_text("userContext"),
            discovered_tools: fields.take_texts("preCompactDiscoveredTools"),
            preserved_segment: fields.take_object("preservedSegment").map(segment),
            preserved_messages: fields.take_object("preservedMessages").map(messages),
        }
    }
}

impl MicrocompactMetadata {
    fn from_fields(fields: &mut Fields) -> Self {
        let mut fields = fields.take_object("microcompactMetadata").unwrap_or_default();
        Self {
            trigger: fields.take_text("trigger"),
            pre_tokens: fields.number("preTokens"),
            tokens_saved: fields.number("tokensSaved"),
            compacted_tool_ids: fields.take_texts("compactedToolIds"),
            cleared_attachment_uuids: fields.take_texts("clearedAttachmentUUIDs"),
        }
    }
}

impl StopHookSummary {
    fn from_fields(mut fields: Fields) -> Self {
        let hook = |mut hook: Fields| HookInfo {
            command: hook.take_string("command"),
            duration_ms: hook.number("durationMs"),
        };
        Self {
            hook_count: fields.count("hookCount"),
            hooks: fields.take_objects("hookInfos").map(hook).collect(),
            errors: fields.take_texts("hookErrors"),
            prevented_continuation: fields.flag("preventedContinuation"),
            stop_reason: fields.take_text("stopReason").filter(|reason| !reason.is_empty()),
            has_output: fields.flag("hasOutput"),
        }
    }
}

impl RecordedApiError {
    fn from_fields(mut fields: Fields) -> Self {
        let error = fields.take_value("error").unwrap_or_default();
        Self {
            message: error_message(&error).map(str::to_owned),
            status: error.get("status").and_then(Value::as_u64),
            cause: fields.take_value("cause"),
            retry_in_ms: fields.number("retryInMs"),
            retry_attempt: fields.number("retryAttempt"),
            max_retries: fields.number("maxRetries"),
            error,
        }
    }
}

/// Finds the message of an error that may wrap another: the innermost is the server's.
fn error_message(error: &Value) -> Option<&str> {
    let here = error.as_str().or_else(|| error.get("message")?.as_str());
    error.get("error").and_then(error_message).or(here)
}

impl ModelFallback {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            original_model: fields.take_text("originalModel"),
            fallback_model: fields.take_text("fallbackModel"),
            refused_user_message: fields.take_text("refusedUserMessageUuid"),
            retracted_messages: fields.take_texts("retractedMessageUuids"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(SystemBody) -> T, expected: &str) {
        let body = SystemBody::from_fields(Fields::read(json));
        assert_eq!(format!("{:?}", get(body)), expected);
    }

    #[test]
    fn subtypes_are_known_or_kept() {
        check(r#"{"content":"x"}"#, |b| (b.kind, b.content), r#"(Plain, Some("x"))"#);
        check(r#"{"subtype":"informational","level":"info"}"#, |b| b.kind, "Informational");
        check(
            r#"{"subtype":"new","a":1}"#,
            |b| matches!(b.kind, SystemKind::Other { subtype, .. } if subtype == "new"),
            "true",
        );
    }

    #[test]
    fn a_compaction_names_preserved_messages() {
        let json = r#"{"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":9,
            "preservedSegment":{"headUuid":"h","anchorUuid":"a","tailUuid":"t"},
            "preservedMessages":{"anchorUuid":"a","uuids":["h","t"],"allUuids":["h","m","t"]}}}"#;
        let compact = |body: SystemBody| body.compact_metadata().cloned().unwrap();
        check(json, |b| (compact(b).trigger, 0), r#"(Some("auto"), 0)"#);
        check(json, |b| compact(b).pre_tokens, "Some(9)");
        check(json, |b| compact(b).preserved_segment.unwrap().tail_uuid, r#"Some("t")"#);
        check(json, |b| compact(b).preserved_messages.unwrap().all_uuids, r#"["h", "m", "t"]"#);
        check(
            r#"{"subtype":"compact_boundary"}"#,
            |b| compact(b) == CompactMetadata::default(),
            "true",
        );
    }

    #[test]
    fn an_error_is_unwrapped() {
        let message = |body: SystemBody| match body.kind {
            SystemKind::ApiError(error) => (error.message, error.status),
            _ => (None, None),
        };
        check(
            r#"{"subtype":"api_error","error":{"status":502,"message":"outer","error":{"error":{"message":"inner"}}}}"#,
            message,
            r#"(Some("inner"), Some(502))"#,
        );
        check(r#"{"subtype":"api_error","error":"plain"}"#, message, r#"(Some("plain"), None)"#);
        check(r#"{"subtype":"api_error"}"#, message, "(None, None)");
    }
}
