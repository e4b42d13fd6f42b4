//! The messages of a conversation in order: role, content, time, model and token usage.
//!
//! [`turn`](crate::turn) has more detail and is made for transcripts; this is for programs that need the text.

use crate::body::{ContentBlock, RecordBody, TokenUsage, ToolUse, plain_text};
use crate::branches::Conversation;
use crate::history::History;
use crate::record::{ByteSpan, RecordRole};
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
    pub fn as_str(self) -> &'static str {
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
    pub blocks: Vec<ContentBlock>,
    pub time: Option<Time>,
    /// `None` on prompts.
    pub model: Option<String>,
    /// The largest usage in its records: the first records are written while the reply is streaming.
    pub usage: Option<TokenUsage>,
}

impl Message {
    /// Returns the text of the message, without thinking, tool calls and results.
    pub fn text(&self) -> String {
        plain_text(&self.blocks)
    }

    /// Returns the tool calls of the message.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks.iter().filter_map(|block| match block {
            ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => Some(call),
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
    /// # use ramus_core::{history::History, resume::ResumeRule, session::Session};
    /// let file = br#"{"parentUuid":null,"type":"user","message":{"content":"Name a tea"},"uuid":"a","timestamp":"2026-01-01T10:00:00.000Z"}
    /// {"parentUuid":"a","type":"assistant","message":{"id":"m1","model":"claude-opus-5","content":[{"type":"text","text":"Oolong"}]},"uuid":"b","timestamp":"2026-01-01T10:00:01.000Z"}
    /// "#;
    /// let mut session = Session::default();
    /// session.push(file);
    /// let history = History::new(session, ResumeRule::Client);
    /// let conversation = &history.branches.conversations[0];
    /// let read = |span: ramus_core::record::ByteSpan| {
    ///     let start = span.offset as usize;
    ///     Ok::<_, std::io::Error>(file[start..start + span.len as usize].to_vec())
    /// };
    /// let messages: Result<Vec<_>, _> = history.messages(conversation, read).collect();
    /// let messages = messages?;
    /// assert_eq!(messages[0].role.as_str(), "user");
    /// assert_eq!(messages[1].text(), "Oolong");
    /// assert_eq!(messages[1].model.as_deref(), Some("claude-opus-5"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn messages<'a, E>(
        &'a self,
        conversation: &Conversation,
        mut read: impl FnMut(ByteSpan) -> Result<Vec<u8>, E> + 'a,
    ) -> impl Iterator<Item = Result<Message, E>> + 'a {
        let path = self.conversation_path(conversation);
        path.messages.into_iter().filter_map(move |message_id| {
            let head = self.message_tree.message(message_id).head;
            let role = match self.message_tree.message(message_id).role {
                RecordRole::Prompt => MessageRole::User,
                RecordRole::Reply | RecordRole::Synthetic => MessageRole::Assistant,
                _ => return None,
            };
            let record = self.session.record(head);
            let mut message = Message {
                node: head,
                uuid: record.uuid.map(|name| self.session.uuid_text(name)).unwrap_or_default(),
                role,
                blocks: Vec::new(),
                time: record.time,
                model: None,
                usage: None,
            };
            for node in self.message_tree.records_of(message_id) {
                match read(self.session.record(*node).span) {
                    Ok(line) => message.add_record(RecordBody::parse(&line).ok()),
                    Err(error) => return Some(Err(error)),
                }
            }
            Some(Ok(message))
        })
    }
}

impl Message {
    fn add_record(&mut self, body: Option<RecordBody>) {
        let Some(body) = body else { return };
        self.blocks.extend_from_slice(body.content_blocks());
        if let RecordBody::Assistant(body) = body {
            self.model = self.model.take().or(body.model);
            let total =
                |usage: &Option<TokenUsage>| usage.as_ref().map_or(0, TokenUsage::total_tokens);
            if self.usage.is_none() || total(&body.usage) > total(&self.usage) {
                self.usage = body.usage;
            }
        }
    }
}
