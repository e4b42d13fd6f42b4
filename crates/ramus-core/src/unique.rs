//! Finds the paths of many sessions that are part of another path (R14).
//!
//! A resumed or forked session repeats the path it came from. A path is dropped when its records are a
//! subset of another's. Pairs of paths are never compared: a path is identified by its leaf and by a hash
//! of the uuids up to it, so one look-up per leaf finds the sessions in which it continues or ends the
//! same way.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::digest::Digest;
use crate::name::Name;

/// A conversation of one of many sessions: the indices of the session and the conversation.
pub type PathId = (usize, usize);

/// Where a uuid occurs: a session and a position in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Spot {
    session: usize,
    place: u32,
}

/// Returns the paths that no other path covers.
///
/// `sessions` are in the order of their age: of equal paths the first is kept.
pub fn unique_paths(sessions: &[&Digest]) -> Vec<PathId> {
    let names: Vec<Cow<'_, [Name]>> =
        sessions.iter().map(|digest| digest.chain.original_names()).collect();
    let mut spots: FxHashMap<Name, Vec<Spot>> = FxHashMap::default();
    for (digest, names) in sessions.iter().zip(&names) {
        let leaves = digest.conversations.iter().filter_map(|end| name(names, end.place));
        let parents = digest.missing.iter().map(|missing| missing.parent);
        spots.extend(leaves.chain(parents).map(|name| (name, Vec::new())));
    }
    for (session, names) in names.iter().enumerate() {
        for (place, name) in (0..).zip(&**names) {
            if let Some(spots) = spots.get_mut(name) {
                spots.push(Spot { session, place });
            }
        }
    }
    let ways = Ways::new(sessions, &names, &spots);
    let mut kept = Vec::new();
    for (session, digest) in sessions.iter().enumerate() {
        for (index, end) in digest.conversations.iter().enumerate() {
            let own = Spot { session, place: end.place };
            if !ways.is_covered(own, &spots) {
                kept.push((session, index));
            }
        }
    }
    kept
}

fn name(names: &[Name], place: u32) -> Option<Name> {
    names.get(place as usize).copied()
}

/// The paths to all nodes of all sessions.
struct Ways<'a> {
    sessions: &'a [&'a Digest],
    /// The uuids of each session's nodes; for merged nodes the original ones.
    names: &'a [Cow<'a, [Name]>],
    /// A hash of the uuids from the root, through links, to each position; for sessions that share an end with
    /// another one, and those they continue.
    hashes: Vec<Vec<u64>>,
    /// The positions at which a conversation ends.
    ends: FxHashSet<Spot>,
    /// The positions that another session continues.
    continued: FxHashSet<Spot>,
}

