//! The usage of one file's messages, by branch.
//!
//! [`UsageLog`] are collected while the file is read. An [`FileUsage`] adds them up by branch; its buckets group
//! messages that no total has to distinguish.

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::message_usage::{MessageIndex, MessageUsage, ModelUsage};
use super::packed::{PackedUsage, UsageTerms};
use super::{TokenCounts, UsageTotal};
use crate::agent::inline_agents;
use crate::body::{ModelRun, TokenUsage, json, label_text};
use crate::branches::BranchStatus;
use crate::digest::one_line;
use crate::envelope::Envelope;
use crate::history::History;
use crate::ids::{IdHash, fingerprint};
use crate::message_tree::MessageNodeId;
use crate::price::{PriceList, PriceRow, SYNTHETIC, searches_cost};
use crate::record::{ByteSpan, Record, RecordKind, RecordRole};
use crate::session::NodeId;
use crate::time::Time;

/// The usage in one file's records, collected in the single pass over its lines.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct UsageLog {
    pub(super) records: Vec<UsageRecord>,
    /// The models in order of appearance.
    pub(super) models: Vec<Box<str>>,
    terms: UsageTerms,
    /// Message, request and fingerprint of the last usage: most records of a message repeat it.
    last: Option<(IdHash, Option<IdHash>, u64)>,
}

/// The usage that one record states for its message.
#[derive(Clone, Debug, Encode, Decode)]
pub(super) struct UsageRecord {
    pub(super) record: NodeId,
    pub(super) message: Option<IdHash>,
    pub(super) request: Option<IdHash>,
    /// A key that stays the same when a merge gives the copy of a reply a new id: its request, else the
    /// record that was copied.
    pub(super) merged: Option<IdHash>,
    pub(super) model: u16,
    pub(super) usage: PackedUsage,
    /// The cost recorded by the client; only the oldest did.
    pub(super) noted_cost: Option<f64>,
}

impl UsageLog {
    /// Adds one record of a reply; messages written by the client itself use nothing.
    pub(crate) fn add_record(
        &mut self,
        record: NodeId,
        found: &Envelope<'_>,
        message: Option<IdHash>,
    ) {
        let Some(raw) = found.usage else { return };
        let model = found.model.unwrap_or_default();
        if model == SYNTHETIC.as_bytes() || raw.first() != Some(&b'{') {
            return;
        }
        let request = found.request_id.map(IdHash::new);
        let same = message.map(|message| (message, request, fingerprint(raw)));
        if same.is_some() && same == self.last {
            return;
        }
        self.last = same;
        let model = self.model_number(model);
        self.records.push(UsageRecord {
            record,
            message,
            request,
            merged: found
                .merged_from
                .first()
                .map(|(_, message)| request.unwrap_or_else(|| IdHash::new(message))),
            model,
            usage: self.terms.pack_usage(TokenUsage::from_json_bytes(raw)),
            noted_cost: found.cost.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok()),
        });
    }

    /// Returns the model runs within messages, with the index of the record: the stored form lacks them.
    pub(crate) fn model_runs(&self) -> Vec<(u32, Vec<ModelRun>)> {
        let all = (0..).zip(self.records.iter().map(|used| used.usage.whole_usage()));
        let all = all.filter_map(|(at, usage)| Some((at, &usage?.iterations)));
        all.filter(|(_, runs)| !runs.is_empty()).map(|(at, runs)| (at, runs.clone())).collect()
    }

    /// Restores the model runs.
    pub(crate) fn restore_runs(&mut self, runs: Vec<(u32, Vec<ModelRun>)>) {
        for (at, runs) in runs {
            let used = self.records.get_mut(at as usize);
            if let Some(usage) = used.and_then(|used| used.usage.whole_usage_mut()) {
                usage.iterations = runs;
            }
        }
    }

    /// Returns the context size of each reply, once per message, in file order.
    pub(crate) fn context_sizes(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let again = |at: usize| at > 0 && self.records[at].message == self.records[at - 1].message;
        let first = self.records.iter().enumerate().filter(move |(at, _)| !again(*at));
        first.map(|(_, used)| (used.record, self.usage_of(used).context_tokens()))
    }

    /// Returns the usage in a record.
    fn usage_of(&self, used: &UsageRecord) -> TokenUsage {
        self.terms.unpack_usage(&used.usage)
    }

    fn model_number(&mut self, raw: &[u8]) -> u16 {
        if let Some(at) = self.models.iter().position(|model| model.as_bytes() == raw) {
            return at as u16;
        }
        model_index(&mut self.models, &json::unescape(raw))
    }
}

