//! Rows of labelled cells in columns that fit the screen.

use ramus_render::layout::{pad, truncate};
use ramus_render::{Label, Line};

/// Cells in columns; one column gives way when the screen is narrow.
pub(crate) struct Table {
    head: Vec<&'static str>,
    right: Vec<bool>,
    flexible: usize,
    rows: Vec<Vec<Line>>,
}

/// Between two columns.
const GAP: usize = 2;
/// The flexible column never gets narrower than this.
const NARROWEST: usize = 16;

impl Table {
    /// Makes a table; a heading that begins with `>` is set to the right, and the
    /// one that begins with `*` gives way.
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.iter().map(|head| head.trim_start_matches(['>', '*'])).collect(),
            right: head.iter().map(|head| head.starts_with('>')).collect(),
            flexible: head.iter().position(|head| head.starts_with('*')).unwrap_or(0),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Lays the table out for a width.
    pub(crate) fn lines(&self, width: usize) -> Vec<Line> {
        let mut widths: Vec<usize> = self.head.iter().map(|head| head.len()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let others: usize =
            widths.iter().sum::<usize>() - widths[self.flexible] + GAP * (widths.len() - 1);
        let room = width.saturating_sub(others).max(NARROWEST);
        widths[self.flexible] = widths[self.flexible].min(room);
        let head: Vec<Line> = self.head.iter().map(|head| Line::new(head, Label::Dim)).collect();
        std::iter::once(&head).chain(&self.rows).map(|row| self.lay(row, &widths)).collect()
    }

    fn lay(&self, row: &[Line], widths: &[usize]) -> Line {
        let mut line = Line::default();
        for (index, (cell, &width)) in row.iter().zip(widths).enumerate() {
            if index > 0 {
                line.push(&" ".repeat(GAP), Label::Plain);
            }
            let cell = truncate(cell, width);
            if self.right[index] {
                line.push(&" ".repeat(width - cell.width().min(width)), Label::Plain);
                line.append(&cell);
            } else if index + 1 < row.len() {
                line.append(&pad(cell, width));
            } else {
                line.append(&cell);
            }
        }
        line
    }
}

/// Makes a cell.
pub(crate) fn cell(text: impl AsRef<str>, label: Label) -> Line {
    Line::new(text.as_ref(), label)
}

/// Writes a number with its thousands apart.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes a size in the unit a person would use.
pub(crate) fn bytes(value: u64) -> String {
    let mut size = value as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 999.5 || unit == "GB" {
            return if unit == "B" || size >= 99.5 {
                format!("{size:.0} {unit}")
            } else {
                format!("{size:.1} {unit}")
            };
        }
        size /= 1000.0;
    }
    unreachable!("because gigabytes hold any size")
}
