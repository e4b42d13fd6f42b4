//! Finds the bytes of raw lines that may contain a text.
//!
//! A line is JSON, and JSON has many spellings for one text: `/` or `\/`, a tab or `\t`, `é` or
//! `\u00e9`. Searching for the usual spelling finds nearly all of them; any other spelling has at least
//! one character written as `\uXXXX`. So two searches at memory speed are enough: one for the usual
//! spelling, one for an escaped character. They may have false positives, never false negatives.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::grams::Clue;
use super::term::STATES;

/// Finds positions in raw lines that may contain the searched text.
#[derive(Clone, Debug)]
pub(super) struct Escaped {
    usual: Usual,
    unusual: Unusual,
    /// The usual spelling of the text is the text itself, completely.
    is_plain: bool,
    /// `None`: a gram filter cannot help.
    pub(super) clue: Option<Clue>,
}

#[derive(Clone, Debug)]
enum Usual {
    Bytes(Box<Finder<'static>>),
    Pattern(Regex),
}

impl Escaped {
    /// Makes the filter for a plain text; `None`: raw bytes cannot help.
    pub(super) fn of_text(text: &str, any_case: bool) -> Option<Self> {
        let escaped = Self::new(&[text], any_case)?;
        Some(Self { is_plain: text.bytes().all(is_itself), ..escaped })
    }

    /// Makes the filter for a regular expression; `None`: a match need not contain any literal.
    pub(super) fn of_hir(hir: &Hir) -> Option<Self> {
        let literals = required(hir)?;
        let texts: Vec<&str> = literals
            .literals()?
            .iter()
            .map(|literal| std::str::from_utf8(literal.as_bytes()).ok())
            .collect::<Option<_>>()?;
        Self::new(&texts, false)
    }

    fn new(texts: &[&str], any_case: bool) -> Option<Self> {
        // A broken escape is decoded as U+FFFD, so its spelling can be anything.
        if texts.iter().any(|text| text.is_empty() || text.contains('\u{fffd}')) {
            return None;
        }
        let usual = match texts {
            [text] if !any_case && text.bytes().all(is_itself) => {
                Usual::Bytes(Box::new(Finder::new(text.as_bytes()).into_owned()))
            }
            _ => {
                let spellings: Vec<String> = texts.iter().map(|text| spellings(text)).collect();
                let case = if any_case { "(?i)" } else { "" };
                let pattern = format!("{case}(?:{})", spellings.join("|"));
                let regex = RegexBuilder::new(&pattern).dfa_size_limit(STATES).build();
                Usual::Pattern(regex.ok()?)
            }
        };
        let unusual = Unusual::of(texts, any_case);
        let clue = Clue::new(texts, any_case, &unusual.units);
        Some(Self { usual, unusual, is_plain: false, clue })
    }

    /// Returns the first position at or after `from` with the usual spelling.
    pub(super) fn usual(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match &self.usual {
            Usual::Bytes(finder) => finder.find(&bytes[from..]).map(|at| from + at),
            Usual::Pattern(regex) => regex.find_at(bytes, from).map(|found| found.start()),
        }
    }

    /// Returns the first position at or after `from` with an escaped character.
    pub(super) fn unusual(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.unusual.find(bytes, from)
    }

    /// Whether the inside of a JSON string may contain the text.
    pub(super) fn may_be_in(&self, raw: &[u8]) -> bool {
        self.usual(raw, 0).is_some() || self.unusual(raw, 0).is_some()
    }
}

impl Escaped {
    /// Whether the inside of a JSON string contains the text, without decoding escapes.
    ///
    /// `false`: it may still contain it.
    pub(super) fn is_surely_in(&self, raw: &[u8]) -> bool {
        self.is_plain && self.usual(raw, 0).is_some_and(|at| !is_in_escape(raw, at))
    }
}

/// Whether a byte may be part of an escape such as `\n` or `\u00e9`, which has at most six bytes.
fn is_in_escape(raw: &[u8], at: usize) -> bool {
    raw[at.saturating_sub(5)..at].contains(&b'\\')
}

/// Whether a byte has only one spelling, apart from `\uXXXX`.
pub(super) fn is_itself(byte: u8) -> bool {
    !matches!(byte, 0..=0x1f | b'"' | b'\\' | b'/')
}

/// Returns a pattern for the spellings of a text without `\uXXXX`.
fn spellings(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() * 2);
    for char in text.chars() {
        match char {
            '"' => pattern.push_str(r#"\\""#),
            '\\' => pattern.push_str(r"\\\\"),
            '/' => pattern.push_str(r"\\?/"),
            '\n' => pattern.push_str(r"\\n"),
            // A raw control character is not valid JSON, but it is read anyway (R2).
            '\r' => pattern.push_str(r"(?:\\r|\r)"),
            '\t' => pattern.push_str(r"(?:\\t|\t)"),
            '\x08' => pattern.push_str(r"(?:\\b|\x08)"),
            '\x0c' => pattern.push_str(r"(?:\\f|\x0c)"),
            char => pattern.push_str(&regex::escape(char.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern
}

/// The searched characters, spelled as `\uXXXX`.
#[derive(Clone, Debug)]
struct Unusual {
    finder: Finder<'static>,
    /// UTF-16 units from and to, each end included.
    units: Vec<(u16, u16)>,
}

impl Unusual {
    fn of(texts: &[&str], any_case: bool) -> Self {
        let chars = texts.iter().flat_map(|text| text.chars());
        let mut class = ClassUnicode::new(chars.map(|char| ClassUnicodeRange::new(char, char)));
        if any_case {
            class.case_fold_simple();
        }
        let unit = |char: char| char.encode_utf16(&mut [0; 2])[0];
        let units = class.ranges().iter().flat_map(|range| {
            let (first, last) = (range.start(), range.end());
            // Above U+FFFF the first of two units is enough; these start again at U+D800.
            match (first as u32 <= 0xffff, last as u32 <= 0xffff) {
                (true, false) => vec![(unit(first), 0xffff), (0xd800, unit(last))],
                _ => vec![(unit(first), unit(last))],
            }
        });
        let units = units.collect();
        Self { finder: Finder::new(b"\\u").into_owned(), units }
    }

    fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let at = from + self.finder.find(bytes.get(from..)?)?;
            if unit(bytes.get(at + 2..at + 6)?).is_some_and(|unit| self.holds(unit)) {
                return Some(at);
            }
            from = at + 2;
        }
    }

    fn holds(&self, unit: u16) -> bool {
        self.units.iter().any(|(first, last)| (*first..=*last).contains(&unit))
    }
}

pub(super) fn unit(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(value << 4 | digit as u16)
    })
}

/// Returns literals of which every match contains at least one, as long as possible.
fn required(hir: &Hir) -> Option<Seq> {
    let shortest = |seq: &Seq| seq.min_literal_len().filter(|len| *len > 0);
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix]
        .map(|kind| Extractor::new().kind(kind).extract(hir));
    let inside = match hir.kind() {
        HirKind::Concat(parts) => parts.iter().filter_map(required).collect(),
        HirKind::Capture(capture) => required(&capture.sub).into_iter().collect(),
        HirKind::Repetition(repeated) if repeated.min > 0 => {
            required(&repeated.sub).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let found = ends.into_iter().chain(inside).filter(|seq| shortest(seq).is_some());
    found.max_by_key(shortest)
}
