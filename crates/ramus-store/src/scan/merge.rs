//! Combines matches into hits: copies of one message in several files are one hit.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::{Place, Source};

/// A matching message with all its locations.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its location in the oldest file.
    pub place: Place,
    /// The locations of its copies.
    pub copies: Vec<Place>,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Newest first. Records without a time of their own, such as titles, come last.
    Time,
    /// Most relevant first, then newest first.
    Relevance,
}

impl Hit {
    /// Combines the locations of each message and sorts the hits.
    pub fn merge(mut places: Vec<Place>, sources: &[Source], order: Order) -> Vec<Self> {
        // Oldest first. Records marked as copies come last; otherwise the file written last is the copy.
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

    /// Returns all locations, oldest first.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.copies)
    }
}

/// Returns the rank of each source by the time its file was last written.
fn ages(sources: &[Source]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|index| (sources[*index].file.modified, &sources[*index].file.relative));
    let mut ages = vec![0; sources.len()];
    for (age, index) in (0..).zip(order) {
        ages[index] = age;
    }
    ages
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ramus_core::query::Query;
    use testkit::Home;

    use super::*;
    use crate::place::Place as ClaudePlace;
    use crate::scan::{Content, Filter, ScanJob, spills};

    /// Searches all files of a home; returns the hits by the names of their files and their lines.
    fn found(home: &Home, words: &str, order: Order) -> Vec<Vec<String>> {
        let listing = ClaudePlace::open(vec![home.claude()]).unwrap().projects();
        let mut sources = Vec::new();
        for (at, project) in listing.projects.iter().enumerate() {
            let records = project.files.iter().cloned().map(|file| (file, Content::Records));
            let spilled = spills(project, None).into_iter().map(|file| (file, Content::Spilled));
            let files = records.chain(spilled);
            sources.extend(files.map(|(file, content)| Source::new(file, content, Some(at))));
        }
        let query = Query::words(words).unwrap();
        let job = ScanJob {
            sources: &sources,
            query: &query,
            tool: None,
            filter: &Filter::default(),
            on_read: &|_| {},
            go_on: &|| true,
            in_background: false,
        };
        let scan = job.find_all(order);
        assert!(scan.problems.is_empty());
        let name = |place: &Place| {
            let path: &Path = &sources[place.source as usize].file.path;
            format!("{}:{}", path.file_name().unwrap().to_string_lossy(), place.line)
        };
        let hits = Hit::merge(scan.places, &sources, order);
        hits.iter().map(|hit| hit.places().map(name).collect()).collect()
    }

    #[test]
    fn copies_are_one_hit_and_the_newest_comes_first() {
        let home = Home::new();
        let talk =
            "a user @1 find the needle\nb < a assistant @2 here\nc < b user @9 another needle";
        home.session("-p/s1.jsonl", talk);
        home.session("-p/s2.jsonl", "a user @1 find the needle\nd < a assistant @3 no needle");
        home.write("-p/s1/tool-results/toolu_1.txt", "a needle in an output\n");
        let hits = found(&home, "needle", Order::Time);
        let dated: Vec<&[String]> = hits.iter().map(|hit| &hit[..]).take(3).collect();
        assert_eq!(dated[0], ["s1.jsonl:3"]);
        assert_eq!(dated[1], ["s2.jsonl:2"]);
        assert_eq!(dated[2], ["s1.jsonl:1", "s2.jsonl:1"]);
        assert!(hits.concat().contains(&"toolu_1.txt:1".to_owned()), "{hits:?}");
        assert_eq!(hits.len(), 4);
        assert!(found(&home, "haystack", Order::Time).is_empty());
    }
}
