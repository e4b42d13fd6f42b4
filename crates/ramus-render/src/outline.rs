//! A session's tree as rows, and the rows as a drawing.
//!
//! All front ends share the rows; [`draw_rows()`] draws them with characters. The path to the resume
//! point is column 0 and reads as a straight line from the oldest record to the newest. An
//! abandoned branch is one column further out for each fork point at which it was left. So the
//! columns show how far something is from the active branch, and stay few.

use ramus_core::agent::AgentEntry;
use ramus_core::body::RecordBody;
use ramus_core::branches::{BranchStatus, ForkKind};
use ramus_core::files::{RevertOutcome, RevertOutcomes};
use ramus_core::history::History;
use ramus_core::record::{RecordKind, RecordRole};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::turn::message_label;

mod walk;

mod run;

mod row;

mod sidechains;

mod around;

mod row_words;

mod draw;

#[cfg(test)]
mod tests;

use around::NearRows;
use draw::{DrawingLegend, RowDrawing, RowMeasure};
use walk::{RowSource, StopWalk, Walked};

use crate::span::Line;

pub use draw::{draw_rows, drawing_legend};

/// What to show of a tree, and how.
#[derive(Clone)]
pub struct OutlineConfig<'a> {
    /// One row for every node, instead of one row for a run of messages without forks.
    pub records: bool,
    /// Show only rows near this node.
    pub around: Option<NodeId>,
    /// How many rows away counts as near.
    pub depth: usize,
    /// The width in columns.
    pub width: usize,
    /// The agents that have their own files.
    pub agents: Vec<AgentEntry>,
    /// Whether files were restored at a fork point, by the first prompt of the new branch, if known.
    pub reverts: RevertOutcomes,
    /// Formats a time in its short form.
    pub time: &'a dyn Fn(Time) -> String,
}

/// One row of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// The distance from the main line, which is 0.
    pub column: usize,
    pub edge: RowEdge,
    pub kind: TreeRowKind,
    pub first: NodeId,
    /// The record that this row leads to: the last message of a run, or the node of a fork point.
    pub last: NodeId,
    /// The uuid of `last`; for an agent with its own file, the agent's id. Empty: there is none.
    pub id: String,
    /// The start of the id that means no other record of the session.
    pub short_id: String,
    /// The first words. Replies have none here, because their text is not kept in memory; callers
    /// that read bodies can fill them in.
    pub words: Option<RowWords>,
    /// When it began.
    pub time: Option<Time>,
    /// When it ended.
    pub until: Option<Time>,
    pub status: BranchStatus,
    /// The model never replied on this branch.
    pub draft: bool,
    /// The client would continue from here.
    pub resumes: bool,
    /// Displayable messages (R16).
    pub messages: u32,
    pub records: u32,
    pub marks: RowMarks,
}

/// How a row is connected to the rows above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEdge {
    /// Begins a tree.
    Root,
    /// Continues its column.
    Straight,
    /// Branches off from the column before.
    Branch,
}

/// What a row represents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeRowKind {
    /// Messages without a fork, and the role of the first one.
    Run { opening: RecordRole },
    /// A fork point. Abandoned branches follow it, the current branch comes last.
    Fork { kind: ForkKind, branches: usize, files: Option<RevertOutcome> },
    /// One record. `side`: it belongs to an agent.
    Record { kind: RecordKind, role: RecordRole, is_sidechain: bool },
    /// A compaction.
    Compaction,
    /// The work of an agent. `None`: it is in this file, where agents have no ids.
    Sidechain { agent: Option<String> },
    /// The heading of one tree among several.
    Tree { n: usize, of: usize },
    /// Records that belong to no conversation.
    Detached,
    /// Rows that are hidden because they are not near.
    Elided { rows: usize },
}

/// The first words of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWords {
    pub node: NodeId,
    pub text: String,
    /// They are from the reply that opens the row.
    pub opens_row: bool,
}

/// What else happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowMarks {
    /// `/name` of each command.
    pub commands: Vec<String>,
    pub interrupts: u32,
    pub errors: u32,
}

/// All rows of a session's tree, and the row of each node.
#[derive(Clone, Debug, Default)]
pub struct TreeOutline {
    pub rows: Vec<TreeRow>,
    row_of: Vec<Option<usize>>,
}

