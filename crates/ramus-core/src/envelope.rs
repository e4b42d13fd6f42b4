//! Scans one line once for every field that the tree needs.

use crate::cursor::{Broken, Cursor};
use crate::name::fingerprint;
use crate::record::{Kind, Voice};

/// What one walk over a line finds. Strings are raw: escapes are not resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The size of the object in bytes; the rest of the line is something else.
    pub(crate) len: usize,
    pub(crate) kind_name: Option<&'a [u8]>,
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
    pub(crate) source: Option<&'a [u8]>,
    pub(crate) forked_from: Option<Origin<'a>>,
    /// The session and record that a merge copied; a summary of several records names several.
    pub(crate) merged_from: Vec<Origin<'a>>,
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
    pub(crate) note: Option<&'a [u8]>,
    pub(crate) leaf: Leaf<'a>,
    pub(crate) explicit: bool,
    /// `prNumber` (unread), `prUrl` and `prRepository`.
    pub(crate) pr_number: Option<&'a [u8]>,
    pub(crate) pr_url: Option<&'a [u8]>,
    pub(crate) pr_repository: Option<&'a [u8]>,
    pub(crate) attachment: Option<&'a [u8]>,
    pub(crate) command_mode: Option<&'a [u8]>,
    pub(crate) content: u64,
    /// Fingerprints of the blocks of a message that has no id: what a person sent.
    pub(crate) parts: Vec<u64>,
    /// The records that a compaction preserves; `None`: all of them.
    pub(crate) preserved: Option<Vec<&'a [u8]>>,
}

/// `leafUuid` of a summary or a last-prompt record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Leaf<'a> {
    #[default]
    Absent,
    Null,
    Named(&'a [u8]),
}

/// Walks the object at the start of `bytes`.
pub(crate) fn scan(bytes: &[u8]) -> Result<Envelope<'_>, Broken> {
    let mut found = Envelope::default();
    let mut cursor = Cursor::new(bytes, 0);
    if cursor.peek() != Some(b'{') {
        // A number, a string or an array is valid JSON too, although not a known record.
        cursor.skip()?;
        found.len = cursor.pos();
        return Ok(found);
    }
    let mut content = None;
    cursor.object(|c, key| {
        match key {
            b"type" => found.kind_name = c.string_or_skip()?,
            b"uuid" => found.uuid = c.string_or_skip()?,
            b"parentUuid" => {
                found.has_parent_key = true;
                found.parent = c.string_or_skip()?;
            }
            b"logicalParentUuid" => found.logical_parent = c.string_or_skip()?,
            b"timestamp" => found.timestamp = c.string_or_skip()?,
            b"isSidechain" => found.sidechain = c.is_true()?,
            b"isMeta" => found.meta = c.is_true()?,
            b"isCompactSummary" => found.compact_summary = c.is_true()?,
            b"isApiErrorMessage" => found.api_error = c.is_true()?,
            b"subtype" => found.subtype = c.string_or_skip()?,
            b"sessionId" => found.session_id = c.string_or_skip()?,
            b"version" => found.version = c.string_or_skip()?,
            b"cwd" => found.cwd = c.string_or_skip()?,
            b"gitBranch" => found.git_branch = c.string_or_skip()?,
            b"agentId" => found.agent_id = c.string_or_skip()?,
            b"sourceToolAssistantUUID" => found.source = c.string_or_skip()?,
            b"forkedFrom" => found.forked_from = origin(c)?,
            b"mergedFrom" => match c.peek() {
                Some(b'[') => c.array(|c| {
                    found.merged_from.extend(origin(c)?);
                    Ok(())
                })?,
                _ => found.merged_from.extend(origin(c)?),
            },
            b"origin" => found.origin = member(c, b"kind")?,
            b"message" => {
                c.peek();
                let start = c.pos();
                message(c, &mut found)?;
                content = Some(c.since(start));
            }
            b"requestId" => found.request_id = c.string_or_skip()?,
            // The oldest records have these next to the message.
            b"usage" => found.usage = Some(raw(c)?),
            b"costUSD" | b"costUsd" => found.cost = Some(raw(c)?),
            b"model" if found.model.is_none() => found.model = c.string_or_skip()?,
            b"compactMetadata" => found.preserved = preserved(c)?,
            b"toolUseResult" => found.result_agent = member(c, b"agentId")?,
            b"attachment" => attachment(c, &mut found)?,
            b"content" => {
                // `system` records carry their text here.
                if let Some(text) = c.string_or_skip()? {
                    found.text.get_or_insert(text);
                }
            }
            b"summary" | b"customTitle" | b"aiTitle" | b"lastPrompt" => {
                found.note = c.string_or_skip()?;
            }
            b"leafUuid" => {
                found.leaf = c.string_or_skip()?.map_or(Leaf::Null, Leaf::Named);
            }
            b"explicit" => found.explicit = c.is_true()?,
            b"prNumber" => found.pr_number = Some(raw(c)?),
            b"prUrl" => found.pr_url = c.string_or_skip()?,
            b"prRepository" => found.pr_repository = c.string_or_skip()?,
            _ => c.skip()?,
        }
        Ok(())
    })?;
    found.len = cursor.pos();
    found.content = match found.parts[..] {
        // The client writes one text as a string or as a list of one block, and changes its mind
        // when it writes a turn again: both are the same content.
        [only] if !found.has_tool_result => only,
        _ => fingerprint(content.unwrap_or(&bytes[..found.len])),
    };
    Ok(found)
}

