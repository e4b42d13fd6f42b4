//! Linearizes records of several files: every client version reads the result from end to end.
//!
//! While a fork keeps the links of the records it copies, here every record becomes the child of the one
//! before it, as in the client's own `/branch`. So it does not matter how parallel calls, replays, lost
//! parents and cycles were linked before: calls come before their results, every call has one, times rise,
//! and the last record is the newest.

mod order;
mod times;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use self::order::{OrderedRecord, order_records};
use super::fork::{CopySource, checkpoint_prompt};
use super::id_replacements::{IdReplacements, UuidReplacements};
use super::new_line::{self, UserRecord};
use super::splice::{ProvenanceField, Splice};
use super::{EditContext, NewLine};
use crate::body::{ContentBlock, RecordBody};
use crate::history::History;
use crate::ids::{IdHash, RecordUuid};
use crate::message_tree::MessageNodeId;
use crate::record::{Record, RecordKind, RecordRole};
use crate::session::NodeId;
use crate::time::Time;

/// Reads the body of a record of one of the sources.
pub type BodyReader<'b> = dyn FnMut(usize, NodeId) -> Option<RecordBody> + 'b;

/// The options of a linearized session.
#[derive(Clone, Copy)]
pub(super) struct LinearizeConfig<'a> {
    /// The field for the provenance of a record.
    pub(super) provenance: ProvenanceField,
    /// The working directory of another project.
    pub(super) cwd: Option<&'a str>,
    pub(super) thinking: ThinkingPolicy,
}

/// Which thinking is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingPolicy {
    /// Thinking without a signature, which the API rejects.
    Unsigned,
    /// What has no text too, which some clients cannot send.
    Withheld,
}

/// Whether records keep their uuids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UuidPolicy {
    /// If they are not used yet.
    Keep,
    Fresh,
}

/// What was corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainFixes {
    /// Calls that got a result saying that they were interrupted.
    pub answered: u32,
    /// Results without a call, left out.
    pub strays: u32,
    /// Thinking blocks left out.
    pub thinking: u32,
    /// Records that had no usable time.
    pub untimed: u32,
    /// Records dated in the future.
    pub set_back: u32,
}

/// Records outside the tree, with the prompts that checkpoints belong to.
type SourceNotes = Vec<(NodeId, Option<RecordUuid>)>;

/// A session in the making.
pub(super) struct Linearizer<'a, 'w> {
    origins: &'a [CopySource<'a>],
    config: LinearizeConfig<'a>,
    pub(super) writer: &'a mut EditContext<'w>,
    /// What all copies of a source have in common.
    shared: Vec<Splice>,
    /// The same for records without a uuid, whose provenance is not known.
    shared_by_unnamed: Splice,
    /// The same for notes.
    shared_by_notes: Splice,
    /// The lines in order. Until the end a copied one has the time it had, if that can stay.
    lines: Vec<NewLine>,
    /// Where each of them is.
    places: Vec<RowPlace>,
    /// The records that were made, by their line.
    user_records: Vec<(usize, UserRecord, Option<Time>)>,
    /// The uuid of the last record on the chain.
    tip: Option<String>,
    /// Whether there is a message since the last compaction.
    has_message: bool,
    used: UsedIds,
    /// The notes of each source, with the prompts that checkpoints belong to.
    snapshots: Vec<Option<SourceNotes>>,
    pub(super) fixes: ChainFixes,
    /// Displayable messages.
    messages: u32,
    /// The message that was counted last.
    counted: Option<(usize, MessageNodeId)>,
}

