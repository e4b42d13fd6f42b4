//! Which kinds of news are wanted.

use clap::ValueEnum;
use ramus_core::live::Told;
use ramus_core::turn::{Part, TurnKind};

/// A kind of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// What people ask, and commands they give
    Prompts,
    /// What the model says
    Answers,
    /// What it thinks, or that the text is withheld
    Thinking,
    /// Tool calls with their outcome
    Tools,
    /// Agents that start, and reports of background tasks
    Agents,
    /// Compactions
    Compactions,
    /// API errors, failed calls, damaged lines
    Errors,
    /// New branches, and returns to old ones
    Branches,
    /// Ends of turns with tokens and cost, and questions to the user
    Turns,
    /// Hooks, attached files, notes of the client, titles
    Notes,
    /// Sessions that appear, move, are rewritten or deleted
    Files,
}

/// The kinds that are wanted; all, if none is named.
pub(super) struct Only(Vec<Kind>);

impl Only {
    pub(super) fn new(kinds: &[Kind]) -> Self {
        Self(kinds.to_vec())
    }

    pub(super) fn wants(&self, kind: Kind) -> bool {
        self.0.is_empty() || self.0.contains(&kind)
    }

    /// Whether a kind was asked for by its name.
    pub(super) fn names(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    /// Returns what is wanted of something told.
    pub(super) fn of(&self, told: &Told) -> Option<Told> {
        if self.0.is_empty() {
            return Some(told.clone());
        }
        if let Told::Turn(TurnKind::Answer(answer)) = told {
            let mut answer = answer.clone();
            answer.parts.retain(|part| {
                self.wants(match part {
                    Part::Thinking(_) => Kind::Thinking,
                    Part::Call(_) => Kind::Tools,
                    _ => Kind::Answers,
                })
            });
            return (!answer.parts.is_empty()).then_some(Told::Turn(TurnKind::Answer(answer)));
        }
        kinds(told).iter().any(|kind| self.wants(*kind)).then(|| told.clone())
    }
}

fn kinds(told: &Told) -> &'static [Kind] {
    match told {
        Told::Turn(kind) => match kind {
            TurnKind::Prompt(_) | TurnKind::Command(_) | TurnKind::Interrupt { .. } => {
                &[Kind::Prompts]
            }
            TurnKind::Answer(_) => &[Kind::Answers],
            TurnKind::Synthetic(said) if said.is_api_error => &[Kind::Errors],
            TurnKind::Synthetic(_) => &[Kind::Notes],
            TurnKind::Note(note) if note.kind == "api_error" => &[Kind::Errors],
            TurnKind::Damaged { .. } => &[Kind::Errors],
            TurnKind::Compaction(_) => &[Kind::Compactions],
            TurnKind::Notification(_) => &[Kind::Agents],
            TurnKind::Result(_) => &[Kind::Tools],
            TurnKind::Fork(_) | TurnKind::Resume(_) => &[Kind::Branches],
            TurnKind::Hook(_)
            | TurnKind::Guess(_)
            | TurnKind::File(_)
            | TurnKind::Note(_)
            | TurnKind::Injected(_)
            | TurnKind::Unknown { .. } => &[Kind::Notes],
        },
        Told::Result { call, .. } => {
            let failed = call.result.as_ref().is_some_and(|result| result.is_error);
            if failed { &[Kind::Tools, Kind::Errors] } else { &[Kind::Tools] }
        }
        Told::Switch(_) => &[Kind::Branches],
        Told::Ended { .. } | Told::Waits(_) | Told::Spent(_) => &[Kind::Turns],
        Told::Title(_) => &[Kind::Notes],
    }
}
