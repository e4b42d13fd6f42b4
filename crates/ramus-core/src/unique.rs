//! Finds the paths of many sessions that are part of another path (R14).
//!
//! A resumed or forked session repeats the path it came from. A path is dropped when its records are a
//! subset of another's. Pairs of paths are never compared: a path is identified by its leaf and by a hash
//! of the uuids up to it, so one look-up per leaf finds the sessions in which it continues or ends the
//! same way.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::digest::SessionDigest;
use crate::ids::RecordUuid;

/// A conversation of one of many sessions: the indices of the session and the conversation.
pub type PathId = (usize, usize);

/// Where a uuid occurs: a session and a position in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct UuidPosition {
    session: usize,
    position: u32,
}

/// Returns the paths that no other path covers.
///
/// `sessions` are in the order of their age: of equal paths the first is kept.
pub fn unique_paths(sessions: &[&SessionDigest]) -> Vec<PathId> {
    let names: Vec<Cow<'_, [RecordUuid]>> =
        sessions.iter().map(|digest| digest.chain.original_uuids()).collect();
    let mut locations: FxHashMap<RecordUuid, Vec<UuidPosition>> = FxHashMap::default();
    for (digest, names) in sessions.iter().zip(&names) {
        let leaves = digest.conversations.iter().filter_map(|end| uuid_at(names, end.position));
        let parents = digest.missing_parents.iter().map(|missing| missing.parent);
        locations.extend(leaves.chain(parents).map(|name| (name, Vec::new())));
    }
    for (session, names) in names.iter().enumerate() {
        for (place, name) in (0..).zip(&**names) {
            if let Some(locations) = locations.get_mut(name) {
                locations.push(UuidPosition { session, position: place });
            }
        }
    }
    let branches = PathHashes::new(sessions, &names, &locations);
    let mut kept = Vec::new();
    for (session, digest) in sessions.iter().enumerate() {
        for (index, end) in digest.conversations.iter().enumerate() {
            let own = UuidPosition { session, position: end.position };
            if !branches.is_covered(own, &locations) {
                kept.push((session, index));
            }
        }
    }
    kept
}

fn uuid_at(names: &[RecordUuid], place: u32) -> Option<RecordUuid> {
    names.get(place as usize).copied()
}

/// The paths to all nodes of all sessions.
struct PathHashes<'a> {
    sessions: &'a [&'a SessionDigest],
    /// The uuids of each session's nodes; for merged nodes the original ones.
    uuids: &'a [Cow<'a, [RecordUuid]>],
    /// A hash of the uuids from the root, through links, to each position; for sessions that share an end with
    /// another one, and those they continue.
    hashes: Vec<Vec<u64>>,
    /// The positions at which a conversation ends.
    ends: FxHashSet<UuidPosition>,
    /// The positions that another session continues.
    continued: FxHashSet<UuidPosition>,
}

