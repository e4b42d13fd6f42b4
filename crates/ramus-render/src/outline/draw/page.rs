//! Lays out the columns of a drawing.

use super::Body;
use crate::layout::{pad, truncate};
use crate::outline::{OutlineConfig, Row, RowKind};
use crate::span::{Label, Line};

/// Returns count, time and id of a row.
pub(super) fn columns(row: &Row, config: &OutlineConfig<'_>) -> [Line; 3] {
    let size = match &row.kind {
        RowKind::Fork { .. }
        | RowKind::Record { .. }
        | RowKind::Compaction
        | RowKind::Tree { .. }
        | RowKind::Elided { .. } => String::new(),
        RowKind::Run { .. } if row.draft => "draft".to_owned(),
        RowKind::Run { .. } if row.messages > 0 => count(row.messages, "message"),
        RowKind::Run { .. } | RowKind::Sidechain { .. } | RowKind::Loose => {
            count(row.records, "record")
        }
    };
    let is_heading = matches!(row.kind, RowKind::Tree { .. } | RowKind::Elided { .. });
    let time = row.time.filter(|_| !is_heading).map(config.time).unwrap_or_default();
    let id = if is_heading { "" } else { &row.short_id };
    [Line::new(&size, Label::Dim), Line::new(&time, Label::Time), Line::new(id, Label::Id)]
}

/// The index of the id among the columns.
const ID: usize = 2;

pub(super) fn count(n: u32, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The column widths of a drawing.
pub(super) struct Page {
    width: usize,
    /// The width of graph and words.
    body: usize,
    /// The widths of the columns on the right. Zero: the column does not fit and is left out.
    widths: [usize; 3],
}

/// The minimum width of graph and words before each column is shown.
const ENOUGH: [usize; 3] = [36, 22, 12];

impl Page {
    pub(super) fn new(natural: usize, columns: &[[Line; 3]], width: usize) -> Self {
        let mut body = width;
        let mut widths = [0; 3];
        for at in [ID, 1, 0] {
            let widest = columns.iter().map(|columns| columns[at].width()).max().unwrap_or(0);
            let rest = body.saturating_sub(widest + 2);
            if widest > 0 && rest >= ENOUGH[at] {
                widths[at] = widest;
                body = rest;
            }
        }
        Self { width, body: body.min(natural), widths }
    }

    pub(super) fn line(&self, graph: Line, body: &Body, columns: [Line; 3]) -> Line {
        let room = self.body.saturating_sub(graph.width());
        let mut line = graph;
        line.append(&body.fit(room));
        let mut filled = self.body;
        for (at, (column, width)) in columns.into_iter().zip(self.widths).enumerate() {
            if width == 0 {
                continue;
            }
            filled += 2 + width;
            if column.is_empty() {
                continue;
            }
            // Ids are aligned left, the other columns right.
            line = pad(line, filled - if at == ID { width } else { column.width() });
            line.append(&column);
        }
        truncate(&line, self.width)
    }
}
