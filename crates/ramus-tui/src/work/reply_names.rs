//! Finds replies that distinguish branches with the same prompt.

use std::collections::HashMap;

use ramus_core::body::RecordBody;
use ramus_core::branches::{Conversation, ForkPoint};
use ramus_core::digest::one_line;
use ramus_core::turn::{TurnKind, fork_turn};
use ramus_store::RecordReader;

use crate::event::Chapter;
use crate::panes::branches::first_prompt;

/// Returns the first words of replies that distinguish branches with the same title, by branch number.
pub(crate) fn distinguishing_replies(chapter: &Chapter) -> Vec<(u32, String)> {
    let history = &chapter.history;
    let mut by_name: HashMap<String, Vec<&Conversation>> = HashMap::new();
    for conversation in &history.branches.conversations {
        let name = first_prompt(history, conversation).unwrap_or_default();
        by_name.entry(name).or_default().push(conversation);
    }
    let mut bodies = RecordReader::open(&chapter.file.path).ok();
    let mut answers = Vec::new();
    for (name, alike) in by_name.into_iter().filter(|(_, alike)| alike.len() > 1) {
        for conversation in &alike {
            let forks = alike.iter().filter_map(|other| other.fork_index);
            let folds = history.conversation_path(conversation).messages;
            // The last fork at which they parted.
            let parted = forks
                .map(|fork| &history.branches.forks[fork])
                .filter_map(|fork| Some((taken_branch(fork, &folds)?, fork)))
                .max_by_key(|(_, fork)| fork.message);
            let Some((branch, fork)) = parted else { continue };
            let turn = fork_turn(history, fork.message, &[], usize::MAX, &mut |node| {
                let bytes = bodies.as_mut()?.read_record(history.session.record(node).span).ok()?;
                RecordBody::parse(&bytes).ok()
            });
            let Some(TurnKind::Fork(turn)) = turn.map(|turn| turn.kind) else { continue };
            let words =
                turn.branches.get(branch).map(|branch| String::from(one_line(&branch.label)));
            let words = words.filter(|words| *words != name);
            answers.extend(words.map(|words| (conversation.number, words)));
        }
    }
    answers
}

/// Returns which branch of a fork a path takes.
fn taken_branch(
    fork: &ForkPoint,
    folds: &[ramus_core::message_tree::MessageNodeId],
) -> Option<usize> {
    fork.branches.iter().position(|branch| folds.binary_search(&branch.message).is_ok())
}
