//! Scans one line once for every field that the tree needs.

use crate::cursor::{BrokenJson, JsonCursor};
use crate::ids::fingerprint;
use crate::record::{RecordKind, RecordRole};

/// What one walk over a line finds. Strings are raw: escapes are not resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The size of the object in bytes; the rest of the line is something else.
    pub(crate) len: usize,
    pub(crate) type_name: Option<&'a [u8]>,
    pub(crate) uuid: Option<&'a [u8]>,
    pub(crate) parent: Option<&'a [u8]>,
    pub(crate) has_parent_key: bool,
    pub(crate) logical_parent: Option<&'a [u8]>,
    pub(crate) timestamp: Option<&'a [u8]>,
    pub(crate) sidechain: bool,
    pub(crate) meta: bool,
    pub(crate) compact_summary: bool,
    pub(crate) api_error: bool,
    pub(crate) subtype: Option<&'a [u8]>,
    pub(crate) session_id: Option<&'a [u8]>,
    pub(crate) version: Option<&'a [u8]>,
    pub(crate) cwd: Option<&'a [u8]>,
    pub(crate) git_branch: Option<&'a [u8]>,
    pub(crate) agent_id: Option<&'a [u8]>,
    pub(crate) source_uuid: Option<&'a [u8]>,
    pub(crate) forked_from: Option<CopyOrigin<'a>>,
    /// The session and record that a merge copied; a summary of several records names several.
    pub(crate) merged_from: Vec<CopyOrigin<'a>>,
    pub(crate) origin: Option<&'a [u8]>,
    pub(crate) message_id: Option<&'a [u8]>,
    pub(crate) model: Option<&'a [u8]>,
    pub(crate) request_id: Option<&'a [u8]>,
    /// The raw `usage` object of a reply.
    pub(crate) usage: Option<&'a [u8]>,
    /// The raw `costUSD`; only the oldest clients wrote it.
    pub(crate) cost: Option<&'a [u8]>,
    /// The first text that is not wrapped context, else the first text.
    pub(crate) text: Option<&'a [u8]>,
    pub(crate) has_tool_result: bool,
    pub(crate) has_other_block: bool,
    /// Thinking blocks, and those whose text is withheld (R17).
    pub(crate) thinking: u32,
    pub(crate) withheld: u32,
    /// Thinking blocks without a signature, which the API rejects.
    pub(crate) unsigned: u32,
    /// Ids of the tool calls made or answered.
    pub(crate) tool_ids: Vec<&'a [u8]>,
    /// The names of the tools called, parallel to `tool_ids`.
    pub(crate) tool_names: Vec<&'a [u8]>,
    /// Which of the first 64 results are of calls that failed.
    pub(crate) failed_tools: u64,
    /// Calls that start a sub-agent: the id and the raw prompt.
    pub(crate) spawns: Vec<(&'a [u8], Option<&'a [u8]>)>,
    /// `toolUseResult.agentId`.
    pub(crate) result_agent: Option<&'a [u8]>,
    /// `summary`, `customTitle`, `aiTitle`, `lastPrompt`.
    pub(crate) note_text: Option<&'a [u8]>,
    pub(crate) leaf: LeafField<'a>,
    pub(crate) explicit: bool,
    /// `prNumber` (unread), `prUrl` and `prRepository`.
    pub(crate) pr_number: Option<&'a [u8]>,
    pub(crate) pr_url: Option<&'a [u8]>,
    pub(crate) pr_repository: Option<&'a [u8]>,
    pub(crate) attachment: Option<&'a [u8]>,
    pub(crate) command_mode: Option<&'a [u8]>,
    pub(crate) content_hash: u64,
    /// Fingerprints of the blocks of a message that has no id: what a person sent.
    pub(crate) part_hashes: Vec<u64>,
    /// The records that a compaction preserves; `None`: all of them.
    pub(crate) preserved: Option<Vec<&'a [u8]>>,
}

/// `leafUuid` of a summary or a last-prompt record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LeafField<'a> {
    #[default]
    Absent,
    Null,
    Named(&'a [u8]),
}

