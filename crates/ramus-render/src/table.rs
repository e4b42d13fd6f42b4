//! Rows of labelled cells in columns that fit the screen.

use crate::layout::{pad_line, truncate_line};
use crate::{Label, Line};

pub use crate::text::grouped_digits as number;

/// Cells in columns. On a narrow screen one column shrinks, and others are left out.
#[derive(Debug)]
pub struct Table {
    head: Vec<&'static str>,
    right: Vec<bool>,
    optional: Vec<bool>,
    flexible: usize,
    rows: Vec<Vec<Line>>,
}

/// Between two columns.
const GAP: usize = 2;
/// The flexible column never gets narrower than this.
const NARROWEST: usize = 16;
/// Other columns are left out before it gets narrower than this.
const WANTED: usize = 32;

impl Table {
    /// Makes a table. A heading that begins with `>` is set to the right, the one
    /// with `*` gives way, and those with `?` are left out first, from the right.
    pub fn new(head: &[&'static str]) -> Self {
        let marked =
            |sign| head.iter().map(|head| signs(head).contains(sign)).collect::<Vec<bool>>();
        Self {
            head: head.iter().map(|head| &head[signs(head).len()..]).collect(),
            right: marked('>'),
            optional: marked('?'),
            flexible: marked('*').iter().position(|flexible| *flexible).unwrap_or(0),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// Lays the table out for a width.
    pub fn lines(&self, width: usize) -> Vec<Line> {
        let mut widths: Vec<usize> = self.head.iter().map(|head| head.len()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let kept = self.kept(&widths, width);
        let room = width.saturating_sub(self.beside(&kept, &widths)).max(NARROWEST);
        widths[self.flexible] = widths[self.flexible].min(room);
        let head: Vec<Line> = self.head.iter().map(|head| Line::new(head, Label::Dim)).collect();
        std::iter::once(&head).chain(&self.rows).map(|row| self.lay(row, &widths, &kept)).collect()
    }

    /// Returns the columns that fit.
    fn kept(&self, widths: &[usize], width: usize) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..widths.len()).collect();
        let wanted = widths[self.flexible].min(WANTED);
        while self.beside(&kept, widths) + wanted > width
            && let Some(optional) = kept.iter().rposition(|index| self.optional[*index])
        {
            kept.remove(optional);
        }
        kept
    }

    /// Returns the width of all columns except the flexible one.
    fn beside(&self, kept: &[usize], widths: &[usize]) -> usize {
        kept.iter().filter(|index| **index != self.flexible).map(|index| widths[*index] + GAP).sum()
    }

    fn lay(&self, row: &[Line], widths: &[usize], kept: &[usize]) -> Line {
        let mut line = Line::default();
        for (place, &index) in kept.iter().enumerate() {
            if place > 0 {
                line.push(&" ".repeat(GAP), Label::Plain);
            }
            let width = widths[index];
            let cell = truncate_line(&row[index], width);
            if self.right[index] {
                line.push(&" ".repeat(width - cell.width().min(width)), Label::Plain);
                line.append(&cell);
            } else if place + 1 < kept.len() {
                line.append(&pad_line(cell, width));
            } else {
                line.append(&cell);
            }
        }
        line
    }
}

/// Returns the signs a heading begins with.
fn signs(head: &str) -> &str {
    let end = head.find(|c| !matches!(c, '>' | '*' | '?')).unwrap_or(head.len());
    &head[..end]
}

/// Makes a cell.
pub fn cell(text: impl AsRef<str>, label: Label) -> Line {
    Line::new(text.as_ref(), label)
}

/// Writes a size in the unit a person would use.
pub fn bytes(value: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::{Table, bytes, cell, number};
    use crate::{Label, Line};

    fn lines(width: usize) -> Vec<String> {
        let mut table = Table::new(&["ID", ">?SIZE", "*TITLE"]);
        table.row(vec![
            cell("a1", Label::Id),
            cell("12 kB", Label::Dim),
            cell("a rather long title of a session that is", Label::Plain),
        ]);
        table.lines(width).iter().map(Line::to_text).collect()
    }

    #[test]
    fn a_narrow_screen_loses_spare_columns_before_words() {
        assert_eq!(
            lines(80),
            ["ID   SIZE  TITLE", "a1  12 kB  a rather long title of a session that is"]
        );
        assert_eq!(lines(44), ["ID   SIZE  TITLE", "a1  12 kB  a rather long title of a session…"]);
        assert_eq!(lines(40), ["ID  TITLE", "a1  a rather long title of a session th…"]);
    }

    #[test]
    fn numbers_and_sizes_are_short() {
        assert_eq!([number(7), number(1234), number(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!(
            [bytes(999), bytes(1000), bytes(126_400), bytes(2_500_000_000)],
            ["999 B", "1.0 kB", "126 kB", "2.5 GB"]
        );
    }
}
