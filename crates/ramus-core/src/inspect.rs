//! Finds problems that only a thorough check looks for: records of other sessions, reused ids,
//! unsigned thinking, backups that checkpoints need, two clients at the same time.
//!
//! Only `check` needs this, so it is collected only by a session made with `Session::with_inspection`.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::body::{FileBackup, Metadata, RecordBody, json};
use crate::defect::{Defect, DefectKind};
use crate::envelope::Envelope;
use crate::history::History;
use crate::ids::{IdHash, RecordUuid, fingerprint};
use crate::record::{Record, RecordKind, RecordRole};
use crate::session::{ClientVersion, NodeId, Session};

mod writers;

/// What is collected about the records of one file during reading.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    /// The session that nodes name, from which record on.
    runs: Vec<SessionRun>,
    unsigned: Vec<NodeId>,
    /// The first record of each message id.
    messages: FxHashMap<IdHash, FirstReply>,
    /// Records of a message id that other requests or models used, and undecided ones.
    reused: Vec<NodeId>,
    undecided: Vec<(NodeId, NodeId)>,
    /// The backups that checkpoints name, each with the first record that does.
    backups: BTreeMap<Box<str>, NodeId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SessionRun {
    first: NodeId,
    session: Option<Box<str>>,
    version: Option<Box<str>>,
    /// The records state that they are copies.
    copied: bool,
}

#[derive(Clone, Copy, Debug)]
struct FirstReply {
    first: NodeId,
    request: Option<IdHash>,
    model: u64,
}

impl Inspector {
    pub(crate) fn add_record(
        &mut self,
        id: NodeId,
        found: &Envelope<'_>,
        record: &Record,
        bytes: &[u8],
    ) {
        if record.is_node() {
            self.take_session(id, found);
        }
        if found.unsigned > 0 && record.kind == RecordKind::Assistant {
            self.unsigned.push(id);
        }
        if let Some(message) = record.message_id.filter(|_| record.role == RecordRole::Reply) {
            self.take_message(id, message, found);
        }
        if matches!(record.kind, RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta) {
            self.take_checkpoint(id, bytes);
        }
    }

    fn take_session(&mut self, id: NodeId, found: &Envelope<'_>) {
        let copied = found.forked_from.is_some() || !found.merged_from.is_empty();
        let is_same =
            |text: &Option<Box<str>>, raw: Option<&[u8]>| text.as_deref().map(str::as_bytes) == raw;
        let goes_on = self.runs.last().is_some_and(|run| {
            run.copied == copied
                && is_same(&run.session, found.session_id)
                && is_same(&run.version, found.version)
        });
        if !goes_on {
            let text = |raw: Option<&[u8]>| raw.map(|raw| json::unescape(raw).into());
            let (session, version) = (text(found.session_id), text(found.version));
            self.runs.push(SessionRun { first: id, session, version, copied });
        }
    }

    fn take_message(&mut self, id: NodeId, message: IdHash, found: &Envelope<'_>) {
        let request = found.request_id.map(IdHash::new);
        let model = fingerprint(found.model.unwrap_or_default());
        match self.messages.entry(message) {
            Entry::Vacant(entry) => drop(entry.insert(FirstReply { first: id, request, model })),
            Entry::Occupied(entry) => {
                let FirstReply { first, request: earlier, model: its } = *entry.get();
                let is_other = request.zip(earlier).is_some_and(|(a, b)| a != b);
                if is_other || (found.model.is_some() && model != its) {
                    self.reused.push(id);
                } else if request.is_none() && earlier.is_none() {
                    self.undecided.push((first, id));
                }
            }
        }
    }

    fn take_checkpoint(&mut self, id: NodeId, bytes: &[u8]) {
        let Ok(RecordBody::Metadata(metadata)) = RecordBody::parse(bytes) else { return };
        let mut keep = |backup: FileBackup| {
            if let Some(name) = backup.backup_file_name {
                self.backups.entry(name.into()).or_insert(id);
            }
        };
        match *metadata {
            Metadata::FileHistorySnapshot(snapshot) => {
                snapshot.backups.into_iter().for_each(|(_, backup)| keep(backup));
            }
            Metadata::FileHistoryDelta(delta) => keep(delta.backup),
            _ => {}
        }
    }
}

/// The result of inspecting one file.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Inspection {
    /// Records that name another session, unless another file of the project has them.
    pub foreign: Vec<ForeignRecord>,
    /// Records that use the id of another message or of another tool call.
    pub reused: Vec<RecordFlaw>,
    pub others: Vec<Defect>,
    /// The backups that checkpoints name, each with the first record that does.
    pub backups: Vec<NamedBackup>,
}

/// A defect of one record.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct RecordFlaw {
    pub record: NodeId,
    pub defect: Defect,
}

/// A record that names another session.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ForeignRecord {
    pub uuid: Option<RecordUuid>,
    pub flaw: RecordFlaw,
}

/// A backup that a checkpoint names.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NamedBackup {
    pub name: Box<str>,
    /// The first record that names it.
    pub offset: u64,
    pub line: u32,
}

