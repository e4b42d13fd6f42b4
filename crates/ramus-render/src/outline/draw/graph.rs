//! Draws the graph on the left.

use ramus_core::branches::Status;

use crate::outline::{Edge, Row, RowKind};
use crate::span::{Label, Line};

/// Rows further out than this share one position and show the distance as a number.
const WIDEST: usize = 4;

/// Returns the graph of each row, including its symbol.
pub(super) fn graphs(rows: &[Row]) -> Vec<Line> {
    // Walking up from the last row, a column is open if a row below continues it.
    let mut open: Vec<bool> = Vec::new();
    let mut graphs: Vec<Line> = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        graphs.push(graph(row, &open));
        open.truncate(row.lane);
        open.resize(row.lane + 1, false);
        match (row.edge, row.lane.checked_sub(1)) {
            (Edge::Straight, _) => open[row.lane] = true,
            (Edge::Branch, Some(from)) => open[from] = true,
            (Edge::Branch, None) | (Edge::Root, _) => {}
        }
    }
    graphs.reverse();
    graphs
}

fn graph(row: &Row, open: &[bool]) -> Line {
    let mut line = Line::default();
    for lane in 0..row.lane.min(WIDEST) {
        let goes_on = open.get(lane).copied().unwrap_or(false);
        let joins = row.edge == Edge::Branch && lane + 1 == row.lane;
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
    if row.lane > WIDEST {
        line.push(&format!("+{} ", row.lane - WIDEST), Label::Dim);
    }
    let (sign, label) = sign(row);
    line.push(sign, label);
    line.push(" ", Label::Plain);
    line
}

fn sign(row: &Row) -> (&'static str, Label) {
    match row.kind {
        _ if row.resumes => ("◉", Label::Active),
        RowKind::Fork { .. } => ("┬", Label::Branch),
        RowKind::Compaction => ("◇", Label::Note),
        RowKind::Sidechain { .. } | RowKind::Record { side: true, .. } => ("▸", Label::ToolName),
        RowKind::Tree { .. } => ("╷", Label::Dim),
        RowKind::Loose => ("·", Label::Dim),
        RowKind::Elided { .. } => ("┆", Label::Dim),
        RowKind::Run { .. } | RowKind::Record { .. } => match row.status {
            Status::Active => ("●", Label::Active),
            Status::Abandoned if row.draft => ("◌", Label::Abandoned),
            Status::Abandoned => ("○", Label::Abandoned),
        },
    }
}
