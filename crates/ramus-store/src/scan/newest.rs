//! Hits as they become certain, the newest first.
//!
//! Files are looked into in the order of the last times they can say, the newest
//! first: when they were written last, or a later time near their end. A message
//! is certain once every file that is left ends before it: none of them can hold
//! something newer, or a copy of it. In a history whose files were all dated anew,
//! by a copy, that is when all were read. It fails only where a file has a date that
//! is older than what it says, and then the same hits come in the same order still.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;

use ramus_core::query::Detail;
use ramus_core::time::Time;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::pieces::end_time;
use super::{Content, Found, Hit, Order, Place, Said, ScanJob, Seeing, Source, look};
use crate::error::PathError;
use crate::index::Sight;
use crate::survey::to_time;

/// How many hits come together first; each time it is twice as many.
const FIRST: usize = 32;
/// How many come together at most: what is known of a batch is held while it is shown.
const LARGEST: usize = 32 * 1024;

/// Hits that come together, in order.
#[derive(Debug)]
pub struct Batch<'a> {
    pub hits: Vec<Hit>,
    pub said: &'a Said,
}

impl ScanJob<'_> {
    /// Searches all sources and hands out hits in batches as soon as they are certain.
    ///
    /// What says no time itself, such as a title, comes last. How many hits a batch
    /// has depends on nothing but their number. `each` may end it; returned is what
    /// could not be read.
    pub fn find_newest<B>(
        &self,
        mut each: impl FnMut(Batch<'_>) -> ControlFlow<B>,
    ) -> (Vec<PathError>, ControlFlow<B>) {
        let Self { sources, query, tool, filter, on_read, go_on, .. } = *self;
        let (sights, ends) = self.on_threads(|| {
            let sights = filter.sights(sources, query);
            let ends: Vec<Time> = sources.par_iter().zip(&sights).map(end).collect();
            (sights, ends)
        });
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|index| (Reverse(ends[*index]), Reverse(sources[*index].file.bytes)));
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (send, receive) = mpsc::channel();
        let work = |send: mpsc::Sender<(usize, Result<Found, PathError>)>| {
            while !stop.load(Relaxed) && go_on() {
                let at = next.fetch_add(1, Relaxed);
                let Some(&index) = order.get(at) else { break };
                let seeing = Seeing { filter, sight: &sights[index], titles: true, go_on };
                let found = look(index, &sources[index], query, tool, Detail::Whether, seeing);
                on_read(sources[index].file.bytes);
                if send.send((at, found)).is_err() {
                    break;
                }
            }
        };
        let mut finds = Finds::new(sources);
        // What is found is taken in that order, whoever is ready first.
        let mut waiting: Vec<Option<Result<Found, PathError>>> = Vec::new();
        waiting.resize_with(order.len(), || None);
        let mut first_open = 0;
        let flow = std::thread::scope(|threads| {
            let work = &work;
            threads.spawn(move || {
                self.on_threads(|| {
                    rayon::scope(|workers| {
                        for _ in 0..rayon::current_num_threads() {
                            let send = send.clone();
                            workers.spawn(move |_| work(send));
                        }
                    });
                    drop(send);
                });
            });
            for (at, found) in receive {
                waiting[at] = Some(found);
                while let Some(found) = waiting.get_mut(first_open).and_then(Option::take) {
                    finds.take(found);
                    first_open += 1;
                }
                let Some(&open) = order.get(first_open) else { break };
                let flow = finds.settle(ends[open], &mut each);
                if flow.is_break() {
                    stop.store(true, Relaxed);
                    return flow;
                }
            }
            finds.end(&mut each)
        });
        (finds.problems, flow)
    }
}

