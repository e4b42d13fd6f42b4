//! The usage of one file's messages, by branch.
//!
//! [`Uses`] are collected while the file is read. An [`Account`] adds them up by branch; its buckets group
//! messages that no total has to distinguish.

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::message::{Charge, Part, Seen};
use super::packed::{PackedUsage, Terms};
use super::{Sum, Tokens};
use crate::agent::inline_agents;
use crate::body::{Iteration, Usage, json, label_text};
use crate::branches::Status;
use crate::digest::one_line;
use crate::envelope::Envelope;
use crate::fold::FoldId;
use crate::history::History;
use crate::name::{Key, fingerprint};
use crate::price::{PriceList, Row, SYNTHETIC, searches_cost};
use crate::record::{ByteSpan, Kind, Voice};
use crate::session::NodeId;
use crate::time::Time;

/// The usage in one file's records, collected in the single pass over its lines.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Uses {
    pub(super) list: Vec<Use>,
    /// The models in order of appearance.
    pub(super) models: Vec<Box<str>>,
    terms: Terms,
    /// Message, request and fingerprint of the last usage: most records of a message repeat it.
    last: Option<(Key, Option<Key>, u64)>,
}

/// The usage that one record states for its message.
#[derive(Clone, Debug, Encode, Decode)]
pub(super) struct Use {
    pub(super) record: NodeId,
    pub(super) message: Option<Key>,
    pub(super) request: Option<Key>,
    /// A key that stays the same when a merge gives the copy of a reply a new id: its request, else the
    /// record that was copied.
    pub(super) merged: Option<Key>,
    pub(super) model: u16,
    pub(super) usage: PackedUsage,
    /// The cost recorded by the client; only the oldest did.
    pub(super) noted: Option<f64>,
}

impl Uses {
    /// Adds one record of a reply; messages written by the client itself use nothing.
    pub(crate) fn take(&mut self, record: NodeId, found: &Envelope<'_>, message: Option<Key>) {
        let Some(raw) = found.usage else { return };
        let model = found.model.unwrap_or_default();
        if model == SYNTHETIC.as_bytes() || raw.first() != Some(&b'{') {
            return;
        }
        let request = found.request_id.map(Key::new);
        let same = message.map(|message| (message, request, fingerprint(raw)));
        if same.is_some() && same == self.last {
            return;
        }
        self.last = same;
        let model = self.model(model);
        self.list.push(Use {
            record,
            message,
            request,
            merged: found
                .merged_from
                .first()
                .map(|(_, message)| request.unwrap_or_else(|| Key::new(message))),
            model,
            usage: self.terms.pack(Usage::read(raw)),
            noted: found.cost.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok()),
        });
    }

    /// Returns the model runs within messages, with the index of the record: the stored form lacks them.
    pub(crate) fn runs(&self) -> Vec<(u32, Vec<Iteration>)> {
        let all = (0..).zip(self.list.iter().map(|used| used.usage.whole()));
        let all = all.filter_map(|(at, usage)| Some((at, &usage?.iterations)));
        all.filter(|(_, runs)| !runs.is_empty()).map(|(at, runs)| (at, runs.clone())).collect()
    }

    /// Restores the model runs.
    pub(crate) fn take_runs(&mut self, runs: Vec<(u32, Vec<Iteration>)>) {
        for (at, runs) in runs {
            let used = self.list.get_mut(at as usize);
            if let Some(usage) = used.and_then(|used| used.usage.whole_mut()) {
                usage.iterations = runs;
            }
        }
    }

    /// Returns the context size of each reply, once per message, in file order.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let again = |at: usize| at > 0 && self.list[at].message == self.list[at - 1].message;
        let first = self.list.iter().enumerate().filter(move |(at, _)| !again(*at));
        first.map(|(_, used)| (used.record, self.usage(used).context_tokens()))
    }

    /// Returns what a record says that its message used.
    fn usage(&self, used: &Use) -> Usage {
        self.terms.unpack(&used.usage)
    }

    fn model(&mut self, raw: &[u8]) -> u16 {
        if let Some(at) = self.models.iter().position(|model| model.as_bytes() == raw) {
            return at as u16;
        }
        index(&mut self.models, &json::unescape(raw))
    }
}

