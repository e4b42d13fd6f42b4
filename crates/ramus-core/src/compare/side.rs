//! What one conversation did after the common part.

use std::collections::BTreeMap;

use super::files::TouchedFiles;
use crate::turn::{ToolAction, ToolCall, Turn, TurnKind};
use crate::usage::UsageTally;

/// What one of two conversations has and the other has not.
///
/// All turns of the path are added in order: common turns only to know the content of files, own
/// turns to be counted and kept.
#[derive(Clone, Debug, Default)]
pub struct ComparedSide {
    pub turns: Vec<OwnTurn>,
    /// Without prompts typed while the model was working, which are not separate messages (R16).
    pub prompts: u32,
    pub replies: u32,
    /// The number of sub-agents started; what they did is included in the counts.
    pub agents: u32,
    /// How often each tool was used.
    pub tools: BTreeMap<String, CallCounts>,
    /// What was run in a shell, in order.
    pub commands: Vec<RanCommand>,
    pub(super) files: TouchedFiles,
    pub usage: UsageTally,
}

/// A turn and the part of the path that it is on.
#[derive(Clone, Debug)]
pub struct OwnTurn {
    pub part: usize,
    pub turn: Turn,
}

/// Uses of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    pub made: u32,
    pub failed: u32,
}

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RanCommand {
    pub command: String,
    pub failed: bool,
}

impl ComparedSide {
    /// Adds a turn that both sides have.
    pub fn add_shared_turn(&mut self, turn: &Turn) {
        self.files.take_turn(turn, false);
    }

    /// Adds a turn that only this side has. Fork points and notes on resuming are not counted.
    pub fn add_own_turn(&mut self, part: usize, turn: Turn) {
        self.files.take_turn(&turn, true);
        match &turn.kind {
            TurnKind::Fork(_) | TurnKind::Resume(_) | TurnKind::Guess(_) => return,
            TurnKind::Prompt(prompt) => self.prompts += u32::from(!prompt.queued),
            TurnKind::Reply(_) => self.replies += 1,
            _ => {}
        }
        self.count_calls(&turn);
        self.turns.push(OwnTurn { part, turn });
    }

    /// Adds a turn of a sub-agent that this side started: its calls count, its messages do not.
    pub fn add_agent_turn(&mut self, turn: &Turn) {
        self.files.take_turn(turn, true);
        self.count_calls(turn);
    }

    fn count_calls(&mut self, turn: &Turn) {
        let alone = matches!(turn.kind, TurnKind::Result(_));
        for call in turn.tool_calls() {
            self.count_call(call, alone);
        }
    }

    /// Counts a call; a result without its call adds only how it ended.
    fn count_call(&mut self, call: &ToolCall, alone: bool) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        if !call.name.is_empty() {
            let calls = self.tools.entry(call.name.clone()).or_default();
            calls.made += u32::from(!alone);
            calls.failed += u32::from(failed);
        }
        if let ToolAction::Run { command, .. } = call.action()
            && !alone
        {
            self.commands.push(RanCommand { command: command.to_owned(), failed });
        }
    }
}
