//! How well records match, and the score of a match.
//!
//! The weights follow BM25: a rare word counts more than a common one, and a word that is repeated counts
//! less each time. What is common is known from the search itself, so no index has to be kept.

use std::cmp::Reverse;
use std::ops::Range;

use regex::Regex;

use super::term::QueryTerm;
use super::{TextKind, WordForm};

/// How closely the words of a query stand together, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchLevel {
    /// One after the other, or a single word.
    Phrase,
    /// All in one message.
    Message,
    /// All in one session, in different messages.
    Conversation,
    /// Only some of them: no session has all.
    Partial,
    /// Found by meaning; the words need not occur.
    Meaning,
}

impl MatchLevel {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Phrase => "phrase",
            Self::Message => "message",
            Self::Conversation => "conversation",
            Self::Partial => "partial",
            Self::Meaning => "meaning",
        }
    }
}

/// How well a record matches. Terms are bits, in the order of [`Query::term_texts`](super::Query::term_texts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchStrength {
    /// The terms that match, those that match as whole words, and those that begin a word.
    pub terms: u64,
    pub whole_words: u64,
    pub word_starts: u64,
    /// The terms follow each other, and as whole words.
    pub has_phrase: bool,
    pub has_whole_phrase: bool,
    /// The number of matches, at most 20 for each term.
    pub count: u16,
    /// The length of the text that matches best, and its kind.
    pub text_len: u32,
    pub text_kind: Option<TextKind>,
}

/// Enough to tell frequent from rare.
const MAX_COUNT: usize = 20;

impl MatchStrength {
    /// Adds another text of the same record; returns whether it is the best one so far.
    pub(super) fn add_text(&mut self, text: &Self) -> bool {
        let is_better = self.text_kind.is_none() || self.best_key() < text.best_key();
        let (text_len, text_kind) = match is_better {
            true => (text.text_len, text.text_kind),
            false => (self.text_len, self.text_kind),
        };
        self.add_record(text);
        (self.text_len, self.text_kind) = (text_len, text_kind);
        is_better
    }

    /// Adds another record of the same message. The kind stays that of this one.
    pub fn add_record(&mut self, other: &Self) {
        self.terms |= other.terms;
        self.whole_words |= other.whole_words;
        self.word_starts |= other.word_starts;
        self.has_phrase |= other.has_phrase;
        self.has_whole_phrase |= other.has_whole_phrase;
        self.count = self.count.saturating_add(other.count);
    }

    fn best_key(&self) -> (bool, bool, u32, u32, u8) {
        let weight = self.text_kind.map_or(0, TextKind::rank_weight);
        let counts = (self.terms.count_ones(), self.whole_words.count_ones());
        (self.has_whole_phrase, self.has_phrase, counts.0, counts.1, weight)
    }
}

impl TextKind {
    /// Returns the weight of a match in this kind of text, in tenths: people remember what they asked for.
    fn rank_weight(self) -> u8 {
        match self {
            Self::Title => 40,
            Self::Prompt | Self::QueuedPrompt | Self::Summary => 30,
            Self::Reply | Self::PullRequest => 20,
            Self::Command | Self::Thinking => 14,
            Self::ToolInput => 12,
            Self::ToolResult | Self::Error => 10,
            _ => 6,
        }
    }
}