impl Envelope<'_> {
    pub(crate) fn kind(&self) -> Kind {
        let kind = self.kind_name.map_or(Kind::Unknown, Kind::from_type);
        match kind {
            Kind::Unknown if self.uuid.is_some() && self.has_parent_key => Kind::UnknownNode,
            _ => kind,
        }
    }

    pub(crate) fn voice(&self, kind: Kind) -> Voice {
        match kind {
            Kind::User => self.user_voice(),
            Kind::Assistant if self.api_error || self.model == Some(b"<synthetic>") => {
                Voice::Synthetic
            }
            Kind::Assistant | Kind::ToolUse => Voice::Answer,
            Kind::ToolResult => Voice::ToolResult,
            Kind::System if self.subtype == Some(b"compact_boundary") => Voice::Boundary,
            Kind::System if self.subtype == Some(b"local_command") => {
                match self.text.map(wrapped) {
                    Some(Voice::CommandOutput) => Voice::CommandOutput,
                    _ => Voice::Command,
                }
            }
            Kind::Attachment if self.attachment == Some(b"queued_command") => {
                match self.command_mode {
                    Some(b"task-notification") => Voice::Notification,
                    _ => Voice::Queued,
                }
            }
            _ => Voice::Decoration,
        }
    }

    fn user_voice(&self) -> Voice {
        if self.compact_summary {
            return Voice::CompactSummary;
        }
        if self.has_tool_result {
            return Voice::ToolResult;
        }
        if self.meta {
            return Voice::Meta;
        }
        if matches!(self.origin, Some(b"task-notification" | b"peer" | b"coordinator")) {
            return Voice::Notification;
        }
        match self.text {
            Some(text) => wrapped(text),
            None if self.has_other_block => Voice::Prompt,
            None => Voice::Meta,
        }
    }
}

/// Beginnings of text that was not typed by a person.
const WRAPPERS: &[(&[u8], Voice)] = &[
    (b"<command-name>", Voice::Command),
    (b"<command-message>", Voice::Command),
    (b"<command-args>", Voice::Command),
    (b"<bash-input>", Voice::Command),
    (b"<user-memory-input>", Voice::Command),
    (b"<local-command-stdout>", Voice::CommandOutput),
    (b"<local-command-stderr>", Voice::CommandOutput),
    (b"<bash-stdout>", Voice::CommandOutput),
    (b"<bash-stderr>", Voice::CommandOutput),
    (b"<local-command-caveat>", Voice::Meta),
    (
        b"Caveat: The messages below were generated by the user while running local commands.",
        Voice::Meta,
    ),
    (b"<user-prompt-submit-hook>", Voice::Meta),
    (b"<session-start-hook>", Voice::Meta),
    (b"<tick>", Voice::Meta),
    (b"<goal>", Voice::Meta),
    (b"<system-reminder>", Voice::Meta),
    (b"<ide_", Voice::Meta),
    (b"[Request interrupted by user", Voice::Interrupt),
    // Copies of a session lose the mark of a summary, and the first clients did not set it.
    (
        b"This session is being continued from a previous conversation that ran out of context.",
        Voice::CompactSummary,
    ),
    (b"<task-notification>", Voice::Notification),
    (b"<teammate-message", Voice::Notification),
    (b"<agent-message", Voice::Notification),
];

