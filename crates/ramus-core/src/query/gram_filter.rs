//! Compact filters for what a range of raw lines may contain.
//!
//! A [`GramFilterBuilder`] records which sequences of four bytes occur in a range, in lower case, in so few bits
//! that it also reports some that do not occur. A [`GramQuery`] is what a filter must report if a line of the
//! range can match. Together they have false positives and never false negatives.

use std::collections::BTreeSet;

use memchr::memmem;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::raw_filter::{has_one_spelling, parse_unit};

/// The length of a gram in bytes.
const GRAM_SIZE: usize = 4;
/// Filters are built with this many bits and folded afterwards.
const BUILD_BITS: usize = 1 << 20;
/// The largest share of set bits; folding a filter in half sets more.
const MAX_FILL: usize = 3;
/// Characters that match ASCII letters when case is ignored.
const CASE_FOLDED: [char; 2] = ['\u{212a}', '\u{17f}'];

/// The hash of four bytes.
type Gram = u32;

fn hash_gram(bytes: u32) -> Gram {
    let bytes = bytes.wrapping_mul(0x85eb_ca6b);
    (bytes ^ (bytes >> 15)).wrapping_mul(0xc2b2_ae35)
}

/// What a range of lines may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GramFilter {
    /// Which four bytes, a power of two of bits.
    pub bits: Vec<u8>,
    /// The escaped characters that occur, as sorted UTF-16 units.
    pub escaped_units: Vec<u16>,
}

/// Builds filters one after another in the same memory.
#[derive(Debug)]
pub struct GramFilterBuilder {
    bits: Vec<u64>,
    escaped_units: BTreeSet<u16>,
}

impl Default for GramFilterBuilder {
    fn default() -> Self {
        Self { bits: vec![0; BUILD_BITS / 64], escaped_units: BTreeSet::new() }
    }
}

impl GramFilterBuilder {
    /// Adds whole lines.
    pub fn add_lines(&mut self, lines: &[u8]) {
        let (first, rest) = lines.split_at(lines.len().min(GRAM_SIZE - 1));
        let mut window = first.iter().fold(0, |window, byte| slide_window(window, *byte));
        for byte in rest {
            window = slide_window(window, *byte);
            let bit = hash_gram(window) as usize % BUILD_BITS;
            self.bits[bit / 64] |= 1 << (bit % 64);
        }
        let escapes = memmem::find_iter(lines, b"\\u");
        self.escaped_units.extend(escapes.filter_map(|at| parse_unit(lines.get(at + 2..at + 6)?)));
        let folded = CASE_FOLDED
            .iter()
            .filter(|char| memmem::find(lines, char.encode_utf8(&mut [0; 4]).as_bytes()).is_some());
        self.escaped_units.extend(folded.map(|char| *char as u16));
    }

    /// Returns the filter and starts a new one.
    pub fn take_filter(&mut self) -> GramFilter {
        let mut bits = std::mem::replace(&mut self.bits, vec![0; BUILD_BITS / 64]);
        let set = |bits: &[u64]| bits.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        while bits.len() > 1 && set(&bits) * 2 * MAX_FILL < bits.len() * 64 {
            let upper = bits.split_off(bits.len() / 2);
            bits.iter_mut().zip(upper).for_each(|(low, high)| *low |= high);
        }
        GramFilter {
            bits: bits.iter().flat_map(|word| word.to_le_bytes()).collect(),
            escaped_units: std::mem::take(&mut self.escaped_units).into_iter().collect(),
        }
    }
}

fn slide_window(window: u32, byte: u8) -> u32 {
    window << 8 | u32::from(byte.to_ascii_lowercase())
}

/// Returns the bit of a filter of this size that belongs to a gram: the byte and the bit in it.
fn bit_position(gram: Gram, bytes: usize) -> (usize, u8) {
    let bit = gram as usize % (bytes * 8);
    (bit / 8, 1 << (bit % 8))
}

/// What a filter must report.
#[derive(Clone, Debug)]
pub struct GramQuery {
    /// All grams of one of these.
    texts: Vec<Vec<Gram>>,
    /// Or one of these characters, escaped: UTF-16 units from and to.
    escaped_units: Vec<(u16, u16)>,
}

impl GramQuery {
    /// Makes the query for texts of which one must occur; `None`: one of them is too short.
    pub(super) fn new(texts: &[&str], any_case: bool, odd: &[(u16, u16)]) -> Option<Self> {
        let of_text = |text: &&str| {
            let grams = text_grams(text, any_case);
            (!grams.is_empty()).then_some(grams)
        };
        Some(Self {
            texts: texts.iter().map(of_text).collect::<Option<_>>()?,
            escaped_units: odd.to_vec(),
        })
    }

    /// Returns the numbers of the bits that a filter must have: all of one of these lists, each modulo its size.
    pub fn required_bits(&self) -> &[Vec<u32>] {
        &self.texts
    }

    /// Returns ranges of escaped characters of which one is enough instead, as UTF-16 units with both ends included.
    pub fn escaped_ranges(&self) -> &[(u16, u16)] {
        &self.escaped_units
    }

