//! Finds out whether the files were restored when a person went back to an earlier prompt (R32).

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::branches::{ForkKind, ForkPoint};
use ramus_core::files::{RevertOutcome, RevertOutcomes, judge_revert};
use ramus_core::history::{ConversationPath, History};
use ramus_core::message_tree::MessageNodeId;
use ramus_core::record::RecordRole;
use ramus_core::resume::ResumeRule;
use ramus_core::session::NodeId;

use crate::claude_dir::HistoryFile;
use crate::files_at::FilesAt;

/// How many bytes are read at most. Fork points beyond that have no answer.
const MAX_READ_BYTES: u64 = 256 * 1024 * 1024;

/// Returns for prompts that begin a new branch whether the files were restored first, if the client's
/// checkpoints show it (R22). What cannot be read is skipped.
pub fn find_reverts(
    roots: &[PathBuf],
    beside: &[HistoryFile],
    file: &HistoryFile,
    history: &Arc<History>,
    rule: ResumeRule,
) -> RevertOutcomes {
    let mut reverts = RevertOutcomes::default();
    if history.session.checkpoint_records().next().is_none() {
        return reverts;
    }
    let mut left = MAX_READ_BYTES;
    let files_at = |along: Option<ConversationPath>, node: NodeId| {
        let at = (along, node);
        FilesAt::open(roots, beside, file.clone(), history.clone(), at, rule).ok().flatten()
    };
    for (old, new) in history.branches.forks.iter().flat_map(|fork| rewound_prompts(history, fork))
    {
        let Some(rest) = left.checked_sub(3 * file.bytes) else { break };
        left = rest;
        let Some((along, end)) = branch_end_before(history, old, new) else { continue };
        let (before, end, now) =
            (files_at(None, old), files_at(Some(along), end), files_at(None, new));
        if let (Some(before), Some(end), Some(now)) = (before, end, now)
            && let Some(told) = judge_files([before, end, now])
        {
            reverts.insert(new, told);
        }
    }
    reverts
}

/// Returns pairs of prompts between which a person went back: the first prompt of the earlier branch and of
/// the new branch.
fn rewound_prompts(history: &History, fork: &ForkPoint) -> Vec<(NodeId, NodeId)> {
    let prompt = |speech| {
        let fold = history.message_tree.message(speech);
        (fold.role == RecordRole::Prompt).then_some(fold.head)
    };
    let goes_back = matches!(fork.kind, ForkKind::Edit | ForkKind::Rewind);
    let ways = if goes_back { &fork.branches[..] } else { &[] };
    let pairs = ways.windows(2);
    pairs
        .filter_map(|pair| Some((prompt(pair[0].first_message)?, prompt(pair[1].first_message)?)))
        .collect()
}

/// Returns the path of the branch that `old` begins, and the last message on it before `new` was sent.
fn branch_end_before(
    history: &History,
    old: NodeId,
    new: NodeId,
) -> Option<(ConversationPath, NodeId)> {
    let folds = &history.message_tree;
    let start = folds.message_of(old)?;
    // Parents come before their children, so a walk up that is past the prompt will not meet it.
    let leads_to = |end: MessageNodeId| {
        folds.ancestors(end).take_while(|fold| *fold >= start).any(|fold| fold == start)
    };
    let conversations = history.branches.conversations.iter();
    let below = conversations.filter(|conversation| leads_to(conversation.end));
    let paths = below.map(|conversation| history.conversation_path(conversation));
    let ends = paths.filter_map(|path| {
        let start = path.nodes.iter().position(|node| *node == old)?;
        let is_said = |node: &&NodeId| {
            let voice = history.session.record(**node).role;
            **node < new && matches!(voice, RecordRole::Reply | RecordRole::ToolResult)
        };
        let end = path.nodes[start..].iter().filter(is_said).max().copied()?;
        Some((path, end))
    });
    ends.max_by_key(|(_, end)| *end)
}

fn judge_files(mut moments: [FilesAt; 3]) -> Option<RevertOutcome> {
    let files = moments.each_mut().map(|moment| std::mem::take(&mut moment.files));
    judge_revert(files.each_ref().map(Vec::as_slice), &mut |moment, file| {
        moments[moment].file_bytes(file)
    })
}