/// The text of a record that means the empty output of a command.
pub(crate) const NO_CONTENT: &[u8] = b"(no content)";

/// Determines the role of a raw text by its beginning.
fn wrapped(text: &[u8]) -> Voice {
    let mut text = trim_start(text);
    // Clients up to 1.0 wrote this for a command that printed nothing.
    if text == NO_CONTENT {
        return Voice::CommandOutput;
    }
    loop {
        if !matches!(text.first(), Some(b'<' | b'[' | b'C' | b'T')) {
            return if text.is_empty() { Voice::Meta } else { Voice::Prompt };
        }
        match WRAPPERS.iter().find(|(opening, _)| text.starts_with(opening)) {
            // A reminder or an open file may come before what the person typed.
            Some((_, Voice::Meta)) => match behind_wrapper(text) {
                Some(rest) if !rest.is_empty() => text = rest,
                _ => return Voice::Meta,
            },
            Some((_, voice)) => return *voice,
            None => return Voice::Prompt,
        }
    }
}

/// Returns the text after the element that a text begins with.
fn behind_wrapper(text: &[u8]) -> Option<&[u8]> {
    let name_end =
        text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"<-_".contains(byte)))?;
    let name = text.get(1..name_end).filter(|_| text[0] == b'<')?;
    let closing = [b"</", name, b">"].concat();
    let end = memchr::memmem::find(text, &closing)? + closing.len();
    Some(trim_start(&text[end..]))
}

/// Drops white space, also in its escaped forms.
fn trim_start(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        match text {
            [b'\\', b'n' | b'r' | b't', rest @ ..] => text = rest,
            _ => return text,
        }
    }
}

fn message<'a>(c: &mut Cursor<'a>, found: &mut Envelope<'a>) -> Result<(), Broken> {
    c.object(|c, key| {
        match key {
            b"id" => found.message_id = c.string_or_skip()?,
            b"model" => found.model = c.string_or_skip()?,
            b"usage" => found.usage = Some(raw(c)?),
            b"content" => match c.peek() {
                Some(b'"') => {
                    let text = c.string()?;
                    found.text = Some(text);
                    note_part(found, text);
                }
                Some(b'[') => c.array(|c| block(c, found))?,
                _ => c.skip()?,
            },
            _ => c.skip()?,
        }
        Ok(())
    })
}

/// Adds the fingerprint of a block, if the message has no id; ids come before the content.
fn note_part(found: &mut Envelope<'_>, bytes: &[u8]) {
    if found.message_id.is_none() {
        found.parts.push(fingerprint(bytes));
    }
}

#[derive(Default)]
struct Block<'a> {
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

fn block<'a>(c: &mut Cursor<'a>, found: &mut Envelope<'a>) -> Result<(), Broken> {
    let mut block = Block::default();
    c.peek();
    let start = c.pos();
    c.object(|c, key| {
        match key {
            b"type" => block.kind = c.string_or_skip()?,
            b"id" => block.id = c.string_or_skip()?,
            b"name" => block.name = c.string_or_skip()?,
            b"tool_use_id" => block.tool_use_id = c.string_or_skip()?,
            b"text" => block.text = c.string_or_skip()?,
            b"thinking" => block.thinking = c.string_or_skip()?,
            b"signature" => block.signature = c.string_or_skip()?,
            b"is_error" => block.failed = c.is_true()?,
            b"input" if matches!(block.name, Some(b"Task" | b"Agent")) => {
                block.prompt = member(c, b"prompt")?;
            }
            _ => c.skip()?,
        }
        Ok(())
    })?;
    match block.kind {
        Some(b"text") => {
            note_part(found, block.text.unwrap_or_default());
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
            note_part(found, c.since(start));
            found.has_other_block = true;
        }
    }
    Ok(())
}

/// Keeps the first text that a person typed, else the first text.
fn note_text<'a>(found: &mut Envelope<'a>, text: Option<&'a [u8]>) {
    let Some(text) = text else { return };
    match found.text {
        Some(kept) if wrapped(kept) != Voice::Meta || wrapped(text) == Voice::Meta => {}
        _ => found.text = Some(text),
    }
}

