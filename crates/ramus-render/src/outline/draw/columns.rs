//! Lays out the columns of a drawing.

use super::RowText;
use crate::layout::{pad_line, truncate_line};
use crate::outline::{OutlineConfig, TreeRow, TreeRowKind};
use crate::span::{Label, Line};

/// Returns count, time and id of a row.
pub(super) fn row_columns(row: &TreeRow, config: &OutlineConfig<'_>) -> [Line; 3] {
    let size = match &row.kind {
        TreeRowKind::Fork { .. }
        | TreeRowKind::Record { .. }
        | TreeRowKind::Compaction
        | TreeRowKind::Tree { .. }
        | TreeRowKind::Elided { .. } => String::new(),
        TreeRowKind::Run { .. } if row.draft => "draft".to_owned(),
        TreeRowKind::Run { .. } if row.messages > 0 => count_of(row.messages, "message"),
        TreeRowKind::Run { .. } | TreeRowKind::Sidechain { .. } | TreeRowKind::Detached => {
            count_of(row.records, "record")
        }
    };
    let is_heading = matches!(row.kind, TreeRowKind::Tree { .. } | TreeRowKind::Elided { .. });
    let time = row.time.filter(|_| !is_heading).map(config.time).unwrap_or_default();
    let id = if is_heading { "" } else { &row.short_id };
    [Line::new(&size, Label::Dim), Line::new(&time, Label::Time), Line::new(id, Label::Id)]
}

/// The index of the id among the columns.
const ID_COLUMN: usize = 2;

pub(super) fn count_of(n: u32, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The column widths of a drawing.
pub(super) struct ColumnLayout {
    width: usize,
    /// The width of graph and words.
    body: usize,
    /// The widths of the columns on the right. Zero: the column does not fit and is left out.
    widths: [usize; 3],
}

/// The minimum width of graph and words before each column is shown.
const MIN_BODY_WIDTHS: [usize; 3] = [36, 22, 12];

impl ColumnLayout {
    /// `widest` has the widths that the columns would like to have.
    pub(super) fn new(natural: usize, widest: [usize; 3], width: usize) -> Self {
        let mut body = width;
        let mut widths = [0; 3];
        for at in [ID_COLUMN, 1, 0] {
            let widest = widest[at];
            let rest = body.saturating_sub(widest + 2);
            if widest > 0 && rest >= MIN_BODY_WIDTHS[at] {
                widths[at] = widest;
                body = rest;
            }
        }
        Self { width, body: body.min(natural), widths }
    }

    pub(super) fn lay_out_row(&self, graph: Line, body: &RowText, columns: [Line; 3]) -> Line {
        let room = self.body.saturating_sub(graph.width());
        let mut line = graph;
        line.append(&body.fit_width(room));
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
            line = pad_line(line, filled - if at == ID_COLUMN { width } else { column.width() });
            line.append(&column);
        }
        truncate_line(&line, self.width)
    }
}
