//! Search queries, and what they match in a record.
//!
//! A [`Query`] is applied in two steps. [`Query::candidate_lines`] finds the lines that may match by looking at raw
//! bytes, at memory speed; [`Query::find_in_line`] parses one such line and finds what really matches.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use memchr::memmem;
use regex::{Regex, RegexBuilder};

use crate::body::json::unescape;
use crate::envelope::{Envelope, scan_envelope};
use crate::ids::{IdHash, RecordUuid, fingerprint};
use crate::record::RecordKind;
use crate::time::Time;
use record_match::{BestText, RecordMatch};
use term::QueryTerm;

mod gram_filter;
mod hit;
mod kind;
mod lines;
mod loose;
mod rank;
mod raw_filter;
mod record_match;
mod similar;
mod term;
mod texts;
mod typed;

pub use gram_filter::{GramFilter, GramFilterBuilder, GramQuery};
pub use hit::{HitBranch, HitContext, HitCopy, HitRank, Passage, SearchHit, TermRank, WordForm};
pub use kind::{SpeakerRole, TextKind};
pub use lines::CandidateLines;
pub use rank::{MatchLevel, MatchStrength, RankWeights, TermFrequency, is_function_word};
pub use similar::SimilarWords;
pub use term::{CaseRule, MatchOptions};
pub use typed::{FilterKey, TypedFilter, TypedQuery, TypedWord};

/// A search query: words, and the records they are searched in.
#[derive(Clone, Debug)]
pub struct Query {
    /// The rarest first: lines are chosen by it.
    terms: Vec<QueryTerm>,
    /// A record in which one of these matches is left out.
    excluded: Vec<QueryTerm>,
    /// The words one after the other; `None`: there is only one.
    phrase: Option<Regex>,
    /// The words as typed, to search for them by another rule.
    typed: Option<TypedQuery>,
    options: MatchOptions,
    /// Every text matches: the filters alone decide.
    is_anything: bool,
    /// Only in texts of these kinds; empty: in all usual kinds.
    pub kinds: Vec<TextKind>,
    /// Only in texts of these roles; empty: in all.
    pub roles: Vec<SpeakerRole>,
    /// Only in records from here on; the caller decides about records without a time.
    pub since: Option<Time>,
    /// Only in records before.
    pub until: Option<Time>,
    /// Only in results of failed tool calls and in API errors.
    pub only_errors: bool,
    /// Only in replies of a model whose name contains this, in lower case.
    pub model: Option<String>,
}

/// Why a query is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    pub message: String,
    /// The invalid part of the input; `None`: all of it.
    pub span: Option<Range<usize>>,
}

/// How much detail is needed about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingDetail {
    /// Only whether there is one: its text may be empty, and its kind that of any text that matches.
    Whether,
    /// The text, and where in it.
    Where,
    /// Also how well, even if only some of the terms match.
    Strength,
}

/// A record that matches, and where.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// Where the record begins in its line, and how long it is.
    pub start: usize,
    pub len: usize,
    pub kind: RecordKind,
    pub uuid: Option<RecordUuid>,
    pub time: Option<Time>,
    /// What is the same in all copies of the record, and in no other.
    pub identity: u128,
    /// The session id in the record.
    pub session: Option<Cow<'a, str>>,
    /// The record states that it is a copy.
    pub is_copy: bool,
    /// It belongs to a sub-agent.
    pub sidechain: bool,
    /// Hash of the text, to recognise a prompt that was written twice.
    pub text_hash: IdHash,
    pub text_kind: TextKind,
    /// The text in which most of the terms match.
    pub text: Cow<'a, str>,
    /// The match to show of it.
    pub range: Range<usize>,
    /// How well it matches, if requested.
    pub strength: MatchStrength,
    /// The ids of its message and of the tool calls made or answered in it, if requested.
    pub message_ids: Vec<IdHash>,
}

/// The maximum length of a query and its number of words. Matching time is proportional to both.
const MAX_CHARS: usize = 1000;
const MAX_WORDS: usize = 64;