/// Walks the object at the start of `bytes`.
pub(crate) fn scan_envelope(bytes: &[u8]) -> Result<Envelope<'_>, BrokenJson> {
    let mut found = Envelope::default();
    let mut cursor = JsonCursor::new(bytes, 0);
    if cursor.peek_byte() != Some(b'{') {
        // A number, a string or an array is valid JSON too, although not a known record.
        cursor.skip_value()?;
        found.len = cursor.position();
        return Ok(found);
    }
    let mut content = None;
    cursor.walk_object(|c, key| {
        match key {
            b"type" => found.type_name = c.read_string_or_skip()?,
            b"uuid" => found.uuid = c.read_string_or_skip()?,
            b"parentUuid" => {
                found.has_parent_key = true;
                found.parent = c.read_string_or_skip()?;
            }
            b"logicalParentUuid" => found.logical_parent = c.read_string_or_skip()?,
            b"timestamp" => found.timestamp = c.read_string_or_skip()?,
            b"isSidechain" => found.sidechain = c.read_flag()?,
            b"isMeta" => found.meta = c.read_flag()?,
            b"isCompactSummary" => found.compact_summary = c.read_flag()?,
            b"isApiErrorMessage" => found.api_error = c.read_flag()?,
            b"subtype" => found.subtype = c.read_string_or_skip()?,
            b"sessionId" => found.session_id = c.read_string_or_skip()?,
            b"version" => found.version = c.read_string_or_skip()?,
            b"cwd" => found.cwd = c.read_string_or_skip()?,
            b"gitBranch" => found.git_branch = c.read_string_or_skip()?,
            b"agentId" => found.agent_id = c.read_string_or_skip()?,
            b"sourceToolAssistantUUID" => found.source_uuid = c.read_string_or_skip()?,
            b"forkedFrom" => found.forked_from = scan_origin(c)?,
            b"mergedFrom" => match c.peek_byte() {
                Some(b'[') => c.walk_array(|c| {
                    found.merged_from.extend(scan_origin(c)?);
                    Ok(())
                })?,
                _ => found.merged_from.extend(scan_origin(c)?),
            },
            b"origin" => found.origin = string_member(c, b"kind")?,
            b"message" => {
                c.peek_byte();
                let start = c.position();
                scan_message(c, &mut found)?;
                content = Some(c.slice_from(start));
            }
            b"requestId" => found.request_id = c.read_string_or_skip()?,
            // The oldest records have these next to the message.
            b"usage" => found.usage = Some(raw_value(c)?),
            b"costUSD" | b"costUsd" => found.cost = Some(raw_value(c)?),
            b"model" if found.model.is_none() => found.model = c.read_string_or_skip()?,
            b"compactMetadata" => found.preserved = scan_preserved(c)?,
            b"toolUseResult" => found.result_agent = string_member(c, b"agentId")?,
            b"attachment" => scan_attachment(c, &mut found)?,
            b"content" => {
                // `system` records carry their text here.
                if let Some(text) = c.read_string_or_skip()? {
                    found.text.get_or_insert(text);
                }
            }
            b"summary" | b"customTitle" | b"aiTitle" | b"lastPrompt" => {
                found.note_text = c.read_string_or_skip()?;
            }
            b"leafUuid" => {
                found.leaf = c.read_string_or_skip()?.map_or(LeafField::Null, LeafField::Named);
            }
            b"explicit" => found.explicit = c.read_flag()?,
            b"prNumber" => found.pr_number = Some(raw_value(c)?),
            b"prUrl" => found.pr_url = c.read_string_or_skip()?,
            b"prRepository" => found.pr_repository = c.read_string_or_skip()?,
            _ => c.skip_value()?,
        }
        Ok(())
    })?;
    found.len = cursor.position();
    found.content_hash = match found.part_hashes[..] {
        // The client writes one text as a string or as a list of one block, and changes its mind
        // when it writes a turn again: both are the same content.
        [only] if !found.has_tool_result => only,
        _ => fingerprint(content.unwrap_or(&bytes[..found.len])),
    };
    Ok(found)
}

