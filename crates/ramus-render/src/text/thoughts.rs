//! Thoughts of which only the fact is known (R17).
//!
//! Recent clients keep no text of any of them, so a transcript would tell of
//! hundreds. One for each reply says as much.

use ramus_core::turn::{Part, Thought, Turn, TurnKind};

/// Whether the reply that goes on has told of such a thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithheldThoughts {
    told: bool,
}

impl WithheldThoughts {
    /// Takes out of a turn what its reply has told already.
    pub fn fold(&mut self, turn: &mut Turn) {
        self.enter(turn);
        if let TurnKind::Answer(answer) = &mut turn.kind {
            answer.parts.retain(|part| !self.is_repeated(part));
        }
    }

    /// Notes that a turn comes next; whoever else speaks ends the reply.
    pub(super) fn enter(&mut self, turn: &Turn) {
        let ends = matches!(
            turn.kind,
            TurnKind::Prompt(_) | TurnKind::Command(_) | TurnKind::Compaction(_)
        );
        self.told &= !ends;
    }

    /// Whether the part is a thought like one that was told before.
    pub(super) fn is_repeated(&mut self, part: &Part) -> bool {
        is_withheld(part) && std::mem::replace(&mut self.told, true)
    }
}

/// Whether the part is a thought without a text.
pub fn is_withheld(part: &Part) -> bool {
    matches!(part, Part::Thinking(Thought::Withheld { .. } | Thought::Redacted { .. }))
}