/// Returns the time that no record of a source is later than, as far as its date and its end tell.
fn end((source, sight): (&Source, &Sight)) -> Time {
    let unknown = Time::from_millis(i64::MAX);
    match source.content {
        // It comes first, and nobody waits for it.
        _ if matches!(sight, Sight::Nothing) => unknown,
        Content::Records => {
            let last = end_time(&source.file.path).ok().flatten();
            last.map_or(unknown, |last| last.max(to_time(source.file.modified)))
        }
        Content::Spilled => unknown,
    }
}

/// What was found so far and not yet handed out.
struct Finds<'a> {
    sources: &'a [Source],
    /// What is dated, the newest on top.
    open: BinaryHeap<Dated>,
    undated: Vec<Place>,
    /// Certain, and to be handed out next: a batch, not everything that is certain.
    ready: Vec<Place>,
    /// The messages among them.
    messages: FxHashSet<u128>,
    told: FxHashSet<u128>,
    said: Said,
    problems: Vec<PathError>,
    batch: usize,
}

/// A place with a time, ordered by it.
struct Dated(Place);

impl Ord for Dated {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.time.cmp(&other.0.time)
    }
}

impl PartialOrd for Dated {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Dated {
    fn eq(&self, other: &Self) -> bool {
        self.0.time == other.0.time
    }
}

impl Eq for Dated {}

impl<'a> Finds<'a> {
    fn new(sources: &'a [Source]) -> Self {
        Self {
            sources,
            open: BinaryHeap::new(),
            undated: Vec::new(),
            ready: Vec::new(),
            messages: FxHashSet::default(),
            told: FxHashSet::default(),
            said: Said::default(),
            problems: Vec::new(),
            batch: FIRST,
        }
    }

    fn take(&mut self, found: Result<Found, PathError>) {
        match found {
            Ok(mut found) => {
                self.said.take(self.sources, &mut found);
                let (dated, undated): (Vec<Place>, Vec<Place>) =
                    found.places.into_iter().partition(|place| place.is_dated);
                self.open.extend(dated.into_iter().map(Dated));
                self.undated.extend(undated);
            }
            // Cleanup may take a file between listing and reading.
            Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Hands out what is later than the end of all files that are left.
    fn settle<B>(
        &mut self,
        end: Time,
        each: &mut impl FnMut(Batch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.make_ready(end);
        while self.messages.len() >= self.batch {
            let mut hits = self.hits();
            for place in hits.split_off(self.batch).iter().flat_map(Hit::places) {
                self.ready(*place);
            }
            self.batch = (self.batch * 2).min(LARGEST);
            self.hand_out(hits, each)?;
            self.make_ready(end);
        }
        ControlFlow::Continue(())
    }

    /// Takes as many certain places as a batch needs. Copies of a message have its time, so all of one
    /// time come together.
    fn make_ready(&mut self, end: Time) {
        let mut last = None;
        while let Some(Dated(place)) = self.open.peek()
            && place.time > Some(end)
            && (self.messages.len() < self.batch || last == Some(place.time))
        {
            last = Some(place.time);
            let place = *place;
            self.open.pop();
            self.ready(place);
        }
    }

    fn end<B>(&mut self, each: &mut impl FnMut(Batch<'_>) -> ControlFlow<B>) -> ControlFlow<B> {
        self.settle(Time::from_millis(i64::MIN), each)?;
        for place in std::mem::take(&mut self.undated) {
            self.ready(place);
        }
        let hits = self.hits();
        if hits.is_empty() { ControlFlow::Continue(()) } else { self.hand_out(hits, each) }
    }

    fn ready(&mut self, place: Place) {
        if !self.told.contains(&place.identity) {
            self.messages.insert(place.identity);
            self.ready.push(place);
        }
    }

    fn hits(&mut self) -> Vec<Hit> {
        self.messages.clear();
        Hit::merge(std::mem::take(&mut self.ready), self.sources, Order::Time)
    }

    fn hand_out<B>(
        &mut self,
        hits: Vec<Hit>,
        each: &mut impl FnMut(Batch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.told.extend(hits.iter().map(|hit| hit.place.identity));
        each(Batch { hits, said: &self.said })
    }
}
