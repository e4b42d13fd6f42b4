//! The lines of some bytes that may match.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::raw_filter::RawTextFilter;

/// The lines of some bytes that may match; see [`Query::candidate_lines`](super::Query::candidate_lines).
#[derive(Debug)]
pub struct CandidateLines<'q> {
    /// `None`: any line may.
    escaped: Option<&'q RawTextFilter>,
    bytes: &'q [u8],
    from: usize,
    usual: NextMatch,
    unusual: NextMatch,
}

impl<'q> CandidateLines<'q> {
    pub(super) fn new(escaped: Option<&'q RawTextFilter>, bytes: &'q [u8]) -> Self {
        Self { escaped, bytes, from: 0, usual: NextMatch::Unknown, unusual: NextMatch::Unknown }
    }
}

/// The next position of one spelling; searched again only after it was passed.
#[derive(Clone, Copy, Debug)]
enum NextMatch {
    Unknown,
    At(usize),
    Nowhere,
}

impl NextMatch {
    fn advance_to(&mut self, from: usize, find: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        match *self {
            Self::At(at) if at >= from => {}
            Self::Nowhere => {}
            _ => *self = find(from).map_or(Self::Nowhere, Self::At),
        }
        if let Self::At(at) = *self { Some(at) } else { None }
    }
}

impl Iterator for CandidateLines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let Self { bytes, from, .. } = *self;
        if from >= bytes.len() {
            return None;
        }
        let at = match self.escaped {
            None => from,
            Some(escaped) => {
                let usual = self.usual.advance_to(from, |from| escaped.find_usual(bytes, from));
                let unusual =
                    self.unusual.advance_to(from, |from| escaped.find_escaped(bytes, from));
                usual.into_iter().chain(unusual).min()?
            }
        };
        let start = memrchr(b'\n', &bytes[from..at]).map_or(from, |newline| from + newline + 1);
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline);
        self.from = end + 1;
        Some(start..end)
    }
}
