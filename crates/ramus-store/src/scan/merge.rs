//! Combines matches into hits: copies of one message in several files are one hit.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::{MatchLocation, SearchSource};

/// A matching message with all its locations.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its location in the oldest file.
    pub location: MatchLocation,
    /// The locations of its copies.
    pub copies: Vec<MatchLocation>,
}

impl Hit {
    /// Combines the locations of each message and sorts the hits, newest first. Records without a time of
    /// their own, such as titles, come last.
    pub fn merge_copies(mut places: Vec<MatchLocation>, sources: &[SearchSource]) -> Vec<Self> {
        // Oldest first. Records marked as copies come last; otherwise the file written last is the copy.
        let age = source_ages(sources);
        places.sort_unstable_by_key(|place| {
            (place.is_copy, age[place.source as usize], place.span.offset)
        });
        let mut hits: Vec<Self> = Vec::with_capacity(places.len());
        let mut known: FxHashMap<u128, u32> = FxHashMap::default();
        for place in places {
            match known.get(&place.identity) {
                Some(hit) => hits[*hit as usize].copies.push(place),
                None => {
                    known.insert(place.identity, hits.len() as u32);
                    hits.push(Self { location: place, copies: Vec::new() });
                }
            }
        }
        hits.sort_by_key(|Self { location: place, .. }| {
            Reverse((place.is_dated, place.time, place.source, place.span.offset))
        });
        hits
    }

    /// Returns all locations, oldest first.
    pub fn all_locations(&self) -> impl Iterator<Item = &MatchLocation> {
        std::iter::once(&self.location).chain(&self.copies)
    }
}

/// Returns the rank of each source by the time its file was last written.
fn source_ages(sources: &[SearchSource]) -> Vec<u32> {
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
    use testkit::TestHome;

    use super::*;
    use crate::claude_dir::ClaudeDirs as ClaudePlace;
    use crate::scan::{ScanFilter, ScanJob, SourceFormat, list_spilled_results};

    /// Searches all files of a home; returns the hits by the names of their files and their lines.
    fn found(home: &TestHome, words: &str) -> Vec<Vec<String>> {
        let listing = ClaudePlace::open(vec![home.claude_dir()]).unwrap().list_projects();
        let mut sources = Vec::new();
        for (at, project) in listing.projects.iter().enumerate() {
            let records = project.files.iter().cloned().map(|file| (file, SourceFormat::Records));
            let spilled = list_spilled_results(project, None)
                .into_iter()
                .map(|file| (file, SourceFormat::Spilled));
            let files = records.chain(spilled);
            sources.extend(files.map(|(file, content)| SearchSource::new(file, content, Some(at))));
        }
        let query = Query::from_words(words).unwrap();
        let job = ScanJob {
            sources: &sources,
            query: &query,
            tool: None,
            filter: &ScanFilter::default(),
            on_read: &|_| {},
            go_on: &|| true,
            in_background: false,
        };
        let scan = job.find_all();
        assert!(scan.problems.is_empty());
        let name = |place: &MatchLocation| {
            let path: &Path = &sources[place.source as usize].file.path;
            format!("{}:{}", path.file_name().unwrap().to_string_lossy(), place.line)
        };
        let hits = Hit::merge_copies(scan.locations, &sources);
        hits.iter().map(|hit| hit.all_locations().map(name).collect()).collect()
    }

    #[test]
    fn copies_are_one_hit_and_the_newest_comes_first() {
        let home = TestHome::new();
        let talk =
            "a user @1 find the needle\nb < a assistant @2 here\nc < b user @9 another needle";
        home.write_session("-p/s1.jsonl", talk);
        home.write_session(
            "-p/s2.jsonl",
            "a user @1 find the needle\nd < a assistant @3 no needle",
        );
        home.write_file("-p/s1/tool-results/toolu_1.txt", "a needle in an output\n");
        let hits = found(&home, "needle");
        let dated: Vec<&[String]> = hits.iter().map(|hit| &hit[..]).take(3).collect();
        assert_eq!(dated[0], ["s1.jsonl:3"]);
        assert_eq!(dated[1], ["s2.jsonl:2"]);
        assert_eq!(dated[2], ["s1.jsonl:1", "s2.jsonl:1"]);
        assert!(hits.concat().contains(&"toolu_1.txt:1".to_owned()), "{hits:?}");
        assert_eq!(hits.len(), 4);
        assert!(found(&home, "haystack").is_empty());
    }
}
