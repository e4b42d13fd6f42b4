//! The records of one file in file order, with all defects.
//!
//! [`Session::push`] is the only way in: loading a file means pushing it, following a file means pushing
//! what was appended.

use bitcode::{Decode, Encode};

use memchr::memmem;
use rustc_hash::FxHashMap;

use crate::activity::ToolLog;
use crate::body::json;
use crate::defect::{Defect, DefectKind};
use crate::envelope::{Envelope, Leaf, scan};
use crate::inspect::Inspector;
use crate::line::{Line, LineBuffer};
use crate::name::{Key, Name};
use crate::pull_request::PullRequest;
use crate::record::{ByteSpan, Kind, Record, Voice};
use crate::steps::step;
use crate::time::Time;
use crate::usage::Uses;

mod facts;
mod table;
mod window;
mod words;

pub use facts::{Facts, Version};
use words::Words;

/// A record's position in file order: its identity (R4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many pieces of a damaged line are tried before the rest is given up.
const MOST_PIECES: u32 = 64;

/// The number of characters of a text that are kept for titles and outlines.
const PREVIEW: usize = 240;

/// One session file: its records, notes and defects.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Session {
    lines: LineBuffer,
    records: Vec<Record>,
    tool_ids: Vec<Key>,
    /// `sourceToolAssistantUUID` of tool results.
    sources: Vec<(NodeId, Name)>,
    #[bitcode(skip)]
    words: Words,
    spellings: FxHashMap<Name, Box<str>>,
    odd_types: Vec<(NodeId, Box<str>)>,
    notes: Vec<Note>,
    spawns: Vec<Spawn>,
    agent_results: Vec<(NodeId, Box<str>)>,
    openings: Vec<(NodeId, Key)>,
    preserved: Vec<(NodeId, Vec<Name>)>,
    parts: Vec<(NodeId, Vec<u64>)>,
    briefings: Vec<NodeId>,
    merged: Vec<(NodeId, Name)>,
    pull_requests: Vec<(NodeId, PullRequest)>,
    defects: Vec<Defect>,
    counts: LineCounts,
    facts: Facts,
    /// `None`: usage was not requested.
    uses: Option<Box<Uses>>,
    /// `None`: activity was not requested.
    #[bitcode(skip)]
    tool_log: Option<Box<ToolLog>>,
    /// `None`: an inspection was not requested.
    #[bitcode(skip)]
    inspector: Option<Box<Inspector>>,
}

/// Line counts by result (R2): `known + unknown + damaged` is every line that is not blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct LineCounts {
    pub known: u64,
    pub unknown: u64,
    pub damaged: u64,
    pub blank: u64,
}

impl LineCounts {
    /// Returns the number of all lines, blank ones too.
    pub fn lines(&self) -> u64 {
        self.known + self.unknown + self.damaged + self.blank
    }
}

/// Metadata about the session or one of its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Note {
    pub record: NodeId,
    pub kind: NoteKind,
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum NoteKind {
    Summary { text: Box<str>, leaf: Option<Name> },
    CustomTitle(Box<str>),
    AiTitle(Box<str>),
    LastPrompt { text: Option<Box<str>>, pointer: Pointer, explicit: bool },
}

/// `leafUuid` of a `last-prompt` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Pointer {
    /// Written before 2.1.120: no pointer at all.
    Absent,
    /// `null`: the conversation was cleared.
    Cleared,
    At(Name),
}

/// A tool call that starts a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Spawn {
    pub record: NodeId,
    pub call: Key,
    /// Hash of the prompt as it is written in the file.
    pub prompt: Option<Key>,
}

impl Session {
    /// Makes a session that also keeps the usage of every reply (R20).
    pub fn with_uses() -> Self {
        Self { uses: Some(Box::default()), ..Self::default() }
    }

    /// Makes a session that also keeps what charts need.
    pub fn with_activity() -> Self {
        Self { tool_log: Some(Box::default()), ..Self::with_uses() }
    }

    /// Makes a session that also keeps what a thorough check needs.
    pub fn with_inspection() -> Self {
        Self { inspector: Some(Box::default()), ..Self::default() }
    }

    /// Returns a copy that holds what the resume point follows from, with room for a few lines more.
    ///
    /// Texts, tool calls and agents are left out: a session may have a million records.
    pub(crate) fn copy_for_resume(&self) -> Self {
        let mut records = Vec::with_capacity(self.records.len() + 16);
        records.extend_from_slice(&self.records);
        Self {
            lines: self.lines.clone(),
            records,
            spellings: self.spellings.clone(),
            notes: self.notes.clone(),
            preserved: self.preserved.clone(),
            briefings: self.briefings.clone(),
            facts: self.facts.clone(),
            ..Self::default()
        }
    }

