//! Places into hits: copies of one message in several files are one hit.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::{Place, Source};

/// A message that says what is looked for, and all places where it stands.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its place in the eldest file.
    pub place: Place,
    /// Its other places.
    pub copies: Vec<Place>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The newest; then what says no time itself, such as a title.
    Time,
    /// What fits best, the newest of equals.
    Relevance,
}

impl Hit {
    /// Joins the places of each message and puts the hits in order.
    pub fn merge(mut places: Vec<Place>, sources: &[Source], order: Order) -> Vec<Self> {
        // The eldest first: what was copied says so, else the file written last is the copy.
        let age = ages(sources);
        places.sort_unstable_by_key(|place| {
            (place.is_copy, age[place.source as usize], place.span.at)
        });
        let mut hits: Vec<Self> = Vec::with_capacity(places.len());
        let mut known: FxHashMap<u128, u32> = FxHashMap::default();
        for place in places {
            match known.get(&place.identity) {
                Some(hit) => hits[*hit as usize].copies.push(place),
                None => {
                    known.insert(place.identity, hits.len() as u32);
                    hits.push(Self { place, copies: Vec::new() });
                }
            }
        }
        hits.sort_by_key(|Self { place, .. }| {
            let score = if order == Order::Relevance { place.score } else { 0 };
            Reverse((score, place.is_dated, place.time, place.source, place.span.at))
        });
        hits
    }

    /// Returns all places, the eldest first.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.copies)
    }
}

/// Returns the place of each source in the order in which the files were last written.
fn ages(sources: &[Source]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|index| (sources[*index].file.modified, &sources[*index].file.relative));
    let mut ages = vec![0; sources.len()];
    for (age, index) in (0..).zip(order) {
        ages[index] = age;
    }
    ages
}
