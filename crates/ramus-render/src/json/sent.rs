//! The messages that Claude Code would send when it resumes.

use ramus_core::client_path::{SentMessage, SentRequest};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use serde::Serialize;
use serde_json::Value;

/// `M` writes the messages one after the other: there may be a million.
#[derive(Debug, Serialize)]
pub struct SentJson<M> {
    pub session: String,
    /// The version of the client that it follows; null if the session names none.
    pub version: Option<String>,
    /// The record it resumes from.
    pub point: Option<String>,
    pub messages: M,
    /// Attachments for which the client sends text that the session does not contain.
    pub unworded: Vec<UnwordedJson>,
    /// Background agents that have not reported; the client adds a note about each.
    pub unreported: Vec<String>,
}

/// A message as in the request.
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

impl From<SentMessage> for MessageJson {
    fn from(SentMessage { role, content }: SentMessage) -> Self {
        Self { role: role.as_str(), content }
    }
}

impl<M> SentJson<M> {
    /// Converts what would be sent.
    pub fn new(
        id: &str,
        history: &History,
        point: NodeId,
        sent: &SentRequest<'_>,
        messages: M,
    ) -> Self {
        let session = &history.session;
        let spell = |node: NodeId| session.record(node).uuid.map(|name| session.uuid_text(name));
        let unworded = |(node, kind): &(NodeId, String)| UnwordedJson {
            uuid: spell(*node),
            kind: kind.clone(),
        };
        Self {
            session: id.to_owned(),
            version: session.facts().version.as_ref().map(|version| version.text.to_string()),
            point: spell(point),
            messages,
            unworded: sent.unworded.iter().map(unworded).collect(),
            unreported: sent.unreported.clone(),
        }
    }
}
