//! Draws a table with box lines, or row by row if the columns do not fit.

use pulldown_cmark::Alignment;

use crate::{
    layout::{pad_line, wrap_line},
    span::{Label, Line},
};

/// The text of a cell, one line each.
type TableCell = Vec<Line>;

/// A column narrower than this cannot be read.
const MIN_COLUMN_WIDTH: usize = 6;

/// Rows of cells; the first row is the head.
#[derive(Default)]
pub(super) struct MarkdownTable {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<TableCell>>,
}

impl MarkdownTable {
    /// Returns the table in at most `width` columns.
    pub(super) fn draw_table(&self, width: usize) -> Vec<Line> {
        let natural: Vec<usize> =
            (0..self.alignments.len()).map(|at| self.natural_width(at)).collect();
        let borders = 3 * natural.len() + 1;
        let room = width.saturating_sub(borders);
        let least: usize = natural.iter().map(|width| (*width).min(MIN_COLUMN_WIDTH)).sum();
        if least > room || natural.is_empty() {
            return self.draw_records(width);
        }
        self.draw_grid(&share_width(&natural, room))
    }

    /// Returns the natural width of a column.
    fn natural_width(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        cells.flatten().map(Line::width).max().unwrap_or(0).max(1)
    }

    fn draw_grid(&self, widths: &[usize]) -> Vec<Line> {
        let rows: Vec<Vec<Line>> = self.rows.iter().map(|row| self.draw_row(row, widths)).collect();
        // If a row has several lines, rules are needed between the rows.
        let ruled = rows.iter().skip(1).any(|row| row.len() > 1);
        let mut lines = vec![border_line(widths, ["┌", "┬", "┐"])];
        for (at, row) in rows.into_iter().enumerate() {
            if at == 1 || (at > 1 && ruled) {
                lines.push(border_line(widths, ["├", "┼", "┤"]));
            }
            lines.extend(row);
        }
        lines.push(border_line(widths, ["└", "┴", "┘"]));
        lines
    }

    fn draw_row(&self, row: &[TableCell], widths: &[usize]) -> Vec<Line> {
        let wrapped = |cell: Option<&TableCell>, width: usize| -> Vec<Line> {
            cell.into_iter().flatten().flat_map(|line| wrap_line(line, width, 0)).collect()
        };
        let cells: Vec<Vec<Line>> =
            widths.iter().enumerate().map(|(at, width)| wrapped(row.get(at), *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut lines = vec![Line::new("│", Label::Dim); height];
        let empty = Line::default();
        for (at, cell) in cells.iter().enumerate() {
            for (index, line) in lines.iter_mut().enumerate() {
                let text = cell.get(index).unwrap_or(&empty);
                line.push(" ", Label::Plain);
                line.append(&align_line(text, widths[at], self.alignments[at]));
                line.push(" ", Label::Plain);
                line.push("│", Label::Dim);
            }
        }
        lines
    }

    /// Returns each row as a list of `head: value`.
    fn draw_records(&self, width: usize) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let rule = Line::new(&"─".repeat(width), Label::Dim);
        let mut lines = Vec::new();
        for row in rows {
            lines.push(rule.clone());
            for (at, cell) in row.iter().enumerate() {
                let mut line = join_lines(head.get(at).map_or(&[], Vec::as_slice));
                line.push(": ", Label::Dim);
                line.append(&join_lines(cell));
                lines.extend(wrap_line(&line, width, 2));
            }
        }
        lines.push(rule);
        lines
    }
}

fn join_lines(cell: &[Line]) -> Line {
    let mut line = Line::default();
    for (index, part) in cell.iter().enumerate() {
        line.push(if index > 0 { " " } else { "" }, Label::Plain);
        line.append(part);
    }
    line
}

fn align_line(line: &Line, width: usize, alignment: Alignment) -> Line {
    let missing = width.saturating_sub(line.width());
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => missing / 2,
        Alignment::Right => missing,
    };
    let mut full = Line::plain(&" ".repeat(before));
    full.append(line);
    pad_line(full, width)
}

fn border_line(widths: &[usize], [left, middle, right]: [&str; 3]) -> Line {
    let columns: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
    Line::new(&format!("{left}{}{right}", columns.join(middle)), Label::Dim)
}

/// Distributes `room` among columns. A column that needs less than an equal share gets what it
/// needs, the others share the rest.
fn share_width(natural: &[usize], room: usize) -> Vec<usize> {
    let mut widths = natural.to_vec();
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by_key(|at| natural[*at]);
    let mut left = room;
    for (index, at) in order.iter().enumerate() {
        let share = left / (order.len() - index);
        widths[*at] = natural[*at].min(share).max(1);
        left = left.saturating_sub(widths[*at]);
    }
    widths
}
