//! Combines the usage of many files: a message that is in several counts once (R20). Totals by day, by
//! session and by block of five hours.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rustc_hash::FxHashMap;

use super::UsageTotal;
use super::file_usage::{FileUsage, QuarterHour, UsageBucket, model_index};
use super::message_usage::{MessageIndex, MessageUsage};
use crate::branches::BranchStatus;
use crate::digest::SessionDigest;
use crate::ids::IdHash;
use crate::lineage::{Lineage, SessionEntry};
use crate::time::Time;

/// One file of the ledger.
#[derive(Debug)]
pub struct LedgerFile<'a> {
    pub usage: &'a FileUsage,
    pub digest: &'a SessionDigest,
    pub id: &'a str,
    /// When the file was created, where the file system knows.
    pub created: Option<Time>,
    /// The session that the file belongs to: its own index, or that of the session that started the
    /// sub-agent. `None`: that session is gone.
    pub session: Option<usize>,
    /// It belongs to a sub-agent.
    pub agent: bool,
    /// `toolUseId` in the metadata file of a sub-agent.
    pub call: Option<IdHash>,
}

/// Every message once, with its owner.
#[derive(Debug, Default)]
pub struct UsageLedger {
    /// The models, by the numbers used in entries and messages.
    pub models: Vec<Box<str>>,
    /// The buckets of files that share no message with another.
    bucket_entries: Vec<LedgerEntry>,
    /// The messages of the other files.
    ledger_messages: Vec<LedgerMessage>,
    /// Their usage, by file; `ledger_messages` refers to it.
    message_usages: Vec<Vec<MessageUsage>>,
    /// The index of each message; it is no longer valid after entries were removed.
    message_index: MessageIndex,
}

/// Where a message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageOwner {
    /// Its file, the oldest one if there are copies.
    pub file: u32,
    /// Its session: that file, or the session that started the sub-agent.
    pub session: u32,
    /// The branch of the session.
    pub segment: u32,
    /// It belongs to a sub-agent, not to the main chain.
    pub agent: bool,
    /// Abandoned only if every copy is: a fork may have continued what its origin abandoned.
    pub status: BranchStatus,
}

/// The usage of one model, for one message or for several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct LedgerEntry {
    pub owner: UsageOwner,
    pub model: u16,
    /// `None`: no record has a time.
    pub quarter: Option<QuarterHour>,
    pub total: UsageTotal,
}

/// One message of the ledger.
#[derive(Clone, Copy, Debug)]
struct LedgerMessage {
    owner: UsageOwner,
    /// The indices of the list and of the usage in it.
    usage_index: (u32, u32),
}

