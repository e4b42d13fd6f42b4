//! Draws rows as lines: a graph, words, and columns on the right.
//!
//! ```text
//! ● How do I parse this?                    8 messages  09:14  1f0c2a77
//! ┬ edited prompt: 2 branches                           09:20  1f0c2a77
//! ├─○ Use a regular expression             14 messages  09:20  77aa01c3
//! ◉ Use a parser  ← resumes here           31 messages  09:41  c0ffee12
//! ```
//!
//! There is one line for each row.

use ramus_core::branches::BranchStatus;
use ramus_core::record::RecordRole;

use super::{OutlineConfig, TreeRow, TreeRowKind};
use crate::layout::truncate_line;
use crate::span::{Label, Line, Span};
use crate::text::fork_summary;

mod graph;

mod columns;

use columns::{ColumnLayout, count_of, row_columns};
use graph::{GraphColumns, OpenColumns};

/// Draws the rows of an outline.
pub fn draw_rows(rows: &[TreeRow], config: &OutlineConfig<'_>) -> Vec<Line> {
    let mut measure = RowMeasure::default();
    rows.iter().for_each(|row| measure.add_row(row, config));
    let mut drawing = RowDrawing::new(&measure, config.width);
    rows.iter().map(|row| drawing.draw_row(row, config)).collect()
}

/// Collects what the drawing of every row depends on: the widths of all rows, and which columns continue below.
#[derive(Default)]
pub(super) struct RowMeasure {
    /// The width that graphs and words would like to have.
    natural: usize,
    columns: [usize; 3],
    graphs: GraphColumns,
}

impl RowMeasure {
    /// Whether wider words make no difference any more.
    pub(super) fn is_full(&self, width: usize) -> bool {
        self.natural >= width
    }

    pub(super) fn add_row(&mut self, row: &TreeRow, config: &OutlineConfig<'_>) {
        if !self.is_full(config.width) {
            let width = graph::graph_width(row) + RowText::new(row).text_width();
            self.natural = self.natural.max(width);
        }
        for (widest, column) in self.columns.iter_mut().zip(row_columns(row, config)) {
            *widest = column.width().max(*widest);
        }
        self.graphs.add_row(row);
    }
}

/// Draws measured rows, one after the other.
pub(super) struct RowDrawing {
    layout: ColumnLayout,
    open_columns: std::vec::IntoIter<OpenColumns>,
}

impl RowDrawing {
    pub(super) fn new(measure: &RowMeasure, width: usize) -> Self {
        let layout = ColumnLayout::new(measure.natural, measure.columns, width);
        Self { layout, open_columns: measure.graphs.open_columns().into_iter() }
    }

    /// Draws the next row.
    pub(super) fn draw_row(&mut self, row: &TreeRow, config: &OutlineConfig<'_>) -> Line {
        let graph = graph::draw_graph(row, self.open_columns.next().unwrap_or_default());
        self.layout.lay_out_row(graph, &RowText::new(row), row_columns(row, config))
    }
}

/// Returns a legend of the symbols that appear in a drawing.
pub fn drawing_legend(drawing: &[Line]) -> Line {
    let mut legend = DrawingLegend::default();
    drawing.iter().for_each(|line| legend.add_line(line));
    legend.to_line()
}

/// The symbols of a drawing and their meanings.
const SYMBOLS: [(&str, Label, &str); 9] = [
    ("●", Label::Active, "active"),
    ("○", Label::Abandoned, "abandoned"),
    ("◌", Label::Abandoned, "draft"),
    ("◉", Label::Active, "resumes here"),
    ("┬", Label::Branch, "fork"),
    ("◇", Label::Note, "compacted"),
    ("▸", Label::ToolName, "agent"),
    ("⊘", Label::Warning, "interrupted"),
    ("×", Label::Error, "API error"),
];

/// Which symbols appear in a drawing.
#[derive(Default)]
pub(super) struct DrawingLegend([bool; SYMBOLS.len()]);

impl DrawingLegend {
    pub(super) fn add_line(&mut self, line: &Line) {
        for (appears, (sign, label, _)) in self.0.iter_mut().zip(SYMBOLS) {
            // Our symbols have their label. The same character in a message does not.
            let is_there = |span: &Span| span.label == label && span.text().contains(sign);
            *appears = *appears || line.0.iter().any(is_there);
        }
    }

    pub(super) fn to_line(&self) -> Line {
        let mut line = Line::default();
        let shown = SYMBOLS.into_iter().zip(self.0).filter(|(_, appears)| *appears);
        for ((sign, label, meaning), _) in shown {
            line.push(if line.is_empty() { "" } else { "  " }, Label::Dim);
            line.push(sign, label);
            line.push(&format!(" {meaning}"), Label::Dim);
        }
        line
    }
}

/// The text of a row, between its graph and its columns.
struct RowText {
    /// Truncated first when space is limited.
    words: Line,
    /// Shown as long as some words fit next to them.
    marks: Line,
}

