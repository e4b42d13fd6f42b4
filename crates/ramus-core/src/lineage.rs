//! Determines which session is the original and which was copied from it.
//!
//! Forks, resumed copies and merges repeat the records of another session. Only some of them record
//! where they come from, so the evidence is weighed, strongest first: `forkedFrom`, `mergedFrom`, the
//! `sessionId` of copied records, the dates of the files, the first record that only one of two
//! sessions has, and finally which session ended first.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::{SessionDigest, UuidChain};
use crate::ids::RecordUuid;
use crate::link::LinkKind;
use crate::time::Time;

/// One session, with what distinguishes an original from a copy.
#[derive(Clone, Copy, Debug)]
pub struct SessionEntry<'a> {
    pub id: &'a str,
    pub digest: &'a SessionDigest,
    /// When its file was created; `None`: the file system does not know.
    pub created: Option<Time>,
}

/// The origins of each of several sessions.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    origins: Vec<Vec<(usize, LinkKind)>>,
    generations: Vec<u32>,
}

impl Lineage {
    /// Finds the origins of sessions among each other.
    pub fn new(sessions: &[SessionEntry<'_>]) -> Self {
        let firsts = sessions.iter().filter_map(first_uuid);
        let holders = UuidHolders::new(sessions, firsts);
        let mut origins = recorded_origins(sessions, &holders);
        let is_copy = |index: usize, origins: &[Vec<_>]| {
            let facts = &sessions[index].digest.facts;
            let is_recorded = facts.forked_from.is_some() || !facts.merged_from.is_empty();
            is_recorded || !origins[index].is_empty()
        };
        let mut originals: FxHashMap<RecordUuid, Option<usize>> = FxHashMap::default();
        let mut inferred = Vec::new();
        for (index, session) in sessions.iter().enumerate() {
            let Some(first) = first_uuid(session).filter(|_| !is_copy(index, &origins)) else {
                continue;
            };
            let original = *originals.entry(first).or_insert_with(|| {
                let candidates = holders.sessions_with(first).iter().copied();
                let candidates = candidates.filter(|other| !is_copy(*other, &origins));
                candidates.reduce(|a, b| if is_older(&sessions[b], &sessions[a]) { b } else { a })
            });
            if let Some(original) = original.filter(|original| *original != index) {
                inferred.push((index, original));
            }
        }
        for (index, original) in inferred {
            origins[index].push((original, LinkKind::Copy));
        }
        let generations = count_generations(sessions, &origins);
        Self { origins, generations }
    }

    /// Returns the sessions that a session was copied from.
    pub fn origins_of(&self, session: usize) -> &[(usize, LinkKind)] {
        &self.origins[session]
    }

    /// Returns how often a session was copied: 0 for an original, 1 for its copies.
    pub fn generation_of(&self, session: usize) -> u32 {
        self.generations[session]
    }
}

/// The sessions that contain certain uuids.
pub(crate) struct UuidHolders(FxHashMap<RecordUuid, Vec<usize>>);

impl UuidHolders {
    pub(crate) fn new(
        sessions: &[SessionEntry<'_>],
        wanted: impl Iterator<Item = RecordUuid>,
    ) -> Self {
        let mut holders: FxHashMap<RecordUuid, Vec<usize>> =
            wanted.map(|name| (name, Vec::new())).collect();
        for (index, session) in sessions.iter().enumerate() {
            for name in &session.digest.chain.uuids {
                if let Some(holders) = holders.get_mut(name)
                    && holders.last() != Some(&index)
                {
                    holders.push(index);
                }
            }
        }
        Self(holders)
    }

    /// Returns the sessions that contain a uuid, in ascending order.
    pub(crate) fn sessions_with(&self, name: RecordUuid) -> &[usize] {
        self.0.get(&name).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_held_by(&self, name: RecordUuid, session: usize) -> bool {
        self.sessions_with(name).binary_search(&session).is_ok()
    }
}

fn first_uuid(session: &SessionEntry<'_>) -> Option<RecordUuid> {
    session.digest.chain.uuids.first().copied()
}

/// Finds the origins that records state themselves.
fn recorded_origins(
    sessions: &[SessionEntry<'_>],
    holders: &UuidHolders,
) -> Vec<Vec<(usize, LinkKind)>> {
    let ids: FxHashMap<&str, usize> =
        sessions.iter().enumerate().rev().map(|(index, session)| (session.id, index)).collect();
    let find = |index: usize, id: &str| ids.get(id).copied().filter(|found| *found != index);
    let origins = sessions.iter().enumerate().map(|(index, session)| {
        let facts = &session.digest.facts;
        if let Some((origin, _)) = &facts.forked_from {
            return find(index, origin).map(|found| (found, LinkKind::Fork)).into_iter().collect();
        }
        if !facts.merged_from.is_empty() {
            let merged = facts.merged_from.iter().filter_map(|id| find(index, id));
            return merged.map(|found| (found, LinkKind::Merge)).collect();
        }
        // A copy of a copy names both; the session that it was copied from comes last.
        let foreign = facts.session_ids.iter().rev().filter(|id| ***id != *session.id);
        let copied = foreign.filter_map(|id| find(index, id)).find(|&found| {
            let ids = &sessions[found].digest.facts.session_ids;
            let is_mutual = ids.iter().any(|id| **id == *session.id);
            !is_mutual && first_uuid(session).is_some_and(|first| holders.is_held_by(first, found))
        });
        copied.map(|found| (found, LinkKind::Copy)).into_iter().collect()
    });
    origins.collect()
}

/// Whether the first of two sessions that share records is the original, as far as can be determined.
fn is_older(a: &SessionEntry<'_>, b: &SessionEntry<'_>) -> bool {
    let shared = SharedRecords::new(&a.digest.chain, &b.digest.chain);
    let begins_own = |session: &SessionEntry<'_>| {
        session.digest.facts.session_ids.first().is_some_and(|id| **id == *session.id)
    };
    // The file was there while the shared records were being written.
    let was_there = |session: &SessionEntry<'_>| {
        let created = session.created.map(|time| time.as_millis() / 1000);
        created.is_some_and(|created| created <= i64::from(shared.last))
    };
    // A copy has new records only after the last copied one.
    let has_earlier = |own: Option<u32>| own.is_some_and(|own| own < shared.last);
    let evidence = [
        (begins_own(a), begins_own(b)),
        (shared.dated_before.0, shared.dated_before.1),
        (was_there(a), was_there(b)),
        (has_earlier(shared.own.0), has_earlier(shared.own.1)),
        (shared.own.0.is_none(), shared.own.1.is_none()),
        // A session is copied in order to continue in the copy, so the one that continued later is the original.
        (shared.own.0 > shared.own.1, shared.own.1 > shared.own.0),
    ];
    match evidence.into_iter().find(|(a, b)| a != b) {
        Some((is_older, _)) => is_older,
        None => {
            let end = |session: &SessionEntry<'_>| session.digest.facts.last_active;
            (end(a), a.id) < (end(b), b.id)
        }
    }
}

/// What two sessions have in common, and when each diverges; times in seconds.
struct SharedRecords {
    /// The time of the last record that both have.
    last: u32,
    /// The time of the first record that only the first, and only the second has.
    own: (Option<u32>, Option<u32>),
    /// Whether the first, and the second, dates a shared record earlier: some clients date copies again.
    dated_before: (bool, bool),
}

impl SharedRecords {
    fn new(a: &UuidChain, b: &UuidChain) -> Self {
        let times: FxHashMap<RecordUuid, u32> =
            a.uuids.iter().copied().zip(a.times.iter().copied()).collect();
        let mut shared = Self { last: 0, own: (None, None), dated_before: (false, false) };
        let mut common: FxHashSet<RecordUuid> = FxHashSet::default();
        for (name, &time) in b.uuids.iter().zip(&b.times) {
            let Some(&other) = times.get(name) else {
                shared.own.1 = Some(shared.own.1.map_or(time, |own| own.min(time)));
                continue;
            };
            common.insert(*name);
            shared.last = shared.last.max(time.min(other));
            shared.dated_before.0 |= other < time;
            shared.dated_before.1 |= time < other;
        }
        let own = times.iter().filter(|(name, _)| !common.contains(name));
        shared.own.0 = own.map(|(_, time)| *time).min();
        shared
    }
}

/// Counts how often each session was copied; a session that claims to be its own ancestor is an original.
fn count_generations(
    sessions: &[SessionEntry<'_>],
    origins: &[Vec<(usize, LinkKind)>],
) -> Vec<u32> {
    let mut generations: Vec<u32> = sessions
        .iter()
        .map(|SessionEntry { digest, .. }| {
            let facts = &digest.facts;
            u32::from(facts.forked_from.is_some() || !facts.merged_from.is_empty())
        })
        .collect();
    let mut copies: Vec<Vec<usize>> = vec![Vec::new(); sessions.len()];
    let mut waiting: Vec<usize> = origins.iter().map(Vec::len).collect();
    for (index, origins) in origins.iter().enumerate() {
        origins.iter().for_each(|(origin, _)| copies[*origin].push(index));
    }
    let mut ready: Vec<usize> = (0..sessions.len()).filter(|index| waiting[*index] == 0).collect();
    while let Some(origin) = ready.pop() {
        for &copy in &copies[origin] {
            generations[copy] = generations[copy].max(generations[origin] + 1);
            waiting[copy] -= 1;
            if waiting[copy] == 0 {
                ready.push(copy);
            }
        }
    }
    generations
}