    /// Adds the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8]) {
        self.facts.bytes += chunk.len() as u64;
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(chunk, |line| self.take_line(line));
        self.lines = lines;
    }

    /// Adds an unterminated last line as a record if it is complete (R1).
    ///
    /// An incomplete line stays and waits for [`push`](Self::push); meanwhile [`torn`](Self::torn) returns its
    /// defect.
    pub fn end(&mut self) {
        let whole = self.lines.torn().is_some_and(|line| {
            line.too_long.is_none()
                && (line.bytes.trim_ascii().is_empty()
                    || scan(line.bytes).is_ok_and(|found| rest_is_blank(line.bytes, found.len)))
        });
        if whole {
            let mut lines = std::mem::take(&mut self.lines);
            lines.take_torn(|line| self.take_line(line));
            self.lines = lines;
        }
    }

    /// Returns the defect of a last line that is not whole, if there is one.
    pub fn torn(&self) -> Option<Defect> {
        let line = self.lines.torn()?;
        Some(Defect { at: line.at, line: line.number, kind: DefectKind::Torn })
    }

    /// Returns all records in file order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the record at a position.
    pub fn record(&self, id: NodeId) -> &Record {
        step();
        &self.records[id.index()]
    }

    /// Returns the records that are nodes of the tree, in file order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(Record::is_node)
    }

    /// Returns the user records: prompts, tool results, commands.
    pub fn user_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| record.kind == Kind::User)
    }

    /// Returns the assistant records, one per content block.
    pub fn assistant_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| record.kind == Kind::Assistant)
    }

    /// Returns the progress records.
    pub fn progress_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| record.kind == Kind::Progress)
    }

    /// Returns the system records.
    pub fn system_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| record.kind == Kind::System)
    }

    /// Returns the attachment records.
    pub fn attachment_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| record.kind == Kind::Attachment)
    }

    /// Returns the records of file checkpoints.
    pub fn snapshots(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.of(|record| matches!(record.kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta))
    }

    /// Returns the summaries: their text and the node they name.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<Name>)> {
        self.notes.iter().filter_map(|note| match &note.kind {
            NoteKind::Summary { text, leaf } => Some((&**text, *leaf)),
            _ => None,
        })
    }

    pub(crate) fn of(
        &self,
        wanted: impl Fn(&Record) -> bool,
    ) -> impl Iterator<Item = (NodeId, &Record)> {
        let all = (0..).map(NodeId).zip(&self.records).inspect(|_| step());
        all.filter(move |(_, record)| wanted(record))
    }

    /// Returns titles, summaries and pointers in file order.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the calls that start sub-agents.
    pub fn spawns(&self) -> &[Spawn] {
        &self.spawns
    }

    /// Returns the results that name their sub-agent.
    pub fn agent_results(&self) -> &[(NodeId, Box<str>)] {
        &self.agent_results
    }

    /// Returns the hash of the first prompt of a sidechain, as it is written in the file.
    pub fn opening(&self) -> Option<Key> {
        self.openings.first().map(|(_, key)| *key)
    }

    /// Returns the key of a prompt that begins a sidechain.
    pub fn opening_of(&self, id: NodeId) -> Option<Key> {
        let at = self.openings.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.openings[at].1)
    }

    /// Returns the compactions that preserve only some records.
    pub fn preserved(&self) -> &[(NodeId, Vec<Name>)] {
        &self.preserved
    }

    /// Returns the fingerprints of the blocks of a prompt with several blocks, such as text and images.
    pub fn parts(&self, id: NodeId) -> &[u64] {
        let at = self.parts.binary_search_by_key(&id, |(id, _)| *id);
        at.map_or(&[], |at| &self.parts[at].1)
    }

    /// Whether a record is the note for a forked sub-agent, which does not end a conversation.
    pub fn is_briefing(&self, id: NodeId) -> bool {
        self.briefings.binary_search(&id).is_ok()
    }

    /// Returns the records that got a new uuid in a merge, with their original uuid.
    pub fn merged(&self) -> &[(NodeId, Name)] {
        &self.merged
    }

    /// Returns the pull requests that were made, each with its record.
    pub fn pull_requests(&self) -> &[(NodeId, PullRequest)] {
        &self.pull_requests
    }

    /// Returns the ids of the tool calls that a record makes or answers.
    pub fn tool_ids(&self, record: &Record) -> &[Key] {
        &self.tool_ids[record.tools_at as usize..][..usize::from(record.tools)]
    }

    /// Returns the usage of replies, if requested.
    pub fn uses(&self) -> Option<&Uses> {
        self.uses.as_deref()
    }

    /// Returns the tool calls and results, if requested.
    pub fn tool_log(&self) -> Option<&ToolLog> {
        self.tool_log.as_deref()
    }

    /// Returns what a thorough check needs, if requested.
    pub fn inspector(&self) -> Option<&Inspector> {
        self.inspector.as_deref()
    }

    /// Returns the damaged lines; links are judged by the tree.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// Returns the line counts; a torn last line counts as damaged.
    pub fn counts(&self) -> LineCounts {
        let torn = u64::from(self.lines.is_torn());
        LineCounts { damaged: self.counts.damaged + torn, ..self.counts }
    }

    /// Returns facts about the whole file.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the beginning of a prompt, command, summary or queued prompt.
    pub fn words(&self, id: NodeId) -> Option<&str> {
        self.words.of(id)
    }

    /// Returns the record with the call that a tool result names as its source.
    pub(crate) fn source(&self, id: NodeId) -> Option<Name> {
        let at = self.sources.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.sources[at].1)
    }

    /// Returns the type as written, if the kind does not imply it.
    pub fn odd_type(&self, id: NodeId) -> Option<&str> {
        let at = self.odd_types.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.odd_types[at].1)
    }

    /// Returns a uuid as it is written in the file.
    pub fn spell(&self, name: Name) -> String {
        self.spellings.get(&name).map_or_else(|| name.to_string(), ToString::to_string)
    }

    fn take_line(&mut self, line: Line<'_>) {
        if let Some(bytes) = line.too_long {
            return self.damaged(line, DefectKind::TooLong { bytes });
        }
        if line.bytes.trim_ascii().is_empty() {
            self.counts.blank += 1;
            return;
        }
        match scan(line.bytes) {
            Ok(found) if line.utf8 && rest_is_blank(line.bytes, found.len) => {
                let known = found.kind().is_known();
                self.counts.known += u64::from(known);
                self.counts.unknown += u64::from(!known);
                self.take_record(&found, line, 0, false);
            }
            Ok(found) if rest_is_blank(line.bytes, found.len) => {
                self.damaged(line, DefectKind::NotUtf8);
                self.take_record(&found, line, 0, true);
            }
            Ok(_) => self.recover(line, 0),
            Err(broken) => self.recover(line, broken.at as u32),
        }
    }

    /// Reads what can be read of a damaged line (R2).
    fn recover(&mut self, line: Line<'_>, column: u32) {
        let start = line.bytes.iter().position(|&byte| byte != 0).unwrap_or(line.bytes.len());
        if start == line.bytes.len() {
            self.damaged(line, DefectKind::Nul);
            return;
        }
        let before = self.records.len();
        let mut pos = start;
        for _ in 0..MOST_PIECES {
            if pos >= line.bytes.len() {
                break;
            }
            let rest = &line.bytes[pos..];
            match scan(rest) {
                Ok(found) if found.kind_name.is_some() => {
                    let len = found.len;
                    self.take_record(&found, line, pos, true);
                    pos += len
                        + rest[len..]
                            .iter()
                            .take_while(|byte| byte.is_ascii_whitespace() || **byte == 0)
                            .count();
                }
                _ => match memmem::find(&rest[1..], b"{\"parentUuid\":") {
                    Some(next) => pos += 1 + next,
                    None => break,
                },
            }
        }
        let read = (self.records.len() - before) as u32;
        let kind = match read {
            _ if start > 0 => DefectKind::Nul,
            0 => DefectKind::NotJson { column },
            read => DefectKind::Glued { read },
        };
        self.damaged(line, kind);
    }

    fn damaged(&mut self, line: Line<'_>, kind: DefectKind) {
        self.counts.damaged += 1;
        self.defects.push(Defect { at: line.at, line: line.number, kind });
    }

    fn take_record(
        &mut self,
        found: &Envelope<'_>,
        line: Line<'_>,
        offset: usize,
        recovered: bool,
    ) {
        let id = NodeId(self.records.len() as u32);
        let kind = found.kind();
        let voice = found.voice(kind);
        let tools_at = self.tool_ids.len() as u32;
        self.tool_ids.extend(found.tool_ids.iter().map(|id| Key::new(id)));
        let record = Record {
            span: ByteSpan { at: line.at + offset as u64, len: found.len as u32 },
            line: line.number,
            kind,
            voice,
            sidechain: found.sidechain,
            recovered,
            api_error: found.api_error,
            name: found.uuid.map(|uuid| self.name(uuid)),
            parent: found.parent.or(found.logical_parent).map(|uuid| self.name(uuid)),
            time: found.timestamp.and_then(Time::parse),
            message: found.message_id.map(Key::new),
            content: found.content,
            tools_at,
            tools: found.tool_ids.len().try_into().unwrap_or(u16::MAX),
        };
        if let Some(source) = found.source {
            let source = self.name(source);
            self.sources.push((id, source));
        }
        self.take_words(id, found, kind, voice);
        self.take_note(id, found, kind);
        if record.is_node() {
            self.facts.take(found, &record);
        }
        self.spawns.extend(found.spawns.iter().map(|(call, prompt)| Spawn {
            record: id,
            call: Key::new(call),
            prompt: prompt.map(Key::new),
        }));
        if kind == Kind::Assistant
            && let Some(uses) = &mut self.uses
        {
            uses.take(id, found, record.message);
        }
        if let Some(log) = &mut self.tool_log {
            log.take(id, found, kind);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.take(id, found, &record, &line.bytes[offset..][..found.len]);
        }
        if let Some(kept) = &found.preserved {
            let kept = kept.iter().map(|uuid| self.name(uuid)).collect();
            self.preserved.push((id, kept));
        }
        if kind == Kind::User && !found.has_tool_result && found.parts.len() > 1 {
            self.parts.push((id, found.parts.clone()));
        }
        if found.attachment == Some(b"fork_briefing") {
            self.briefings.push(id);
        }
        if found.sidechain
            && found.parent.is_none()
            && let Some(text) = found.text
        {
            self.openings.push((id, Key::new(text)));
        }
        if let [(_, message)] = found.merged_from[..]
            && found.uuid != Some(message)
        {
            let origin = self.name(message);
            self.merged.push((id, origin));
        }
        if kind == Kind::PrLink {
            let text = |raw: &[u8]| -> Box<str> { json::unescape(raw).into() };
            let number =
                found.pr_number.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok());
            let url = found.pr_url.map(text).unwrap_or_default();
            let repository = found.pr_repository.map(text);
            self.pull_requests.push((id, PullRequest { number, url, repository }));
        }
        if let Some(agent) = found.result_agent {
            self.agent_results.push((id, json::unescape(agent).into()));
        }
        if !kind.has_word()
            && let Some(name) = found.kind_name
        {
            self.odd_types.push((id, json::unescape(name).into()));
        }
        self.records.push(record);
    }

    fn take_words(&mut self, id: NodeId, found: &Envelope<'_>, kind: Kind, voice: Voice) {
        if has_words(kind, voice)
            && let Some(text) = found.text
        {
            self.words.push(id, &json::unescape_prefix(text, PREVIEW));
        }
    }

    fn take_note(&mut self, record: NodeId, found: &Envelope<'_>, kind: Kind) {
        let text = |raw: &[u8]| -> Box<str> { json::unescape(raw).into() };
        let kind = match kind {
            Kind::Summary => {
                let Some(note) = found.note else { return };
                let leaf = match found.leaf {
                    Leaf::Named(uuid) => Some(self.name(uuid)),
                    Leaf::Absent | Leaf::Null => None,
                };
                NoteKind::Summary { text: text(note), leaf }
            }
            Kind::CustomTitle => match found.note {
                Some(note) => NoteKind::CustomTitle(text(note)),
                None => return,
            },
            Kind::AiTitle => match found.note {
                Some(note) => NoteKind::AiTitle(text(note)),
                None => return,
            },
            Kind::LastPrompt => NoteKind::LastPrompt {
                text: found.note.map(text),
                pointer: match found.leaf {
                    Leaf::Absent => Pointer::Absent,
                    Leaf::Null => Pointer::Cleared,
                    Leaf::Named(uuid) => Pointer::At(self.name(uuid)),
                },
                explicit: found.explicit,
            },
            _ => return,
        };
        self.notes.push(Note { record, kind });
    }

    /// Interns a uuid and remembers its text if it is not canonical.
    fn name(&mut self, spelling: &[u8]) -> Name {
        Name::canonical(spelling).unwrap_or_else(|| {
            let spelling = json::unescape(spelling);
            let name = Name::new(spelling.as_bytes());
            self.spellings.entry(name).or_insert_with(|| spelling.into());
            name
        })
    }
}

/// Whether a preview of such a record is kept.
fn has_words(kind: Kind, voice: Voice) -> bool {
    (kind == Kind::User || matches!(voice, Voice::Queued | Voice::Command))
        && voice != Voice::ToolResult
}

fn rest_is_blank(bytes: &[u8], from: usize) -> bool {
    bytes[from..].trim_ascii().is_empty()
}
