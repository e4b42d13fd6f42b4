//! Thinking without text (R17).
//!
//! Recent clients do not store the text of thinking, so a transcript could have hundreds of empty
//! notes. It shows one for each reply.

use ramus_core::turn::{ReplyPart, Thought, Turn, TurnKind};

/// Remembers whether the current reply has shown such a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithheldThoughts {
    is_shown: bool,
}

impl WithheldThoughts {
    /// Removes from a turn what its reply has shown already.
    pub fn drop_repeated(&mut self, turn: &mut Turn) {
        self.enter_turn(turn);
        if let TurnKind::Reply(answer) = &mut turn.kind {
            answer.parts.retain(|part| !self.is_repeated(part));
        }
    }

    /// Starts a turn. A prompt, command or compaction ends the reply.
    pub(super) fn enter_turn(&mut self, turn: &Turn) {
        let ends = matches!(
            turn.kind,
            TurnKind::Prompt(_) | TurnKind::Command(_) | TurnKind::Compaction(_)
        );
        self.is_shown &= !ends;
    }

    /// Whether the part repeats such a note.
    pub(super) fn is_repeated(&mut self, part: &ReplyPart) -> bool {
        is_withheld(part) && std::mem::replace(&mut self.is_shown, true)
    }
}

/// Whether the part is thinking without text.
pub fn is_withheld(part: &ReplyPart) -> bool {
    matches!(part, ReplyPart::Thinking(Thought::Withheld { .. } | Thought::Redacted { .. }))
}
