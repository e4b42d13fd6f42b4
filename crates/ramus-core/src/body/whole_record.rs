//! One record in full: the fields of its type, the fields of all records, and everything else.

use serde_json::{Map, Value};

use super::RecordBody;
use super::fields::{AskedKeys, Fields};
use super::json::{self, JsonError, LazyJson};

/// One record read in full.
///
/// Lists and transcripts need less and read [`RecordBody`] alone. This reads what every record carries
/// besides, and keeps what no type here knows.
///
/// ```
/// use ramus_core::body::WholeRecord;
///
/// let line = br#"{"type":"user","uuid":"a","cwd":"/home/dev","newField":7,"message":{"role":"user","content":"hi"}}"#;
/// let record = WholeRecord::parse(line)?;
/// assert_eq!(record.head.cwd.as_deref(), Some("/home/dev"));
/// assert_eq!(record.unknown["newField"], 7);
/// # Ok::<(), ramus_core::body::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WholeRecord {
    pub head: RecordHead,
    pub body: RecordBody,
    /// The remaining fields, as written; for objects such as `message`, their remaining members.
    pub unknown: Map<String, Value>,
}

/// The fields that records of all types carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordHead {
    pub uuid: Option<String>,
    /// `None` at a root, too.
    pub parent_uuid: Option<String>,
    /// On a compaction boundary: the record that it follows.
    pub logical_parent_uuid: Option<String>,
    pub timestamp: Option<String>,
    pub session_id: Option<String>,
    pub cwd: Option<String>,
    pub version: Option<String>,
    pub git_branch: Option<String>,
    /// The name of the plan file; written since 2.0.51.
    pub slug: Option<String>,
    /// `external` for everyone outside Anthropic.
    pub user_type: Option<String>,
    /// `cli`, `sdk-ts`, …
    pub entrypoint: Option<String>,
    pub agent_id: Option<String>,
    pub is_sidechain: bool,
}

impl WholeRecord {
    /// Reads one line.
    pub fn parse(line: &[u8]) -> Result<Self, JsonError> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let repaired = match LazyJson::parse(line) {
            Some(_) => None,
            None => json::repair_line(line),
        };
        let line = repaired.as_deref().unwrap_or(line);
        let value = json::parse_line(line)?;
        let Some(read) = LazyJson::parse(line).filter(|read| matches!(read, LazyJson::Object(_)))
        else {
            return Ok(Self {
                head: RecordHead::default(),
                body: RecordBody::Unknown(value),
                unknown: Map::new(),
            });
        };
        let asked = AskedKeys::default();
        let mut fields = Fields::from_json(read).with_asked_keys(&asked);
        let head = RecordHead::from_fields(&mut fields);
        let body = RecordBody::from_fields(fields);
        let unknown = match body {
            // It is already kept in full.
            RecordBody::Unknown(_) => Map::new(),
            _ => asked.unasked_members(value),
        };
        Ok(Self { head, body, unknown })
    }
}

impl RecordHead {
    fn from_fields(fields: &mut Fields<'_>) -> Self {
        // Read without taking: a record of an unknown type is kept in full.
        let text = |key: &str| fields.peek_text(key).map(std::borrow::Cow::into_owned);
        Self {
            uuid: text("uuid"),
            parent_uuid: text("parentUuid"),
            logical_parent_uuid: text("logicalParentUuid"),
            timestamp: text("timestamp"),
            session_id: text("sessionId"),
            cwd: text("cwd"),
            version: text("version"),
            git_branch: text("gitBranch"),
            slug: text("slug"),
            user_type: text("userType"),
            entrypoint: text("entrypoint"),
            agent_id: text("agentId"),
            is_sidechain: fields.flag("isSidechain"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::ContentBlock;

    #[test]
    fn what_every_record_carries_is_read() {
        let line = br#"{"parentUuid":"p","logicalParentUuid":"q","isSidechain":true,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.5","gitBranch":"main","slug":"calm-tea","type":"system","subtype":"x","uuid":"u","timestamp":"t"}"#;
        let head = WholeRecord::parse(line).unwrap().head;
        let texts = [
            head.uuid,
            head.parent_uuid,
            head.logical_parent_uuid,
            head.timestamp,
            head.session_id,
            head.cwd,
            head.version,
            head.git_branch,
            head.slug,
            head.user_type,
        ];
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        assert_eq!(texts.join(" "), "u p q t s /w 2.1.5 main calm-tea external");
        assert!(head.is_sidechain);
    }

    #[test]
    fn what_no_type_knows_is_kept() {
        let line = br#"{"type":"assistant","uuid":"a","novel":[1],"message":{"id":"m","role":"assistant","type":"message","content":[],"container":{"id":"c"}}}"#;
        let record = WholeRecord::parse(line).unwrap();
        assert_eq!(record.unknown["novel"], serde_json::json!([1]));
        assert_eq!(record.unknown["message"]["container"]["id"], "c");
        assert!(!record.unknown.contains_key("uuid"));
        assert!(record.unknown["message"].get("id").is_none());
    }

    #[test]
    fn a_record_of_an_unknown_type_is_kept_whole() {
        let line = br#"{"type":"novel","uuid":"a","cwd":"/w","more":1}"#;
        let record = WholeRecord::parse(line).unwrap();
        assert_eq!(record.head.cwd.as_deref(), Some("/w"));
        let RecordBody::Unknown(value) = record.body else { panic!("{:?}", record.body) };
        assert_eq!(value["cwd"], "/w");
        assert!(WholeRecord::parse(b"7").is_ok() && WholeRecord::parse(b"{").is_err());
    }

    #[test]
    fn the_fields_of_an_answer_are_kept() {
        let line = br#"{"type":"assistant","costUsd":0.5,"message":{"role":"assistant","context_management":{"applied_edits":[]},"content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"tool_use","id":"t","name":"Bash","input":{},"caller":{"type":"direct"}}]}}"#;
        let RecordBody::Assistant(body) = RecordBody::parse(line).unwrap() else {
            panic!("no answer")
        };
        assert_eq!(body.role.as_deref(), Some("assistant"));
        assert_eq!(body.cost_usd, Some(0.5));
        assert!(body.context_management.is_some());
        let [ContentBlock::Thinking(thinking), ContentBlock::ToolUse(call)] = &body.content[..]
        else {
            panic!("{body:?}")
        };
        assert_eq!(thinking.signature, "c2ln");
        assert_eq!(call.caller.as_ref().unwrap()["type"], "direct");
        let line = br#"{"type":"user","thinkingMetadata":{"level":"high","triggers":[{"text":"think"}]},"message":{"role":"user","content":"x"}}"#;
        let RecordBody::User(body) = RecordBody::parse(line).unwrap() else { panic!("no prompt") };
        assert_eq!(body.role.as_deref(), Some("user"));
        assert_eq!(body.thinking_metadata.unwrap().triggers[0]["text"], "think");
    }
}
