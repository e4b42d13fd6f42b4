//! Combines the usage of many files: a message that is in several counts once (R20). Totals by day, by
//! session and by block of five hours.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rustc_hash::FxHashMap;

use super::Sum;
use super::account::{Account, Quarter, Stretch, index};
use super::message::{Charge, Seen};
use crate::branches::Status;
use crate::digest::Digest;
use crate::lineage::{Lineage, SessionEntry};
use crate::name::Key;
use crate::time::Time;

/// One file of the ledger.
#[derive(Debug)]
pub struct FileAccount<'a> {
    pub account: &'a Account,
    pub digest: &'a Digest,
    pub id: &'a str,
    /// When the file was created, where the file system knows.
    pub created: Option<Time>,
    /// The session that the file belongs to: its own index, or that of the session that started the
    /// sub-agent. `None`: that session is gone.
    pub session: Option<usize>,
    /// It belongs to a sub-agent.
    pub agent: bool,
    /// `toolUseId` in the metadata file of a sub-agent.
    pub call: Option<Key>,
}

/// Every message once, with its owner.
#[derive(Debug, Default)]
pub struct Books {
    /// The models, by the numbers used in entries and messages.
    pub models: Vec<Box<str>>,
    /// The buckets of files that share no message with another.
    plain: Vec<Post>,
    /// The messages of the other files.
    entries: Vec<Entry>,
    /// Their usage, by file; `entries` refers to it.
    charges: Vec<Vec<Charge>>,
    /// The index of each message; it is no longer valid after entries were removed.
    seen: Seen,
}

/// Where a message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Its file, the oldest one if there are copies.
    pub file: u32,
    /// Its session: that file, or the session that started the sub-agent.
    pub session: u32,
    /// The branch of the session.
    pub branch: u32,
    /// It belongs to a sub-agent, not to the main chain.
    pub agent: bool,
    /// Abandoned only if every copy is: a fork may have continued what its origin abandoned.
    pub status: Status,
}

/// The usage of one model, for one message or for several that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Post {
    pub home: Home,
    pub model: u16,
    /// `None`: no record has a time.
    pub quarter: Option<Quarter>,
    pub sum: Sum,
}

/// One message of the ledger.
#[derive(Clone, Copy, Debug)]
struct Entry {
    home: Home,
    /// The indices of the list and of the usage in it.
    charge: (u32, u32),
}

