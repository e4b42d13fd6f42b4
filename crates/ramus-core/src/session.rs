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
use crate::envelope::{Envelope, LeafField, scan_envelope};
use crate::ids::{IdHash, RecordUuid};
use crate::inspect::Inspector;
use crate::line::{FileLine, LineBuffer};
use crate::pull_request::PullRequest;
use crate::record::{ByteSpan, Record, RecordKind, RecordRole};
use crate::steps::count_step;
use crate::time::Time;
use crate::usage::UsageLog;

mod facts;
mod previews;
mod serialized;
mod window;

pub use facts::{ClientVersion, SessionFacts};
use previews::PreviewTexts;

/// A record's position in file order: its identity (R4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many pieces of a damaged line are tried before the rest is skipped.
const MAX_PIECES: u32 = 64;

/// The number of characters of a text that are kept for titles and outlines.
const PREVIEW_CHARS: usize = 240;

/// One session file: its records, notes and defects.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Session {
    lines: LineBuffer,
    records: Vec<Record>,
    tool_ids: Vec<IdHash>,
    /// `sourceToolAssistantUUID` of tool results.
    source_uuids: Vec<(NodeId, RecordUuid)>,
    #[bitcode(skip)]
    previews: PreviewTexts,
    uuid_texts: FxHashMap<RecordUuid, Box<str>>,
    raw_types: Vec<(NodeId, Box<str>)>,
    notes: Vec<SessionNote>,
    spawns: Vec<AgentSpawn>,
    agent_results: Vec<(NodeId, Box<str>)>,
    openings: Vec<(NodeId, IdHash)>,
    preserved: Vec<(NodeId, Vec<RecordUuid>)>,
    part_hashes: Vec<(NodeId, Vec<u64>)>,
    briefings: Vec<NodeId>,
    merged_records: Vec<(NodeId, RecordUuid)>,
    pull_requests: Vec<(NodeId, PullRequest)>,
    defects: Vec<Defect>,
    counts: LineCounts,
    facts: SessionFacts,
    /// `None`: usage was not requested.
    usage_log: Option<Box<UsageLog>>,
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
    pub fn total_lines(&self) -> u64 {
        self.known + self.unknown + self.damaged + self.blank
    }
}

/// Metadata about the session or one of its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SessionNote {
    pub record: NodeId,
    pub kind: SessionNoteKind,
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum SessionNoteKind {
    Summary { text: Box<str>, leaf: Option<RecordUuid> },
    CustomTitle(Box<str>),
    AiTitle(Box<str>),
    LastPrompt { text: Option<Box<str>>, pointer: ResumePointer, explicit: bool },
}

/// `leafUuid` of a `last-prompt` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ResumePointer {
    /// Written before 2.1.120: no pointer at all.
    Absent,
    /// `null`: the conversation was cleared.
    Cleared,
    At(RecordUuid),
}

/// A tool call that starts a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct AgentSpawn {
    pub record: NodeId,
    pub call: IdHash,
    /// Hash of the prompt as it is written in the file.
    pub prompt: Option<IdHash>,
}

impl Session {
    /// Makes a session that also keeps the usage of every reply (R20).
    pub fn with_usage() -> Self {
        Self { usage_log: Some(Box::default()), ..Self::default() }
    }

    /// Makes a session that also keeps what charts need.
    pub fn with_activity() -> Self {
        Self { tool_log: Some(Box::default()), ..Self::with_usage() }
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
            uuid_texts: self.uuid_texts.clone(),
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
    /// An incomplete line stays and waits for [`push`](Self::push); meanwhile [`torn_line_defect`](Self::torn_line_defect) returns its
    /// defect.
    pub fn finish_last_line(&mut self) {
        let whole = self.lines.torn_line().is_some_and(|line| {
            line.too_long.is_none()
                && (line.bytes.trim_ascii().is_empty()
                    || scan_envelope(line.bytes)
                        .is_ok_and(|found| rest_is_blank(line.bytes, found.len)))
        });
        if whole {
            let mut lines = std::mem::take(&mut self.lines);
            lines.take_torn(|line| self.take_line(line));
            self.lines = lines;
        }
    }

    /// Returns the defect of a last line that is not whole, if there is one.
    pub fn torn_line_defect(&self) -> Option<Defect> {
        let line = self.lines.torn_line()?;
        Some(Defect { offset: line.offset, line: line.number, kind: DefectKind::Torn })
    }

    /// Returns all records in file order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the record at a position.
    pub fn record(&self, id: NodeId) -> &Record {
        count_step();
        &self.records[id.index()]
    }

    /// Returns the records that are nodes of the tree, in file order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.records_where(Record::is_node)
    }

