//! Returns hits newest first, as soon as their order is certain.
//!
//! Files are searched in the order of their latest possible time: the time they were last
//! written, or a later time near their end. A hit is certain once all remaining files end
//! before it, because none of them can contain a newer hit or a copy of it. If all files got
//! new dates, for example by a copy, that is when all files were read. If a file's date is
//! older than its records, hits still come, only later than they should.

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

/// The size of the first batch. Each batch is twice as large as the one before.
const FIRST: usize = 32;
/// The maximum size of a batch, which is held in memory while it is shown.
const LARGEST: usize = 32 * 1024;

/// Some hits, in order.
#[derive(Debug)]
pub struct Batch<'a> {
    pub hits: Vec<Hit>,
    pub said: &'a Said,
}

impl ScanJob<'_> {
    /// Searches all sources and passes hits to `each` in batches, as soon as they are certain.
    ///
    /// Records without a time of their own, such as titles, come last. The size of a batch depends
    /// only on the number of hits. `each` may stop the search. Returns what could not be read.
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
        // Results are processed in that order, whichever thread finishes first.
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

/// Returns the latest possible time of a source's records, judged by its file date and its end.
fn end((source, sight): (&Source, &Sight)) -> Time {
    let unknown = Time::from_millis(i64::MAX);
    match source.content {
        // It is not searched, so its position does not matter.
        _ if matches!(sight, Sight::Nothing) => unknown,
        Content::Records => {
            let last = end_time(&source.file.path).ok().flatten();
            last.map_or(unknown, |last| last.max(to_time(source.file.modified)))
        }
        Content::Spilled => unknown,
    }
}

/// Matches that have not been passed on yet.
struct Finds<'a> {
    sources: &'a [Source],
    /// Matches with a time, newest on top.
    open: BinaryHeap<Dated>,
    undated: Vec<Place>,
    /// Certain matches for the next batch.
    ready: Vec<Place>,
    /// The identities of the messages among them.
    messages: FxHashSet<u128>,
    told: FxHashSet<u128>,
    said: Said,
    problems: Vec<PathError>,
    batch: usize,
}

/// A match with a time, ordered by it.
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
                let places = found.places.iter().copied();
                self.undated.extend(places.clone().filter(|place| !place.is_dated));
                self.open.extend(places.filter(|place| place.is_dated).map(Dated));
            }
            // Cleanup may take a file between listing and reading.
            Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Passes on what is newer than the end of all remaining files.
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

    /// Collects as many certain matches as a batch needs. Copies of a message have the same time, so matches
    /// of one time stay together.
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
