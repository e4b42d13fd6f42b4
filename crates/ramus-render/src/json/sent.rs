//! The messages that Claude Code would send when it resumes.

use ramus_core::client_path::{SentMessage, SentRequest};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
pub struct SentJson {
    pub session: String,
    /// The client whose way it is; null: the session names none.
    pub version: Option<String>,
    /// The record it goes on from.
    pub point: Option<String>,
    pub messages: Vec<MessageJson>,
    /// Attachments for which the client sends words that the session does not hold.
    pub unworded: Vec<UnwordedJson>,
    /// Background agents that have not reported; the client adds a note about each.
    pub unreported: Vec<String>,
}

/// A message as it stands in the request.
#[derive(Debug, Serialize)]
pub struct MessageJson {
    pub role: &'static str,
    pub content: Value,
}

#[derive(Debug, Serialize)]
pub struct UnwordedJson {
    pub uuid: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
}

impl SentJson {
    /// Converts what would be sent.
    pub fn new(id: &str, history: &History, point: NodeId, sent: SentRequest) -> Self {
        let session = &history.session;
        let spell = |node: NodeId| session.record(node).uuid.map(|name| session.uuid_text(name));
        let message = |SentMessage { role, content }| MessageJson { role: role.as_str(), content };
        let unworded = |(node, kind)| UnwordedJson { uuid: spell(node), kind };
        Self {
            session: id.to_owned(),
            version: session.facts().version.as_ref().map(|version| version.text.to_string()),
            point: spell(point),
            messages: sent.messages.into_iter().map(message).collect(),
            unworded: sent.unworded.into_iter().map(unworded).collect(),
            unreported: sent.unreported,
        }
    }
}
