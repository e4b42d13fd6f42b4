//! The turns of a transcript.

use ramus_core::body::{Media, MediaSource, plain_text};
use ramus_core::price::PriceList;
use ramus_core::session::Session;
use ramus_core::turn::{self, ReplyPart, Thought, TurnKind};
use ramus_core::usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::round_dollars;

/// A path; `T` gives its turns one after the other, for they may not fit into memory. `U` adds up what
/// they used, and is written after them.
#[derive(Debug, Serialize)]
pub struct Show<N, T, U> {
    pub session: String,
    pub leaf: String,
    pub status: &'static str,
    /// The uuids of all records of the path, in path order.
    pub nodes: N,
    pub turns: T,
    /// What the replies of the path used together.
    pub usage: U,
}

#[derive(Debug, Serialize)]
pub struct Turn {
    /// `prompt`, `answer`, `result`, `command`, `interrupt`, `synthetic`, `compaction`,
    /// `notification`, `hook`, `file`, `note`, `injected`, `fork`, `unknown`, `damaged`.
    pub kind: &'static str,
    pub uuid: Option<String>,
    pub timestamp: Option<String>,
    /// The uuids of the records it is made of.
    pub nodes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Value>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    /// The usage of a reply, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ReplyUsage>,
}

/// What one reply used.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReplyUsage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    /// Part of `output`, where the client wrote it down.
    pub thinking: u64,
    /// Input, cache reads and cache writes of the request.
    pub context: u64,
    /// `None`: the model has no known price.
    pub cost_usd: Option<f64>,
}

/// Returns what a turn used; `None`: it is no reply, or nothing is recorded.
pub fn from_reply(turn: &turn::Turn, prices: &PriceList) -> Option<ReplyUsage> {
    let TurnKind::Reply(answer) = &turn.kind else { return None };
    let usage::ReplyUsage { tokens, cost, context } = usage::reply_usage(answer, prices)?;
    Some(ReplyUsage {
        input: tokens.input,
        output: tokens.output,
        cache_read: tokens.cache_read,
        cache_write_5m: tokens.cache_write_5m,
        cache_write_1h: tokens.cache_write_1h,
        thinking: tokens.thinking,
        context,
        cost_usd: cost.map(round_dollars),
    })
}

/// Converts a turn.
pub fn from_turn(session: &Session, turn: &turn::Turn) -> Turn {
    let (kind, text, model, parts, detail) = turn_contents(session, &turn.kind);
    let names = turn.nodes.iter().filter_map(|id| session.record(*id).uuid);
    Turn {
        kind,
        uuid: turn.uuid.clone(),
        timestamp: turn.time.map(|time| time.to_string()),
        nodes: names.map(|name| session.uuid_text(name)).collect(),
        text,
        model,
        parts,
        detail,
        usage: None,
    }
}

