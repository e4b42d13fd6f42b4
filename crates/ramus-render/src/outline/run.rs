//! A run of messages that becomes one row.

use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::record::{Kind, Voice};
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::row::{Place, times};
use super::words::{command_name, words};
use super::{Marks, Row, RowKind};

/// Consecutive messages with their decoration.
#[derive(Debug, Default)]
pub(super) struct Run {
    folds: Vec<FoldId>,
    /// Their records and those of the decoration below them, by message in file order.
    pub(super) nodes: Vec<NodeId>,
    /// All messages including decoration, to find the agents that they started.
    pub(super) anchors: Vec<FoldId>,
    /// The resume point is among them.
    pub(super) resumes: bool,
}

impl Run {
    /// Adds a message and the decoration below it.
    pub(super) fn take(&mut self, history: &History, fold: FoldId, resume: Option<FoldId>) {
        self.folds.push(fold);
        let start = self.nodes.len();
        let boundary = last_boundary(history, fold);
        let mut open = vec![fold];
        while let Some(fold) = open.pop() {
            self.nodes.extend_from_slice(history.folds.members(fold));
            self.anchors.push(fold);
            self.resumes |= Some(fold) == resume;
            open.extend(
                history.folds.quiet_children(fold).filter(|child| Some(*child) != boundary),
            );
        }
        self.nodes[start..].sort_unstable();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Returns the row for the whole run.
    pub(super) fn row(&self, history: &History, place: Place) -> Row {
        let first = self.folds.first().map_or(NodeId(0), |fold| history.folds.fold(*fold).head);
        let voices = || self.folds.iter().map(|fold| history.folds.fold(*fold).voice);
        // A command opens a run like a prompt does.
        let opens = |voice: &Voice| voice.speaks() || *voice == Voice::Command;
        let opening = voices().find(opens).or_else(|| voices().next());
        let opening = opening.unwrap_or(Voice::Decoration);
        let kind = if voices().next() == Some(Voice::Boundary) {
            RowKind::Compaction
        } else {
            RowKind::Run { opening }
        };
        let mut row = Row::new(history, place, kind, first, self.last(history));
        row.messages = voices().filter(|voice| voice.is_displayable()).count() as u32;
        row.records = self.nodes.len() as u32;
        row.words = [Voice::Prompt, Voice::Queued, Voice::Command].iter().find_map(|wanted| {
            let is_wanted = |node: &&NodeId| history.session.record(**node).voice == *wanted;
            self.nodes.iter().filter(is_wanted).find_map(|node| words(history, *node))
        });
        row.marks = marks(history, &self.nodes);
        // The words of the row are the command itself.
        if let Some(words) = &row.words
            && history.session.record(words.node).voice == Voice::Command
        {
            row.marks.commands.remove(0);
        }
        (row.time, row.until) = times(history, &self.nodes);
        row.time = self.first_message_time(history).or(row.time);
        row.resumes = self.resumes;
        row
    }

    /// Returns the time of the first message. Decoration may have any time.
    fn first_message_time(&self, history: &History) -> Option<Time> {
        let folds = self.folds.iter().map(|fold| history.folds.fold(*fold));
        let mut messages = folds.filter(|fold| fold.voice.is_displayable());
        messages.find_map(|fold| history.session.record(fold.head).time)
    }

    /// Returns the resume leaf or the last user or assistant record.
    fn last(&self, history: &History) -> NodeId {
        if let Some(resume) = history.branches.resume.filter(|_| self.resumes) {
            return resume.leaf;
        }
        let is_message = |node: &&NodeId| {
            matches!(history.session.record(**node).kind, Kind::User | Kind::Assistant)
        };
        let message = self.nodes.iter().rev().find(is_message);
        message.or(self.nodes.last()).copied().unwrap_or_default()
    }
}

/// Returns the compaction that a line ends with, if no message follows it.
pub(super) fn last_boundary(history: &History, fold: FoldId) -> Option<FoldId> {
    let folds = &history.folds;
    if folds.speaking_children(fold).next().is_some() {
        return None;
    }
    let sidechain = folds.fold(fold).sidechain;
    let is_boundary = |child: &FoldId| {
        let child = folds.fold(*child);
        child.voice == Voice::Boundary && child.sidechain == sidechain
    };
    folds.children(fold).iter().copied().find(is_boundary)
}

fn marks(history: &History, nodes: &[NodeId]) -> Marks {
    let mut marks = Marks::default();
    for &node in nodes {
        let record = history.session.record(node);
        marks.errors += u32::from(record.api_error);
        match record.voice {
            Voice::Interrupt => marks.interrupts += 1,
            Voice::Command => marks.commands.push(command_name(history, node)),
            _ => {}
        }
    }
    marks
}
