//! Finds out whether the files were restored when a person went back to an earlier prompt (R32).

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::branches::{Fork, ForkKind};
use ramus_core::files::{Revert, Reverts, revert};
use ramus_core::fold::FoldId;
use ramus_core::history::{History, Path};
use ramus_core::record::Voice;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;

use crate::files_at::FilesAt;
use crate::place::HistoryFile;

/// How many bytes are read at most. Fork points beyond that have no answer.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// Returns for prompts that begin a new branch whether the files were restored first, if the client's
/// checkpoints show it (R22). What cannot be read is skipped.
pub fn reverts(
    roots: &[PathBuf],
    beside: &[HistoryFile],
    file: &HistoryFile,
    history: &Arc<History>,
    rule: Rule,
) -> Reverts {
    let mut reverts = Reverts::default();
    if history.session.snapshots().next().is_none() {
        return reverts;
    }
    let mut left = MOST_BYTES;
    let files_at = |along: Option<Path>, node: NodeId| {
        let at = (along, node);
        FilesAt::open(roots, beside, file.clone(), history.clone(), at, rule).ok().flatten()
    };
    for (old, new) in history.branches.forks.iter().flat_map(|fork| returns(history, fork)) {
        let Some(rest) = left.checked_sub(3 * file.bytes) else { break };
        left = rest;
        let Some((along, end)) = end_before(history, old, new) else { continue };
        let (before, end, now) =
            (files_at(None, old), files_at(Some(along), end), files_at(None, new));
        if let (Some(before), Some(end), Some(now)) = (before, end, now)
            && let Some(told) = judge([before, end, now])
        {
            reverts.insert(new, told);
        }
    }
    reverts
}

/// Returns pairs of prompts between which a person went back: the first prompt of the earlier branch and of
/// the new branch.
fn returns(history: &History, fork: &Fork) -> Vec<(NodeId, NodeId)> {
    let prompt = |speech| {
        let fold = history.folds.fold(speech);
        (fold.voice == Voice::Prompt).then_some(fold.head)
    };
    let goes_back = matches!(fork.kind, ForkKind::Edit | ForkKind::Rewind);
    let ways = if goes_back { &fork.ways[..] } else { &[] };
    let pairs = ways.windows(2);
    pairs.filter_map(|pair| Some((prompt(pair[0].speech)?, prompt(pair[1].speech)?))).collect()
}

/// Returns the path of the branch that `old` begins, and the last message on it before `new` was sent.
fn end_before(history: &History, old: NodeId, new: NodeId) -> Option<(Path, NodeId)> {
    let folds = &history.folds;
    let start = folds.of(old)?;
    // Parents come before their children, so a walk up that is past the prompt will not meet it.
    let leads_to = |end: FoldId| {
        folds.ancestors(end).take_while(|fold| *fold >= start).any(|fold| fold == start)
    };
    let conversations = history.branches.conversations.iter();
    let below = conversations.filter(|conversation| leads_to(conversation.end));
    let paths = below.map(|conversation| history.path(conversation));
    let ends = paths.filter_map(|path| {
        let start = path.nodes.iter().position(|node| *node == old)?;
        let is_said = |node: &&NodeId| {
            let voice = history.session.record(**node).voice;
            **node < new && matches!(voice, Voice::Answer | Voice::ToolResult)
        };
        let end = path.nodes[start..].iter().filter(is_said).max().copied()?;
        Some((path, end))
    });
    ends.max_by_key(|(_, end)| *end)
}

fn judge(mut moments: [FilesAt; 3]) -> Option<Revert> {
    let files = moments.each_mut().map(|moment| std::mem::take(&mut moment.files));
    revert(files.each_ref().map(Vec::as_slice), &mut |moment, file| moments[moment].bytes(file))
}
