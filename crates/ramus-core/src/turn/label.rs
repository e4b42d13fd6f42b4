//! One-line labels of messages, for branches and rows of a tree.

use crate::body::{ContentBlock, RecordBody, plain_text};
use crate::digest::one_line;
use crate::session::NodeId;

/// How many records of a message are examined.
const MAX_RECORDS: usize = 8;

/// How many letters are enough for any row.
const MAX_CHARS: usize = 240;

/// The label of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageLabel {
    /// The record that it comes from.
    pub node: NodeId,
    pub text: String,
    /// It is text of the message. If not, it names what the message has instead of text.
    pub is_quote: bool,
}

/// Returns the first text of a message, or what it has instead: the tool it calls, an image, thinking.
///
/// `None`: it has nothing that can be named.
pub fn message_label(
    members: &[NodeId],
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> Option<MessageLabel> {
    let mut held: Option<(BlockContent, MessageLabel)> = None;
    for &node in members.iter().take(MAX_RECORDS) {
        let Some(body) = bodies(node) else { continue };
        let text: String =
            one_line(&plain_text(body.content_blocks())).chars().take(MAX_CHARS).collect();
        if !text.is_empty() {
            return Some(MessageLabel { node, text, is_quote: true });
        }
        for (content, text) in body.content_blocks().iter().filter_map(block_content) {
            if held.as_ref().is_none_or(|(best, _)| content < *best) {
                held = Some((content, MessageLabel { node, text: text.into(), is_quote: false }));
            }
        }
    }
    held.map(|(_, label)| label)
}

/// What a block is if it is not text; the most informative comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum BlockContent {
    Call,
    Media,
    Thinking,
}

fn block_content(block: &ContentBlock) -> Option<(BlockContent, &str)> {
    match block {
        ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => {
            Some((BlockContent::Call, &call.name))
        }
        ContentBlock::Image(_) => Some((BlockContent::Media, "a picture")),
        ContentBlock::Document(_) => Some((BlockContent::Media, "a document")),
        ContentBlock::Thinking(_) | ContentBlock::RedactedThinking { .. } => {
            Some((BlockContent::Thinking, "thinking only"))
        }
        _ => None,
    }
}
