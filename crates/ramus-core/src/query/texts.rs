//! Finds the texts of a record that a reader can see, and their kinds.
//!
//! Like [`body`](crate::body), this module knows field names: keys tell text from ids, signatures and
//! image data.

use crate::cursor::{Broken, Cursor};
use crate::envelope::Envelope;
use crate::record::{Kind, Voice};

use super::TextKind;

/// Receives a text as it is written between its quotes.
type Each<'a, 'e> = &'e mut dyn FnMut(TextKind, &'a [u8]);

/// Passes every text of a record to `each`, with escapes.
pub(super) fn texts<'a>(record: &'a [u8], envelope: &Envelope<'a>, each: Each<'a, '_>) {
    let kind = envelope.kind();
    let said = match kind {
        Kind::Attachment if envelope.voice(kind) == Voice::Decoration => TextKind::Attachment,
        Kind::ToolUse => TextKind::ToolInput,
        Kind::QueueOperation => TextKind::Queued,
        Kind::PrLink => TextKind::PullRequest,
        Kind::Progress => TextKind::Progress,
        Kind::UnknownNode | Kind::Unknown | Kind::Journal => TextKind::Other,
        _ => TextKind::of_voice(envelope.voice(kind)),
    };
    let walked = match kind {
        Kind::FileHistorySnapshot
        | Kind::FileHistoryDelta
        | Kind::ContentReplacement
        | Kind::Internal
        | Kind::CostState => Ok(()),
        Kind::UnknownNode | Kind::Unknown | Kind::Journal => {
            deep(&mut Cursor::new(record, 0), said, 0, each)
        }
        _ => fields(record, said, each),
    };
    // The record was walked before, so it cannot be broken here.
    debug_assert!(walked.is_ok(), "because its envelope was read");
}

fn fields<'a>(record: &'a [u8], said: TextKind, each: Each<'a, '_>) -> Result<(), Broken> {
    Cursor::new(record, 0).object(|c, key| match key {
        b"message" if c.peek() == Some(b'{') => c.object(|c, key| match key {
            b"content" => content(c, said, each),
            _ => c.skip(),
        }),
        b"message" | b"content" => content(c, said, each),
        b"toolUseResult" => deep(c, TextKind::ToolResult, 0, each),
        b"attachment" | b"data" => deep(c, said, 0, each),
        b"summary" => deep(c, TextKind::Summary, 0, each),
        b"customTitle" | b"aiTitle" | b"tag" | b"agentName" => deep(c, TextKind::Title, 0, each),
        b"lastPrompt" => deep(c, TextKind::LastPrompt, 0, each),
        b"input" | b"toolName" => deep(c, TextKind::ToolInput, 0, each),
        b"planContent" | b"userFeedback" => deep(c, TextKind::Prompt, 0, each),
        b"error" | b"errorDetails" => deep(c, TextKind::Error, 0, each),
        b"hookErrors" | b"stopReason" | b"compactMetadata" | b"url" | b"prUrl"
        | b"prRepository" | b"title" => deep(c, said, 0, each),
        _ => c.skip(),
    })
}

/// Walks the content of a message: a text, or blocks.
fn content<'a>(c: &mut Cursor<'a>, said: TextKind, each: Each<'a, '_>) -> Result<(), Broken> {
    match c.peek() {
        Some(b'[') => c.array(|c| block(c, said, each)),
        Some(b'{') => block(c, said, each),
        _ => deep(c, said, 0, each),
    }
}

fn block<'a>(c: &mut Cursor<'a>, said: TextKind, each: Each<'a, '_>) -> Result<(), Broken> {
    let mut kind = None;
    c.clone().object(|c, key| match key {
        b"type" => {
            kind = c.string_or_skip()?;
            Ok(())
        }
        _ => c.skip(),
    })?;
    match kind {
        Some(b"thinking") => c.object(|c, key| match key {
            b"thinking" => deep(c, TextKind::Thinking, 0, each),
            _ => c.skip(),
        }),
        Some(b"redacted_thinking") => c.skip(),
        Some(b"tool_use" | b"server_tool_use") => c.object(|c, key| match key {
            b"name" | b"input" => deep(c, TextKind::ToolInput, 0, each),
            _ => c.skip(),
        }),
        Some(b"tool_result" | b"web_search_tool_result") => c.object(|c, key| match key {
            b"content" => deep(c, TextKind::ToolResult, 0, each),
            _ => c.skip(),
        }),
        // Next to a tool result, other blocks are still text of a person or the client.
        _ if said == TextKind::ToolResult => deep(c, TextKind::Meta, 0, each),
        _ => deep(c, said, 0, each),
    }
}

/// The deepest level at which texts are searched.
const DEEPEST: u32 = 100;

/// Walks all texts of a value except those whose keys mark them as something else.
fn deep<'a>(
    c: &mut Cursor<'a>,
    kind: TextKind,
    depth: u32,
    each: Each<'a, '_>,
) -> Result<(), Broken> {
    if depth > DEEPEST {
        return c.skip();
    }
    match c.peek() {
        Some(b'"') => {
            let text = c.string()?;
            each(kind, text);
            Ok(())
        }
        Some(b'[') => c.array(|c| deep(c, kind, depth + 1, each)),
        Some(b'{') => {
            let mut data = None;
            let mut is_media = false;
            c.object(|c, key| match key {
                b"type" => {
                    let name = c.string_or_skip()?.unwrap_or_default();
                    is_media |= matches!(name, b"base64" | b"image" | b"audio" | b"blob");
                    // Everything in a call was written by the caller.
                    if kind == TextKind::ToolInput {
                        each(kind, name);
                    }
                    Ok(())
                }
                b"media_type" | b"mimeType" | b"mime_type" => {
                    is_media = true;
                    c.skip()
                }
                b"data" | b"blob" if c.peek() == Some(b'"') => {
                    data = Some(c.string()?);
                    Ok(())
                }
                key if is_no_text(key, kind) => c.skip(),
                _ => deep(c, kind, depth + 1, each),
            })?;
            if let Some(data) = data.filter(|_| !is_media) {
                each(kind, data);
            }
            Ok(())
        }
        _ => {
            let start = c.pos();
            c.skip()?;
            let scalar = c.since(start);
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