fn attachment<'a>(c: &mut Cursor<'a>, found: &mut Envelope<'a>) -> Result<(), Broken> {
    c.object(|c, key| {
        match key {
            b"type" => found.attachment = c.string_or_skip()?,
            b"commandMode" => found.command_mode = c.string_or_skip()?,
            b"prompt" => match c.peek() {
                Some(b'"') => found.text = Some(c.string()?),
                Some(b'[') => c.array(|c| {
                    let text = member(c, b"text")?;
                    note_text(found, text);
                    Ok(())
                })?,
                _ => c.skip()?,
            },
            _ => c.skip()?,
        }
        Ok(())
    })
}

/// Reads `preservedSegment` and `preservedMessages` of a compaction.
fn preserved<'a>(c: &mut Cursor<'a>) -> Result<Option<Vec<&'a [u8]>>, Broken> {
    let mut kept: Option<Vec<&[u8]>> = None;
    c.object(|c, key| match key {
        b"preservedSegment" | b"preservedMessages" if c.peek() == Some(b'{') => {
            let kept = kept.get_or_insert_default();
            c.object(|c, _| match c.peek() {
                Some(b'[') => c.array(|c| {
                    kept.extend(c.string_or_skip()?);
                    Ok(())
                }),
                _ => {
                    kept.extend(c.string_or_skip()?);
                    Ok(())
                }
            })
        }
        _ => c.skip(),
    })?;
    Ok(kept)
}

/// The session and message a record was copied from.
pub(crate) type Origin<'a> = (&'a [u8], &'a [u8]);

fn origin<'a>(c: &mut Cursor<'a>) -> Result<Option<Origin<'a>>, Broken> {
    // The earliest documents know it as a plain session id.
    if c.peek() == Some(b'"') {
        return Ok(Some((c.string()?, b"")));
    }
    let (mut session, mut message) = (None, None);
    c.object(|c, key| {
        match key {
            b"sessionId" => session = c.string_or_skip()?,
            b"messageUuid" => message = c.string_or_skip()?,
            _ => c.skip()?,
        }
        Ok(())
    })?;
    let is_known = session.is_some() || message.is_some();
    Ok(is_known.then(|| (session.unwrap_or_default(), message.unwrap_or_default())))
}

/// Returns the value at the cursor as it is written.
fn raw<'a>(c: &mut Cursor<'a>) -> Result<&'a [u8], Broken> {
    c.peek();
    let start = c.pos();
    c.skip()?;
    Ok(c.since(start))
}

/// Returns the string member `wanted` of the object at the cursor.
fn member<'a>(c: &mut Cursor<'a>, wanted: &[u8]) -> Result<Option<&'a [u8]>, Broken> {
    let mut value = None;
    c.object(|c, key| {
        if key == wanted {
            value = c.string_or_skip()?;
            Ok(())
        } else {
            c.skip()
        }
    })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::{Voice, wrapped};

    #[test]
    fn words_behind_a_wrapper_are_a_persons() {
        for (text, voice) in [
            ("hello", Voice::Prompt),
            ("<system-reminder>x</system-reminder>", Voice::Meta),
            (r"<system-reminder>x</system-reminder>\nExplain this: <b>bold</b>", Voice::Prompt),
            ("<ide_opened_file>a</ide_opened_file><ide_selection>b</ide_selection>", Voice::Meta),
            ("<ide_opened_file>a</ide_opened_file> fix it", Voice::Prompt),
            ("<goal>ship it</goal> and tests", Voice::Prompt),
            ("<system-reminder>never closed", Voice::Meta),
            ("<command-name>/cost</command-name>", Voice::Command),
            ("<div>what is this?</div>", Voice::Prompt),
            ("[Request interrupted by user for tool use]", Voice::Interrupt),
            ("(no content)", Voice::CommandOutput),
            ("(no content) is what I see", Voice::Prompt),
            (
                "This session is being continued from a previous conversation that ran out of context.",
                Voice::CompactSummary,
            ),
            ("This session is slow", Voice::Prompt),
            ("", Voice::Meta),
        ] {
            assert_eq!(wrapped(text.as_bytes()), voice, "{text}");
        }
    }
}