    /// Whether one of its characters is among the escaped ones.
    pub fn has_escaped_char(&self, odd: &[u16]) -> bool {
        self.escaped_units.iter().any(|(first, last)| {
            odd.get(odd.partition_point(|unit| unit < first)).is_some_and(|unit| unit <= last)
        })
    }

    /// Whether a filter of this size reports its text; `byte` returns single bytes of the filter.
    pub fn is_in_filter<E>(
        &self,
        bytes: usize,
        mut byte: impl FnMut(usize) -> Result<u8, E>,
    ) -> Result<bool, E> {
        'texts: for text in &self.texts {
            for gram in text {
                let (at, bit) = bit_position(*gram, bytes);
                if byte(at)? & bit == 0 {
                    continue 'texts;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }
}

/// Returns the grams that every usual spelling of a text has.
fn text_grams(text: &str, any_case: bool) -> Vec<Gram> {
    let mut grams = Vec::new();
    let mut run: Vec<u8> = Vec::new();
    for char in text.chars() {
        if is_fixed(char, any_case) {
            run.extend(char.to_ascii_lowercase().encode_utf8(&mut [0; 4]).bytes());
        } else {
            add_grams(&run, &mut grams);
            run.clear();
        }
    }
    add_grams(&run, &mut grams);
    grams
}

fn add_grams(run: &[u8], grams: &mut Vec<Gram>) {
    let window = |bytes: &[u8]| bytes.iter().fold(0, |window, byte| window << 8 | u32::from(*byte));
    grams.extend(run.windows(GRAM_SIZE).map(|bytes| hash_gram(window(bytes))));
}

/// Whether a character is always written the same, apart from the case of ASCII letters.
fn is_fixed(char: char, any_case: bool) -> bool {
    if char.is_ascii() {
        return has_one_spelling(char as u8);
    }
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(char, char)]);
    if any_case {
        class.case_fold_simple();
    }
    class.ranges().iter().all(|range| (range.start(), range.end()) == (char, char))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{GramFilter, GramFilterBuilder, GramQuery};
    use crate::query::Query;

    fn gram_filter(lines: &[u8]) -> GramFilter {
        let mut gram_filter = GramFilterBuilder::default();
        gram_filter.add_lines(lines);
        gram_filter.take_filter()
    }

    fn claims(gram_filter: &GramFilter, clues: &[&GramQuery]) -> bool {
        clues.iter().all(|clue| {
            let byte = |at: usize| Ok::<u8, ()>(gram_filter.bits[at]);
            clue.has_escaped_char(&gram_filter.escaped_units)
                || clue.is_in_filter(gram_filter.bits.len(), byte).unwrap()
        })
    }

    #[track_caller]
    fn check(line: &str, query: &str, expected: bool) {
        let query = Query::from_words(query).unwrap();
        assert_eq!(query.gram_queries().len(), 1);
        assert_eq!(claims(&gram_filter(line.as_bytes()), &query.gram_queries()), expected);
    }

    #[test]
    fn what_is_there_is_claimed_and_most_of_the_rest_is_not() {
        let line = r#"{"text":"the Teapot of \u00e9tienne, 50 \u006bettles and a \u212aangaroo"}"#;
        check(line, "teapot", true);
        check(line, "Teapot", true);
        check(line, "samovar", false);
        check(line, "tienne", true);
        check(line, "étienne", true);
        check(line, "kettle", true);
        check("a \u{212a}ettle", "kettle", true);
        check("a settle", "kangaroo", false);
    }

    #[test]
    fn a_sketch_is_as_small_as_its_content() {
        assert_eq!(gram_filter(b"").bits.len(), 8);
        assert!(gram_filter(b"the same words again and again").bits.len() <= 64);
        let noise: Vec<u8> =
            (0..1u32 << 20).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        assert!(gram_filter(&noise).bits.len() <= super::BUILD_BITS / 8);
    }

    proptest! {
        /// A line that the plain scan would look at is never ruled out.
        #[test]
        fn never_no_too_often(
            line in "[a-zA-Z \\\\u0-9\u{17f}\u{212a}éÉß\"/]{0,60}",
            from in 0usize..60,
            length in 1usize..12,
            lower in any::<bool>(),
            regex in any::<bool>(),
        ) {
            let mut needle: String = line.chars().skip(from).take(length).collect();
            if lower {
                needle = needle.to_lowercase();
            }
            let query = if regex { Query::from_regex(&regex::escape(&needle)) } else { Query::from_words(&needle) };
            if let Ok(query) = query
                && query.candidate_lines(line.as_bytes()).next().is_some()
            {
                // All words are looked up here, while the scan uses only the rarest.
                let all = query.terms.iter().all(|term| {
                    term.raw_filter.as_ref().is_none_or(|escaped| escaped.may_be_in(line.as_bytes()))
                });
                prop_assert!(!all || claims(&gram_filter(line.as_bytes()), &query.gram_queries()));
            }
        }
    }
}
