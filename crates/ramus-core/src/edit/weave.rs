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

use self::order::{Woven, woven};
use super::fork::{Origin, snapshot_of};
use super::line::{self, Said};
use super::rename::Renames;
use super::splice::{Provenance, Splice};
use super::{NewLine, Writer};
use crate::body::{Block, Body};
use crate::fold::FoldId;
use crate::history::History;
use crate::name::{Key, Name};
use crate::record::{Kind, Record, Voice};
use crate::session::NodeId;
use crate::time::Time;

/// Reads the body of a record of one of the sources.
pub type Bodies<'b> = dyn FnMut(usize, NodeId) -> Option<Body> + 'b;

/// What a woven session is to be like.
#[derive(Clone, Copy)]
pub(super) struct WeaveConfig<'a> {
    /// The field for the provenance of a record.
    pub(super) provenance: Provenance,
    /// The working directory of another project.
    pub(super) cwd: Option<&'a str>,
    pub(super) thinking: Thinking,
}

/// Which thinking is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Thinking without a signature, which the API rejects.
    Unsigned,
    /// What has no text too, which some clients cannot send.
    Withheld,
}

/// Whether records keep their uuids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// If they are not used yet.
    Kept,
    Fresh,
}

/// What was corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
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
type Notes = Vec<(NodeId, Option<Name>)>;

/// A session in the making.
pub(super) struct Weave<'a, 'w> {
    origins: &'a [Origin<'a>],
    config: WeaveConfig<'a>,
    pub(super) writer: &'a mut Writer<'w>,
    /// What all copies have in common.
    copied: Splice,
    rows: Vec<Row>,
    /// The uuid of the last record on the chain.
    tip: Option<String>,
    /// Whether there is a message since the last compaction.
    has_message: bool,
    used: Used,
    /// The notes of each source, with the prompts that checkpoints belong to.
    snapshots: Vec<Option<Notes>>,
    pub(super) mended: Mended,
    /// Displayable messages.
    messages: u32,
    /// The message that was counted last.
    counted: Option<(usize, FoldId)>,
}

/// Ids that the new session already has.
#[derive(Default)]
struct Used {
    names: FxHashSet<Name>,
    messages: FxHashSet<Key>,
    calls: FxHashSet<Key>,
    /// Notes that were copied, by session and offset.
    notes: FxHashSet<(String, u64)>,
}

struct Row {
    what: What,
    place: Place,
    /// The time it has, if it can stay.
    time: Option<Time>,
}

enum What {
    Copied { source: usize, span: crate::record::ByteSpan, splice: Splice },
    Said(Said),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On the line.
    Line,
    /// A record that some clients do not know is attached beside the chain.
    Beside,
    /// A record of a sidechain.
    Side,
    /// No part of the tree.
    Apart,
}

