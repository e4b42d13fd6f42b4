//! What one conversation did after the common part.

use std::collections::BTreeMap;

use super::files::Files;
use crate::turn::{Action, Call, Turn, TurnKind};
use crate::usage::Tally;

/// What one of two conversations has and the other has not.
///
/// All turns of the path are added in order: common turns only to know the content of files, own
/// turns to be counted and kept.
#[derive(Clone, Debug, Default)]
pub struct Side {
    pub turns: Vec<Own>,
    /// Without prompts typed while the model was working, which are not separate messages (R16).
    pub prompts: u32,
    pub answers: u32,
    /// The number of sub-agents started; what they did is included in the counts.
    pub agents: u32,
    /// How often each tool was used.
    pub tools: BTreeMap<String, Calls>,
    /// What was run in a shell, in order.
    pub commands: Vec<Ran>,
    pub(super) files: Files,
    pub usage: Tally,
}

/// A turn and the part of the path that it is on.
#[derive(Clone, Debug)]
pub struct Own {
    pub part: usize,
    pub turn: Turn,
}

/// Uses of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub made: u32,
    pub failed: u32,
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub command: String,
    pub failed: bool,
}

impl Side {
    /// Adds a turn that both sides have.
    pub fn shared(&mut self, turn: &Turn) {
        self.files.take(turn, false);
    }

    /// Adds a turn that only this side has. Fork points and notes on resuming are not counted.
    pub fn own(&mut self, part: usize, turn: Turn) {
        self.files.take(&turn, true);
        match &turn.kind {
            TurnKind::Fork(_) | TurnKind::Resume(_) | TurnKind::Guess(_) => return,
            TurnKind::Prompt(prompt) => self.prompts += u32::from(!prompt.queued),
            TurnKind::Answer(_) => self.answers += 1,
            _ => {}
        }
        self.calls(&turn);
        self.turns.push(Own { part, turn });
    }

    /// Adds a turn of a sub-agent that this side started: its calls count, its messages do not.
    pub fn agent(&mut self, turn: &Turn) {
        self.files.take(turn, true);
        self.calls(turn);
    }

    fn calls(&mut self, turn: &Turn) {
        let alone = matches!(turn.kind, TurnKind::Result(_));
        for call in turn.calls() {
            self.count(call, alone);
        }
    }

    /// Counts a call; a result without its call adds only how it ended.
    fn count(&mut self, call: &Call, alone: bool) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        if !call.name.is_empty() {
            let calls = self.tools.entry(call.name.clone()).or_default();
            calls.made += u32::from(!alone);
            calls.failed += u32::from(failed);
        }
        if let Action::Run { command, .. } = call.action()
            && !alone
        {
            self.commands.push(Ran { command: command.to_owned(), failed });
        }
    }
}
