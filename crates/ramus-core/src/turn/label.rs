//! One-line labels of messages, for branches and rows of a tree.

use crate::body::{Block, Body, plain_text};
use crate::digest::one_line;
use crate::session::NodeId;

/// How many records of a message are looked at.
const LOOKED_AT: usize = 8;

/// How many letters are enough for any row.
const LETTERS: usize = 240;

/// The label of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageLabel {
    /// The record that it comes from.
    pub node: NodeId,
    pub text: String,
    /// It is text of the message. If not, it names what the message has instead of text.
    pub said: bool,
}

/// Returns the first text of a message, or what it has instead: the tool it calls, an image, thinking.
///
/// `None`: it has nothing that can be named.
pub fn message_label(
    members: &[NodeId],
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> Option<MessageLabel> {
    let mut held: Option<(Content, MessageLabel)> = None;
    for &node in members.iter().take(LOOKED_AT) {
        let Some(body) = bodies(node) else { continue };
        let text: String = one_line(&plain_text(body.blocks())).chars().take(LETTERS).collect();
        if !text.is_empty() {
            return Some(MessageLabel { node, text, said: true });
        }
        for (content, text) in body.blocks().iter().filter_map(content) {
            if held.as_ref().is_none_or(|(best, _)| content < *best) {
                held = Some((content, MessageLabel { node, text: text.into(), said: false }));
            }
        }
    }
    held.map(|(_, label)| label)
}

/// What a block is if it is not text; the most informative comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Call,
    Media,
    Thinking,
}

fn content(block: &Block) -> Option<(Content, &str)> {
    match block {
        Block::ToolUse(call) | Block::ServerToolUse(call) => Some((Content::Call, &call.name)),
        Block::Image(_) => Some((Content::Media, "a picture")),
        Block::Document(_) => Some((Content::Media, "a document")),
        Block::Thinking(_) | Block::RedactedThinking { .. } => {
            Some((Content::Thinking, "thinking only"))
        }
        _ => None,
    }
}
