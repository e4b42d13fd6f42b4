//! What to do next where a change is refused or fails, in the words of the command line.

use ramus_core::edit::EditRefusal;
use ramus_store::apply::ApplyError;
use ramus_store::undo::UndoError;

use super::{ChangeError, ChangeKind};

impl ChangeError {
    /// Returns what to do next.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Undo { error, trashed, .. } => return undo_hint(error, *trashed),
            Self::NoProject(_) => "`ramus projects` lists them all; a directory on disk does, too",
            Self::Refused { what: ChangeKind::Goto, .. } => {
                "`ramus show SESSION` lists messages to go to"
            }
            Self::Refused { what: ChangeKind::Merge, refusal } => merge_hint(refusal),
            Self::Archived(id) => {
                return Some(format!("`ramus archive restore {id}` puts it back"));
            }
            Self::NoDirectory(_) => "`--into DIR` writes the files out anywhere",
            Self::Refused { .. }
            | Self::AlreadyThere
            | Self::NoConversation { .. }
            | Self::Title(_)
            | Self::FilesAsTheyWere(_)
            | Self::NothingToRepair
            | Self::Read(_) => return None,
        };
        Some(hint.to_owned())
    }
}

fn merge_hint(refusal: &EditRefusal) -> &'static str {
    match refusal {
        EditRefusal::NoCommonPart { .. } => "`--no-base` merges what has nothing in common",
        EditRefusal::NothingOwn { .. } => "one of them holds the other: there is nothing to merge",
        EditRefusal::NoExchange { .. } | EditRefusal::SeveralExchanges { .. } => {
            "`--dry-run` without `--pick` lists the exchanges with their numbers"
        }
        EditRefusal::Sidechain => "`ramus fork AGENT` makes it a conversation that can be merged",
        _ => "`ramus conversations SESSION` lists what can be merged",
    }
}

/// `trashed`: the operation that moved the session to the trash.
fn undo_hint(error: &UndoError, trashed: Option<u64>) -> Option<String> {
    Some(match error {
        UndoError::Nothing
        | UndoError::Unknown(_)
        | UndoError::Undone { .. }
        | UndoError::IsUndo(_) => "`ramus log` shows what was done".to_owned(),
        UndoError::ChangedSince { op, .. } => {
            format!("`ramus undo {op} --fork` makes a new session of the state before it")
        }
        UndoError::Recreated { .. } => "move one of them elsewhere, then undo again".to_owned(),
        UndoError::TrashedFileGone { .. } => "nothing was changed".to_owned(),
        UndoError::NotDone(_) => "there is nothing of it to take back".to_owned(),
        UndoError::NoVersion(_) => match trashed {
            Some(op) => format!("it is in the trash; `ramus undo {op}` brings it back"),
            None => "ramus keeps a version before each of its operations; `ramus log` lists them"
                .to_owned(),
        },
        UndoError::Read(_) => return None,
    })
}

/// Returns what to do next after a plan could not be carried out.
pub fn apply_hint(error: &ApplyError) -> Option<&'static str> {
    match error {
        ApplyError::OpenInClient { .. } => Some(
            "end it there first; Claude Code would take the change back when it ends (`--force` does it all the same)",
        ),
        ApplyError::Growing(_) => Some(
            "wait until it rests, or end the client that writes it (`--force` does it all the same)",
        ),
        ApplyError::Changed(_) => Some("nothing was written; run the command again to plan anew"),
        ApplyError::OutsideClaudeDir(_) => {
            Some("name the file or directory that the link leads to")
        }
        ApplyError::NotOwner(_) => Some("nothing was written; let its owner do it"),
        ApplyError::InUse(_) => Some("nothing was written; close it there first"),
        ApplyError::Unfinished { .. } => {
            Some("`ramus log --repair` gives that operation up; what it left stays where it is")
        }
        ApplyError::NewerJournal(_) => {
            Some("use the newer ramus, or another directory by `RAMUS_STATE_DIR`")
        }
        _ => None,
    }
}
