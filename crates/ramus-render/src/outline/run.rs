//! A run of messages that becomes one row.

use ramus_core::history::History;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::record::{RecordKind, RecordRole};
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::row::{RowPosition, time_range};
use super::row_words::{command_name, first_words};
use super::{RowMarks, TreeRow, TreeRowKind};

/// Consecutive messages with their decoration.
#[derive(Debug, Default)]
pub(super) struct MessageRun {
    message_ids: Vec<MessageNodeId>,
    /// Their records and those of the decoration below them, by message in file order.
    pub(super) nodes: Vec<NodeId>,
    /// All messages including decoration, to find the agents that they started.
    pub(super) anchors: Vec<MessageNodeId>,
    /// The resume point is among them.
    pub(super) resumes: bool,
}

impl MessageRun {
    /// Adds a message and the decoration below it.
    pub(super) fn add_message(
        &mut self,
        history: &History,
        message_id: MessageNodeId,
        resume: Option<MessageNodeId>,
    ) {
        self.message_ids.push(message_id);
        let start = self.nodes.len();
        let boundary = last_boundary(history, message_id);
        let mut open = vec![message_id];
        while let Some(message_id) = open.pop() {
            self.nodes.extend_from_slice(history.message_tree.records_of(message_id));
            self.anchors.push(message_id);
            self.resumes |= Some(message_id) == resume;
            open.extend(
                history
                    .message_tree
                    .decoration_children(message_id)
                    .filter(|child| Some(*child) != boundary),
            );
        }
        self.nodes[start..].sort_unstable();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.message_ids.is_empty()
    }

    /// Returns the row for the whole run.
    pub(super) fn to_row(&self, history: &History, place: RowPosition) -> TreeRow {
        let first = self
            .message_ids
            .first()
            .map_or(NodeId(0), |message_id| history.message_tree.message(*message_id).head);
        let roles = || {
            self.message_ids.iter().map(|message_id| history.message_tree.message(*message_id).role)
        };
        // A command opens a run like a prompt does.
        let opens = |role: &RecordRole| role.is_dialogue() || *role == RecordRole::Command;
        let opening = roles().find(opens).or_else(|| roles().next());
        let opening = opening.unwrap_or(RecordRole::Decoration);
        let begins_compaction = |id: &MessageNodeId| history.message_tree.begins_compaction(*id);
        let kind = if self.message_ids.first().is_some_and(begins_compaction) {
            TreeRowKind::Compaction
        } else {
            TreeRowKind::Run { opening }
        };
        let mut row = TreeRow::new(history, place, kind, first, self.last_node(history));
        row.messages = roles().filter(|role| role.is_displayable()).count() as u32;
        row.records = self.nodes.len() as u32;
        row.words = [RecordRole::Prompt, RecordRole::QueuedPrompt, RecordRole::Command]
            .iter()
            .find_map(|wanted| {
                let is_wanted = |node: &&NodeId| history.session.record(**node).role == *wanted;
                self.nodes.iter().filter(is_wanted).find_map(|node| first_words(history, *node))
            });
        row.marks = collect_marks(history, &self.nodes);
        // The words of the row are the command itself.
        if let Some(words) = &row.words
            && history.session.record(words.node).role == RecordRole::Command
        {
            row.marks.commands.remove(0);
        }
        (row.time, row.until) = time_range(history, &self.nodes);
        row.time = self.first_message_time(history).or(row.time);
        row.resumes = self.resumes;
        row
    }

    /// Returns the time of the first message. Decoration may have any time.
    fn first_message_time(&self, history: &History) -> Option<Time> {
        let message_ids =
            self.message_ids.iter().map(|message_id| history.message_tree.message(*message_id));
        let mut messages = message_ids.filter(|message_id| message_id.role.is_displayable());
        messages.find_map(|message_id| history.session.record(message_id.head).time)
    }

    /// Returns the resume leaf or the last user or assistant record.
    fn last_node(&self, history: &History) -> NodeId {
        if let Some(resume) = history.branches.resume.filter(|_| self.resumes) {
            return resume.leaf;
        }
        let is_message = |node: &&NodeId| {
            matches!(history.session.record(**node).kind, RecordKind::User | RecordKind::Assistant)
        };
        let message = self.nodes.iter().rev().find(is_message);
        message.or(self.nodes.last()).copied().unwrap_or_default()
    }
}

/// Returns the compaction that a line ends with, if no message follows it.
pub(super) fn last_boundary(history: &History, message_id: MessageNodeId) -> Option<MessageNodeId> {
    let message_ids = &history.message_tree;
    if message_ids.dialogue_children(message_id).next().is_some() {
        return None;
    }
    let sidechain = message_ids.message(message_id).sidechain;
    let is_boundary = |child: &MessageNodeId| {
        let child = message_ids.message(*child);
        child.role == RecordRole::CompactBoundary && child.sidechain == sidechain
    };
    message_ids.children(message_id).iter().copied().find(is_boundary)
}

fn collect_marks(history: &History, nodes: &[NodeId]) -> RowMarks {
    let mut marks = RowMarks::default();
    for &node in nodes {
        let record = history.session.record(node);
        marks.errors += u32::from(record.api_error);
        match record.role {
            RecordRole::Interrupt => marks.interrupts += 1,
            RecordRole::Command => marks.commands.push(command_name(history, node)),
            _ => {}
        }
    }
    marks
}