/// Returns how well a text matches, and the range to show of it; `None`: no term occurs.
pub(super) fn text_strength(
    terms: &[QueryTerm],
    phrase: Option<&Regex>,
    kind: TextKind,
    text: &str,
) -> Option<(MatchStrength, Range<usize>)> {
    let mut strength = MatchStrength {
        text_len: text.len().min(u32::MAX as usize) as u32,
        text_kind: Some(kind),
        ..MatchStrength::default()
    };
    let mut marks: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        let bit = 1 << index;
        for found in term.regex.find_iter(text).take(MAX_COUNT) {
            let range = found.range();
            let (starts, ends) = (is_word_start(text, range.start), is_word_end(text, range.end));
            strength.terms |= bit;
            strength.word_starts |= if starts { bit } else { 0 };
            strength.whole_words |= if starts && ends { bit } else { 0 };
            strength.count += 1;
            marks.push((range, index));
        }
    }
    if strength.terms == 0 {
        return None;
    }
    let is_whole =
        |range: &Range<usize>| is_word_start(text, range.start) && is_word_end(text, range.end);
    let all = u64::MAX >> (64 - terms.len().clamp(1, 64));
    let mut shown = None;
    if terms.len() == 1 {
        strength.has_phrase = true;
        strength.has_whole_phrase = strength.whole_words != 0;
        shown = marks.iter().map(|(range, _)| range).find(|range| is_whole(range)).cloned();
    } else if let Some(phrase) = phrase
        && strength.terms == all
    {
        for found in phrase.find_iter(text).take(MAX_COUNT) {
            strength.has_phrase = true;
            shown.get_or_insert(found.range());
            if is_whole(&found.range()) {
                strength.has_whole_phrase = true;
                shown = Some(found.range());
                break;
            }
        }
    }
    Some((strength, shown.unwrap_or_else(|| densest_mark(terms, marks))))
}

/// How many bytes a snippet shows, roughly.
const WINDOW_BYTES: usize = 200;

/// Returns the rarest match of the first window that has the most different terms. Function words count only where
/// nothing else matches.
fn densest_mark(terms: &[QueryTerm], mut marks: Vec<(Range<usize>, usize)>) -> Range<usize> {
    let says_something = |mark: &(Range<usize>, usize)| !is_function_word(&terms[mark.1].text);
    if marks.iter().any(says_something) {
        marks.retain(says_something);
    }
    marks.sort_by_key(|(range, _)| range.start);
    let window = |first: usize| {
        let start = marks[first].0.start;
        marks[first..].iter().take_while(move |(range, _)| range.end <= start + WINDOW_BYTES)
    };
    let terms_from = |first: usize| {
        window(first).fold(0_u64, |terms, (_, index)| terms | 1 << index).count_ones()
    };
    let best = (0..marks.len()).rev().max_by_key(|first| terms_from(*first)).unwrap_or(0);
    let rarest = window(best).min_by_key(|(_, index)| Reverse(terms[*index].weight));
    rarest.or(marks.first()).map_or(0..0, |(range, _)| range.clone())
}

/// Whether a word begins here: also within an identifier such as `thread_pool` or `ThreadPool`.
fn is_word_start(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let first = text[at..].chars().next();
    is_word_edge(before, first)
}

fn is_word_end(text: &str, at: usize) -> bool {
    is_word_edge(text[..at].chars().next_back(), text[at..].chars().next())
}

fn is_word_edge(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    // Scripts without spaces have no visible words.
    let is_part = |char: char| char.is_alphanumeric() && char < '\u{2e80}';
    !is_part(before) || !is_part(after) || (before.is_lowercase() && after.is_uppercase())
}

/// How many of the sessions have a term: at all, at the beginning of a word, and as a whole word.
#[derive(Clone, Copy, Debug, Default)]
pub struct TermFrequency {
    pub sessions: usize,
    pub word_starts: usize,
    pub whole_words: usize,
    pub of: usize,
}

/// The weights of the terms of a query: rare words weigh more.
///
/// A short word (`ci`) is a part of many others, so each form has the weight of its own frequency.
#[derive(Clone, Debug, Default)]
pub struct RankWeights {
    terms: Vec<TermWeight>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TermWeight {
    part: f32,
    word_start: f32,
    whole_word: f32,
}

/// How fast repeated words lose weight, and the penalty for long texts, as in BM25.
const SATURATION: f32 = 1.2;
const LENGTH_SHARE: f32 = 0.5;
/// The length of a typical text; a longer text counts as at most this many times longer.
const USUAL_LEN: f32 = 800.0;
const MAX_LEN_RATIO: f32 = 6.0;

impl RankWeights {
    pub fn new(frequencies: impl IntoIterator<Item = TermFrequency>) -> Self {
        let weight = |with: usize, all: usize| {
            let (with, all) = (with as f32, all as f32);
            (((all - with).max(0.0) + 0.5) / (with + 0.5)).ln_1p()
        };
        let weights = |it: TermFrequency| TermWeight {
            part: weight(it.sessions, it.of),
            word_start: weight(it.word_starts, it.of),
            whole_word: weight(it.whole_words, it.of),
        };
        Self { terms: frequencies.into_iter().map(weights).collect() }
    }

