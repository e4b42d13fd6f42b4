//! Draws the graph on the left.

use ramus_core::branches::BranchStatus;

use crate::outline::{RowEdge, TreeRow, TreeRowKind};
use crate::span::{Label, Line};

/// Rows further out than this share one position and show the distance as a number.
const MAX_COLUMNS: usize = 4;

/// Returns the graph of each row, including its symbol.
pub(super) fn draw_graphs(rows: &[TreeRow]) -> Vec<Line> {
    // Walking up from the last row, a column is open if a row below continues it.
    let mut open: Vec<bool> = Vec::new();
    let mut graphs: Vec<Line> = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        graphs.push(draw_graph(row, &open));
        open.truncate(row.column);
        open.resize(row.column + 1, false);
        match (row.edge, row.column.checked_sub(1)) {
            (RowEdge::Straight, _) => open[row.column] = true,
            (RowEdge::Branch, Some(from)) => open[from] = true,
            (RowEdge::Branch, None) | (RowEdge::Root, _) => {}
        }
    }
    graphs.reverse();
    graphs
}

fn draw_graph(row: &TreeRow, open: &[bool]) -> Line {
    let mut line = Line::default();
    for lane in 0..row.column.min(MAX_COLUMNS) {
        let goes_on = open.get(lane).copied().unwrap_or(false);
        let joins = row.edge == RowEdge::Branch && lane + 1 == row.column;
        let label = if lane == 0 { Label::Active } else { Label::Dim };
        line.push(
            match (goes_on, joins) {
                (true, true) => "├",
                (false, true) => "╰",
                (true, false) => "│",
                (false, false) => " ",
            },
            label,
        );
        line.push(if joins { "─" } else { " " }, Label::Dim);
    }
    if row.column > MAX_COLUMNS {
        line.push(&format!("+{} ", row.column - MAX_COLUMNS), Label::Dim);
    }
    let (sign, label) = row_symbol(row);
    line.push(sign, label);
    line.push(" ", Label::Plain);
    line
}

fn row_symbol(row: &TreeRow) -> (&'static str, Label) {
    match row.kind {
        _ if row.resumes => ("◉", Label::Active),
        TreeRowKind::Fork { .. } => ("┬", Label::Branch),
        TreeRowKind::Compaction => ("◇", Label::Note),
        TreeRowKind::Sidechain { .. } | TreeRowKind::Record { is_sidechain: true, .. } => {
            ("▸", Label::ToolName)
        }
        TreeRowKind::Tree { .. } => ("╷", Label::Dim),
        TreeRowKind::Detached => ("·", Label::Dim),
        TreeRowKind::Elided { .. } => ("┆", Label::Dim),
        TreeRowKind::Run { .. } | TreeRowKind::Record { .. } => match row.status {
            BranchStatus::Active => ("●", Label::Active),
            BranchStatus::Abandoned if row.draft => ("◌", Label::Abandoned),
            BranchStatus::Abandoned => ("○", Label::Abandoned),
        },
    }
}
