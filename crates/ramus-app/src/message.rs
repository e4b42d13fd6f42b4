//! Messages in one line, for plans and search hits.

use ramus_core::body::{ContentBlock, RecordBody, human_text};
use ramus_core::edit::MessageSummary;
use ramus_core::history::History;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::query::SpeakerRole;
use ramus_core::record::RecordRole;
use ramus_store::{PathError, RecordReader};

/// How many characters of a message are kept.
const PREVIEW_CHARS: usize = 160;

/// Returns the role and the first words of a message.
pub fn message_summary(
    history: &History,
    bodies: &mut RecordReader,
    message: MessageNodeId,
) -> Result<MessageSummary, PathError> {
    let head = history.session.record(history.message_tree.message(message).head);
    let mut text = String::new();
    for member in history.message_tree.records_of(message) {
        let record = history.session.record(*member);
        if record.role == RecordRole::ToolResult {
            continue;
        }
        let Ok(body) = RecordBody::parse(&bodies.read_record(record.span)?) else { continue };
        if let Some(words) = body.content_blocks().iter().find_map(block_preview) {
            text = words;
            break;
        }
    }
    let uuid = head.uuid.map(|name| history.session.uuid_text(name));
    Ok(MessageSummary {
        short_uuid: uuid.as_deref().map_or("", |uuid| history.short_uuid(uuid)).to_owned(),
        uuid,
        time: head.time,
        role: match head.role {
            RecordRole::Reply | RecordRole::Synthetic => SpeakerRole::Assistant,
            RecordRole::Prompt | RecordRole::QueuedPrompt => SpeakerRole::User,
            _ => SpeakerRole::System,
        },
        text,
        above: None,
    })
}

fn block_preview(block: &ContentBlock) -> Option<String> {
    let text = match block {
        ContentBlock::Text(text) => return first_words(&human_text(text)),
        ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => {
            let input = call.input.as_object().into_iter().flat_map(|input| input.values());
            let first = input.filter_map(|value| value.as_str()).next().unwrap_or_default();
            format!("{} {}", call.name, first_words(first).unwrap_or_default())
        }
        _ => return None,
    };
    first_words(&text)
}

/// Returns the beginning of a text on one line. It reads no further: the text may be very long.
fn first_words(text: &str) -> Option<String> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(PREVIEW_CHARS));
        if let Some((end, _)) = line.char_indices().nth(PREVIEW_CHARS) {
            line.truncate(end);
            break;
        }
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_the_beginning_on_one_line() {
        assert_eq!(first_words("  a\tb\n\nc "), Some("a b c".to_owned()));
        assert_eq!(first_words(" \n "), None);
        for text in ["é".repeat(500), "éa ".repeat(500), format!("{} b", "x".repeat(159))] {
            let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let expected: String = whole.chars().take(PREVIEW_CHARS).collect();
            assert_eq!(first_words(&text), Some(expected));
        }
    }
}
