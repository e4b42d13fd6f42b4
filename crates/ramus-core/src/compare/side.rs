//! What one conversation did after the common part.

use std::collections::BTreeMap;

use super::exchange::begins_exchange;
use super::files::TouchedFiles;
use crate::turn::{ToolAction, ToolCall, Turn, TurnKind};
use crate::usage::UsageTally;

/// What one of two conversations has and the other has not.
///
/// All turns of the path are added in order: common turns only to know the content of files, own
/// turns to be counted. None is kept, because a conversation may be larger than memory.
#[derive(Clone, Debug, Default)]
pub struct ComparedSide {
    /// The number of exchanges.
    pub exchanges: usize,
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

/// Whether a turn is part of a comparison: fork points and notes on resuming are not.
pub fn is_compared(turn: &Turn) -> bool {
    !matches!(turn.kind, TurnKind::Fork(_) | TurnKind::Resume(_) | TurnKind::Guess(_))
}

impl ComparedSide {
    /// Adds a turn that both sides have.
    pub fn add_shared_turn(&mut self, turn: &Turn) {
        self.files.take_turn(turn, false);
    }

    /// Adds a turn that only this side has, but only what it did to files.
    pub(crate) fn add_own_files(&mut self, turn: &Turn) {
        self.files.take_turn(turn, true);
    }

    /// Adds a turn that only this side has.
    pub fn add_own_turn(&mut self, turn: &Turn) {
        self.files.take_turn(turn, true);
        if !is_compared(turn) {
            return;
        }
        match &turn.kind {
            TurnKind::Prompt(prompt) => self.prompts += u32::from(!prompt.queued),
            TurnKind::Reply(_) => self.replies += 1,
            _ => {}
        }
        self.exchanges += usize::from(self.exchanges == 0 || begins_exchange(turn));
        self.count_calls(turn);
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