impl TreeOutline {
    /// Returns all rows, oldest first, ignoring `config.around`.
    pub fn new(history: &History, config: &OutlineConfig<'_>) -> Self {
        let mut rows: Vec<TreeRow> = Vec::new();
        let mut row_of = vec![None; history.session.records().len()];
        // A walk that is not stopped reaches its end.
        let _ = RowSource::new(history, config).walk_rows(&mut |row, nodes| {
            for node in nodes {
                row_of[node.0 as usize] = Some(rows.len());
            }
            rows.push(row);
            Ok(())
        });
        Self { rows, row_of }
    }

    /// Returns the row of a node. `None`: the record is not a node.
    pub fn row_of(&self, node: NodeId) -> Option<usize> {
        self.row_of.get(node.0 as usize).copied().flatten()
    }
}

/// Returns the rows of a session's tree, oldest first.
pub fn outline_rows(history: &History, config: &OutlineConfig<'_>) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    let _ = ShownRows::new(history, config).walk_rows(&mut |row| {
        rows.push(row);
        Ok(())
    });
    rows
}

/// The rows that a configuration asks for; they can be walked several times.
struct ShownRows<'a> {
    source: RowSource<'a>,
    config: &'a OutlineConfig<'a>,
    history: &'a History,
}

impl<'a> ShownRows<'a> {
    fn new(history: &'a History, config: &'a OutlineConfig<'a>) -> Self {
        Self { source: RowSource::new(history, config), config, history }
    }

    fn walk_rows(&self, each: &mut dyn FnMut(TreeRow) -> Walked) -> Walked {
        let around = self.config.around.map(|node| self.history.record_tree.first_copy(node));
        let near =
            around.and_then(|node| NearRows::around_node(&self.source, node, self.config.depth));
        let Some(mut near) = near else { return self.source.walk_rows(&mut |row, _| each(row)) };
        self.source.walk_rows(&mut |row, _| near.filter_row(row, each))?;
        near.take_hidden(each)
    }
}

/// Draws a session's tree line by line and returns the legend of its symbols.
///
/// No row is held: a tree may have a million. The rows are made twice, because how wide columns are follows from
/// all of them.
pub fn draw_outline<E>(
    history: &History,
    config: &OutlineConfig<'_>,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
    each: &mut dyn FnMut(&Line) -> Result<(), E>,
) -> Result<Line, E> {
    let rows = ShownRows::new(history, config);
    let mut measure = RowMeasure::default();
    let _ = rows.walk_rows(&mut |mut row| {
        if !measure.is_full(config.width) {
            fill_row_words(history, &mut row, bodies);
        }
        measure.add_row(&row, config);
        Ok(())
    });
    let mut drawing = RowDrawing::new(&measure, config.width);
    let mut legend = DrawingLegend::default();
    let mut result = Ok(());
    let _ = rows.walk_rows(&mut |mut row| {
        fill_row_words(history, &mut row, bodies);
        let line = drawing.draw_row(&row, config);
        legend.add_line(&line);
        result = each(&line);
        if result.is_ok() { Ok(()) } else { Err(StopWalk) }
    });
    result.map(|()| legend.to_line())
}

/// Fills in the first words of rows that a reply opens, which only the bodies contain, and labels prompts
/// without words.
pub fn fill_reply_words(
    history: &History,
    rows: &mut [TreeRow],
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) {
    for row in rows {
        fill_row_words(history, row, bodies);
    }
}

fn fill_row_words(
    history: &History,
    row: &mut TreeRow,
    bodies: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) {
    let members = match row.kind {
        // The reply that opens the row describes it better than a later prompt.
        TreeRowKind::Run { opening: RecordRole::Reply } => opening_message(history, row.first),
        TreeRowKind::Run { opening: RecordRole::Synthetic | RecordRole::Prompt }
            if row.words.is_none() =>
        {
            opening_message(history, row.first)
        }
        TreeRowKind::Record { role: RecordRole::Reply | RecordRole::Synthetic, .. } => {
            Some(std::slice::from_ref(&row.first))
        }
        _ => None,
    };
    if let Some(label) = message_label(members.unwrap_or_default(), bodies) {
        row.words = Some(RowWords { node: label.node, text: label.text, opens_row: true });
    }
}

/// Returns the records of the message that a row begins with.
fn opening_message(history: &History, first: NodeId) -> Option<&[NodeId]> {
    let message = history.message_tree.message_of(first)?;
    let role = history.message_tree.message(message).role;
    role.is_displayable().then(|| history.message_tree.records_of(message))
}