/// Returns the number of a model; from the 65,536th on, all get the number of the last.
pub(super) fn model_index(models: &mut Vec<Box<str>>, name: &str) -> u16 {
    let at = models.iter().position(|model| **model == *name).unwrap_or_else(|| {
        if models.len() <= usize::from(u16::MAX) {
            models.push(name.into());
        }
        models.len() - 1
    });
    at as u16
}

/// How many messages are encoded together.
const PIECE: usize = 8192;

/// One file's messages, each once, and its branches.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct FileUsage {
    /// The messages added up.
    pub buckets: Vec<UsageBucket>,
    /// The ids of the messages, for those that have one.
    pub message_ids: Vec<IdHash>,
    /// The messages, encoded compactly because they are rarely needed one by one.
    encoded_messages: Vec<Box<[u8]>>,
    /// The models, by the numbers used in the messages.
    pub models: Vec<Box<str>>,
    pub segments: Vec<BranchSegment>,
    /// The branch that each conversation ends on, in their order.
    pub conversation_ends: Vec<u32>,
    /// The branch on which a sub-agent was started, by its id, its call or its prompt.
    pub agent_starts: FxHashMap<IdHash, u32>,
    /// The first prompt of a sidechain, which identifies the call that started it.
    pub opening: Option<IdHash>,
    /// The last record with the client's own total.
    pub cost_state: Option<ByteSpan>,
}

/// The part of the tree between two fork points. Every message is on exactly one.
#[derive(Clone, Debug, Encode, Decode)]
pub struct BranchSegment {
    /// The uuid of its first record.
    pub head: Box<str>,
    pub parent: Option<u32>,
    /// Whether an active conversation runs along it.
    pub status: BranchStatus,
    /// The first prompt on it.
    pub prompt: Option<Box<str>>,
}

impl FileUsage {
    /// Sums up a session that was read with its uses.
    pub fn new(history: &History, prices: &PriceList) -> Self {
        let Some(uses) = history.session.usage_log() else { return Self::default() };
        let (branches, of) = split_segments(history);
        let branch_of = |node: NodeId| {
            let message_id = history.message_tree.message_of(history.record_tree.first_copy(node));
            message_id.map_or(0, |message_id| of[message_id.index()])
        };
        let mut account = Self {
            conversation_ends: history
                .branches
                .conversations
                .iter()
                .map(|c| of[c.end.index()])
                .collect(),
            segments: branches,
            agent_starts: agent_start_segments(history, branch_of),
            opening: history.session.sidechain_opening(),
            cost_state: history
                .session
                .records()
                .iter()
                .rfind(|record| record.kind == RecordKind::CostState)
                .map(|record| record.span),
            ..Self::default()
        };
        account.add_messages(history, uses, prices, branch_of);
        account
    }

    /// Returns the messages, each once.
    pub fn message_usages(&self) -> Vec<MessageUsage> {
        let decode = |piece: &[u8]| bitcode::decode::<Vec<MessageUsage>>(piece).unwrap_or_default();
        self.encoded_messages.iter().flat_map(|piece| decode(piece)).collect()
    }

    /// Returns the usage of each branch, including sub-agents in the same file.
    pub fn totals_by_segment(&self) -> Vec<UsageTotal> {
        let mut sums = vec![UsageTotal::default(); self.segments.len()];
        for bucket in &self.buckets {
            if let Some(sum) = sums.get_mut(bucket.key.segment as usize) {
                sum.add(&bucket.total);
            }
        }
        sums
    }

