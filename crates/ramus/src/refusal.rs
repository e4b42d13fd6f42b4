//! What to do next in a terminal where a change is refused.

use ramus_app::ChangeError;
use ramus_core::edit::Refusal;
use ramus_store::plan::What;
use ramus_store::undo::UndoError;

use crate::error::CommandError;

impl From<ChangeError> for CommandError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Read(error) => error.into(),
            ChangeError::Undo { error, trashed, .. } => undo_refused(error, trashed),
            ChangeError::NoProject(_) => Self::user(error)
                .hinted("`ramus projects` lists them all; a directory on disk does, too"),
            ChangeError::Refused { what: What::Goto, .. } => {
                Self::user(error).hinted("`ramus show SESSION` lists messages to go to")
            }
            ChangeError::Refused { what: What::Merge, ref refusal } => {
                let hint = merge_hint(refusal);
                Self::user(error).hinted(hint)
            }
            ChangeError::Refused { .. }
            | ChangeError::NoConversation { .. }
            | ChangeError::Title(_) => Self::user(error),
        }
    }
}

fn merge_hint(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoCommonPart { .. } => "`--no-base` merges what has nothing in common",
        Refusal::NothingOwn { .. } => "one of them holds the other: there is nothing to merge",
        Refusal::NoExchange { .. } | Refusal::SeveralExchanges { .. } => {
            "`--dry-run` without `--pick` lists the exchanges with their numbers"
        }
        Refusal::Sidechain => "`ramus fork AGENT` makes it a conversation that can be merged",
        _ => "`ramus conversations SESSION` lists what can be merged",
    }
}

/// Says what to do next; `trashed`: the operation that moved the session to the trash.
fn undo_refused(error: UndoError, trashed: Option<u64>) -> CommandError {
    let hint = match &error {
        UndoError::Nothing
        | UndoError::Unknown(_)
        | UndoError::Undone { .. }
        | UndoError::IsUndo(_) => "`ramus log` shows what was done".to_owned(),
        UndoError::WentOn { op, .. } => {
            format!("`ramus undo {op} --fork` makes a new session of the state before it")
        }
        UndoError::Taken { .. } => "move one of them elsewhere, then undo again".to_owned(),
        UndoError::Gone { .. } => "nothing was changed".to_owned(),
        UndoError::NotDone(_) => "there is nothing of it to take back".to_owned(),
        UndoError::NoVersion(_) => match trashed {
            Some(op) => format!("it is in the trash; `ramus undo {op}` brings it back"),
            None => "ramus keeps a version before each of its operations; `ramus log` lists them"
                .to_owned(),
        },
        UndoError::Read(_) => return CommandError::user(error),
    };
    CommandError::user(error).hinted(hint)
}
