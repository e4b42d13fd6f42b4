//! Finds the texts of a record that a reader can see, and their kinds.
//!
//! Like [`body`](crate::body), this module knows field names: keys tell text from ids, signatures and
//! image data.

use crate::cursor::{BrokenJson, JsonCursor};
use crate::envelope::Envelope;
use crate::record::{RecordKind, RecordRole};

use super::TextKind;

/// Receives a text as it is written between its quotes.
type EachText<'a, 'e> = &'e mut dyn FnMut(TextKind, &'a [u8]);

/// Passes every text of a record to `each`, with escapes.
pub(super) fn each_text<'a>(record: &'a [u8], envelope: &Envelope<'a>, each: EachText<'a, '_>) {
    let kind = envelope.record_kind();
    let text_kind = match kind {
        RecordKind::Attachment if envelope.record_role(kind) == RecordRole::Decoration => {
            TextKind::Attachment
        }
        RecordKind::ToolUse => TextKind::ToolInput,
        RecordKind::QueueOperation => TextKind::QueuedPrompt,
        RecordKind::PrLink => TextKind::PullRequest,
        RecordKind::Progress => TextKind::Progress,
        RecordKind::UnknownNode | RecordKind::Unknown | RecordKind::Journal => TextKind::Other,
        _ => TextKind::from_role(envelope.record_role(kind)),
    };
    let walked = match kind {
        RecordKind::FileHistorySnapshot
        | RecordKind::FileHistoryDelta
        | RecordKind::ContentReplacement
        | RecordKind::Internal
        | RecordKind::CostState => Ok(()),
        RecordKind::UnknownNode | RecordKind::Unknown | RecordKind::Journal => {
            walk_value(&mut JsonCursor::new(record, 0), text_kind, 0, each)
        }
        _ => walk_fields(record, text_kind, each),
    };
    // The record was walked before, so it cannot be broken here.
    debug_assert!(walked.is_ok(), "because its envelope was read");
}

fn walk_fields<'a>(
    record: &'a [u8],
    text_kind: TextKind,
    each: EachText<'a, '_>,
) -> Result<(), BrokenJson> {
    JsonCursor::new(record, 0).walk_object(|c, key| match key {
        b"message" if c.peek_byte() == Some(b'{') => c.walk_object(|c, key| match key {
            b"content" => walk_content(c, text_kind, each),
            _ => c.skip_value(),
        }),
        b"message" | b"content" => walk_content(c, text_kind, each),
        b"toolUseResult" => walk_value(c, TextKind::ToolResult, 0, each),
        b"attachment" | b"data" => walk_value(c, text_kind, 0, each),
        b"summary" => walk_value(c, TextKind::Summary, 0, each),
        b"customTitle" | b"aiTitle" | b"tag" | b"agentName" => {
            walk_value(c, TextKind::Title, 0, each)
        }
        b"lastPrompt" => walk_value(c, TextKind::LastPrompt, 0, each),
        b"input" | b"toolName" => walk_value(c, TextKind::ToolInput, 0, each),
        b"planContent" | b"userFeedback" => walk_value(c, TextKind::Prompt, 0, each),
        b"error" | b"errorDetails" => walk_value(c, TextKind::Error, 0, each),
        b"hookErrors" | b"stopReason" | b"compactMetadata" | b"url" | b"prUrl"
        | b"prRepository" | b"title" => walk_value(c, text_kind, 0, each),
        _ => c.skip_value(),
    })
}

/// Walks the content of a message: a text, or blocks.
fn walk_content<'a>(
    c: &mut JsonCursor<'a>,
    text_kind: TextKind,
    each: EachText<'a, '_>,
) -> Result<(), BrokenJson> {
    match c.peek_byte() {
        Some(b'[') => c.walk_array(|c| walk_block(c, text_kind, each)),
        Some(b'{') => walk_block(c, text_kind, each),
        _ => walk_value(c, text_kind, 0, each),
    }
}