/// Returns the number of a model; from the 65,536th on, all get the number of the last.
pub(super) fn index(models: &mut Vec<Box<str>>, name: &str) -> u16 {
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
pub struct Account {
    /// The messages added up.
    pub stretches: Vec<Stretch>,
    /// The ids of the messages, for those that have one.
    pub messages: Vec<Key>,
    /// The messages, encoded compactly because they are rarely needed one by one.
    charges: Vec<Box<[u8]>>,
    /// The models, by the numbers used in the messages.
    pub models: Vec<Box<str>>,
    pub branches: Vec<Branch>,
    /// The branch that each conversation ends on, in their order.
    pub ends: Vec<u32>,
    /// The branch on which a sub-agent was started, by its id, its call or its prompt.
    pub hooks: FxHashMap<Key, u32>,
    /// The first prompt of a sidechain, which identifies the call that started it.
    pub opening: Option<Key>,
    /// The last record with the client's own total.
    pub cost_state: Option<ByteSpan>,
}

/// The part of the tree between two fork points. Every message is on exactly one.
#[derive(Clone, Debug, Encode, Decode)]
pub struct Branch {
    /// The uuid of its first record.
    pub head: Box<str>,
    pub parent: Option<u32>,
    /// Whether an active conversation runs along it.
    pub status: Status,
    /// The first prompt on it.
    pub prompt: Option<Box<str>>,
}

impl Account {
    /// Sums up a session that was read with its uses.
    pub fn new(history: &History, prices: &PriceList) -> Self {
        let Some(uses) = history.session.uses() else { return Self::default() };
        let (branches, of) = branches(history);
        let branch_of = |node: NodeId| {
            let fold = history.folds.of(history.tree.first(node));
            fold.map_or(0, |fold| of[fold.index()])
        };
        let mut account = Self {
            ends: history.branches.conversations.iter().map(|c| of[c.end.index()]).collect(),
            branches,
            hooks: hooks(history, branch_of),
            opening: history.session.opening(),
            cost_state: history
                .session
                .records()
                .iter()
                .rfind(|record| record.kind == Kind::CostState)
                .map(|record| record.span),
            ..Self::default()
        };
        account.charge(history, uses, prices, branch_of);
        account
    }

    /// Returns the messages, each once.
    pub fn charges(&self) -> Vec<Charge> {
        let decode = |piece: &[u8]| bitcode::decode::<Vec<Charge>>(piece).unwrap_or_default();
        self.charges.iter().flat_map(|piece| decode(piece)).collect()
    }

    /// Returns the usage of each branch, including sub-agents in the same file.
    pub fn by_branch(&self) -> Vec<Sum> {
        let mut sums = vec![Sum::default(); self.branches.len()];
        for stretch in &self.stretches {
            if let Some(sum) = sums.get_mut(stretch.kin.branch as usize) {
                sum.add(&stretch.sum);
            }
        }
        sums
    }

    /// Returns the usage from a branch's root to its end, given the usage of each branch.
    pub fn along(&self, branch: u32, sums: &[Sum]) -> Sum {
        let mut along = Sum::default();
        let up = |branch: &u32| self.branches.get(*branch as usize)?.parent;
        for branch in std::iter::successors(Some(branch), up) {
            if let Some(sum) = sums.get(branch as usize) {
                along.add(sum);
            }
        }
        along
    }

    fn charge(
        &mut self,
        history: &History,
        uses: &Uses,
        prices: &PriceList,
        branch_of: impl Fn(NodeId) -> u32,
    ) {
        let mut till = Till { models: uses.models.clone(), prices, rows: Vec::new() };
        let mut seen = Seen::default();
        let mut charges: Vec<Charge> = Vec::with_capacity(uses.list.len());
        let mut merged: FxHashMap<Key, usize> = FxHashMap::default();
        for used in &uses.list {
            let record = history.session.record(used.record);
            let usage = uses.usage(used);
            let (part, more) = till.parts(used, &usage);
            let charge = Charge {
                message: used.message,
                request: used.request,
                time: record.time,
                sidechain: record.sidechain,
                branch: branch_of(used.record),
                fast: usage.is_fast(),
                part,
                more,
            };
            let copied = || merged.get(&used.merged?).copied();
            let held = seen.find(&charge, |place| &charges[place]).or_else(copied);
            if let Some(origin) = used.merged {
                merged.entry(origin).or_insert(held.unwrap_or(charges.len()));
            }
            match held {
                Some(place) => charges[place].absorb(charge),
                None => {
                    seen.note(charge.message, charges.len());
                    charges.push(charge);
                }
            }
        }
        self.stretches = stretches(&charges);
        self.messages = charges.iter().filter_map(|charge| charge.message).collect();
        // Piece by piece: encoding needs as much room again as what is encoded.
        let pieces = charges.chunks(PIECE);
        self.charges = pieces.map(|piece| bitcode::encode(piece).into()).collect();
        self.models = till.models;
    }
}

/// Prices the messages of one file; the price of each model is looked up once.
struct Till<'a> {
    models: Vec<Box<str>>,
    prices: &'a PriceList,
    rows: Vec<Option<&'a Row>>,
}