    /// Returns the weight of one term in a form.
    pub fn term_weight(&self, term: usize, form: WordForm) -> f32 {
        let weight = self.terms.get(term).copied().unwrap_or_default();
        match form {
            WordForm::WholeWord => weight.whole_word,
            WordForm::WordStart => weight.word_start,
            WordForm::WordPart | WordForm::Elsewhere => weight.part,
        }
    }

    /// Returns the weights of some terms together, in any form.
    pub fn sum_weights(&self, terms: u64) -> f32 {
        self.sum_form_weights(terms, WordForm::WordPart)
    }

    fn sum_form_weights(&self, terms: u64, form: WordForm) -> f32 {
        let chosen = (0..self.terms.len().min(64)).filter(|at| terms & 1 << at != 0);
        chosen.map(|at| self.term_weight(at, form)).sum()
    }

    /// Returns the score of a match.
    pub fn score(&self, strength: &MatchStrength, level: MatchLevel) -> f32 {
        let MatchStrength { terms, whole_words, word_starts, .. } = *strength;
        let mut words = self.sum_form_weights(whole_words, WordForm::WholeWord)
            + 0.6 * self.sum_form_weights(word_starts & !whole_words, WordForm::WordStart)
            + 0.15 * self.sum_weights(terms & !word_starts);
        // A word that only ends another one (`rate` in `crate`) was probably not meant.
        if terms & !word_starts != 0 {
            words *= 0.6;
        }
        let ratio = (strength.text_len as f32 / USUAL_LEN).min(MAX_LEN_RATIO);
        let length = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * ratio);
        let count = f32::from(strength.count) / terms.count_ones().max(1) as f32;
        let repeated = count * (SATURATION + 1.0) / (count + length);
        let kind = f32::from(strength.text_kind.map_or(10, TextKind::rank_weight)) / 10.0;
        let closeness = match level {
            MatchLevel::Phrase if self.terms.len() < 2 => 1.0,
            MatchLevel::Phrase if strength.has_whole_phrase => 3.0,
            MatchLevel::Phrase => 2.0,
            MatchLevel::Message => 1.4,
            MatchLevel::Conversation | MatchLevel::Partial | MatchLevel::Meaning => 1.0,
        };
        words * kind * repeated * closeness
    }
}

/// Common words with little meaning. A query with other words also finds sessions that lack one of these.
const FUNCTION_WORDS: &str = " a about again all also an and any are as at be because been but by can can't could did didn't do does doesn't don't ever for from get got had has have he her his how i if in into is isn't it it's its just like me my no not of on or our out over please she should so some than that that's the their them then there there's these they this to up us use using was wasn't we were what what's when where which who why will with would you your aber als am an auf aus bei bin das dass dem den der des die ein eine einen einer er es für hat haben ich im in ist kann man mit nach nicht noch nur oder sich sie sind so und uns von war was wenn wer wie wir wird wo zu zum zur über ";

/// Whether a word has little meaning.
pub fn is_function_word(word: &str) -> bool {
    // A question ends with a sign.
    let word = word.trim_matches(|char: char| !char.is_alphanumeric());
    let word = word.to_lowercase().replace('’', "'");
    !word.is_empty() && !word.contains(' ') && FUNCTION_WORDS.contains(&format!(" {word} "))
}

#[cfg(test)]
mod tests {
    use super::{MatchLevel, MatchStrength, RankWeights, TermFrequency, is_function_word};
    use crate::query::{Query, TextKind, WordForm};

