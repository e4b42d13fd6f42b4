//! Search queries, and what they match in a record.
//!
//! A [`Query`] is applied in two steps. [`Query::candidate_lines`] finds the lines that may match by looking at raw
//! bytes, at memory speed; [`Query::find_in_line`] parses one such line and finds what really matches.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;

use crate::body::json::unescape;
use crate::envelope::{Envelope, scan_envelope};
use crate::ids::{IdHash, RecordUuid, fingerprint};
use crate::record::RecordKind;
use crate::time::Time;
use record_match::{BestText, RecordMatch};
use term::{QueryTerm, split_words};

mod gram_filter;
mod hit;
mod kind;
mod lines;
mod raw_filter;
mod record_match;
mod term;
mod texts;

pub use gram_filter::{GramFilter, GramFilterBuilder, GramQuery};
pub use hit::{HitBranch, HitContext, HitCopy, Passage, SearchHit};
pub use kind::{SpeakerRole, TextKind};
pub use lines::CandidateLines;

/// A search query: all of its terms must match in one record.
#[derive(Clone, Debug)]
pub struct Query {
    terms: Vec<QueryTerm>,
    /// Only in texts of these kinds; empty: in all usual kinds.
    pub kinds: Vec<TextKind>,
    /// Only in texts of these roles; empty: in all.
    pub roles: Vec<SpeakerRole>,
    /// Only in records from here on; the caller decides about records without a time.
    pub since: Option<Time>,
    /// Only in records before.
    pub until: Option<Time>,
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
    /// Also how often.
    Count,
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
    /// The first match in it.
    pub range: Range<usize>,
    /// The number of matches in the record, if requested.
    pub count: u32,
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
        "the search text has {letters} characters, at most {MAX_CHARS} are allowed: look for a part of it"
    );
    Err(QueryError { message, span: None })
}

impl Query {
    /// Parses plain text: words, all of which must occur; quotes keep several together.
    ///
    /// Words with an upper-case letter are case-sensitive.
    pub fn from_words(text: &str) -> Result<Self, QueryError> {
        check_length(text)?;
        let mut words = split_words(text);
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        if words.len() > MAX_WORDS {
            let message = format!(
                "{} words are too many, at most {MAX_WORDS} are allowed: put words that stand together in quotes",
                words.len()
            );
            return Err(QueryError { message, span: None });
        }
        let terms: Vec<QueryTerm> = words
            .iter()
            .map(|word| QueryTerm::from_word(word))
            .collect::<Result<_, QueryError>>()?;
        if terms.is_empty() {
            return Err(QueryError { message: "there is nothing to look for".into(), span: None });
        }
        Ok(Self::from_terms(terms))
    }

    /// Parses a regular expression; it is case-sensitive unless it has `(?i)`.
    pub fn from_regex(pattern: &str) -> Result<Self, QueryError> {
        check_length(pattern)?;
        Ok(Self::from_terms(vec![QueryTerm::from_regex(pattern)?]))
    }

    fn from_terms(mut terms: Vec<QueryTerm>) -> Self {
        // The rarest first: lines are chosen by it.
        terms.sort_by_key(|term| Reverse((term.raw_filter.is_some(), term.weight)));
        Self { terms, kinds: Vec::new(), roles: Vec::new(), since: None, until: None }
    }

    /// Returns the lines that may match, as ranges without their newlines.
    pub fn candidate_lines<'q>(&'q self, bytes: &'q [u8]) -> CandidateLines<'q> {
        let escaped = self.terms.first().and_then(|term| term.raw_filter.as_ref());
        CandidateLines::new(escaped, bytes)
    }

    /// Returns what a sketch of some lines must claim if one of them may match.
    pub fn gram_queries(&self) -> Vec<&GramQuery> {
        self.terms.iter().filter_map(|term| term.raw_filter.as_ref()?.gram_query.as_ref()).collect()
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

    /// Finds the first match of the first term that occurs in a plain text.
    ///
    /// `None`: one of the terms does not occur.
    pub fn find_in_text(&self, text: &str) -> Option<Range<usize>> {
        let found: Option<Vec<Range<usize>>> =
            self.terms.iter().map(|term| Some(term.regex.find(text)?.range())).collect();
        found?.into_iter().min_by_key(|range| range.start)
    }

    /// Returns where any of the terms occur in a plain text, none within another.
    pub fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
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

    /// Whether texts of this kind are looked at.
    pub fn wants_kind(&self, kind: TextKind) -> bool {
        let kind_fits =
            if self.kinds.is_empty() { kind.is_usual() } else { self.kinds.contains(&kind) };
        kind_fits && (self.roles.is_empty() || self.roles.contains(&kind.speaker_role()))
    }

    /// Whether a time lies within the limits.
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
        let record = &bytes[..found.len];
        let mut seen = RecordMatch { found: vec![false; self.terms.len()], best: None, count: 0 };
        texts::each_text(record, found, &mut |kind, raw| {
            if self.wants_kind(kind) {
                seen.search_text(&self.terms, kind, raw, detail);
            }
        });
        if !seen.found.iter().all(|found| *found) {
            return None;
        }
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
            count: seen.count,
        })
    }
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
