//! Turns with texts of many megabytes: drawn piece by piece, because a drawn text takes many times the
//! memory of the text itself.

use std::mem;
use std::ops::Range;

use ramus_core::turn::{Answer, Part, Prompt, Thought, Turn, TurnKind};

/// How long a text is drawn at once.
const PIECE: usize = 512 * 1024;

/// Cuts a turn into turns that follow each other, none with a text longer than [`PIECE`].
///
/// Only prompts and answers are cut; what else is long is shortened where it is drawn.
pub(super) fn pieces(turn: Turn) -> impl Iterator<Item = Turn> {
    let Turn { nodes, uuid, short_uuid, time, recovered, kind } = turn;
    kinds(kind).map(move |kind| Turn {
        nodes: nodes.clone(),
        uuid: uuid.clone(),
        short_uuid: short_uuid.clone(),
        time,
        recovered,
        kind,
    })
}

fn kinds(kind: TurnKind) -> Box<dyn Iterator<Item = TurnKind>> {
    match kind {
        TurnKind::Prompt(prompt) if prompt.text.len() > PIECE => {
            let Prompt { text, media, queued, delegated } = prompt;
            let last = text.len();
            Box::new(cuts(&text).into_iter().map(move |cut| {
                let media = if cut.end == last { media.clone() } else { Vec::new() };
                TurnKind::Prompt(Prompt { text: text[cut].to_owned(), media, queued, delegated })
            }))
        }
        TurnKind::Answer(Answer { model, parts, mut uses }) if parts.iter().any(is_long) => {
            let mut parts = parts.into_iter().flat_map(split).peekable();
            Box::new(std::iter::from_fn(move || {
                let part = parts.next()?;
                // What the whole used is told at its end.
                let uses = if parts.peek().is_none() { mem::take(&mut uses) } else { Vec::new() };
                let model = model.clone();
                Some(TurnKind::Answer(Answer { model, parts: vec![part], uses }))
            }))
        }
        kind => Box::new(std::iter::once(kind)),
    }
}

fn is_long(part: &Part) -> bool {
    match part {
        Part::Text(text) | Part::Thinking(Thought::Text(text)) => text.len() > PIECE,
        _ => false,
    }
}

fn split(part: Part) -> Box<dyn Iterator<Item = Part>> {
    match part {
        Part::Text(text) => {
            Box::new(cuts(&text).into_iter().map(move |cut| Part::Text(text[cut].to_owned())))
        }
        Part::Thinking(Thought::Text(text)) => Box::new(
            cuts(&text)
                .into_iter()
                .map(move |cut| Part::Thinking(Thought::Text(text[cut].to_owned()))),
        ),
        part => Box::new(std::iter::once(part)),
    }
}

/// Returns the pieces of a text: whole lines where they are not too long themselves.
fn cuts(text: &str) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut start = 0;
    while text.len() - start > PIECE {
        let most = text.floor_char_boundary(start + PIECE);
        let end = text[start..most].rfind('\n').map_or(most, |newline| start + newline + 1);
        cuts.push(start..end);
        start = end;
    }
    cuts.push(start..text.len());
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: String) -> Turn {
        let kind = TurnKind::Prompt(Prompt { text, ..Prompt::default() });
        Turn { nodes: Vec::new(), uuid: None, short_uuid: None, time: None, recovered: false, kind }
    }

    #[test]
    fn a_long_text_is_cut_and_nothing_is_lost() {
        for text in ["short".to_owned(), "line ä\n".repeat(300_000), "ä".repeat(700_000)] {
            let mut joined = String::new();
            for piece in pieces(prompt(text.clone())) {
                let TurnKind::Prompt(prompt) = piece.kind else { panic!("another kind") };
                assert!(prompt.text.len() <= PIECE);
                joined.push_str(&prompt.text);
            }
            assert!(joined == text);
        }
    }
}
