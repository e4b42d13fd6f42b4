//! One message and what it used, wherever its records stand (R20).

use std::collections::hash_map::Entry;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::stretch::{Kin, Quarter, Stretch};
use super::{Sum, Tokens};
use crate::name::Key;
use crate::time::Time;

/// What one message used.
#[derive(Clone, Debug, Encode, Decode)]
pub struct Charge {
    pub message: Option<Key>,
    /// `None` where the answer did not come from the model's own server.
    pub request: Option<Key>,
    /// The earliest time that one of its records gives.
    pub time: Option<Time>,
    /// It was an agent's.
    pub sidechain: bool,
    /// The branch it lies on, by its number in the [`Account`](super::Account) of its file.
    pub branch: u32,
    /// It was made in fast mode, which has its own price.
    pub fast: bool,
    pub part: Part,
    /// What other models did that took over inside the message.
    pub more: Vec<Part>,
}

/// What one model did for a message.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct Part {
    /// The model's number where the charge is kept.
    pub model: u16,
    pub tokens: Tokens,
    /// `None`: the model is not on the list of prices.
    pub cost: Option<f64>,
}

impl Charge {
    /// Returns what each model did, the first one first.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.part).chain(&self.more)
    }

    /// Returns what each model did as a stretch of its own; the message counts in the first.
    pub(super) fn stretches(&self) -> impl Iterator<Item = Stretch> {
        self.parts().enumerate().map(|(n, part)| {
            let first = u64::from(n == 0);
            let fast = first * u64::from(self.fast);
            let mut sum = Sum { messages: first, fast, ..Sum::default() };
            sum.add_part(part);
            let quarter = self.time.map(Quarter::of);
            let Self { branch, sidechain, .. } = *self;
            Stretch { kin: Kin { branch, sidechain, model: part.model, quarter }, sum }
        })
    }

    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.part).chain(&mut self.more)
    }

    /// Returns all tokens of the message.
    pub fn tokens(&self) -> u64 {
        self.parts().map(|part| part.tokens.total()).fold(0, u64::saturating_add)
    }

    /// Takes another record of the same message: the largest use counts, the earliest time, and the
    /// main line as its place.
    pub(super) fn absorb(&mut self, other: Self) {
        self.time = match (self.time, other.time) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if self.moves_to(&other) {
            (self.sidechain, self.branch, self.request) = (false, other.branch, other.request);
        }
        if other.tokens() > self.tokens() {
            (self.fast, self.part, self.more) = (other.fast, other.part, other.more);
        }
    }

    /// Whether another record tells better where the message belongs: a side question repeats
    /// messages of the main line.
    pub(super) fn moves_to(&self, other: &Self) -> bool {
        self.sidechain && !other.sidechain
    }
}

/// Finds the charge that holds a message already.
#[derive(Debug, Default)]
pub(super) struct Seen {
    first: FxHashMap<Key, u32>,
    /// The others of a message that was asked for again.
    later: FxHashMap<Key, Vec<u32>>,
}

impl Seen {
    /// Finds the place of a message among the `held` ones.
    ///
    /// Message and request name it. The message alone does where a request is missing, and in
    /// sidechains: a side question sends what it repeats under a request of its own.
    pub(super) fn find<'a>(
        &self,
        charge: &Charge,
        held: impl Fn(usize) -> &'a Charge,
    ) -> Option<usize> {
        let message = charge.message?;
        let first = *self.first.get(&message)? as usize;
        let loose = |charge: &Charge| charge.sidechain || charge.request.is_none();
        let same = |place: usize| held(place).request == charge.request;
        if loose(charge) || loose(held(first)) || same(first) {
            return Some(first);
        }
        let mut later = self.later.get(&message)?.iter().map(|place| *place as usize);
        later.find(|place| same(*place))
    }

    /// Notes that a message which was not found is held at a place.
    pub(super) fn note(&mut self, message: Option<Key>, place: usize) {
        let Some(message) = message else { return };
        match self.first.entry(message) {
            Entry::Vacant(first) => _ = first.insert(place as u32),
            Entry::Occupied(_) => self.later.entry(message).or_default().push(place as u32),
        }
    }
}