fn walk_block<'a>(
    c: &mut JsonCursor<'a>,
    text_kind: TextKind,
    each: EachText<'a, '_>,
) -> Result<(), BrokenJson> {
    let mut kind = None;
    c.clone().walk_object(|c, key| match key {
        b"type" => {
            kind = c.read_string_or_skip()?;
            Ok(())
        }
        _ => c.skip_value(),
    })?;
    match kind {
        Some(b"thinking") => c.walk_object(|c, key| match key {
            b"thinking" => walk_value(c, TextKind::Thinking, 0, each),
            _ => c.skip_value(),
        }),
        Some(b"redacted_thinking") => c.skip_value(),
        // What a call is about comes before the name of its tool: the first of equal texts is shown.
        Some(b"tool_use" | b"server_tool_use") => {
            let mut only = |c: &mut JsonCursor<'a>, wanted: &[u8]| {
                c.walk_object(|c, key| match key == wanted {
                    true => walk_value(c, TextKind::ToolInput, 0, each),
                    false => c.skip_value(),
                })
            };
            only(&mut c.clone(), b"input")?;
            only(c, b"name")
        }
        Some(b"tool_result" | b"web_search_tool_result") => c.walk_object(|c, key| match key {
            b"content" => walk_value(c, TextKind::ToolResult, 0, each),
            _ => c.skip_value(),
        }),
        // Next to a tool result, other blocks are still text of a person or the client.
        _ if text_kind == TextKind::ToolResult => walk_value(c, TextKind::Meta, 0, each),
        _ => walk_value(c, text_kind, 0, each),
    }
}

/// The deepest level at which texts are searched.
const MAX_DEPTH: u32 = 100;

/// Walks all texts of a value except those whose keys mark them as something else.
fn walk_value<'a>(
    c: &mut JsonCursor<'a>,
    kind: TextKind,
    depth: u32,
    each: EachText<'a, '_>,
) -> Result<(), BrokenJson> {
    if depth > MAX_DEPTH {
        return c.skip_value();
    }
    match c.peek_byte() {
        Some(b'"') => {
            let text = c.read_string()?;
            each(kind, text);
            Ok(())
        }
        Some(b'[') => c.walk_array(|c| walk_value(c, kind, depth + 1, each)),
        Some(b'{') => {
            let mut data = None;
            let mut is_media = false;
            c.walk_object(|c, key| match key {
                b"type" => {
                    let name = c.read_string_or_skip()?.unwrap_or_default();
                    is_media |= matches!(name, b"base64" | b"image" | b"audio" | b"blob");
                    // Everything in a call was written by the caller.
                    if kind == TextKind::ToolInput {
                        each(kind, name);
                    }
                    Ok(())
                }
                b"media_type" | b"mimeType" | b"mime_type" => {
                    is_media = true;
                    c.skip_value()
                }
                b"data" | b"blob" if c.peek_byte() == Some(b'"') => {
                    data = Some(c.read_string()?);
                    Ok(())
                }
                key if is_no_text(key, kind) => c.skip_value(),
                _ => walk_value(c, kind, depth + 1, each),
            })?;
            if let Some(data) = data.filter(|_| !is_media) {
                each(kind, data);
            }
            Ok(())
        }
        _ => {
            let start = c.position();
            c.skip_value()?;
            let scalar = c.slice_from(start);
            if kind == TextKind::ToolInput && !matches!(scalar, b"null" | b"true" | b"false") {
                each(kind, scalar);
            }
            Ok(())
        }
    }
}

/// Whether a key names an id, a signature or data.
fn is_no_text(key: &[u8], kind: TextKind) -> bool {
    match key {
        b"base64" | b"signature" | b"encrypted_content" | b"encrypted_index" => true,
        _ if kind == TextKind::ToolInput => false,
        b"id" | b"uuid" | b"parentUuid" | b"logicalParentUuid" | b"leafUuid" | b"source_uuid"
        | b"sessionId" | b"session_id" | b"agentId" | b"messageId" | b"message_id"
        | b"requestId" | b"request_id" | b"promptId" | b"tool_use_id" | b"toolUseId"
        | b"toolUseID" | b"parentToolUseID" | b"timestamp" | b"cache_control" | b"commandMode"
        | b"hookEvent" | b"version" | b"userType" | b"role" | b"model" | b"usage" => true,
        _ => false,
    }
}