/// Rejects queries that would take too long.
fn check_length(text: &str) -> Result<(), QueryError> {
    let letters = text.chars().count();
    if letters <= MAX_CHARS {
        return Ok(());
    }
    let message = format!(
        "the search text has {letters} characters, at most {MAX_CHARS} are allowed; search for a part of it"
    );
    Err(QueryError { message, span: None })
}

impl Query {
    /// Parses plain text: words, all of which must occur; quotes keep several together.
    pub fn from_words(text: &str) -> Result<Self, QueryError> {
        check_length(text)?;
        Self::from_typed(&TypedQuery::parse_words(text), MatchOptions::default())
    }

    /// Makes the query for words and phrases. The caller handles the filters.
    pub fn from_typed(typed: &TypedQuery, options: MatchOptions) -> Result<Self, QueryError> {
        let words: Vec<&str> = typed.words.iter().map(|word| &*word.text).collect();
        check_length(&words.join(" "))?;
        if words.len() + typed.without.len() > MAX_WORDS {
            let message = format!(
                "{} words are too many, at most {MAX_WORDS} are allowed; put phrases in quotes",
                words.len() + typed.without.len()
            );
            return Err(QueryError { message, span: None });
        }
        let has_upper = |word: &&str| word.chars().any(char::is_uppercase);
        let any_case = match options.case {
            CaseRule::Ignore => true,
            CaseRule::Sensitive => false,
            CaseRule::Smart => words.len() > 1 || !words.iter().any(has_upper),
        };
        let term = |word: &TypedWord| QueryTerm::from_word(&word.text, any_case, options);
        let terms: Vec<QueryTerm> = typed.words.iter().map(term).collect::<Result<_, _>>()?;
        if terms.is_empty() {
            return Err(QueryError { message: "the search text is empty".into(), span: None });
        }
        let phrase = (words.len() > 1).then(|| phrase_regex(&words, any_case)).flatten();
        Ok(Self {
            phrase,
            excluded: typed.without.iter().map(term).collect::<Result<_, _>>()?,
            typed: Some(typed.clone()),
            options,
            ..Self::from_terms(terms)
        })
    }

    /// Returns the same query for other words, or for the same words with another comparison.
    pub fn with_words(
        &self,
        typed: &TypedQuery,
        options: MatchOptions,
    ) -> Result<Self, QueryError> {
        let Self { kinds, roles, since, until, only_errors, model, .. } = self.clone();
        let query = Self::from_typed(typed, options)?;
        Ok(Self { kinds, roles, since, until, only_errors, model, ..query })
    }

    /// Returns the same query for a regular expression.
    pub fn with_regex(&self, pattern: &str) -> Result<Self, QueryError> {
        let Self { kinds, roles, since, until, only_errors, model, .. } = self.clone();
        let query = Self::from_regex(pattern)?;
        Ok(Self { kinds, roles, since, until, only_errors, model, ..query })
    }

    /// Returns the query that ignores case; `None`: it does already, or must not.
    pub fn ignoring_case(&self) -> Option<Self> {
        let typed = self.typed.as_ref()?;
        let has_upper = |word: &TypedWord| word.text.chars().any(char::is_uppercase);
        let is_single = typed.words.len() == 1 && typed.words.iter().any(has_upper);
        let options = MatchOptions { case: CaseRule::Ignore, ..self.options };
        let is_smart = self.options.case == CaseRule::Smart && is_single;
        is_smart.then(|| self.with_words(typed, options).ok()).flatten()
    }

    /// Returns the words as typed; `None`: it is a regular expression.
    pub fn typed_words(&self) -> Option<&TypedQuery> {
        self.typed.as_ref()
    }

    /// Returns how the words are compared.
    pub fn match_options(&self) -> MatchOptions {
        self.options
    }