impl Till<'_> {
    fn parts(&mut self, used: &Use, usage: &Usage) -> (Part, Vec<Part>) {
        let searches = searches_cost(usage);
        if usage.iterations.len() < 2 {
            let list = self.row(used.model).map(|row| row.cost(usage, usage) + searches);
            let cost = used.noted.or(list);
            return (Part { model: used.model, tokens: Tokens::of(usage), cost }, Vec::new());
        }
        let mut parts: Vec<Part> = Vec::with_capacity(usage.iterations.len());
        for run in &usage.iterations {
            let model = run.model.as_deref().map_or(used.model, |name| self.model(name));
            let cost = self.row(model).map(|row| row.cost(&run.usage, usage));
            parts.push(Part { model, tokens: Tokens::of(&run.usage), cost });
        }
        // Web searches and thinking are counted for the whole message.
        let mut first = parts.remove(0);
        first.cost = first.cost.map(|cost| cost + searches);
        first.tokens.web_searches = usage.web_search_requests;
        first.tokens.web_fetches = usage.web_fetch_requests;
        first.tokens.thinking = usage.thinking_tokens;
        (first, parts)
    }

    fn row(&mut self, model: u16) -> Option<&Row> {
        while self.rows.len() < self.models.len() {
            self.rows.push(self.prices.row(&self.models[self.rows.len()]));
        }
        self.rows[usize::from(model)]
    }

    fn model(&mut self, name: &str) -> u16 {
        index(&mut self.models, name)
    }
}

/// Splits the tree at its fork points; returns the branches and the branch of each message.
fn branches(history: &History) -> (Vec<Branch>, Vec<u32>) {
    let History { session, folds, branches, .. } = history;
    let lane = history.lane();
    let mut begins = vec![false; folds.len()];
    for way in branches.forks.iter().flat_map(|fork| &fork.ways) {
        begins[way.fold.index()] = true;
    }
    let active = active(history);
    let mut of = vec![u32::MAX; folds.len()];
    let mut cut: Vec<Branch> = Vec::new();
    for (id, fold) in folds.iter().filter(|(_, fold)| lane.has(fold.sidechain)) {
        let parent = fold.parent.map(|parent| of[parent.index()]).filter(|of| *of != u32::MAX);
        let at = match parent {
            Some(parent) if !begins[id.index()] => parent,
            _ => {
                let name = session.record(fold.head).name;
                cut.push(Branch {
                    head: name.map(|name| session.spell(name)).unwrap_or_default().into(),
                    parent,
                    status: Status::Abandoned,
                    prompt: None,
                });
                cut.len() as u32 - 1
            }
        };
        of[id.index()] = at;
        let branch = &mut cut[at as usize];
        if active[id.index()] {
            branch.status = Status::Active;
        }
        if branch.prompt.is_none() && fold.voice == Voice::Prompt {
            let words = session.words(fold.head).map(|words| one_line(&label_text(words)));
            branch.prompt = words.filter(|words| !words.is_empty());
        }
    }
    hang_sidechains(history, &mut of);
    (cut, of)
}

