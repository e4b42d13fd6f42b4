//! Turns a path into the entries of a transcript (R16).
//!
//! A message that was written as many records is one turn, a tool call has its result, a command its
//! output, a compaction its summary. Decoration is not a turn.

use serde_json::Value;

use crate::body::{ContentBlock, Media, ToolOutput};
use crate::branches::ForkKind;
use crate::client_path::ResumeNote;
use crate::message_tree::Placement;
use crate::session::NodeId;
use crate::time::Time;
use crate::usage::RequestUsage;

mod walk;

pub(crate) mod reply;

mod action;

pub(crate) mod other_turn;

mod exchange;

mod fork;

mod label;

mod running;

pub use action::ToolAction;
pub use exchange::{BackgroundTask, Exchange, ExchangeCollector, ExchangeStart};
pub use fork::fork_turn;
pub use label::{MessageLabel, message_label};
pub use running::last_reply;
pub use walk::{PathTurns, path_turns};

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The records it is made of, the first one first.
    pub nodes: Vec<NodeId>,
    /// The uuid of its first record. `None`: it has none.
    pub uuid: Option<String>,
    /// The start of that name which means no other record of the session.
    pub short_uuid: Option<String>,
    pub time: Option<Time>,
    /// Read out of a damaged line (R2).
    pub recovered: bool,
    pub kind: TurnKind,
}

/// What a turn is.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnKind {
    Prompt(PromptTurn),
    Reply(Reply),
    /// A result whose call is not next to it, or nowhere.
    Result(Box<ToolCall>),
    Command(CommandTurn),
    Interrupt {
        for_tool_use: bool,
    },
    /// Written by the client in place of the model.
    Synthetic(Synthetic),
    Compaction(Compaction),
    Notification(Notification),
    Hook(Hook),
    /// A file that was attached to a prompt.
    File(AttachedFile),
    Note(ClientNote),
    /// Text that the client inserted for the model: the body of a skill or a command, a reminder.
    /// Only on request ([`PathTurns::with_injected`]).
    Injected(String),
    /// Comes before the branch that the path takes.
    Fork(ForkTurn),
    /// The client resumes with fewer messages, or before the end.
    Resume(ResumeNote),
    /// The order is a guess: no record of the file confirms it.
    Guess(Placement),
    /// A record of a kind that is not known here.
    Unknown {
        kind: String,
        value: Value,
    },
    /// A record that cannot be read whole, and the text that can.
    Damaged {
        line: u32,
        text: String,
    },
}

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptTurn {
    pub text: String,
    /// Images and documents.
    pub media: Vec<Media>,
    /// Typed while the model was working.
    pub queued: bool,
    /// Written by another agent, not by a person: the prompt of a sidechain (R6).
    pub delegated: bool,
}

/// A reply of the model: one message, however many records it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub model: Option<String>,
    /// The usage of its requests, the largest that a record has for each (R20). Usually one;
    /// [`reply_usage`](crate::usage::reply_usage) adds them up.
    pub requests: Vec<RequestUsage>,
    pub parts: Vec<ReplyPart>,
}

/// A part of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyPart {
    Text(String),
    Thinking(Thought),
    Call(Box<ToolCall>),
    Media(Media),
    /// Another model took over here.
    Fallback {
        from: Option<String>,
        to: Option<String>,
    },
    Unknown(Value),
}

/// Thinking of the model, as far as it is known (R17).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thought {
    Text(String),
    /// The text was left out when it was written; the signature is this long.
    Withheld {
        signature: usize,
    },
    /// Only the model's server can read it.
    Redacted {
        data: usize,
    },
}

/// A tool call with its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    pub id: String,
    /// Empty where only the result is known.
    pub name: String,
    pub input: Value,
    /// `None`: interrupted, still running, or lost.
    pub result: Option<ToolOutcome>,
    /// It is running ([`Turn::mark_running`]).
    pub running: bool,
    /// The sidechain that did the work, if the result names it.
    pub agent: Option<String>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The record with the result. `None`: that of the call.
    pub node: Option<NodeId>,
    pub time: Option<Time>,
    pub is_error: bool,
    /// What the model saw.
    pub content: Vec<ContentBlock>,
    /// The output that the client stored: more detailed, and absent if one record answers several calls.
    pub output: Option<ToolOutput>,
    /// What the user wrote when refusing.
    pub feedback: Option<String>,
    /// The file with the output, if it was too large for the record.
    pub spilled_path: Option<String>,
    /// The text of that file, once [`Turn::read_spilled`] has read it.
    pub spilled_text: Option<String>,
}

