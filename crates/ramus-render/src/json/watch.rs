//! Events of followed sessions, one object per line.

use ramus_core::live::{LiveEvent, LiveEventKind, Spending};
use ramus_core::session::Session;
use serde::Serialize;
use serde_json::{Value, json};

use super::turn::{call_value, turn_contents};

/// Something that happened, and where.
#[derive(Debug, Default, Serialize)]
pub struct Watched {
    /// `ready`, `polling`, `problem`; `found`, `moved`, `rewritten`, `gone`; the kinds of turns as
    /// in `show`; `result`, `branch`, `turn_ended`, `waiting`, `usage`, `title`.
    pub event: &'static str,
    pub session: Option<String>,
    /// The agent whose record it is.
    pub agent: Option<String>,
    /// The encoded name of the project.
    pub project: Option<String>,
    pub file: Option<String>,
    /// Offset of the record in the file.
    pub offset: Option<u64>,
    pub uuid: Option<String>,
    pub timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

/// Converts an event, without its session and file.
pub fn from_live_event(news: &LiveEvent) -> Watched {
    let place = Watched {
        offset: Some(news.offset),
        uuid: news.uuid.clone(),
        timestamp: news.time.map(|time| time.to_string()),
        ..Watched::default()
    };
    match &news.kind {
        LiveEventKind::Turn(kind) => {
            // Only fork points need the session, and live events have none.
            let (event, text, model, parts, detail) = turn_contents(&Session::default(), kind);
            Watched { event, text, model, parts, detail, ..place }
        }
        LiveEventKind::Result { call: made, millis } => Watched {
            event: "result",
            parts: vec![call_value(made)],
            duration_ms: *millis,
            ..place
        },
        LiveEventKind::Switch(switch) => Watched {
            event: "branch",
            detail: json!({"kind": switch.kind.as_str(), "after": switch.after, "words": switch.prompt_text,
                "leaves": switch.leaves, "returns": switch.returns}),
            ..place
        },
        LiveEventKind::Ended { millis, spent } => Watched {
            event: "turn_ended",
            duration_ms: *millis,
            detail: spending_value(spent),
            ..place
        },
        LiveEventKind::WaitsForUser(text) => {
            Watched { event: "waiting", text: Some(text.clone()), ..place }
        }
        LiveEventKind::Spent(spent) => {
            Watched { event: "usage", detail: spending_value(spent), ..place }
        }
        LiveEventKind::Title(title) => {
            Watched { event: "title", text: Some(title.clone()), ..place }
        }
    }
}

/// Makes an event about a file.
pub fn change_event(event: &'static str, detail: Value) -> Watched {
    Watched { event, detail, ..Watched::default() }
}

/// Makes a general event.
pub fn note_event(event: &'static str, text: Option<String>) -> Watched {
    Watched { event, text, ..Watched::default() }
}

fn spending_value(spent: &Spending) -> Value {
    json!({"messages": spent.messages, "tokens": spent.tokens, "output": spent.output,
        "cost_usd": spent.cost, "unpriced": spent.unpriced, "context": spent.context})
}