    fn strength(query: &str, kind: TextKind, text: &str) -> (MatchStrength, String) {
        let query = Query::from_words(query).unwrap();
        let (strength, range) = query.strength_in_text(kind, text).unwrap();
        (strength, text[range].to_owned())
    }

    #[test]
    fn whole_words_and_beginnings_are_told_from_parts() {
        let forms = |query: &str, text: &str| {
            let found = strength(query, TextKind::Reply, text).0;
            (found.whole_words, found.word_starts, found.terms)
        };
        assert_eq!(forms("rate", "the rate limit"), (1, 1, 1));
        assert_eq!(forms("rate", "rates"), (0, 1, 1));
        assert_eq!(forms("rate", "a crate"), (0, 0, 1));
        assert_eq!(forms("pool", "ThreadPool thread_pool"), (1, 1, 1));
        assert_eq!(forms("数据", "修复数据库"), (1, 1, 1));
    }

    #[test]
    fn a_phrase_is_seen_across_signs_and_within_identifiers() {
        let phrase = |text: &str| {
            let (found, shown) = strength("thread pool", TextKind::Reply, text);
            (found.has_phrase, found.has_whole_phrase, shown)
        };
        assert_eq!(phrase("a thread pool"), (true, true, "thread pool".into()));
        assert_eq!(phrase("my_thread_pool"), (true, true, "thread_pool".into()));
        assert_eq!(phrase("threadpools"), (true, false, "threadpool".into()));
        assert!(!phrase("a pool for each thread").0);
        let far = format!("pool {} thread and pool", "x ".repeat(300));
        assert_eq!(phrase(&far).2, "thread");
    }

    #[test]
    fn what_is_shown_is_the_rarest_word_and_no_function_word() {
        let shown = |query: &str, text: &str| strength(query, TextKind::Reply, text).1;
        let text = format!("the the the {} my parser: a timeout", "x ".repeat(300));
        assert_eq!(shown("the timeout parser", &text), "timeout");
        assert_eq!(shown("the samovar", "that is the end"), "the");
    }

    #[test]
    fn prompts_beat_output_rare_words_common_ones_and_phrases_the_rest() {
        let weights = RankWeights::new([frequency(2, 2), frequency(90, 90)]);
        let weight = |term| weights.term_weight(term, WordForm::WholeWord);
        assert!(weight(0) > 10.0 * weight(1));
        let score =
            |kind, text: &str, level| weights.score(&strength("rate limit", kind, text).0, level);
        let phrase = score(TextKind::Reply, "the rate limit", MatchLevel::Phrase);
        assert!(phrase > score(TextKind::Reply, "limit the rate", MatchLevel::Message));
        assert!(phrase > score(TextKind::Reply, "crate of limits", MatchLevel::Message));
        assert!(phrase > score(TextKind::ToolResult, "the rate limit", MatchLevel::Phrase));
        assert!(phrase < score(TextKind::Title, "the rate limit", MatchLevel::Phrase));
    }

    /// Of 100 sessions.
    fn frequency(sessions: usize, whole_words: usize) -> TermFrequency {
        TermFrequency { sessions, word_starts: whole_words, whole_words, of: 100 }
    }

    #[test]
    fn a_word_that_is_part_of_many_others_is_rare_as_a_whole_word() {
        let weights = RankWeights::new([frequency(100, 1), frequency(40, 40)]);
        let score = |query: &str, text: &str| {
            let found = strength(query, TextKind::Reply, text).0;
            weights.score(&found, MatchLevel::Phrase)
        };
        assert!(score("ci", "the CI fails") > 20.0 * score("ci", "the decision fails"));
        assert!(weights.sum_weights(1) < weights.sum_weights(2));
    }

    #[test]
    fn function_words_are_known() {
        assert!(is_function_word("The") && is_function_word("wie"));
        assert!(is_function_word("it?") && is_function_word("What’s"));
        assert!(!is_function_word("pool") && !is_function_word("a an") && !is_function_word("?"));
    }
}
