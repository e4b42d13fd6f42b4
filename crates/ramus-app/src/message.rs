//! Messages in one line, for plans and search hits.

use ramus_core::body::{Block, Body, human_text};
use ramus_core::edit::MessageSummary;
use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::query::Role;
use ramus_core::record::Voice;
use ramus_store::{Bodies, PathError};

/// How many characters of a message are kept.
const WORDS: usize = 160;

/// Returns who speaks in a message, and the first words.
pub fn message_summary(
    history: &History,
    bodies: &mut Bodies,
    fold: FoldId,
) -> Result<MessageSummary, PathError> {
    let head = history.session.record(history.folds.fold(fold).head);
    let mut text = String::new();
    for member in history.folds.members(fold) {
        let record = history.session.record(*member);
        if record.voice == Voice::ToolResult {
            continue;
        }
        let Ok(body) = Body::parse(&bodies.bytes(record.span)?) else { continue };
        if let Some(words) = body.blocks().iter().find_map(first_words) {
            text = words;
            break;
        }
    }
    let uuid = head.name.map(|name| history.session.spell(name));
    Ok(MessageSummary {
        short_uuid: uuid.as_deref().map_or("", |uuid| history.short_uuid(uuid)).to_owned(),
        uuid,
        time: head.time,
        role: match head.voice {
            Voice::Answer | Voice::Synthetic => Role::Assistant,
            Voice::Prompt | Voice::Queued => Role::User,
            _ => Role::System,
        },
        text,
        above: None,
    })
}

fn first_words(block: &Block) -> Option<String> {
    let text = match block {
        Block::Text(text) => human_text(text).to_string(),
        Block::ToolUse(call) | Block::ServerToolUse(call) => {
            let input = call.input.as_object().into_iter().flat_map(|input| input.values());
            let first = input.filter_map(|value| value.as_str()).next().unwrap_or_default();
            format!("{} {first}", call.name)
        }
        _ => return None,
    };
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(WORDS) {
        line.truncate(end);
    }
    (!line.is_empty()).then_some(line)
}
