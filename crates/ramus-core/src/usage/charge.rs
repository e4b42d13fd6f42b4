//! One message and what it used, wherever its records stand (R20).

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

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

    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.part).chain(&mut self.more)
    }

    /// Returns all tokens of the message.
    pub fn tokens(&self) -> u64 {
        self.parts().map(|part| part.tokens.total()).fold(0, u64::saturating_add)
    }

    /// Returns the message as a sum of one.
    pub fn sum(&self) -> Sum {
        let mut sum = Sum { messages: 1, fast: u64::from(self.fast), ..Sum::default() };
        self.parts().for_each(|part| sum.add_part(part));
        sum
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
    exact: FxHashMap<(Key, Option<Key>), u32>,
    by_id: FxHashMap<Key, u32>,
}

impl Seen {
    /// Makes room for so many messages.
    pub(super) fn with_capacity(messages: usize) -> Self {
        let hasher = rustc_hash::FxBuildHasher;
        Self {
            exact: FxHashMap::with_capacity_and_hasher(messages, hasher),
            by_id: FxHashMap::with_capacity_and_hasher(messages, hasher),
        }
    }

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
        let first = *self.by_id.get(&message)? as usize;
        let loose = |charge: &Charge| charge.sidechain || charge.request.is_none();
        if loose(charge) || loose(held(first)) {
            return Some(first);
        }
        self.exact.get(&(message, charge.request)).map(|place| *place as usize)
    }

    /// Notes that a message is held at a place.
    pub(super) fn note(&mut self, charge: &Charge, place: usize) {
        let Some(message) = charge.message else { return };
        self.by_id.entry(message).or_insert(place as u32);
        self.exact.entry((message, charge.request)).or_insert(place as u32);
    }
}
