//! What was said on each side: prompt by prompt, answer by answer.

use ramus_core::compare::{Exchange, Own, alike, pairs};
use ramus_core::turn::{Answer, Part, Turn, TurnKind};

use super::Compared;
use super::sheet::{Sheet, Text};
use crate::layout;
use crate::sanitize::sanitize;
use crate::span::{Label, Line};
use crate::text::{TextConfig, Transcript};

/// Writes all exchanges, those that ask alike beside each other.
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
    let mut line = Line::new("❯ You", Label::Prompt);
    if let Some(time) = turn.time {
        line.push(&format!("  {}", (sheet.config.time)(time)), Label::Time);
    }
    if let Some(uuid) = &turn.uuid {
        line.push(&format!("  {}", uuid.chars().take(8).collect::<String>()), Label::Dim);
    }
    line
}

/// Writes what was answered: by its differences where the words are alike, else one whole
/// beside the other.
fn answered(sheet: &mut Sheet<'_>, a: &[Own], b: &[Own]) {
    let (said_a, said_b) = (said(a), said(b));
    if alike(&said_a, &said_b) {
        let (a, b) = (transcript(a, sheet, true), transcript(b, sheet, true));
        sheet.blocks(a, b);
        return sheet.differences(&said_a, &said_b, Text::Prose);
    }
    let (a, b) = (transcript(a, sheet, false), transcript(b, sheet, false));
    sheet.blocks(a, b);
}

/// Returns all that the model said, without its tools.
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

/// Returns turns as `show` writes them; `quiet`: without the words.
fn transcript(turns: &[Own], sheet: &Sheet<'_>, quiet: bool) -> Vec<Line> {
    let config = TextConfig {
        width: sheet.room(),
        thinking: false,
        tools: false,
        full: sheet.config.full,
        branch_notes: false,
        show: "",
        cwd: sheet.config.cwd,
        time: sheet.config.time,
    };
    let mut transcript = Transcript::new(&config);
    let mut lines = Vec::new();
    for Own { turn, .. } in turns {
        match &turn.kind {
            TurnKind::Answer(answer) if quiet => {
                let silent = TurnKind::Answer(without_words(answer));
                transcript.turn(&Turn { kind: silent, ..turn.clone() }, &mut lines);
            }
            _ => transcript.turn(turn, &mut lines),
        }
    }
    lines
}

fn without_words(answer: &Answer) -> Answer {
    let parts = answer.parts.iter().filter(|part| !matches!(part, Part::Text(_)));
    Answer { model: answer.model.clone(), parts: parts.cloned().collect() }
}

fn wrapped(text: &str, width: usize) -> Vec<Line> {
    let text = sanitize(text);
    text.lines().flat_map(|line| layout::wrap(&Line::plain(line), width, 0)).collect()
}