/// Ids that the new session already has.
#[derive(Default)]
struct UsedIds {
    uuids: FxHashSet<RecordUuid>,
    messages: FxHashSet<IdHash>,
    calls: FxHashSet<IdHash>,
    /// Notes that were copied, by session and offset.
    notes: FxHashSet<(String, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPlace {
    /// On the line.
    Chain,
    /// A record that some clients do not know is attached next to the chain.
    Beside,
    /// A record of a sidechain.
    Sidechain,
    /// No part of the tree.
    Outside,
}

impl<'a, 'w> Linearizer<'a, 'w> {
    pub(super) fn new(
        origins: &'a [CopySource<'a>],
        config: LinearizeConfig<'a>,
        writer: &'a mut EditContext<'w>,
    ) -> Self {
        let shared = origins.iter().map(|origin| {
            let mut splice = origin.shared_splice(writer.session, config.provenance, config.cwd);
            if config.provenance == ProvenanceField::MergedFrom {
                // The origin of a source is not an origin of the merged session.
                splice.drop_shared_field("forkedFrom");
            }
            splice
        });
        Self {
            origins,
            config,
            shared: shared.collect(),
            shared_by_unnamed: {
                let mut splice = Splice::for_session(writer.session);
                if let Some(cwd) = config.cwd {
                    splice.set_shared_text("cwd", cwd);
                }
                splice
            },
            shared_by_notes: Splice::for_session(writer.session),
            writer,
            lines: Vec::new(),
            places: Vec::new(),
            user_records: Vec::new(),
            tip: None,
            has_message: false,
            used: UsedIds::default(),
            snapshots: vec![None; origins.len()],
            fixes: ChainFixes::default(),
            messages: 0,
            counted: None,
        }
    }

    /// Reserves memory for so many more lines.
    pub(super) fn reserve_lines(&mut self, count: usize) {
        self.lines.reserve_exact(count);
        self.places.reserve_exact(count);
        self.used.uuids.reserve(count);
    }

    /// Copies records of one source to the end of the line.
    pub(super) fn copy_records(
        &mut self,
        source: usize,
        nodes: &[NodeId],
        names: UuidPolicy,
        bodies: &mut BodyReader<'_>,
    ) {
        let history = self.origins[source].history;
        let order = order_records(history, nodes);
        self.fixes.strays += order.strays;
        let mut renames = Arc::new(self.choose_new_uuids(source, nodes, names));
        let mut entered = FxHashSet::default();
        for record_row in order.rows {
            let message = history
                .message_tree
                .message_of(record_row.node())
                .filter(|message| entered.insert(*message));
            if let Some(message) = message {
                self.replace_used_ids(source, message, &mut renames);
            }
            match record_row {
                OrderedRecord::Chain(node) => self.add_to_chain(source, node, &renames, bodies),
                OrderedRecord::Beside(node) => self.add_beside(source, node, &renames),
                OrderedRecord::Sidechain(node) => self.add_sidechain(source, node, &renames),
                OrderedRecord::InterruptedCall(node, call) => {
                    self.add_interrupted_result(source, node, call, &renames, bodies);
                }
            }
        }
        self.copy_notes(source, nodes, &renames, bodies);
    }

    /// Adds a message in the user's name.
    pub(super) fn add_user_message(&mut self, text: String, from: Value, time: Option<Time>) {
        let content = Value::String(text);
        self.push_user_record(content, Some((self.config.provenance.field_name(), from)), time);
        self.messages += 1;
    }

    /// Gives the lines their times; `None`: there is no message to continue from.
    pub(super) fn into_finished(mut self) -> Option<FinishedChain> {
        let resume = self.tip.take().filter(|_| self.has_message)?;
        let now = self.writer.now;
        // A record attached to the last one would become the end.
        let end = self.places.iter().rposition(|place| *place == RowPlace::Chain)? + 1;
        let mut rest = self.places[end..].iter();
        let mut index = 0;
        self.lines.retain(|_| {
            index += 1;
            index <= end || rest.next() != Some(&RowPlace::Beside)
        });
        let mut index = 0;
        self.places.retain(|place| {
            index += 1;
            index <= end || *place != RowPlace::Beside
        });
        self.used = UsedIds::default();
        let mut made = self.user_records.iter().map(|(index, _, time)| (*index, *time)).peekable();
        let times = self.lines.iter().enumerate().map(|(index, line)| match line {
            NewLine::Copied(line) => line.splice.time(),
            NewLine::Made(_) => made.next_if(|(at, _)| *at == index).and_then(|(_, time)| time),
        });
        let times = times::rising_times(self.places.iter().copied().zip(times), now);
        let facts = self.origins.last()?.history.session.facts();
        let mut made = self.user_records.into_iter().peekable();
        for (index, (line, time)) in self.lines.iter_mut().zip(times).enumerate() {
            match line {
                NewLine::Copied(line) => {
                    let time = time.filter(|time| Some(*time) != line.splice.time());
                    line.splice.set_time(time);
                }
                NewLine::Made(bytes) => {
                    let Some((_, user_text, _)) = made.next_if(|(at, ..)| *at == index) else {
                        continue;
                    };
                    let (session, cwd) = (self.writer.session, self.config.cwd);
                    *bytes = user_text.into_line(facts, session, cwd, time.unwrap_or(now));
                }
            }
        }
        let (lines, messages, fixes) = (self.lines, self.messages, self.fixes);
        Some(FinishedChain { lines, resume, messages, fixes })
    }

    /// Decides which records get a new uuid.
    fn choose_new_uuids(
        &mut self,
        source: usize,
        nodes: &[NodeId],
        names: UuidPolicy,
    ) -> IdReplacements {
        let origin = &self.origins[source];
        let session = &origin.history.session;
        let is_renamed =
            |name: &RecordUuid| names == UuidPolicy::Fresh || self.used.uuids.contains(name);
        let old = nodes.iter().filter_map(|node| session.record(*node).uuid).filter(is_renamed);
        IdReplacements {
            uuids: UuidReplacements::new(old.collect(), self.writer.new_id),
            ids: origin.backups.clone(),
        }
    }

    /// Gives a message and its calls new ids if the session already has theirs.
    fn replace_used_ids(
        &mut self,
        source: usize,
        message: MessageNodeId,
        renames: &mut Arc<IdReplacements>,
    ) {
        let history = self.origins[source].history;
        let members = history
            .message_tree
            .records_of(message)
            .iter()
            .map(|node| history.session.record(*node));
        let spoken = members.filter(|record| record.kind == RecordKind::Assistant);
        let (mut messages, mut calls) = (Vec::new(), Vec::new());
        for record in spoken {
            messages.extend(record.message_id);
            calls.extend_from_slice(history.session.tool_ids(record));
        }
        let mut rename = |mut ids: Vec<IdHash>, used: &mut FxHashSet<IdHash>, kind: &str| {
            ids.sort_unstable();
            ids.dedup();
            for id in ids {
                if !used.insert(id) {
                    let new = format!("{kind}_{}", (self.writer.new_id)().replace('-', ""));
                    Arc::make_mut(renames).ids.insert(id, new);
                }
            }
        };
        rename(messages, &mut self.used.messages, "msg");
        rename(calls, &mut self.used.calls, "toolu");
    }

    fn add_to_chain(
        &mut self,
        source: usize,
        node: NodeId,
        renames: &Arc<IdReplacements>,
        bodies: &mut BodyReader<'_>,
    ) {
        let history = self.origins[source].history;
        let record = history.session.record(node);
        let mut splice = self.splice_for(source, record, renames);
        if record.kind == RecordKind::Assistant && history.session.facts().thinking > 0 {
            match self.unsendable_thinking(source, node, bodies) {
                UnsendableThinking::No => {}
                UnsendableThinking::Blocks(blocks) => {
                    self.fixes.thinking += blocks.len() as u32;
                    splice.drop_blocks(blocks);
                }
                UnsendableThinking::All(count) => {
                    self.fixes.thinking += count;
                    return;
                }
            }
        }
        let uuid = self.unique_uuid(record, source, renames, &mut splice);
        self.set_parent(record, &mut splice);
        self.tip = Some(uuid);
        match record.kind {
            _ if record.role == RecordRole::CompactBoundary => self.has_message = false,
            RecordKind::User | RecordKind::Assistant => self.has_message = true,
            _ => {}
        }
        self.count_message(source, node);
        self.push_row(source, record, splice, RowPlace::Chain);
    }

    fn count_message(&mut self, source: usize, node: NodeId) {
        let message_tree = &self.origins[source].history.message_tree;
        let Some(id) = message_tree.message_of(node) else { return };
        let message = message_tree.message(id);
        if message.role.is_displayable()
            && !message.continues_earlier
            && self.counted != Some((source, id))
        {
            self.counted = Some((source, id));
            self.messages += 1;
        }
    }

    /// Makes a record the child of the last one on the chain.
    fn set_parent(&self, record: &Record, splice: &mut Splice) {
        if record.role == RecordRole::CompactBoundary {
            splice.set_raw("parentUuid", "null");
            let parent = Value::from(self.tip.as_deref()).to_string();
            splice.set_raw("logicalParentUuid", parent);
        } else {
            match &self.tip {
                Some(parent) => splice.put_parent(parent),
                None => splice.put_raw("parentUuid", "null"),
            }
        }
    }

    fn add_beside(&mut self, source: usize, node: NodeId, renames: &Arc<IdReplacements>) {
        let record = self.origins[source].history.session.record(node);
        let mut splice = self.splice_for(source, record, renames);
        self.unique_uuid(record, source, renames, &mut splice);
        self.set_parent(record, &mut splice);
        self.push_row(source, record, splice, RowPlace::Beside);
    }

    fn add_sidechain(&mut self, source: usize, node: NodeId, renames: &Arc<IdReplacements>) {
        let History { session, record_tree: tree, .. } = self.origins[source].history;
        let record = session.record(node);
        let mut splice = self.splice_for(source, record, renames);
        // Some clients continue below the end if there is only a sidechain, so it gets no parent.
        if !tree.parent(node).is_some_and(|parent| session.record(parent).sidechain) {
            splice.set_raw("parentUuid", "null");
        }
        self.unique_uuid(record, source, renames, &mut splice);
        self.push_row(source, record, splice, RowPlace::Sidechain);
    }

    fn push_row(&mut self, source: usize, record: &Record, mut splice: Splice, place: RowPlace) {
        let now = self.writer.now;
        let time = record.time.filter(|time| *time <= now);
        self.fixes.set_back += u32::from(record.time.is_some() && time.is_none());
        self.fixes.untimed += u32::from(record.time.is_none() && place == RowPlace::Chain);
        splice.set_time(time);
        self.push_line(NewLine::copied(source, record.span, splice), place);
    }

    fn push_line(&mut self, line: NewLine, place: RowPlace) {
        self.lines.push(line);
        self.places.push(place);
    }

    fn splice_for(&self, source: usize, record: &Record, renames: &Arc<IdReplacements>) -> Splice {
        let origin = &self.origins[source];
        let mut splice = match record.uuid {
            Some(_) => self.shared[source].clone(),
            None => self.shared_by_unnamed.clone(),
        };
        if let Some(name) = record.uuid {
            origin.put_provenance(&mut splice, self.config.provenance, name);
        }
        if !renames.is_empty() {
            splice.replace_ids(renames);
        }
        splice
    }

    /// Returns the uuid of a record in the copy: every record has one, and none repeats.
    fn unique_uuid(
        &mut self,
        record: &Record,
        source: usize,
        renames: &IdReplacements,
        splice: &mut Splice,
    ) -> String {
        let session = &self.origins[source].history.session;
        let name = record
            .uuid
            .map(|name| renames.uuids.get(name).unwrap_or_else(|| session.uuid_text(name)));
        if let Some(name) = name
            && self.used.uuids.insert(RecordUuid::new(name.as_bytes()))
        {
            return name;
        }
        let uuid = (self.writer.new_id)();
        splice.put_raw("uuid", Value::from(&*uuid).to_string());
        uuid
    }

    /// Gives a call a result saying that it was interrupted, as the client itself does.
    fn add_interrupted_result(
        &mut self,
        source: usize,
        node: NodeId,
        call: IdHash,
        renames: &IdReplacements,
        bodies: &mut BodyReader<'_>,
    ) {
        let Some(body) = bodies(source, node) else { return };
        let id = body.content_blocks().iter().find_map(|block| match block {
            ContentBlock::ToolUse(made) => {
                Some(&made.id).filter(|id| IdHash::new(id.as_bytes()) == call)
            }
            _ => None,
        });
        let Some(id) = renames.ids.get(&call).or(id) else { return };
        let words = "[Request interrupted by user for tool use]";
        let result =
            json!({"type": "tool_result", "content": words, "is_error": true, "tool_use_id": id});
        self.fixes.answered += 1;
        self.push_user_record(json!([result]), None, None);
    }

    fn push_user_record(
        &mut self,
        content: Value,
        from: Option<(&'static str, Value)>,
        time: Option<Time>,
    ) {
        self.has_message = true;
        let uuid = (self.writer.new_id)();
        let parent = self.tip.replace(uuid.clone());
        let user_text = UserRecord { parent, uuid, content, provenance: from };
        self.user_records.push((self.lines.len(), user_text, time));
        // It is written when all times are known.
        self.push_line(NewLine::Made(Vec::new()), RowPlace::Chain);
    }

    /// Copies snapshots of files that belong to copied records, and which outputs were replaced.
    fn copy_notes(
        &mut self,
        source: usize,
        nodes: &[NodeId],
        renames: &Arc<IdReplacements>,
        bodies: &mut BodyReader<'_>,
    ) {
        let origin = &self.origins[source];
        let session = &origin.history.session;
        let names: FxHashSet<RecordUuid> =
            nodes.iter().filter_map(|node| session.record(*node).uuid).collect();
        let snapshots = self.snapshots[source].get_or_insert_with(|| {
            let notes = origin.notes.iter();
            notes.map(|note| (*note, checkpoint_prompt(bodies(source, *note)))).collect()
        });
        for (note, prompt) in snapshots {
            let record = session.record(*note);
            let belongs = match prompt {
                Some(prompt) => names.contains(prompt),
                // Outputs that were replaced are the whole file's; once is enough.
                None => self.used.notes.insert((origin.session_id.to_owned(), record.span.offset)),
            };
            if !belongs {
                continue;
            }
            let mut splice = self.shared_by_notes.clone();
            splice.replace_ids(renames);
            self.lines.push(NewLine::copied(source, record.span, splice));
            self.places.push(RowPlace::Outside);
        }
    }

    fn unsendable_thinking(
        &self,
        source: usize,
        node: NodeId,
        bodies: &mut BodyReader<'_>,
    ) -> UnsendableThinking {
        let Some(body) = bodies(source, node) else { return UnsendableThinking::No };
        let is_hollow = |block: &ContentBlock| match block {
            ContentBlock::Thinking(thinking) => {
                thinking.signature.is_empty()
                    || self.config.thinking == ThinkingPolicy::Withheld && thinking.is_withheld()
            }
            _ => false,
        };
        let blocks = body.content_blocks();
        let hollow: Vec<usize> =
            (0..blocks.len()).filter(|index| is_hollow(&blocks[*index])).collect();
        match hollow.len() {
            0 => UnsendableThinking::No,
            all if all == blocks.len() => UnsendableThinking::All(all as u32),
            _ => UnsendableThinking::Blocks(hollow),
        }
    }
}

/// Returns how many calls of the last message have no result: it may still be at work.
pub(super) fn open_calls_at_end(origin: &CopySource<'_>) -> u32 {
    let message_tree = &origin.history.message_tree;
    let is_main = |node: &&NodeId| !origin.history.session.record(**node).sidechain;
    let last =
        origin.nodes.iter().rev().find(is_main).and_then(|node| message_tree.message_of(*node));
    let order = last
        .map(|message| order_records(origin.history, message_tree.records_of(message)))
        .unwrap_or_default();
    order.rows.iter().filter(|row| matches!(row, OrderedRecord::InterruptedCall(..))).count() as u32
}

/// Thinking of a record that cannot be sent.
enum UnsendableThinking {
    No,
    Blocks(Vec<usize>),
    /// The record has nothing else.
    All(u32),
}

/// A chain of records, ready to be written.
pub(super) struct FinishedChain {
    pub(super) lines: Vec<NewLine>,
    /// The uuid of the last record.
    pub(super) resume: String,
    pub(super) messages: u32,
    pub(super) fixes: ChainFixes,
}

impl FinishedChain {
    /// Adds title and pointer.
    pub(super) fn add_title_and_pointer(&mut self, title: &str, prompt: &str, session: &str) {
        self.lines.push(NewLine::Made(new_line::custom_title_line(title, session)));
        let pointer = new_line::last_prompt_line(prompt, &self.resume, false, session);
        self.lines.push(NewLine::Made(pointer));
    }
}
