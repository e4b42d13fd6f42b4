//! Collects the matches in the texts of a record.

use std::borrow::Cow;
use std::ops::Range;

use super::rank::{MatchStrength, text_strength};
use super::term::QueryTerm;
use super::{FindingDetail, Query, TextKind};
use crate::body::json::unescape;

/// The matches in one record so far.
pub(super) struct RecordMatch<'q, 'a> {
    query: &'q Query,
    detail: FindingDetail,
    found: Vec<bool>,
    is_excluded: bool,
    pub(super) best: Option<BestText<'a>>,
    pub(super) strength: MatchStrength,
}

/// The text that matches best: the one in which most terms were found.
pub(super) struct BestText<'a> {
    terms: usize,
    pub(super) text_kind: TextKind,
    pub(super) raw: &'a [u8],
    pub(super) text: Cow<'a, str>,
    pub(super) range: Range<usize>,
}

impl<'q, 'a> RecordMatch<'q, 'a> {
    pub(super) fn new(query: &'q Query, detail: FindingDetail) -> Self {
        let found = vec![false; query.terms.len()];
        let strength = MatchStrength::default();
        Self { query, detail, found, is_excluded: false, best: None, strength }
    }

    /// Whether the texts searched so far make the record a match.
    pub(super) fn is_match(&self) -> bool {
        let is_found = match self.detail {
            FindingDetail::Strength => self.strength.terms != 0,
            _ => self.found.iter().all(|found| *found),
        };
        is_found && !self.is_excluded
    }

    pub(super) fn search_text(&mut self, text_kind: TextKind, raw: &'a [u8]) {
        let may_be = |term: &QueryTerm| term.raw_filter.as_ref().is_none_or(|e| e.may_be_in(raw));
        for term in self.query.excluded.iter().filter(|term| may_be(term)) {
            self.is_excluded |= term.regex.is_match(&unescape(raw));
        }
        let terms = &self.query.terms;
        if self.detail == FindingDetail::Strength {
            return self.rank_text(text_kind, raw);
        }
        if terms.len() == 1 && self.found[0] {
            return;
        }
        if self.detail == FindingDetail::Whether
            && let [term] = &terms[..]
            && let Some(escaped) = &term.raw_filter
            && escaped.is_surely_in(raw)
        {
            self.found[0] = true;
            let text = Cow::Borrowed("");
            self.best = Some(BestText { terms: 1, text_kind, raw, text, range: 0..0 });
            return;
        }
        if !terms.iter().any(may_be) {
            return;
        }
        let text = unescape(raw);
        let mut here = 0;
        for (term, found) in terms.iter().zip(&mut self.found) {
            let is_here = term.regex.is_match(&text);
            *found |= is_here;
            here += usize::from(is_here);
        }
        if here > 0 && self.best.as_ref().is_none_or(|best| best.terms < here) {
            let shown = match self.detail {
                FindingDetail::Where => {
                    text_strength(terms, self.query.phrase.as_ref(), text_kind, &text)
                }
                _ => None,
            };
            let range = shown.map_or(0..0, |(_, range)| range);
            self.best = Some(BestText { terms: here, text_kind, raw, text, range });
        }
    }

    fn rank_text(&mut self, text_kind: TextKind, raw: &'a [u8]) {
        // Without words, the first text is the most useful one.
        if self.query.is_anything && self.best.is_some() {
            return;
        }
        let terms = &self.query.terms;
        let may_be = |term: &QueryTerm| term.raw_filter.as_ref().is_none_or(|e| e.may_be_in(raw));
        if !terms.iter().any(may_be) {
            return;
        }
        let text = unescape(raw);
        let phrase = self.query.phrase.as_ref();
        let Some((here, range)) = text_strength(terms, phrase, text_kind, &text) else { return };
        if self.strength.add_text(&here) {
            let terms = here.terms.count_ones() as usize;
            self.best = Some(BestText { terms, text_kind, raw, text, range });
        }
    }
}