impl<'a> Envelope<'a> {
    /// Returns the record that this one follows: `parentUuid`, or, for a compaction, which has none,
    /// `logicalParentUuid` (the compaction rule, R7).
    pub(crate) fn parent_or_logical_parent(&self) -> Option<&'a [u8]> {
        self.parent.or(self.logical_parent)
    }

    pub(crate) fn record_kind(&self) -> RecordKind {
        let kind = self.type_name.map_or(RecordKind::Unknown, RecordKind::from_type);
        match kind {
            RecordKind::Unknown if self.uuid.is_some() && self.has_parent_key => {
                RecordKind::UnknownNode
            }
            _ => kind,
        }
    }

    pub(crate) fn record_role(&self, kind: RecordKind) -> RecordRole {
        match kind {
            RecordKind::User => self.user_role(),
            RecordKind::Assistant if self.api_error || self.model == Some(b"<synthetic>") => {
                RecordRole::Synthetic
            }
            RecordKind::Assistant | RecordKind::ToolUse => RecordRole::Reply,
            RecordKind::ToolResult => RecordRole::ToolResult,
            RecordKind::System if self.subtype == Some(b"compact_boundary") => {
                RecordRole::CompactBoundary
            }
            RecordKind::System if self.subtype == Some(b"local_command") => {
                match self.text.map(role_of_text) {
                    Some(RecordRole::CommandOutput) => RecordRole::CommandOutput,
                    _ => RecordRole::Command,
                }
            }
            RecordKind::Attachment if self.attachment == Some(b"queued_command") => {
                match self.command_mode {
                    Some(b"task-notification") => RecordRole::Notification,
                    _ => RecordRole::QueuedPrompt,
                }
            }
            _ => RecordRole::Decoration,
        }
    }

    fn user_role(&self) -> RecordRole {
        if self.compact_summary {
            return RecordRole::CompactSummary;
        }
        if self.has_tool_result {
            return RecordRole::ToolResult;
        }
        if self.meta {
            return RecordRole::Meta;
        }
        if matches!(self.origin, Some(b"task-notification" | b"peer" | b"coordinator")) {
            return RecordRole::Notification;
        }
        match self.text {
            Some(text) => role_of_text(text),
            None if self.has_other_block => RecordRole::Prompt,
            None => RecordRole::Meta,
        }
    }
}

/// Beginnings of text that was not typed by a person.
const WRAPPERS: &[(&[u8], RecordRole)] = &[
    (b"<command-name>", RecordRole::Command),
    (b"<command-message>", RecordRole::Command),
    (b"<command-args>", RecordRole::Command),
    (b"<bash-input>", RecordRole::Command),
    (b"<user-memory-input>", RecordRole::Command),
    (b"<local-command-stdout>", RecordRole::CommandOutput),
    (b"<local-command-stderr>", RecordRole::CommandOutput),
    (b"<bash-stdout>", RecordRole::CommandOutput),
    (b"<bash-stderr>", RecordRole::CommandOutput),
    (b"<local-command-caveat>", RecordRole::Meta),
    (
        b"Caveat: The messages below were generated by the user while running local commands.",
        RecordRole::Meta,
    ),
    (b"<user-prompt-submit-hook>", RecordRole::Meta),
    (b"<session-start-hook>", RecordRole::Meta),
    (b"<tick>", RecordRole::Meta),
    (b"<goal>", RecordRole::Meta),
    (b"<system-reminder>", RecordRole::Meta),
    (b"<ide_", RecordRole::Meta),
    (b"[Request interrupted by user", RecordRole::Interrupt),
    // Copies of a session lose the mark of a summary, and the first clients did not set it.
    (
        b"This session is being continued from a previous conversation that ran out of context.",
        RecordRole::CompactSummary,
    ),
    (b"<task-notification>", RecordRole::Notification),
    (b"<teammate-message", RecordRole::Notification),
    (b"<agent-message", RecordRole::Notification),
];

/// The text of a record that means the empty output of a command.
pub(crate) const NO_CONTENT: &[u8] = b"(no content)";

/// Determines the role of a raw text by its beginning.
fn role_of_text(text: &[u8]) -> RecordRole {
    let mut text = trim_escaped_start(text);
    // Clients up to 1.0 wrote this for a command that printed nothing.
    if text == NO_CONTENT {
        return RecordRole::CommandOutput;
    }
    loop {
        if !matches!(text.first(), Some(b'<' | b'[' | b'C' | b'T')) {
            return if text.is_empty() { RecordRole::Meta } else { RecordRole::Prompt };
        }
        match WRAPPERS.iter().find(|(opening, _)| text.starts_with(opening)) {
            // A reminder or an open file may come before what the person typed.
            Some((_, RecordRole::Meta)) => match text_after_wrapper(text) {
                Some(rest) if !rest.is_empty() => text = rest,
                _ => return RecordRole::Meta,
            },
            Some((_, role)) => return *role,
            None => return RecordRole::Prompt,
        }
    }
}

