//! Thinking without text (R17).
//!
//! Recent clients do not store the text of thinking, so a transcript could have hundreds of empty
//! notes. It shows one for each reply.

use ramus_core::turn::{Part, Thought, Turn, TurnKind};

/// Remembers whether the current reply has shown such a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithheldThoughts {
    told: bool,
}

impl WithheldThoughts {
    /// Removes from a turn what its reply has shown already.
    pub fn fold(&mut self, turn: &mut Turn) {
        self.enter(turn);
        if let TurnKind::Answer(answer) = &mut turn.kind {
            answer.parts.retain(|part| !self.is_repeated(part));
        }
    }

    /// Starts a turn. A prompt, command or compaction ends the reply.
    pub(super) fn enter(&mut self, turn: &Turn) {
        let ends = matches!(
            turn.kind,
            TurnKind::Prompt(_) | TurnKind::Command(_) | TurnKind::Compaction(_)
        );
        self.told &= !ends;
    }

    /// Whether the part repeats such a note.
    pub(super) fn is_repeated(&mut self, part: &Part) -> bool {
        is_withheld(part) && std::mem::replace(&mut self.told, true)
    }
}

/// Whether the part is thinking without text.
pub fn is_withheld(part: &Part) -> bool {
    matches!(part, Part::Thinking(Thought::Withheld { .. } | Thought::Redacted { .. }))
}
