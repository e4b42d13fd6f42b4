//! Hints for changes that are refused or fail, as command-line options.

use ramus_core::edit::EditRefusal;
use ramus_store::apply::ApplyError;
use ramus_store::undo::UndoError;

use super::{ChangeError, ChangeKind};

impl ChangeError {
    /// Returns what to do next.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Undo { error, trashed, .. } => return undo_hint(error, *trashed),
            Self::NoProject(_) => {
                "`ramus projects` lists all projects; a directory on disk works too"
            }
            Self::Refused { what: ChangeKind::Goto, .. } => {
                "`ramus show SESSION` shows its messages"
            }
            Self::Refused { what: ChangeKind::Merge, refusal } => merge_hint(refusal),
            Self::Archived(id) => {
                return Some(format!("run `ramus archive restore {id}` to bring it back"));
            }
            Self::NoDirectory(_) => "use --into DIR to write the files elsewhere",
            Self::Refused { .. }
            | Self::AlreadyThere
            | Self::NoConversation { .. }
            | Self::Title(_)
            | Self::FilesAsTheyWere(_)
            | Self::NothingToRepair
            | Self::OfOthers
            | Self::Read(_) => return None,
        };
        Some(hint.to_owned())
    }
}

fn merge_hint(refusal: &EditRefusal) -> &'static str {
    match refusal {
        EditRefusal::NoCommonPart { .. } => {
            "use --no-base to merge conversations without a common part"
        }
        EditRefusal::NothingOwn { .. } => "one contains the other, so there is nothing to merge",
        EditRefusal::NoExchange { .. } | EditRefusal::SeveralExchanges { .. } => {
            "use --dry-run without --pick to list the exchanges with their numbers"
        }
        EditRefusal::Sidechain => "run `ramus fork AGENT` first to make it a conversation",
        _ => "`ramus conversations SESSION` lists what can be merged",
    }
}

/// `trashed`: the operation that moved the session to the trash.
fn undo_hint(error: &UndoError, trashed: Option<u64>) -> Option<String> {
    Some(match error {
        UndoError::Nothing
        | UndoError::Unknown(_)
        | UndoError::Undone { .. }
        | UndoError::IsUndo(_) => "`ramus log` lists operations".to_owned(),
        UndoError::ChangedSince { op, .. } => {
            format!("use `ramus undo {op} --fork` to make a new session from the state before it")
        }
        UndoError::Recreated { .. } => "move one of them elsewhere, then undo again".to_owned(),
        UndoError::TrashedFileGone { .. } => "nothing changed".to_owned(),
        UndoError::NotDone(_) => "it has nothing to undo".to_owned(),
        UndoError::NoVersion(_) => match trashed {
            Some(op) => format!("it is in the trash; use `ramus undo {op}` to restore it"),
            None => "ramus makes a backup before each operation; `ramus log` lists operations"
                .to_owned(),
        },
        UndoError::Read(_) => return None,
    })
}

/// Returns what to do next after a plan could not be carried out.
pub fn apply_hint(error: &ApplyError) -> Option<&'static str> {
    match error {
        ApplyError::OpenInClient { .. } => Some(
            "close it there first, or Claude Code will overwrite the change when it ends (use --force to continue anyway)",
        ),
        ApplyError::Growing(_) => Some(
            "wait until it is idle, or close the client that writes it (use --force to continue anyway)",
        ),
        ApplyError::Changed(_) => Some("nothing changed; run the command again"),
        ApplyError::OutsideClaudeDir(_) => Some("use the path that the link points to"),
        ApplyError::NotOwner(_) => Some("nothing changed; only its owner can do this"),
        ApplyError::InUse(_) => Some("nothing changed; close it there first"),
        ApplyError::Unfinished { .. } => Some(
            "run `ramus log --repair` to give that operation up; its files stay where they are",
        ),
        ApplyError::NewerJournal(_) => {
            Some("use the newer ramus, or set RAMUS_STATE_DIR to another directory")
        }
        _ => None,
    }
}