impl UsageLedger {
    /// Combines the usage of files. For files that share no message with another, the buckets are
    /// enough, unless `each` message will be requested.
    pub fn new(files: &[LedgerFile<'_>], each: bool) -> Self {
        let hung = assign_agents(files);
        let is_shared = if each { vec![true; files.len()] } else { files_sharing_messages(files) };
        let mut ledger = Self::default();
        for index in files_by_age(files) {
            let account = files[index].usage;
            let owner = |branch, sidechain| owner_of(files, index, hung[index], branch, sidechain);
            let models = ledger.model_numbers(&account.models);
            if is_shared[index] {
                let mut usages = account.message_usages();
                renumber_models(&mut usages, &models);
                ledger.add_messages(usages, owner);
            } else {
                ledger.bucket_entries.extend(account.buckets.iter().map(
                    |UsageBucket { key, total: sum }| LedgerEntry {
                        owner: owner(key.segment, key.sidechain),
                        model: models[usize::from(key.model)],
                        quarter: key.quarter,
                        total: *sum,
                    },
                ));
            }
        }
        ledger
    }

    /// Adds a file whose branches do not matter. The ledger must have been made with `each`.
    pub fn add_file(&mut self, account: &FileUsage, agent: bool) {
        let mut usages = account.message_usages();
        renumber_models(&mut usages, &self.model_numbers(&account.models));
        self.add_messages(usages, |branch, sidechain| UsageOwner {
            file: u32::MAX,
            session: u32::MAX,
            segment: branch,
            agent: agent || sidechain,
            status: BranchStatus::Active,
        });
    }

    /// Keeps only the given models and times. The ledger must have been made with `each`.
    pub fn retain_matching(
        &mut self,
        model: impl Fn(&str) -> bool,
        time: impl Fn(Option<Time>) -> bool,
    ) {
        let wanted: Vec<bool> = self.models.iter().map(|name| model(name)).collect();
        self.ledger_messages.retain(|LedgerMessage { usage_index: (list, at), .. }| {
            let message_usage = &mut self.message_usages[*list as usize][*at as usize];
            message_usage.other_models.retain(|part| wanted[usize::from(part.model)]);
            if !wanted[usize::from(message_usage.first_model.model)] {
                if message_usage.other_models.is_empty() {
                    return false;
                }
                message_usage.first_model = message_usage.other_models.remove(0);
            }
            time(message_usage.time)
        });
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.bucket_entries.is_empty() && self.ledger_messages.is_empty()
    }

    /// Returns the messages with their owners. The ledger must have been made with `each`.
    pub fn messages(&self) -> impl Iterator<Item = (UsageOwner, &MessageUsage)> {
        self.ledger_messages.iter().map(|entry| (entry.owner, self.message_usage(entry)))
    }

    /// Returns all entries.
    pub fn entries(&self) -> impl Iterator<Item = LedgerEntry> {
        let each = self.messages().flat_map(|(owner, message_usage)| {
            message_usage.buckets().map(move |UsageBucket { key, total: sum }| LedgerEntry {
                owner,
                model: key.model,
                quarter: key.quarter,
                total: sum,
            })
        });
        self.bucket_entries.iter().copied().chain(each)
    }

    /// Adds up the entries by owner.
    pub fn totals_by<K: Ord>(&self, key: impl Fn(&UsageOwner) -> K) -> BTreeMap<K, UsageTotal> {
        let mut sums: BTreeMap<K, UsageTotal> = BTreeMap::new();
        for post in self.entries() {
            sums.entry(key(&post.owner)).or_default().add(&post.total);
        }
        sums
    }

    fn message_usage(&self, entry: &LedgerMessage) -> &MessageUsage {
        let (list, at) = entry.usage_index;
        &self.message_usages[list as usize][at as usize]
    }

    /// Returns the numbers of models in this ledger.
    fn model_numbers(&mut self, names: &[Box<str>]) -> Vec<u16> {
        names.iter().map(|name| model_index(&mut self.models, name)).collect()
    }

    fn add_messages(&mut self, usages: Vec<MessageUsage>, owner: impl Fn(u32, bool) -> UsageOwner) {
        let list = self.message_usages.len();
        self.message_usages.push(Vec::with_capacity(usages.len()));
        for message_usage in usages {
            let owner = owner(message_usage.segment, message_usage.sidechain);
            match self.message_index.find_message(&message_usage, |place| {
                let held = self.message_usage(&self.ledger_messages[place]);
                (held.request, held.sidechain)
            }) {
                Some(place) => self.merge_copy(place, owner, message_usage),
                None => {
                    self.message_index
                        .add_message(message_usage.message, self.ledger_messages.len());
                    let at = self.message_usages[list].len() as u32;
                    self.ledger_messages
                        .push(LedgerMessage { owner, usage_index: (list as u32, at) });
                    self.message_usages[list].push(message_usage);
                }
            }
        }
    }

    /// Adds another copy of a message.
    fn merge_copy(&mut self, place: usize, owner: UsageOwner, message_usage: MessageUsage) {
        let LedgerMessage { owner: held, usage_index: (list, at) } =
            &mut self.ledger_messages[place];
        let own = &mut self.message_usages[*list as usize][*at as usize];
        let status = held.status.min(owner.status);
        if own.is_better_placed(&message_usage) {
            *held = owner;
        }
        held.status = status;
        own.merge_record(message_usage);
    }
}

fn renumber_models(usages: &mut [MessageUsage], models: &[u16]) {
    for part in usages.iter_mut().flat_map(MessageUsage::model_usages_mut) {
        part.model = models[usize::from(part.model)];
    }
}

/// Finds the files with a message that is also in another file.
fn files_sharing_messages(files: &[LedgerFile<'_>]) -> Vec<bool> {
    let most = files.iter().map(|file| file.usage.message_ids.len()).sum();
    let mut homes: FxHashMap<IdHash, usize> =
        FxHashMap::with_capacity_and_hasher(most, rustc_hash::FxBuildHasher);
    let mut shared = vec![false; files.len()];
    for (index, file) in files.iter().enumerate() {
        for message in &file.usage.message_ids {
            let owner = *homes.entry(*message).or_insert(index);
            if owner != index {
                (shared[owner], shared[index]) = (true, true);
            }
        }
    }
    shared
}

fn owner_of(
    files: &[LedgerFile<'_>],
    index: usize,
    hung: Option<AgentStart>,
    branch: u32,
    sidechain: bool,
) -> UsageOwner {
    let file = &files[index];
    let AgentStart { session, branch } = hung.unwrap_or(AgentStart { session: index, branch });
    let status = files[session].usage.segments.get(branch as usize);
    UsageOwner {
        file: index as u32,
        session: session as u32,
        segment: branch,
        agent: file.agent || sidechain,
        status: status.map_or(BranchStatus::Active, |branch| branch.status),
    }
}

/// Orders files so that an original comes before its copies, and sessions before sub-agents.
fn files_by_age(files: &[LedgerFile<'_>]) -> Vec<usize> {
    let entries: Vec<SessionEntry<'_>> = files
        .iter()
        .filter(|file| !file.agent)
        .map(|&LedgerFile { id, digest, created, .. }| SessionEntry { id, digest, created })
        .collect();
    let lineage = Lineage::new(&entries);
    let mut generations = vec![0; files.len()];
    let sessions = (0..files.len()).filter(|index| !files[*index].agent);
    for (entry, file) in sessions.enumerate() {
        generations[file] = lineage.generation_of(entry);
    }
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|index| {
        let file = &files[*index];
        (file.agent, generations[*index], file.digest.facts.last_active, file.id)
    });
    order
}

/// Where an agent was started.
#[derive(Clone, Copy, Debug)]
struct AgentStart {
    session: usize,
    branch: u32,
}

/// Finds the branch on which each sub-agent was started; nested sub-agents get the branch of the outermost.
fn assign_agents(files: &[LedgerFile<'_>]) -> Vec<Option<AgentStart>> {
    let mut siblings: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (index, file) in files.iter().enumerate().filter(|(_, file)| file.agent) {
        if let Some(session) = file.session {
            siblings.entry(session).or_default().push(index);
        }
    }
    let mut hung = vec![None; files.len()];
    for (session, agents) in siblings {
        let (mut done, mut open): (Vec<usize>, Vec<usize>) = agents
            .into_iter()
            .partition(|agent| start_segment(&files[session], &files[*agent]).is_some());
        for agent in &done {
            let branch = start_segment(&files[session], &files[*agent]).unwrap_or(0);
            hung[*agent] = Some(AgentStart { session, branch });
        }
        while let Some(parent) = done.pop()
            && !open.is_empty()
        {
            let (below, rest): (Vec<usize>, _) = open
                .into_iter()
                .partition(|agent| start_segment(&files[parent], &files[*agent]).is_some());
            open = rest;
            for agent in below {
                hung[agent] = hung[parent];
                done.push(agent);
            }
        }
        // Unknown: use the branch that the session is on now.
        let now = files[session].digest.conversations.iter().position(|c| c.resumes);
        let branch =
            now.and_then(|n| files[session].usage.conversation_ends.get(n)).copied().unwrap_or(0);
        open.iter().for_each(|agent| hung[*agent] = Some(AgentStart { session, branch }));
    }
    hung
}

fn start_segment(parent: &LedgerFile<'_>, agent: &LedgerFile<'_>) -> Option<u32> {
    let hooks = &parent.usage.agent_starts;
    let keys = [Some(IdHash::new(agent.id.as_bytes())), agent.call, agent.usage.opening];
    keys.into_iter().flatten().find_map(|key| hooks.get(&key)).copied()
}

/// The owner of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileOwner<'a> {
    pub project: &'a str,
    /// The working directory of the project, if a session records it.
    pub path: Option<&'a str>,
    /// The session, or the session of a sub-agent, whose file may no longer exist.
    pub session: &'a str,
    /// The file is that of the session itself.
    pub own: bool,
    pub title: Option<&'a str>,
    pub last_active: Option<Time>,
}

/// All totals, computed in one pass over the entries.
#[derive(Debug)]
pub struct LedgerTotals<'a> {
    pub total: UsageTotal,
    pub main: UsageTotal,
    pub agents: UsageTotal,
    pub active: UsageTotal,
    pub abandoned: UsageTotal,
    /// By day; messages without a time are on none.
    pub days: BTreeMap<Date, UsageTotal>,
    /// Messages without a time.
    pub undated: UsageTotal,
    /// By model; a message counts for the one that began it.
    pub models: BTreeMap<&'a str, UsageTotal>,
    /// By file of the session, or of a sub-agent whose session was deleted.
    pub sessions: Vec<SessionTotal>,
}

/// The usage of one session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionTotal {
    pub all: UsageTotal,
    /// Dollars for sub-agents, and for abandoned branches.
    pub agents: f64,
    pub abandoned: f64,
}

impl<'a> LedgerTotals<'a> {
    /// Sums up the ledger of a number of files, by the days of a time zone.
    pub fn new(ledger: &'a UsageLedger, files: usize, zone: &TimeZone) -> Self {
        let none = UsageTotal::default();
        let mut sums = Self {
            total: none,
            main: none,
            agents: none,
            active: none,
            abandoned: none,
            days: BTreeMap::new(),
            undated: none,
            models: BTreeMap::new(),
            sessions: vec![SessionTotal::default(); files],
        };
        let mut models: Vec<Option<UsageTotal>> = vec![None; ledger.models.len()];
        let mut calendar = DayCache { zone, quarter: None, day: None };
        for LedgerEntry { owner, model, quarter, total: sum } in ledger.entries() {
            models[usize::from(model)].get_or_insert_default().add(&sum);
            sums.add_entry(owner, calendar.day_of(quarter), &sum);
        }
        let named = ledger.models.iter().map(|model| &**model).zip(models);
        sums.models = named.filter_map(|(model, sum)| Some((model, sum?))).collect();
        sums
    }