impl<'a> PathHashes<'a> {
    fn new(
        sessions: &'a [&'a SessionDigest],
        names: &'a [Cow<'a, [RecordUuid]>],
        locations: &FxHashMap<RecordUuid, Vec<UuidPosition>>,
    ) -> Self {
        let mut branches = Self {
            sessions,
            uuids: names,
            hashes: vec![Vec::new(); sessions.len()],
            ends: FxHashSet::default(),
            continued: FxHashSet::default(),
        };
        for (session, digest) in sessions.iter().enumerate() {
            branches.ends.extend(
                digest
                    .conversations
                    .iter()
                    .map(|end| UuidPosition { session, position: end.position }),
            );
            for missing in &digest.missing_parents {
                let elsewhere = locations.get(&missing.parent).into_iter().flatten();
                branches.continued.extend(elsewhere.filter(|location| location.session != session));
            }
        }
        let mut state = vec![HashState::Untouched; sessions.len()];
        for location in locations.values().filter(|locations| locations.len() > 1).flatten() {
            branches.hash_session(location.session, locations, &mut state);
        }
        branches
    }

    /// Hashes the paths of a session, after those of the sessions it continues.
    fn hash_session(
        &mut self,
        session: usize,
        locations: &FxHashMap<RecordUuid, Vec<UuidPosition>>,
        state: &mut [HashState],
    ) {
        let mut open = vec![session];
        while let Some(&session) = open.last() {
            match state[session] {
                HashState::Done => {
                    open.pop();
                    continue;
                }
                HashState::Untouched => {
                    state[session] = HashState::Open;
                    let linked =
                        self.sessions[session].missing_parents.iter().filter_map(|missing| {
                            locations
                                .get(&missing.parent)?
                                .iter()
                                .find(|location| location.session != session)
                        });
                    let before = open.len();
                    let untouched: Vec<usize> = linked
                        .map(|location| location.session)
                        .filter(|other| state[*other] == HashState::Untouched)
                        .collect();
                    open.extend(untouched);
                    if open.len() > before {
                        continue;
                    }
                }
                HashState::Open => {}
            }
            self.hashes[session] = self.hash_chain(session, locations);
            state[session] = HashState::Done;
            open.pop();
        }
    }

    fn hash_chain(
        &self,
        session: usize,
        locations: &FxHashMap<RecordUuid, Vec<UuidPosition>>,
    ) -> Vec<u64> {
        let digest = self.sessions[session];
        let chain = &digest.chain;
        let links: FxHashMap<u32, RecordUuid> = digest
            .missing_parents
            .iter()
            .map(|missing| (missing.position, missing.parent))
            .collect();
        let mut hashes: Vec<Option<u64>> = vec![None; chain.uuids.len()];
        let mut open = Vec::new();
        for start in 0..chain.uuids.len() as u32 {
            open.extend(
                chain.positions_up(start).take_while(|place| hashes[*place as usize].is_none()),
            );
            while let Some(place) = open.pop() {
                let parent = chain.parents[place as usize];
                let above = match hashes.get(parent as usize) {
                    Some(above) => above.unwrap_or(0),
                    None => links
                        .get(&place)
                        .map_or(0, |name| self.linked_hash(session, *name, locations)),
                };
                hashes[place as usize] =
                    Some(extend_hash(above, self.uuids[session][place as usize]));
            }
        }
        hashes.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn linked_hash(
        &self,
        session: usize,
        name: RecordUuid,
        locations: &FxHashMap<RecordUuid, Vec<UuidPosition>>,
    ) -> u64 {
        locations
            .get(&name)
            .into_iter()
            .flatten()
            .find(|location| location.session != session)
            .and_then(|location| self.hashes[location.session].get(location.position as usize))
            .copied()
            .unwrap_or(0)
    }

    fn hash_at(&self, location: UuidPosition) -> u64 {
        self.hashes[location.session].get(location.position as usize).copied().unwrap_or(0)
    }

    /// Whether another path contains all of the path that ends at `own`.
    fn is_covered(
        &self,
        own: UuidPosition,
        locations: &FxHashMap<RecordUuid, Vec<UuidPosition>>,
    ) -> bool {
        if self.continued.contains(&own) {
            return true;
        }
        let Some(name) = uuid_at(&self.uuids[own.session], own.position) else { return false };
        let others =
            locations.get(&name).into_iter().flatten().filter(|location| **location != own);
        others.into_iter().any(|&other| {
            let same_way = self.hash_at(other) == self.hash_at(own);
            let ends_there = self.ends.contains(&other) && !self.continued.contains(&other);
            match (same_way, ends_there) {
                (true, true) => other.session < own.session,
                (true, false) => true,
                // The records were linked differently there, so the uuids themselves have to be compared.
                (false, _) => {
                    other.session != own.session
                        && self.covers_path(other, own)
                        && (other.session < own.session || self.goes_further(other, own))
                }
            }
        })
    }

    /// Whether the path to `other` contains every uuid on the path to `own`.
    fn covers_path(&self, other: UuidPosition, own: UuidPosition) -> bool {
        let held: FxHashSet<RecordUuid> = self.uuids_up(other).collect();
        self.uuids_up(own).all(|name| held.contains(&name))
    }

    /// Whether a conversation through `other` has a uuid that the path to `own` lacks.
    fn goes_further(&self, other: UuidPosition, own: UuidPosition) -> bool {
        let held: FxHashSet<RecordUuid> = self.uuids_up(own).collect();
        let digest = self.sessions[other.session];
        digest.conversations.iter().any(|end| {
            digest.chain.positions_up(end.position).any(|place| place == other.position)
                && self
                    .uuids_up(UuidPosition { position: end.position, ..other })
                    .any(|name| !held.contains(&name))
        })
    }

    fn uuids_up(&self, location: UuidPosition) -> impl Iterator<Item = RecordUuid> {
        let chain = &self.sessions[location.session].chain;
        let names = &self.uuids[location.session];
        chain.positions_up(location.position).filter_map(move |place| uuid_at(names, place))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HashState {
    Untouched,
    Open,
    Done,
}

fn extend_hash(above: u64, name: RecordUuid) -> u64 {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&above.to_le_bytes());
    bytes[8..].copy_from_slice(&name.to_bits().to_le_bytes());
    xxh3_64(&bytes)
}
