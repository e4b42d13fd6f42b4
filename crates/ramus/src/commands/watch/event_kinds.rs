//! Which kinds of events to show.

use clap::ValueEnum;
use ramus_core::live::LiveEventKind;
use ramus_core::turn::{ReplyPart, TurnKind};

/// A kind of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchKind {
    /// Prompts and commands
    Prompts,
    /// Replies
    Answers,
    /// Thinking, or a note that it is withheld
    Thinking,
    /// Tool calls with their outcome
    Tools,
    /// Started agents, and reports of background tasks
    Agents,
    /// Compactions
    Compactions,
    /// API errors, failed calls, damaged lines
    Errors,
    /// New branches, and returns to old ones
    Branches,
    /// The end of each turn with tokens and cost, and questions to you
    Turns,
    /// Hooks, attached files, client notes, titles
    Notes,
    /// Sessions that appear, move, are rewritten or deleted
    Files,
}

/// The kinds to show; all, if none is given.
pub(super) struct WatchKinds(Vec<WatchKind>);

impl WatchKinds {
    pub(super) fn new(kinds: &[WatchKind]) -> Self {
        Self(kinds.to_vec())
    }

    pub(super) fn wants_kind(&self, kind: WatchKind) -> bool {
        self.0.is_empty() || self.0.contains(&kind)
    }

    /// Whether a kind was requested by name.
    pub(super) fn names_kind(&self, kind: WatchKind) -> bool {
        self.0.contains(&kind)
    }

    /// Returns the part of an event that is shown.
    pub(super) fn filter_event(&self, event: &LiveEventKind) -> Option<LiveEventKind> {
        if self.0.is_empty() {
            return Some(event.clone());
        }
        if let LiveEventKind::Turn(TurnKind::Reply(answer)) = event {
            let mut answer = answer.clone();
            answer.parts.retain(|part| {
                self.wants_kind(match part {
                    ReplyPart::Thinking(_) => WatchKind::Thinking,
                    ReplyPart::Call(_) => WatchKind::Tools,
                    _ => WatchKind::Answers,
                })
            });
            return (!answer.parts.is_empty())
                .then_some(LiveEventKind::Turn(TurnKind::Reply(answer)));
        }
        event_kinds_of(event).iter().any(|kind| self.wants_kind(*kind)).then(|| event.clone())
    }
}

fn event_kinds_of(event: &LiveEventKind) -> &'static [WatchKind] {
    match event {
        LiveEventKind::Turn(kind) => match kind {
            TurnKind::Prompt(_) | TurnKind::Command(_) | TurnKind::Interrupt { .. } => {
                &[WatchKind::Prompts]
            }
            TurnKind::Reply(_) => &[WatchKind::Answers],
            TurnKind::Synthetic(message) if message.is_api_error => &[WatchKind::Errors],
            TurnKind::Synthetic(_) => &[WatchKind::Notes],
            TurnKind::Note(note) if note.kind == "api_error" => &[WatchKind::Errors],
            TurnKind::Damaged { .. } => &[WatchKind::Errors],
            TurnKind::Compaction(_) => &[WatchKind::Compactions],
            TurnKind::Notification(_) => &[WatchKind::Agents],
            TurnKind::Result(_) => &[WatchKind::Tools],
            TurnKind::Fork(_) | TurnKind::Resume(_) => &[WatchKind::Branches],
            TurnKind::Hook(_)
            | TurnKind::Guess(_)
            | TurnKind::File(_)
            | TurnKind::Note(_)
            | TurnKind::Injected(_)
            | TurnKind::Unknown { .. } => &[WatchKind::Notes],
        },
        LiveEventKind::Result { call, .. } => {
            let failed = call.result.as_ref().is_some_and(|result| result.is_error);
            if failed { &[WatchKind::Tools, WatchKind::Errors] } else { &[WatchKind::Tools] }
        }
        LiveEventKind::Switch(_) => &[WatchKind::Branches],
        LiveEventKind::Ended { .. } | LiveEventKind::WaitsForUser(_) | LiveEventKind::Spent(_) => {
            &[WatchKind::Turns]
        }
        LiveEventKind::Title(_) => &[WatchKind::Notes],
    }
}
