//! Plans a new session with the path up to a message (R26).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::goto::last_prompt_text;
use super::new_line::{self, MarkerRecord};
use super::splice::{ProvenanceField, Splice};
use super::{EditContext, EditRefusal, NewLine, NewSession, end_of_message};
use crate::agent::inline_agents;
use crate::body::{Metadata, RecordBody};
use crate::client_path::messages_left_out;
use crate::history::{ConversationPath, History};
use crate::ids::{IdHash, RecordUuid};
use crate::record::{Record, RecordKind, RecordRole};
use crate::resume::ClientEra;
use crate::session::NodeId;
use crate::time::Time;

/// What is copied from one file, in order.
#[derive(Debug)]
pub struct CopySource<'a> {
    /// The id of the session in the file.
    pub session_id: &'a str,
    /// The same as JSON, for all its copies.
    quoted_id: Arc<str>,
    pub history: &'a History,
    /// The path, root first, with the sidechains that its calls started.
    pub nodes: Vec<NodeId>,
    /// What belongs to it outside of the tree: snapshots of files, replaced outputs.
    pub notes: Vec<NodeId>,
    /// New names of file backups in the copy, if another source has backups with the same names.
    pub backups: FxHashMap<IdHash, String>,
}

impl CopySource<'_> {
    /// Returns the provenance of a record.
    pub(super) fn provenance(&self, name: RecordUuid) -> serde_json::Value {
        serde_json::json!({
            "sessionId": self.session_id,
            "messageUuid": self.history.session.uuid_text(name),
        })
    }

    /// Returns what all copies of its records have in common.
    pub(super) fn shared_splice(
        &self,
        session: &str,
        field: ProvenanceField,
        cwd: Option<&str>,
    ) -> Splice {
        let mut splice = Splice::for_session(session);
        splice.set_provenance_field(field, &self.quoted_id);
        if let Some(cwd) = cwd {
            splice.set_shared_text("cwd", cwd);
        }
        splice
    }

    /// Writes the provenance of a copy into a field.
    pub(super) fn put_provenance(
        &self,
        splice: &mut Splice,
        field: ProvenanceField,
        name: RecordUuid,
    ) {
        let spelling = self.history.session.uuid_text(name);
        if RecordUuid::parse_canonical(spelling.as_bytes()) == Some(name) {
            splice.put_provenance(name);
        } else {
            splice.put_raw(field.field_name(), self.provenance(name).to_string());
        }
    }
}

/// The options of a fork.
#[derive(Clone, Copy, Debug)]
pub struct ForkOptions<'a> {
    pub title: &'a str,
    /// The working directory of the target project; `None`: it is not moved.
    pub cwd: Option<&'a str>,
}

/// Collects what a fork copies from one file.
pub fn copy_source<'a>(
    session: &'a str,
    history: &'a History,
    path: &ConversationPath,
    body: &mut dyn FnMut(NodeId) -> Option<RecordBody>,
) -> CopySource<'a> {
    let nodes = path_nodes(history, path, &Sidechains::new(history));
    let names: FxHashSet<RecordUuid> =
        nodes.iter().filter_map(|id| history.session.record(*id).uuid).collect();
    let mut of_path = |id: NodeId, record: &Record| match record.kind {
        RecordKind::ContentReplacement => true,
        RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta => {
            checkpoint_prompt(body(id)).is_some_and(|prompt| names.contains(&prompt))
        }
        _ => false,
    };
    let records = (0..).map(NodeId).zip(history.session.records());
    let notes = records.filter(|(id, record)| of_path(*id, record)).map(|(id, _)| id).collect();
    let quoted = serde_json::Value::from(session).to_string().into();
    CopySource {
        session_id: session,
        quoted_id: quoted,
        history,
        nodes,
        notes,
        backups: FxHashMap::default(),
    }
}

/// Returns the prompt that a snapshot of files belongs to.
pub(super) fn checkpoint_prompt(body: Option<RecordBody>) -> Option<RecordUuid> {
    let Some(RecordBody::Metadata(metadata)) = body else { return None };
    let prompt = match *metadata {
        Metadata::FileHistorySnapshot(snapshot) => snapshot.snapshot_message_id,
        Metadata::FileHistoryDelta(delta) => delta.snapshot_message_id,
        _ => return None,
    };
    Some(RecordUuid::new(prompt.as_bytes()))
}

/// The first records of the sidechains inside a file, by the record that started them.
#[derive(Debug)]
pub(super) struct Sidechains(FxHashMap<NodeId, Vec<NodeId>>);

impl Sidechains {
    pub(super) fn new(history: &History) -> Self {
        let mut roots: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        for agent in inline_agents(history) {
            if let Some(call) = agent.call {
                roots.entry(call).or_default().push(agent.root);
            }
        }
        Self(roots)
    }

