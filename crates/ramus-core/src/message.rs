//! The messages of a conversation in order: role, content, time, model and token usage.
//!
//! [`turn`](crate::turn) has more detail and is made for transcripts; this is for programs that need the text.

use crate::body::{Block, Body, ToolUse, Usage, plain_text};
use crate::branches::Conversation;
use crate::history::History;
use crate::record::{ByteSpan, Voice};
use crate::session::NodeId;
use crate::time::Time;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageRole {
    User,
    Assistant,
}

impl MessageRole {
    /// Returns `user` or `assistant`.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message: a prompt, or a reply with its tool calls and their results.
#[derive(Clone, Debug)]
pub struct Message {
    /// The first record of it.
    pub node: NodeId,
    pub uuid: String,
    pub role: MessageRole,
    /// The blocks of all its records, in file order; tool results follow the reply with the call.
    pub blocks: Vec<Block>,
    pub time: Option<Time>,
    /// `None` on prompts.
    pub model: Option<String>,
    /// The largest usage in its records: the first records are written while the reply is streaming.
    pub usage: Option<Usage>,
}

impl Message {
    /// Returns the text of the message, without thinking, tool calls and results.
    pub fn text(&self) -> String {
        plain_text(&self.blocks)
    }

    /// Returns the tool calls of the message.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse(call) | Block::ServerToolUse(call) => Some(call),
            _ => None,
        })
    }
}

impl History {
    /// Reads the messages of a conversation, first to last, each when the iterator comes to it.
    ///
    /// `read` returns the bytes of a record; what it fails with is handed on. A record that is not
    /// JSON adds nothing to its message.
    ///
    /// ```
    /// # use ramus_core::{history::History, resume::Rule, session::Session};
    /// let file = br#"{"parentUuid":null,"type":"user","message":{"content":"Name a tea"},"uuid":"a","timestamp":"2026-01-01T10:00:00.000Z"}
    /// {"parentUuid":"a","type":"assistant","message":{"id":"m1","model":"claude-opus-5","content":[{"type":"text","text":"Oolong"}]},"uuid":"b","timestamp":"2026-01-01T10:00:01.000Z"}
    /// "#;
    /// let mut session = Session::default();
    /// session.push(file);
    /// let history = History::new(session, Rule::Client);
    /// let conversation = &history.branches.conversations[0];
    /// let read = |span: ramus_core::record::ByteSpan| {
    ///     let start = span.at as usize;
    ///     Ok::<_, std::io::Error>(file[start..start + span.len as usize].to_vec())
    /// };
    /// let messages: Result<Vec<_>, _> = history.messages(conversation, read).collect();
    /// let messages = messages?;
    /// assert_eq!(messages[0].role.word(), "user");
    /// assert_eq!(messages[1].text(), "Oolong");
    /// assert_eq!(messages[1].model.as_deref(), Some("claude-opus-5"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn messages<'a, E>(
        &'a self,
        conversation: &Conversation,
        mut read: impl FnMut(ByteSpan) -> Result<Vec<u8>, E> + 'a,
    ) -> impl Iterator<Item = Result<Message, E>> + 'a {
        let path = self.path(conversation);
        path.folds.into_iter().filter_map(move |fold| {
            let head = self.folds.fold(fold).head;
            let role = match self.folds.fold(fold).voice {
                Voice::Prompt => MessageRole::User,
                Voice::Answer | Voice::Synthetic => MessageRole::Assistant,
                _ => return None,
            };
            let record = self.session.record(head);
            let mut message = Message {
                node: head,
                uuid: record.name.map(|name| self.session.spell(name)).unwrap_or_default(),
                role,
                blocks: Vec::new(),
                time: record.time,
                model: None,
                usage: None,
            };
            for node in self.folds.members(fold) {
                match read(self.session.record(*node).span) {
                    Ok(line) => message.add(Body::parse(&line).ok()),
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(message))
        })
    }
}

impl Message {
    fn add(&mut self, body: Option<Body>) {
        let Some(body) = body else { return };
        self.blocks.extend_from_slice(body.blocks());
        if let Body::Assistant(body) = body {
            self.model = self.model.take().or(body.model);
            let total = |usage: &Option<Usage>| usage.as_ref().map_or(0, Usage::total_tokens);
            if self.usage.is_none() || total(&body.usage) > total(&self.usage) {
                self.usage = body.usage;
            }
        }
    }
}