impl<'a, 'w> Weave<'a, 'w> {
    pub(super) fn new(
        origins: &'a [Origin<'a>],
        config: WeaveConfig<'a>,
        writer: &'a mut Writer<'w>,
    ) -> Self {
        Self {
            origins,
            config,
            copied: Splice::session(writer.session),
            writer,
            rows: Vec::new(),
            tip: None,
            has_message: false,
            used: Used::default(),
            snapshots: vec![None; origins.len()],
            mended: Mended::default(),
            messages: 0,
            counted: None,
        }
    }

    /// Copies records of one source to the end of the line.
    pub(super) fn copy(
        &mut self,
        source: usize,
        nodes: &[NodeId],
        names: Names,
        bodies: &mut Bodies<'_>,
    ) {
        let history = self.origins[source].history;
        let order = woven(history, nodes);
        self.mended.strays += order.strays;
        let mut renames = Arc::new(self.renames(source, nodes, names));
        let mut entered = FxHashSet::default();
        for woven in order.rows {
            let fold = history.folds.of(woven.node()).filter(|fold| entered.insert(*fold));
            if let Some(fold) = fold {
                self.enter(source, fold, &mut renames);
            }
            match woven {
                Woven::Line(node) => self.on_line(source, node, &renames, bodies),
                Woven::Beside(node) => self.beside(source, node, &renames),
                Woven::Side(node) => self.side(source, node, &renames),
                Woven::Interrupted(node, call) => {
                    self.interrupted(source, node, call, &renames, bodies);
                }
            }
        }
        self.notes(source, nodes, &renames, bodies);
    }

    /// Adds a message in the user's name.
    pub(super) fn say(&mut self, text: String, from: Value, time: Option<Time>) {
        let content = Value::String(text);
        self.put_said(content, Some((self.config.provenance.field(), from)), time);
        self.messages += 1;
    }

    /// Turns the records into lines, with their times; `None`: there is no message to continue from.
    pub(super) fn finish(mut self) -> Option<Finished> {
        let resume = self.tip.take().filter(|_| self.has_message)?;
        let now = self.writer.now;
        // A record beside the last one would become the end.
        let end = self.rows.iter().rposition(|row| row.place == Place::Line)? + 1;
        let mut index = 0;
        self.rows.retain(|row| {
            index += 1;
            index <= end || row.place != Place::Beside
        });
        let times = times::rising(self.rows.iter().map(|row| (row.place, row.time)), now);
        let facts = self.origins.last()?.history.session.facts();
        let mut lines = Vec::with_capacity(self.rows.len() + 2);
        for (row, time) in self.rows.into_iter().zip(times) {
            lines.push(match row.what {
                What::Copied { source, span, mut splice } => {
                    if let Some(time) = time.filter(|time| Some(*time) != row.time) {
                        splice.put_raw("timestamp", format!("\"{time}\""));
                    }
                    NewLine::Copied { source, span, splice }
                }
                What::Said(said) => NewLine::Made(said.line(
                    facts,
                    self.writer.session,
                    self.config.cwd,
                    time.unwrap_or(now),
                )),
            });
        }
        Some(Finished { lines, resume, messages: self.messages, mended: self.mended })
    }

    /// Decides which records get a new uuid.
    fn renames(&mut self, source: usize, nodes: &[NodeId], names: Names) -> Renames {
        let origin = &self.origins[source];
        let mut renames = Renames { keys: origin.backups.clone(), ..Renames::default() };
        for node in nodes {
            if let Some(name) = origin.history.session.record(*node).name
                && (names == Names::Fresh || self.used.names.contains(&name))
            {
                renames.names.entry(name).or_insert_with(|| (self.writer.new_id)());
            }
        }
        renames
    }

    /// Gives a message and its calls new ids if the session already has theirs.
    fn enter(&mut self, source: usize, fold: FoldId, renames: &mut Arc<Renames>) {
        let history = self.origins[source].history;
        let members = history.folds.members(fold).iter().map(|node| history.session.record(*node));
        let spoken = members.filter(|record| record.kind == Kind::Assistant);
        let (mut messages, mut calls) = (Vec::new(), Vec::new());
        for record in spoken {
            messages.extend(record.message);
            calls.extend_from_slice(history.session.tool_ids(record));
        }
        let mut rename = |mut ids: Vec<Key>, used: &mut FxHashSet<Key>, kind: &str| {
            ids.sort_unstable();
            ids.dedup();
            for id in ids {
                if !used.insert(id) {
                    let new = format!("{kind}_{}", (self.writer.new_id)().replace('-', ""));
                    Arc::make_mut(renames).keys.insert(id, new);
                }
            }
        };
        rename(messages, &mut self.used.messages, "msg");
        rename(calls, &mut self.used.calls, "toolu");
    }

    fn on_line(
        &mut self,
        source: usize,
        node: NodeId,
        renames: &Arc<Renames>,
        bodies: &mut Bodies<'_>,
    ) {
        let history = self.origins[source].history;
        let record = history.session.record(node);
        let mut splice = self.splice(source, record, renames);
        if record.kind == Kind::Assistant && history.session.facts().thinking > 0 {
            match self.hollow(source, node, bodies) {
                Hollow::No => {}
                Hollow::Blocks(blocks) => {
                    self.mended.thinking += blocks.len() as u32;
                    splice.drop_blocks(blocks);
                }
                Hollow::All(count) => {
                    self.mended.thinking += count;
                    return;
                }
            }
        }
        let uuid = self.name(record, source, renames, &mut splice);
        self.hang(record, &mut splice);
        self.tip = Some(uuid);
        match record.kind {
            _ if record.voice == Voice::Boundary => self.has_message = false,
            Kind::User | Kind::Assistant => self.has_message = true,
            _ => {}
        }
        self.count(source, node);
        self.row(source, record, splice, Place::Line);
    }

    fn count(&mut self, source: usize, node: NodeId) {
        let folds = &self.origins[source].history.folds;
        let Some(id) = folds.of(node) else { return };
        let fold = folds.fold(id);
        if fold.voice.is_displayable() && !fold.again && self.counted != Some((source, id)) {
            self.counted = Some((source, id));
            self.messages += 1;
        }
    }

    /// Makes a record the child of the last one on the chain.
    fn hang(&self, record: &Record, splice: &mut Splice) {
        let parent = Value::from(self.tip.as_deref()).to_string();
        if record.voice == Voice::Boundary {
            splice.set_raw("parentUuid", "null");
            splice.set_raw("logicalParentUuid", parent);
        } else {
            splice.put_raw("parentUuid", parent);
        }
    }

    fn beside(&mut self, source: usize, node: NodeId, renames: &Arc<Renames>) {
        let record = self.origins[source].history.session.record(node);
        let mut splice = self.splice(source, record, renames);
        self.name(record, source, renames, &mut splice);
        self.hang(record, &mut splice);
        self.row(source, record, splice, Place::Beside);
    }

    fn side(&mut self, source: usize, node: NodeId, renames: &Arc<Renames>) {
        let History { session, tree, .. } = self.origins[source].history;
        let record = session.record(node);
        let mut splice = self.splice(source, record, renames);
        // Some clients continue below the end if there is only a sidechain, so it gets no parent.
        if !tree.parent(node).is_some_and(|parent| session.record(parent).sidechain) {
            splice.set_raw("parentUuid", "null");
        }
        self.name(record, source, renames, &mut splice);
        self.row(source, record, splice, Place::Side);
    }

    fn row(&mut self, source: usize, record: &Record, splice: Splice, place: Place) {
        let now = self.writer.now;
        let time = record.time.filter(|time| *time <= now);
        self.mended.set_back += u32::from(record.time.is_some() && time.is_none());
        self.mended.untimed += u32::from(record.time.is_none() && place == Place::Line);
        let what = What::Copied { source, span: record.span, splice };
        self.rows.push(Row { what, place, time });
    }

    fn splice(&self, source: usize, record: &Record, renames: &Arc<Renames>) -> Splice {
        let origin = &self.origins[source];
        let mut splice = self.copied.clone();
        if let Some(cwd) = self.config.cwd {
            splice.set("cwd", cwd);
        }
        if let Some(name) = record.name {
            origin.put(&mut splice, self.config.provenance, name);
            if self.config.provenance == Provenance::MergedFrom {
                // The origin of a source is not an origin of the merged session.
                splice.drop("forkedFrom");
            }
        }
        if !renames.is_empty() {
            splice.rename(renames);
        }
        splice
    }

    /// Returns the uuid of a record in the copy: every record has one, and none repeats.
    fn name(
        &mut self,
        record: &Record,
        source: usize,
        renames: &Renames,
        splice: &mut Splice,
    ) -> String {
        let session = &self.origins[source].history.session;
        let name = record.name.map(|name| match renames.names.get(&name) {
            Some(new) => new.clone(),
            None => session.spell(name),
        });
        if let Some(name) = name
            && self.used.names.insert(Name::new(name.as_bytes()))
        {
            return name;
        }
        let uuid = (self.writer.new_id)();
        splice.put_raw("uuid", Value::from(&*uuid).to_string());
        uuid
    }

    /// Gives a call a result saying that it was interrupted, as the client itself does.
    fn interrupted(
        &mut self,
        source: usize,
        node: NodeId,
        call: Key,
        renames: &Renames,
        bodies: &mut Bodies<'_>,
    ) {
        let Some(body) = bodies(source, node) else { return };
        let id = body.blocks().iter().find_map(|block| match block {
            Block::ToolUse(made) => Some(&made.id).filter(|id| Key::new(id.as_bytes()) == call),
            _ => None,
        });
        let Some(id) = renames.keys.get(&call).or(id) else { return };
        let words = "[Request interrupted by user for tool use]";
        let result =
            json!({"type": "tool_result", "content": words, "is_error": true, "tool_use_id": id});
        self.mended.answered += 1;
        self.put_said(json!([result]), None, None);
    }

    fn put_said(
        &mut self,
        content: Value,
        from: Option<(&'static str, Value)>,
        time: Option<Time>,
    ) {
        self.has_message = true;
        let uuid = (self.writer.new_id)();
        let parent = self.tip.replace(uuid.clone());
        let what = What::Said(Said { parent, uuid, content, from });
        self.rows.push(Row { what, place: Place::Line, time });
    }

    /// Copies snapshots of files that belong to what was copied, and which outputs were replaced.
    fn notes(
        &mut self,
        source: usize,
        nodes: &[NodeId],
        renames: &Arc<Renames>,
        bodies: &mut Bodies<'_>,
    ) {
        let origin = &self.origins[source];
        let session = &origin.history.session;
        let names: FxHashSet<Name> =
            nodes.iter().filter_map(|node| session.record(*node).name).collect();
        let snapshots = self.snapshots[source].get_or_insert_with(|| {
            let notes = origin.notes.iter();
            notes.map(|note| (*note, snapshot_of(bodies(source, *note)))).collect()
        });
        for (note, prompt) in snapshots {
            let record = session.record(*note);
            let belongs = match prompt {
                Some(prompt) => names.contains(prompt),
                // Outputs that were replaced are the whole file's; once is enough.
                None => self.used.notes.insert((origin.session.to_owned(), record.span.at)),
            };
            if !belongs {
                continue;
            }
            let mut splice = Splice::session(self.writer.session);
            splice.rename(renames);
            let what = What::Copied { source, span: record.span, splice };
            self.rows.push(Row { what, place: Place::Apart, time: None });
        }
    }

    fn hollow(&self, source: usize, node: NodeId, bodies: &mut Bodies<'_>) -> Hollow {
        let Some(body) = bodies(source, node) else { return Hollow::No };
        let is_hollow = |block: &Block| match block {
            Block::Thinking(thinking) => {
                thinking.signature.is_empty()
                    || self.config.thinking == Thinking::Withheld && thinking.is_withheld()
            }
            _ => false,
        };
        let blocks = body.blocks();
        let hollow: Vec<usize> =
            (0..blocks.len()).filter(|index| is_hollow(&blocks[*index])).collect();
        match hollow.len() {
            0 => Hollow::No,
            all if all == blocks.len() => Hollow::All(all as u32),
            _ => Hollow::Blocks(hollow),
        }
    }
}