/// Returns the text after the element that a text begins with.
fn text_after_wrapper(text: &[u8]) -> Option<&[u8]> {
    let name_end =
        text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"<-_".contains(byte)))?;
    let name = text.get(1..name_end).filter(|_| text[0] == b'<')?;
    let closing = [b"</", name, b">"].concat();
    let end = memchr::memmem::find(text, &closing)? + closing.len();
    Some(trim_escaped_start(&text[end..]))
}

/// Drops white space, also in its escaped forms.
fn trim_escaped_start(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        match text {
            [b'\\', b'n' | b'r' | b't', rest @ ..] => text = rest,
            _ => return text,
        }
    }
}

fn scan_message<'a>(c: &mut JsonCursor<'a>, found: &mut Envelope<'a>) -> Result<(), BrokenJson> {
    c.walk_object(|c, key| {
        match key {
            b"id" => found.message_id = c.read_string_or_skip()?,
            b"model" => found.model = c.read_string_or_skip()?,
            b"usage" => found.usage = Some(raw_value(c)?),
            b"content" => match c.peek_byte() {
                Some(b'"') => {
                    let text = c.read_string()?;
                    found.text = Some(text);
                    add_part_hash(found, text);
                }
                Some(b'[') => c.walk_array(|c| scan_block(c, found))?,
                _ => c.skip_value()?,
            },
            _ => c.skip_value()?,
        }
        Ok(())
    })
}

/// Adds the fingerprint of a block, if the message has no id; ids come before the content.
fn add_part_hash(found: &mut Envelope<'_>, bytes: &[u8]) {
    if found.message_id.is_none() {
        found.part_hashes.push(fingerprint(bytes));
    }
}

#[derive(Default)]
struct BlockFields<'a> {
    kind: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    tool_use_id: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
    thinking: Option<&'a [u8]>,
    signature: Option<&'a [u8]>,
    prompt: Option<&'a [u8]>,
    failed: bool,
}

fn scan_block<'a>(c: &mut JsonCursor<'a>, found: &mut Envelope<'a>) -> Result<(), BrokenJson> {
    let mut block = BlockFields::default();
    c.peek_byte();
    let start = c.position();
    c.walk_object(|c, key| {
        match key {
            b"type" => block.kind = c.read_string_or_skip()?,
            b"id" => block.id = c.read_string_or_skip()?,
            b"name" => block.name = c.read_string_or_skip()?,
            b"tool_use_id" => block.tool_use_id = c.read_string_or_skip()?,
            b"text" => block.text = c.read_string_or_skip()?,
            b"thinking" => block.thinking = c.read_string_or_skip()?,
            b"signature" => block.signature = c.read_string_or_skip()?,
            b"is_error" => block.failed = c.read_flag()?,
            b"input" if matches!(block.name, Some(b"Task" | b"Agent")) => {
                block.prompt = string_member(c, b"prompt")?;
            }
            _ => c.skip_value()?,
        }
        Ok(())
    })?;
    match block.kind {
        Some(b"text") => {
            add_part_hash(found, block.text.unwrap_or_default());
            note_text(found, block.text);
        }
        Some(b"thinking") => {
            found.thinking += 1;
            found.withheld += u32::from(block.thinking.is_some_and(<[u8]>::is_empty));
            found.unsigned += u32::from(block.signature.is_none_or(<[u8]>::is_empty));
        }
        Some(b"tool_use") => {
            if let Some(id) = block.id {
                found.tool_ids.push(id);
                found.tool_names.push(block.name.unwrap_or_default());
                if matches!(block.name, Some(b"Task" | b"Agent")) {
                    found.spawns.push((id, block.prompt));
                }
            }
        }
        Some(b"tool_result") => {
            found.has_tool_result = true;
            if block.failed && found.tool_ids.len() < 64 {
                found.failed_tools |= 1 << found.tool_ids.len();
            }
            found.tool_ids.extend(block.tool_use_id);
        }
        _ => {
            add_part_hash(found, c.slice_from(start));
            found.has_other_block = true;
        }
    }
    Ok(())
}

/// Keeps the first text that a person typed, else the first text.
fn note_text<'a>(found: &mut Envelope<'a>, text: Option<&'a [u8]>) {
    let Some(text) = text else { return };
    match found.text {
        Some(kept)
            if role_of_text(kept) != RecordRole::Meta || role_of_text(text) == RecordRole::Meta => {
        }
        _ => found.text = Some(text),
    }
}

