//! Searches files for words that are similar to misspelt ones.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ramus_core::query::SimilarWords;
use rayon::prelude::*;

use super::{ScanJob, read_line_chunks};

/// How many bytes are searched at most, of the newest files, so that a suggestion comes quickly.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// How many words are returned for each.
const MAX_SIMILAR: usize = 3;

/// Similar words by the word they are similar to: how many letters differ, and how often they occur.
type FoundWords = BTreeMap<(usize, String), (usize, u32)>;

impl ScanJob<'_> {
    /// Returns the words that occur and are similar to each of some words, the most similar first.
    pub fn similar_words(&self, words: &[String]) -> Vec<Vec<String>> {
        let mut similar: Vec<Vec<String>> = vec![Vec::new(); words.len()];
        let Some(finder) = SimilarWords::new(words.iter().map(String::as_str)) else {
            return similar;
        };
        let mut found: Vec<_> =
            self.on_threads(|| self.find_similar(&finder)).into_iter().collect();
        found.sort_by_key(|((_, _), (distance, count))| (*distance, Reverse(*count)));
        for ((word, text), _) in found {
            if similar[word].len() < MAX_SIMILAR {
                similar[word].push(text);
            }
        }
        similar
    }

    fn find_similar(&self, finder: &SimilarWords) -> FoundWords {
        let mut newest: Vec<usize> = (0..self.sources.len()).collect();
        newest.sort_by_key(|index| Reverse(self.sources[*index].file.modified));
        let read = AtomicU64::new(0);
        let look = |mut found: FoundWords, index: &usize| {
            let file = &self.sources[*index].file;
            if !(self.go_on)() || read.fetch_add(file.bytes, Relaxed) > MAX_BYTES {
                return found;
            }
            // A file that cannot be read was reported by the search.
            drop(read_line_chunks(&file.path, |piece| {
                finder.find_in_lines(piece.bytes, |word, text, distance| {
                    let seen = found.entry((word, text.to_owned())).or_insert((distance, 0));
                    seen.1 += 1;
                });
            }));
            found
        };
        let merge = |mut a: FoundWords, b: FoundWords| {
            for (key, (distance, count)) in b {
                a.entry(key).or_insert((distance, 0)).1 += count;
            }
            a
        };
        newest.par_iter().with_max_len(8).fold(FoundWords::new, look).reduce(FoundWords::new, merge)
    }
}
