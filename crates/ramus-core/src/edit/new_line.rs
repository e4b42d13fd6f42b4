//! Builds new lines in the client's own format and key order (R23).

use serde_json::{Map, Value, json};

use crate::session::SessionFacts;
use crate::time::Time;

/// The number of characters of a prompt or title that a new line contains; the client expects a
/// `last-prompt` line to be short.
const MAX_TITLE_CHARS: usize = 200;

/// A record that is attached to a node and is not sent to the model.
pub(super) struct MarkerRecord<'a> {
    pub(super) parent: &'a str,
    pub(super) uuid: &'a str,
    pub(super) session: &'a str,
    pub(super) time: Time,
    pub(super) text: &'a str,
}

impl MarkerRecord<'_> {
    pub(super) fn to_line(&self, facts: &SessionFacts) -> Vec<u8> {
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| drop(record.insert(key.to_owned(), value));
        put("parentUuid", self.parent.into());
        put("isSidechain", false.into());
        put("userType", "external".into());
        if let Some(cwd) = &facts.cwd {
            put("cwd", (&**cwd).into());
        }
        put("sessionId", self.session.into());
        if let Some(version) = &facts.version {
            put("version", (&*version.text).into());
        }
        put("gitBranch", facts.git_branch.as_deref().unwrap_or_default().into());
        put("type", "system".into());
        put("subtype", "informational".into());
        put("content", self.text.into());
        put("isMeta", false.into());
        put("level", "info".into());
        put("uuid", self.uuid.into());
        put("timestamp", self.time.to_string().into());
        json_line(&Value::Object(record))
    }
}

/// A user record: a message in the user's name, or the result of a call.
pub(super) struct UserRecord {
    pub(super) parent: Option<String>,
    pub(super) uuid: String,
    pub(super) content: Value,
    /// Its provenance, and the field for it.
    pub(super) provenance: Option<(&'static str, Value)>,
}

impl UserRecord {
    pub(super) fn into_line(
        self,
        facts: &SessionFacts,
        session: &str,
        cwd: Option<&str>,
        time: Time,
    ) -> Vec<u8> {
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| drop(record.insert(key.to_owned(), value));
        put("parentUuid", self.parent.into());
        put("isSidechain", false.into());
        put("userType", "external".into());
        if let Some(cwd) = cwd.or(facts.cwd.as_deref()) {
            put("cwd", cwd.into());
        }
        put("sessionId", session.into());
        if let Some(version) = &facts.version {
            put("version", (&*version.text).into());
        }
        put("gitBranch", facts.git_branch.as_deref().unwrap_or_default().into());
        put("type", "user".into());
        put("message", json!({"role": "user", "content": self.content}));
        put("uuid", self.uuid.into());
        put("timestamp", time.to_string().into());
        if let Some((field, from)) = self.provenance {
            put(field, from);
        }
        json_line(&Value::Object(record))
    }
}

pub(super) fn summary_line(text: &str, leaf: &str) -> Vec<u8> {
    json_line(&json!({"type": "summary", "summary": shorten_text(text), "leafUuid": leaf}))
}

pub(super) fn custom_title_line(title: &str, session: &str) -> Vec<u8> {
    json_line(&json!({"type": "custom-title", "customTitle": title, "sessionId": session}))
}

/// A pointer to where the session continues; an explicit one holds for ancestors too (R11).
pub(super) fn last_prompt_line(prompt: &str, leaf: &str, explicit: bool, session: &str) -> Vec<u8> {
    let mut record =
        json!({"type": "last-prompt", "lastPrompt": shorten_text(prompt), "leafUuid": leaf});
    if explicit {
        record["explicit"] = true.into();
    }
    record["sessionId"] = session.into();
    json_line(&record)
}

fn shorten_text(text: &str) -> String {
    text.chars().take(MAX_TITLE_CHARS).collect()
}

fn json_line(record: &Value) -> Vec<u8> {
    let mut line = record.to_string().into_bytes();
    line.push(b'\n');
    line
}