    fn add_entry(
        &mut self,
        UsageOwner { session, agent, status, .. }: UsageOwner,
        day: Option<Date>,
        sum: &UsageTotal,
    ) {
        self.total.add(sum);
        let session = &mut self.sessions[session as usize];
        session.all.add(sum);
        match agent {
            true => {
                self.agents.add(sum);
                session.agents += sum.cost;
            }
            false => self.main.add(sum),
        }
        match status {
            BranchStatus::Active => self.active.add(sum),
            BranchStatus::Abandoned => {
                self.abandoned.add(sum);
                session.abandoned += sum.cost;
            }
        }
        match day {
            Some(day) => self.days.entry(day).or_default().add(sum),
            None => self.undated.add(sum),
        }
    }
}

/// Computes days and caches the last one, because equal quarters follow each other.
pub(super) struct DayCache<'a> {
    pub(super) zone: &'a TimeZone,
    pub(super) quarter: Option<QuarterHour>,
    pub(super) day: Option<Date>,
}

impl DayCache<'_> {
    pub(super) fn day_of(&mut self, quarter: Option<QuarterHour>) -> Option<Date> {
        if quarter != self.quarter {
            self.quarter = quarter;
            self.day = quarter
                .map(|quarter| self.zone.to_datetime(quarter.start_time().to_timestamp()).date());
        }
        self.day
    }
}

