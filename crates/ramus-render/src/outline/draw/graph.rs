//! Draws the graph on the left.

use ramus_core::branches::BranchStatus;

use crate::outline::{RowEdge, TreeRow, TreeRowKind};
use crate::span::{Label, Line};

/// Rows further out than this share one position and show the distance as a number.
const MAX_COLUMNS: usize = 4;

/// Which of the first columns continue below a row.
pub(super) type OpenColumns = [bool; MAX_COLUMNS];

/// The positions of all rows.
#[derive(Default)]
pub(super) struct GraphColumns(Vec<(u32, RowEdge)>);

impl GraphColumns {
    pub(super) fn add_row(&mut self, row: &TreeRow) {
        self.0.push((row.column as u32, row.edge));
    }

    /// Returns for each row which columns continue below it.
    pub(super) fn open_columns(&self) -> Vec<OpenColumns> {
        // Walking up from the last row, a column is open if a row below continues it.
        let mut open: Vec<bool> = Vec::new();
        let mut all = vec![OpenColumns::default(); self.0.len()];
        for (&(column, edge), below) in self.0.iter().zip(&mut all).rev() {
            for (below, open) in below.iter_mut().zip(&open) {
                *below = *open;
            }
            let column = column as usize;
            open.truncate(column);
            open.resize(column + 1, false);
            match (edge, column.checked_sub(1)) {
                (RowEdge::Straight, _) => open[column] = true,
                (RowEdge::Branch, Some(from)) => open[from] = true,
                (RowEdge::Branch, None) | (RowEdge::Root, _) => {}
            }
        }
        all
    }
}

/// Returns the width of a row's graph, which does not depend on other rows.
pub(super) fn graph_width(row: &TreeRow) -> usize {
    draw_graph(row, OpenColumns::default()).width()
}

/// Draws the graph of a row, including its symbol.
pub(super) fn draw_graph(row: &TreeRow, open: OpenColumns) -> Line {
    let mut line = Line::default();
    for (lane, goes_on) in open.into_iter().enumerate().take(row.column) {
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
