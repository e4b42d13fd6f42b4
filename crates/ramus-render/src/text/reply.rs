//! Writes replies.

use ramus_core::turn::{Reply, ReplyPart, Thought, Turn};
use ramus_core::usage::reply_usage;

use super::line_writer::LineWriter;
use super::{WithheldThoughts, amounts, is_withheld, reply_usage_line, tool_call};
use crate::span::{Label, Line};
use crate::{layout, markdown};

/// Writes a reply. `false`: it has nothing to show.
///
/// `goes_on`: it continues a reply of the same model. `withheld` makes sure that thinking
/// without text is shown once for each reply.
pub(super) fn write_reply(
    page: &mut LineWriter<'_, '_>,
    turn: &Turn,
    answer: &Reply,
    goes_on: bool,
    withheld: &mut WithheldThoughts,
) -> bool {
    let thinking = page.config.thinking;
    let parts = answer.parts.iter().filter(|part| {
        let repeated = withheld.is_repeated(part);
        !is_withheld(part) || thinking && !repeated
    });
    let parts: Vec<&ReplyPart> = parts.collect();
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
        page.write_header(header, turn);
    }
    for part in parts {
        write_part(page, part);
    }
    if let Some(usage) = usage {
        let line = reply_usage_line(&usage, page.config.width);
        page.write_row(&line);
    }
    true
}

fn write_part(page: &mut LineWriter<'_, '_>, part: &ReplyPart) {
    match part {
        ReplyPart::Text(text) => {
            let lines = markdown::markdown_lines(text, page.text_width(2), page.config.highlight);
            page.write_block(&lines, &Line::plain("  "));
        }
        ReplyPart::Thinking(thought) => write_thought(page, thought),
        ReplyPart::Call(call) => tool_call::write_call(page, call),
        ReplyPart::Media(media) => {
            page.write_row(&Line::new(&format!("  {}", amounts::media_label(media)), Label::Note));
        }
        ReplyPart::Fallback { from, to } => {
            let name = |model: &Option<String>| {
                model.as_deref().map_or("another model", model_name).to_owned()
            };
            let text = format!("  ↪ switched from {} to {}", name(from), name(to));
            page.write_row(&Line::new(&text, Label::Warning));
        }
        ReplyPart::Unknown(value) => {
            page.write_row(&Line::new("  ? ", Label::Dim).with(&value.to_string(), Label::Dim));
        }
    }
}

fn write_thought(page: &mut LineWriter<'_, '_>, thought: &Thought) {
    let words = match thought {
        Thought::Text(text) if page.config.thinking => {
            page.write_row(&Line::new("  ∴ thinking", Label::Thinking));
            let lines: Vec<Line> =
                markdown::markdown_lines(text, page.text_width(4), page.config.highlight)
                    .into_iter()
                    .map(|line| line.with_default_label(Label::Thinking))
                    .collect();
            return page.write_below(&lines, &Line::plain("    "));
        }
        Thought::Text(text) => {
            format!("thinking ({})", amounts::count_noun(text.chars().count(), "character"))
        }
        Thought::Withheld { .. } => "thinking (withheld)".to_owned(),
        Thought::Redacted { .. } => "thinking (encrypted)".to_owned(),
    };
    page.write_row(&Line::new(&format!("  ∴ {words}"), Label::Thinking));
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
pub(super) fn wrap_text(text: &str, label: Label, width: usize) -> Vec<Line> {
    let text = crate::sanitize::sanitize_text(text);
    text.trim_end()
        .lines()
        .flat_map(|line| layout::wrap_line(&Line::new(line, label), width, 0))
        .collect()
}
