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

use ramus_core::time::Time;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::line_chunks::quick_last_record_time;
use super::{
    FileMatches, Hit, MatchLocation, ScanJob, ScanNotes, ScanScope, SearchSource, SourceFormat,
    scan_source,
};
use crate::cache::SearchExtent;
use crate::error::PathError;
use crate::survey::time_from_system;

/// The size of the first batch. Each batch is twice as large as the one before.
const FIRST_BATCH: usize = 32;
/// The maximum size of a batch, which is held in memory while it is shown.
const MAX_BATCH: usize = 32 * 1024;

/// Some hits, in order.
#[derive(Debug)]
pub struct HitBatch<'a> {
    pub hits: Vec<Hit>,
    pub notes: &'a ScanNotes,
}

impl ScanJob<'_> {
    /// Searches all sources and passes hits to `each` in batches, as soon as they are certain.
    ///
    /// Records without a time of their own, such as titles, come last. The size of a batch depends
    /// only on the number of hits. `each` may stop the search. Returns what could not be read.
    pub fn find_newest<B>(
        &self,
        mut each: impl FnMut(HitBatch<'_>) -> ControlFlow<B>,
    ) -> (Vec<PathError>, ControlFlow<B>) {
        let Self { sources, query, tool, filter, on_read, go_on, .. } = *self;
        let (sights, ends) = self.on_threads(|| {
            let sights = filter.search_extents(sources, query);
            let ends: Vec<Time> = sources.par_iter().zip(&sights).map(latest_time).collect();
            (sights, ends)
        });
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|index| (Reverse(ends[*index]), Reverse(sources[*index].file.bytes)));
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (send, receive) = mpsc::channel();
        let work = |send: mpsc::Sender<(usize, Result<FileMatches, PathError>)>| {
            while !stop.load(Relaxed) && go_on() {
                let at = next.fetch_add(1, Relaxed);
                let Some(&index) = order.get(at) else { break };
                let seeing = ScanScope { extent: &sights[index], titles: true, go_on };
                let found = scan_source(index, &sources[index], query, tool, seeing);
                on_read(sources[index].file.bytes);
                if send.send((at, found)).is_err() {
                    break;
                }
            }
        };
        let mut finds = PendingHits::new(sources);
        // Results are processed in that order, whichever thread finishes first.
        let mut waiting: Vec<Option<Result<FileMatches, PathError>>> = Vec::new();
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
                    finds.add_found(found);
                    first_open += 1;
                }
                let Some(&open) = order.get(first_open) else { break };
                let flow = finds.release_certain(ends[open], &mut each);
                if flow.is_break() {
                    stop.store(true, Relaxed);
                    return flow;
                }
            }
            finds.release_rest(&mut each)
        });
        (finds.problems, flow)
    }
}

/// Returns the latest possible time of a source's records, judged by its file date and its end.
fn latest_time((source, sight): (&SearchSource, &SearchExtent)) -> Time {
    let unknown = Time::from_millis(i64::MAX);
    match source.content {
        // It is not searched, so its position does not matter.
        _ if matches!(sight, SearchExtent::Nothing) => unknown,
        SourceFormat::Records => {
            let last = quick_last_record_time(&source.file.path).ok().flatten();
            last.map_or(unknown, |last| last.max(time_from_system(source.file.modified)))
        }
        SourceFormat::Spilled => unknown,
    }
}

/// Matches that have not been passed on yet.
struct PendingHits<'a> {
    sources: &'a [SearchSource],
    /// Matches with a time, newest on top.
    dated: BinaryHeap<DatedMatch>,
    undated: Vec<MatchLocation>,
    /// Certain matches for the next batch.
    ready: Vec<MatchLocation>,
    /// The identities of the messages among them.
    messages: FxHashSet<u128>,
    released: FxHashSet<u128>,
    notes: ScanNotes,
    problems: Vec<PathError>,
    batch: usize,
}

/// A match with a time, ordered by it.
struct DatedMatch(MatchLocation);

impl Ord for DatedMatch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.time.cmp(&other.0.time)
    }
}

impl PartialOrd for DatedMatch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DatedMatch {
    fn eq(&self, other: &Self) -> bool {
        self.0.time == other.0.time
    }
}

impl Eq for DatedMatch {}

impl<'a> PendingHits<'a> {
    fn new(sources: &'a [SearchSource]) -> Self {
        Self {
            sources,
            dated: BinaryHeap::new(),
            undated: Vec::new(),
            ready: Vec::new(),
            messages: FxHashSet::default(),
            released: FxHashSet::default(),
            notes: ScanNotes::default(),
            problems: Vec::new(),
            batch: FIRST_BATCH,
        }
    }

    fn add_found(&mut self, found: Result<FileMatches, PathError>) {
        match found {
            Ok(mut found) => {
                self.notes.add_found(&mut found);
                let mut places = found.locations;
                self.undated.extend(places.extract_if(.., |place| !place.is_dated));
                // In their own memory: one file can have most of all matches.
                self.dated.append(&mut places.into_iter().map(DatedMatch).collect());
            }
            // Cleanup may take a file between listing and reading.
            Err(problem) if problem.source.kind() == io::ErrorKind::NotFound => {}
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Passes on hits that are newer than the end of all remaining files.
    fn release_certain<B>(
        &mut self,
        end: Time,
        each: &mut impl FnMut(HitBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.collect_certain(end);
        while self.messages.len() >= self.batch {
            let mut hits = self.take_hits();
            for place in hits.split_off(self.batch).iter().flat_map(Hit::all_locations) {
                self.push_ready(*place);
            }
            self.batch = (self.batch * 2).min(MAX_BATCH);
            self.release_batch(hits, each)?;
            self.collect_certain(end);
        }
        ControlFlow::Continue(())
    }

    /// Collects as many certain matches as a batch needs. Copies of a message have the same time, so matches
    /// of one time stay together.
    fn collect_certain(&mut self, end: Time) {
        let mut last = None;
        while let Some(DatedMatch(place)) = self.dated.peek()
            && place.time > Some(end)
            && (self.messages.len() < self.batch || last == Some(place.time))
        {
            last = Some(place.time);
            let place = *place;
            self.dated.pop();
            self.push_ready(place);
        }
    }

    fn release_rest<B>(
        &mut self,
        each: &mut impl FnMut(HitBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.release_certain(Time::from_millis(i64::MIN), each)?;
        for place in std::mem::take(&mut self.undated) {
            self.push_ready(place);
        }
        let hits = self.take_hits();
        if hits.is_empty() { ControlFlow::Continue(()) } else { self.release_batch(hits, each) }
    }

    fn push_ready(&mut self, place: MatchLocation) {
        if !self.released.contains(&place.identity) {
            self.messages.insert(place.identity);
            self.ready.push(place);
        }
    }

    fn take_hits(&mut self) -> Vec<Hit> {
        self.messages.clear();
        Hit::merge_copies(std::mem::take(&mut self.ready), self.sources)
    }

    fn release_batch<B>(
        &mut self,
        hits: Vec<Hit>,
        each: &mut impl FnMut(HitBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.released.extend(hits.iter().map(|hit| hit.location.identity));
        each(HitBatch { hits, notes: &self.notes })
    }
}
