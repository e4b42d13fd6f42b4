//! Joins pieces into messages: neighbours of the same role become one message.

use serde_json::Value;

use super::behavior::ClientBehavior;
use super::piece::SentPiece;
use super::sent::{SentMessage, SentRole};

/// A request in the making.
pub(super) struct MessageJoiner {
    client: ClientBehavior,
    pieces: Vec<SentPiece>,
    /// How many of them were left at the last search for complete ones.
    left_open: usize,
}

impl MessageJoiner {
    pub(super) fn new(client: ClientBehavior) -> Self {
        Self { client, pieces: Vec::new(), left_open: 0 }
    }

    pub(super) fn add_piece(&mut self, piece: SentPiece) {
        match piece.role {
            SentRole::Assistant => self.add_reply(piece),
            _ => self.add_other(piece),
        }
    }

    /// Joins a reply to the other parts of its message, across the results of its calls.
    fn add_reply(&mut self, piece: SentPiece) {
        let results =
            |piece: &&mut SentPiece| piece.role == SentRole::User && is_results(&piece.blocks);
        let above = self.pieces.iter_mut().rev().find(|piece| !results(piece));
        match above {
            Some(above)
                if above.role == SentRole::Assistant
                    && !piece.message.is_null()
                    && above.message == piece.message =>
            {
                above.blocks.extend(piece.blocks);
            }
            _ => self.pieces.push(piece),
        }
    }

    fn add_other(&mut self, piece: SentPiece) {
        match piece.role {
            SentRole::System => self.add_system_text(piece),
            _ => self.add_user_text(piece),
        }
    }

    fn add_system_text(&mut self, piece: SentPiece) {
        let last = self.pieces.last_mut().filter(|last| last.role == SentRole::System);
        let Some(last) = last else { return self.pieces.push(piece) };
        let between = if piece.is_later { "\n" } else { "\n\n" };
        if let (Some(Value::String(text)), Some(more)) =
            (last.blocks[0].get_mut("text"), piece.blocks[0]["text"].as_str())
        {
            text.push_str(between);
            text.push_str(more);
        }
    }

    /// Joins user text to the user text before it; system text goes below both.
    fn add_user_text(&mut self, piece: SentPiece) {
        let mut before =
            self.pieces.iter_mut().rev().skip_while(|last| last.role == SentRole::System);
        let above = before.next().filter(|above| above.role == SentRole::User && !piece.is_later);
        let Some(above) = above else {
            // A request begins with the user.
            let is_first = self.pieces.iter().all(|before| before.role == SentRole::System);
            let at = if is_first { 0 } else { self.pieces.len() };
            return self.pieces.insert(at, piece);
        };
        if piece.goes_into_results
            && let Some(last) = above.blocks.last_mut()
            && let Some(Value::String(text)) = last.get_mut("content")
        {
            for words in piece.blocks.iter().filter_map(|block| block["text"].as_str()) {
                text.push_str("\n\n");
                text.push_str(words);
            }
            return;
        }
        if self.client.ends_joined_texts()
            && !piece.is_reminder
            && piece.blocks.first().is_some_and(|block| block["type"] == "text")
            && let Some(last) = above.blocks.last_mut()
            && let Some(Value::String(text)) = last.get_mut("text")
        {
            text.push('\n');
        }
        above.is_text = false;
        above.blocks.extend(piece.blocks);
        if self.client.puts_results_first() {
            above.blocks.sort_by_key(|block| block["type"] != "tool_result");
        }
    }

    pub(super) fn ends_with_user(&self) -> bool {
        self.pieces.last().is_some_and(|last| last.role == SentRole::User)
    }

    pub(super) fn ends_with_result(&self) -> bool {
        self.pieces.last().is_some_and(|last| is_results(&last.blocks))
    }

    /// Removes and returns the messages that nothing can be joined to any more.
    ///
    /// A reply is joined across results, user text across system text, and all system text at the
    /// beginning comes after the first user text.
    pub(super) fn take_complete(&mut self) -> Vec<SentMessage> {
        // Looking at a message again for everything that is joined to it would take quadratic time.
        if self.pieces.len() <= self.left_open.max(1) {
            return Vec::new();
        }
        let is_joined =
            |piece: &SentPiece| piece.role != SentRole::User || !is_results(&piece.blocks);
        let reply = self.pieces.iter().rposition(is_joined).unwrap_or(0);
        let text = self.pieces.iter().rposition(|piece| piece.role != SentRole::System);
        let open = reply.min(text.unwrap_or(0));
        self.left_open = self.pieces.len() - open;
        self.pieces.drain(..open).map(message_from_piece).collect()
    }

    pub(super) fn into_messages(self) -> Vec<SentMessage> {
        self.pieces.into_iter().map(message_from_piece).collect()
    }
}

fn message_from_piece(mut piece: SentPiece) -> SentMessage {
    let content = match &mut piece.blocks[..] {
        [block] if piece.is_text => block["text"].take(),
        _ => Value::Array(piece.blocks),
    };
    SentMessage { role: piece.role, content }
}

fn is_results(blocks: &[Value]) -> bool {
    blocks.iter().all(|block| block["type"] == "tool_result")
}