impl RowText {
    fn new(row: &TreeRow) -> Self {
        Self { words: row_words(row), marks: mark_line(row) }
    }

    fn text_width(&self) -> usize {
        self.words.width() + self.marks.width()
    }

    fn fit_width(&self, room: usize) -> Line {
        let beside_marks = room.saturating_sub(self.marks.width());
        if beside_marks < self.words.width().min(8) {
            return truncate_line(&self.words, room);
        }
        let mut line = truncate_line(&self.words, beside_marks);
        line.append(&self.marks);
        line
    }
}

fn row_words(row: &TreeRow) -> Line {
    let text = match row.status {
        BranchStatus::Active => Label::Plain,
        BranchStatus::Abandoned => Label::Abandoned,
    };
    let words = row.words.as_ref();
    match &row.kind {
        TreeRowKind::Run { opening } => match (opener_name(*opening), words) {
            (Some(opener), None) => Line::new(opener, Label::Note),
            (Some(opener), Some(words)) if words.opens_row => {
                Line::new(&format!("{opener}: "), Label::Note).with(&words.text, text)
            }
            (_, Some(words)) => Line::new(&words.text, text),
            (None, None) => Line::new(silent_label(*opening), Label::Note),
        },
        TreeRowKind::Fork { kind, branches, files } => {
            let files =
                files.map(|files| format!(", files {}", files.as_str())).unwrap_or_default();
            Line::new(&format!("{}{files}", fork_summary(*kind, *branches)), Label::Branch)
        }
        TreeRowKind::Record { kind, role, .. } => {
            let mut line = Line::new(kind.as_str(), Label::Dim);
            if let Some(role) = role_phrase(*role) {
                line.push(&format!(" {role}"), Label::Dim);
            }
            if let Some(words) = words {
                line.push("  ", Label::Plain);
                line.push(&words.text, text);
            }
            line
        }
        TreeRowKind::Compaction => Line::new("compacted", Label::Note),
        TreeRowKind::Sidechain { .. } => {
            let agent = Line::new("agent", Label::ToolName);
            match words {
                Some(words) => agent.with("  ", Label::Plain).with(&words.text, Label::Dim),
                None => agent,
            }
        }
        TreeRowKind::Tree { n, of } => Line::new(&format!("tree {n} of {of}"), Label::Dim),
        TreeRowKind::Detached => Line::new("outside any conversation", Label::Dim),
        TreeRowKind::Elided { rows } => {
            Line::new(&format!("{} hidden", count_of(*rows as u32, "row")), Label::Dim)
        }
    }
}

/// Names the author of a run's first message, unless it is the person whose words are shown.
fn opener_name(role: RecordRole) -> Option<&'static str> {
    match role {
        RecordRole::Reply => Some("reply"),
        RecordRole::Synthetic => Some("Claude Code"),
        _ => None,
    }
}

/// Returns the text for a run without known words.
fn silent_label(role: RecordRole) -> &'static str {
    match role {
        RecordRole::CompactSummary => "continues after compaction",
        RecordRole::Prompt => "empty prompt",
        role => role_phrase(role).unwrap_or("client records"),
    }
}

fn role_phrase(role: RecordRole) -> Option<&'static str> {
    match role {
        RecordRole::Prompt => Some("prompt"),
        RecordRole::Synthetic => Some("by the client"),
        RecordRole::CompactSummary => Some("summary"),
        RecordRole::CompactBoundary => Some("compacted"),
        RecordRole::ToolResult => Some("tool result"),
        RecordRole::Command => Some("command"),
        RecordRole::CommandOutput => Some("command output"),
        RecordRole::Meta => Some("meta"),
        RecordRole::Interrupt => Some("interrupt"),
        RecordRole::Notification => Some("notification"),
        RecordRole::QueuedPrompt => Some("queued prompt"),
        RecordRole::Reply | RecordRole::Decoration => None,
    }
}

fn mark_line(row: &TreeRow) -> Line {
    let mut line = Line::default();
    let many = |sign: &str, n: u32| if n > 1 { format!("{sign}{n}") } else { sign.to_owned() };
    if row.marks.interrupts > 0 {
        line.push("  ", Label::Plain);
        line.push(&many("⊘", row.marks.interrupts), Label::Warning);
    }
    if row.marks.errors > 0 {
        line.push("  ", Label::Plain);
        line.push(&many("×", row.marks.errors), Label::Error);
    }
    if let Some((command, more)) = row.marks.commands.split_first() {
        line.push("  ", Label::Plain);
        line.push(command, Label::Dim);
        if !more.is_empty() {
            line.push(&format!(" +{}", more.len()), Label::Dim);
        }
    }
    if row.resumes {
        line.push("  ", Label::Plain);
        line.push("← resumes here", Label::Active);
    }
    line
}
