//! Search queries, and what they match in a record.
//!
//! A [`Query`] is applied in two steps. [`Query::lines`] finds the lines that may match by looking at raw
//! bytes, at memory speed; [`Query::findings`] parses one such line and finds what really matches.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;

use crate::body::json::unescape;
use crate::envelope::{Envelope, scan};
use crate::name::{Key, Name, fingerprint};
use crate::record::Kind;
use crate::time::Time;
use seen::{Best, Seen};
use term::{Term, split};

mod escaped;
mod grams;
mod hit;
mod kind;
mod lines;
mod seen;
mod term;
mod texts;

pub use grams::{Clue, Sketch, Sketched};
pub use hit::{HitBranch, HitContext, HitCopy, Passage, SearchHit};
pub use kind::{Role, TextKind};
pub use lines::Lines;

/// A search query: all of its terms must match in one record.
#[derive(Clone, Debug)]
pub struct Query {
    terms: Vec<Term>,
    /// Only in texts of these kinds; empty: in all usual kinds.
    pub kinds: Vec<TextKind>,
    /// Only in texts of these roles; empty: in all.
    pub roles: Vec<Role>,
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
pub enum Detail {
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
    pub kind: Kind,
    pub name: Option<Name>,
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
    pub said: Key,
    pub text_kind: TextKind,
    /// The text in which most of the terms match.
    pub text: Cow<'a, str>,
    /// The first match in it.
    pub range: Range<usize>,
    /// The number of matches in the record, if requested.
    pub count: u32,
}

/// The maximum length of a query and its number of words. Matching time is proportional to both.
const LONGEST: usize = 1000;
const WORDS: usize = 64;

/// Rejects queries that would take too long.
fn check_length(text: &str) -> Result<(), QueryError> {
    let letters = text.chars().count();
    if letters <= LONGEST {
        return Ok(());
    }
    let message = format!(
        "the search text has {letters} characters, at most {LONGEST} are allowed: look for a part of it"
    );
    Err(QueryError { message, span: None })
}

impl Query {
    /// Parses plain text: words, all of which must occur; quotes keep several together.
    ///
    /// Words with an upper-case letter are case-sensitive.
    pub fn words(text: &str) -> Result<Self, QueryError> {
        check_length(text)?;
        let mut words = split(text);
        let mut seen = HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        if words.len() > WORDS {
            let message = format!(
                "{} words are too many, at most {WORDS} are allowed: put words that stand together in quotes",
                words.len()
            );
            return Err(QueryError { message, span: None });
        }
        let terms: Vec<Term> =
            words.iter().map(|word| Term::word(word)).collect::<Result<_, QueryError>>()?;
        if terms.is_empty() {
            return Err(QueryError { message: "there is nothing to look for".into(), span: None });
        }
        Ok(Self::of(terms))
    }

    /// Parses a regular expression; it is case-sensitive unless it has `(?i)`.
    pub fn regex(pattern: &str) -> Result<Self, QueryError> {
        check_length(pattern)?;
        Ok(Self::of(vec![Term::regex(pattern)?]))
    }

    fn of(mut terms: Vec<Term>) -> Self {
        // The rarest first: lines are chosen by it.
        terms.sort_by_key(|term| Reverse((term.escaped.is_some(), term.weight)));
        Self { terms, kinds: Vec::new(), roles: Vec::new(), since: None, until: None }
    }

    /// Returns the lines that may match, as ranges without their newlines.
    pub fn lines<'q>(&'q self, bytes: &'q [u8]) -> Lines<'q> {
        let escaped = self.terms.first().and_then(|term| term.escaped.as_ref());
        Lines::new(escaped, bytes)
    }

    /// Returns what a sketch of some lines must claim if one of them may match.
    pub fn clues(&self) -> Vec<&Clue> {
        self.terms.iter().filter_map(|term| term.escaped.as_ref()?.clue.as_ref()).collect()
    }

    /// Passes the matches in a line to `each`; a damaged line may contain several records (R2).
    pub fn findings<'a>(&self, line: &'a [u8], detail: Detail, mut each: impl FnMut(Finding<'a>)) {
        let mut pos = if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        pos += line[pos..].iter().take_while(|byte| **byte == 0).count();
        let mut first = true;
        while pos < line.len() {
            let rest = &line[pos..];
            match scan(rest) {
                Ok(found) if first || found.kind_name.is_some() => {
                    let len = found.len;
                    if let Some(finding) = self.finding(rest, pos, &found, detail) {
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
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        let found: Option<Vec<Range<usize>>> =
            self.terms.iter().map(|term| Some(term.regex.find(text)?.range())).collect();
        found?.into_iter().min_by_key(|range| range.start)
    }

    /// Returns where any of the terms occur in a plain text, none within another.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
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
    pub fn wants(&self, kind: TextKind) -> bool {
        let kind_fits =
            if self.kinds.is_empty() { kind.is_usual() } else { self.kinds.contains(&kind) };
        kind_fits && (self.roles.is_empty() || self.roles.contains(&kind.role()))
    }

    /// Whether a time lies within the limits.
    pub fn is_in_time(&self, time: Time) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time < until)
    }

    fn finding<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        found: &Envelope<'a>,
        detail: Detail,
    ) -> Option<Finding<'a>> {
        let time = found.timestamp.and_then(Time::parse);
        if time.is_some_and(|time| !self.is_in_time(time)) {
            return None;
        }
        let record = &bytes[..found.len];
        let mut seen = Seen { found: vec![false; self.terms.len()], best: None, count: 0 };
        texts::texts(record, found, &mut |kind, raw| {
            if self.wants(kind) {
                seen.look(&self.terms, kind, raw, detail);
            }
        });
        if !seen.found.iter().all(|found| *found) {
            return None;
        }
        let Best { text_kind, raw, text, range, .. } = seen.best?;
        let kind = found.kind();
        Some(Finding {
            start,
            len: found.len,
            kind,
            name: found.uuid.map(Name::new),
            time,
            identity: identity(record, found, kind),
            session: found.session_id.map(unescape),
            is_copy: found.forked_from.is_some(),
            sidechain: found.sidechain,
            // Only prompts are repeated, by the queue, and they are short.
            said: Key::new(&raw[..raw.len().min(4096)]),
            text_kind,
            text,
            range,
            count: seen.count,
        })
    }
}

/// Copies of a message have the same uuid and text; the same uuid with different text is a version (R4).
fn identity(record: &[u8], found: &Envelope<'_>, kind: Kind) -> u128 {
    match found.uuid.map(|uuid| Name::new(uuid).bits()) {
        Some(name) if matches!(kind, Kind::User | Kind::Assistant) => {
            name ^ u128::from(found.content)
        }
        Some(name) => name,
        None => u128::from(fingerprint(record)),
    }
}

#[cfg(test)]
mod tests;
