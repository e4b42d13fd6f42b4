//! Messages of one file added up as far as no question about all of them tells them apart.

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::{Charge, Sum};
use crate::time::Time;

/// What one model did on one branch within a quarter of an hour.
#[derive(Clone, Copy, Debug, Encode, Decode)]
pub struct Stretch {
    pub kin: Kin,
    pub sum: Sum,
}

/// What the messages of a stretch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Kin {
    pub branch: u32,
    pub sidechain: bool,
    /// The model's number where the stretch is kept.
    pub model: u16,
    /// `None`: no record says when.
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