/// Assigns the sidechains inside a file to the branch of the call that started them.
fn hang_sidechains(history: &History, of: &mut [u32]) {
    let folds = &history.folds;
    if !of.contains(&u32::MAX) {
        return;
    }
    for agent in inline_agents(history) {
        let call = agent.call.and_then(|call| folds.of(history.tree.first(call)));
        let branch = call.map_or(u32::MAX, |call| of[call.index()]);
        if let Some(root) = folds.of(agent.root)
            && of[root.index()] == u32::MAX
        {
            of[root.index()] = branch;
        }
    }
    for (id, fold) in folds.iter() {
        if of[id.index()] == u32::MAX {
            let parent = fold.parent.map_or(u32::MAX, |parent| of[parent.index()]);
            of[id.index()] = if parent == u32::MAX { 0 } else { parent };
        }
    }
}

/// Marks the messages that are on an active conversation.
fn active(history: &History) -> Vec<bool> {
    let mut active = vec![false; history.folds.len()];
    let ends = history.branches.conversations.iter().filter(|c| c.status == Status::Active);
    for conversation in ends {
        let unmarked = |fold: &FoldId| !active[fold.index()];
        let path: Vec<FoldId> =
            history.folds.ancestors(conversation.end).take_while(unmarked).collect();
        path.iter().for_each(|fold| active[fold.index()] = true);
    }
    active
}

fn hooks(history: &History, branch_of: impl Fn(NodeId) -> u32) -> FxHashMap<Key, u32> {
    let mut hooks = FxHashMap::default();
    for spawn in history.session.spawns() {
        let branch = branch_of(spawn.record);
        hooks.insert(spawn.call, branch);
        if let Some(prompt) = spawn.prompt {
            hooks.entry(prompt).or_insert(branch);
        }
    }
    for (result, agent) in history.session.agent_results() {
        hooks.insert(Key::new(agent.as_bytes()), branch_of(*result));
    }
    hooks
}

/// The usage of one model on one branch within a quarter of an hour.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct Stretch {
    pub kin: Kin,
    pub sum: Sum,
}

/// What the messages of a bucket have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Kin {
    pub branch: u32,
    pub sidechain: bool,
    /// The model's number in the same file or ledger.
    pub model: u16,
    /// `None`: no record has a time.
    pub quarter: Option<Quarter>,
}

/// A quarter of an hour: in no time zone does the day change within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Quarter(i64);

impl Quarter {
    const MILLIS: i64 = 900_000;

    /// Returns the quarter that a time lies in.
    pub fn of(time: Time) -> Self {
        Self(time.millis().div_euclid(Self::MILLIS))
    }

    /// Returns when it begins.
    pub fn start(self) -> Time {
        Time::from_millis(self.0.saturating_mul(Self::MILLIS))
    }
}

/// Adds up charges; a message counts for the model that began it.
pub(super) fn stretches(charges: &[Charge]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut places: FxHashMap<Kin, usize> = FxHashMap::default();
    for charge in charges {
        for Stretch { kin, sum } in charge.stretches() {
            let place = match stretches.last() {
                // Messages that follow one another mostly belong together.
                Some(last) if last.kin == kin => stretches.len() - 1,
                _ => *places.entry(kin).or_insert(stretches.len()),
            };
            match stretches.get_mut(place) {
                Some(stretch) => stretch.sum.add(&sum),
                None => stretches.push(Stretch { kin, sum }),
            }
        }
    }
    stretches
}