/// A command of the client with what it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandTurn {
    /// `/name`, `!` for a shell command, `#` for a memory; empty where only the output is known.
    pub name: String,
    pub args: String,
    pub stdout: String,
    pub stderr: String,
}

/// Text that the client wrote in place of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synthetic {
    pub text: String,
    pub is_api_error: bool,
    pub status: Option<u64>,
    pub details: Option<String>,
}

/// The conversation was compacted and continues from a summary (R7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// `manual` or `auto`.
    pub trigger: Option<String>,
    pub pre_tokens: Option<u64>,
    pub post_tokens: Option<u64>,
    /// `None`: the boundary has no summary.
    pub summary: Option<String>,
}

/// A message from a background task, another agent or a team mate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notification {
    /// The task or the sender.
    pub from: Option<String>,
    pub status: Option<String>,
    pub summary: Option<String>,
    pub text: String,
}

/// A hook blocked something, failed, or had output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// Such as `PostToolUse:Edit`.
    pub name: String,
    pub effect: HookEffect,
    pub command: Option<String>,
    pub text: String,
}

/// What a hook did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookEffect {
    #[default]
    Reported,
    Failed,
    Blocked,
}

/// A file that the model was shown or informed about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachedFile {
    pub path: String,
    /// Someone else changed it since the model read it.
    pub edited: bool,
    /// `None`: it was only mentioned or is not text.
    pub text: Option<String>,
}

/// A note of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientNote {
    /// The `subtype` of the record: `informational`, `away_summary`, …
    pub kind: String,
    /// `info`, `warning`, `error`, `suggestion`.
    pub level: Option<String>,
    pub text: String,
}

/// A fork point on the path (R9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkTurn {
    pub kind: ForkKind,
    /// In file order, including the one taken.
    pub branches: Vec<ForkTurnBranch>,
    /// How many more there are, see [`fork_turn`].
    pub more: usize,
}

/// One branch of a fork point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkTurnBranch {
    /// The first record of its first message.
    pub node: NodeId,
    /// The last record of the conversation it leads to.
    pub leaf: NodeId,
    /// The part after the session in the address of that leaf.
    pub address: Option<String>,
    /// The first text on it, or what it has instead of text; empty for the branch taken.
    pub label: String,
    /// The label is text of the conversation; if not, it names the content.
    pub is_quote: bool,
    pub time: Option<Time>,
    /// Displayable messages from here to the leaf.
    pub messages: u32,
    /// The model never replied on it.
    pub draft: bool,
    /// It leads to the resume point, or was written last (R12).
    pub current: bool,
    /// The path takes this branch.
    pub taken: bool,
}

impl Turn {
    /// Returns the tool calls of the turn.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let (parts, alone): (&[ReplyPart], _) = match &self.kind {
            TurnKind::Reply(answer) => (&answer.parts, None),
            TurnKind::Result(call) => (&[], Some(&**call)),
            _ => (&[], None),
        };
        let calls = parts.iter().filter_map(|part| match part {
            ReplyPart::Call(call) => Some(&**call),
            _ => None,
        });
        calls.chain(alone)
    }

    /// Loads the outputs that were too large for their records; `read` gets a path and returns a text.
    pub fn read_spilled(&mut self, read: &mut dyn FnMut(&str) -> Option<String>) {
        let mut fill = |call: &mut ToolCall| {
            if let Some(result) = &mut call.result
                && let Some(path) = &result.spilled_path
            {
                result.spilled_text = read(path);
            }
        };
        match &mut self.kind {
            TurnKind::Reply(answer) => reply::calls_mut(answer).for_each(fill),
            TurnKind::Result(call) => fill(call),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