impl Books {
    /// Combines the usage of files. For files that share no message with another, the buckets are
    /// enough, unless `each` message will be requested.
    pub fn new(files: &[FileAccount<'_>], each: bool) -> Self {
        let hung = hang_agents(files);
        let is_shared = if each { vec![true; files.len()] } else { shared(files) };
        let mut books = Self::default();
        for index in by_age(files) {
            let account = files[index].account;
            let home = |branch, sidechain| home(files, index, hung[index], branch, sidechain);
            let models = books.numbers(&account.models);
            if is_shared[index] {
                let mut charges = account.charges();
                rename(&mut charges, &models);
                books.take_list(charges, home);
            } else {
                books.plain.extend(account.stretches.iter().map(|Stretch { kin, sum }| Post {
                    home: home(kin.branch, kin.sidechain),
                    model: models[usize::from(kin.model)],
                    quarter: kin.quarter,
                    sum: *sum,
                }));
            }
        }
        books
    }

    /// Adds a file whose branches do not matter. The ledger must have been made with `each`.
    pub fn add(&mut self, account: &Account, agent: bool) {
        let mut charges = account.charges();
        rename(&mut charges, &self.numbers(&account.models));
        self.take_list(charges, |branch, sidechain| Home {
            file: u32::MAX,
            session: u32::MAX,
            branch,
            agent: agent || sidechain,
            status: Status::Active,
        });
    }

    /// Keeps only the given models and times. The ledger must have been made with `each`.
    pub fn keep(&mut self, model: impl Fn(&str) -> bool, time: impl Fn(Option<Time>) -> bool) {
        let wanted: Vec<bool> = self.models.iter().map(|name| model(name)).collect();
        self.entries.retain(|Entry { charge: (list, at), .. }| {
            let charge = &mut self.charges[*list as usize][*at as usize];
            charge.more.retain(|part| wanted[usize::from(part.model)]);
            if !wanted[usize::from(charge.part.model)] {
                if charge.more.is_empty() {
                    return false;
                }
                charge.part = charge.more.remove(0);
            }
            time(charge.time)
        });
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.entries.is_empty()
    }

    /// Returns the messages with their owners. The ledger must have been made with `each`.
    pub fn each(&self) -> impl Iterator<Item = (Home, &Charge)> {
        self.entries.iter().map(|entry| (entry.home, self.charge(entry)))
    }

    /// Returns all entries.
    pub fn posts(&self) -> impl Iterator<Item = Post> {
        let each = self.each().flat_map(|(home, charge)| {
            charge.stretches().map(move |Stretch { kin, sum }| Post {
                home,
                model: kin.model,
                quarter: kin.quarter,
                sum,
            })
        });
        self.plain.iter().copied().chain(each)
    }

    /// Adds up the entries by owner.
    pub fn by<K: Ord>(&self, key: impl Fn(&Home) -> K) -> BTreeMap<K, Sum> {
        let mut sums: BTreeMap<K, Sum> = BTreeMap::new();
        for post in self.posts() {
            sums.entry(key(&post.home)).or_default().add(&post.sum);
        }
        sums
    }

    fn charge(&self, entry: &Entry) -> &Charge {
        let (list, at) = entry.charge;
        &self.charges[list as usize][at as usize]
    }

    /// Returns the numbers of models in this ledger.
    fn numbers(&mut self, names: &[Box<str>]) -> Vec<u16> {
        names.iter().map(|name| index(&mut self.models, name)).collect()
    }

    fn take_list(&mut self, charges: Vec<Charge>, home: impl Fn(u32, bool) -> Home) {
        let list = self.charges.len();
        self.charges.push(Vec::with_capacity(charges.len()));
        for charge in charges {
            let home = home(charge.branch, charge.sidechain);
            match self.seen.find(&charge, |place| self.charge(&self.entries[place])) {
                Some(place) => self.merge(place, home, charge),
                None => {
                    self.seen.note(charge.message, self.entries.len());
                    let at = self.charges[list].len() as u32;
                    self.entries.push(Entry { home, charge: (list as u32, at) });
                    self.charges[list].push(charge);
                }
            }
        }
    }

    /// Adds another copy of a message.
    fn merge(&mut self, place: usize, home: Home, charge: Charge) {
        let Entry { home: held, charge: (list, at) } = &mut self.entries[place];
        let own = &mut self.charges[*list as usize][*at as usize];
        let status = held.status.min(home.status);
        if own.moves_to(&charge) {
            *held = home;
        }
        held.status = status;
        own.absorb(charge);
    }
}

fn rename(charges: &mut [Charge], models: &[u16]) {
    for part in charges.iter_mut().flat_map(Charge::parts_mut) {
        part.model = models[usize::from(part.model)];
    }
}

/// Finds the files with a message that is also in another file.
fn shared(files: &[FileAccount<'_>]) -> Vec<bool> {
    let most = files.iter().map(|file| file.account.messages.len()).sum();
    let mut homes: FxHashMap<Key, usize> =
        FxHashMap::with_capacity_and_hasher(most, rustc_hash::FxBuildHasher);
    let mut shared = vec![false; files.len()];
    for (index, file) in files.iter().enumerate() {
        for message in &file.account.messages {
            let home = *homes.entry(*message).or_insert(index);
            if home != index {
                (shared[home], shared[index]) = (true, true);
            }
        }
    }
    shared
}

fn home(
    files: &[FileAccount<'_>],
    index: usize,
    hung: Option<Hung>,
    branch: u32,
    sidechain: bool,
) -> Home {
    let file = &files[index];
    let Hung { session, branch } = hung.unwrap_or(Hung { session: index, branch });
    let status = files[session].account.branches.get(branch as usize);
    Home {
        file: index as u32,
        session: session as u32,
        branch,
        agent: file.agent || sidechain,
        status: status.map_or(Status::Active, |branch| branch.status),
    }
}

/// Orders files so that an original comes before its copies, and sessions before sub-agents.
fn by_age(files: &[FileAccount<'_>]) -> Vec<usize> {
    let entries: Vec<SessionEntry<'_>> = files
        .iter()
        .filter(|file| !file.agent)
        .map(|&FileAccount { id, digest, created, .. }| SessionEntry { id, digest, created })
        .collect();
    let lineage = Lineage::new(&entries);
    let mut generations = vec![0; files.len()];
    let sessions = (0..files.len()).filter(|index| !files[*index].agent);
    for (entry, file) in sessions.enumerate() {
        generations[file] = lineage.generation(entry);
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
struct Hung {
    session: usize,
    branch: u32,
}

/// Finds the branch on which each sub-agent was started; nested sub-agents get the branch of the outermost.
fn hang_agents(files: &[FileAccount<'_>]) -> Vec<Option<Hung>> {
    let mut siblings: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (index, file) in files.iter().enumerate().filter(|(_, file)| file.agent) {
        if let Some(session) = file.session {
            siblings.entry(session).or_default().push(index);
        }
    }
    let mut hung = vec![None; files.len()];
    for (session, agents) in siblings {
        let (mut done, mut open): (Vec<usize>, Vec<usize>) =
            agents.into_iter().partition(|agent| hook(&files[session], &files[*agent]).is_some());
        for agent in &done {
            let branch = hook(&files[session], &files[*agent]).unwrap_or(0);
            hung[*agent] = Some(Hung { session, branch });
        }
        while let Some(parent) = done.pop()
            && !open.is_empty()
        {
            let (below, rest): (Vec<usize>, _) =
                open.into_iter().partition(|agent| hook(&files[parent], &files[*agent]).is_some());
            open = rest;
            for agent in below {
                hung[agent] = hung[parent];
                done.push(agent);
            }
        }
        // Unknown: use the branch that the session is on now.
        let now = files[session].digest.conversations.iter().position(|c| c.resumes);
        let branch = now.and_then(|n| files[session].account.ends.get(n)).copied().unwrap_or(0);
        open.iter().for_each(|agent| hung[*agent] = Some(Hung { session, branch }));
    }
    hung
}

fn hook(parent: &FileAccount<'_>, agent: &FileAccount<'_>) -> Option<u32> {
    let hooks = &parent.account.hooks;
    let keys = [Some(Key::new(agent.id.as_bytes())), agent.call, agent.account.opening];
    keys.into_iter().flatten().find_map(|key| hooks.get(&key)).copied()
}

/// The owner of a file.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    pub project: &'a str,
    /// The working directory of the project, if a session records it.
    pub path: Option<&'a str>,
    /// The session, or that of a sub-agent, whose file may be gone.
    pub session: &'a str,
    /// The file is that of the session itself.
    pub own: bool,
    pub title: Option<&'a str>,
    pub last_active: Option<Time>,
}

/// All totals, computed in one pass over the entries.
#[derive(Debug)]
pub struct Sums<'a> {
    pub total: Sum,
    pub main: Sum,
    pub agents: Sum,
    pub active: Sum,
    pub abandoned: Sum,
    /// By day; messages without a time are on none.
    pub days: BTreeMap<Date, Sum>,
    /// Messages without a time.
    pub undated: Sum,
    /// By model; a message counts for the one that began it.
    pub models: BTreeMap<&'a str, Sum>,
    /// By file of the session, or of a sub-agent whose session is gone.
    pub sessions: Vec<SessionSum>,
}

/// The usage of one session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionSum {
    pub all: Sum,
    /// Dollars for sub-agents, and for abandoned branches.
    pub agents: f64,
    pub abandoned: f64,
}

impl<'a> Sums<'a> {
    /// Adds up the books of so many files, by the days of a time zone.
    pub fn new(books: &'a Books, files: usize, zone: &TimeZone) -> Self {
        let none = Sum::default();
        let mut sums = Self {
            total: none,
            main: none,
            agents: none,
            active: none,
            abandoned: none,
            days: BTreeMap::new(),
            undated: none,
            models: BTreeMap::new(),
            sessions: vec![SessionSum::default(); files],
        };
        let mut models: Vec<Option<Sum>> = vec![None; books.models.len()];
        let mut calendar = Calendar { zone, quarter: None, day: None };
        for Post { home, model, quarter, sum } in books.posts() {
            models[usize::from(model)].get_or_insert_default().add(&sum);
            sums.add(home, calendar.day(quarter), &sum);
        }
        let named = books.models.iter().map(|model| &**model).zip(models);
        sums.models = named.filter_map(|(model, sum)| Some((model, sum?))).collect();
        sums
    }

    fn add(&mut self, Home { session, agent, status, .. }: Home, day: Option<Date>, sum: &Sum) {
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
            Status::Active => self.active.add(sum),
            Status::Abandoned => {
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
struct Calendar<'a> {
    zone: &'a TimeZone,
    quarter: Option<Quarter>,
    day: Option<Date>,
}

impl Calendar<'_> {
    fn day(&mut self, quarter: Option<Quarter>) -> Option<Date> {
        if quarter != self.quarter {
            self.quarter = quarter;
            self.day =
                quarter.map(|quarter| self.zone.to_datetime(quarter.start().timestamp()).date());
        }
        self.day
    }
}

/// How long a block lasts, in milliseconds.
const BLOCK: i64 = 5 * HOUR;
const HOUR: i64 = 3_600_000;

/// Five hours of use, as subscriptions measure it: from the hour of the first message on. The first message
/// after that begins the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub start: Time,
    pub end: Time,
}

impl Block {
    /// Returns the block that is running now, given the times of messages; `None`: no message is in it.
    pub fn running(times: impl IntoIterator<Item = Time>, now: Time) -> Option<Self> {
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

    /// Whether a time lies in the block.
    pub fn has(&self, time: Time) -> bool {
        self.start <= time && time < self.end
    }

    /// Returns how much of the block is over, from 0 to 1.
    pub fn passed(&self, now: Time) -> f64 {
        let passed = now.millis() - self.start.millis();
        (passed as f64 / BLOCK as f64).clamp(0.0, 1.0)
    }
}

impl From<Time> for Block {
    fn from(first: Time) -> Self {
        let start = first.millis().div_euclid(HOUR) * HOUR;
        Self { start: Time::from_millis(start), end: Time::from_millis(start + BLOCK) }
    }
}

#[cfg(test)]
mod tests {
    use super::Block;
    use crate::time::Time;

    #[track_caller]
    fn check(times: &[&str], now: &str, expected: Option<&str>) {
        let time =
            |text: &&str| Time::parse(format!("2026-01-0{text}:00.000Z").as_bytes()).unwrap();
        let found = Block::running(times.iter().map(time), time(&now));
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
        let block = Block::from(Time::from_millis(0));
        assert!(block.has(Time::from_millis(1)) && !block.has(block.end));
        assert!((block.passed(Time::from_millis(9_000_000)) - 0.5).abs() < 1e-9);
    }
}