pub(super) type TurnContents = (&'static str, Option<String>, Option<String>, Vec<Value>, Value);

pub(super) fn turn_contents(session: &Session, kind: &TurnKind) -> TurnContents {
    let plain = |word, text: &str, detail| (word, Some(text.to_owned()), None, Vec::new(), detail);
    let bare = |word, detail| (word, None, None, Vec::new(), detail);
    match kind {
        TurnKind::Prompt(prompt) => {
            let media: Vec<Value> = prompt.media.iter().map(media_value).collect();
            plain(
                "prompt",
                &prompt.text,
                json!({"queued": prompt.queued, "delegated": prompt.delegated, "media": media}),
            )
        }
        TurnKind::Reply(answer) => (
            "answer",
            None,
            answer.model.clone(),
            answer.parts.iter().map(part_value).collect(),
            Value::Null,
        ),
        TurnKind::Result(result) => ("result", None, None, vec![call_value(result)], Value::Null),
        TurnKind::Command(command) => bare(
            "command",
            json!({"name": command.name, "args": command.args, "stdout": command.stdout, "stderr": command.stderr}),
        ),
        TurnKind::Interrupt { for_tool_use } => {
            bare("interrupt", json!({"for_tool_use": for_tool_use}))
        }
        TurnKind::Synthetic(synthetic) => plain(
            "synthetic",
            &synthetic.text,
            json!({"api_error": synthetic.is_api_error, "status": synthetic.status}),
        ),
        TurnKind::Compaction(compaction) => {
            let detail = json!({"trigger": compaction.trigger, "pre_tokens": compaction.pre_tokens,
                "post_tokens": compaction.post_tokens});
            ("compaction", compaction.summary.clone(), None, Vec::new(), detail)
        }
        TurnKind::Notification(note) => plain(
            "notification",
            &note.text,
            json!({"from": note.from, "status": note.status, "summary": note.summary}),
        ),
        TurnKind::Hook(hook) => {
            plain("hook", &hook.text, json!({"name": hook.name, "command": hook.command}))
        }
        TurnKind::File(file) => {
            bare("file", json!({"path": file.path, "edited": file.edited, "text": file.text}))
        }
        TurnKind::Note(note) => {
            plain("note", &note.text, json!({"kind": note.kind, "level": note.level}))
        }
        TurnKind::Injected(text) => plain("injected", text, Value::Null),
        TurnKind::Fork(fork) => bare("fork", self::fork_value(session, fork)),
        TurnKind::Resume(note) => plain(
            "resume",
            &crate::text::resume_note(*note),
            json!({"without": note.without, "below": note.below}),
        ),
        TurnKind::Guess(placement) => {
            plain("guess", crate::text::guess_note(*placement), json!({"why": placement.as_str()}))
        }
        TurnKind::Unknown { kind, value } => bare("unknown", json!({"type": kind, "value": value})),
        TurnKind::Damaged { line, text } => plain("damaged", text, json!({"line": line})),
    }
}

fn part_value(part: &ReplyPart) -> Value {
    match part {
        ReplyPart::Text(text) => json!({"type": "text", "text": text}),
        ReplyPart::Thinking(Thought::Text(text)) => {
            json!({"type": "thinking", "text": text, "withheld": false})
        }
        ReplyPart::Thinking(_) => json!({"type": "thinking", "text": null, "withheld": true}),
        ReplyPart::Call(made) => call_value(made),
        ReplyPart::Media(picture) => media_value(picture),
        ReplyPart::Fallback { from, to } => json!({"type": "fallback", "from": from, "to": to}),
        ReplyPart::Unknown(value) => json!({"type": "unknown", "value": value}),
    }
}

pub(super) fn call_value(call: &turn::ToolCall) -> Value {
    let result = call.result.as_ref().map(|result| {
        json!({"error": result.is_error, "text": plain_text(&result.content), "spilled": result.spilled_path,
            "feedback": result.feedback})
    });
    let mut made = json!({"type": "call", "id": call.id, "name": call.name, "input": call.input, "result": result,
        "agent": call.agent});
    if let Some(used) = usage::agent_usage(call) {
        made["agent_usage"] = json!({"tokens": used.tokens, "tool_calls": used.tool_calls,
            "duration_ms": used.duration_ms});
    }
    made
}

fn media_value(media: &Media) -> Value {
    let (source, place) = match &media.source {
        MediaSource::Base64(_) => ("base64", None),
        MediaSource::Text(_) => ("text", None),
        MediaSource::Url(url) => ("url", Some(url)),
        MediaSource::File(id) => ("file", Some(id)),
        MediaSource::Absent => ("absent", None),
    };
    json!({"type": "media", "media_type": media.media_type, "source": source, "place": place, "bytes": media.data_len()})
}

fn fork_value(session: &Session, fork: &turn::ForkTurn) -> Value {
    let spell = |id| session.record(id).uuid.map(|name| session.uuid_text(name));
    let branches: Vec<Value> = fork
        .branches
        .iter()
        .map(|branch| {
            json!({"node": spell(branch.node), "leaf": spell(branch.leaf), "words": branch.label, "said": branch.is_quote, "messages": branch.messages,
                "timestamp": branch.time.map(|time| time.to_string()), "draft": branch.draft, "current": branch.current,
                "taken": branch.taken})
        })
        .collect();
    let mut detail = json!({"kind": fork.kind.as_str(), "ways": branches});
    if fork.more > 0 {
        detail["more_ways"] = fork.more.into();
    }
    detail
}
