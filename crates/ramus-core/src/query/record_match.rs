//! Collects the matches in the texts of a record.

use std::borrow::Cow;
use std::ops::Range;

use super::term::QueryTerm;
use super::{FindingDetail, TextKind};
use crate::body::json::unescape;

/// The matches in one record so far.
pub(super) struct RecordMatch<'a> {
    pub(super) found: Vec<bool>,
    pub(super) best: Option<BestText<'a>>,
    pub(super) count: u32,
}

/// The text in which most terms were found.
pub(super) struct BestText<'a> {
    terms: usize,
    pub(super) text_kind: TextKind,
    pub(super) raw: &'a [u8],
    pub(super) text: Cow<'a, str>,
    pub(super) range: Range<usize>,
}

impl<'a> RecordMatch<'a> {
    pub(super) fn search_text(
        &mut self,
        terms: &[QueryTerm],
        text_kind: TextKind,
        raw: &'a [u8],
        detail: FindingDetail,
    ) {
        if detail != FindingDetail::Count && terms.len() == 1 && self.found[0] {
            return;
        }
        if detail == FindingDetail::Whether
            && let [term] = terms
            && let Some(escaped) = &term.raw_filter
            && escaped.is_surely_in(raw)
        {
            self.found[0] = true;
            let text = Cow::Borrowed("");
            self.best = Some(BestText { terms: 1, text_kind, raw, text, range: 0..0 });
            return;
        }
        let may_be = |term: &QueryTerm| term.raw_filter.as_ref().is_none_or(|e| e.may_be_in(raw));
        if !terms.iter().any(may_be) {
            return;
        }
        let text = unescape(raw);
        let mut here = 0;
        let mut first: Option<Range<usize>> = None;
        for (term, found) in terms.iter().zip(&mut self.found) {
            let mut matches = term.regex.find_iter(&text);
            let Some(range) = matches.next().map(|found| found.range()) else { continue };
            *found = true;
            here += 1;
            if detail == FindingDetail::Count {
                // Enough to tell frequent from rare.
                self.count += 1 + matches.take(99).count() as u32;
            }
            if first.as_ref().is_none_or(|first| range.start < first.start) {
                first = Some(range);
            }
        }
        if let Some(range) = first
            && self.best.as_ref().is_none_or(|best| best.terms < here)
        {
            self.best = Some(BestText { terms: here, text_kind, raw, text, range });
        }
    }
}
