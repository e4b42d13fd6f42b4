//! The totals of both sides in one table.

use std::collections::BTreeSet;

use ramus_core::compare::CallCounts;
use ramus_core::usage::SpentUsage;

use super::files::lines_changed;
use super::{CompareConfig, ComparedConversations};
use crate::layout::{pad_line, truncate_line};
use crate::span::{Label, Line};
use crate::text::amounts::{format_dollars, format_duration, format_tokens, grouped_digits};
use crate::text::reply::model_name;

/// The text of an empty cell.
const EMPTY_CELL: &str = "·";

/// A name with the values of both sides.
struct StatRow {
    name: Line,
    cells: [Line; 2],
}

/// Returns the table.
pub(super) fn stat_table(
    compared: &ComparedConversations<'_>,
    config: &CompareConfig<'_>,
) -> Vec<Line> {
    let [a, b] = compared.names;
    let mut rows = vec![StatRow {
        name: Line::default(),
        cells: [
            Line::new(&format!("A {}", a.address), Label::Removed),
            Line::new(&format!("B {}", b.address), Label::Added),
        ],
    }];
    rows.push(count_row("messages", compared.common.own_messages.map(u64::from)));
    rows.push(sub_row(count_row("prompts", compared.sides.map(|side| u64::from(side.prompts)))));
    rows.push(sub_row(count_row("replies", compared.sides.map(|side| u64::from(side.replies)))));
    rows.push(count_row("agents", compared.sides.map(|side| u64::from(side.agents))));
    add_tool_rows(compared, &mut rows);
    rows.push(StatRow {
        name: Line::plain("files"),
        cells: [0, 1].map(|side| file_cell(compared, side)),
    });
    rows.push(count_row("commands", compared.sides.map(|side| side.commands.len() as u64)));
    add_usage_rows(compared, &mut rows);
    let spent = compared.common.own_time.map(|time| {
        let millis = time.map(|(from, to)| to.as_millis().saturating_sub(from.as_millis()));
        millis
            .and_then(|millis| u64::try_from(millis).ok())
            .filter(|millis| *millis > 0)
            .map(format_duration)
    });
    rows.push(StatRow { name: Line::plain("time"), cells: spent.map(text_cell) });
    // Drop rows that are empty on both sides.
    let none = |row: &StatRow| row.cells.iter().all(|cell| cell.to_text() == EMPTY_CELL);
    rows.retain(|row| !none(row));
    lay_out_rows(&rows, config.width)
}

fn add_tool_rows(compared: &ComparedConversations<'_>, rows: &mut Vec<StatRow>) {
    let names: BTreeSet<&String> =
        compared.sides.iter().flat_map(|side| side.tools.keys()).collect();
    let all =
        compared.sides.map(|side| side.tools.values().map(|calls| u64::from(calls.made)).sum());
    rows.push(count_row("tool calls", all));
    for name in names {
        let cells = compared.sides.map(|side| {
            let CallCounts { made, failed } = side.tools.get(name).copied().unwrap_or_default();
            let mut cell = number_cell(u64::from(made));
            if failed > 0 {
                cell = Line::new(&format!("{failed} failed  "), Label::Error);
                cell.append(&number_cell(u64::from(made)));
            }
            cell
        });
        rows.push(sub_row(StatRow { name: Line::plain(name), cells }));
    }
}

fn file_cell(compared: &ComparedConversations<'_>, side: usize) -> Line {
    let changes = compared.files.iter().map(|file| if side == 0 { &file.a } else { &file.b });
    let (mut files, mut sum) = (0, (0, 0));
    for change in changes.filter(|change| change.changed) {
        let (added, removed) = lines_changed(change);
        (files, sum) = (files + 1, (sum.0 + added, sum.1 + removed));
    }
    let mut cell = number_cell(files);
    if files > 0 {
        cell = Line::new(&format!("+{}", grouped_digits(sum.0 as u64)), Label::Added);
        cell.push(" ", Label::Plain);
        cell.push(&format!("−{}", grouped_digits(sum.1 as u64)), Label::Removed);
        cell.push("  ", Label::Plain);
        cell.append(&number_cell(files));
    }
    cell
}

