//! Writes replies.

use ramus_core::turn::{Answer, Part, Thought, Turn};
use ramus_core::usage::reply_usage;

use super::page::Page;
use super::{WithheldThoughts, amount, is_withheld, reply_usage_line, tool};
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// Writes a reply. `false`: it has nothing to show.
///
/// `goes_on`: it continues a reply of the same model. `withheld` makes sure that thinking
/// without text is shown once for each reply.
pub(super) fn write(
    page: &mut Page<'_, '_>,
    turn: &Turn,
    answer: &Answer,
    goes_on: bool,
    withheld: &mut WithheldThoughts,
) -> bool {
    let thinking = page.config.thinking;
    let parts = answer.parts.iter().filter(|part| {
        let repeated = withheld.is_repeated(part);
        !is_withheld(part) || thinking && !repeated
    });
    let parts: Vec<&Part> = parts.collect();
    let usage = page.config.usage.and_then(|prices| reply_usage(answer, prices));
    if parts.is_empty() && usage.is_none() {
        return false;
    }
    if !goes_on {
        let mut header = Line::new("● Claude", Label::Active);
        if let Some(model) = &answer.model {
            header.push("  ", Label::Plain);
            header.push(model_name(model), Label::Dim);
        }
        page.header(header, turn);
    }
    for part in parts {
        write_part(page, part);
    }
    if let Some(usage) = usage {
        let line = reply_usage_line(&usage, page.config.width);
        page.row(&line);
    }
    true
}

fn write_part(page: &mut Page<'_, '_>, part: &Part) {
    match part {
        Part::Text(text) => {
            let lines = markdown::lines(text, page.room(2), page.config.highlight);
            page.block(&lines, &Line::plain("  "));
        }
        Part::Thinking(thought) => write_thought(page, thought),
        Part::Call(call) => tool::write(page, call),
        Part::Media(media) => {
            page.row(&Line::new(&format!("  {}", amount::media(media)), Label::Note));
        }
        Part::Fallback { from, to } => {
            let name = |model: &Option<String>| {
                model.as_deref().map_or("another model", model_name).to_owned()
            };
            let text = format!("  ↪ switched from {} to {}", name(from), name(to));
            page.row(&Line::new(&text, Label::Warning));
        }
        Part::Unknown(value) => {
            page.row(&Line::new("  ? ", Label::Dim).with(&value.to_string(), Label::Dim));
        }
    }
}

fn write_thought(page: &mut Page<'_, '_>, thought: &Thought) {
    let told = match thought {
        Thought::Text(text) if page.config.thinking => {
            page.row(&Line::new("  ∴ thinking", Label::Thinking));
            let lines: Vec<Line> = markdown::lines(text, page.room(4), page.config.highlight)
                .into_iter()
                .map(|line| line.within(Label::Thinking))
                .collect();
            return page.below(&lines, &Line::plain("    "));
        }
        Thought::Text(text) => {
            format!("thinking ({})", amount::count(text.chars().count(), "character"))
        }
        Thought::Withheld { .. } => "thinking (withheld)".to_owned(),
        Thought::Redacted { .. } => "thinking (encrypted)".to_owned(),
    };
    page.row(&Line::new(&format!("  ∴ {told}"), Label::Thinking));
}

/// Returns the name of a model without its vendor and date.
pub(crate) fn model_name(model: &str) -> &str {
    let name = model.rsplit(['/', '.']).next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once(['-', '@']) {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Wraps a text into lines with one label.
pub(super) fn wrapped(text: &str, label: Label, width: usize) -> Vec<Line> {
    let text = crate::sanitize::sanitize(text);
    text.trim_end()
        .lines()
        .flat_map(|line| layout::wrap(&Line::new(line, label), width, 0))
        .collect()
}
