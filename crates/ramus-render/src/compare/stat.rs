//! The totals of both sides in one table.

use std::collections::BTreeSet;

use ramus_core::compare::Calls;
use ramus_core::usage::Spent;

use super::files::lines_changed;
use super::{CompareConfig, Compared};
use crate::layout::{pad, truncate};
use crate::span::{Label, Line};
use crate::text::amount::{duration, grouped, tokens};
use crate::text::answer::model_name;

/// The text of an empty cell.
const NONE: &str = "·";

/// A name with the values of both sides.
struct Row {
    name: Line,
    cells: [Line; 2],
}

/// Returns the table.
pub(super) fn table(compared: &Compared<'_>, config: &CompareConfig<'_>) -> Vec<Line> {
    let [a, b] = compared.names;
    let mut rows = vec![Row {
        name: Line::default(),
        cells: [
            Line::new(&format!("A {}", a.address), Label::Removed),
            Line::new(&format!("B {}", b.address), Label::Added),
        ],
    }];
    rows.push(counts("messages", compared.common.own_messages.map(u64::from)));
    rows.push(part(counts("prompts", compared.sides.map(|side| u64::from(side.prompts)))));
    rows.push(part(counts("replies", compared.sides.map(|side| u64::from(side.answers)))));
    rows.push(counts("agents", compared.sides.map(|side| u64::from(side.agents))));
    tools(compared, &mut rows);
    rows.push(Row { name: Line::plain("files"), cells: [0, 1].map(|side| files(compared, side)) });
    rows.push(counts("commands", compared.sides.map(|side| side.commands.len() as u64)));
    usage(compared, &mut rows);
    let spent = compared.common.own_time.map(|time| {
        let millis = time.map(|(from, to)| to.millis().saturating_sub(from.millis()));
        millis
            .and_then(|millis| u64::try_from(millis).ok())
            .filter(|millis| *millis > 0)
            .map(duration)
    });
    rows.push(Row { name: Line::plain("time"), cells: spent.map(plain) });
    // Drop rows that are empty on both sides.
    let none = |row: &Row| row.cells.iter().all(|cell| cell.text() == NONE);
    rows.retain(|row| !none(row));
    lay(&rows, config.width)
}

fn tools(compared: &Compared<'_>, rows: &mut Vec<Row>) {
    let names: BTreeSet<&String> =
        compared.sides.iter().flat_map(|side| side.tools.keys()).collect();
    let all =
        compared.sides.map(|side| side.tools.values().map(|calls| u64::from(calls.made)).sum());
    rows.push(counts("tool calls", all));
    for name in names {
        let cells = compared.sides.map(|side| {
            let Calls { made, failed } = side.tools.get(name).copied().unwrap_or_default();
            let mut cell = number(u64::from(made));
            if failed > 0 {
                cell = Line::new(&format!("{failed} failed  "), Label::Error);
                cell.append(&number(u64::from(made)));
            }
            cell
        });
        rows.push(part(Row { name: Line::plain(name), cells }));
    }
}

fn files(compared: &Compared<'_>, side: usize) -> Line {
    let changes = compared.files.iter().map(|file| if side == 0 { &file.a } else { &file.b });
    let (mut files, mut sum) = (0, (0, 0));
    for change in changes.filter(|change| change.changed) {
        let (added, removed) = lines_changed(change);
        (files, sum) = (files + 1, (sum.0 + added, sum.1 + removed));
    }
    let mut cell = number(files);
    if files > 0 {
        cell = Line::new(&format!("+{}", grouped(sum.0 as u64)), Label::Added);
        cell.push(" ", Label::Plain);
        cell.push(&format!("−{}", grouped(sum.1 as u64)), Label::Removed);
        cell.push("  ", Label::Plain);
        cell.append(&number(files));
    }
    cell
}

fn usage(compared: &Compared<'_>, rows: &mut Vec<Row>) {
    let spent = compared.sides.map(|side| side.usage.spent(compared.prices));
    let amounts = |name: &str, get: fn(&Spent) -> u64| Row {
        name: Line::plain(name),
        cells: spent.each_ref().map(|spent| match get(spent) {
            0 => number(0),
            n => Line::plain(&tokens(n)),
        }),
    };
    rows.push(amounts("tokens", |spent| spent.sum.tokens.total()));
    rows.push(part(amounts("input", |spent| spent.sum.tokens.input)));
    rows.push(part(amounts("output", |spent| spent.sum.tokens.output)));
    rows.push(part(amounts("cache read", |spent| spent.sum.tokens.cache_read)));
    rows.push(part(amounts("cache write", |spent| {
        spent.sum.tokens.cache_write_5m + spent.sum.tokens.cache_write_1h
    })));
    rows.push(Row { name: Line::plain("cost"), cells: spent.each_ref().map(cost) });
    let models = spent.each_ref().map(|spent| {
        let names: Vec<&str> = spent.models.keys().map(|name| model_name(name)).collect();
        plain((!names.is_empty()).then(|| names.join(", ")))
    });
    rows.push(Row { name: Line::plain("models"), cells: models });
}

/// Returns the cost of a side. Models without a price are named.
fn cost(spent: &Spent) -> Line {
    let dollars = match spent.sum.cost {
        cost if cost > 0.0 && cost < 0.001 => "< $0.001".to_owned(),
        cost if cost < 1.0 => format!("${cost:.3}"),
        cost => format!("${cost:.2}"),
    };
    if spent.unpriced.is_empty() {
        return if spent.sum.messages == 0 { number(0) } else { Line::plain(&dollars) };
    }
    let names: Vec<&str> = spent.unpriced.keys().map(|name| model_name(name)).collect();
    let unknown = format!("no price for {}", names.join(", "));
    if spent.unpriced.len() == spent.models.len() {
        return Line::new(&unknown, Label::Note);
    }
    let total = spent.unpriced.values().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
    let unknown = format!(" + ?  {unknown} ({} tokens)", tokens(total));
    Line::plain(&dollars).with(&unknown, Label::Note)
}

fn counts(name: &str, counts: [u64; 2]) -> Row {
    Row { name: Line::plain(name), cells: counts.map(number) }
}

/// Indents and dims a row that details the row above.
fn part(row: Row) -> Row {
    let dim = |line: Line| line.within(Label::Dim);
    Row { name: dim(Line::plain(&format!("  {}", row.name.text()))), cells: row.cells.map(dim) }
}

fn number(n: u64) -> Line {
    if n == 0 { Line::new(NONE, Label::Dim) } else { Line::plain(&grouped(n)) }
}

fn plain(text: Option<String>) -> Line {
    text.map_or_else(|| number(0), |text| Line::plain(&text))
}

/// Lays the rows out with right-aligned columns.
fn lay(rows: &[Row], width: usize) -> Vec<Line> {
    let widest = |line: fn(&Row) -> &Line| rows.iter().map(|row| line(row).width()).max();
    let name = widest(|row| &row.name).unwrap_or(0).min(width / 3);
    let room = width.saturating_sub(name + 4) / 2;
    let columns = [widest(|row| &row.cells[0]), widest(|row| &row.cells[1])]
        .map(|widest| widest.unwrap_or(0).min(room));
    let lay = |row: &Row| {
        let mut line = pad(truncate(&row.name, name), name);
        for (cell, column) in row.cells.iter().zip(columns) {
            let cell = truncate(cell, column);
            line.push(&" ".repeat(2 + column - cell.width().min(column)), Label::Plain);
            line.append(&cell);
        }
        line
    };
    rows.iter().map(lay).collect()
}