impl Inspection {
    /// Inspects a session that was read for it; `own` is the id of its file, unless it is a sub-agent's.
    pub fn new(history: &History, own: Option<&str>) -> Self {
        let Some(inspector) = history.session.inspector() else { return Self::default() };
        let session = &history.session;
        let mut reused = reused_messages(history, inspector);
        reused.extend(reused_calls(history));
        reused.sort_by_key(|flaw| flaw.record);
        let unsigned =
            inspector.unsigned.iter().filter(|id| history.record_tree.is_first_copy(**id));
        let unsigned = unsigned.map(|id| record_defect(session, *id, DefectKind::UnsignedThinking));
        let backups = inspector.backups.iter().map(|(name, id)| {
            let Record { span, line, .. } = session.record(*id);
            NamedBackup { name: name.clone(), offset: span.offset, line: *line }
        });
        Self {
            foreign: own.map(|own| find_foreign(history, inspector, own)).unwrap_or_default(),
            reused,
            others: unsigned.chain(writers::find_two_clients(history)).collect(),
            backups: backups.collect(),
        }
    }
}

fn record_defect(session: &Session, id: NodeId, kind: DefectKind) -> Defect {
    let record = session.record(id);
    Defect { offset: record.span.offset, line: record.line, kind }
}

fn record_flaw(session: &Session, record: NodeId, kind: DefectKind) -> RecordFlaw {
    RecordFlaw { record, defect: record_defect(session, record, kind) }
}

/// Whether a client changed its session without changing its file, and copied what it resumed: before 2.0.
fn mixes_sessions(version: Option<&str>) -> bool {
    version.and_then(ClientVersion::parse).is_some_and(|version| version.numbers.0 < 2)
}

/// Finds the records that name another session and are not copies.
///
/// A copied beginning comes before the first record of the file's own session. Files of clients before
/// 2.0 often contain several sessions.
fn find_foreign(history: &History, inspector: &Inspector, own: &str) -> Vec<ForeignRecord> {
    let History { session, record_tree: tree, .. } = history;
    let is_own = |run: &SessionRun| run.session.as_deref() == Some(own);
    let Some(begins) = inspector.runs.iter().position(is_own) else { return Vec::new() };
    if inspector.runs[begins..].iter().all(is_own) {
        return Vec::new();
    }
    let mut runs = inspector.runs.iter().peekable();
    let mut run = None;
    let mut found = Vec::new();
    for (id, record) in session.nodes() {
        while let Some(next) = runs.next_if(|next| next.first <= id) {
            run = Some(next);
        }
        let Some(run) = run else { continue };
        let is_explained = is_own(run)
            || run.copied
            || record.sidechain
            || !tree.is_first_copy(id)
            || run.first < inspector.runs[begins].first
            || mixes_sessions(run.version.as_deref());
        if let Some(other) = run.session.as_ref().filter(|_| !is_explained) {
            let kind = DefectKind::OtherSession { session: other.clone() };
            found.push(ForeignRecord { uuid: record.uuid, flaw: record_flaw(session, id, kind) });
        }
    }
    found
}

/// Finds the replies whose message id belongs to an earlier, different message.
///
/// A different request or model means a different message. If no request is recorded, it is a reply to
/// another prompt.
fn reused_messages(history: &History, inspector: &Inspector) -> Vec<RecordFlaw> {
    let History { session, record_tree: tree, .. } = history;
    let mut reused = inspector.reused.clone();
    if !inspector.undecided.is_empty() {
        let prompts = prompt_of_each(history);
        let prompt = |id: NodeId| {
            let prompt = session.record(prompts[id.index()]?);
            Some((prompt.content_hash, prompt.time))
        };
        let is_other = |(first, id): &&(NodeId, NodeId)| {
            let is_copy = session.record(*first).content_hash == session.record(*id).content_hash;
            !is_copy && prompt(*first).zip(prompt(*id)).is_some_and(|(a, b)| a != b)
        };
        reused.extend(inspector.undecided.iter().filter(is_other).map(|(_, id)| *id));
    }
    reused.retain(|id| tree.is_first_copy(*id));
    reused.into_iter().map(|id| record_flaw(session, id, DefectKind::ReusedMessageId)).collect()
}

/// Returns the prompt that each record follows.
fn prompt_of_each(history: &History) -> Vec<Option<NodeId>> {
    let History { session, record_tree: tree, .. } = history;
    let mut prompts = vec![None; session.records().len()];
    for (id, record) in session.nodes() {
        prompts[id.index()] = match record.role {
            RecordRole::Prompt => Some(id),
            _ => tree.parent(id).and_then(|parent| prompts[parent.index()]),
        };
    }
    prompts
}

/// Finds the calls whose id belongs to an earlier call of another message.
fn reused_calls(history: &History) -> Vec<RecordFlaw> {
    let History { session, record_tree: tree, .. } = history;
    let mut calls: FxHashMap<IdHash, NodeId> = FxHashMap::default();
    let mut reused = Vec::new();
    let answers = session.nodes().filter(|(_, record)| record.role == RecordRole::Reply);
    for (id, record) in answers.filter(|(id, _)| tree.is_first_copy(*id)) {
        for tool in session.tool_ids(record) {
            let first = *calls.entry(*tool).or_insert(id);
            let earlier = session.record(first);
            if first != id
                && earlier.message_id != record.message_id
                && earlier.content_hash != record.content_hash
            {
                reused.push(record_flaw(session, id, DefectKind::ReusedToolId));
                break;
            }
        }
    }
    reused
}

#[cfg(test)]
mod tests;
