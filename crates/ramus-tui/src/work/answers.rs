//! What was answered on branches that have the same prompt.

use std::collections::HashMap;

use ramus_core::body::Body;
use ramus_core::branches::{Conversation, Fork};
use ramus_core::digest::one_line;
use ramus_core::turn::{TurnKind, fork_turn};
use ramus_store::Bodies;

use crate::event::Chapter;
use crate::panes::branches::first_words;

/// Returns the first words of the answers that tell branches of the same name apart, by their numbers.
pub(crate) fn answers(chapter: &Chapter) -> Vec<(u32, String)> {
    let history = &chapter.history;
    let mut by_name: HashMap<String, Vec<&Conversation>> = HashMap::new();
    for conversation in &history.branches.conversations {
        let name = first_words(history, conversation).unwrap_or_default();
        by_name.entry(name).or_default().push(conversation);
    }
    let mut bodies = Bodies::open(&chapter.file.path).ok();
    let mut answers = Vec::new();
    for (name, alike) in by_name.into_iter().filter(|(_, alike)| alike.len() > 1) {
        for conversation in &alike {
            let forks = alike.iter().filter_map(|other| other.fork);
            let folds = history.path(conversation).folds;
            // The last fork at which they parted.
            let parted = forks
                .map(|fork| &history.branches.forks[fork])
                .filter_map(|fork| Some((taken_way(fork, &folds)?, fork)))
                .max_by_key(|(_, fork)| fork.fold);
            let Some((way, fork)) = parted else { continue };
            let turn = fork_turn(history, fork.fold, &[], usize::MAX, &mut |node| {
                let bytes = bodies.as_mut()?.bytes(history.session.record(node).span).ok()?;
                Body::parse(&bytes).ok()
            });
            let Some(TurnKind::Fork(turn)) = turn.map(|turn| turn.kind) else { continue };
            let words = turn.ways.get(way).map(|way| String::from(one_line(&way.words)));
            let words = words.filter(|words| *words != name);
            answers.extend(words.map(|words| (conversation.n, words)));
        }
    }
    answers
}

/// Returns which branch of a fork a path takes.
fn taken_way(fork: &Fork, folds: &[ramus_core::fold::FoldId]) -> Option<usize> {
    fork.ways.iter().position(|way| folds.binary_search(&way.fold).is_ok())
}
