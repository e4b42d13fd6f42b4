//! Progress of a running tool. Written from 2.1.12 to 2.1.84.

use super::fields::Fields;
use serde_json::Value;

/// The body of a `progress` record.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressBody {
    pub kind: ProgressKind,
    pub tool_use_id: Option<String>,
    pub parent_tool_use_id: Option<String>,
}

/// The `data` of a `progress` record by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgressKind {
    Bash {
        output: String,
        full_output: String,
        elapsed_seconds: f64,
        total_lines: u64,
    },
    Hook {
        event: String,
        name: String,
        command: Option<String>,
    },
    /// A record of a sub-agent, copied into the session that started it.
    Agent {
        agent_id: Option<String>,
        prompt: Option<String>,
        message: Value,
    },
    Other {
        kind: String,
        data: Value,
    },
}

impl ProgressBody {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            kind: ProgressKind::from_fields(fields.take_object("data").unwrap_or_default()),
            tool_use_id: fields.take_text("toolUseID"),
            parent_tool_use_id: fields.take_text("parentToolUseID"),
        }
    }
}

impl ProgressKind {
    fn from_fields(mut data: Fields) -> Self {
        let kind = data.take_string("type");
        match kind.as_str() {
            "bash_progress" => Self::Bash {
                output: data.take_string("output"),
                full_output: data.take_string("fullOutput"),
                elapsed_seconds: data.float("elapsedTimeSeconds").unwrap_or(0.0),
                total_lines: data.count("totalLines"),
            },
            "hook_progress" => Self::Hook {
                event: data.take_string("hookEvent"),
                name: data.take_string("hookName"),
                command: data.take_text("command"),
            },
            "agent_progress" => Self::Agent {
                agent_id: data.take_text("agentId"),
                prompt: data.take_text("prompt"),
                message: data.take_value("message").unwrap_or_default(),
            },
            _ => Self::Other { kind, data: data.into_value() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let body = ProgressBody::from_fields(Fields::read(json));
        assert_eq!(format!("{:?}", body.kind), expected);
    }

    #[test]
    fn data_is_typed_or_kept() {
        check(
            r#"{"data":{"type":"hook_progress","hookEvent":"E","hookName":"N"}}"#,
            r#"Hook { event: "E", name: "N", command: None }"#,
        );
        check(
            r#"{"data":{"type":"agent_progress","agentId":"a"}}"#,
            r#"Agent { agent_id: Some("a"), prompt: None, message: Null }"#,
        );
        check(r#"{"data":7}"#, r#"Other { kind: "", data: Object {} }"#);
    }
}
