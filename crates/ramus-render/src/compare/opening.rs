//! The first lines of a comparison: the two sides, and what they have in common.

use ramus_core::branches::BranchStatus;
use ramus_core::compare::PathOverlap;

use super::{CompareConfig, ComparedConversations};
use crate::layout;
use crate::span::{Label, Line};
use crate::text::amounts::count_noun;
use crate::text::tool_call::first_line;

/// Returns the first lines.
pub(super) fn opening_lines(
    compared: &ComparedConversations<'_>,
    config: &CompareConfig<'_>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let [a, b] = compared.names;
    let widest = layout::display_width(&a.address).max(layout::display_width(&b.address));
    for (named, letter, label) in [(a, "A", Label::Removed), (b, "B", Label::Added)] {
        let address = format!("{letter}  {:<widest$}", named.address);
        let status = match named.status {
            BranchStatus::Active => Label::Active,
            BranchStatus::Abandoned => Label::Abandoned,
        };
        let mut line = Line::new(&address, label).with("  ", Label::Plain);
        line.push(&format!("{:<9}", named.status.as_str()), status);
        let title = named.title.as_deref().map(first_line).unwrap_or_default();
        line.push(&format!("  {title}"), Label::Plain);
        lines.push(layout::truncate_line(&line, config.width));
    }
    lines.extend(layout::wrap_line(&common_line(compared.common, config), config.width, 3));
    lines
}

fn common_line(common: &PathOverlap, config: &CompareConfig<'_>) -> Line {
    let messages = count_noun(common.messages as usize, "message");
    let line = Line::new("=  ", Label::Dim);
    if common.covers_both() {
        let line = line.with("no difference", Label::Strong);
        return line.with(&format!(": {messages} in common"), Label::Plain);
    }
    if common.messages == 0 {
        let [a, b] = common.own_messages.map(|own| count_noun(own as usize, "message"));
        let line = line.with("nothing in common", Label::Strong);
        return line.with(&format!(": {a} on A, {b} on B"), Label::Plain);
    }
    let node = common.short_node.as_deref().unwrap_or_default();
    let mut line = line.with(&messages, Label::Strong).with(" in common, up to ", Label::Plain);
    line.push(node, Label::Id);
    if let Some(time) = common.time {
        line.push(&format!("  {}", (config.time)(time)), Label::Time);
    }
    rest_line(line.with("; ", Label::Plain), common.own_messages)
}

/// Adds how the two continue after the common part.
fn rest_line(line: Line, own: [u32; 2]) -> Line {
    let (a, b) = (("A", Label::Removed), ("B", Label::Added));
    let ends = |line: Line, (letter, label): (&str, Label)| {
        line.with(letter, label).with(" ends there, ", Label::Plain)
    };
    let goes_on = |line: Line, (letter, label): (&str, Label), messages: u32| {
        line.with(&format!("{letter} continues for {messages}"), label)
    };
    match own {
        [0, 0] => line.with("then only commands and notes differ", Label::Plain),
        [0, own] => goes_on(ends(line, a), b, own),
        [own, 0] => goes_on(ends(line, b), a, own),
        [own_a, own_b] => line
            .with("then ", Label::Plain)
            .with(&format!("{own_a} on A"), Label::Removed)
            .with(", ", Label::Plain)
            .with(&format!("{own_b} on B"), Label::Added),
    }
}