    /// Returns the user records: prompts, tool results, commands.
    pub fn user_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.records_where(|record| record.kind == RecordKind::User)
    }

    /// Returns the system records.
    pub fn system_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.records_where(|record| record.kind == RecordKind::System)
    }

    /// Returns the records of file checkpoints.
    pub fn checkpoint_records(&self) -> impl Iterator<Item = (NodeId, &Record)> {
        self.records_where(|record| {
            matches!(record.kind, RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta)
        })
    }

    /// Returns the summaries: their text and the node they name.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Option<RecordUuid>)> {
        self.notes.iter().filter_map(|note| match &note.kind {
            SessionNoteKind::Summary { text, leaf } => Some((&**text, *leaf)),
            _ => None,
        })
    }

    pub(crate) fn records_where(
        &self,
        wanted: impl Fn(&Record) -> bool,
    ) -> impl Iterator<Item = (NodeId, &Record)> {
        let all = (0..).map(NodeId).zip(&self.records).inspect(|_| count_step());
        all.filter(move |(_, record)| wanted(record))
    }

    /// Returns titles, summaries and pointers in file order.
    pub fn notes(&self) -> &[SessionNote] {
        &self.notes
    }

    /// Returns the calls that start sub-agents.
    pub fn spawns(&self) -> &[AgentSpawn] {
        &self.spawns
    }

    /// Returns the results that name their sub-agent.
    pub fn agent_results(&self) -> &[(NodeId, Box<str>)] {
        &self.agent_results
    }

    /// Returns the hash of the first prompt of a sidechain, as it is written in the file.
    pub fn sidechain_opening(&self) -> Option<IdHash> {
        self.openings.first().map(|(_, key)| *key)
    }

    /// Returns the key of a prompt that begins a sidechain.
    pub fn opening_at(&self, id: NodeId) -> Option<IdHash> {
        let at = self.openings.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.openings[at].1)
    }

    /// Returns the compactions that preserve only some records.
    pub fn preserved_uuids(&self) -> &[(NodeId, Vec<RecordUuid>)] {
        &self.preserved
    }

    /// Returns the fingerprints of the blocks of a prompt with several blocks, such as text and images.
    pub fn part_hashes(&self, id: NodeId) -> &[u64] {
        let at = self.part_hashes.binary_search_by_key(&id, |(id, _)| *id);
        at.map_or(&[], |at| &self.part_hashes[at].1)
    }

    /// Whether a record is the note for a forked sub-agent, which does not end a conversation.
    pub fn is_briefing(&self, id: NodeId) -> bool {
        self.briefings.binary_search(&id).is_ok()
    }

    /// Returns the records that got a new uuid in a merge, with their original uuid.
    pub fn merged_records(&self) -> &[(NodeId, RecordUuid)] {
        &self.merged_records
    }

    /// Returns the pull requests that were made, each with its record.
    pub fn pull_requests(&self) -> &[(NodeId, PullRequest)] {
        &self.pull_requests
    }

    /// Returns the ids of the tool calls that a record makes or answers.
    pub fn tool_ids(&self, record: &Record) -> &[IdHash] {
        &self.tool_ids[record.first_tool as usize..][..usize::from(record.tool_count)]
    }

    /// Returns the usage of replies, if requested.
    pub fn usage_log(&self) -> Option<&UsageLog> {
        self.usage_log.as_deref()
    }

    /// Returns the tool calls and results, if requested.
    pub fn tool_log(&self) -> Option<&ToolLog> {
        self.tool_log.as_deref()
    }

    /// Returns what a thorough check needs, if requested.
    pub fn inspector(&self) -> Option<&Inspector> {
        self.inspector.as_deref()
    }

    /// Returns the damaged lines. Defects of links are in `RecordTree::defects`.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// Returns the line counts; a torn last line counts as damaged.
    pub fn line_counts(&self) -> LineCounts {
        let torn = u64::from(self.lines.is_torn());
        LineCounts { damaged: self.counts.damaged + torn, ..self.counts }
    }

    /// Returns facts about the whole file.
    pub fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    /// Returns the beginning of a prompt, command, summary or queued prompt.
    pub fn preview_text(&self, id: NodeId) -> Option<&str> {
        self.previews.text_of(id)
    }

    /// Returns the record with the call that a tool result names as its source.
    pub(crate) fn source_uuid(&self, id: NodeId) -> Option<RecordUuid> {
        let at = self.source_uuids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(self.source_uuids[at].1)
    }

    /// Returns the type as written, if the kind does not imply it.
    pub fn raw_type(&self, id: NodeId) -> Option<&str> {
        let at = self.raw_types.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.raw_types[at].1)
    }

    /// Returns a uuid as it is written in the file.
    pub fn uuid_text(&self, name: RecordUuid) -> String {
        self.uuid_texts.get(&name).map_or_else(|| name.to_string(), ToString::to_string)
    }

    fn take_line(&mut self, line: FileLine<'_>) {
        if let Some(bytes) = line.too_long {
            return self.add_damaged_line(line, DefectKind::TooLong { bytes });
        }
        if line.bytes.trim_ascii().is_empty() {
            self.counts.blank += 1;
            return;
        }
        match scan_envelope(line.bytes) {
            Ok(found) if line.utf8 && rest_is_blank(line.bytes, found.len) => {
                let known = found.record_kind().is_known();
                self.counts.known += u64::from(known);
                self.counts.unknown += u64::from(!known);
                self.take_record(&found, line, 0, false);
            }
            Ok(found) if rest_is_blank(line.bytes, found.len) => {
                self.add_damaged_line(line, DefectKind::NotUtf8);
                self.take_record(&found, line, 0, true);
            }
            Ok(_) => self.recover_line(line, 0),
            Err(broken) => self.recover_line(line, broken.offset as u32),
        }
    }

    /// Reads what can be read of a damaged line (R2).
    fn recover_line(&mut self, line: FileLine<'_>, column: u32) {
        let start = line.bytes.iter().position(|&byte| byte != 0).unwrap_or(line.bytes.len());
        if start == line.bytes.len() {
            self.add_damaged_line(line, DefectKind::Nul);
            return;
        }
        let before = self.records.len();
        let mut pos = start;
        for _ in 0..MAX_PIECES {
            if pos >= line.bytes.len() {
                break;
            }
            let rest = &line.bytes[pos..];
            match scan_envelope(rest) {
                Ok(found) if found.type_name.is_some() => {
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
        self.add_damaged_line(line, kind);
    }

    fn add_damaged_line(&mut self, line: FileLine<'_>, kind: DefectKind) {
        self.counts.damaged += 1;
        self.defects.push(Defect { offset: line.offset, line: line.number, kind });
    }

    fn take_record(
        &mut self,
        found: &Envelope<'_>,
        line: FileLine<'_>,
        offset: usize,
        recovered: bool,
    ) {
        let id = NodeId(self.records.len() as u32);
        let kind = found.record_kind();
        let role = found.record_role(kind);
        let tools_at = self.tool_ids.len() as u32;
        self.tool_ids.extend(found.tool_ids.iter().map(|id| IdHash::new(id)));
        let record = Record {
            span: ByteSpan { offset: line.offset + offset as u64, len: found.len as u32 },
            line: line.number,
            kind,
            role,
            sidechain: found.sidechain,
            recovered,
            api_error: found.api_error,
            uuid: found.uuid.map(|uuid| self.intern_uuid(uuid)),
            parent_uuid: found.parent_or_logical_parent().map(|uuid| self.intern_uuid(uuid)),
            time: found.timestamp.and_then(Time::parse),
            message_id: found.message_id.map(IdHash::new),
            content_hash: found.content_hash,
            first_tool: tools_at,
            tool_count: found.tool_ids.len().try_into().unwrap_or(u16::MAX),
        };
        if let Some(source) = found.source_uuid {
            let source = self.intern_uuid(source);
            self.source_uuids.push((id, source));
        }
        self.take_preview(id, found, kind, role);
        self.take_note(id, found, kind);
        if record.is_node() {
            self.facts.add_record(found, &record);
        }
        self.spawns.extend(found.spawns.iter().map(|(call, prompt)| AgentSpawn {
            record: id,
            call: IdHash::new(call),
            prompt: prompt.map(IdHash::new),
        }));
        if kind == RecordKind::Assistant
            && let Some(uses) = &mut self.usage_log
        {
            uses.add_record(id, found, record.message_id);
        }
        if let Some(log) = &mut self.tool_log {
            log.add_record(id, found, kind);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.add_record(id, found, &record, &line.bytes[offset..][..found.len]);
        }
        if let Some(kept) = &found.preserved {
            let kept = kept.iter().map(|uuid| self.intern_uuid(uuid)).collect();
            self.preserved.push((id, kept));
        }
        if kind == RecordKind::User && !found.has_tool_result && found.part_hashes.len() > 1 {
            self.part_hashes.push((id, found.part_hashes.clone()));
        }
        if found.attachment == Some(b"fork_briefing") {
            self.briefings.push(id);
        }
        if found.sidechain
            && found.parent.is_none()
            && let Some(text) = found.text
        {
            self.openings.push((id, IdHash::new(text)));
        }
        if let [(_, message)] = found.merged_from[..]
            && found.uuid != Some(message)
        {
            let origin = self.intern_uuid(message);
            self.merged_records.push((id, origin));
        }
        if kind == RecordKind::PrLink {
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
        if !kind.has_own_type()
            && let Some(name) = found.type_name
        {
            self.raw_types.push((id, json::unescape(name).into()));
        }
        self.records.push(record);
    }

    fn take_preview(
        &mut self,
        id: NodeId,
        found: &Envelope<'_>,
        kind: RecordKind,
        role: RecordRole,
    ) {
        if has_preview(kind, role)
            && let Some(text) = found.text
        {
            self.previews.push_text(id, &json::unescape_prefix(text, PREVIEW_CHARS));
        }
    }

    fn take_note(&mut self, record: NodeId, found: &Envelope<'_>, kind: RecordKind) {
        let text = |raw: &[u8]| -> Box<str> { json::unescape(raw).into() };
        let kind = match kind {
            RecordKind::Summary => {
                let Some(note) = found.note_text else { return };
                let leaf = match found.leaf {
                    LeafField::Named(uuid) => Some(self.intern_uuid(uuid)),
                    LeafField::Absent | LeafField::Null => None,
                };
                SessionNoteKind::Summary { text: text(note), leaf }
            }
            RecordKind::CustomTitle => match found.note_text {
                Some(note) => SessionNoteKind::CustomTitle(text(note)),
                None => return,
            },
            RecordKind::AiTitle => match found.note_text {
                Some(note) => SessionNoteKind::AiTitle(text(note)),
                None => return,
            },
            RecordKind::LastPrompt => SessionNoteKind::LastPrompt {
                text: found.note_text.map(text),
                pointer: match found.leaf {
                    LeafField::Absent => ResumePointer::Absent,
                    LeafField::Null => ResumePointer::Cleared,
                    LeafField::Named(uuid) => ResumePointer::At(self.intern_uuid(uuid)),
                },
                explicit: found.explicit,
            },
            _ => return,
        };
        self.notes.push(SessionNote { record, kind });
    }

    /// Interns a uuid and remembers its text if it is not canonical.
    fn intern_uuid(&mut self, spelling: &[u8]) -> RecordUuid {
        RecordUuid::parse_canonical(spelling).unwrap_or_else(|| {
            let spelling = json::unescape(spelling);
            let name = RecordUuid::new(spelling.as_bytes());
            self.uuid_texts.entry(name).or_insert_with(|| spelling.into());
            name
        })
    }
}

/// Whether a preview of this kind of record is kept.
fn has_preview(kind: RecordKind, role: RecordRole) -> bool {
    (kind == RecordKind::User || matches!(role, RecordRole::QueuedPrompt | RecordRole::Command))
        && role != RecordRole::ToolResult
}

fn rest_is_blank(bytes: &[u8], from: usize) -> bool {
    bytes[from..].trim_ascii().is_empty()
}