/// Returns how many calls of the last message have no result: it may still be at work.
pub(super) fn open_at_end(origin: &Origin<'_>) -> u32 {
    let folds = &origin.history.folds;
    let is_main = |node: &&NodeId| !origin.history.session.record(**node).sidechain;
    let last = origin.nodes.iter().rev().find(is_main).and_then(|node| folds.of(*node));
    let order = last.map(|fold| woven(origin.history, folds.members(fold))).unwrap_or_default();
    order.rows.iter().filter(|row| matches!(row, Woven::Interrupted(..))).count() as u32
}

/// Thinking of a record that cannot be sent.
enum Hollow {
    No,
    Blocks(Vec<usize>),
    /// The record has nothing else.
    All(u32),
}

/// A chain of records, ready to be written.
pub(super) struct Finished {
    pub(super) lines: Vec<NewLine>,
    /// The uuid of the last record.
    pub(super) resume: String,
    pub(super) messages: u32,
    pub(super) mended: Mended,
}

impl Finished {
    /// Adds title and pointer.
    pub(super) fn close(&mut self, title: &str, prompt: &str, session: &str) {
        self.lines.push(NewLine::Made(line::custom_title(title, session)));
        let pointer = line::last_prompt(prompt, &self.resume, false, session);
        self.lines.push(NewLine::Made(pointer));
    }
}