    /// Returns the usage from a branch's root to its end, given the usage of each branch.
    pub fn total_along(&self, branch: u32, sums: &[UsageTotal]) -> UsageTotal {
        let mut along = UsageTotal::default();
        let up = |branch: &u32| self.segments.get(*branch as usize)?.parent;
        for branch in std::iter::successors(Some(branch), up) {
            if let Some(sum) = sums.get(branch as usize) {
                along.add(sum);
            }
        }
        along
    }

    fn add_messages(
        &mut self,
        history: &History,
        uses: &UsageLog,
        prices: &PriceList,
        branch_of: impl Fn(NodeId) -> u32,
    ) {
        let mut pricer = MessagePricer { models: uses.models.clone(), prices, rows: Vec::new() };
        let mut seen = MessageIndex::default();
        let mut messages: Vec<CountedMessage> = Vec::new();
        let mut merged: FxHashMap<IdHash, usize> = FxHashMap::default();
        for (at, used) in (0..).zip(&uses.records) {
            let record = history.session.record(used.record);
            let message_usage = pricer.charge_record(uses, used, record, branch_of(used.record));
            let copied = || merged.get(&used.merged?).copied();
            let place = |place: usize| (messages[place].request, messages[place].sidechain);
            let held = seen.find_message(&message_usage, place).or_else(copied);
            if let Some(origin) = used.merged {
                merged.entry(origin).or_insert(held.unwrap_or(messages.len()));
            }
            match held {
                Some(place) => messages[place].merge_record(at, &message_usage),
                None => {
                    seen.add_message(message_usage.message, messages.len());
                    messages.push(CountedMessage::new(at, &message_usage));
                }
            }
        }
        drop(seen);
        self.message_ids = messages.iter().filter_map(|message| message.message).collect();
        // Piece by piece: a message takes four times as much room with its tokens and prices.
        let mut buckets = BucketedUsage::default();
        for piece in messages.chunks(PIECE) {
            let message_usage = |message: &CountedMessage| {
                let used = &uses.records[message.largest as usize];
                let record = history.session.record(used.record);
                message.complete(pricer.charge_record(uses, used, record, message.segment))
            };
            let usages: Vec<MessageUsage> = piece.iter().map(message_usage).collect();
            usages.iter().for_each(|message_usage| buckets.add_message(message_usage));
            self.encoded_messages.push(bitcode::encode(&usages).into());
        }
        self.buckets = buckets.buckets;
        self.models = pricer.models;
    }
}

/// A message whose records are still being collected.
struct CountedMessage {
    message: Option<IdHash>,
    request: Option<IdHash>,
    time: Option<Time>,
    /// The record with the largest usage, by its index, and the tokens of it.
    largest: u32,
    tokens: u64,
    segment: u32,
    sidechain: bool,
}

impl CountedMessage {
    fn new(at: u32, message_usage: &MessageUsage) -> Self {
        Self {
            message: message_usage.message,
            request: message_usage.request,
            time: message_usage.time,
            largest: at,
            tokens: message_usage.total_tokens(),
            segment: message_usage.segment,
            sidechain: message_usage.sidechain,
        }
    }

    /// Adds another record, by the rules of [`MessageUsage::merge_record`].
    fn merge_record(&mut self, at: u32, other: &MessageUsage) {
        self.time = match (self.time, other.time) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if self.sidechain && !other.sidechain {
            (self.sidechain, self.segment, self.request) = (false, other.segment, other.request);
        }
        let tokens = other.total_tokens();
        if tokens > self.tokens {
            (self.largest, self.tokens) = (at, tokens);
        }
    }

    /// Returns the usage of the whole message, given that of its largest record.
    fn complete(&self, largest: MessageUsage) -> MessageUsage {
        let Self { message, request, time, segment, sidechain, .. } = *self;
        MessageUsage { message, request, time, segment, sidechain, ..largest }
    }
}