fn scan_attachment<'a>(c: &mut JsonCursor<'a>, found: &mut Envelope<'a>) -> Result<(), BrokenJson> {
    c.walk_object(|c, key| {
        match key {
            b"type" => found.attachment = c.read_string_or_skip()?,
            b"commandMode" => found.command_mode = c.read_string_or_skip()?,
            b"prompt" => match c.peek_byte() {
                Some(b'"') => found.text = Some(c.read_string()?),
                Some(b'[') => c.walk_array(|c| {
                    let text = string_member(c, b"text")?;
                    note_text(found, text);
                    Ok(())
                })?,
                _ => c.skip_value()?,
            },
            _ => c.skip_value()?,
        }
        Ok(())
    })
}

/// Reads `preservedSegment` and `preservedMessages` of a compaction.
fn scan_preserved<'a>(c: &mut JsonCursor<'a>) -> Result<Option<Vec<&'a [u8]>>, BrokenJson> {
    let mut kept: Option<Vec<&[u8]>> = None;
    c.walk_object(|c, key| match key {
        b"preservedSegment" | b"preservedMessages" if c.peek_byte() == Some(b'{') => {
            let kept = kept.get_or_insert_default();
            c.walk_object(|c, _| match c.peek_byte() {
                Some(b'[') => c.walk_array(|c| {
                    kept.extend(c.read_string_or_skip()?);
                    Ok(())
                }),
                _ => {
                    kept.extend(c.read_string_or_skip()?);
                    Ok(())
                }
            })
        }
        _ => c.skip_value(),
    })?;
    Ok(kept)
}

/// The session and message a record was copied from.
pub(crate) type CopyOrigin<'a> = (&'a [u8], &'a [u8]);

fn scan_origin<'a>(c: &mut JsonCursor<'a>) -> Result<Option<CopyOrigin<'a>>, BrokenJson> {
    // The earliest documents know it as a plain session id.
    if c.peek_byte() == Some(b'"') {
        return Ok(Some((c.read_string()?, b"")));
    }
    let (mut session, mut message) = (None, None);
    c.walk_object(|c, key| {
        match key {
            b"sessionId" => session = c.read_string_or_skip()?,
            b"messageUuid" => message = c.read_string_or_skip()?,
            _ => c.skip_value()?,
        }
        Ok(())
    })?;
    let is_known = session.is_some() || message.is_some();
    Ok(is_known.then(|| (session.unwrap_or_default(), message.unwrap_or_default())))
}

/// Returns the value at the cursor as it is written.
fn raw_value<'a>(c: &mut JsonCursor<'a>) -> Result<&'a [u8], BrokenJson> {
    c.peek_byte();
    let start = c.position();
    c.skip_value()?;
    Ok(c.slice_from(start))
}

/// Returns the string member `wanted` of the object at the cursor.
fn string_member<'a>(
    c: &mut JsonCursor<'a>,
    wanted: &[u8],
) -> Result<Option<&'a [u8]>, BrokenJson> {
    let mut value = None;
    c.walk_object(|c, key| {
        if key == wanted {
            value = c.read_string_or_skip()?;
            Ok(())
        } else {
            c.skip_value()
        }
    })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::{RecordRole, role_of_text};

    #[test]
    fn words_behind_a_wrapper_are_a_persons() {
        for (text, role) in [
            ("hello", RecordRole::Prompt),
            ("<system-reminder>x</system-reminder>", RecordRole::Meta),
            (
                r"<system-reminder>x</system-reminder>\nExplain this: <b>bold</b>",
                RecordRole::Prompt,
            ),
            (
                "<ide_opened_file>a</ide_opened_file><ide_selection>b</ide_selection>",
                RecordRole::Meta,
            ),
            ("<ide_opened_file>a</ide_opened_file> fix it", RecordRole::Prompt),
            ("<goal>ship it</goal> and tests", RecordRole::Prompt),
            ("<system-reminder>never closed", RecordRole::Meta),
            ("<command-name>/cost</command-name>", RecordRole::Command),
            ("<div>what is this?</div>", RecordRole::Prompt),
            ("[Request interrupted by user for tool use]", RecordRole::Interrupt),
            ("(no content)", RecordRole::CommandOutput),
            ("(no content) is what I see", RecordRole::Prompt),
            (
                "This session is being continued from a previous conversation that ran out of context.",
                RecordRole::CompactSummary,
            ),
            ("This session is slow", RecordRole::Prompt),
            ("", RecordRole::Meta),
        ] {
            assert_eq!(role_of_text(text.as_bytes()), role, "{text}");
        }
    }
}