    /// Returns the words in the order in which their matches are counted.
    pub fn term_texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.terms.iter().map(|term| &*term.text)
    }

    /// Parses a regular expression; it is case-sensitive unless it has `(?i)`.
    pub fn from_regex(pattern: &str) -> Result<Self, QueryError> {
        check_length(pattern)?;
        Ok(Self::from_terms(vec![QueryTerm::from_regex(pattern)?]))
    }

    /// Makes the query that every text matches which is not empty.
    pub fn anything() -> Result<Self, QueryError> {
        Ok(Self { is_anything: true, ..Self::from_regex(r"\A(?s:.)")? })
    }

    /// Makes the query that every text of some kinds matches.
    pub fn any_text(kinds: &[TextKind]) -> Result<Self, QueryError> {
        Ok(Self { kinds: kinds.to_vec(), ..Self::anything()? })
    }

    fn from_terms(mut terms: Vec<QueryTerm>) -> Self {
        // The rarest first: lines are chosen by it.
        terms.sort_by_key(|term| Reverse((term.raw_filter.is_some(), term.weight)));
        Self {
            terms,
            excluded: Vec::new(),
            phrase: None,
            typed: None,
            options: MatchOptions::default(),
            is_anything: false,
            kinds: Vec::new(),
            roles: Vec::new(),
            since: None,
            until: None,
            only_errors: false,
            model: None,
        }
    }

    /// Returns the lines that may match, as ranges without their newlines.
    pub fn candidate_lines<'q>(&'q self, bytes: &'q [u8]) -> CandidateLines<'q> {
        self.candidate_lines_of(0, bytes)
    }

    /// Returns the lines in which one of the terms may match.
    pub fn candidate_lines_of<'q>(&'q self, term: usize, bytes: &'q [u8]) -> CandidateLines<'q> {
        let escaped = self.terms.get(term).and_then(|term| term.raw_filter.as_ref());
        CandidateLines::new(escaped, bytes)
    }

    /// Returns what a gram filter of some lines must report if one of them may match.
    pub fn gram_queries(&self) -> Vec<&GramQuery> {
        (0..self.terms.len()).filter_map(|term| self.gram_query_of(term)).collect()
    }

    /// Returns what a gram filter must report if one of the terms may match; `None`: it cannot help.
    pub fn gram_query_of(&self, term: usize) -> Option<&GramQuery> {
        self.terms.get(term)?.raw_filter.as_ref()?.gram_query.as_ref()
    }

    /// Passes the matches in a line to `each`; a damaged line may contain several records (R2).
    pub fn find_in_line<'a>(
        &self,
        line: &'a [u8],
        detail: FindingDetail,
        mut each: impl FnMut(Finding<'a>),
    ) {
        let mut pos = if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        pos += line[pos..].iter().take_while(|byte| **byte == 0).count();
        let mut first = true;
        while pos < line.len() {
            let rest = &line[pos..];
            match scan_envelope(rest) {
                Ok(found) if first || found.type_name.is_some() => {
                    let len = found.len;
                    if let Some(finding) = self.match_record(rest, pos, &found, detail) {
                        each(finding);
                    }
                    let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0;
                    pos += len + rest[len..].iter().take_while(blank).count();
                }
                _ => match memmem::find(&rest[1..], b"{\"parentUuid\":") {
                    Some(next) => pos += 1 + next,
                    None => return,
                },
            }
            first = false;
        }
    }

    /// Finds the match to show of a plain text; `None`: one of the terms does not occur.
    pub fn find_in_text(&self, text: &str) -> Option<Range<usize>> {
        let has_all = self.terms.iter().all(|term| term.regex.is_match(text));
        let found = has_all.then(|| self.strength_in_text(TextKind::Other, text))?;
        found.map(|(_, range)| range)
    }

    /// Returns how well a plain text matches, and where; `None`: no term occurs.
    pub fn strength_in_text(
        &self,
        kind: TextKind,
        text: &str,
    ) -> Option<(MatchStrength, Range<usize>)> {
        if self.excluded.iter().any(|term| term.regex.is_match(text)) {
            return None;
        }
        rank::text_strength(&self.terms, self.phrase.as_ref(), kind, text)
    }

    /// Returns where any of the terms occur in a plain text, none within another.
    pub fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_anything {
            return Vec::new();
        }
        let mut marks: Vec<Range<usize>> = Vec::new();
        let found = self.terms.iter().flat_map(|term| term.regex.find_iter(text));
        let mut ranges: Vec<Range<usize>> = found.map(|found| found.range()).collect();
        ranges.sort_by_key(|range| (range.start, Reverse(range.end)));
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            if marks.last().is_none_or(|last| last.end <= range.start) {
                marks.push(range);
            }
        }
        marks
    }

    /// Whether texts of this kind are searched.
    pub fn wants_kind(&self, kind: TextKind) -> bool {
        let kind_fits =
            if self.kinds.is_empty() { kind.is_usual() } else { self.kinds.contains(&kind) };
        kind_fits && (self.roles.is_empty() || self.roles.contains(&kind.speaker_role()))
    }

    /// Whether a time is within the limits.
    pub fn is_in_time(&self, time: Time) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time < until)
    }

    fn match_record<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        found: &Envelope<'a>,
        detail: FindingDetail,
    ) -> Option<Finding<'a>> {
        let time = found.timestamp.and_then(Time::parse);
        if time.is_some_and(|time| !self.is_in_time(time)) {
            return None;
        }
        if !self.wants_envelope(found) {
            return None;
        }
        let record = &bytes[..found.len];
        let mut seen = RecordMatch::new(self, detail);
        texts::each_text(record, found, &mut |kind, raw| {
            if self.wants_kind(kind) {
                seen.search_text(kind, raw);
            }
        });
        if !seen.is_match() {
            return None;
        }
        let message_ids = match detail {
            FindingDetail::Strength => {
                let ids = found.message_id.iter().chain(&found.tool_ids);
                ids.map(|id| IdHash::new(id)).collect()
            }
            _ => Vec::new(),
        };
        let strength = seen.strength;
        let BestText { text_kind, raw, text, range, .. } = seen.best?;
        let kind = found.record_kind();
        Some(Finding {
            start,
            len: found.len,
            kind,
            uuid: found.uuid.map(RecordUuid::new),
            time,
            identity: copy_identity(record, found, kind),
            session: found.session_id.map(unescape),
            is_copy: found.forked_from.is_some(),
            sidechain: found.sidechain,
            // Only prompts are repeated, by the queue, and they are short.
            text_hash: IdHash::new(&raw[..raw.len().min(4096)]),
            text_kind,
            text,
            range,
            strength,
            message_ids,
        })
    }

    /// Whether a record passes the filters that are not about its texts.
    pub fn wants_record(&self, record: &[u8]) -> bool {
        scan_envelope(record).is_ok_and(|found| self.wants_envelope(&found))
    }

    /// Whether a record passes the filters that its envelope decides.
    fn wants_envelope(&self, found: &Envelope<'_>) -> bool {
        let is_error = || found.api_error || found.failed_tools != 0;
        let is_by = |wanted: &String| {
            let model = found.model.unwrap_or_default().to_ascii_lowercase();
            memmem::find(&model, wanted.as_bytes()).is_some()
        };
        (!self.only_errors || is_error()) && self.model.as_ref().is_none_or(is_by)
    }
}

/// Returns the pattern for words that follow each other, with up to three other characters between two of
/// them: `thread pool` is a phrase in `thread_pool`, too.
fn phrase_regex(words: &[&str], any_case: bool) -> Option<Regex> {
    let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
    RegexBuilder::new(&words.join(r"[^\p{Alphabetic}\p{N}]{0,3}"))
        .case_insensitive(any_case)
        .build()
        .ok()
}

/// Copies of a message have the same uuid and text; the same uuid with different text is a version (R4).
fn copy_identity(record: &[u8], found: &Envelope<'_>, kind: RecordKind) -> u128 {
    match found.uuid.map(|uuid| RecordUuid::new(uuid).to_bits()) {
        Some(name) if matches!(kind, RecordKind::User | RecordKind::Assistant) => {
            name ^ u128::from(found.content_hash)
        }
        Some(name) => name,
        None => u128::from(fingerprint(record)),
    }
}

#[cfg(test)]
mod tests;
