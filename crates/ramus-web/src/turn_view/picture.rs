//! The pictures of a turn, and which of them a browser may draw.

use ramus_core::body::{ContentBlock, Media, MediaSource};
use ramus_core::turn::{ReplyPart, ToolCall, Turn, TurnKind};

use super::Piece;

/// Returns the pictures of a turn in the order they are numbered.
pub(crate) fn turn_pictures(turn: &Turn) -> Vec<&Media> {
    match &turn.kind {
        TurnKind::Prompt(prompt) => prompt.media.iter().collect(),
        TurnKind::Reply(answer) => {
            let media = answer.parts.iter().flat_map(|part| match part {
                ReplyPart::Media(media) => vec![media],
                ReplyPart::Call(call) => call_media(call).collect(),
                _ => Vec::new(),
            });
            media.collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn call_media(call: &ToolCall) -> impl Iterator<Item = &Media> {
    let blocks = call.result.iter().flat_map(|result| &result.content);
    blocks.filter_map(|block| match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
        _ => None,
    })
}

pub(super) fn picture_piece(n: usize, media: &Media) -> Piece {
    let kind = media.media_type.as_deref().unwrap_or("attachment");
    let name = match &media.title {
        Some(title) => format!("{title} ({kind})"),
        None => kind.to_owned(),
    };
    Piece::Picture { n, name, shown: picture_type(media).is_some() }
}

/// Returns the type of a picture that a browser may draw: no documents, nothing with scripts.
pub(crate) fn picture_type(media: &Media) -> Option<&'static str> {
    if !matches!(media.source, MediaSource::Base64(_)) {
        return None;
    }
    match media.media_type.as_deref() {
        Some("image/png") => Some("image/png"),
        Some("image/jpeg") => Some("image/jpeg"),
        Some("image/gif") => Some("image/gif"),
        Some("image/webp") => Some("image/webp"),
        _ => None,
    }
}
