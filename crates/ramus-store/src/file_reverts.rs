//! Finds out whether the files were restored when a person went back to an earlier prompt (R32).

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::branches::{ForkKind, ForkPoint};
use ramus_core::files::{ContentSource, RevertOutcome, RevertOutcomes, judge_revert};
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
        // The first check decides for most new branches.
        let Some(now) = files_at(None, new).filter(has_checkpointed_file) else { continue };
        if let (Some(before), Some(end)) = (files_at(None, old), files_at(Some(along), end))
            && let Some(outcome) = judge_files([before, end, now])
        {
            reverts.insert(new, outcome);
        }
    }
    reverts
}

/// Returns pairs of prompts between which a person went back: the first prompt of the earlier branch and of
/// the new branch.
fn rewound_prompts(history: &History, fork: &ForkPoint) -> Vec<(NodeId, NodeId)> {
    let prompt = |speech| {
        let message = history.message_tree.message(speech);
        (message.role == RecordRole::Prompt).then_some(message.head)
    };
    let goes_back = matches!(fork.kind, ForkKind::Edit | ForkKind::Rewind);
    let branches = if goes_back { &fork.branches[..] } else { &[] };
    let pairs = branches.windows(2);
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
    let messages = &history.message_tree;
    let start = messages.message_of(old)?;
    // Parents come before their children, so a walk up that is past the prompt will not meet it.
    let leads_to = |end: MessageNodeId| {
        messages
            .ancestors(end)
            .take_while(|message| *message >= start)
            .any(|message| message == start)
    };
    let conversations = history.branches.conversations.iter();
    let below = conversations.filter(|conversation| leads_to(conversation.end));
    let paths = below.map(|conversation| history.conversation_path(conversation));
    let ends = paths.filter_map(|path| {
        let start = path.nodes.iter().position(|node| *node == old)?;
        let in_dialogue = |node: &&NodeId| {
            let role = history.session.record(**node).role;
            **node < new && matches!(role, RecordRole::Reply | RecordRole::ToolResult)
        };
        let end = path.nodes[start..].iter().filter(in_dialogue).max().copied()?;
        Some((path, end))
    });
    ends.max_by_key(|(_, end)| *end)
}

/// Whether a checkpoint shows a file at this point. Without one nothing is known about any file.
fn has_checkpointed_file(moment: &FilesAt) -> bool {
    moment.files.iter().any(|file| file.source == ContentSource::Snapshot)
}

fn judge_files(mut moments: [FilesAt; 3]) -> Option<RevertOutcome> {
    let files = moments.each_mut().map(|moment| std::mem::take(&mut moment.files));
    judge_revert(files.each_ref().map(Vec::as_slice), &mut |moment, file| {
        moments[moment].file_bytes(file)
    })
}
