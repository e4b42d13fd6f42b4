//! Writes the prompts and replies of both sides.

use ramus_core::compare::{ComparedExchange, OwnTurn, are_alike};
use ramus_core::turn::{Reply, ReplyPart, Turn, TurnKind};

use super::comparison_writer::{ComparedText, ComparisonWriter};
use crate::layout;
use crate::sanitize::sanitize_text;
use crate::span::{Label, Line};
use crate::text::reply::model_name;
use crate::text::{TextConfig, TranscriptWriter};

/// Writes two exchanges next to each other.
pub(super) fn write_exchange(
    sheet: &mut ComparisonWriter<'_>,
    a: Option<ComparedExchange>,
    b: Option<ComparedExchange>,
) {
    let sides = [a.unwrap_or_default(), b.unwrap_or_default()];
    if sides.iter().any(|side| side.prompt().is_some()) {
        write_prompts(sheet, &sides);
        sheet.write_space();
    }
    write_replies(sheet, sides[0].replies(), sides[1].replies());
}

fn write_prompts(sheet: &mut ComparisonWriter<'_>, sides: &[ComparedExchange; 2]) {
    let [a, b] = sides.each_ref().map(|side| -> Vec<Line> {
        let asked = side.turns.first().filter(|_| side.prompt().is_some());
        asked.map(|own| prompt_header(&own.turn, sheet)).into_iter().collect()
    });
    sheet.write_blocks(a, b);
    let texts = sides.each_ref().map(|side| side.prompt().map(|prompt| prompt.text.trim()));
    if let [Some(a), Some(b)] = texts
        && are_alike(a, b)
    {
        return sheet.write_differences(a, b, ComparedText::Prose);
    }
    let [a, b] = texts.map(|text| wrap_text(text.unwrap_or_default(), sheet.column_width()));
    sheet.write_blocks(a, b);
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
    let (reply_a, reply_b) = (reply_text(a), reply_text(b));
    if are_alike(&reply_a, &reply_b) {
        let (a, b) = (reply_without_text(a, sheet), reply_without_text(b, sheet));
        sheet.write_blocks(a, b);
        return sheet.write_differences(&reply_a, &reply_b, ComparedText::Prose);
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
    let skipped = usize::from(rest.first().is_some_and(|line| line.to_text().starts_with("● ")));
    lines.extend(rest.into_iter().skip(skipped));
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
        running: &[],
        time: sheet.config.time,
    };
    let mut transcript = TranscriptWriter::new(&config);
    let mut lines = Vec::new();
    turns.for_each(|turn| transcript.write_turn(turn, &mut |line| lines.push(line)));
    lines
}

fn wrap_text(text: &str, width: usize) -> Vec<Line> {
    let text = sanitize_text(text);
    text.lines().flat_map(|line| layout::wrap_line(&Line::plain(line), width, 0)).collect()
}
