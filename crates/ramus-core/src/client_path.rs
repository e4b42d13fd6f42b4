//! What the client sends when it resumes a session, and how that differs from what a person reads.
//!
//! The reading path continues through compactions and closes the gaps of broken links. The client
//! follows the links as written and stops at the last compaction (R11). [`client_path`] returns the
//! records it loads, [`SentRequest`] makes the messages of them. Both follow the client version of the file,
//! as measured; the results are in `tests/fixtures/sent`.

mod behavior;
mod chain;
mod join;
mod piece;
mod sent;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::History;
use crate::message_tree::MessageNodeId;
use crate::record::RecordRole;
use crate::resume::version_numbers;
use crate::session::NodeId;

use behavior::ClientBehavior;
use sent::LineReader;

pub use chain::client_path;
pub use sent::{SentMessage, SentRequest, SentRole};

/// A note on the reading path before a message at which the client path differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumeNote {
    /// The number of messages since the last note that the client resumes without.
    pub without: u32,
    /// How many messages below the point at which the client resumes are not part of it.
    pub below: Option<u32>,
}

/// Counts the messages up to a record that a person reads and the client would not load there.
pub fn messages_left_out(history: &History, point: NodeId) -> u32 {
    let Some(end) = history.message_tree.message_of(point) else { return 0 };
    let loaded = loaded_messages(history, point);
    let left_out =
        |message: &MessageNodeId| is_message(history, *message) && !loaded.contains(message);
    history.message_tree.ancestors(end).filter(left_out).count() as u32
}

/// Returns the background agents that were started before `point` and whose end is not reported
/// before it: the client adds a note about each of them when it resumes there.
///
/// `line` reads the line of a record; it is not called if there are no such agents.
pub fn unreported_agents(
    history: &History,
    point: NodeId,
    line: &mut LineReader<'_>,
) -> Vec<String> {
    let session = &history.session;
    if session.agent_results().is_empty()
        || !ClientBehavior(version_numbers(session)).notes_unreported_agents()
    {
        return Vec::new();
    }
    let path = client_path(history, point);
    let on_path: FxHashSet<NodeId> = path.iter().copied().collect();
    let results = session.agent_results().iter().filter(|(node, _)| on_path.contains(node));
    let mut open: Vec<String> = results
        .filter(|(node, _)| {
            line(*node).is_some_and(|line| line["toolUseResult"]["status"] == "async_launched")
        })
        .map(|(_, agent)| agent.to_string())
        .collect();
    for node in path {
        let role = session.record(node).role;
        if !open.is_empty()
            && matches!(role, RecordRole::Notification | RecordRole::QueuedPrompt)
            && let Some(report) = line(node)
        {
            let report = report.to_string();
            open.retain(|agent| !report.contains(&format!("<task-id>{agent}</task-id>")));
        }
    }
    open
}

/// The notes on the path of the conversation that the client resumes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResumeNotes {
    /// By the message that they come before.
    pub(crate) before: FxHashMap<MessageNodeId, ResumeNote>,
    /// The note after the last message.
    pub(crate) after: Option<(MessageNodeId, ResumeNote)>,
}

/// Computes the notes on the path of the conversation that the client resumes.
pub(crate) fn resume_notes(history: &History) -> ResumeNotes {
    let mut notes = ResumeNotes::default();
    let resumed = history.branches.resume.zip(history.branches.resuming_conversation());
    let Some((resume, conversation)) = resumed else { return notes };
    let path = history.conversation_path(conversation).messages;
    let on_path: FxHashMap<MessageNodeId, usize> = path.iter().copied().zip(0..).collect();
    let point = history.message_tree.message_of(resume.point).and_then(|point| {
        history.message_tree.ancestors(point).find_map(|message| on_path.get(&message).copied())
    });
    let Some(point) = point else { return notes };
    let loaded = loaded_messages(history, resume.point);
    let mut without = 0;
    for &message in &path[..=point] {
        if !loaded.contains(&message) {
            without += u32::from(is_message(history, message));
        } else if without > 0
            && history.message_tree.message(message).role != RecordRole::Decoration
        {
            notes.before.insert(message, ResumeNote { without, below: None });
            without = 0;
        }
    }
    let rest = &path[point + 1..];
    let below = rest.iter().filter(|message| is_message(history, **message)).count() as u32;
    if let Some(next) = rest.first().filter(|_| below > 0) {
        notes.before.insert(*next, ResumeNote { without, below: Some(below) });
    } else if without > 0 {
        // The client resumes at a command or marker after the last message.
        notes.after = path.last().map(|last| (*last, ResumeNote { without, below: None }));
    }
    notes
}

fn loaded_messages(history: &History, point: NodeId) -> FxHashSet<MessageNodeId> {
    client_path(history, point)
        .into_iter()
        .filter_map(|node| history.message_tree.message_of(node))
        .collect()
}

fn is_message(history: &History, message: MessageNodeId) -> bool {
    let message = history.message_tree.message(message);
    message.role.is_displayable() && !message.continues_earlier
}