/// Prices the messages of one file; the price of each model is looked up once.
struct MessagePricer<'a> {
    models: Vec<Box<str>>,
    prices: &'a PriceList,
    rows: Vec<Option<&'a PriceRow>>,
}

impl MessagePricer<'_> {
    /// Returns the usage that one record gives for its message.
    fn charge_record(
        &mut self,
        uses: &UsageLog,
        used: &UsageRecord,
        record: &Record,
        segment: u32,
    ) -> MessageUsage {
        let usage = uses.usage_of(used);
        let (first_model, other_models) = self.price_message(used, &usage);
        MessageUsage {
            message: used.message,
            request: used.request,
            time: record.time,
            sidechain: record.sidechain,
            segment,
            fast: usage.is_fast(),
            first_model,
            other_models,
        }
    }

    fn price_message(
        &mut self,
        used: &UsageRecord,
        usage: &TokenUsage,
    ) -> (ModelUsage, Vec<ModelUsage>) {
        let searches = searches_cost(usage);
        if usage.iterations.len() < 2 {
            let list =
                self.price_row(used.model).map(|row| row.usage_cost(usage, usage) + searches);
            let cost = used.noted_cost.or(list);
            return (
                ModelUsage { model: used.model, tokens: TokenCounts::from_usage(usage), cost },
                Vec::new(),
            );
        }
        let mut parts: Vec<ModelUsage> = Vec::with_capacity(usage.iterations.len());
        for run in &usage.iterations {
            let model = run.model.as_deref().map_or(used.model, |name| self.model_number(name));
            let cost = self.price_row(model).map(|row| row.usage_cost(&run.usage, usage));
            parts.push(ModelUsage { model, tokens: TokenCounts::from_usage(&run.usage), cost });
        }
        // Web searches and thinking are counted for the whole message.
        let mut first = parts.remove(0);
        first.cost = first.cost.map(|cost| cost + searches);
        first.tokens.web_searches = usage.web_search_requests;
        first.tokens.web_fetches = usage.web_fetch_requests;
        first.tokens.thinking = usage.thinking_tokens;
        (first, parts)
    }

    fn price_row(&mut self, model: u16) -> Option<&PriceRow> {
        while self.rows.len() < self.models.len() {
            self.rows.push(self.prices.row_of(&self.models[self.rows.len()]));
        }
        self.rows[usize::from(model)]
    }

    fn model_number(&mut self, name: &str) -> u16 {
        model_index(&mut self.models, name)
    }
}

/// Splits the tree at its fork points; returns the branches and the branch of each message.
fn split_segments(history: &History) -> (Vec<BranchSegment>, Vec<u32>) {
    let History { session, message_tree, branches, .. } = history;
    let main_chain = history.main_chain();
    let mut begins = vec![false; message_tree.len()];
    for branch in branches.forks.iter().flat_map(|fork| &fork.branches) {
        begins[branch.message.index()] = true;
    }
    let active = active_messages(history);
    let mut of = vec![u32::MAX; message_tree.len()];
    let mut cut: Vec<BranchSegment> = Vec::new();
    for (id, message_id) in
        message_tree.iter().filter(|(_, message_id)| main_chain.includes(message_id.sidechain))
    {
        let parent =
            message_id.parent.map(|parent| of[parent.index()]).filter(|of| *of != u32::MAX);
        let at = match parent {
            Some(parent) if !begins[id.index()] => parent,
            _ => {
                let name = session.record(message_id.head).uuid;
                cut.push(BranchSegment {
                    head: name.map(|name| session.uuid_text(name)).unwrap_or_default().into(),
                    parent,
                    status: BranchStatus::Abandoned,
                    prompt: None,
                });
                cut.len() as u32 - 1
            }
        };
        of[id.index()] = at;
        let branch = &mut cut[at as usize];
        if active[id.index()] {
            branch.status = BranchStatus::Active;
        }
        if branch.prompt.is_none() && message_id.role == RecordRole::Prompt {
            let words =
                session.preview_text(message_id.head).map(|words| one_line(&label_text(words)));
            branch.prompt = words.filter(|words| !words.is_empty());
        }
    }
    assign_sidechains(history, &mut of);
    (cut, of)
}

