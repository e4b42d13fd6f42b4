//! What happened to the files when a person went back to an earlier message (R22).

use std::collections::HashMap;

use super::{ContentSource, FileContent, FileState};
use crate::branches::ForkPoint;
use crate::history::History;
use crate::session::NodeId;

/// What happened to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertOutcome {
    /// They were restored too: code and conversation.
    Restored,
    /// The files were kept: only the conversation was reverted.
    Kept,
}

/// What happened to the files at each prompt that begins a new branch, if known.
pub type RevertOutcomes = HashMap<NodeId, RevertOutcome>;

/// Returns what happened to the files at a fork point; `None`: unknown, or the branches differ.
pub fn files_at_fork(
    history: &History,
    fork: &ForkPoint,
    reverts: &RevertOutcomes,
) -> Option<RevertOutcome> {
    let heads =
        fork.branches.iter().map(|branch| history.message_tree.message(branch.first_message).head);
    let mut outcomes = heads.filter_map(|head| reverts.get(&head).copied());
    let first = outcomes.next()?;
    outcomes.all(|other| other == first).then_some(first)
}

impl RevertOutcome {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restored => "restored",
            Self::Kept => "kept",
        }
    }
}

/// Compares the files at three points: before the branch that was left, at its end, and when the new
/// branch began. `bytes` returns the content of a file at one of them, by its index.
///
/// Only files that the branch changed count, and only if all of them agree. `None`: they do not.
pub fn judge_revert(
    moments: [&[FileState]; 3],
    bytes: &mut dyn FnMut(usize, &FileState) -> Option<Vec<u8>>,
) -> Option<RevertOutcome> {
    let mut outcome = None;
    for end in moments[1] {
        let at = |moment: usize| moments[moment].iter().find(|file| file.path == end.path);
        // Only that prompt's own checkpoint shows the state at which it was sent.
        let now = at(2).filter(|file| file.source == ContentSource::Snapshot);
        let (Some(before), Some(now)) = (at(0), now) else { continue };
        let mut content = |moment, file: &FileState| match file.content {
            FileContent::Absent => Some(None),
            FileContent::Unknown => None,
            _ => bytes(moment, file).map(Some),
        };
        let (Some(was), Some(became)) = (content(0, before), content(1, end)) else { continue };
        if was == became {
            continue;
        }
        let found = content(2, now)?;
        let one = match () {
            // A command may have put the file back before.
            () if found == was && end.doubt.is_none() => RevertOutcome::Restored,
            () if found == became => RevertOutcome::Kept,
            () => return None,
        };
        if outcome.is_some_and(|outcome| outcome != one) {
            return None;
        }
        outcome = Some(one);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::Doubt;
    use super::*;

    fn file(path: &str, text: &str) -> FileState {
        let held = FileContent::Bytes(text.as_bytes().to_vec());
        let source = ContentSource::Snapshot;
        FileState { path: path.into(), content: held, source, doubt: None, only_read: false }
    }

    #[track_caller]
    fn check(states: [&[FileState]; 3], expected: Option<RevertOutcome>) {
        let mut bytes = |_, file: &FileState| match &file.content {
            FileContent::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        };
        assert_eq!(judge_revert(states, &mut bytes), expected);
    }

    #[test]
    fn checkpoints_show_whether_files_were_restored() {
        let (old, new) = ([file("a", "old")], [file("a", "new")]);
        check([&old, &new, &old], Some(RevertOutcome::Restored));
        check([&old, &new, &new], Some(RevertOutcome::Kept));
        // Something else changed the file, the branch changed nothing, or there is no checkpoint.
        check([&old, &new, &[file("a", "other")]], None);
        check([&old, &old, &old], None);
        let guess = FileState { source: ContentSource::First, ..file("a", "old") };
        check([&old, &new, &[guess]], None);
    }

    #[test]
    fn files_that_disagree_tell_nothing() {
        let before = [file("a", "1"), file("b", "1")];
        let end = [file("a", "2"), file("b", "2")];
        check([&before, &end, &[file("a", "1"), file("b", "2")]], None);
    }

    #[test]
    fn a_command_may_have_put_a_file_back() {
        let before = [file("a", "1")];
        let end = [FileState { doubt: Some(Doubt::CommandsRan(1)), ..file("a", "2") }];
        check([&before, &end, &before], None);
        check([&before, &end, &[file("a", "2")]], Some(RevertOutcome::Kept));
    }
}
