//! `-o title,id,cost`: chosen fields of the rows of a list, by the names that `--json` gives them.

use std::collections::BTreeSet;

use ramus_core::ids::ShortIds;
use ramus_render::layout::{pad_line, truncate_line};
use ramus_render::text::format_dollars;
use ramus_render::{Label, Line};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::completion;
use crate::env::LocalClock;
use crate::error::CommandError;
use crate::table;
use crate::ui::Ui;

/// Fields that have a shorter name besides that of `--json`.
const SHORT_NAMES: [(&str, &str); 5] = [
    ("cost", "cost_usd"),
    ("branches", "conversations"),
    ("directory", "cwd"),
    ("size", "bytes"),
    ("active", "last_active"),
];

/// Which fields are wanted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FieldArgs {
    /// Show only these fields, named as in `--json`: `-o id,title,cost`. A wrong name lists them all.
    /// Separated by tabs in a pipe
    #[arg(long = "fields", short = 'o', value_name = "FIELDS", value_delimiter = ',', add = completion::fields())]
    pub(crate) fields: Vec<String>,
    /// Print the field names as first row, also in a pipe
    #[arg(long, requires = "fields")]
    pub(crate) header: bool,
    /// Show dates instead of ages, such as `2h ago`
    #[arg(long)]
    pub(crate) absolute: bool,
}

impl FieldArgs {
    /// Whether a field was chosen, by either of its names.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field_name(field) == name)
    }
}

/// How rows become columns.
pub(crate) struct FieldPrinter<'a> {
    pub(crate) fields: &'a [String],
    pub(crate) header: bool,
    pub(crate) short_ids: &'a ShortIds,
    pub(crate) clock: &'a LocalClock,
    /// Fields that rows have only if they are asked for.
    pub(crate) on_request: &'static [&'static str],
}

impl FieldPrinter<'_> {
    /// Prints the chosen fields: in columns on a terminal, separated by tabs in a pipe.
    pub(crate) fn print_rows<T: Serialize>(
        &self,
        ui: &mut Ui,
        rows: &[T],
    ) -> Result<(), CommandError> {
        if ui.json {
            let error = CommandError::user_error("`-o` and `--json` are two formats");
            return Err(error.with_hint("with --json, choose fields with jq"));
        }
        let mut cells: Vec<Vec<String>> = Vec::with_capacity(rows.len());
        for row in rows {
            let Value::Object(row) = serde_json::to_value(row)? else { continue };
            cells.push(self.row_cells(&row, ui.terminal)?);
        }
        if !ui.terminal {
            let header = self.header.then_some(self.fields);
            for row in header.into_iter().chain(cells.iter().map(Vec::as_slice)) {
                let cells: Vec<String> =
                    row.iter().map(|text| Line::plain(text).to_text()).collect();
                writeln!(ui.output_writer(), "{}", cells.join("\t"))?;
            }
            return Ok(());
        }
        ui.start_pager();
        for line in column_lines(self.fields, &cells, ui.width) {
            ui.print_line(&truncate_line(&line, ui.width))?;
        }
        Ok(())
    }

    fn row_cells(
        &self,
        row: &Map<String, Value>,
        is_terminal: bool,
    ) -> Result<Vec<String>, CommandError> {
        let cell = |field: &String| {
            let name = field_name(field);
            let value = row.get(name).ok_or_else(|| self.unknown_field(field, row))?;
            let text = if is_terminal { self.read_text(name, value) } else { plain_text(value) };
            Ok(text.replace(['\t', '\n', '\r'], " "))
        };
        self.fields.iter().map(cell).collect()
    }

    fn unknown_field(&self, field: &str, row: &Map<String, Value>) -> CommandError {
        let names = row.keys().cloned().chain(self.on_request.iter().map(ToString::to_string));
        let names = Vec::from_iter(with_short_names(names));
        CommandError::user_error(format!("no field {field:?}"))
            .with_hint(format!("the fields are {}", names.join(", ")))
    }

    /// Writes a value for a person.
    fn read_text(&self, name: &str, value: &Value) -> String {
        match (name, value) {
            ("id" | "session", Value::String(id)) => self.short_ids.shorten_id(id).to_owned(),
            ("last_active" | "started" | "deleted_after", Value::String(time)) => {
                self.clock.short_text(Some(time))
            }
            ("bytes", Value::Number(bytes)) => table::bytes(bytes.as_u64().unwrap_or(0)),
            ("cost_usd", Value::Number(cost)) => format_dollars(cost.as_f64().unwrap_or(0.0)),
            _ => plain_text(value),
        }
    }
}

/// Adds the short names of fields to their names, in alphabetical order.
pub(crate) fn with_short_names(names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = names.into_iter().collect();
    let short = SHORT_NAMES.iter().filter(|(_, name)| names.contains(*name));
    let short: Vec<String> = short.map(|(short, _)| (*short).to_owned()).collect();
    names.extend(short);
    names
}

fn field_name(field: &str) -> &str {
    let short = SHORT_NAMES.iter().find(|(short, _)| *short == field);
    short.map_or(field, |(_, name)| name)
}

/// Writes a value for a program: texts as they are, nothing for null, lists with commas.
fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
        }
        value => value.to_string(),
    }
}

/// How narrow a column can become.
const MIN_COLUMN: usize = 8;

fn column_lines(fields: &[String], rows: &[Vec<String>], room: usize) -> Vec<Line> {
    let head: Vec<Line> =
        fields.iter().map(|field| Line::new(&field.to_uppercase(), Label::Dim)).collect();
    let rows = rows.iter().map(|row| row.iter().map(|text| Line::plain(text)).collect());
    let all: Vec<Vec<Line>> = std::iter::once(head).chain(rows).collect();
    let last = fields.len().saturating_sub(1);
    let width = |index: usize| all.iter().map(|row| row[index].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..fields.len()).map(width).collect();
    let widths = fit_widths(widths, room);
    let line = |row: &Vec<Line>| {
        let mut line = Line::default();
        for (index, cell) in row.iter().enumerate() {
            let is_last = index == last;
            let cell = truncate_line(cell, widths[index]);
            line.append(&if is_last { cell } else { pad_line(cell, widths[index] + 2) });
        }
        line
    };
    all.iter().map(line).collect()
}

/// Makes the widest columns narrower until the row fits.
fn fit_widths(mut widths: Vec<usize>, room: usize) -> Vec<usize> {
    let between = 2 * widths.len().saturating_sub(1);
    loop {
        let excess = (widths.iter().sum::<usize>() + between).saturating_sub(room);
        let Some(widest) = widths.iter_mut().max().filter(|width| **width > MIN_COLUMN) else {
            return widths;
        };
        if excess == 0 {
            return widths;
        }
        *widest = (*widest - excess.min(*widest)).max(MIN_COLUMN);
    }
}

#[cfg(test)]
mod tests {
    use super::column_lines;

    #[test]
    fn a_long_title_leaves_room_for_the_other_columns() {
        let fields = ["title".to_owned(), "id".to_owned()];
        let rows = vec![vec!["a long title ".repeat(9), "abcd1234".to_owned()]];
        let lines = column_lines(&fields, &rows, 40);
        assert!(lines.iter().all(|line| line.width() <= 40), "{lines:?}");
        assert!(lines[1].to_text().ends_with("abcd1234"), "{lines:?}");
    }
}
