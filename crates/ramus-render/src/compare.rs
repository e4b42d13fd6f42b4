//! Two conversations beside each other, for a terminal of a given width.
//!
//! What both have is told in one line. What differs follows: the exchanges, the
//! files, the commands, and the numbers. A is written as what was removed, B as
//! what was added.

mod sheet;

mod talk;

mod files;

mod stat;

use ramus_core::compare::{Common, FilePair, Side};
use ramus_core::time::Time;

use crate::layout;
use crate::span::{Label, Line};
use crate::text::amount::count;
use crate::text::tool::first_line;
use sheet::Sheet;

pub use files::lines_changed;

/// Two conversations and what was found out about them.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    pub common: &'a Common,
    pub names: [&'a Named; 2],
    pub sides: [&'a Side; 2],
    pub files: &'a [FilePair],
}

/// What a conversation goes by.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// `3f9a2b1c@2` or `3f9a2b1c:81b2c3d4`.
    pub address: String,
    /// `active` or `abandoned`.
    pub status: String,
    /// `None`: nothing but the address is known.
    pub title: Option<String>,
}

/// How a comparison is to read.
#[derive(Clone, Copy)]
pub struct CompareConfig<'a> {
    pub width: usize,
    /// A on the left and B on the right, not A before B.
    pub side_by_side: bool,
    /// Leave nothing out for being long.
    pub full: bool,
    /// Paths below this directory are shown without it. Empty: all are shown whole.
    pub cwd: &'a str,
    pub time: &'a dyn Fn(Time) -> String,
}

impl std::fmt::Debug for CompareConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompareConfig").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Returns the whole comparison.
pub fn compare(compared: &Compared<'_>, config: &CompareConfig<'_>) -> Vec<Line> {
    let mut sheet = Sheet::new(config);
    sheet.out = opening(compared, config);
    if compared.common.is_all() {
        return sheet.out;
    }
    talk::write(&mut sheet, compared);
    files::write(&mut sheet, compared.files);
    commands(&mut sheet, compared);
    sheet.heading("Numbers");
    sheet.out.extend(stat::table(compared, config));
    sheet.out
}

/// Returns the short form: the numbers alone.
pub fn stat(compared: &Compared<'_>, config: &CompareConfig<'_>) -> Vec<Line> {
    let mut lines = opening(compared, config);
    if !compared.common.is_all() {
        lines.push(Line::default());
        lines.extend(stat::table(compared, config));
    }
    lines
}

/// Tells which two are compared, and what they have in common.
fn opening(compared: &Compared<'_>, config: &CompareConfig<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let [a, b] = compared.names;
    let widest = layout::width(&a.address).max(layout::width(&b.address));
    for (named, letter, label) in [(a, "A", Label::Removed), (b, "B", Label::Added)] {
        let address = format!("{letter}  {:<widest$}", named.address);
        let status = if named.status == "active" { Label::Active } else { Label::Abandoned };
        let mut line = Line::new(&address, label).with("  ", Label::Plain);
        line.push(&format!("{:<9}", named.status), status);
        let title = named.title.as_deref().map(first_line).unwrap_or_default();
        line.push(&format!("  {title}"), Label::Plain);
        lines.push(layout::truncate(&line, config.width));
    }
    lines.extend(layout::wrap(&in_common(compared.common, config), config.width, 3));
    lines
}

fn in_common(common: &Common, config: &CompareConfig<'_>) -> Line {
    let mut line = Line::new("=  ", Label::Dim);
    if common.is_all() {
        line.push("no difference", Label::Strong);
        let messages = count(common.messages as usize, "message");
        line.push(&format!(": {messages} in common"), Label::Plain);
        return line;
    }
    if common.messages == 0 {
        line.push("nothing in common", Label::Strong);
        line.push(": all of both is compared", Label::Plain);
    } else {
        line.push(&count(common.messages as usize, "message"), Label::Strong);
        line.push(" in common, up to ", Label::Plain);
        let node: String = common.node.iter().flat_map(|node| node.chars().take(8)).collect();
        line.push(&node, Label::Id);
        if let Some(time) = common.time {
            line.push(&format!("  {}", (config.time)(time)), Label::Time);
        }
    }
    line.push("; then ", Label::Plain);
    for (index, (own, letter, label)) in
        [(0, "A", Label::Removed), (1, "B", Label::Added)].into_iter().enumerate()
    {
        let messages = common.own_messages[own];
        line.push(if index == 0 { "" } else { ", " }, Label::Plain);
        line.push(&format!("{messages} on {letter}"), label);
    }
    line
}

fn commands(sheet: &mut Sheet<'_>, compared: &Compared<'_>) {
    let lists = compared.sides.map(|side| {
        let mut list = String::new();
        for ran in &side.commands {
            list.push_str("$ ");
            list.push_str(&first_line(&ran.command));
            list.push_str(if ran.failed { "  ✗\n" } else { "\n" });
        }
        list
    });
    if lists.iter().all(String::is_empty) {
        return;
    }
    sheet.heading("Commands");
    sheet.differences(&lists[0], &lists[1], sheet::Text::List);
}

#[cfg(test)]
mod tests;