impl<'a> Ways<'a> {
    fn new(
        sessions: &'a [&'a Digest],
        names: &'a [Cow<'a, [Name]>],
        spots: &FxHashMap<Name, Vec<Spot>>,
    ) -> Self {
        let mut ways = Self {
            sessions,
            names,
            hashes: vec![Vec::new(); sessions.len()],
            ends: FxHashSet::default(),
            continued: FxHashSet::default(),
        };
        for (session, digest) in sessions.iter().enumerate() {
            ways.ends
                .extend(digest.conversations.iter().map(|end| Spot { session, place: end.place }));
            for missing in &digest.missing {
                let elsewhere = spots.get(&missing.parent).into_iter().flatten();
                ways.continued.extend(elsewhere.filter(|spot| spot.session != session));
            }
        }
        let mut state = vec![State::Untouched; sessions.len()];
        for spot in spots.values().filter(|spots| spots.len() > 1).flatten() {
            ways.hash_session(spot.session, spots, &mut state);
        }
        ways
    }

    /// Hashes the paths of a session, after those of the sessions it continues.
    fn hash_session(
        &mut self,
        session: usize,
        spots: &FxHashMap<Name, Vec<Spot>>,
        state: &mut [State],
    ) {
        let mut open = vec![session];
        while let Some(&session) = open.last() {
            match state[session] {
                State::Done => {
                    open.pop();
                    continue;
                }
                State::Untouched => {
                    state[session] = State::Open;
                    let linked = self.sessions[session].missing.iter().filter_map(|missing| {
                        spots.get(&missing.parent)?.iter().find(|spot| spot.session != session)
                    });
                    let before = open.len();
                    let untouched: Vec<usize> = linked
                        .map(|spot| spot.session)
                        .filter(|other| state[*other] == State::Untouched)
                        .collect();
                    open.extend(untouched);
                    if open.len() > before {
                        continue;
                    }
                }
                State::Open => {}
            }
            self.hashes[session] = self.hash_chain(session, spots);
            state[session] = State::Done;
            open.pop();
        }
    }

    fn hash_chain(&self, session: usize, spots: &FxHashMap<Name, Vec<Spot>>) -> Vec<u64> {
        let digest = self.sessions[session];
        let chain = &digest.chain;
        let links: FxHashMap<u32, Name> =
            digest.missing.iter().map(|missing| (missing.place, missing.parent)).collect();
        let mut hashes: Vec<Option<u64>> = vec![None; chain.names.len()];
        let mut open = Vec::new();
        for start in 0..chain.names.len() as u32 {
            open.extend(chain.up(start).take_while(|place| hashes[*place as usize].is_none()));
            while let Some(place) = open.pop() {
                let parent = chain.parents[place as usize];
                let above = match hashes.get(parent as usize) {
                    Some(above) => above.unwrap_or(0),
                    None => {
                        links.get(&place).map_or(0, |name| self.linked_hash(session, *name, spots))
                    }
                };
                hashes[place as usize] = Some(step(above, self.names[session][place as usize]));
            }
        }
        hashes.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn linked_hash(&self, session: usize, name: Name, spots: &FxHashMap<Name, Vec<Spot>>) -> u64 {
        spots
            .get(&name)
            .into_iter()
            .flatten()
            .find(|spot| spot.session != session)
            .and_then(|spot| self.hashes[spot.session].get(spot.place as usize))
            .copied()
            .unwrap_or(0)
    }

    fn hash(&self, spot: Spot) -> u64 {
        self.hashes[spot.session].get(spot.place as usize).copied().unwrap_or(0)
    }

    /// Whether another path contains all of the path that ends at `own`.
    fn is_covered(&self, own: Spot, spots: &FxHashMap<Name, Vec<Spot>>) -> bool {
        if self.continued.contains(&own) {
            return true;
        }
        let Some(name) = name(&self.names[own.session], own.place) else { return false };
        let others = spots.get(&name).into_iter().flatten().filter(|spot| **spot != own);
        others.into_iter().any(|&other| {
            let same_way = self.hash(other) == self.hash(own);
            let ends_there = self.ends.contains(&other) && !self.continued.contains(&other);
            match (same_way, ends_there) {
                (true, true) => other.session < own.session,
                (true, false) => true,
                // The records were linked differently there, so the uuids themselves have to be compared.
                (false, _) => {
                    other.session != own.session
                        && self.holds(other, own)
                        && (other.session < own.session || self.goes_further(other, own))
                }
            }
        })
    }

    /// Whether the path to `other` contains every uuid on the path to `own`.
    fn holds(&self, other: Spot, own: Spot) -> bool {
        let held: FxHashSet<Name> = self.names_up(other).collect();
        self.names_up(own).all(|name| held.contains(&name))
    }

    /// Whether a conversation through `other` has a uuid that the path to `own` lacks.
    fn goes_further(&self, other: Spot, own: Spot) -> bool {
        let held: FxHashSet<Name> = self.names_up(own).collect();
        let digest = self.sessions[other.session];
        digest.conversations.iter().any(|end| {
            digest.chain.up(end.place).any(|place| place == other.place)
                && self
                    .names_up(Spot { place: end.place, ..other })
                    .any(|name| !held.contains(&name))
        })
    }

    fn names_up(&self, spot: Spot) -> impl Iterator<Item = Name> {
        let chain = &self.sessions[spot.session].chain;
        let names = &self.names[spot.session];
        chain.up(spot.place).filter_map(move |place| name(names, place))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    Open,
    Done,
}

fn step(above: u64, name: Name) -> u64 {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&above.to_le_bytes());
    bytes[8..].copy_from_slice(&name.bits().to_le_bytes());
    xxh3_64(&bytes)
}
