//! Writes the prompts and replies of both sides.

use ramus_core::compare::{Exchange, Own, alike, pairs};
use ramus_core::turn::{Answer, Part, Turn, TurnKind};

use super::Compared;
use super::sheet::{Sheet, Text};
use crate::layout;
use crate::sanitize::sanitize;
use crate::span::{Label, Line};
use crate::text::answer::model_name;
use crate::text::{TextConfig, Transcript};

/// Writes all exchanges. Those with similar prompts are next to each other.
pub(super) fn write(sheet: &mut Sheet<'_>, compared: &Compared<'_>) {
    let [a, b] = compared.sides;
    if a.turns.is_empty() && b.turns.is_empty() {
        return;
    }
    sheet.heading("Conversation");
    for (index, (a, b)) in pairs(&a.turns, &b.turns).into_iter().enumerate() {
        if index > 0 {
            sheet.space();
        }
        if a.is_some_and(|a| a.prompt.is_some()) || b.is_some_and(|b| b.prompt.is_some()) {
            prompts(sheet, a, b);
            sheet.space();
        }
        let [a, b] = [a, b].map(|side| side.map_or(&[][..], |side| side.answers()));
        answered(sheet, a, b);
    }
}

fn prompts(sheet: &mut Sheet<'_>, a: Option<Exchange<'_>>, b: Option<Exchange<'_>>) {
    let text = |side: Option<Exchange<'_>>| {
        side.and_then(|side| side.prompt).map(|prompt| prompt.text.trim().to_owned())
    };
    let header = |side: Option<Exchange<'_>>| -> Vec<Line> {
        let asked = side.filter(|side| side.prompt.is_some());
        asked.map(|side| asked_by(&side.turns[0].turn, sheet)).into_iter().collect()
    };
    let (head_a, head_b) = (header(a), header(b));
    sheet.blocks(head_a, head_b);
    match (text(a), text(b)) {
        (Some(a), Some(b)) if alike(&a, &b) => sheet.differences(&a, &b, Text::Prose),
        (a, b) => {
            let lines = |text: Option<String>| wrapped(&text.unwrap_or_default(), sheet.room());
            let (a, b) = (lines(a), lines(b));
            sheet.blocks(a, b);
        }
    }
}

fn asked_by(turn: &Turn, sheet: &Sheet<'_>) -> Line {
    header(Line::new("❯ You", Label::Prompt), turn, sheet)
}

fn header(mut line: Line, turn: &Turn, sheet: &Sheet<'_>) -> Line {
    if let Some(time) = turn.time {
        line.push(&format!("  {}", (sheet.config.time)(time)), Label::Time);
    }
    if let Some(uuid) = &turn.short_uuid {
        line.push(&format!("  {uuid}"), Label::Dim);
    }
    line
}

/// Writes the replies: as differences if their texts are similar, otherwise both completely.
fn answered(sheet: &mut Sheet<'_>, a: &[Own], b: &[Own]) {
    let (said_a, said_b) = (said(a), said(b));
    if alike(&said_a, &said_b) {
        let (a, b) = (without_words(a, sheet), without_words(b, sheet));
        sheet.blocks(a, b);
        return sheet.differences(&said_a, &said_b, Text::Prose);
    }
    let [a, b] = [a, b].map(|turns| transcript(turns.iter().map(|own| &own.turn), sheet));
    sheet.blocks(a, b);
}

/// Returns the text of all replies, without tool calls.
fn said(turns: &[Own]) -> String {
    let answers = turns.iter().filter_map(|own| match &own.turn.kind {
        TurnKind::Answer(answer) => Some(&answer.parts),
        _ => None,
    });
    let texts = answers.flatten().filter_map(|part| match part {
        Part::Text(text) => Some(text.trim()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Returns the header and everything but text: tool calls, thinking, interruptions.
fn without_words(turns: &[Own], sheet: &Sheet<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let speaks = |own: &&Own| matches!(own.turn.kind, TurnKind::Answer(_));
    let first = turns.iter().find(speaks).map(|own| &own.turn);
    if let Some(turn @ Turn { kind: TurnKind::Answer(Answer { model, .. }), .. }) = first {
        let mut line = Line::new("● Claude", Label::Active);
        if let Some(model) = model {
            line.push(&format!("  {}", model_name(model)), Label::Dim);
        }
        lines.push(header(line, turn, sheet));
    }
    let silent: Vec<Turn> = turns.iter().map(|own| silent(&own.turn)).collect();
    let rest = transcript(silent.iter(), sheet);
    // The header was written above.
    let told = usize::from(rest.first().is_some_and(|line| line.text().starts_with("● ")));
    lines.extend(rest.into_iter().skip(told));
    lines
}

fn silent(turn: &Turn) -> Turn {
    let TurnKind::Answer(answer) = &turn.kind else { return turn.clone() };
    let parts = answer.parts.iter().filter(|part| !matches!(part, Part::Text(_)));
    let (model, uses) = (answer.model.clone(), answer.uses.clone());
    let answer = Answer { model, uses, parts: parts.cloned().collect() };
    Turn { kind: TurnKind::Answer(answer), ..turn.clone() }
}

/// Returns turns as in a transcript.
fn transcript<'t>(turns: impl Iterator<Item = &'t Turn>, sheet: &Sheet<'_>) -> Vec<Line> {
    let config = TextConfig {
        width: sheet.room(),
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
    let mut transcript = Transcript::new(&config);
    let mut lines = Vec::new();
    turns.for_each(|turn| transcript.turn(turn, &mut lines));
    lines
}

fn wrapped(text: &str, width: usize) -> Vec<Line> {
    let text = sanitize(text);
    text.lines().flat_map(|line| layout::wrap(&Line::plain(line), width, 0)).collect()
}
