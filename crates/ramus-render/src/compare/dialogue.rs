//! Writes the prompts and replies of both sides.

use ramus_core::compare::{ComparedExchange, OwnTurn, are_alike, pair_exchanges};
use ramus_core::turn::{Reply, ReplyPart, Turn, TurnKind};

use super::ComparedConversations;
use super::comparison_writer::{ComparedText, ComparisonWriter};
use crate::layout;
use crate::sanitize::sanitize_text;
use crate::span::{Label, Line};
use crate::text::reply::model_name;
use crate::text::{TextConfig, TranscriptWriter};

/// Writes all exchanges. Those with similar prompts are next to each other.
pub(super) fn write_exchanges(
    sheet: &mut ComparisonWriter<'_>,
    compared: &ComparedConversations<'_>,
) {
    let [a, b] = compared.sides;
    if a.turns.is_empty() && b.turns.is_empty() {
        return;
    }
    sheet.write_heading("Conversation");
    for (index, (a, b)) in pair_exchanges(&a.turns, &b.turns).into_iter().enumerate() {
        if index > 0 {
            sheet.write_space();
        }
        if a.is_some_and(|a| a.prompt.is_some()) || b.is_some_and(|b| b.prompt.is_some()) {
            write_prompts(sheet, a, b);
            sheet.write_space();
        }
        let [a, b] = [a, b].map(|side| side.map_or(&[][..], |side| side.replies()));
        write_replies(sheet, a, b);
    }
}

fn write_prompts(
    sheet: &mut ComparisonWriter<'_>,
    a: Option<ComparedExchange<'_>>,
    b: Option<ComparedExchange<'_>>,
) {
    let text = |side: Option<ComparedExchange<'_>>| {
        side.and_then(|side| side.prompt).map(|prompt| prompt.text.trim().to_owned())
    };
    let header = |side: Option<ComparedExchange<'_>>| -> Vec<Line> {
        let asked = side.filter(|side| side.prompt.is_some());
        asked.map(|side| prompt_header(&side.turns[0].turn, sheet)).into_iter().collect()
    };
    let (head_a, head_b) = (header(a), header(b));
    sheet.write_blocks(head_a, head_b);
    match (text(a), text(b)) {
        (Some(a), Some(b)) if are_alike(&a, &b) => {
            sheet.write_differences(&a, &b, ComparedText::Prose);
        }
        (a, b) => {
            let lines =
                |text: Option<String>| wrap_text(&text.unwrap_or_default(), sheet.column_width());
            let (a, b) = (lines(a), lines(b));
            sheet.write_blocks(a, b);
        }
    }
}

fn prompt_header(turn: &Turn, sheet: &ComparisonWriter<'_>) -> Line {
    header_line(Line::new("❯ You", Label::Prompt), turn, sheet)
}

fn header_line(mut line: Line, turn: &Turn, sheet: &ComparisonWriter<'_>) -> Line {
    if let Some(time) = turn.time {
        line.push(&format!("  {}", (sheet.config.time)(time)), Label::Time);
    }
    if let Some(uuid) = &turn.short_uuid {
        line.push(&format!("  {uuid}"), Label::Dim);
    }
    line
}

/// Writes the replies: as differences if their texts are similar, otherwise both completely.
fn write_replies(sheet: &mut ComparisonWriter<'_>, a: &[OwnTurn], b: &[OwnTurn]) {
    let (said_a, said_b) = (reply_text(a), reply_text(b));
    if are_alike(&said_a, &said_b) {
        let (a, b) = (reply_without_text(a, sheet), reply_without_text(b, sheet));
        sheet.write_blocks(a, b);
        return sheet.write_differences(&said_a, &said_b, ComparedText::Prose);
    }
    let [a, b] = [a, b].map(|turns| transcript_lines(turns.iter().map(|own| &own.turn), sheet));
    sheet.write_blocks(a, b);
}

/// Returns the text of all replies, without tool calls.
fn reply_text(turns: &[OwnTurn]) -> String {
    let answers = turns.iter().filter_map(|own| match &own.turn.kind {
        TurnKind::Reply(answer) => Some(&answer.parts),
        _ => None,
    });
    let texts = answers.flatten().filter_map(|part| match part {
        ReplyPart::Text(text) => Some(text.trim()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Returns the header and everything but text: tool calls, thinking, interruptions.
fn reply_without_text(turns: &[OwnTurn], sheet: &ComparisonWriter<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let speaks = |own: &&OwnTurn| matches!(own.turn.kind, TurnKind::Reply(_));
    let first = turns.iter().find(speaks).map(|own| &own.turn);
    if let Some(turn @ Turn { kind: TurnKind::Reply(Reply { model, .. }), .. }) = first {
        let mut line = Line::new("● Claude", Label::Active);
        if let Some(model) = model {
            line.push(&format!("  {}", model_name(model)), Label::Dim);
        }
        lines.push(header_line(line, turn, sheet));
    }
    let silent: Vec<Turn> = turns.iter().map(|own| turn_without_text(&own.turn)).collect();
    let rest = transcript_lines(silent.iter(), sheet);
    // The header was written above.
    let told = usize::from(rest.first().is_some_and(|line| line.to_text().starts_with("● ")));
    lines.extend(rest.into_iter().skip(told));
    lines
}

fn turn_without_text(turn: &Turn) -> Turn {
    let TurnKind::Reply(answer) = &turn.kind else { return turn.clone() };
    let parts = answer.parts.iter().filter(|part| !matches!(part, ReplyPart::Text(_)));
    let (model, uses) = (answer.model.clone(), answer.requests.clone());
    let answer = Reply { model, requests: uses, parts: parts.cloned().collect() };
    Turn { kind: TurnKind::Reply(answer), ..turn.clone() }
}

/// Returns turns as in a transcript.
fn transcript_lines<'t>(
    turns: impl Iterator<Item = &'t Turn>,
    sheet: &ComparisonWriter<'_>,
) -> Vec<Line> {
    let config = TextConfig {
        width: sheet.column_width(),
        thinking: false,
        tools: false,
        full: sheet.config.full,
        branch_notes: false,
        usage: None,
        highlight: sheet.config.highlight,
        show: "",
        cwd: sheet.config.cwd,
        time: sheet.config.time,
    };
    let mut transcript = TranscriptWriter::new(&config);
    let mut lines = Vec::new();
    turns.for_each(|turn| transcript.write_turn(turn, &mut lines));
    lines
}

fn wrap_text(text: &str, width: usize) -> Vec<Line> {
    let text = sanitize_text(text);
    text.lines().flat_map(|line| layout::wrap_line(&Line::plain(line), width, 0)).collect()
}