fn add_usage_rows(compared: &ComparedConversations<'_>, rows: &mut Vec<StatRow>) {
    let spent = compared.sides.map(|side| side.usage.total_spent(compared.prices));
    let amounts = |name: &str, get: fn(&SpentUsage) -> u64| StatRow {
        name: Line::plain(name),
        cells: spent.each_ref().map(|spent| match get(spent) {
            0 => number_cell(0),
            n => Line::plain(&format_tokens(n)),
        }),
    };
    rows.push(amounts("tokens", |spent| spent.sum.tokens.total()));
    rows.push(sub_row(amounts("input", |spent| spent.sum.tokens.input)));
    rows.push(sub_row(amounts("output", |spent| spent.sum.tokens.output)));
    rows.push(sub_row(amounts("cache read", |spent| spent.sum.tokens.cache_read)));
    rows.push(sub_row(amounts("cache write", |spent| {
        spent.sum.tokens.cache_write_5m + spent.sum.tokens.cache_write_1h
    })));
    rows.push(StatRow { name: Line::plain("cost"), cells: spent.each_ref().map(cost_cell) });
    let models = spent.each_ref().map(|spent| {
        let names: Vec<&str> = spent.models.keys().map(|name| model_name(name)).collect();
        text_cell((!names.is_empty()).then(|| names.join(", ")))
    });
    rows.push(StatRow { name: Line::plain("models"), cells: models });
}

/// Returns the cost of a side. Models without a price are named.
fn cost_cell(spent: &SpentUsage) -> Line {
    let dollars = format_dollars(spent.sum.cost);
    if spent.unpriced.is_empty() {
        return if spent.sum.messages == 0 { number_cell(0) } else { Line::plain(&dollars) };
    }
    let names: Vec<&str> = spent.unpriced.keys().map(|name| model_name(name)).collect();
    let unknown = format!("no price for {}", names.join(", "));
    if spent.unpriced.len() == spent.models.len() {
        return Line::new(&unknown, Label::Note);
    }
    let total = spent.unpriced.values().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
    let unknown = format!(" + ?  {unknown} ({} tokens)", format_tokens(total));
    Line::plain(&dollars).with(&unknown, Label::Note)
}

fn count_row(name: &str, counts: [u64; 2]) -> StatRow {
    StatRow { name: Line::plain(name), cells: counts.map(number_cell) }
}

/// Indents and dims a row that details the row above.
fn sub_row(row: StatRow) -> StatRow {
    let dim = |line: Line| line.with_default_label(Label::Dim);
    StatRow {
        name: dim(Line::plain(&format!("  {}", row.name.to_text()))),
        cells: row.cells.map(dim),
    }
}

fn number_cell(n: u64) -> Line {
    if n == 0 { Line::new(EMPTY_CELL, Label::Dim) } else { Line::plain(&grouped_digits(n)) }
}

fn text_cell(text: Option<String>) -> Line {
    text.map_or_else(|| number_cell(0), |text| Line::plain(&text))
}

/// Lays the rows out with right-aligned columns.
fn lay_out_rows(rows: &[StatRow], width: usize) -> Vec<Line> {
    let widest = |line: fn(&StatRow) -> &Line| rows.iter().map(|row| line(row).width()).max();
    let name = widest(|row| &row.name).unwrap_or(0).min(width / 3);
    let room = width.saturating_sub(name + 4) / 2;
    let columns = [widest(|row| &row.cells[0]), widest(|row| &row.cells[1])]
        .map(|widest| widest.unwrap_or(0).min(room));
    let lay = |row: &StatRow| {
        let mut line = pad_line(truncate_line(&row.name, name), name);
        for (cell, column) in row.cells.iter().zip(columns) {
            let cell = truncate_line(cell, column);
            line.push(&" ".repeat(2 + column - cell.width().min(column)), Label::Plain);
            line.append(&cell);
        }
        line
    };
    rows.iter().map(lay).collect()
}
