//! Turns with texts of many megabytes: drawn piece by piece, because a drawn text takes many times the
//! memory of the text itself.

use std::mem;
use std::ops::Range;

use ramus_core::turn::{PromptTurn, Reply, ReplyPart, Thought, Turn, TurnKind};

/// How long a text is drawn at once.
const MAX_PIECE_BYTES: usize = 512 * 1024;

/// Cuts a turn into turns that follow each other, none with a text longer than [`MAX_PIECE_BYTES`].
///
/// Only prompts and answers are cut; what else is long is shortened where it is drawn.
pub(super) fn split_turn(turn: Turn) -> impl Iterator<Item = Turn> {
    let Turn { nodes, uuid, short_uuid, time, recovered, kind } = turn;
    split_kind(kind).map(move |kind| Turn {
        nodes: nodes.clone(),
        uuid: uuid.clone(),
        short_uuid: short_uuid.clone(),
        time,
        recovered,
        kind,
    })
}

fn split_kind(kind: TurnKind) -> Box<dyn Iterator<Item = TurnKind>> {
    match kind {
        TurnKind::Prompt(prompt) if prompt.text.len() > MAX_PIECE_BYTES => {
            let PromptTurn { text, media, queued, delegated } = prompt;
            let last = text.len();
            Box::new(text_cuts(&text).into_iter().map(move |cut| {
                let media = if cut.end == last { media.clone() } else { Vec::new() };
                TurnKind::Prompt(PromptTurn {
                    text: text[cut].to_owned(),
                    media,
                    queued,
                    delegated,
                })
            }))
        }
        TurnKind::Reply(Reply { model, parts, requests: mut uses })
            if parts.iter().any(is_long) =>
        {
            let mut parts = parts.into_iter().flat_map(split_part).peekable();
            Box::new(std::iter::from_fn(move || {
                let part = parts.next()?;
                // The usage of the whole turn is printed at its end.
                let uses = if parts.peek().is_none() { mem::take(&mut uses) } else { Vec::new() };
                let model = model.clone();
                Some(TurnKind::Reply(Reply { model, parts: vec![part], requests: uses }))
            }))
        }
        kind => Box::new(std::iter::once(kind)),
    }
}

fn is_long(part: &ReplyPart) -> bool {
    match part {
        ReplyPart::Text(text) | ReplyPart::Thinking(Thought::Text(text)) => {
            text.len() > MAX_PIECE_BYTES
        }
        _ => false,
    }
}

fn split_part(part: ReplyPart) -> Box<dyn Iterator<Item = ReplyPart>> {
    match part {
        ReplyPart::Text(text) => Box::new(
            text_cuts(&text).into_iter().map(move |cut| ReplyPart::Text(text[cut].to_owned())),
        ),
        ReplyPart::Thinking(Thought::Text(text)) => Box::new(
            text_cuts(&text)
                .into_iter()
                .map(move |cut| ReplyPart::Thinking(Thought::Text(text[cut].to_owned()))),
        ),
        part => Box::new(std::iter::once(part)),
    }
}

/// Returns the pieces of a text: whole lines where they are not too long themselves.
fn text_cuts(text: &str) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let mut start = 0;
    while text.len() - start > MAX_PIECE_BYTES {
        let most = text.floor_char_boundary(start + MAX_PIECE_BYTES);
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

    fn prompt_turn(text: String) -> Turn {
        let kind = TurnKind::Prompt(PromptTurn { text, ..PromptTurn::default() });
        Turn { nodes: Vec::new(), uuid: None, short_uuid: None, time: None, recovered: false, kind }
    }

    #[test]
    fn a_long_text_is_cut_and_nothing_is_lost() {
        for text in ["short".to_owned(), "line ä\n".repeat(300_000), "ä".repeat(700_000)] {
            let mut joined = String::new();
            for piece in split_turn(prompt_turn(text.clone())) {
                let TurnKind::Prompt(prompt) = piece.kind else { panic!("another kind") };
                assert!(prompt.text.len() <= MAX_PIECE_BYTES);
                joined.push_str(&prompt.text);
            }
            assert!(joined == text);
        }
    }
}