    fn started_at(&self, node: NodeId) -> &[NodeId] {
        self.0.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// Returns the records of a path: complete messages, preserved messages of its compactions, its sidechains.
pub(super) fn path_nodes(
    history: &History,
    path: &ConversationPath,
    sidechains: &Sidechains,
) -> Vec<NodeId> {
    let History { session, record_tree: tree, .. } = history;
    let line = ordered_nodes(history, path);
    let mut taken: FxHashSet<NodeId> = line.iter().copied().collect();
    let mut nodes = Vec::with_capacity(line.len());
    for &node in &line {
        let preserved = session.preserved_uuids();
        let kept = preserved.binary_search_by_key(&node, |(boundary, _)| *boundary);
        let kept = kept.iter().flat_map(|at| &preserved[*at].1);
        let kept = kept.filter_map(|name| tree.node_by_uuid(session, *name));
        nodes.extend(kept.filter(|kept| taken.insert(*kept)));
        nodes.push(node);
        for &root in sidechains.started_at(node) {
            // Some clients continue below the end if there is only a sidechain.
            if tree.parent(root).is_some_and(|parent| line.last() == Some(&parent)) {
                continue;
            }
            let mut open = vec![root];
            while let Some(side) = open.pop() {
                if session.record(side).sidechain && taken.insert(side) {
                    nodes.push(side);
                    open.extend(tree.children(side).iter().rev());
                }
            }
        }
    }
    nodes
}

/// Returns the records of a path in order, with the records that link them; the end of the last message is last.
fn ordered_nodes(history: &History, path: &ConversationPath) -> Vec<NodeId> {
    let History { session, record_tree: tree, message_tree, .. } = history;
    let mut placed: Vec<(usize, NodeId)> = Vec::new();
    for (place, message) in path.messages.iter().enumerate() {
        placed.extend(message_tree.records_of(*message).iter().map(|node| (place, *node)));
    }
    let Some(end) = placed.last().and_then(|(_, last)| end_of_message(history, *last)) else {
        return Vec::new();
    };
    let mut places: FxHashMap<NodeId, usize> =
        placed.iter().map(|(place, node)| (*node, *place)).collect();
    let main_chain = session.record(end).sidechain;
    let up = tree.ancestors(end).take_while(|node| session.record(*node).sidechain == main_chain);
    let branch: Vec<NodeId> = up.collect();
    // The chain passes through records that are not on the path. They come after their parents and after
    // the records before them in the file: records that were written late stay late in the copy.
    let mut in_file: Vec<(NodeId, usize)> =
        places.iter().map(|(id, place)| (*id, *place)).collect();
    in_file.sort_unstable();
    let mut place = 0;
    for node in branch.into_iter().rev() {
        match places.get(&node) {
            Some(known) => place = *known,
            None => {
                let before = in_file.partition_point(|(other, _)| *other < node).checked_sub(1);
                place = place.max(before.map_or(0, |before| in_file[before].1));
                places.insert(node, place);
                placed.push((place, node));
            }
        }
    }
    placed.sort_unstable();
    let mut line: Vec<NodeId> =
        placed.into_iter().map(|(_, node)| node).filter(|node| *node != end).collect();
    line.push(end);
    line
}

/// Plans a new session out of the parts of a path, the oldest first.
pub fn plan_fork(
    origins: &[CopySource<'_>],
    request: ForkOptions<'_>,
    writer: &mut EditContext<'_>,
) -> Result<NewSession, EditRefusal> {
    let last = origins.last().ok_or(EditRefusal::Empty)?;
    let is_agent = origins.iter().any(|origin| {
        origin.nodes.first().is_some_and(|node| origin.history.session.record(*node).sidechain)
    });
    let tip = resumable_tip(last, is_agent).ok_or(EditRefusal::Empty)?;
    let mut copy =
        RecordCopier { writer, is_agent, previous: None, newest_other: None, set_back: 0 };
    // Done before lines exist, because both take memory for every record.
    let (messages, left_out) = (count_messages(origins), count_left_out(origins));
    let copies = origins.iter().map(|origin| origin.nodes.len() + origin.notes.len());
    let mut lines = Vec::with_capacity(copies.sum::<usize>() + 3);
    let session_id = copy.writer.session;
    for (source, origin) in origins.iter().enumerate() {
        let shared = origin.shared_splice(session_id, ProvenanceField::ForkedFrom, request.cwd);
        for &node in &origin.nodes {
            let record = origin.history.session.record(node);
            let splice = copy.copy_record(origin, record, &shared);
            lines.push(NewLine::copied(source, record.span, splice));
        }
    }
    let shared = Splice::for_session(session_id);
    for (source, origin) in origins.iter().enumerate() {
        for &note in &origin.notes {
            let span = origin.history.session.record(note).span;
            lines.push(NewLine::copied(source, span, shared.clone()));
        }
    }
    let RecordCopier { set_back, previous, newest_other, writer, .. } = copy;
    let session = &last.history.session;
    let leaf = session.uuid_text(tip);
    let mut resume = leaf.clone();
    // Clients of that era continue at the newest time, and at the first of equals.
    if ClientEra::of_session(session) == ClientEra::Timestamp && newest_other >= previous {
        resume = (writer.new_id)();
        let newest =
            newest_other.map_or(writer.now, |time| Time::from_millis(time.as_millis() + 1));
        let marker = MarkerRecord {
            parent: &leaf,
            uuid: &resume,
            session: writer.session,
            time: newest.max(writer.now),
            text: "ramus: the conversation goes on from here",
        };
        lines.push(NewLine::Made(marker.to_line(session.facts())));
    }
    let prompt = last.nodes.last().and_then(|node| last_prompt_text(last.history, *node));
    lines.push(NewLine::Made(new_line::custom_title_line(request.title, writer.session)));
    let pointer =
        new_line::last_prompt_line(prompt.unwrap_or_default(), &resume, false, writer.session);
    lines.push(NewLine::Made(pointer));
    Ok(NewSession {
        id: writer.session.to_owned(),
        title: request.title.to_owned(),
        lines,
        resume: RecordUuid::new(resume.as_bytes()),
        leaf,
        messages,
        left_out,
        set_back,
    })
}

/// Returns the uuid of the last record that a client will see as part of the conversation.
///
/// `None`: there is no message to continue from since the last compaction.
fn resumable_tip(origin: &CopySource<'_>, is_agent: bool) -> Option<RecordUuid> {
    let session = &origin.history.session;
    let on_line = origin.nodes.iter().rev().map(|node| session.record(*node));
    let mut on_line = on_line.filter(|record| record.sidechain == is_agent && !record.recovered);
    let tip = on_line.clone().find_map(|record| record.uuid)?;
    let said = on_line.find(|record| {
        matches!(record.kind, RecordKind::User | RecordKind::Assistant)
            || record.role == RecordRole::CompactBoundary
    })?;
    (said.role != RecordRole::CompactBoundary).then_some(tip)
}

fn count_messages(origins: &[CopySource<'_>]) -> u32 {
    let displayable = |origin: &CopySource<'_>| {
        let History { session, message_tree, .. } = origin.history;
        let heads = origin.nodes.iter().filter(|node| {
            let message =
                message_tree.message_of(**node).map(|message| message_tree.message(message));
            message.is_some_and(|message| {
                message.head == **node
                    && message.role.is_displayable()
                    && !message.continues_earlier
            }) && !session.record(**node).recovered
        });
        heads.count() as u32
    };
    origins.iter().map(displayable).sum()
}

/// Counts the messages of a path that the client will not load.
fn count_left_out(origins: &[CopySource<'_>]) -> u32 {
    let Some((last, earlier)) = origins.split_last() else { return 0 };
    let Some(&end) = last.nodes.last() else { return 0 };
    let is_boundary =
        |node: &NodeId| last.history.session.record(*node).role == RecordRole::CompactBoundary;
    let before = if last.nodes.iter().any(is_boundary) { count_messages(earlier) } else { 0 };
    before + messages_left_out(last.history, end)
}

/// Copies the records of one fork.
struct RecordCopier<'a, 'w> {
    writer: &'a mut EditContext<'w>,
    /// A sub-agent's conversation becomes a main one.
    is_agent: bool,
    /// The time of the last record on the line.
    previous: Option<Time>,
    /// The newest time of all the others.
    newest_other: Option<Time>,
    set_back: u32,
}

impl RecordCopier<'_, '_> {
    fn copy_record(&mut self, origin: &CopySource<'_>, record: &Record, shared: &Splice) -> Splice {
        let mut splice = shared.clone();
        if let Some(name) = record.uuid {
            origin.put_provenance(&mut splice, ProvenanceField::ForkedFrom, name);
        }
        if self.is_agent {
            splice.set_raw("isSidechain", "false");
            splice.drop_field("agentId");
        }
        if let Some(time) = self.adjusted_time(record) {
            splice.set_text("timestamp", &time.to_string());
        }
        splice
    }

    /// Returns the new time of a record that is dated in the future.
    fn adjusted_time(&mut self, record: &Record) -> Option<Time> {
        let written = record.time?;
        let is_late = written > self.writer.now;
        let time = if is_late {
            self.set_back += 1;
            let before = self.previous.map(|time| Time::from_millis(time.as_millis() + 1));
            before.map_or(self.writer.now, |before| before.min(self.writer.now))
        } else {
            written
        };
        if self.is_agent || !record.sidechain {
            self.newest_other = self.newest_other.max(self.previous);
            self.previous = Some(time);
        } else {
            // Clients up to 2.0.22 resume inside of a sidechain if its date is the newest.
            self.newest_other = self.newest_other.max(Some(time));
        }
        is_late.then_some(time)
    }
}
