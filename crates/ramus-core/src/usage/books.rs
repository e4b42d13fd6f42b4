//! The accounts of many files as one: a message that stands in several is counted once (R20).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::account::Account;
use super::charge::{Charge, Seen};
use super::{Sum, uses};
use crate::branches::Status;
use crate::digest::Digest;
use crate::name::Key;
use crate::time::Time;

/// One file that goes into the books.
#[derive(Debug)]
pub struct FileAccount<'a> {
    pub account: Account,
    pub digest: &'a Digest,
    pub id: &'a str,
    /// The file of the session it belongs to: its own place, or that of the session which started
    /// the agent. `None`: that session is gone.
    pub session: Option<usize>,
    /// It is an agent's.
    pub agent: bool,
    /// `toolUseId` of the file beside an agent's.
    pub call: Option<Key>,
}

/// Every message once, with where it belongs.
#[derive(Debug, Default)]
pub struct Books {
    pub entries: Vec<Entry>,
    /// The models, by the numbers that the charges give.
    pub models: Vec<Box<str>>,
    /// Where each message is held; taking entries out makes it useless.
    seen: Seen,
}

/// One message in the books.
#[derive(Clone, Debug)]
pub struct Entry {
    pub charge: Charge,
    /// The file it stands in, the eldest if there are copies.
    pub file: u32,
    /// The session it belongs to: that file, or the one that started the agent.
    pub session: u32,
    /// The branch of the session.
    pub branch: u32,
    /// An agent's, not of the main line.
    pub agent: bool,
    /// Abandoned only where every copy is: a fork may have gone on with what its origin left.
    pub status: Status,
}

impl Books {
    /// Puts the accounts of files together; their charges move into the books.
    pub fn new(files: &mut [FileAccount<'_>]) -> Self {
        let hung = hang_agents(files);
        let most = files.iter().map(|file| file.account.charges.len()).sum();
        let mut books = Self {
            entries: Vec::with_capacity(most),
            seen: Seen::with_capacity(most),
            ..Self::default()
        };
        for index in by_age(files) {
            let charges = std::mem::take(&mut files[index].account.charges);
            let models = books.take_models(&files[index].account.models);
            for mut charge in charges {
                charge.parts_mut().for_each(|part| part.model = models[usize::from(part.model)]);
                let entry = entry(files, index, hung[index], charge);
                books.take(entry);
            }
        }
        books
    }

    /// Adds what a file says by now, whose branches are of no interest.
    pub fn add(&mut self, account: Account, agent: bool) {
        let models = self.take_models(&account.models);
        for mut charge in account.charges {
            charge.parts_mut().for_each(|part| part.model = models[usize::from(part.model)]);
            let agent = agent || charge.sidechain;
            let (file, branch) = (u32::MAX, charge.branch);
            self.take(Entry { charge, file, session: file, branch, agent, status: Status::Active });
        }
    }

    /// Leaves only what wanted models did at wanted times.
    pub fn keep(&mut self, model: impl Fn(&str) -> bool, time: impl Fn(Option<Time>) -> bool) {
        let wanted: Vec<bool> = self.models.iter().map(|name| model(name)).collect();
        self.entries.retain_mut(|Entry { charge, .. }| {
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

    /// Adds up the entries by something that each of them has.
    pub fn by<K: Ord>(&self, key: impl Fn(&Entry) -> K) -> BTreeMap<K, Sum> {
        let mut sums: BTreeMap<K, Sum> = BTreeMap::new();
        for entry in &self.entries {
            sums.entry(key(entry)).or_default().add(&entry.charge.sum());
        }
        sums
    }

    /// Adds up what each model did; a message counts for the model that began it.
    pub fn by_model(&self) -> BTreeMap<&str, Sum> {
        let mut sums: Vec<Option<Sum>> = vec![None; self.models.len()];
        for Entry { charge, .. } in &self.entries {
            let begun = sums[usize::from(charge.part.model)].get_or_insert_default();
            begun.messages += 1;
            begun.fast += u64::from(charge.fast);
            for part in charge.parts() {
                sums[usize::from(part.model)].get_or_insert_default().add_part(part);
            }
        }
        let named = self.models.iter().map(|model| &**model).zip(sums);
        named.filter_map(|(model, sum)| Some((model, sum?))).collect()
    }

    /// Adds up everything.
    pub fn total(&self) -> Sum {
        let mut total = Sum::default();
        self.entries.iter().for_each(|entry| total.add(&entry.charge.sum()));
        total
    }

    fn take_models(&mut self, names: &[Box<str>]) -> Vec<u16> {
        names.iter().map(|name| uses::index(&mut self.models, name)).collect()
    }

    fn take(&mut self, entry: Entry) {
        let Some(place) = self.seen.find(&entry.charge, |place| &self.entries[place].charge) else {
            self.seen.note(&entry.charge, self.entries.len());
            self.entries.push(entry);
            return;
        };
        let held = &mut self.entries[place];
        if held.charge.moves_to(&entry.charge) {
            (held.file, held.session, held.branch) = (entry.file, entry.session, entry.branch);
            held.agent = entry.agent;
        }
        held.status = held.status.min(entry.status);
        held.charge.absorb(entry.charge);
    }
}

fn entry(files: &[FileAccount<'_>], index: usize, hung: Option<Hung>, charge: Charge) -> Entry {
    let file = &files[index];
    let own = Hung { session: index, branch: charge.branch };
    let Hung { session, branch } = hung.unwrap_or(own);
    let status = files[session].account.branches.get(branch as usize);
    Entry {
        file: index as u32,
        session: session as u32,
        branch,
        agent: file.agent || charge.sidechain,
        status: status.map_or(Status::Active, |branch| branch.status),
        charge,
    }
}

/// Orders files so that an original comes before its copies, and sessions before agents.
///
/// A copy begins as early as its original but goes on later; what was last active first is the
/// original.
fn by_age(files: &[FileAccount<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|index| {
        let file = &files[*index];
        let facts = &file.digest.facts;
        (file.agent, facts.forked_from.is_some(), facts.last_active, file.id)
    });
    order
}

/// Where an agent was started.
#[derive(Clone, Copy, Debug)]
struct Hung {
    session: usize,
    branch: u32,
}

/// Finds the branch that each agent was started on; an agent's agent hangs where the first does.
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
        // Nothing tells: on the branch that the session is on now.
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