/// How long a block lasts, in milliseconds.
const BLOCK_MILLIS: i64 = 5 * HOUR_MILLIS;
const HOUR_MILLIS: i64 = 3_600_000;

/// Five hours of use, as subscriptions measure it: from the hour of the first message on. The first message
/// after that begins the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageBlock {
    pub start: Time,
    pub end: Time,
}

impl UsageBlock {
    /// Returns the block that is running now, given the times of messages; `None`: no message is in it.
    pub fn running_at(times: impl IntoIterator<Item = Time>, now: Time) -> Option<Self> {
        let mut times: Vec<Time> = times.into_iter().filter(|time| *time <= now).collect();
        times.sort_unstable();
        let mut block: Option<Self> = None;
        for time in times {
            if block.is_none_or(|block| time >= block.end) {
                block = Some(Self::from(time));
            }
        }
        block.filter(|block| now < block.end)
    }

    /// Returns the day on which the block begins in a time zone.
    pub fn start_day(&self, zone: &TimeZone) -> Date {
        zone.to_datetime(self.start.to_timestamp()).date()
    }

    /// Whether a time is within the block.
    pub fn contains(&self, time: Time) -> bool {
        self.start <= time && time < self.end
    }

    /// Returns how much of the block is over, from 0 to 1.
    pub fn elapsed_share(&self, now: Time) -> f64 {
        let passed = now.as_millis() - self.start.as_millis();
        (passed as f64 / BLOCK_MILLIS as f64).clamp(0.0, 1.0)
    }
}

impl From<Time> for UsageBlock {
    fn from(first: Time) -> Self {
        let start = first.as_millis().div_euclid(HOUR_MILLIS) * HOUR_MILLIS;
        Self { start: Time::from_millis(start), end: Time::from_millis(start + BLOCK_MILLIS) }
    }
}

#[cfg(test)]
mod tests {
    use super::UsageBlock;
    use crate::time::Time;

    #[track_caller]
    fn check(times: &[&str], now: &str, expected: Option<&str>) {
        let time =
            |text: &&str| Time::parse(format!("2026-01-0{text}:00.000Z").as_bytes()).unwrap();
        let found = UsageBlock::running_at(times.iter().map(time), time(&now));
        assert_eq!(found.map(|block| block.start), expected.as_ref().map(time));
    }

    #[test]
    fn a_block_begins_with_the_hour_and_lasts_five() {
        check(&[], "1T10:00", None);
        check(&["1T10:20"], "1T12:00", Some("1T10:00"));
        check(&["1T10:20"], "1T14:59", Some("1T10:00"));
        check(&["1T10:20"], "1T15:00", None);
        check(&["1T15:30", "1T10:20", "1T14:50"], "1T16:00", Some("1T15:00"));
        // What is dated in the future does not count yet.
        check(&["1T10:20", "2T10:00"], "1T11:00", Some("1T10:00"));
    }

    #[test]
    fn a_block_knows_how_far_it_is() {
        let block = UsageBlock::from(Time::from_millis(0));
        assert!(block.contains(Time::from_millis(1)) && !block.contains(block.end));
        assert!((block.elapsed_share(Time::from_millis(9_000_000)) - 0.5).abs() < 1e-9);
    }
}