/// Assigns the sidechains inside a file to the branch of the call that started them.
fn assign_sidechains(history: &History, of: &mut [u32]) {
    let message_tree = &history.message_tree;
    if !of.contains(&u32::MAX) {
        return;
    }
    for agent in inline_agents(history) {
        let call = agent
            .call
            .and_then(|call| message_tree.message_of(history.record_tree.first_copy(call)));
        let branch = call.map_or(u32::MAX, |call| of[call.index()]);
        if let Some(root) = message_tree.message_of(agent.root)
            && of[root.index()] == u32::MAX
        {
            of[root.index()] = branch;
        }
    }
    for (id, message_id) in message_tree.iter() {
        if of[id.index()] == u32::MAX {
            let parent = message_id.parent.map_or(u32::MAX, |parent| of[parent.index()]);
            of[id.index()] = if parent == u32::MAX { 0 } else { parent };
        }
    }
}

/// Marks the messages that are on an active conversation.
fn active_messages(history: &History) -> Vec<bool> {
    let mut active = vec![false; history.message_tree.len()];
    let ends = history.branches.conversations.iter().filter(|c| c.status == BranchStatus::Active);
    for conversation in ends {
        let unmarked = |message_id: &MessageNodeId| !active[message_id.index()];
        let path: Vec<MessageNodeId> =
            history.message_tree.ancestors(conversation.end).take_while(unmarked).collect();
        path.iter().for_each(|message_id| active[message_id.index()] = true);
    }
    active
}

fn agent_start_segments(
    history: &History,
    branch_of: impl Fn(NodeId) -> u32,
) -> FxHashMap<IdHash, u32> {
    let mut hooks = FxHashMap::default();
    for spawn in history.session.spawns() {
        let branch = branch_of(spawn.record);
        hooks.insert(spawn.call, branch);
        if let Some(prompt) = spawn.prompt {
            hooks.entry(prompt).or_insert(branch);
        }
    }
    for (result, agent) in history.session.agent_results() {
        hooks.insert(IdHash::new(agent.as_bytes()), branch_of(*result));
    }
    hooks
}

/// The usage of one model on one branch within a quarter of an hour.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct UsageBucket {
    pub key: BucketKey,
    pub total: UsageTotal,
}

/// What the messages of a bucket have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct BucketKey {
    pub segment: u32,
    pub sidechain: bool,
    /// The model's number in the same file or ledger.
    pub model: u16,
    /// `None`: no record has a time.
    pub quarter: Option<QuarterHour>,
}

/// A quarter of an hour: in no time zone does the day change within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct QuarterHour(i64);

impl QuarterHour {
    const MILLIS: i64 = 900_000;

    /// Returns the quarter of an hour that contains a time.
    pub fn containing(time: Time) -> Self {
        Self(time.as_millis().div_euclid(Self::MILLIS))
    }

    /// Returns when it begins.
    pub fn start_time(self) -> Time {
        Time::from_millis(self.0.saturating_mul(Self::MILLIS))
    }
}

/// Messages added up; a message counts for the model that began it.
#[derive(Default)]
struct BucketedUsage {
    buckets: Vec<UsageBucket>,
    places: FxHashMap<BucketKey, usize>,
}

impl BucketedUsage {
    fn add_message(&mut self, message_usage: &MessageUsage) {
        for UsageBucket { key, total } in message_usage.buckets() {
            let place = match self.buckets.last() {
                // Messages that follow one another mostly belong together.
                Some(last) if last.key == key => self.buckets.len() - 1,
                _ => *self.places.entry(key).or_insert(self.buckets.len()),
            };
            match self.buckets.get_mut(place) {
                Some(bucket) => bucket.total.add(&total),
                None => self.buckets.push(UsageBucket { key, total }),
            }
        }
    }
}
