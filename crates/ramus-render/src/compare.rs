//! Compares two conversations for a terminal of a given width.
//!
//! One line sums up what both have in common. Then follow the exchanges, files, commands and
//! totals that differ. A is drawn like removed lines of a diff, B like added lines.

mod opening;

mod comparison_writer;

mod dialogue;

mod files;

mod stat;

use std::convert::Infallible;

use ramus_core::compare::{ExchangePair, RanCommand};
use ramus_core::time::Time;

use crate::highlight::Highlight;
use crate::span::Line;
use crate::text::tool_call::first_line;
use comparison_writer::ComparisonWriter;
use opening::opening_lines;

pub use files::lines_changed;
pub use ramus_core::compare::{ComparedConversations, ConversationLabel};

/// How many columns a side-by-side comparison needs.
pub const SIDE_BY_SIDE_WIDTH: usize = 120;

/// How a comparison is written.
#[derive(Clone, Copy)]
pub struct CompareConfig<'a> {
    pub width: usize,
    /// A on the left and B on the right, instead of A before B.
    pub side_by_side: bool,
    /// Show long texts in full.
    pub full: bool,
    /// The totals come before the exchanges, for screens where the end is far away.
    pub totals_first: bool,
    pub highlight: Highlight,
    /// Paths below this directory are shown relative to it. Empty: all paths are absolute.
    pub cwd: &'a str,
    pub time: &'a dyn Fn(Time) -> String,
}

impl std::fmt::Debug for CompareConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompareConfig").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Returns the whole comparison; `exchanges` are the exchanges that differ, aligned.
pub fn comparison_lines(
    compared: &ComparedConversations<'_>,
    exchanges: &mut dyn Iterator<Item = ExchangePair>,
    config: &CompareConfig<'_>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let print = &mut |line| {
        lines.push(line);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = write_comparison(compared, exchanges, config, print);
    lines
}

/// Prints the whole comparison, line by line: it may be longer than fits in memory.
pub fn write_comparison<E>(
    compared: &ComparedConversations<'_>,
    exchanges: &mut dyn Iterator<Item = ExchangePair>,
    config: &CompareConfig<'_>,
    print: &mut dyn FnMut(Line) -> Result<(), E>,
) -> Result<(), E> {
    let mut sheet = ComparisonWriter::new(config);
    sheet.out = opening_lines(compared, config);
    if !compared.common.covers_both() {
        if config.totals_first {
            write_totals(&mut sheet, compared);
        }
        for (index, (a, b)) in exchanges.enumerate() {
            if index == 0 {
                sheet.write_heading("Conversation");
            } else {
                sheet.write_space();
            }
            dialogue::write_exchange(&mut sheet, a, b);
            sheet.print_lines(print)?;
        }
        files::write_files(&mut sheet, compared.files);
        write_commands(&mut sheet, compared);
        if !config.totals_first {
            write_totals(&mut sheet, compared);
        }
    }
    sheet.print_lines(print)
}

fn write_totals(sheet: &mut ComparisonWriter<'_>, compared: &ComparedConversations<'_>) {
    sheet.write_heading("Totals");
    let table = stat::stat_table(compared, sheet.config);
    sheet.out.extend(table);
}

/// Returns only the totals.
pub fn stat_lines(compared: &ComparedConversations<'_>, config: &CompareConfig<'_>) -> Vec<Line> {
    let mut lines = opening_lines(compared, config);
    if !compared.common.covers_both() {
        lines.push(Line::default());
        lines.extend(stat::stat_table(compared, config));
    }
    lines
}

fn write_commands(sheet: &mut ComparisonWriter<'_>, compared: &ComparedConversations<'_>) {
    let lists = compared.sides.map(|side| {
        let row = |ran: &RanCommand| {
            format!("$ {}{}", first_line(&ran.command), if ran.failed { "  ×" } else { "" })
        };
        side.commands.iter().map(row).collect::<Vec<_>>().join("\n")
    });
    if lists.iter().all(String::is_empty) {
        return;
    }
    sheet.write_heading("Commands");
    let [a, b] = lists.each_ref().map(|list| list.lines().map(Line::plain).collect());
    if lists.iter().any(String::is_empty) {
        return sheet.write_blocks(a, b);
    }
    sheet.write_differences(&lists[0], &lists[1], comparison_writer::ComparedText::List);
}

#[cfg(test)]
mod tests;
